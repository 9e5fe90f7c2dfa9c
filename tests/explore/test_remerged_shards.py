"""A run of several shards, decided again in one order: every step once, where it was and where it landed."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shards_run import Lamp, explore_in_shards

import screensearch as ss
from screensearch.cli import main
from screensearch.config import changed
from screensearch.domain.transition import ELSEWHERE, Arrival, Entry, EpisodeId, Outcome, Transition
from screensearch.errors import FormatError, SettingsError
from screensearch.explore.regrouped import Regrouped
from screensearch.explore.remerge import remerge
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.sqlite_log import SqliteLog
from screensearch.record.weaving import Weaving


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_in_shards(tmp_path_factory.mktemp("shards") / "source")


@pytest.fixture(scope="module")
def bereft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of its workers died between two shards."""
    return explore_in_shards(tmp_path_factory.mktemp("shards") / "bereft", dies=0)


def remade(source: Path, out: Path, *overrides: str) -> Regrouped:
    with ss.open_run(source) as run:
        return remerge(run, changed(run.settings, overrides), out)


def steps_of(run: ss.Run) -> dict[tuple[EpisodeId, int], tuple[str | None, Outcome, str | None]]:
    return {
        (each.episode, each.step): (each.signature, each.outcome, each.evidence.screenshot)
        for each in run.transitions()
    }


def screens_of(run: ss.Run) -> set[frozenset[tuple[str, str]]]:
    """The states of a run, each as the screens that are it: whatever their numbers are."""
    states: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for decided, screen in run.log.known_screens():
        states[decided.state].add((screen.key, screen.metadata.display_mode))
    return set(map(frozenset, states.values()))


def test_the_run_crosses_from_shard_to_shard(source: Path) -> None:
    with ss.open_run(source) as run:
        assert isinstance(run.log, ShardedLog)
        assert run.graph.outcomes["landing"] > 5
        assert run.verify().problems == ()


def test_under_its_own_rule_it_has_the_same_states_and_counts_as_one_log(
    source: Path, tmp_path: Path
) -> None:
    regrouped = remade(source, tmp_path / "one")
    with ss.open_run(source) as before, ss.open_run(tmp_path / "one") as after:
        assert not isinstance(after.log, ShardedLog)
        assert after.verify().problems == ()
        assert steps_of(after) == steps_of(before)
        assert screens_of(after) == screens_of(before)
        assert list(after.graph.iter_states()) == list(range(before.graph.states))
        assert after.graph.edges == before.graph.edges
        landings = before.graph.outcomes["landing"]
        assert after.graph.sequence == before.graph.sequence - landings
    assert (regrouped.merged, regrouped.split, regrouped.left_out) == ((), (), 0)
    assert regrouped.visits.changed == regrouped.ambiguity.changed == 0


def test_a_rule_without_filters_joins_what_the_shards_had_apart(source: Path, tmp_path: Path) -> None:
    regrouped = remade(source, tmp_path / "one", "identify.filters=[]")
    assert regrouped.states_after == regrouped.states_before // 2
    assert all(len(group.others) == 2 for group in regrouped.merged)
    with ss.open_run(tmp_path / "one") as run:
        assert run.verify().problems == ()


def test_the_new_run_can_be_gone_on_with_and_the_old_one_says_so(source: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="2 shards: here it is only read; make it a run with one log"):
        ss.resume_exploration(source, stop=ss.StopRule(steps=200), environment=Lamp())
    remade(source, tmp_path / "one")
    summary = ss.resume_exploration(tmp_path / "one", stop=ss.StopRule(steps=140), environment=Lamp())
    assert summary.steps == 140
    with ss.open_run(tmp_path / "one") as run:
        assert run.verify().problems == ()


def test_a_worker_that_died_between_two_shards_is_lost_once(bereft: Path, tmp_path: Path) -> None:
    regrouped = remade(bereft, tmp_path / "one")
    with ss.open_run(bereft) as before, ss.open_run(tmp_path / "one") as after:
        assert before.graph.outcomes["lost"] == 2  # here and there
        assert after.graph.outcomes["lost"] == 1
        assert after.graph.outcomes["ok"] == before.graph.outcomes["ok"]
        assert after.verify().problems == ()
    assert regrouped.left_out == 2  # the landing that was never told of where it began, and its loss
    result = CliRunner().invoke(main, ["remerge", str(bereft), "--out", str(tmp_path / "two")])
    assert "2 entries of its shards were left out" in result.output


def test_the_order_keeps_that_of_each_shard_and_of_each_episode(source: Path) -> None:
    with ss.open_run(source) as run:
        assert isinstance(run.log, ShardedLog)
        woven = list(Weaving(run.log))
        latest: dict[EpisodeId, int] = {}
        for entry in woven:
            assert entry.step == latest.get(entry.episode, -1) + 1
            latest[entry.episode] = entry.step
        places = {(entry.episode, entry.step): place for place, entry in enumerate(woven)}
        for entries in run.log.read_apart():
            own = [places[each.episode, each.step] for each in entries if not _landing(each)]
            assert own == sorted(own)
        assert not any(each.decision is not None and each.decision.how == ELSEWHERE for each in woven)
        for place, entry in enumerate(woven):
            if isinstance(entry, Transition) and entry.choice is not None:
                assert places[entry.episode, entry.step - 1] < entry.choice.snapshot <= place


def _landing(entry: Entry) -> bool:
    return isinstance(entry, Arrival) and entry.step > 0


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_shards_that_were_read_at_different_moments_give_what_they_agree_on(
    source: Path, tmp_path: Path, data: st.DataObject
) -> None:
    with closing(Cut(source, data)) as cut:
        weaving = Weaving(cut.log)
        woven = list(weaving)
        latest: dict[EpisodeId, int] = {}
        for entry in woven:
            assert entry.step == latest.get(entry.episode, -1) + 1
            latest[entry.episode] = entry.step
        joined = Counter((entry.episode, entry.step) for entry in cut.entries() if _landing(entry))
        told = {(entry.episode, entry.step) for entry in woven}
        halves = sum(key in told for key in joined)
        assert len(woven) + halves + weaving.left_out == cut.log.last_sequence


class Cut:
    """The shards of a run, each read only so far."""

    def __init__(self, source: Path, data: st.DataObject) -> None:
        self._logs = [SqliteLog.open_to_read(source / name) for name in ("log.sqlite", "log-1.sqlite")]
        self.log = ShardedLog(list(enumerate(self._logs)))
        self.log._last = [data.draw(st.integers(0, log.last_sequence)) for log in self._logs]

    def entries(self) -> Iterator[Entry]:
        return (entry for _, entry in self.log.read())

    def close(self) -> None:
        self.log.close()


def test_a_log_file_of_a_shard_that_is_cut_short_is_named(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source, tmp_path / "short")
    shard = tmp_path / "short" / "log-1.sqlite"
    shard.write_bytes(shard.read_bytes()[:-4096])
    with pytest.raises(FormatError, match=r"log-1\.sqlite is truncated"):
        ss.open_run(tmp_path / "short")
