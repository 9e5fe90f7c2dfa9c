"""Where the workers of a shard stand: the episode each is in, its latest step, and what it is about to do.

A worker runs one episode at a time, and nearly every message is about the step that comes next in it. So one
place for each worker is kept in memory; whatever else is asked about an episode, the log knows.
"""

from __future__ import annotations

from typing import NamedTuple

from screensearch.domain.screen import StateId
from screensearch.domain.transition import ELSEWHERE, Entry, EpisodeId
from screensearch.explore.messages import Announce, Message, Report, step_of
from screensearch.record.log import Log


class Place(NamedTuple):
    """Where a worker stands: a worker runs one episode at a time."""

    episode: EpisodeId
    step: int
    state: StateId


class Episodes:
    """The episodes under way in one shard, and those that its log holds."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._places: dict[int, Place] = {}  # by worker
        self._latest: dict[int, int] = {}  # by worker: its latest episode, once it was asked for
        self._announced: dict[int, tuple[StateId, str]] = {}  # by worker: a choice, and where it was made

    # -- what happens -------------------------------------------------------------------------

    def enter(self, entry: Entry) -> None:
        """An entry was appended: its worker stands where it ended, if that is in this shard."""
        worker = entry.episode.worker
        self._latest[worker] = entry.episode.number
        self._announced.pop(worker, None)
        place = _place_after(entry)
        if place is None:
            self._places.pop(worker, None)
        else:
            self._places[worker] = place

    def leave(self, worker: int) -> Place | None:
        """A worker is gone: forget it. Returns where it stood, if it was in an episode."""
        self._announced.pop(worker, None)
        return self._places.pop(worker, None)

    def recall(self, worker: int, *, longest: int) -> bool:
        """Take the place of a worker from the log; says whether its latest episode goes on in this shard.

        An episode goes on if it has a place to go on from, and less than the `longest` number of steps.
        """
        found = self._log.latest_entry(worker)
        place = None if found is None or found.step >= longest else _place_after(found)
        if place is None:
            return False
        self._places[worker] = place
        return True

    def announce(self, announcement: Announce) -> None:
        """A worker has chosen: this holds until it reports. Ignored from an episode that it is not in."""
        place = self._place(announcement.episode)
        if place is not None:
            self._announced[announcement.episode.worker] = (place.state, announcement.signature)

    # -- what is known ------------------------------------------------------------------------

    def standing(self, worker: int) -> Place | None:
        """Where a worker stands, if it is in an episode here, or was when its last one ended."""
        return self._places.get(worker)

    def announced_at(self, state: StateId) -> list[str]:
        """The signatures that were chosen at a state and not reported yet, one for each worker."""
        return [signature for where, signature in self._announced.values() if where == state]

    def latest(self, worker: int) -> int:
        """The greatest episode number of a worker, -1 when it has none."""
        latest = self._latest.get(worker)
        if latest is None:
            latest = self._latest[worker] = self._log.last_episode(worker)
        return latest

    def earlier(self, message: Message) -> Entry | None:
        """The entry at the step that a message is about: what it became, if it was sent before."""
        step = step_of(message)
        place = self._place(message.episode)
        if place is not None and step == place.step + 1:
            return None  # the step that was due: no need to ask the log
        found = self._log.find(message.episode, step)
        return None if found is None else found[1]

    def state_before(self, report: Report) -> StateId | None:
        """The state that the step before this one ended in. The log knows where the places do not."""
        place = self._place(report.episode)
        if place is not None and report.step == place.step + 1:
            return place.state
        before = self._log.find(report.episode, report.step - 1)
        return None if before is None or before[1].decision is None else before[1].decision.state

    def _place(self, episode: EpisodeId) -> Place | None:
        """Where this episode stands, if it is the one its worker is in."""
        place = self._places.get(episode.worker)
        return place if place is not None and place.episode == episode else None


def _place_after(entry: Entry) -> Place | None:
    """Where an episode stands after an entry; None if it is over, or went on in another shard."""
    decision = entry.decision
    if decision is None or decision.how == ELSEWHERE:
        return None
    return Place(entry.episode, entry.step, decision.state)
