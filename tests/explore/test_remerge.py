"""A run made anew from its log: the same under its own rule, and a whole run under another."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import screensearch as ss
from screensearch import Means
from screensearch.cli import main
from screensearch.config import changed
from screensearch.domain.transition import Transition
from screensearch.environments.synthetic import open_world
from screensearch.errors import SettingsError
from screensearch.explore.regrouped import Regrouped
from screensearch.explore.remerge import remerge
from screensearch.record.run import RunExists, own

STEPS = 250


def explore(
    folder: Path,
    argument: str = "notepad",
    *overrides: str,
    seed: int = 7,
    steps: int = STEPS,
    pictures: bool = False,
) -> Path:
    """A run of a synthetic world, made in this process."""
    ss.start_exploration(
        open_world(argument, Means(screenshots=pictures)),
        folder,
        stop=ss.StopRule(steps=steps),
        settings=ss.resolve(overrides=("explore.episode_steps=25", *overrides)),
        seed=seed,
    )
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore(tmp_path_factory.mktemp("remerge") / "source")


def remade(source: Path, out: Path, *overrides: str) -> Regrouped:
    with ss.open_run(source) as run:
        return remerge(run, changed(run.settings, overrides), out)


def test_the_same_rule_gives_the_same_graph_to_the_bit(source: Path, tmp_path: Path) -> None:
    regrouped = remade(source, tmp_path / "again")
    assert regrouped.same
    assert (regrouped.merged, regrouped.split) == ((), ())
    assert regrouped.values.changed == regrouped.visits.changed == regrouped.ambiguity.changed == 0
    with ss.open_run(source) as before, ss.open_run(tmp_path / "again") as after:
        assert after.graph.digest() == before.graph.digest()
        assert [entry for _, entry in after.entries()] == [entry for _, entry in before.entries()]


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["notepad", "files?noise=0.3", "generated?states=40&aliasing=0.5&hazards=0.1"]),
    st.sampled_from(["exact", "hybrid", "identical", "content_free"]),
    st.integers(0, 3),
)
def test_any_run_under_its_own_rule_comes_out_the_same(
    tmp_path: Path, argument: str, identifier: str, seed: int
) -> None:
    folder = tmp_path / f"{argument.partition('?')[0]}-{identifier}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    source = explore(
        folder / "source",
        argument,
        f"identify.identifier={identifier}",
        seed=seed,
        steps=50,
    )
    assert remade(source, folder / "again").same


@pytest.mark.parametrize(
    "overrides",
    [
        ("identify.merge.threshold=0.8",),
        ("identify.merge.threshold=0.99",),
        ("identify.identifier=hybrid", "identify.merge.threshold=0.9"),
        ("identify.filters=[]",),
        ("ambiguity.kappa=5.0", "reward.objective=novelty"),
    ],
)
def test_a_run_under_another_rule_holds(source: Path, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    remade(source, tmp_path / "new", *overrides)
    with ss.open_run(tmp_path / "new") as run:
        assert run.verify().problems == ()
        assert run.settings == changed(run.settings, overrides)


def test_what_was_done_stays_as_it_was_logged(source: Path, tmp_path: Path) -> None:
    remade(source, tmp_path / "new", "identify.merge.threshold=0.8")
    with ss.open_run(source) as before, ss.open_run(tmp_path / "new") as after:
        pairs = list(zip(before.transitions(), after.transitions(), strict=True))
    assert all(
        (was.episode, was.step, was.signature, was.outcome, was.choice, was.evidence, was.note)
        == (now.episode, now.step, now.signature, now.outcome, now.choice, now.evidence, now.note)
        for was, now in pairs
    )


def test_what_merged_and_what_split_is_what_the_two_logs_say(source: Path, tmp_path: Path) -> None:
    regrouped = remade(source, tmp_path / "new", "identify.merge.threshold=0.8")
    forth, back = defaultdict(set), defaultdict(set)
    with ss.open_run(source) as before, ss.open_run(tmp_path / "new") as after:
        for (_, was), (_, now) in zip(before.entries(), after.entries(), strict=True):
            if was.decision is not None and now.decision is not None:
                forth[was.decision.state].add(now.decision.state)
                back[now.decision.state].add(was.decision.state)
        assert (before.graph.states, after.graph.states) == (regrouped.states_before, regrouped.states_after)
        assert (before.graph.edges, after.graph.edges) == (regrouped.edges_before, regrouped.edges_after)
    assert {group.state: set(group.others) for group in regrouped.merged} == {
        state: others for state, others in back.items() if len(others) > 1
    }
    assert {group.state: set(group.others) for group in regrouped.split} == {
        state: others for state, others in forth.items() if len(others) > 1
    }
    assert regrouped.merged


def test_a_coarser_rule_counts_the_same_executions(source: Path, tmp_path: Path) -> None:
    regrouped = remade(source, tmp_path / "new", "identify.identifier=content_free")
    with ss.open_run(source) as before, ss.open_run(tmp_path / "new") as after:
        counts = [
            Counter({signature: tried.visits for signature, tried in run.graph.tried(state).items()})
            for run in (before, after)
            for state in [*run.graph.iter_states()]
        ]
        assert sum(sum(each.values()) for each in counts) == 2 * before.graph.outcomes["ok"]
        change = regrouped.largest_visits[0]
        assert change.visits_before == before.graph.tried(change.before)[change.signature].visits
        assert change.visits_after == after.graph.tried(change.after)[change.signature].visits


def test_the_new_run_has_the_pictures_even_when_the_old_one_is_gone(tmp_path: Path) -> None:
    explore(tmp_path / "old", steps=5, pictures=True)
    remade(tmp_path / "old", tmp_path / "new")
    named = next((tmp_path / "old" / "artifacts").rglob("*.png"))
    assert named.stat().st_nlink == 2  # shared, not copied
    shutil.rmtree(tmp_path / "old")
    with ss.open_run(tmp_path / "new") as run:
        assert run.verify().holds
        assert run.screenshot(next(run.arrivals())) is not None


def test_pictures_that_are_elsewhere_stay_there(tmp_path: Path) -> None:
    ss.start_exploration(
        open_world("notepad", Means()),
        tmp_path / "old",
        stop=ss.StopRule(steps=5),
        artifacts=str(tmp_path / "pictures"),
    )
    remade(tmp_path / "old", tmp_path / "new", "identify.merge.threshold=0.8")
    assert not (tmp_path / "new" / "artifacts").exists()
    with ss.open_run(tmp_path / "new") as run:
        assert run.verify().holds


def test_the_new_run_tells_where_it_comes_from_and_can_be_gone_on_with(source: Path, tmp_path: Path) -> None:
    regrouped = remade(source, tmp_path / "new", "identify.merge.threshold=0.8")
    with ss.open_run(tmp_path / "new") as run:
        origin = run.remerged_from
        assert origin is not None
        assert (origin.folder, origin.entries, origin.digest) == (
            "source",
            regrouped.entries,
            regrouped.digest_before,
        )
    summary = ss.resume_exploration(
        tmp_path / "new",
        stop=ss.StopRule(steps=STEPS + 5),
        environment=open_world("notepad", Means(screenshots=False)),
    )
    assert summary.steps == STEPS + 5
    with ss.open_run(tmp_path / "new") as run:
        assert run.verify().holds


def test_a_run_that_is_being_written_is_read_as_far_as_it_is(source: Path, tmp_path: Path) -> None:
    with own(source):
        regrouped = remade(source, tmp_path / "new")
    assert regrouped.live
    assert regrouped.same


def test_an_interrupt_leaves_nothing_behind(source: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with ss.open_run(source) as run, pytest.raises(KeyboardInterrupt):
        remerge(run, run.settings, tmp_path / "new", interrupt)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_changed_afterwards_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="settings of encode say how a run is explored"):
        remade(source, tmp_path / "new", "encode.text_size_bins=[1.0]")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(RunExists, match="is there already"):
        remade(source, tmp_path)
    assert (tmp_path / "mine").read_text() == "precious"


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["remerge", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_command_tells_what_merged_and_what_changed(source: Path, tmp_path: Path) -> None:
    status, told = run(source, "--threshold", "0.8", "--out", tmp_path / "new")
    assert status == 0
    for words in ("now one state", "u of a state", "Q changed most", "screensearch diff"):
        assert words in told
    shown = CliRunner().invoke(main, ["show", str(tmp_path / "new")]).output
    assert re.search(r"remerged from the first \d+ entries of source", shown)


def test_the_command_says_when_nothing_changed(source: Path, tmp_path: Path) -> None:
    assert "the same to the bit" in run(source, "--out", tmp_path / "new")[1]
    again = json.loads(run(source, "--identifier", "exact", "--out", tmp_path / "newer", "--json")[1])
    assert again["same"] is True
    assert again["states_before"] == again["states_after"]


def test_the_command_refuses_an_unknown_rule(source: Path, tmp_path: Path) -> None:
    status, told = run(source, "--identifier", "hibryd", "--out", tmp_path / "new")
    assert status == 1
    assert "did you mean 'hybrid'?" in told
    assert not (tmp_path / "new").exists()


def test_transitions_follow_each_other_in_the_new_states(source: Path, tmp_path: Path) -> None:
    remade(source, tmp_path / "new", "identify.merge.threshold=0.7")
    where: dict[object, int | None] = {}
    with ss.open_run(tmp_path / "new") as run_:
        for _, entry in run_.entries():
            if isinstance(entry, Transition):
                assert entry.source == where[entry.episode]
            where[entry.episode] = None if entry.decision is None else entry.decision.state
