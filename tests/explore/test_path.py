"""The most reliable way to a state: the rule, its ties, and the starts that it begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

import screensearch as ss
from screensearch.domain.transition import Choice, Entry, Evidence, Reward
from screensearch.explore.courses import Courses
from screensearch.explore.path import Paths, PathStart, Unreachable, estimate, find_starts
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.log import Row, row_of

EPISODE = ss.EpisodeId(0, 0)
NO_EVIDENCE = Evidence()
BEGIN = (None, "start", 0)


def graph_of(*steps: tuple[object, str, int | str]) -> StateGraph:
    """A graph from (source, signature, target) triples; a word as target is how the step failed."""
    rows = []
    for sequence, (source, signature, target) in enumerate(steps, start=1):
        if source is None:
            rows.append(Row(sequence, "start", None, None, int(target), None))
        elif isinstance(target, str):
            rows.append(Row(sequence, target, int(str(source)), signature, None, None))
        else:
            rows.append(Row(sequence, "ok", int(str(source)), signature, target, 0.5))
    return StateGraph.fold(rows, AmbiguitySettings())


def start_at(state: int, *, count: int = 1, tries: int = 1, first: int = 1, mode: str = "light") -> PathStart:
    return PathStart(state, (("display_mode", mode),), count, tries, (EPISODE,), first)


def actions(path: ss.StatePath) -> list[str]:
    return [step.signature for step in path.steps]


def test_one_lucky_execution_does_not_beat_many_that_nearly_all_came_out() -> None:
    often = [(0, "often", 1)] * 98 + [(0, "often", 0)] * 2
    graph = graph_of(BEGIN, (0, "once", 1), *often)
    path = Paths(graph, [start_at(0)]).to(1)
    assert actions(path) == ["often"]
    assert (path.steps[0].count, path.steps[0].tries) == (98, 100)
    assert path.reliability == pytest.approx(0.98)
    assert path.estimate == pytest.approx(estimate(1, 1) * 99 / 102)


def test_a_longer_way_is_taken_when_it_is_more_reliable() -> None:
    surely = [(0, "a", 1), (1, "b", 2)] * 30
    rarely = [(0, "c", 2)] + [(0, "c", 0)] * 9
    path = Paths(graph_of(BEGIN, *surely, *rarely), [start_at(0)]).to(2)
    assert actions(path) == ["a", "b"]


def test_equal_ways_go_to_the_fewer_actions_and_then_to_the_older() -> None:
    # 3/4 · 2/3 = 1/2: two actions that came out 2 of 2 and 1 of 1 are as likely as one with 1 of 2.
    two = [(0, "a", 1), (0, "a", 1), (1, "b", 2)]
    one = [(0, "c", 2), (0, "c", 0)]
    assert actions(Paths(graph_of(BEGIN, *two, *one), [start_at(0)]).to(2)) == ["c"]
    assert actions(Paths(graph_of(BEGIN, (0, "x", 1), (0, "y", 1)), [start_at(0)]).to(1)) == ["x"]
    assert actions(Paths(graph_of(BEGIN, (0, "y", 1), (0, "x", 1)), [start_at(0)]).to(1)) == ["y"]


@pytest.mark.parametrize("how", ["crash", "hang", "exit", "capture", "missed"])
def test_executions_that_failed_count_against_an_action(how: str) -> None:
    graph = graph_of(BEGIN, (0, "a", 1), (0, "a", 1), *[(0, "a", how)] * 5, (0, "b", 1))
    path = Paths(graph, [start_at(0)]).to(1)
    assert actions(path) == ["b"]
    only = Paths(graph_of(BEGIN, (0, "a", 1), (0, "a", how)), [start_at(0)]).to(1)
    assert only.reliability == 0.5


def test_what_was_lost_with_its_worker_does_not_count() -> None:
    graph = graph_of(BEGIN, (0, "a", 1), *[(0, "a", "lost")] * 5)
    assert Paths(graph, [start_at(0)]).to(1).reliability == 1.0


def test_the_start_is_part_of_the_way_and_the_most_reliable_one_is_taken() -> None:
    graph = graph_of(BEGIN, (None, "start", 1), (0, "a", 2), (1, "a", 2))
    paths = Paths(graph, [start_at(0, count=1, tries=9), start_at(1, count=8, tries=8, mode="dark")])
    path = paths.to(2)
    assert path.origin == 1
    assert path.configuration == {"display_mode": "dark"}
    assert paths.to(0).steps == ()
    assert paths.to(0).configuration == {"display_mode": "light"}


def test_between_two_states_no_start_is_needed() -> None:
    graph = graph_of(BEGIN, (0, "a", 1), (1, "b", 2), (2, "c", 0))
    path = Paths(graph, []).between(1, 0)
    assert actions(path) == ["b", "c"]
    assert (path.origin, path.start, path.configuration) == (1, None, {})
    assert Paths(graph, []).between(1, 1).steps == ()


def test_a_state_that_nothing_leads_to_is_said_to_be_unreachable() -> None:
    graph = graph_of(BEGIN, (0, "a", 1), (None, "start", 2), (2, "b", 1))
    paths = Paths(graph, [start_at(0)])
    with pytest.raises(Unreachable, match="state 2"):
        paths.to(2)
    assert actions(paths.to(1)) == ["a"]
    with pytest.raises(Unreachable, match="from state 1 to state 0"):
        paths.between(1, 0)
    with pytest.raises(ss.ScreenSearchError, match="no state 7"):
        paths.to(7)


def test_starts_are_counted_by_configuration_and_state_with_those_that_failed() -> None:
    def arrival(number: int, state: int, mode: str) -> ss.Arrival:
        decision = ss.Decision(state, "memo")
        return ss.Arrival(ss.EpisodeId(0, number), decision, 1, NO_EVIDENCE, (("mode", mode),))

    failed = ss.FailedStart(ss.EpisodeId(0, 9), ss.Outcome.CRASH, NO_EVIDENCE, (("mode", "dark"),))
    landing = ss.Arrival(ss.EpisodeId(0, 0), ss.Decision(5, "memo"), 1, NO_EVIDENCE, (), step=3)
    entries: list[ss.Arrival | ss.FailedStart] = [
        arrival(0, 0, "light"),
        landing,
        arrival(1, 1, "dark"),
        failed,
        arrival(2, 0, "light"),
    ]
    light, dark = find_starts(enumerate(entries, start=1))
    assert (light.state, light.count, light.tries, light.first) == (0, 2, 2, 1)
    assert [each.number for each in light.episodes] == [0, 2]
    assert (dark.state, dark.count, dark.tries) == (1, 1, 2)


def document(number: int, name: str, *steps: tuple[str, int]) -> list[Entry]:
    """An episode that begins at state 0 with a document, which the screen does not show."""
    episode = ss.EpisodeId(0, number)
    configuration = (("document", name),)
    entries: list[Entry] = [ss.Arrival(episode, ss.Decision(0, "memo"), 1, NO_EVIDENCE, configuration)]
    here = 0
    for step, (signature, target) in enumerate(steps, start=1):
        choice, reward = Choice(signature, 0, 1, 1.0, 0.0, 0, 0.0), Reward(False, False, 0.0, 0.0)
        decision = ss.Decision(target, "memo")
        entries.append(
            ss.Transition(
                episode, step, here, signature, ss.Outcome.OK, decision, 1, choice, reward, NO_EVIDENCE
            )
        )
        here = target
    return entries


def paths_of(*episodes: list[Entry]) -> Paths:
    log = list(enumerate([entry for each in episodes for entry in each], start=1))
    graph = StateGraph.fold([row_of(*each) for each in log], AmbiguitySettings())
    return Paths(graph, find_starts(log), Courses.learn(graph, log))


def test_a_way_begins_with_a_configuration_that_the_state_was_seen_in() -> None:
    letters = [document(number, "letter", ("open", 1)) for number in range(9)]
    paths = paths_of(*letters, document(9, "report", ("open", 2)))
    assert paths.to(1).configuration == {"document": "letter"}
    assert paths.to(2).configuration == {"document": "report"}


def test_outcomes_after_the_same_start_weigh_more_than_all_others() -> None:
    letter = [document(number, "letter", ("font", 1), ("escape", 2), ("close", 3)) for number in range(6)]
    report = [document(number, "report", ("font", 1), ("escape", 3), ("close", 2)) for number in range(6, 9)]
    path = paths_of(*letter, *report).to(3)
    assert path.configuration == {"document": "letter"}
    assert actions(path) == ["font", "escape", "close"]  # by `escape` alone only a report gets there
    escape = path.steps[1]
    assert (escape.count, escape.tries) == (6, 9)
    assert escape.estimate == pytest.approx((6 + 2 * 7 / 11) / (6 + 2))


def test_a_step_whose_episode_has_no_known_beginning_counts_for_no_configuration() -> None:
    log = list(enumerate(document(0, "letter", ("open", 1)), start=1))
    graph = StateGraph.fold([row_of(*each) for each in log], AmbiguitySettings())
    courses = Courses.learn(graph, log[1:])
    assert courses.configurations(1) == set()
    assert courses.observed((("document", "letter"),), 0, "open", 1) == (0, 0)


def test_an_episode_may_be_met_before_its_beginning() -> None:
    log = list(enumerate(document(0, "letter", ("open", 1)), start=1))
    graph = StateGraph.fold([row_of(*each) for each in log], AmbiguitySettings())
    assert Courses.learn(graph, reversed(log)).configurations(1) == {(("document", "letter"),)}


def test_every_state_of_an_explored_run_has_a_way_that_its_graph_knows(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("explore.screenshots=none",))
    stop = ss.StopRule(steps=150)
    ss.start_exploration("synthetic:notepad", tmp_path / "run", stop=stop, settings=settings, seed=7)
    with ss.open_run(tmp_path / "run") as run:
        for state in run.graph.iter_states():
            path = run.path_to(state)
            assert path.start is not None
            for step in path.steps:
                assert run.graph.tried(step.source)[step.signature].successors[step.target] == step.count
        between = run.path_to(run.path_to(1).state, start=0)
        assert between.start is None
        with pytest.raises(ss.ScreenSearchError, match="has no state 9999"):
            run.path_to(9999)
