"""What the viewer reads of a run is what the run says, also while it grows."""

from __future__ import annotations

import math
import shutil
import threading
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from viewed import HOSTILE, explore, explore_further

import screensearch as ss
from screensearch.errors import RunNotFound
from screensearch.explore.causes import group_by_cause
from screensearch.record.run import own
from screensearch.view.edge_page import make_edge_page
from screensearch.view.entries import Index
from screensearch.view.figures import make_figures
from screensearch.view.found import make_ambiguities, make_findings
from screensearch.view.map_page import make_map
from screensearch.view.messages import Answer
from screensearch.view.outline import outline_way
from screensearch.view.path_page import make_path, paths_of
from screensearch.view.reading import Reading, UnknownState, ViewerEnds
from screensearch.view.state_page import make_observations, make_state_page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore(tmp_path_factory.mktemp("runs") / "desk")


@pytest.fixture(scope="module")
def reading(folder: Path) -> Reading:
    reading = Reading(folder, "desk")
    reading.follow()
    return reading


def all_answers(reading: Reading) -> list[Answer]:
    drawn = make_map(reading)
    answers: list[Answer] = [drawn, reading.info(), make_figures(reading)]
    answers += [make_findings(reading), make_ambiguities(reading)]
    answers += [make_state_page(reading, state, 0) for state in reading.sights.states]
    answers += [make_observations(reading, state, 0, 500) for state in reading.sights.states]
    for source, target in zip(drawn.links.source, drawn.links.target, strict=True):
        answers.append(
            make_edge_page(reading, drawn.states.id[source], drawn.states.id[target], None, 0, 500)
        )
    paths = paths_of(reading)
    answers += [make_path(reading, paths, state) for state in reading.sights.states]
    return answers


def test_the_graph_is_that_of_the_run(reading: Reading, folder: Path) -> None:
    with ss.open_run(folder) as run:
        assert reading.graph.digest() == run.graph.digest()
        assert reading.sequence == run.log.last_sequence


def test_a_run_read_as_it_grew_answers_like_one_read_at_once(tmp_path: Path) -> None:
    explore(tmp_path / "run", steps=5)
    followed = Reading(tmp_path / "run", "run")
    followed.follow()
    before = followed.sequence
    for steps in (6, 30, 90):
        explore_further(tmp_path / "run", steps)
        followed.follow()
    assert followed.sequence > before
    at_once = Reading(tmp_path / "run", "run")
    at_once.follow()
    assert [msgspec.json.encode(each) for each in all_answers(followed)] == [
        msgspec.json.encode(each) for each in all_answers(at_once)
    ]
    followed.close()
    at_once.close()


def test_how_u_came_about_adds_up(reading: Reading) -> None:
    told = [make_state_page(reading, state, 0).ambiguity for state in reading.sights.states]
    for each in told:
        terms = math.fsum(term.weight * term.entropy for term in each.terms)
        assert each.dispersion == pytest.approx(terms)
        if each.trials:
            assert math.fsum(term.weight for term in each.terms) == pytest.approx(1)
        shrunk = (each.trials * each.dispersion + each.kappa * each.prior) / (each.trials + each.kappa)
        assert each.value == pytest.approx(shrunk)
    assert max(each.dispersion for each in told) > 0


def test_actions_of_a_state_come_with_what_the_graph_knows(reading: Reading) -> None:
    crashes = 0
    for state in reading.sights.states:
        page = make_state_page(reading, state, 0)
        assert sum(each.visits for each in page.actions) == reading.graph.trials(state)
        for action in page.actions:
            assert sum(each.count for each in action.successors) == action.visits
            assert action.prior is not None
            crashes += action.failures.get("crash", 0)
    assert crashes == reading.graph.outcomes["crash"] > 0


def test_the_atoms_of_the_elements_are_those_of_the_screen(reading: Reading) -> None:
    for state in reading.sights.states:
        page = make_state_page(reading, state, 0)
        screen = reading.run.founding_screen(state)
        assert {each.role_atom for each in page.elements} == set(screen.role_atoms)
        assert {each.text_atom for each in page.elements if each.text_atom} == set(screen.text_atoms)
        aimed = {signature for each in page.elements for signature in each.signatures}
        assert aimed == {each.signature for each in page.actions}


def test_an_edge_has_every_transition_behind_it_with_its_element(reading: Reading, folder: Path) -> None:
    with ss.open_run(folder) as run:
        done = Counter(
            (each.source, each.target) for each in run.transitions() if each.outcome is ss.Outcome.OK
        )
    for (source, target), count in done.items():
        assert target is not None
        page = make_edge_page(reading, source, target, None, 0, 500)
        assert page.total == len(page.transitions) == count == sum(each.count for each in page.actions)
        for each in page.transitions:
            assert each.before is not None
            assert each.after is not None
            assert each.acted_on is not None
            assert each.acted_on[0::2] == (30, 150)
            assert each.acted_on[3] == 20
        one = make_edge_page(reading, source, target, page.actions[0].signature, 0, 500)
        assert one.total == page.actions[0].count


def test_a_table_is_answered_in_parts_that_make_up_the_whole(reading: Reading) -> None:
    state = max(reading.sights.states, key=reading.graph.visits)
    whole = make_observations(reading, state, 0, 500)
    assert whole.total == len(whole.observations) > 10
    parts = [make_observations(reading, state, offset, 7) for offset in range(0, whole.total + 7, 7)]
    assert [row for part in parts for row in part.observations] == whole.observations
    assert {part.total for part in parts} == {whole.total}


def test_the_course_ends_with_what_the_run_came_to(reading: Reading) -> None:
    figures, info = make_figures(reading), reading.info()
    assert (figures.states[-1], figures.edges[-1], figures.step[-1]) == (info.states, info.edges, info.steps)
    assert figures.seconds[-1] == pytest.approx(info.worker_seconds, abs=0.01)
    assert sum(figures.decide.counts) == sum(figures.act.counts) == info.steps
    assert sum(int(length) * count for length, count in figures.lengths.items()) == info.steps
    assert sum(figures.lengths.values()) == info.episodes
    assert all(0 <= share <= 1 for rate in (figures.revisits, figures.loops) for share in rate.share)
    assert figures.revisits.share[-1] == 1  # long after the last discovery


def test_findings_are_those_of_the_run_with_addresses_for_files(reading: Reading, folder: Path) -> None:
    with ss.open_run(folder) as run:
        found = run.findings()
    told = make_findings(reading).findings
    assert {(each.outcome, each.state, each.count, each.first) for each in told} == {
        (each.outcome.value, each.state, each.count, each.first) for each in found
    }
    numbers = {
        each.first: number
        for number, cause in enumerate(group_by_cause(found), start=1)
        for each in cause.findings
    }
    assert {each.first: each.number for each in told} == numbers
    (crash,) = told
    assert crash.actions[-1] == 'click "crash" (button)'
    assert crash.configuration == {"document": "mails"}
    assert all(each.startswith("runs/desk/pictures/") for each in crash.pictures)


def test_the_most_ambiguous_action_is_the_one_that_comes_out_in_two_ways(reading: Reading) -> None:
    actions = make_ambiguities(reading).actions
    assert actions[0].words == 'click "open joe" (button)'
    assert len(actions[0].successors) == 2


def test_a_way_leads_from_a_start_to_every_state_as_the_run_itself_tells(
    reading: Reading, folder: Path
) -> None:
    paths = paths_of(reading)
    run = ss.open_run(folder)
    for state in reading.sights.states:
        path = make_path(reading, paths, state)
        assert paths.to(state) == run.path_to(state)
        assert path.reachable
        ends = [path.start, *(step.target for step in path.steps)]
        assert ends[-1] == state
        assert [step.source for step in path.steps] == ends[:-1]
    assert any(make_path(reading, paths, state).steps for state in reading.sights.states)
    run.close()


def test_titles_tell_states_apart_and_keep_to_their_length(reading: Reading) -> None:
    titles = reading.sights.titles()
    assert len(set(titles)) == len(titles) == reading.graph.states
    assert all(0 < len(each) <= 60 for each in titles)
    assert any("dear reader" in each for each in titles)


def test_hostile_texts_stay_what_they_are(reading: Reading) -> None:
    pages = [make_state_page(reading, state, 0) for state in reading.sights.states]
    assert HOSTILE in {element.text for page in pages for element in page.elements}
    msgspec.json.decode(msgspec.json.encode(pages))


def test_what_is_not_there_is_told_by_name(reading: Reading) -> None:
    with pytest.raises(UnknownState, match="desk has no state 99: it has 4"):
        make_observations(reading, 99, 0, 1)
    with pytest.raises(UnknownState, match="no entry 9999"):
        reading.entry(9999)
    with pytest.raises(UnknownState, match="no action 'nonsense'"):
        make_edge_page(reading, 0, 1, "nonsense", 0, 1)


def test_a_run_is_live_while_somebody_owns_it(tmp_path: Path) -> None:
    reading = Reading(explore(tmp_path / "run", steps=3), "run")
    reading.follow()
    assert not reading.info().live
    with own(tmp_path / "run"):
        assert reading.info().live
    reading.close()


def test_a_run_that_vanishes_is_told_and_another_in_its_place_is_opened(tmp_path: Path) -> None:
    reading = Reading(explore(tmp_path / "run", steps=10), "run")
    reading.follow()
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(RunNotFound, match="any more"):
        reading.follow()
    explore(tmp_path / "run", steps=3)
    reading.follow()
    assert reading.info().steps == 3
    reading.close()


def test_a_run_without_an_entry_has_empty_answers(tmp_path: Path) -> None:
    explore(tmp_path / "full", steps=1)
    manifest = (tmp_path / "full" / "run.json").read_bytes()
    from screensearch.record.run import Manifest, create_run

    create_run(tmp_path / "empty", msgspec.json.decode(manifest, type=Manifest))
    reading = Reading(tmp_path / "empty", "empty")
    reading.follow()
    assert make_map(reading).states.id == []
    assert make_figures(reading).step == []
    assert make_findings(reading).findings == []
    assert reading.info().states == 0
    reading.close()


@given(st.lists(st.lists(st.integers(-1, 3), max_size=6), max_size=4))
def test_an_index_finds_the_entries_of_a_number_also_of_a_column_that_grows(parts: list[list[int]]) -> None:
    numbers: list[int] = []
    index = Index(lambda place: np.array(numbers[place:], dtype=np.int64), longest_rest=4)
    for part in parts:
        numbers += part
        for number in range(-1, 4):
            expected = [place + 1 for place, each in enumerate(numbers) if each == number]
            assert index(number) == expected


def test_the_way_before_an_entry_is_that_of_the_log(reading: Reading) -> None:
    for sequence, entry in reading.run.log.read():
        if isinstance(entry, ss.Transition) and not sequence % 7:
            found = [reading.run.log.find(entry.episode, step) for step in range(entry.step)]
            way = list(outline_way(reading, entry))
            assert [each.step for each in way] == [each[1].step for each in found if each]
            assert [each.evidence.screenshot for each in way] == [
                each[1].evidence.screenshot for each in found if each
            ]
            assert way[0] == found[0][1]  # type: ignore[index]
            steps = [each for each in way if isinstance(each, ss.Transition)]
            assert [each.signature for each in steps] == [
                each[1].signature for each in found if each and isinstance(each[1], ss.Transition)
            ]


def test_a_read_is_given_up_when_the_viewer_ends(folder: Path) -> None:
    ends = threading.Event()
    reading = Reading(folder, "desk", ends)
    ends.set()
    with pytest.raises(ViewerEnds):
        reading.follow()
    assert (reading.sequence, reading.graph.states) == (0, 0)
    ends.clear()
    reading.follow()
    assert reading.share_read == 1.0
    assert reading.sequence == reading.run.log.last_sequence
    reading.close()
