"""A run on a cluster to which things are done, and whose books are looked at after each."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from books import Books, note_writers
from cluster_faults import HEAD, Faults, Injected, NotBack
from fault_report import Report, longest_silence
from nightly import NIGHTLY
from noted import Told
from outside import Outside, Program, Start
from postgres_server import PostgresServer, postgres_server
from ray_cluster import RayCluster
from struck import BACK_SECONDS, Struck, TooLate

import screensearch as ss
from screensearch.domain.transition import Outcome
from screensearch.explore.progress import Summary
from screensearch.explore.store import make_resolver
from screensearch.record.graph import StateGraph

SETTINGS = ss.resolve(overrides=["explore.screenshots=none", "explore.checkpoint_every=500"])

LOOK_SECONDS = 0.1
"""Between two looks at the books, while something is awaited."""


@contextmanager
def watched_database(cluster: RayCluster) -> Iterator[PostgresServer]:
    """A database that notes who writes. Nodes that have networks of their own reach it by another one."""
    if NIGHTLY and not cluster.network.works:
        raise RuntimeError(
            "the nightly form cuts networks, and this machine has no network namespaces: run it as root, "
            "with iproute2 installed (scripts/setup tests)"
        )
    with postgres_server(address=cluster.network.storage_address) as server:
        note_writers(server.url())
        yield server


class Trial:
    """One run, from its start to its end."""

    def __init__(
        self,
        cluster: RayCluster,
        program: Program,
        database: PostgresServer,
        folder: Path,
        chance: random.Random,
        *,
        environment: str,
        steps: int,
        workers: int,
    ) -> None:
        self._folder = folder
        self._how = Start(environment, database.remote_url, SETTINGS, ss.StopRule(steps=steps), workers)
        self.outside = Outside(program, folder)
        self.faults = _Faults(self, cluster, database, chance)  # before the run, whose actors it tells apart
        self._open_books = partial(Books, database.url(), self.outside.start(self._how), folder)
        self.books = self._open_books()
        self._news: list[Told] = []  # what workers were told since the last fault

    def inject(self, report: Report, *names: str) -> None:
        """Do it, wait until all workers are back, look at the books, and report."""
        begun = time.monotonic()
        try:
            injected = self.faults.inject(*names)
        except TooLate as problem:
            report.miss(" and ".join(names), problem)
            return
        others = self._silence_of_others(injected)
        report.add(
            self.silence_since(injected.since),
            *injected.struck,
            spent=time.monotonic() - begun,
            held=injected.held_seconds,
            others=others,
        )

    def silence_since(self, since: int) -> float:
        """The longest time, in seconds, that a worker was without a recorded step since it could have one."""
        news, self._news = self._news, []
        return longest_silence(news, range(self._how.workers), since, time.monotonic_ns())

    def _silence_of_others(self, injected: Injected) -> float | None:
        """The same since the fault began, of the workers that it must not stop.

        None if it stops all, or if some may have waited for the owner of a new shard.
        """
        (first, *more), everyone = injected.struck.values(), set(range(self._how.workers))
        if more or first.stops is None or injected.new_shard:
            return None
        return longest_silence(self._news, everyone - first.stops, first.begun, time.monotonic_ns())

    def wait_for_all(self, *after: str) -> None:
        """Until each worker has asked for something new, and was told that it is recorded."""
        begun, until = time.monotonic_ns(), time.monotonic() + BACK_SECONDS
        left = set(range(self._how.workers))
        while left:
            if time.monotonic() > until:
                raise NotBack(f"after {' and '.join(after)}, {left} did not get on: {self.outside.view()}")
            time.sleep(LOOK_SECONDS)
            left -= {told.worker for told in self.look() if told.asked >= begun}

    def look(self) -> list[Told]:
        """What workers were told since the last look: it is in the log, once, written by its owner."""
        news, problems = self.books.look()
        assert not problems, "\n".join(problems)
        self._news += news
        return news

    def _look_at_all(self) -> None:
        """Compare every receipt there ever was with the log as it is now: what was read once may be gone."""
        anew = self._open_books()
        problems = [*anew.look()[1], *anew.look()[1]]
        assert not problems, "\n".join(problems)
        assert (anew.told, anew.steps) == (self.books.told, self.books.steps)

    def wait_for_steps(self, number: int) -> None:
        """Until the log has so many."""
        self._until(lambda: self.books.steps >= number, f"{number} steps")

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + BACK_SECONDS
        while not holds():
            self.look()
            if time.monotonic() > until:
                raise NotBack(f"there were never {what}: {self.outside.view()}")
            time.sleep(LOOK_SECONDS)

    def resume(self) -> None:
        """On a cluster that has taken the place of one that is gone."""
        self.outside.program.close()
        self.outside.resume(self._how)

    def check_whole(self) -> None:
        """Refold the log; and let one owner, to whom nothing has ever happened, decide about its screens."""
        with ss.open_run(self._folder) as run:
            # No gap, each step once and after the one before, rewards and checkpoints as refolded.
            assert run.verify().problems == ()
            alone, same = make_resolver(run.settings), dict[int, int]()
            for (_, state, _), screen in run.log.known_screens():
                decided = alone.resolve(screen).state
                assert same.setdefault(state, decided) == decided
            assert len(set(same.values())) == len(same)

    def finish(self) -> Summary:
        """Wait for its end; then all of it holds together, and is what the summary says."""
        summary = self.outside.follow()
        self.look()
        self.look()  # what was there at the first look must have settled by the second
        self._look_at_all()
        self.check_whole()
        with ss.open_run(self._folder) as run:
            assert summary.digest == StateGraph.fold(run.log.rows(), run.settings.ambiguity).digest()
            lost = [entry for entry in run.transitions() if entry.outcome is Outcome.LOST]
            assert all(entry.note for entry in lost)
        assert self.books.steps == summary.steps
        return summary


class _Faults(Faults):
    """Waits for each worker rather than for any."""

    def __init__(
        self, trial: Trial, cluster: RayCluster, database: PostgresServer, chance: random.Random
    ) -> None:
        super().__init__(trial.outside, cluster, database, chance)
        self._trial = trial

    def strike(self, name: str) -> Struck:
        struck = super().strike(name)
        if name in HEAD:
            self._trial.outside.program.close()  # it belonged to the head that is gone
        return struck

    def wait_for_steps(self, *after: str) -> None:
        self._trial.wait_for_all(*after)
