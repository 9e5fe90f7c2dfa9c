"""Whether what the workers saw is what one owner, taking one message after another, would have shown them.

The log says in which order the messages were taken. Replayed in that order, the model must come to the same
entries and the figures of every receipt (`replayed`); here, the log is compared with what was sent, and its
order with the workers' clocks. What is wrong comes back as sentences: none means that the history holds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from history import History, read_history
from model import key
from replayed import FinalLog, Place, is_lost, named, place_of, read_log, replay, says, senders_of

from screensearch.config import Settings
from screensearch.domain.transition import Entry, Transition
from screensearch.explore.messages import Receipt, Report, Sighting, Tried
from screensearch.record.log import Log


def problems_of(folder: Path, log: Log, settings: Settings) -> list[str]:
    """What is wrong with the history in a folder, given the log that it left."""
    return check(read_history(folder), read_log(log), settings)


def check(history: History, log: FinalLog, settings: Settings) -> list[str]:
    """What is wrong, a sentence each."""
    return [
        *_numbers(log),
        *_acknowledged(history, log),
        *_episodes(log),
        *_lives(history, log),
        *_time(history, log),
        *_choices(history),
        *replay(history, log, settings),
    ]


def _numbers(log: FinalLog) -> Iterator[str]:
    """Numbers have no gaps, and every step is there once."""
    seen: set[Place] = set()
    for due, (sequence, entry) in enumerate(log.entries, 1):
        if sequence != due:
            yield f"entry {sequence} is where entry {due} should be"
        if place_of(entry) in seen:
            yield f"{named(entry)} is in the log twice"
        seen.add(place_of(entry))


def _acknowledged(history: History, log: FinalLog) -> Iterator[str]:
    """What was acknowledged is in the log as it was sent, and every answer to it says where it led."""
    entries = log.by_place()
    for call in history.calls:
        if call.answer is None:
            continue
        what, here = named(call.message), call.answer.receipt.here
        found = entries.get(place_of(call.message))
        if found is None:
            yield f"{what} was acknowledged but is not in the log"
            continue
        sequence, entry = found
        if not says(entry, call.message) or not _shows(entry, getattr(call.message, "sighting", None), log):
            yield f"{what} was acknowledged but entry {sequence} is not what was sent"
        told = None if here is None else (here.state, here.row)
        led = None if entry.decision is None else (entry.decision.state, entry.screen)
        if told != led:
            yield f"{what} was answered with state and row {told}, but entry {sequence} has {led}"


def _shows(entry: Entry, sighting: Sighting | None, log: FinalLog) -> bool:
    """Whether the entry names the screen that was sent."""
    if sighting is None or entry.screen is None:
        return sighting is None and entry.screen is None
    if sighting.screen is None:
        return sighting.row == entry.screen
    return key(log.screens[entry.screen]) == key(sighting.screen)


def _episodes(log: FinalLog) -> Iterator[str]:
    """Steps come without gaps, each from where the one before it ended; a worker runs one at a time."""
    latest: dict[int, Entry] = {}
    for sequence, entry in log.entries:
        before = latest.get(entry.episode.worker)
        if before is not None and place_of(entry) <= place_of(before):
            yield f"entry {sequence}, {named(entry)}, comes after {named(before)} of the same worker"
            continue
        latest[entry.episode.worker] = entry
        if not isinstance(entry, Transition):
            continue
        if before is None or place_of(before) != (entry.episode, entry.step - 1):
            yield f"entry {sequence}, {named(entry)}, does not follow the step before it"
        elif before.decision is None or before.decision.state != entry.source:
            yield f"entry {sequence}, {named(entry)}, starts where {named(before)} did not end"


def _lives(history: History, log: FinalLog) -> Iterator[str]:
    """Nothing of a worker's life comes after it was given up as lost, or after a word of its next life."""
    senders = senders_of(history)
    present: dict[int, str] = {}  # by worker
    over: set[str] = set()
    for sequence, entry in log.entries:
        worker = entry.episode.worker
        lives = {call.life for call in senders.get(place_of(entry), ()) if says(entry, call.message)}
        if is_lost(entry):
            over.add(present.pop(worker, ""))
        elif lives and lives <= over:
            yield f"entry {sequence}, {named(entry)}, is of a life of its worker that was over"
        elif lives and present.get(worker) not in lives:
            over.add(present.get(worker, ""))
            present[worker] = min(lives - over)


def _time(history: History, log: FinalLog) -> Iterator[str]:
    """The order of the log is one that the workers could have seen.

    Whoever asks is told of all that anyone was told before; a message becomes an entry after it was sent,
    so after all that anyone was told before that, and is among what its own receipt describes.
    """
    receipts = sorted((call.answer.at, call.answer.receipt.snapshot) for call in history.calls if call.answer)
    times = [at for at, _ in receipts]
    known = list(accumulate((snapshot for _, snapshot in receipts), max, initial=0))
    entries, last = log.by_place(), len(log.entries)
    for call in history.calls:
        if call.answer is None:
            continue
        what, snapshot = named(call.message), call.answer.receipt.snapshot
        before = known[bisect_left(times, call.invoked)]
        if snapshot < before:
            yield f"{what} was told of {snapshot} entries when others had been told of {before}"
        found = entries.get(place_of(call.message))
        if snapshot > last or (found is not None and snapshot < found[0]):
            yield f"{what} was told of {snapshot} entries of {last}, among which it must be itself"
    for place, calls in senders_of(history).items():
        before = known[bisect_left(times, min(call.invoked for call in calls))]
        sequence, _ = entries.get(place, (last + 1, None))
        if sequence <= before <= last:
            yield f"entry {sequence}, {named(calls[0].message)}, was sent when {before} entries were known"


def _choices(history: History) -> Iterator[str]:
    """A worker chooses by the receipt that it has for the step before."""
    told: dict[tuple[str, Place], Receipt] = {}  # a life makes one call at a time: what it has came before
    for call in history.calls:
        message = call.message
        if isinstance(message, Report):
            choice = message.choice
            assert choice is not None  # no worker here asks a model
            receipt = told.get((call.life, (message.episode, message.step - 1)))
            if receipt is None or receipt.here is None:
                yield f"{named(message)} was chosen without a receipt"
                continue
            seen = (
                receipt.here.state,
                receipt.snapshot,
                receipt.here.tried.get(choice.signature, Tried(0, 0)),
            )
            used = (message.source, choice.snapshot, Tried(choice.visits, choice.value))
            if used != seen:
                yield f"{named(message)} was chosen by {used}, but its receipt said {seen}"
        if call.answer is not None:
            told[call.life, place_of(message)] = call.answer.receipt
