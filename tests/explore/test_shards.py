"""Two shards of a run: a step that ends in the other one is recorded and counted once, at its source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sightings import CLICK, ask, begin, open_store, report, sighting

from screensearch.config import Settings
from screensearch.domain.shard import first_of, shard_of
from screensearch.domain.transition import Arrival, EpisodeId, Evidence, Outcome, Transition
from screensearch.explore.budget import Budget
from screensearch.explore.findings import find_failures
from screensearch.explore.messages import Land, Receipt, Report
from screensearch.explore.store import ShardStore
from screensearch.explore.verify import verify_log
from screensearch.record.graph import StateGraph
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.sqlite_log import SqliteLog

STEP = "focus_click@1::r2_c2|check box|dark mode|toy::none"


class Two:
    """The shard of light screens, the shard of dark ones, and a worker that crosses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("light", "dark"):
            (folder / name).mkdir(exist_ok=True)
        self.light = open_store(folder / "light", budget=Budget(steps=10))
        self.dark = self._open_dark()

    def _open_dark(self) -> ShardStore:
        path = self._folder / "dark" / "log.sqlite"
        log = SqliteLog.open_to_write(path) if path.exists() else SqliteLog.create(path)
        return ShardStore(log, Settings(), Budget(steps=10), shard=1)

    def cross(self, asked: Report, receipt: Receipt, labels: tuple[str, ...]) -> tuple[Receipt, Receipt]:
        """Land in the dark, then record the step in the light."""
        landing = Land(asked.episode, asked.step, sighting(*labels), Evidence())
        (landed,) = ask(self.dark, landing)
        assert landed.here is not None
        (recorded,) = ask(self.light, replace(asked, sighting=None, landed=landed.here.state))
        return landed, recorded

    def reopen_dark(self) -> None:
        self.dark.log.close()
        self.dark = self._open_dark()

    def close(self) -> None:
        self.light.log.close()
        self.dark.log.close()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    with closing(Two(tmp_path)) as both:
        yield both


def crossed(two: Two) -> tuple[Report, Receipt]:
    start = begin(0, 0, "go")
    (receipt,) = ask(two.light, start)
    step = report(start, receipt, "dark", signature=STEP)
    landed, _ = two.cross(step, receipt, ("go", "in the dark"))
    return step, landed


def test_the_step_is_an_edge_of_its_source_and_a_landing_of_its_target(two: Two) -> None:
    _, landed = crossed(two)
    assert landed.here is not None
    assert shard_of(landed.here.state) == 1
    (transition,) = [entry for _, entry in two.light.log.read() if isinstance(entry, Transition)]
    assert transition.target == landed.here.state
    assert transition.screen is None
    assert transition.reward is not None
    assert two.light.graph.edges == 1
    ((_, landing),) = two.dark.log.read()
    assert isinstance(landing, Arrival)
    assert landing.step == 1
    assert (two.dark.graph.states, two.dark.graph.edges) == (1, 0)


def test_a_visit_is_counted_once(two: Two) -> None:
    _, landed = crossed(two)
    assert landed.here is not None
    assert two.light.graph.visits(landed.here.state) == 1
    assert two.dark.graph.visits(landed.here.state) == 0
    assert (two.light.budget.taken, two.dark.budget.taken) == (1, 0)


def test_the_episode_goes_on_in_the_other_shard_and_comes_back(two: Two) -> None:
    step, landed = crossed(two)
    onwards = report(step, landed, "deeper", "in the dark")
    (receipt,) = ask(two.dark, onwards)
    back = report(onwards, receipt, "go", signature=STEP)
    (home,) = ask(two.light, Land(back.episode, back.step, sighting("go"), Evidence()))
    assert home.here is not None
    assert home.here.state == 0  # which it left two steps ago
    ask(two.dark, replace(back, sighting=None, landed=home.here.state))
    ask(two.light, report(back, home, "go", "further"))
    for shard, store in enumerate((two.light, two.dark)):
        store.checkpoint()
        found = verify_log(store.log, Settings(), LocalArtifacts(Path("nowhere")), shard=shard)
        assert found.problems == ()


def test_both_halves_of_a_crossing_may_be_repeated(two: Two) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(two.light, start)
    step = report(start, receipt, "dark", signature=STEP)
    first = two.cross(step, receipt, ("go", "in the dark"))
    again = two.cross(step, receipt, ("go", "in the dark"))
    assert again[0].here == first[0].here
    assert two.light.log.last_sequence == 2
    assert two.dark.log.last_sequence == 1


def test_an_owner_that_comes_anew_goes_on_after_a_landing(two: Two) -> None:
    step, landed = crossed(two)
    digest = two.dark.graph.digest()
    two.reopen_dark()
    assert two.dark.graph.digest() == digest
    two.dark.recall(0)
    (receipt,) = ask(two.dark, report(step, landed, "deeper", "in the dark"))
    assert receipt.here is not None
    assert receipt.here.state == first_of(1) + 1


def test_a_worker_that_dies_after_a_landing_is_lost_there_and_nowhere_else(two: Two) -> None:
    step, _ = crossed(two)
    for store in (two.light, two.dark):
        store.lose(0, "killed")
    lost = [
        entry
        for store in (two.light, two.dark)
        for _, entry in store.log.read()
        if isinstance(entry, Transition) and entry.outcome is Outcome.LOST
    ]
    assert [(each.episode, each.step) for each in lost] == [(EpisodeId(0, 0), step.step + 1)]


def test_steps_move_from_one_shard_to_the_other(two: Two) -> None:
    crossed(two)
    assert two.light.budget.allot(0) == 1  # what was taken stays
    assert two.light.budget.left == 0
    assert (two.dark.budget.allot(19), two.dark.budget.allot(19)) == (19, 19)
    assert two.dark.budget.left == 18  # one of the dark ones is granted


def test_all_shards_are_read_as_one(two: Two) -> None:
    step, landed = crossed(two)
    ask(two.dark, report(step, landed, "deeper", "in the dark", signature=CLICK))
    whole = ShardedLog([(0, two.light.log), (1, two.dark.log)])
    graph = StateGraph.fold(whole.rows(), Settings().ambiguity)
    assert (graph.states, graph.edges) == (3, 2)
    assert [sequence for sequence, _ in whole.read()] == [1, 2, 3, 4]
    assert [sequence for sequence, _ in whole.read(after=2)] == [3, 4]
    assert [outline.row for outline in whole.outlines()] == list(whole.rows())
    assert [outline.screen for outline in whole.outlines()] == [entry.screen for _, entry in whole.read()]
    assert list(whole.outlines(after=2)) == list(whole.outlines())[2:]
    assert graph.visits(first_of(1)) == 1
    row = whole.founder(first_of(1))
    assert row is not None
    assert whole.screen(row) == two.dark.log.screen(1)
    assert whole.has_screen(row)
    found = whole.find(EpisodeId(0, 0), 1)
    assert found is not None
    assert isinstance(found[1], Transition)  # and not the landing
    assert [screen for screen, _, _ in whole.decided_screens()] == [1, first_of(1) + 1, first_of(1) + 2]


def test_the_way_to_a_failure_is_told_from_the_start_also_over_shards(two: Two) -> None:
    step, landed = crossed(two)
    crash = report(step, landed, signature=CLICK, outcome=Outcome.CRASH)
    ask(two.dark, crash)
    whole = ShardedLog([(0, two.light.log), (1, two.dark.log)])
    (finding,) = find_failures(whole, LocalArtifacts(Path("nowhere")))
    assert (finding.outcome, finding.actions) == (Outcome.CRASH, (STEP, CLICK))
