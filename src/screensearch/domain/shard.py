"""Shards: the states of a run, divided among several owners.

A screen belongs to the shard of its application, display mode and text size: screens that differ in one of
these are never compared, so no decision needs two owners. States of a shard are numbered from a base of
their own; those of the first shard from 0, so that a run with one shard looks like any other.
"""

from __future__ import annotations

from screensearch.domain.screen import Metadata

ShardKey = tuple[str, str, str]

_BITS = 32


def shard_key(metadata: Metadata) -> ShardKey:
    """What screens of one shard have in common."""
    return (metadata.application, metadata.display_mode, metadata.text_size)


def first_of(shard: int) -> int:
    """The number of a shard's first state. Rows of its tables are told apart from others' in the same way."""
    return shard << _BITS


def shard_of(number: int) -> int:
    """The shard of a state, or of a row."""
    return number >> _BITS


def within(number: int) -> int:
    """The number without its shard."""
    return number & ((1 << _BITS) - 1)
