"""The transitions of episodes as segments, and segments as windows (paper, "Trajectory extraction").

The paper "removes segments dominated by short loops and near-no-op actions, then extracts short windows that
exhibit sustained observable progression". Here a segment is a stretch of one episode in which every step
ended `ok` in another state and none belongs to a repeated short cycle. A window is a slice of a segment in
which no state is met twice: every step shows something that the window did not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry, EpisodeId, Outcome, Transition
from screensearch.traces.loops import short_cycles


@dataclass(frozen=True, slots=True)
class Step:
    """A transition as far as traces need it."""

    source: StateId
    signature: str
    target: StateId


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps in a row, each from where the one before has led."""

    episode: EpisodeId
    first: int  # the number of its first step in the episode
    steps: tuple[Step, ...]

    @property
    def states(self) -> tuple[StateId, ...]:
        """Where it began, and where each step led: one more than there are steps."""
        return (self.steps[0].source, *(step.target for step in self.steps))


class Segmenting:
    """Entries in, segments out, in the order of the log. Holds only the episodes that are under way.

    `took`, `still` and `looped` count the `ok` steps that came in, those among them that were left out since
    they changed no state, and those left out as parts of loops.
    """

    def __init__(self) -> None:
        self.took = 0
        self.still = 0
        self.looped = 0
        self._open: dict[int, _Piece] = {}  # by worker: a worker has one episode at a time

    def add(self, entry: Entry) -> Iterator[Segment]:
        """Take in an entry; the segments that are certain now."""
        worker, step = entry.episode.worker, _ok(entry)
        piece = self._open.get(worker)
        moves = step is not None and step.source != step.target
        if step is not None:
            self.took += 1
            self.still += not moves
        if piece is not None and step is not None and moves and piece.goes_on(entry, step):
            piece.steps.append(step)
            return
        if piece is not None:
            del self._open[worker]
            yield from self._cut(piece)
        if step is not None and moves:
            self._open[worker] = _Piece(entry.episode, entry.step, [step])

    def rest(self) -> Iterator[Segment]:
        """The segments of what is still open: the log has ended."""
        pieces, self._open = list(self._open.values()), {}
        for piece in pieces:
            yield from self._cut(piece)

    def _cut(self, piece: _Piece) -> Iterator[Segment]:
        """What is left of a piece without the steps of its loops."""
        states = [piece.steps[0].source, *(step.target for step in piece.steps)]
        within = {place for begin, end in short_cycles(states) for place in range(begin, end - 1)}
        self.looped += len(within)
        kept: list[Step] = []
        for place, step in enumerate([*piece.steps, None]):
            if step is not None and place not in within:
                kept.append(step)
            elif kept:
                yield Segment(piece.episode, piece.first + place - len(kept), tuple(kept))
                kept = []


@dataclass(slots=True)
class _Piece:
    """Steps of an episode in a row that changed the state, loops included."""

    episode: EpisodeId
    first: int
    steps: list[Step]

    def goes_on(self, entry: Entry, step: Step) -> bool:
        """Whether this is the next step of the same episode, from where the latest has led.

        It is from elsewhere if the screen changed by itself in between.
        """
        return (
            entry.episode == self.episode
            and entry.step == self.first + len(self.steps)
            and step.source == self.steps[-1].target
        )


def segments(entries: Iterable[Entry]) -> Iterator[Segment]:
    """All segments of a log, whose entries come in an order that every episode agrees with."""
    making = Segmenting()
    for entry in entries:
        yield from making.add(entry)
    yield from making.rest()


def windows(segment: Segment, length: int) -> Iterator[tuple[Step, ...]]:
    """Every slice of `length` steps in which no state is met twice. Slices overlap."""
    states = segment.states
    for begin in range(len(segment.steps) - length + 1):
        if len(set(states[begin : begin + length + 1])) == length + 1:
            yield segment.steps[begin : begin + length]


def _ok(entry: Entry) -> Step | None:
    """The step of a transition that counts; None for everything else."""
    if not isinstance(entry, Transition) or entry.outcome is not Outcome.OK:
        return None
    if entry.signature is None or entry.target is None:
        return None
    return Step(entry.source, entry.signature, entry.target)
