"""Does a run hold together? Everything derived is derived again and compared to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screensearch.config import Settings
from screensearch.domain.screen import StateId
from screensearch.domain.shard import first_of
from screensearch.domain.transition import ELSEWHERE, Entry, EpisodeId, Outcome, Transition
from screensearch.record.artifacts import Artifacts
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log
from screensearch.select.reward import reward_on

MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked, and everything that did not hold (the first few of each run)."""

    entries: int
    states: int
    edges: int
    checkpoints: int
    screenshots: int
    digest: str
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether there was no problem at all."""
        return not self.problems


def verify_log(log: Log, settings: Settings, artifacts: Artifacts, *, shard: int = 0) -> Verification:
    """Refold the log from its first entry and compare with what was noted while it was written.

    Checked: the storage itself; that numbers have no gaps and episodes no missing steps; that a step
    starts where the one before ended; that states are dense and each is founded once; that every
    logged reward follows from eq. 5 on the graph before it; that the digest of every checkpoint is
    the digest of the refolded graph at that entry, and every kept graph whole; that every artifact
    named is there.
    """
    log.integrity_check()
    audit = _Audit(log, settings, artifacts, first_of(shard))
    for damage in log.damaged_checkpoints():
        audit.problem(f"{damage} (a cache: opening the run folds its log instead)")
    for sequence, entry in log.read():
        audit.take(sequence, entry)
    return audit.result()


def join_verifications(parts: Sequence[Verification], digest: str) -> Verification:
    """What the shards of a run come to together; `digest` is of the graph of all of them."""
    return Verification(
        entries=sum(part.entries for part in parts),
        states=sum(part.states for part in parts),
        edges=sum(part.edges for part in parts),
        checkpoints=sum(part.checkpoints for part in parts),
        screenshots=sum(part.screenshots for part in parts),
        digest=digest,
        problems=tuple(
            f"shard {place}: {each}" for place, part in enumerate(parts) for each in part.problems
        ),
    )


class _Audit:
    """One pass over the log, with a graph of its own."""

    def __init__(self, log: Log, settings: Settings, artifacts: Artifacts, first: StateId) -> None:
        self._first = first
        self._founded = 0
        self._settings = settings
        self._artifacts = artifacts
        self._graph = StateGraph(settings.ambiguity)
        self._noted = dict(log.checkpoints())
        self._checked = 0
        self._where: dict[EpisodeId, tuple[int, StateId | None]] = {}
        self._screenshots: dict[str, int] = {}  # and the first entry that names it
        self._problems: list[str] = []
        self._dropped = 0

    def take(self, sequence: int, entry: Entry) -> None:
        self._check_place(sequence, entry)
        if isinstance(entry, Transition):
            self._check_reward(sequence, entry)
        self._check_decision(sequence, entry)
        self._note_screenshot(sequence, entry)
        self._graph.apply_entry(sequence, entry)
        noted = self._noted.get(sequence)
        if noted is not None:
            self._checked += 1
            if self._graph.digest() != noted:
                self.problem(
                    f"the checkpoint at entry {sequence} noted digest {noted}, refolded it is "
                    f"{self._graph.digest()}"
                )

    def result(self) -> Verification:
        beyond = [sequence for sequence in self._noted if sequence > self._graph.sequence]
        if beyond:
            self.problem(f"checkpoints at {beyond} lie beyond the last entry {self._graph.sequence}")
        missing = self._artifacts.missing(self._screenshots)  # asked at once: they may be far away
        for name in sorted(missing, key=self._screenshots.__getitem__):
            first = self._screenshots[name]
            self.problem(f"entry {first} names the screenshot {name}, which is missing")
        if self._dropped:
            self._problems.append(f"and {self._dropped} more")
        return Verification(
            entries=self._graph.sequence,
            states=self._founded,
            edges=self._graph.edges,
            checkpoints=self._checked,
            screenshots=len(self._screenshots),
            digest=self._graph.digest(),
            problems=tuple(self._problems),
        )

    def problem(self, text: str) -> None:
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(text)
        else:
            self._dropped += 1

    def _check_place(self, sequence: int, entry: Entry) -> None:
        if isinstance(entry, Transition):
            step, state = self._where.get(entry.episode, (-1, None))
            if entry.step != step + 1:
                self.problem(f"entry {sequence} is step {entry.step} of {entry.episode}, after step {step}")
            elif entry.source != state:
                self.problem(
                    f"entry {sequence} starts at state {entry.source}, but its episode was at {state}"
                )
        state_now = None if entry.decision is None else entry.decision.state
        self._where[entry.episode] = (entry.step, state_now)

    def _check_decision(self, sequence: int, entry: Entry) -> None:
        decision = entry.decision
        if decision is None or decision.how == ELSEWHERE:
            return
        known = self._graph.first_seen(decision.state) is not None
        if decision.founded == known:
            self.problem(
                f"entry {sequence} says {decision.how!r} of state {decision.state}, which was "
                f"{'there already' if known else 'not there yet'}"
            )
        if decision.founded:
            if decision.state != (new := self._first + self._founded):
                self.problem(f"entry {sequence} founds state {decision.state}; the next is {new}")
            self._founded += 1

    def _check_reward(self, sequence: int, entry: Transition) -> None:
        if entry.outcome is not Outcome.OK:
            if entry.reward is not None:
                self.problem(f"entry {sequence} is {entry.outcome} and yet has a reward")
            return
        if entry.choice is None or entry.decision is None:
            self.problem(f"entry {sequence} is ok without a choice or without a decision")
            return
        derived = reward_on(
            self._graph,
            entry.source,
            entry.choice.signature,
            entry.decision.state,
            snapshot=entry.choice.snapshot,
            settings=self._settings.reward,
        )
        if derived != entry.reward:
            self.problem(f"entry {sequence} logged {entry.reward}, eq. 5 gives {derived}")

    def _note_screenshot(self, sequence: int, entry: Entry) -> None:
        name = entry.evidence.screenshot
        if name is not None:
            self._screenshots.setdefault(name, sequence)
