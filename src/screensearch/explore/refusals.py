"""What an owner refuses: messages that no worker of ours would send, and those of workers it has given up.

Everything is looked at before anything has changed, so that a bad message costs nobody but its sender.
"""

from __future__ import annotations

import math

from screensearch.domain.transition import Entry, Outcome
from screensearch.errors import FormatError
from screensearch.explore.entries import Entries, made_of
from screensearch.explore.episodes import Episodes
from screensearch.explore.messages import DECIDED, BeginFailed, Message, Report, step_of
from screensearch.record.log import failed_start


def check_message(message: Message, earlier: Entry | None, episodes: Episodes, entries: Entries) -> None:
    """Raise `FormatError` for a message to be refused. `earlier` is the entry at its step, if any."""
    _check_life(message, earlier, episodes)
    if isinstance(message, BeginFailed):
        failed_start(message.outcome)
        return
    sighting = message.sighting
    if sighting is not None and sighting.screen is None and not entries.has_row(sighting.row):
        raise FormatError(f"{message.episode} names row {sighting.row} of the screen table: there is none")
    if isinstance(message, Report):
        _check_report(message, episodes)


def _check_life(message: Message, earlier: Entry | None, episodes: Episodes) -> None:
    """Refuse a worker that was given up but lives: its next life has its number, and its episodes.

    A step that is in the log is only answered to who sent it; one that is not, only in its worker's
    latest episode.
    """
    if earlier is not None and not made_of(earlier, message):
        raise FormatError(
            f"{_named(message)} is in the log otherwise than it is sent now: this worker was given up, or is "
            "at work twice; end this one"
        )
    latest = episodes.latest(message.episode.worker)
    if earlier is None and message.episode.number < latest:
        raise FormatError(
            f"{_named(message)} comes after episode {latest} of the same worker: "
            "this one was given up; end it"
        )


def _check_report(report: Report, episodes: Episodes) -> None:
    """Refuse a step that cannot have been, or not there."""
    if report.outcome is Outcome.LOST:
        raise FormatError(f"{_named(report)} says lost: that is for the owner of a run to say")
    if report.outcome in DECIDED and report.sighting is None and report.landed is None:
        raise FormatError(f"{_named(report)} is {report.outcome} but shows no screen")
    choice = report.choice
    if (choice is None) != (report.outcome is Outcome.UNDECIDED):
        what = "nothing" if choice is None else "an action"
        raise FormatError(f"{_named(report)} is {report.outcome}, but {what} was chosen")
    if choice is not None and not all(map(math.isfinite, (choice.prior, choice.value, choice.score))):
        raise FormatError(f"{_named(report)} was chosen by figures that are not finite: {choice}")
    stands = episodes.state_before(report)
    if stands is None:
        raise FormatError(f"{_named(report)} comes before the step that it follows")
    if report.source != stands:
        raise FormatError(f"{_named(report)} starts at state {report.source}, but its episode is at {stands}")


def _named(message: Message) -> str:
    return f"step {step_of(message)} of {message.episode}"
