"""Routes of a run: along the most reliable way to a state, or as the episode went that met a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from screensearch.domain.screen import Screen, StateId
from screensearch.domain.transition import Arrival, EpisodeId, Outcome, Transition
from screensearch.errors import ScreenSearchError
from screensearch.explore.findings import Finding
from screensearch.explore.path import StatePath
from screensearch.explore.replay.judge import Judge
from screensearch.explore.replay.route import Expected, Route, RouteStep
from screensearch.explore.run import Run
from screensearch.explore.worker import world_seed


def judge_of(run: Run) -> Judge:
    """The run's own rule, over all its states."""
    return Judge.of_log(run.settings, run.log)


def route_to(run: Run, state: StateId) -> Route:
    """The route along the most reliable way from a start to a state; `Unreachable` if there is none."""
    return route_along(run, run.path_to(state))


def route_along(run: Run, path: StatePath) -> Route:
    """The route along a way that begins with a start."""
    if path.start is None:
        raise ScreenSearchError(
            f"the way from state {path.origin} to state {path.state} has no start: a replay begins with one"
        )
    steps = [RouteStep(step.signature, step.target) for step in path.steps]
    return _route(run, path.configuration, path.start.episodes, path.origin, steps)


def route_as_found(run: Run, state: StateId) -> Route:
    """The route that the episode took which discovered a state, every step of it.

    Longer than the most reliable way, but one episode went it as a whole: it counts on nothing that an
    application remembers from elsewhere.
    """
    sequence = run.state(state).first_seen
    found = run.entry(sequence)
    start, steps = _episode(run, found.episode, found.step + 1)
    begun = run.log.find(found.episode, 0)
    assert begun is not None  # the start is its
    assert isinstance(begun[1], Arrival)
    return _route(run, dict(begun[1].configuration), [found.episode], start, steps)


def route_to_finding(run: Run, finding: Finding, *, short: bool = False) -> Route:
    """The route to a failure: the actions of the episode that met it first.

    With `short`, the most reliable way to the state that it happened at, and then the action. What an
    application remembers is not on its screens, so the short way may miss what made it fail.
    """
    if finding.at_start:
        return _route(run, finding.configuration, [finding.episode], finding.outcome, [])
    assert finding.state is not None  # it is not at the start
    last = RouteStep(finding.signature, finding.outcome)
    if short:
        way = route_to(run, finding.state)
        return Route(
            environment=way.environment,
            settings=way.settings,
            configuration=way.configuration,
            start=way.start,
            steps=(*way.steps, last),
            screens=way.screens,
            seeds=way.seeds,
        )
    start, steps = _episode(run, finding.episode, len(finding.actions))
    return _route(run, finding.configuration, [finding.episode], start, [*steps, last])


def _episode(run: Run, episode: EpisodeId, entries: int) -> tuple[StateId, list[RouteStep]]:
    """The first entries of an episode: where it began, and the steps after that."""
    start: StateId | None = None
    steps: list[RouteStep] = []
    for number in range(entries):
        found = run.log.find(episode, number)
        entry = None if found is None else found[1]
        if isinstance(entry, Arrival) and number == 0:
            start = entry.decision.state
        elif isinstance(entry, Transition) and entry.outcome is Outcome.UNDECIDED:
            continue  # nothing was done, so there is nothing to do again
        elif isinstance(entry, Transition) and entry.signature is not None and entry.target is not None:
            steps.append(RouteStep(entry.signature, entry.target))
        else:
            raise ScreenSearchError(
                f"step {number} of {episode} in {run.path} led to no state: it cannot be walked again"
            )
    assert start is not None  # an episode that has a step has an arrival before it
    return start, steps


def _route(
    run: Run,
    configuration: Mapping[str, str],
    episodes: Iterable[EpisodeId],
    start: Expected,
    steps: list[RouteStep],
) -> Route:
    expected = [start, *(step.expected for step in steps)]
    screens: dict[StateId, Screen] = {
        each: run.founding_screen(each) for each in expected if not isinstance(each, Outcome)
    }
    return Route(
        environment=run.environment,
        settings=run.settings,
        configuration=configuration,
        start=start,
        steps=tuple(steps),
        screens=screens,
        seeds=tuple(world_seed(run.seed, episode) for episode in episodes),
    )
