"""Whole explorations of the synthetic world, in this process and in worker processes."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

import screensearch as ss
from screensearch.domain.action import Action
from screensearch.errors import EnvironmentFailed, PluginUnavailable, RunBusy, SettingsError, UnknownPlugin
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import resume_exploration, start_exploration
from screensearch.record.run import RunExists, own

FAST = ss.resolve(overrides=["explore.screenshots=none"])


def explore(folder: Path, steps: int, *, workers: int = 1, seed: int = 7, app: str = "notepad") -> ss.Summary:
    return start_exploration(
        f"synthetic:{app}", folder, stop=StopRule(steps=steps), settings=FAST, workers=workers, seed=seed
    )


def test_several_workers_take_exactly_the_steps_asked_for(tmp_path: Path) -> None:
    summary = explore(tmp_path / "run", 300, workers=3)
    assert (summary.steps, summary.ended, summary.lost) == (300, "steps", 0)
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        assert sum(1 for _ in run.transitions()) == 300
        assert {transition.episode.worker for transition in run.transitions()} == {0, 1, 2}
        assert run.graph.digest() == summary.digest


def test_one_worker_and_one_seed_give_one_graph(tmp_path: Path) -> None:
    first, second, other = (
        explore(tmp_path / name, 200, seed=seed, app="generated?states=1000")
        for name, seed in (("first", 1), ("second", 1), ("other", 2))
    )
    assert first.digest == second.digest
    assert first.digest != other.digest


def test_a_world_in_this_process_gives_the_same_graph_as_one_in_a_worker(tmp_path: Path) -> None:
    world = ss.ENVIRONMENTS.get("synthetic")("notepad", ss.Means(screenshots=False))
    here = start_exploration(world, tmp_path / "here", stop=StopRule(steps=200), settings=FAST, seed=7)
    assert here.digest == explore(tmp_path / "there", 200).digest


def test_a_run_resumed_has_all_its_steps_and_holds(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    explore(folder, 120, workers=2)
    summary = resume_exploration(folder, stop=StopRule(steps=300), workers=2)
    assert summary.steps == 300
    with ss.open_run(folder) as run:
        assert run.verify().problems == ()


def test_screenshots_are_there_for_every_observation(tmp_path: Path) -> None:
    start_exploration("synthetic:settings", tmp_path / "run", stop=StopRule(steps=8), seed=3)
    with ss.open_run(tmp_path / "run") as run:
        verification = run.verify()
        names = {entry.evidence.screenshot for _, entry in run.entries() if entry.screen is not None}
        assert None not in names
        assert verification.problems == ()
        assert verification.screenshots == len(names)


def test_a_time_limit_ends_a_run(tmp_path: Path) -> None:
    summary = start_exploration(
        "synthetic:files", tmp_path / "run", stop=StopRule(seconds=1.0), settings=FAST, workers=1
    )
    assert summary.ended == "seconds"


def test_a_plateau_ends_a_run(tmp_path: Path) -> None:
    summary = start_exploration(
        "synthetic:generated?states=100", tmp_path / "run", stop=StopRule(plateau=60), settings=FAST
    )
    assert summary.ended == "plateau"
    assert summary.states > 1


def test_progress_is_reported(tmp_path: Path) -> None:
    seen: list[ss.Progress] = []
    start_exploration(
        "synthetic:files",
        tmp_path / "run",
        stop=StopRule(steps=50),
        settings=FAST,
        on_progress=seen.append,
    )
    assert seen
    assert seen[0].steps == 0


def test_a_misspelled_environment_costs_an_error_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UnknownPlugin, match="did you mean 'synthetic'"):
        start_exploration("synthetik:notepad", tmp_path / "run", stop=StopRule(steps=1))
    assert not (tmp_path / "run").exists()


def test_an_existing_run_is_never_overwritten(tmp_path: Path) -> None:
    explore(tmp_path / "run", 5)
    with pytest.raises(RunExists, match="resume"):
        explore(tmp_path / "run", 5)


def test_a_run_that_is_owned_cannot_be_resumed(tmp_path: Path) -> None:
    explore(tmp_path / "run", 5)
    with own(tmp_path / "run"), pytest.raises(RunBusy):
        resume_exploration(tmp_path / "run", stop=StopRule(steps=10))


def test_an_exploration_without_an_end_is_refused() -> None:
    with pytest.raises(SettingsError, match="stop rule"):
        StopRule()
    with pytest.raises(SettingsError, match="steps is 0"):
        StopRule(steps=0)


def test_an_object_cannot_be_shared_by_several_workers(tmp_path: Path) -> None:
    world = ss.ENVIRONMENTS.get("synthetic")("notepad", ss.Means(screenshots=False))
    with pytest.raises(SettingsError, match="entry point"):
        start_exploration(world, tmp_path / "run", stop=StopRule(steps=5), workers=2)
    asyncio.run(world.close())


class _Blank:
    """A world in which nothing can be done."""

    application = "blank"

    def __init__(self) -> None:
        self.closed = 0

    async def reset(self, seed: int) -> ss.Start:
        window = ss.Window("Blank", "main", ss.Box(0, 0, 100, 100), "blank")
        return ss.Start(ss.Observation((), window))

    async def perform(self, action: Action) -> ss.Result:
        raise AssertionError("there is nothing to perform")

    async def close(self) -> None:
        self.closed += 1


def test_a_world_without_actions_is_an_error_and_not_an_endless_loop(tmp_path: Path) -> None:
    settings = ss.resolve(
        overrides=["candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]"]
    )
    world = _Blank()
    with pytest.raises(EnvironmentFailed, match="offered no action"):
        start_exploration(world, tmp_path / "run", stop=StopRule(steps=5), settings=settings)
    assert world.closed == 1
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()


def test_a_worker_says_why_a_candidate_was_vetoed_and_what_it_left_out(tmp_path: Path) -> None:
    rule = 'guard.rules=[{name="deny_labels", patterns=["^save"]}]'
    settings = ss.resolve(overrides=["explore.screenshots=none", rule])
    start_exploration("synthetic:notepad", tmp_path / "run", stop=StopRule(steps=30), settings=settings)
    told = (tmp_path / "run" / "workers" / "w0.log").read_text()
    assert "vetoed focus_click@1" in told
    assert "matches '^save'" in told
    assert "texts masked" in told
    with ss.open_run(tmp_path / "run") as run:
        for transition in run.transitions():
            assert transition.choice is not None
            assert "|save" not in transition.choice.signature
        assert any(transition.choice and transition.choice.vetoed for transition in run.transitions())


def test_an_object_resumes_only_its_own_runs(tmp_path: Path) -> None:
    explore(tmp_path / "run", 5)
    with pytest.raises(SettingsError, match="not of an object for 'blank'"):
        resume_exploration(tmp_path / "run", _Blank(), stop=StopRule(steps=9))


def test_a_plugin_of_this_process_is_not_given_to_workers(tmp_path: Path) -> None:
    ss.SELECTORS.register("mine", ss.SELECTORS.get("puct"))
    settings = ss.resolve(overrides=["select.selector=mine"])
    with pytest.raises(PluginUnavailable, match="entry point"):
        start_exploration("synthetic:files", tmp_path / "run", stop=StopRule(steps=5), settings=settings)
    assert not (tmp_path / "run").exists()


async def test_a_running_loop_is_refused_before_there_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="event loop"):
        start_exploration("synthetic:files", tmp_path / "run", stop=StopRule(steps=5))
    assert not (tmp_path / "run").exists()


def test_the_callers_signal_handlers_are_given_back(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    explore(tmp_path / "run", 5)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_plateau_holds_at_the_end_whoever_found_the_last_state(tmp_path: Path) -> None:
    summary = start_exploration(
        "synthetic:generated?states=200",
        tmp_path / "run",
        stop=StopRule(plateau=40),
        settings=FAST,
        workers=3,
    )
    assert summary.ended == "plateau"
    with ss.open_run(tmp_path / "run") as run:
        found = [each.decision is not None and each.decision.founded for each in run.transitions()]
    assert not any(found[-40:])
