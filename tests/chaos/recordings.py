"""A history that really was, and how to do wrong to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from checker import check
from crew import Crew
from history import Answered, Call, History, read_history
from owners import Owners
from replayed import FinalLog, place_of, read_log

from screensearch.config import Settings
from screensearch.domain.transition import Entry
from screensearch.explore.messages import Here
from screensearch.record.sqlite_log import SqliteLog

WORKERS = 3
WORLD = "synthetic:generated?states=60&hazards=1.0&races=0.3"


@dataclass(frozen=True, slots=True)
class Recording:
    """A history, its log, and how to do wrong to both."""

    history: History
    log: FinalLog
    settings: Settings

    @property
    def problems(self) -> list[str]:
        return check(self.history, self.log, self.settings)

    @property
    def entries(self) -> list[Entry]:
        return [entry for _, entry in self.log.entries]

    @property
    def end(self) -> int:
        """A time after all others."""
        return 1 + max(call.answer.at for call in self.history.calls if call.answer is not None)

    def with_entries(self, entries: list[Entry]) -> Recording:
        """Numbered as they come."""
        return replace(self, log=replace(self.log, entries=tuple(enumerate(entries, 1))))

    def with_entry(self, sequence: int, entry: Entry) -> Recording:
        return self.with_entries([*self.entries[: sequence - 1], entry, *self.entries[sequence:]])

    def with_call(self, call: Call, instead: Call) -> Recording:
        calls = tuple(instead if each is call else each for each in self.history.calls)
        return replace(self, history=replace(self.history, calls=calls))

    def and_call(self, call: Call) -> Recording:
        return replace(self, history=replace(self.history, calls=(*self.history.calls, call)))

    def with_here(self, call: Call, change: Callable[[Here], Here]) -> Recording:
        answer = answered(call)
        assert answer.receipt.here is not None
        receipt = replace(answer.receipt, here=change(answer.receipt.here))
        return self.with_call(call, replace(call, answer=replace(answer, receipt=receipt)))

    def with_snapshot(self, call: Call, snapshot: int) -> Recording:
        receipt = replace(answered(call).receipt, snapshot=snapshot)
        return self.with_call(call, replace(call, answer=replace(answered(call), receipt=receipt)))

    def sequence(self, call: Call) -> int:
        return self.log.by_place()[place_of(call.message)][0]

    def entry(self, call: Call) -> Entry:
        return self.log.by_place()[place_of(call.message)][1]

    def some_call(self, fits: Callable[[Call, Here], bool]) -> Call:
        """An answered call of the middle of the history that is the only one for its step."""
        places = [place_of(call.message) for call in self.history.calls]
        return next(
            call
            for call in self.history.calls[40:]
            if call.answer is not None
            and call.answer.receipt.here is not None
            and places.count(place_of(call.message)) == 1
            and fits(call, call.answer.receipt.here)
        )


def answered(call: Call) -> Answered:
    assert call.answer is not None
    return call.answer


async def record(folder: Path) -> Recording:
    """What three workers see, over a bad line and with some of them killed."""
    settings, history = Settings(), folder / "history"
    history.mkdir()
    log = SqliteLog.create(folder / "log.sqlite")
    owners = Owners(lambda: log, settings, steps=160)
    await owners.replace()
    faults = {"never_sent": 0.03, "answer_lost": 0.05, "sent_twice": 0.05}
    crew = Crew(
        owners, "synthetic:generated?states=60&hazards=1.0&races=0.3", settings, history, faults=faults
    )
    for worker in range(WORKERS):
        crew.start(worker)
    for number in range(6):
        await owners.until(20 * (number + 1))
        await crew.kill(number % WORKERS)
    await crew.finish()
    recording = Recording(read_history(history), read_log(log), settings)
    await owners.close()
    return recording
