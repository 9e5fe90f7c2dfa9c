"""Why a screen joined a state or founded one, against the plain comparison with every state known then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image as Pillow
from viewed import SECRETS
from viewed import explore as explore_desk

import screensearch as ss
from screensearch import Means, Run, ScreenSearchError
from screensearch.cli import main
from screensearch.environments.synthetic import open_world
from screensearch.identify.verify import compare
from screensearch.view.drawing import ONLY_HERE
from screensearch.view.explaining import NEAREST, explain
from screensearch.view.founders import Founders


def explore(folder: Path, *overrides: str, steps: int, pictures: bool = False) -> Path:
    """A run of the notepad, made in this process."""
    ss.start_exploration(
        open_world("notepad", Means(screenshots=pictures)),
        folder,
        stop=ss.StopRule(steps=steps),
        settings=ss.resolve(overrides=("explore.episode_steps=15", *overrides)),
        seed=7,
    )
    return folder


@pytest.fixture(scope="module")
def notepad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore(tmp_path_factory.mktemp("explaining") / "notepad", steps=250)


@pytest.fixture(scope="module")
def pictured(notepad: Path) -> Path:
    return explore(notepad.with_name("pictured"), steps=15, pictures=True)


def plainly(run: Run, sequence: int) -> list[tuple[float, int, bool]]:
    """Every state of the screen's pool that was founded before it was first seen, the best first."""
    screen = run.screen_of_entry(sequence)
    first = next(
        number
        for number, entry in run.entries()
        if entry.decision is not None and entry.screen is not None and run.log.screen(entry.screen) == screen
    )
    scored = []
    for state in run.graph.iter_states():
        founder = run.founding_screen(state)
        seen = run.graph.first_seen(state)
        if founder.metadata == screen.metadata and seen is not None and seen < first:
            comparison = compare(founder, screen, run.settings.identify.merge)
            scored.append((comparison.score, state, comparison.same))
    return sorted(scored, key=lambda each: (-each[0], each[1]))


def test_every_decision_of_a_run_is_told_with_the_states_known_then(notepad: Path) -> None:
    with ss.open_run(notepad) as run:
        founders = Founders.of(run.log)
        kinds = set()
        for sequence, entry in list(run.entries())[::3]:
            if entry.decision is None:
                continue
            told = explain(run, f"@{sequence}", founders=founders)
            kinds.add(entry.decision.how)
            known = plainly(run, sequence)
            passing, failing = [e for e in known if e[2]], [e for e in known if not e[2]]
            considered = [(each.score, each.state, each.passes) for each in told.considered]
            if entry.decision.how == "memo" and considered[:1] and considered[0][0] == 1.0:
                considered = [each for each in considered if each[1] != entry.decision.state]
                passing = [each for each in passing if each[1] != entry.decision.state]
            assert considered == (passing + failing)[: len(passing) + NEAREST]
            assert told.pool is not None
            assert (
                len(known) <= told.pool.compared <= len(known) + 1
            )  # and the state that these atoms founded
            assert told.pool.compared <= told.pool.known <= run.graph.states
            if entry.decision.how == "match":  # the exact identifier takes the best
                assert considered[0][:2] == (entry.decision.score, entry.decision.state)
            if entry.decision.how == "new":
                assert not passing
    assert kinds == {"new", "match", "memo"}


def test_a_state_alone_is_explained_by_its_founding_beside_the_nearest(notepad: Path) -> None:
    with ss.open_run(notepad) as run:
        for state in list(run.graph.iter_states())[1:]:
            told = explain(run, str(state))
            assert told.decision is not None
            assert (told.decision.how, told.decision.state) == ("new", state)
            assert told.second.name == f"@{run.graph.first_seen(state)}"
            nearest = told.considered[0].state if told.considered else state
            assert told.first.name == str(nearest)
            assert told.one_state == (not told.considered)


def test_the_first_screen_of_all_is_explained_too(notepad: Path) -> None:
    with ss.open_run(notepad) as run:
        told = explain(run, "0")
    assert told.considered == []
    assert (told.first.name, told.second.name, told.one_state) == ("0", "@1", True)


def test_the_elements_give_the_atoms_that_are_told(notepad: Path) -> None:
    with ss.open_run(notepad) as run:
        told = explain(run, "0", "2")
        for side, only in ((told.first, told.only_first), (told.second, told.only_second)):
            given = {atom for each in side.elements for atom in (each.role_atom, each.text_atom) if atom}
            assert given == {*told.shared, *only}


def test_an_entry_whose_window_stands_elsewhere_has_its_elements_there(pictured: Path) -> None:
    with ss.open_run(pictured) as run:
        for sequence, entry in run.entries():
            if entry.evidence.window is None or entry.decision is None:
                continue
            side = explain(run, f"@{sequence}").second
            assert side.window_box is not None
            x, y, width, height = side.window_box
            assert (x, y) == (entry.evidence.window.x, entry.evidence.window.y)
            inside = [
                each
                for each in side.elements
                if x <= each.box[0] + each.box[2] / 2 <= x + width and y <= each.box[1] <= y + height
            ]
            assert len(inside) >= len(side.elements) / 2


def test_secrets_that_a_run_keeps_for_itself_are_not_told(tmp_path: Path) -> None:
    folder = explore_desk(tmp_path / "desk", "redact.at=export", steps=40, secrets=True)
    with ss.open_run(folder) as run:
        told = "".join(str(explain(run, str(state))) for state in run.graph.iter_states())
        plain = "".join(str(run.founding_screen(state)) for state in run.graph.iter_states())
    for secret in SECRETS:
        assert secret.lower() in plain  # it is there to be found
        assert secret.lower() not in told.lower()


def test_names_that_stand_for_nothing_are_refused(notepad: Path) -> None:
    with ss.open_run(notepad) as run:
        for name, words in (("zero", "neither"), ("9999", "has no state"), ("@99999", "has no entry")):
            with pytest.raises(ScreenSearchError, match=words):
                explain(run, name)


def run_command(*arguments: str | Path) -> str:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)]).output


def test_the_command_tells_what_was_considered(notepad: Path) -> None:
    with ss.open_run(notepad) as run:
        joined = next(
            number for number, entry in run.entries() if entry.decision and entry.decision.how == "match"
        )
    told = run_command(notepad, f"@{joined}")
    for words in (f"@{joined} joined state", "known then", "cell×role"):
        assert words in told
    assert json.loads(run_command(notepad, f"@{joined}", "--json"))["considered"]


def test_the_command_tells_which_states_a_screen_was_never_compared_with(notepad: Path) -> None:
    assert "No state was known before it." in run_command(notepad, "0")
    with ss.open_run(notepad) as run:
        decided = [(str(state), explain(run, str(state)).pool) for state in run.graph.iter_states()]
    pools = [(state, pool) for state, pool in decided if pool is not None]
    state, some = next((state, pool) for state, pool in pools if 0 < pool.compared < pool.known)
    told = " ".join(run_command(notepad, state).split())
    assert f"compared with {some.compared} of the {some.known} states known then" in told
    assert "of another application, display mode, text size or window" in told
    strangers = [(state, pool.known) for state, pool in pools if pool.compared == 0 < pool.known]
    assert strangers
    for state, known in strangers:
        words = "not compared with the one state" if known == 1 else f"none of the {known} states"
        assert f"{words} known then" in " ".join(run_command(notepad, state).split())


def orange(path: Path) -> int:
    """How much of a picture says that something differs, the legend included."""
    with Pillow.open(path) as picture:
        return sum(count for count, colour in picture.getcolors(1 << 24) or () if colour == ONLY_HERE)


def test_two_screens_are_drawn_with_what_differs(pictured: Path, tmp_path: Path) -> None:
    run_command(pictured, "0", "0", "--picture", tmp_path / "same.png")
    assert "Drawn side by side" in run_command(pictured, "0", "1", "--picture", tmp_path / "other.png")
    assert orange(tmp_path / "other.png") > orange(tmp_path / "same.png") > 0


def test_screens_without_a_picture_are_drawn_as_their_elements(notepad: Path, tmp_path: Path) -> None:
    run_command(notepad, "0", "1", "--picture", tmp_path / "drawn.png")
    with Pillow.open(tmp_path / "drawn.png") as picture:
        assert len(picture.getcolors(1 << 24) or ()) > 10


def test_a_picture_that_cannot_be_written_is_an_error_with_its_place(notepad: Path, tmp_path: Path) -> None:
    assert "cannot write the picture" in run_command(
        notepad, "0", "1", "--picture", tmp_path / "no" / "a.png"
    )
