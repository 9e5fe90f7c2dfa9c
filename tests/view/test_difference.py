"""Two runs side by side, where it is known what differs: versions of one application, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from versions import FIRST, SECOND, explore_version

import screensearch as ss
from screensearch import Means
from screensearch.cli import main
from screensearch.environments.synthetic import open_world
from screensearch.view.comparisons import Difference
from screensearch.view.difference import difference
from screensearch.view.messages import Successor
from screensearch.view.reading import Reading


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore_version(tmp_path_factory.mktemp("versions") / "old", FIRST)


@pytest.fixture(scope="module")
def new(old: Path) -> Path:
    return explore_version(old.with_name("new"), SECOND, seed=2)


@contextmanager
def read(path: Path) -> Iterator[Reading]:
    reading = Reading(path, path.name)
    try:
        reading.follow()
        yield reading
    finally:
        reading.close()


def explore_world(argument: str, folder: Path, *, steps: int, seed: int) -> None:
    """A run of a synthetic world, made in this process."""
    settings = ss.resolve(overrides=("explore.screenshots=none", "explore.episode_steps=20"))
    world = open_world(argument, Means(screenshots=False))
    ss.start_exploration(world, folder, stop=ss.StopRule(steps=steps), settings=settings, seed=seed)


def compare(first: Path, second: Path, *, ignore: tuple[str, ...] = ()) -> Difference:
    with read(first) as one, read(second) as two:
        return difference(one, two, ignore=ignore)


def screens(path: Path, *states: int) -> set[str]:
    """What the states of a version really are: the first word of each text."""
    with ss.open_run(path) as run:
        return {run.founding_screen(state).text_atoms[0].partition("|")[2].split()[0] for state in states}


def leads(path: Path, successors: list[Successor]) -> set[str]:
    return {each.title for each in successors if each.state < 0} | screens(
        path, *(each.state for each in successors if each.state >= 0)
    )


def test_the_lost_and_gained_screens_are_those_of_the_versions(old: Path, new: Path) -> None:
    found = compare(old, new)
    assert screens(old, *(state.id for state in found.lost)) == {"help", "drawing"}
    assert screens(new, *(state.id for state in found.gained)) == {"website", "found"}
    assert found.matched == 4  # home, mail, letter and about


def test_what_the_other_run_would_have_seen_is_gone_and_the_rest_not_seen(old: Path, new: Path) -> None:
    found = compare(old, new)
    assert all(found.lost_gone)  # Help and Draw were clicked often in both
    sure = [state.id for state, is_new in zip(found.gained, found.gained_new, strict=True) if is_new]
    assert screens(new, *sure) == {"website"}  # the old version has no button that could lead to "found"
    assert {edge.words for edge in found.gained_edges if edge.tried == 0} >= {'click "search" (button)'}


def test_the_changed_actions_are_those_of_the_versions(old: Path, new: Path) -> None:
    changed = {each.words: each for each in compare(old, new).changed}
    assert set(changed) == {'click "help" (button)', 'click "draw" (button)'}
    helping, drawing = changed['click "help" (button)'], changed['click "draw" (button)']
    assert (helping.why, leads(old, helping.first), leads(new, helping.second)) == (
        "other",
        {"help"},
        {"website"},
    )
    assert (drawing.why, leads(old, drawing.first), leads(new, drawing.second)) == (
        "fails",
        {"drawing"},
        {"crash"},
    )


def test_back_to_the_old_version_is_the_same_the_other_way_round(old: Path, new: Path) -> None:
    there, back = compare(old, new), compare(new, old)
    assert {state.id for state in there.lost} == {state.id for state in back.gained}
    assert {each.words for each in there.changed} == {each.words for each in back.changed}


def test_a_run_does_not_differ_from_itself(old: Path) -> None:
    found = compare(old, old)
    assert not any((found.lost, found.gained, found.lost_edges, found.gained_edges, found.changed))
    assert found.comparable > 5


def test_a_shorter_run_of_the_same_version_is_not_evidence_of_anything(old: Path, tmp_path: Path) -> None:
    short = explore_version(tmp_path / "short", FIRST, seed=9, steps=4)
    found = compare(old, short)
    assert found.lost
    assert not any(found.lost_gone)
    assert not any(edge.gone for edge in found.lost_edges)
    assert not found.changed


def test_a_renamed_application_is_matched_only_if_asked(old: Path, tmp_path: Path) -> None:
    renamed = explore_version(tmp_path / "renamed", FIRST, application="mailer 2")
    assert compare(old, renamed).matched == 0
    again = compare(old, renamed, ignore=("application",))
    assert (again.matched, again.lost, again.gained) == (6, [], [])


def test_explorations_of_one_ambiguous_application_have_changed_nothing(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        explore_world("notepad", tmp_path / str(seed), steps=400, seed=seed)
    compared = 0
    for first, second in combinations("123", 2):
        found = compare(tmp_path / first, tmp_path / second)
        compared += found.comparable
        assert not found.changed
        assert not any((*found.lost_gone, *found.gained_new))
        assert not any(edge.gone for edge in (*found.lost_edges, *found.gained_edges))
    assert compared > 0


def test_what_crashes_in_the_second_of_two_generated_versions_is_told(tmp_path: Path) -> None:
    """The structure of both is the same, but for the hazards."""
    for hazards in (0, 0.5):
        world = f"generated?states=12&branching=4&aliasing=0&noise=0&hazards={hazards}"
        explore_world(world, tmp_path / f"{hazards:g}", steps=600, seed=3)
    found = compare(tmp_path / "0", tmp_path / "0.5")
    failing = [each for each in found.changed if each.why == "fails"]
    assert len(failing) >= 3
    assert all(each.why == "fails" for each in found.changed)
    for each in failing:
        assert all(successor.state >= 0 for successor in each.first)
        assert {successor.title for successor in each.second} <= {"crash", "hang", "capture"}


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["diff", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_command_fails_on_request_only(old: Path, new: Path) -> None:
    assert run(old, new)[0] == 0
    assert run(old, new, "--fail-on", "lost,changed")[0] == 3
    assert run(old, new, "--fail-on", "changed", "--json")[0] == 3
    assert run(old, old, "--fail-on", "lost,gained,changed")[0] == 0
    assert "none of lost, gained, changed" in run(old, new, "--fail-on", "crash")[1]


def test_runs_without_a_common_screen_are_no_success(old: Path, tmp_path: Path) -> None:
    """Nothing compared is nothing known: a pipeline must not take it for an application that is the same."""
    renamed = explore_version(tmp_path / "renamed", FIRST, application="mailer 2")
    assert "Nothing was compared" in run(old, renamed)[1]
    assert run(old, renamed)[0] == 0
    status, told = run(old, renamed, "--fail-on", "lost,gained,changed")
    assert status == 1
    assert "--ignore application" in told
    assert run(old, renamed, "--fail-on", "lost", "--json")[0] == 1
    assert run(old, renamed, "--fail-on", "lost,gained,changed", "--ignore", "application")[0] == 0
    assert "Nothing was compared" not in run(old, old)[1]


def test_the_command_tells_evidence_from_what_was_not_seen(old: Path, new: Path) -> None:
    _, told = run(old, new)
    for words in ("gone", "not seen", 'click "help" (button)', "crash", "no evidence of a change"):
        assert words in told
    told = run(old, old)[1]
    assert "no difference" in told
    assert f"Look at it: screensearch view {old}\n" in told


def test_json_is_what_the_viewer_answers(old: Path, new: Path) -> None:
    found = json.loads(run(old, new, "--json")[1])
    assert found["matched"] == 4
    assert len(found["lost"]) == len(found["lost_gone"]) == len(found["lost_tried"])


def test_a_run_that_is_not_there_is_named(old: Path, tmp_path: Path) -> None:
    status, told = run(old, tmp_path / "nowhere")
    assert status == 1
    assert "nowhere" in told
