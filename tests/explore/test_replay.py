"""Going back: routes are walked by signature, judged by the run's rule, and say clearly where they end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from failing_world import ENDS, FailingWorld

import screensearch as ss
from screensearch.act.guard import GuardRule, GuardSettings
from screensearch.domain.shard import first_of
from screensearch.errors import FormatError, SettingsError
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.packed import pack_screens, unpack_screens
from screensearch.explore.replay.plan import judge_of

ONLY_CLICKS = ("candidates.wait=false", "candidates.scroll=false", "candidates.keys=[]")
FAR = 3  # rooms from the start


class Corridor(FailingWorld):
    """The corridor, with something changed about it: how many rooms a door leads on, how doors are called."""

    def __init__(
        self,
        *,
        stride: Callable[[int], int] = lambda place: 1,
        called: str = "next",
        ends: dict[str, ss.Outcome] | None = None,
        breaks: bool = False,
        pictures: bool = False,
    ) -> None:
        super().__init__(pictures=pictures)
        self._stride = stride
        self._called = called
        self._failing = ends or {}
        self._breaks = breaks

    async def perform(self, action: ss.Action) -> ss.Result:
        if self._breaks:
            raise ss.EnvironmentFailed("the display went away")
        pressed = "" if action.element is None else action.element.text
        if pressed in self._failing:
            seen = self._look("browser") if self._failing[pressed] is ss.Outcome.CAPTURE else None
            return ss.Result(self._failing[pressed], seen, "so it is now")
        if pressed == self._called:
            self._place = min(self._place + self._stride(self._place), 9)
            return ss.Result(ss.Outcome.OK, self._look())
        if pressed in ENDS and pressed not in self._failing:
            return await super().perform(action)
        return ss.Result(ss.Outcome.OK, self._look())

    def _look(self, application: str = "corridor") -> ss.Observation:
        seen = super()._look(application)
        elements = tuple(
            replace(each, text=self._called) if each.text == "next" else each for each in seen.elements
        )
        return replace(seen, elements=elements)


class Mended(FailingWorld):
    """The corridor without its crash."""

    async def perform(self, action: ss.Action) -> ss.Result:
        if action.element is not None and action.element.text == "crash":
            return ss.Result(ss.Outcome.OK, self._look())
        return await super().perform(action)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corridor") / "run"
    settings = ss.resolve(overrides=(*ONLY_CLICKS, "select.selector=random"))
    stop = ss.StopRule(steps=400)
    ss.start_exploration(FailingWorld(), path, stop=stop, settings=settings, seed=3)
    return path


@pytest.fixture
def run(folder: Path) -> Iterator[ss.Run]:
    with ss.open_run(folder) as opened:
        yield opened


def room(run: ss.Run, number: int) -> int:
    """The state that is a room of the corridor."""
    return next(state.id for state in run.states() if f"room {number}" in state.text)


def walk_to(run: ss.Run, world: FailingWorld, number: int = FAR, *, lenient: bool = False) -> ss.Walk:
    route = ss.route_to(run, room(run, number))
    (walk,) = ss.replay_route(route, environment=world, judge=judge_of(run), lenient=lenient).walks
    return walk


def test_an_unchanged_application_is_walked_to_the_state_every_time(run: ss.Run) -> None:
    route = ss.route_to(run, room(run, FAR))
    assert len(route.steps) == FAR
    told: list[tuple[int, int]] = []
    result = ss.replay_route(
        route,
        times=3,
        environment=Corridor(),
        judge=judge_of(run),
        on_seen=lambda number, seen: told.append((number, seen.step)),
    )
    assert (result.reached, result.tried, result.rate) == (3, 3, 1.0)
    assert [(count.step, count.done, count.as_expected) for count in result.steps] == [
        (step, 3, 3) for step in range(FAR + 1)
    ]
    assert told == [(number, step) for number in (1, 2, 3) for step in range(FAR + 1)]
    result.check()


def test_a_missing_target_is_named_with_what_is_there_instead(run: ss.Run) -> None:
    walk = walk_to(run, Corridor(called="next room"), lenient=True)
    assert walk.verdict is ss.Verdict.MISSING
    assert walk.step == 1
    assert 'click "next" (button)' in walk.note
    assert "focus_click@1::" in walk.note
    assert 'click "next room" (button)' in walk.note
    assert ss.describe_action(walk.nearest[0]) == 'click "next room" (button)'


def test_another_state_is_named_with_its_score_against_the_expected_one(run: ss.Run) -> None:
    walk = walk_to(run, Corridor(stride=lambda place: 2))
    assert (walk.verdict, walk.step) == (ss.Verdict.STRAYED, 1)
    assert f"led to state {room(run, 2)}, not to state {room(run, 1)}" in walk.note
    assert f"score {walk.seen[-1].score:.3f}" in walk.note
    assert "not there: 'room 1'; there instead: 'room 2'" in walk.note


def test_a_screen_that_no_state_of_the_run_is_like_is_said_to_be_none(run: ss.Run) -> None:
    walk = walk_to(run, Corridor(stride=lambda place: 7 - place))
    known = {state.text for state in run.states()}
    assert not any("room 7" in text for text in known)
    assert walk.seen[-1].state is None
    assert "a screen that is no known state" in walk.note


@pytest.mark.parametrize(
    "outcome", [ss.Outcome.CRASH, ss.Outcome.HANG, ss.Outcome.EXIT, ss.Outcome.CAPTURE, ss.Outcome.MISSED]
)
def test_a_failure_of_the_application_ends_a_walk_as_what_it_is(run: ss.Run, outcome: ss.Outcome) -> None:
    walk = walk_to(run, Corridor(ends={"next": outcome}))
    assert walk.verdict == outcome.value
    assert walk.note == f'step 1: click "next" (button) ended with {outcome.value}: so it is now'


def test_a_failure_of_the_environment_is_not_counted_as_one_of_the_application(run: ss.Run) -> None:
    route = ss.route_to(run, room(run, FAR))
    result = ss.replay_route(route, times=2, environment=Corridor(breaks=True), judge=judge_of(run))
    assert [walk.verdict for walk in result.walks] == [ss.Verdict.BROKEN] * 2
    assert (result.tried, result.broken, result.rate) == (0, 2, 0.0)
    with pytest.raises(ss.EnvironmentFailed, match="the display went away"):
        result.check()


def test_a_lenient_walk_goes_on_over_another_state_but_must_end_in_the_right_one(run: ss.Run) -> None:
    jumps = {0: 2, 2: 0}  # two rooms on at first, then none: the third door leads where it should
    world = Corridor(stride=lambda place: jumps.pop(place, 1))
    assert walk_to(run, world, lenient=True).verdict is ss.Verdict.REACHED
    walk = walk_to(run, Corridor(stride=lambda place: 2), lenient=True)
    assert (walk.verdict, walk.step) == (ss.Verdict.STRAYED, FAR)
    assert [seen.as_expected for seen in walk.seen] == [True, False, False, False]


def test_an_action_that_the_guard_forbids_is_not_done_again(run: ss.Run) -> None:
    route = ss.route_to(run, room(run, FAR))
    strict = replace(route.settings, guard=GuardSettings(rules=(GuardRule(patterns=("next",)),)))
    (walk,) = ss.replay_route(replace(route, settings=strict), environment=Corridor()).walks
    assert walk.verdict is ss.Verdict.REFUSED
    assert "matches 'next'" in walk.note


def test_a_finding_comes_again_or_not(run: ss.Run) -> None:
    crash = next(each for each in run.findings() if each.outcome is ss.Outcome.CRASH)
    for short in (False, True):
        route = ss.route_to_finding(run, crash, short=short)
        assert route.goal is ss.Outcome.CRASH
        assert ss.replay_route(route, environment=Corridor(), judge=judge_of(run)).rate == 1.0
        (walk,) = ss.replay_route(route, environment=Mended(), judge=judge_of(run)).walks
        assert walk.verdict is ss.Verdict.SURVIVED
    assert len(ss.route_to_finding(run, crash).steps) == len(crash.actions)


def test_a_state_can_be_gone_to_as_the_episode_went_that_discovered_it(run: ss.Run) -> None:
    state = room(run, FAR)
    route = ss.route_as_found(run, state)
    found = run.entry(run.state(state).first_seen)
    taken = [
        each.signature
        for each in run.transitions()
        if each.episode == found.episode and each.step <= found.step
    ]
    assert [step.signature for step in route.steps] == taken
    assert route.goal == state
    assert ss.replay_route(route, environment=Corridor(), judge=judge_of(run)).rate == 1.0


def test_a_replay_leaves_the_run_as_it_is_to_the_byte(folder: Path) -> None:
    def content() -> dict[str, str]:
        return {
            str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }

    before = content()
    with ss.open_run(folder) as opened:
        walk_to(opened, Corridor(stride=lambda place: 2))
    assert content() == before


def test_pictures_of_every_step_are_kept_on_request(run: ss.Run, tmp_path: Path) -> None:
    route = ss.route_to(run, room(run, FAR))
    world = Corridor(pictures=True)
    (walk,) = ss.replay_route(route, environment=world, pictures=tmp_path / "kept").walks
    assert [Path(str(seen.picture)).name for seen in walk.seen] == [f"step-{n}.png" for n in range(FAR + 1)]
    assert all(Path(str(seen.picture)).read_bytes().startswith(b"\x89PNG") for seen in walk.seen)


def test_a_route_of_an_object_cannot_be_opened_by_name(run: ss.Run) -> None:
    with pytest.raises(SettingsError, match="replay it from Python"):
        ss.replay_route(ss.route_to(run, room(run, 1)))


def test_seeds_that_mean_something_else_by_now_are_no_fault_of_the_application(run: ss.Run) -> None:
    route = ss.route_to(run, room(run, 1))
    other = replace(route, configuration={"seed": "another"})
    (walk,) = ss.replay_route(other, environment=Corridor()).walks
    assert walk.verdict is ss.Verdict.BROKEN
    assert "was to begin with" in walk.note


def test_a_synthetic_world_begins_as_the_route_says_whatever_the_seed(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("explore.screenshots=none",))
    stop = ss.StopRule(steps=60)
    ss.start_exploration("synthetic:notepad?noise=0", tmp_path / "run", stop=stop, settings=settings, seed=7)
    with ss.open_run(tmp_path / "run") as opened:
        path = opened.path_to(max(opened.graph.iter_states()))
        route = ss.route_to(opened, path.state)
        assert route.configuration == path.configuration
        first = ss.replay_route(route, times=3, seed=1)
        again = ss.replay_route(route, times=3, seed=1)
        assert [walk.seen for walk in first.walks] == [walk.seen for walk in again.walks]
        assert first.steps[0].as_expected == 3
        never = replace(route, configuration={**route.configuration, "clipboard": "nothing of the kind"})
        with pytest.raises(SettingsError, match="never begins with"):
            ss.replay_route(never)


def test_packed_screens_come_back_as_they_were(run: ss.Run) -> None:
    screens = {state: run.founding_screen(state) for state in run.graph.iter_states()}
    unpacked = unpack_screens(pack_screens(screens))
    assert unpacked.keys() == screens.keys()
    for state, screen in screens.items():
        assert replace(unpacked[state], text=screen.text) == screen


@pytest.mark.parametrize("damaged", ["", "not packed at all", "eJw="])
def test_damaged_screens_are_refused(damaged: str) -> None:
    with pytest.raises(FormatError):
        unpack_screens(damaged)


def test_states_of_different_shards_are_never_compared(run: ss.Run) -> None:
    screen = run.founding_screen(0)
    other = replace(screen, metadata=replace(screen.metadata, display_mode="dark"))
    rule = replace(run.settings.identify, filters=())
    judge = Judge(rule, sharded=True)
    judge.found(0, screen)
    judge.found(first_of(1), other)
    assert judge.state_of(screen) == 0
    assert judge.state_of(other) == first_of(1)
    bright = replace(screen, metadata=replace(screen.metadata, text_size=">=1.6"))
    assert judge.state_of(bright) is None
