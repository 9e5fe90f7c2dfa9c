"""An application that fails before its first screen: a finding in the log, and no endless trying."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from failing_world import FailingWorld
from sightings import ask, begin, open_store, report

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.transition import EpisodeId, Evidence, FailedStart, Outcome, Transition
from screensearch.errors import EnvironmentFailed, FormatError, PluginMisbehaved
from screensearch.explore.messages import BeginFailed
from screensearch.explore.store import ShardStore
from screensearch.record.graph import StateGraph
from screensearch.record.run import own
from screensearch.testing import ContractBroken, check_environment

ONLY_CLICKS = ("candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]")
NOTE = "it was killed by SIGSEGV before it showed a window"


class Stumbling(FailingWorld):
    """A corridor whose starts go as told: an outcome fails, None works, and so do all further ones."""

    def __init__(self, *starts: Outcome | str | None, pictures: bool = False, note: str = NOTE) -> None:
        super().__init__(pictures=pictures)
        self._starts = list(starts)
        self._note = note
        self.resets = self.closed = 0

    async def reset(self, seed: int) -> ss.Start:
        self.resets += 1
        start = await super().reset(seed)
        how = self._starts.pop(0) if self._starts else None
        if isinstance(how, Outcome):
            seen = start.observation if start.observation.screenshot is not None else None
            raise ss.StartFailed(how, self._note, observation=seen, configuration=start.configuration)
        if how == "empty":
            return ss.Start(ss.Observation((), start.observation.window))
        return start

    async def close(self) -> None:
        self.closed += 1


def explore(world: ss.Environment, folder: Path, *overrides: str, steps: int = 60) -> ss.Summary:
    settings = ss.resolve(overrides=(*ONLY_CLICKS, "select.selector=random", *overrides))
    return ss.start_exploration(world, folder, stop=ss.StopRule(steps=steps), settings=settings, seed=3)


def failed_starts(run: ss.Run) -> list[FailedStart]:
    return [entry for _, entry in run.entries() if isinstance(entry, FailedStart)]


def test_an_application_that_fails_its_first_start_only_is_explored_and_the_start_is_a_finding(
    tmp_path: Path,
) -> None:
    summary = explore(Stumbling(Outcome.CRASH), tmp_path / "run")
    assert (summary.steps, summary.failed_starts, summary.ended) == (60, 1, "steps")
    with ss.open_run(tmp_path / "run") as run:
        acted = [each for each in run.transitions() if each.outcome is Outcome.CRASH]
        assert len(list(run.transitions())) == 60  # a failed start is no step
        assert summary.crashes == summary.new_outcomes["crash"] == len(acted) + 1
        (failed,) = failed_starts(run)
        assert (failed.episode, failed.outcome, failed.note) == (EpisodeId(0, 0), Outcome.CRASH, NOTE)
        assert next(run.arrivals()).episode == EpisodeId(0, 1)
        (finding,) = [each for each in run.findings() if each.at_start]
        assert (finding.state, finding.signature, finding.actions) == (None, "", ())
        assert (finding.count, finding.first, finding.note) == (1, 1, NOTE)
        assert finding.configuration == dict(failed.configuration) != {}
        assert run.verify().problems == ()


def test_a_failed_start_teaches_nothing_and_folds_the_same_again_from_any_place(tmp_path: Path) -> None:
    world = Stumbling(Outcome.HANG, None, Outcome.EXIT, None, Outcome.CRASH)
    summary = explore(world, tmp_path / "run", "explore.checkpoint_every=7")
    again = explore(Stumbling(Outcome.HANG, None, Outcome.EXIT, None, Outcome.CRASH), tmp_path / "again")
    assert summary.digest == again.digest
    with ss.open_run(tmp_path / "run") as run:
        assert {name: run.graph.outcomes[f"start:{name}"] for name in ("hang", "exit", "crash")} == {
            "hang": 1,
            "exit": 1,
            "crash": 1,
        }
        rows = list(run.log.rows())
        kept = [row for row in rows if not row.outcome.startswith("start:")]
        others = [row._replace(sequence=place) for place, row in enumerate(kept, start=1)]
        whole, without = (StateGraph.fold(each, run.settings.ambiguity) for each in (rows, others))
        assert len(rows) == len(others) + 3
        assert list(whole.iter_edges()) == list(without.iter_edges())
        for state in whole.iter_states():
            assert whole.ambiguity(state) == without.ambiguity(state)
            assert whole.failures(state) == without.failures(state)
        assert whole.digest() == summary.digest
        for cut in range(len(rows)):
            half = StateGraph.load(StateGraph.fold(rows[:cut], run.settings.ambiguity).dump())
            assert StateGraph.fold(rows[cut:], run.settings.ambiguity, start=half).digest() == summary.digest
        verified = run.verify()
        assert verified.problems == ()
        assert verified.checkpoints > 1


def test_a_resumed_run_counts_its_failed_starts_but_not_as_steps(tmp_path: Path) -> None:
    first = explore(Stumbling(Outcome.CRASH, Outcome.CRASH), tmp_path / "run", steps=20)
    second = ss.resume_exploration(tmp_path / "run", Stumbling(Outcome.HANG), stop=ss.StopRule(steps=50))
    assert (first.steps, second.steps) == (20, 50)
    assert (first.failed_starts, second.failed_starts) == (2, 3)
    assert sum(second.new_outcomes.values()) == 31  # 30 steps and one start
    with ss.open_run(tmp_path / "run") as run:
        assert len(list(run.transitions())) == 50
        episodes = [entry.episode for _, entry in run.entries() if entry.step == 0]
        assert len(episodes) == len(set(episodes))
        assert run.verify().problems == ()


def test_three_failed_starts_in_a_row_end_the_run_with_what_is_known(tmp_path: Path) -> None:
    world = Stumbling(*[Outcome.CRASH] * 9)
    with pytest.raises(ss.NeverStarted, match=f"last 3 starts of 'corridor' .*{NOTE}.*findings") as caught:
        explore(world, tmp_path / "run")
    summary = caught.value.summary
    assert (summary.steps, summary.crashes, summary.failed_starts) == (0, 3, 3)
    assert (summary.ended, summary.lost, summary.worker_failures) == ("failed starts", 0, 0)
    assert (world.resets, world.closed) == (3, 1)
    with ss.open_run(tmp_path / "run") as run:
        assert [each.episode.number for each in failed_starts(run)] == [0, 1, 2]
        assert run.skipped() == []
        assert list(run.states()) == []
        verified = run.verify()
        assert (verified.problems, verified.entries, verified.checkpoints) == ((), 3, 1)
    resumed = ss.resume_exploration(tmp_path / "run", Stumbling(), stop=ss.StopRule(steps=10))
    assert (resumed.steps, resumed.failed_starts, resumed.ended) == (10, 3, "steps")
    with ss.open_run(tmp_path / "run") as run:
        assert next(run.arrivals()).episode == EpisodeId(0, 3)
        assert run.verify().problems == ()


def test_failed_starts_with_steps_between_them_do_not_end_a_run(tmp_path: Path) -> None:
    world = Stumbling(*[Outcome.HANG, Outcome.EXIT, None] * 4)
    summary = explore(world, tmp_path / "run", "explore.episode_steps=3", steps=15)
    assert (summary.steps, summary.failed_starts) == (15, 8)


def test_failed_starts_and_starts_with_nothing_to_do_are_counted_by_one_rule(tmp_path: Path) -> None:
    world = Stumbling(Outcome.EXIT, Outcome.CRASH, *["empty"] * 9)
    told = "the last 3 starts of 'corridor' led to no step; the last: its first screen offered no action"
    with pytest.raises(EnvironmentFailed, match=f"^{told}"):
        explore(world, tmp_path / "run")
    assert world.resets == 3
    with ss.open_run(tmp_path / "run") as run:
        assert "lost" not in run.graph.outcomes


@pytest.fixture
def no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screensearch.explore.worker.FIRST_BACK_OFF_SECONDS", 0.0)


@pytest.mark.usefixtures("no_back_off")
@pytest.mark.parametrize("bad", [Outcome.CRASH, "empty"])
def test_a_run_that_has_steps_outlives_many_starts_without_one(tmp_path: Path, bad: Outcome | str) -> None:
    world = Stumbling(None, *[bad] * 19, None, *[bad] * 19)
    summary = explore(world, tmp_path / "run", "explore.episode_steps=3", steps=9)
    assert (summary.steps, summary.ended) == (9, "steps")
    assert world.resets >= 41


@pytest.mark.usefixtures("no_back_off")
def test_twenty_failed_starts_in_a_row_end_any_run(tmp_path: Path) -> None:
    world = Stumbling(None, *[Outcome.CRASH] * 30)
    with pytest.raises(ss.NeverStarted, match="the last 20 starts of 'corridor' led to no step") as caught:
        explore(world, tmp_path / "run", "explore.episode_steps=3")
    assert world.resets == 21
    assert 0 < caught.value.summary.steps <= 3
    assert caught.value.summary.ended == "failed starts"


def test_starts_that_fail_with_one_configuration_and_with_another_are_two_findings(tmp_path: Path) -> None:
    world = Stumbling(*[Outcome.CRASH, Outcome.CRASH, None] * 6)
    explore(world, tmp_path / "run", "explore.episode_steps=1", steps=6)
    with ss.open_run(tmp_path / "run") as run:
        counted = Counter(each.configuration for each in failed_starts(run))
        found = [each for each in run.findings() if each.at_start]
        assert len(counted) == 2
        assert {tuple(each.configuration.items()): each.count for each in found} == counted
        for each in found:
            first = run.entry(each.first)
            assert isinstance(first, FailedStart)
            assert dict(first.configuration) == each.configuration


def test_the_picture_of_a_failed_start_is_kept_and_secrets_are_not(tmp_path: Path) -> None:
    world = Stumbling(Outcome.HANG, pictures=True, note="it said: no mail from jane.doe@example.org")
    explore(world, tmp_path / "run", steps=5)
    with ss.open_run(tmp_path / "run") as run:
        (failed,) = failed_starts(run)
        assert failed.note == "it said: no mail from [redacted:email]"
        assert run.screenshot(failed) == ss.Image(1, 1, bytes([0, len("corridor"), 0]))
        (finding,) = [each for each in run.findings() if each.at_start]
        assert finding.screenshot is not None
        assert Path(finding.screenshot).is_file()
        assert finding.screenshots == ()
        assert run.verify().problems == ()


def test_a_picture_of_which_no_element_is_known_is_kept_only_where_nothing_is_redacted(
    tmp_path: Path,
) -> None:
    class Mute(Stumbling):
        async def reset(self, seed: int) -> ss.Start:
            try:
                return await super().reset(seed)
            except ss.StartFailed as failure:
                seen = None if failure.observation is None else replace(failure.observation, elements=())
                raise ss.StartFailed(Outcome.HANG, "it hangs", observation=seen) from failure

    for moment, kept in (("capture", False), ("export", True)):
        explore(Mute(Outcome.HANG, pictures=True), tmp_path / moment, f'redact.at="{moment}"', steps=5)
        with ss.open_run(tmp_path / moment) as run:
            (failed,) = failed_starts(run)
            assert (failed.evidence.screenshot is not None) is kept


def test_the_commands_show_what_failed_at_the_start(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    world = Stumbling(Outcome.CRASH, None, Outcome.CRASH, pictures=True)  # twice with one configuration
    explore(world, tmp_path / "run", "explore.episode_steps=1", steps=2)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    assert "crash at the start 2 @1" in run("findings", folder)
    assert "1: crash at the start, 2 times, first @1 in w0e0" in run("findings", folder, "--number", "1")
    assert "The screen it ended on" in run("findings", folder, "--number", "1")
    (told,) = json.loads(run("findings", folder, "--number", "1", "--json"))["findings"]
    assert (told["state"], told["signature"], told["actions"]) == (None, "", [])
    assert "at the start crash 2" in run("show", folder)
    assert "2 start:crash" in run("show", folder)
    shown = json.loads(run("show", folder, "--json"))["failures"]
    assert {"state": None, "signature": "at the start", "outcome": "crash", "count": 2} in shown
    explained = CliRunner().invoke(main, ["explain", folder, "@1"])
    assert "reached no state" in explained.output
    assert explained.exit_code == 1


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.CAPTURE, Outcome.LOST])
def test_a_start_fails_by_a_crash_a_hang_or_an_exit_only(outcome: Outcome) -> None:
    with pytest.raises(PluginMisbehaved, match="none of crash, hang, exit"):
        ss.StartFailed(outcome, "somehow")


async def test_an_application_that_does_not_start_cannot_keep_the_contract() -> None:
    with pytest.raises(ContractBroken, match=r"the application starts.*SIGSEGV"):
        await check_environment(lambda: Stumbling(None, Outcome.CRASH))
    with pytest.raises(ContractBroken, match="says how"):
        await check_environment(lambda: Stumbling(Outcome.CRASH, note=""))


# -- the store ------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ShardStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.log.close()


def test_a_failed_start_is_answered_and_repeated_without_being_counted_twice(store: ShardStore) -> None:
    failed = BeginFailed(EpisodeId(0, 0), Outcome.CRASH, Evidence(), (("content", "a"),), NOTE)
    first, second = ask(store, failed)[0], ask(store, failed)[0]
    assert (first.here, first.proceed) == (second.here, second.proceed) == (None, True)
    assert dict(store.graph.outcomes) == {"start:crash": 1}
    assert (store.budget.taken, store.graph.states, store.next_episode(0)) == (0, 0, 1)
    ((_, entry),) = store.log.read()
    assert entry == FailedStart(EpisodeId(0, 0), Outcome.CRASH, Evidence(), (("content", "a"),), NOTE)


def test_an_outcome_that_no_start_has_is_refused_and_nothing_else(store: ShardStore) -> None:
    bad = BeginFailed(EpisodeId(0, 0), Outcome.LOST, Evidence())
    answers = store.handle([bad, begin(1, 0, "go")])
    assert isinstance(answers[0], FormatError)
    assert dict(store.graph.outcomes) == {"start": 1}


def test_a_step_in_an_episode_that_failed_at_its_start_is_refused(store: ShardStore) -> None:
    start = begin(0, 0, "go")
    (receipt,) = ask(store, start)
    ask(store, BeginFailed(EpisodeId(0, 1), Outcome.CRASH, Evidence()))
    with pytest.raises(FormatError, match="comes before the step"):
        ask(store, report(begin(0, 1, "go"), receipt, "there"))


def test_a_step_that_was_logged_after_a_failed_start_all_the_same_does_not_verify(tmp_path: Path) -> None:
    explore(Stumbling(Outcome.CRASH), tmp_path / "run", steps=3)
    with own(tmp_path / "run") as folder:
        log = folder.write_log()
        stray = Transition(
            EpisodeId(0, 0), 1, 0, "wait@1::none::none", Outcome.HANG, None, None, None, None, Evidence()
        )
        sequence = log.append(stray)
        log.commit()
        log.close()
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().problems == (f"entry {sequence} starts at state 0, but its episode was at None",)
