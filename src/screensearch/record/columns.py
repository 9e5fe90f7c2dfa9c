"""A graph as columns of numbers: the form that is hashed, and that checkpoints are made of.

Columns are small (56 bytes for an action with one successor), quick to fill, and the same on every
machine: little-endian, states by number, signatures and successors sorted.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields

import msgspec

from screensearch.errors import FormatError
from screensearch.record.format import FORMAT_VERSION, check_version

_MAGIC = b"SSgraph\n"
_LENGTH_BYTES = 8


def _integers() -> array[int]:
    return array("q")


def _floats() -> array[float]:
    return array("d")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphColumns:
    """The whole content of a graph. Times have no place here: equal logs give equal columns."""

    sequence: int
    kappa: float
    prior_ambiguity: float
    outcomes: list[tuple[str, int]]  # sorted
    signatures: list[str]  # sorted; the columns hold places in this list

    state: array[int] = field(default_factory=_integers)
    state_first_seen: array[int] = field(default_factory=_integers)
    state_visits: array[int] = field(default_factory=_integers)
    state_actions: array[int] = field(default_factory=_integers)  # how many rows of action_*
    state_failures: array[int] = field(default_factory=_integers)  # how many rows of failure_*

    action_signature: array[int] = field(default_factory=_integers)
    action_visits: array[int] = field(default_factory=_integers)
    action_value: array[float] = field(default_factory=_floats)
    action_successors: array[int] = field(default_factory=_integers)  # how many rows of successor_*

    successor_state: array[int] = field(default_factory=_integers)
    successor_count: array[int] = field(default_factory=_integers)
    successor_since: array[int] = field(default_factory=_integers)

    failure_signature: array[int] = field(default_factory=_integers)
    failure_outcome: array[int] = field(default_factory=_integers)  # place in `outcomes`
    failure_count: array[int] = field(default_factory=_integers)

    def digest(self) -> str:
        """The digest of what `encode` gives, without making it."""
        return digest_of(self._parts())

    def encode(self) -> bytes:
        """The content as bytes."""
        return b"".join(self._parts())

    def _parts(self) -> Iterator[bytes]:
        columns = [getattr(self, name) for name in _COLUMNS]
        header = msgspec.json.encode(
            _Header(
                format=FORMAT_VERSION,
                sequence=self.sequence,
                kappa=self.kappa,
                prior_ambiguity=self.prior_ambiguity,
                outcomes=self.outcomes,
                signatures=self.signatures,
                lengths=[len(column) for column in columns],
            )
        )
        yield _MAGIC + len(header).to_bytes(_LENGTH_BYTES, "little") + header
        for column in columns:
            yield _little_endian(column).tobytes()


_COLUMNS = [item.name for item in fields(GraphColumns) if item.default_factory in (_integers, _floats)]


class _Header(msgspec.Struct):
    format: int
    sequence: int
    kappa: float
    prior_ambiguity: float
    outcomes: list[tuple[str, int]]
    signatures: list[str]
    lengths: list[int]


class _Version(msgspec.Struct):
    format: int


def digest_of(parts: Iterable[bytes]) -> str:
    """BLAKE2b of an encoded graph, in hexadecimal: the digest of that graph."""
    content = hashlib.blake2b(digest_size=32)
    for part in parts:
        content.update(part)
    return content.hexdigest()


def decode_columns(data: bytes) -> GraphColumns:
    """The columns that were encoded. Damaged bytes raise `FormatError`, newer ones `NewerFormat`."""
    start = len(_MAGIC) + _LENGTH_BYTES
    if len(data) < start or not data.startswith(_MAGIC):
        raise FormatError("a graph checkpoint does not begin as one: fold the log from its start instead")
    end = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    try:
        check_version(msgspec.json.decode(data[start:end], type=_Version).format, "a graph checkpoint")
        header = msgspec.json.decode(data[start:end], type=_Header)
    except msgspec.DecodeError as problem:
        raise FormatError(f"the header of a graph checkpoint is malformed: {problem}") from problem
    columns = GraphColumns(
        sequence=header.sequence,
        kappa=header.kappa,
        prior_ambiguity=header.prior_ambiguity,
        outcomes=header.outcomes,
        signatures=header.signatures,
    )
    if len(header.lengths) != len(_COLUMNS) or end + 8 * sum(header.lengths) != len(data):
        raise FormatError(f"a graph checkpoint is truncated: {len(data)} bytes do not hold its columns")
    for name, length in zip(_COLUMNS, header.lengths, strict=True):
        column = getattr(columns, name)
        column.frombytes(data[end : end + 8 * length])
        if sys.byteorder == "big":
            column.byteswap()
        end += 8 * length
    return columns


def _little_endian(column: array[int] | array[float]) -> array[int] | array[float]:
    if sys.byteorder == "little":
        return column
    swapped = column[:]
    swapped.byteswap()
    return swapped
