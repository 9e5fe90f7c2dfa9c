"""How much of the picture differs between observations that were judged one state.

The identity rule never looks at pixels, so they are an independent witness. For each state, pictures of its
observations are compared with the founding one, cut to the window that took the input; one of another size
with the first of that size, since a window that was placed otherwise has moved everything. Both the number of
pictures of a state and that of a run are bounded, so the maximum of a state is a lower bound of the true one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from screensearch.domain.screen import Box, Image, StateId, crop
from screensearch.domain.transition import Entry
from screensearch.record.artifacts import Artifacts

PER_STATE = 8
"""Pictures of a state that are compared with its founding one, drawn at random of all its distinct ones."""

PER_APPLICATION = 1_000
"""Pictures of an application that are read in all, unless the caller says otherwise."""

_SEED = 20_261_117


@dataclass(frozen=True, slots=True)
class StatePixels:
    """The most that two pictures of one state differ."""

    run: str
    state: StateId
    pictures: int  # compared
    fraction: float  # of pixels, of the picture that differs most


@dataclass(frozen=True, slots=True)
class _Picture:
    name: str
    window: Box | None


class PictureSample:
    """Which pictures of which states are to be compared: fed with entries, holds a few for each state."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(_SEED)
        self._seen: dict[StateId, set[str]] = {}
        self._founding: dict[StateId, _Picture] = {}
        self._others: dict[StateId, list[_Picture]] = {}

    def note(self, entry: Entry) -> None:
        """Take note of the picture of a screen that was judged a state."""
        name = entry.evidence.screenshot
        if name is None or entry.decision is None or entry.screen is None:
            return
        state = entry.decision.state
        seen = self._seen.setdefault(state, set())
        if name in seen:
            return
        seen.add(name)
        picture = _Picture(name, entry.evidence.window)
        if len(seen) == 1:
            self._founding[state] = picture
            return
        kept = self._others.setdefault(state, [])
        if len(kept) < PER_STATE:
            kept.append(picture)
            return
        place = int(self._random.integers(len(seen) - 1))  # each of the others is as likely to be kept
        if place < PER_STATE:
            kept[place] = picture

    def compare(self, run: str, artifacts: Artifacts, most: int) -> Iterator[StatePixels]:
        """The states that have something to compare, in random order, until `most` pictures were read.

        A picture that is not stored any more is passed over; a damaged one is refused.
        """
        states = sorted(self._others)
        self._random.shuffle(states)
        read = 0
        for state in states:
            pictures = [self._founding[state], *self._others[state]]
            absent = artifacts.missing(picture.name for picture in pictures)
            pictures = [picture for picture in pictures if picture.name not in absent]
            if read + len(pictures) > most:
                return
            read += len(pictures)
            found = _differences(picture_of(artifacts, picture) for picture in pictures)
            if found:
                yield StatePixels(run, state, len(found), max(found))


def picture_of(artifacts: Artifacts, picture: _Picture) -> Image:
    """The picture, cut to the window that took the input."""
    whole = artifacts.open_image(picture.name)
    return whole if picture.window is None else crop(whole, picture.window)


def _differences(pictures: Iterator[Image]) -> list[float]:
    """Of each picture that is not the first of its size, how much differs from that one."""
    first: dict[tuple[int, int], Image] = {}
    found = []
    for picture in pictures:
        size = picture.width, picture.height
        if size in first:
            found.append(changed_fraction(first[size], picture))
        else:
            first[size] = picture
    return found


def changed_fraction(one: Image, other: Image) -> float:
    """The fraction of pixels that differ in any channel. Both have one size."""
    differs = np.frombuffer(one.pixels, np.uint8) != np.frombuffer(other.pixels, np.uint8)
    return float((differs[0::3] | differs[1::3] | differs[2::3]).mean())  # a tenth of `any` over an axis of 3
