"""One exploration under way in this process: its store, its workers, the clock and the interrupts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

from screensearch.encode.redact import redacting_text
from screensearch.environments.protocol import Environment
from screensearch.explore.budget import StopRule
from screensearch.explore.owner import Owner, interrupts
from screensearch.explore.progress import Meter, Progress, Summary, figures_of
from screensearch.explore.serving import LocalStore
from screensearch.explore.store import ShardStore
from screensearch.explore.worker import NoStart, NothingToDo, work
from screensearch.record.run import RunFolder

log = logging.getLogger(__name__)

OnProgress = Callable[[Progress], None]

PROGRESS_SECONDS = 0.25


class UnderWay:
    """An exploration from its first step, or its next one, to the last: to be run once."""

    def __init__(
        self,
        run: RunFolder,
        shard: ShardStore,
        stop: StopRule,
        on_progress: OnProgress | None,
        log_format: str,
    ) -> None:
        self._run = run
        self._shard = shard
        self._stop_rule = stop
        self._on_progress = on_progress
        self._log_format = log_format
        self._meter = Meter(lambda: figures_of(shard))
        self._ended: str | None = None
        self._had_enough = False  # before anything was done
        self.given_up = False  # interrupted twice: a step under way was not waited for

    async def run(self, environment: str | Environment, workers: int) -> None:
        """Explore until there is enough, it is interrupted, or it cannot go on."""
        if self._shard.budget.exhausted:  # a resumed run may have all it was asked for
            self._had_enough = True
            return
        about = {"run": self._run.manifest.run}
        what = self._run.manifest.environment
        log.info("explores %s into %s with %d workers", what, self._run.path, workers, extra=about)
        try:
            async with self._watched():
                if isinstance(environment, str):
                    await self._in_processes(environment, workers)
                else:
                    await self._in_this_process(environment)
        except NoStart:
            self._ended = "failed starts"
            raise
        finally:
            self._shard.checkpoint()
        log.info("ended (%s) after %d steps of the run", self._why(), self._shard.budget.taken, extra=about)

    async def _in_processes(self, environment: str, workers: int) -> None:
        owner = Owner(
            self._shard,
            environment=environment,
            folder=self._run.path,
            seed=self._run.manifest.seed,
            artifacts=self._run.manifest.artifacts,
            run=self._run.manifest.run,
            log_format=self._log_format,
        )

        def give_up() -> None:
            owner.kill_workers()
            self._shard.log.give_up()  # which may be what keeps us waiting

        with interrupts(lambda: self._stop("interrupted"), give_up):
            await owner.run(workers)

    async def _in_this_process(self, world: Environment) -> None:
        working = asyncio.ensure_future(
            work(
                world,
                LocalStore(self._shard),
                self._shard.settings,
                folder=self._run.path,
                worker=0,
                seed=self._run.manifest.seed,
                first_episode=self._shard.next_episode(0),
                artifacts=self._run.manifest.artifacts,
            )
        )
        self._shard.observer.worker_started(0)
        try:
            with interrupts(lambda: self._stop("interrupted"), self._give_up):
                await working
        except (NoStart, NothingToDo):  # nothing is lost: the log says what became of each start
            raise
        except (Exception, KeyboardInterrupt, asyncio.CancelledError) as problem:
            clean = redacting_text(self._shard.settings.redact)  # it may quote what the application showed
            self._shard.lose(0, "given up at an interrupt" if self.given_up else clean(repr(problem)))
            raise
        finally:
            self._shard.observer.worker_ended(0)
            await world.close()

    def _give_up(self) -> None:
        """End the step under way, whatever it is doing: called from the handler of a signal."""
        self.given_up = True
        self._ended = "interrupted"
        raise KeyboardInterrupt

    def _stop(self, why: str) -> None:
        """Let steps that are under way finish, and take no more."""
        self._ended = self._ended or why
        self._shard.budget.stopping = True

    @contextlib.asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        """Report progress and keep the time while the body runs."""
        loop = asyncio.get_running_loop()
        alarm = None
        if self._stop_rule.seconds is not None:
            alarm = loop.call_later(self._stop_rule.seconds, self._stop, "seconds")
        reporting = asyncio.create_task(self._report())
        try:
            yield
        finally:
            if alarm is not None:
                alarm.cancel()
            reporting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reporting

    async def _report(self) -> None:
        while self._on_progress is not None:
            try:
                self._on_progress(self._meter.read())
            except Exception:  # the caller's view is broken, the exploration is not
                log.exception("progress is reported no more")
                return
            await asyncio.sleep(PROGRESS_SECONDS)

    def _why(self) -> str:
        """Which stop rule ended it, or what else did."""
        budget = self._shard.budget
        reached = "states" if budget.has_states() else "plateau"
        return "steps" if budget.out_of_steps() else self._ended or reached

    def summary(self) -> Summary:
        """What it came to."""
        shard = self._shard
        return self._meter.summarise(
            run=str(self._run.path),
            environment=self._run.manifest.environment,
            digest=shard.graph.digest(),
            ended=f"{self._why()} already" if self._had_enough else self._why(),
            identifier=shard.resolver.describe(),
        )
