"""A screen settles when nothing that matters happens any more. The clock stands still while code runs."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from typing import Any

from screensearch.environments.desktop.settle import Quiet

QUIET = 0.03
LONG = 20.0  # never reached when a screen settles


class Clock(selectors.SelectSelector):
    """Waits for nothing: the time that would have passed is added to the hour."""

    def __init__(self) -> None:
        super().__init__()
        self.hour = 0.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "nothing will ever happen any more"
        self.hour += max(0.0, timeout)
        return super().select(0)


class StillLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = Clock()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.hour


def by_its_own_clock(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """On a busy machine a task may wake up late, and quiet would seem to have come."""

    @functools.wraps(test)
    def run() -> None:
        with asyncio.Runner(loop_factory=StillLoop) as runner:
            runner.run(test())

    return run


@contextlib.asynccontextmanager
async def going_on(quiet: Quiet, source: Callable[[], Hashable], every: float = 0.02) -> AsyncIterator[None]:
    """Something happens again and again while the body runs."""

    async def happen() -> None:
        while True:
            quiet.note(source())
            await asyncio.sleep(every)

    task = asyncio.create_task(happen())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@by_its_own_clock
async def test_a_still_screen_settles() -> None:
    quiet = Quiet(QUIET)
    quiet.begin()
    assert await quiet.settle(LONG)


@by_its_own_clock
async def test_a_screen_where_ever_new_things_happen_does_not_settle_in_time() -> None:
    quiet, number = Quiet(QUIET), itertools.count()
    quiet.begin()
    async with going_on(quiet, lambda: next(number)):
        assert not await quiet.settle(0.3)


@by_its_own_clock
async def test_a_spinner_does_not_stall_it() -> None:
    quiet = Quiet(QUIET)
    quiet.begin()
    async with going_on(quiet, lambda: "spinner"):
        assert await quiet.settle(LONG)


@by_its_own_clock
async def test_a_known_spinner_is_ignored_from_the_start() -> None:
    quiet = Quiet(QUIET)
    quiet.begin()
    async with going_on(quiet, lambda: "spinner"):
        assert await quiet.settle(LONG)
        quiet.begin()
        # Too short for a source to be found restless anew.
        assert await quiet.settle(0.3)


@by_its_own_clock
async def test_a_source_that_found_its_rest_counts_again() -> None:
    quiet = Quiet(QUIET)
    quiet.begin()
    async with going_on(quiet, lambda: "progress"):
        assert await quiet.settle(LONG)
    quiet.begin()
    assert await quiet.settle(LONG)  # silent all the time
    quiet.begin()
    quiet.note("progress")
    async with going_on(quiet, lambda: "progress"):
        assert not await quiet.settle(0.2)


@by_its_own_clock
async def test_a_spinner_does_not_hide_something_else_that_happens() -> None:
    quiet, number = Quiet(QUIET), itertools.count()
    quiet.begin()
    async with going_on(quiet, lambda: "spinner"):
        assert await quiet.settle(LONG)
        quiet.begin()
        async with going_on(quiet, lambda: next(number)):
            assert not await quiet.settle(0.3)


@by_its_own_clock
async def test_waiting_for_a_change_ends_with_the_change_or_the_time() -> None:
    quiet = Quiet(QUIET)
    assert not await quiet.changed(0.01)
    asyncio.get_running_loop().call_later(0.01, quiet.note, "something")
    assert await quiet.changed(LONG)
