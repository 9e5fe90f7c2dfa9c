"""The maps of some runs, as an agent asks about them: every answer bounded, quoted and without secrets.

Nothing here knows the protocol that the questions come by. Any thread may ask; a run that is still being
explored is read on at each question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screensearch.agents.answers import (
    ActionOutcomes,
    AmbiguousActions,
    Findings,
    Hit,
    Hits,
    Place,
    Runs,
    RunSummary,
    StateDescription,
    States,
    Way,
)
from screensearch.agents.placing import place_line
from screensearch.agents.quoting import LABEL, TEXT, TITLE, figure, quoted
from screensearch.agents.seeing import (
    SeenElement,
    SeenWindow,
    make_observation,
    read_observation,
    role_of,
)
from screensearch.agents.telling import (
    action_line,
    ambiguous_actions,
    ambiguous_line,
    brief_line,
    configuration_lines,
    element_line,
    execution_line,
    find_action,
    finding_line,
    incoming_lines,
    run_summary,
    state_line,
    step_line,
    tells_something,
)
from screensearch.agents.whereabouts import Whereabouts
from screensearch.domain.screen import StateId
from screensearch.errors import FormatError, ScreenSearchError
from screensearch.explore.path import Paths, Unreachable
from screensearch.view import messages
from screensearch.view.found import make_findings
from screensearch.view.path_page import paths_of
from screensearch.view.reading import Reading
from screensearch.view.shown import Shown

MOST_ROWS = 100
"""Of any list, in one answer."""

LATEST = 10
"""Executions of an action that are told one by one."""


@dataclass(slots=True)
class _Known:
    """What is derived from a run once for each length of its log."""

    run: str = ""  # the run's own identifier: another may be put in its place
    sequence: int = -1
    paths: Paths | None = None
    findings: list[messages.FindingInfo] | None = None
    ambiguous: list[tuple[float, StateId, str]] | None = None
    whereabouts: Whereabouts | None = None


class Atlas:
    """Runs by name, and all that may be asked about them."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._shown = Shown(folders)
        self._known = {name: _Known() for name in self._shown.names}

    def prepare(self) -> None:
        """Read the runs and index their screens ahead of the first question, a little at a time.

        What cannot be read is told when it is asked for.
        """
        self._shown.draw_all()
        self._shown.prepare()

    def close(self) -> None:
        """Release all logs."""
        self._shown.close()

    @property
    def names(self) -> list[str]:
        return self._shown.names

    # -- runs and states ------------------------------------------------------------------------

    def runs(self) -> Runs:
        """All runs."""
        return Runs(runs=[run_summary(info) for info in self._shown.runs().runs])

    def run(self, name: str | None) -> RunSummary:
        """One run."""
        with self._asked(name) as (reading, _):
            return run_summary(reading.info())

    def states(self, run: str | None, order: str, offset: int, limit: int) -> States:
        """The states of a run by number, by visits or by ambiguity."""
        limit = _bounded(limit, offset)
        with self._asked(run) as (reading, _):
            graph = reading.graph
            listed = list(graph.iter_states())
            figures: dict[str, Callable[[StateId], float]] = {
                "visits": graph.visits,
                "ambiguity": graph.ambiguity,
                "newest": lambda state: graph.first_seen(state) or 0,
            }
            if order in figures:
                listed.sort(key=figures[order], reverse=True)
            elif order != "number":
                raise ScreenSearchError(
                    f"states cannot be ordered by {order[:40]!r} (known: number, {', '.join(figures)})"
                )
            return States(
                run=reading.name,
                total=len(listed),
                next_offset=_next(offset, limit, len(listed)),
                states=[state_line(reading, state) for state in listed[offset : offset + limit]],
            )

    def describe(
        self,
        run: str | None,
        state: StateId,
        *,
        elements_offset: int = 0,
        elements_limit: int = 40,
        actions_offset: int = 0,
        actions_limit: int = 20,
    ) -> StateDescription:
        """All about one state, its elements and actions a page at a time."""
        elements_limit = _bounded(elements_limit, elements_offset)
        actions_limit = _bounded(actions_limit, actions_offset)
        with self._asked(run) as (reading, _):
            page = self._shown.state_page(reading.name, state)
            telling = [each for each in page.elements if tells_something(each)]
            elements = telling[elements_offset : elements_offset + elements_limit]
            actions = page.actions[actions_offset : actions_offset + actions_limit]
            return StateDescription(
                run=reading.name,
                state=state,
                title=quoted(page.state.title, TITLE),
                application=quoted(page.state.application, LABEL),
                window=quoted(page.state.window, LABEL),
                display_mode=quoted(page.state.display_mode, LABEL),
                text_size=page.state.text_size,
                text=quoted(page.text, TEXT),
                visits=page.state.visits,
                distinct_screens=page.screens,
                steps_from_start=None if page.depth < 0 else page.depth,
                has_screenshot=page.state.picture is not None,
                ambiguity=figure(page.ambiguity.value),
                trials=page.ambiguity.trials,
                dispersion=figure(page.ambiguity.dispersion),
                elements_total=len(telling),
                elements_left_out=len(page.elements) - len(telling),
                elements_next_offset=_next(elements_offset, elements_limit, len(telling)),
                elements=[element_line(each) for each in elements],
                actions_total=len(page.actions),
                actions_next_offset=_next(actions_offset, actions_limit, len(page.actions)),
                actions=[action_line(each) for each in actions],
                reached_from=incoming_lines(page.incoming),
            )

    def picture(self, run: str | None, state: StateId) -> tuple[str, bytes]:
        """The title of a state, and the screenshot of its founding screen as PNG, without secrets."""
        with self._asked(run) as (reading, _):
            reading.check_state(state)
            name = reading.entries.picture_of(reading.entries.founded[state])
            if name is None:
                raise ScreenSearchError(
                    f"no picture of state {state} of {reading.name} was kept (explore.screenshots); "
                    "describe_state tells its elements"
                )
            return quoted(reading.title(state), TITLE), self._shown.screenshot(reading.name, name)

    # -- search ---------------------------------------------------------------------------------

    def search(self, text: str, run: str | None, limit: int) -> Hits:
        """States whose screens say this, of one run or of all."""
        name = None if run is None else self._name(run)
        return self._hits(self._shown.searching.search(text, name, _bounded(limit, 0)))

    def like(self, run: str | None, state: StateId, limit: int) -> Hits:
        """States that look like this one, in all runs."""
        with self._asked(run) as (reading, _):
            reading.check_state(state)
        return self._hits(self._shown.searching.similar(reading.name, state, _bounded(limit, 0)))

    def _hits(self, found: messages.Hits) -> Hits:
        return Hits(
            hits=[
                Hit(
                    run=each.run,
                    state=brief_line(each.state),
                    snippet=quoted(each.snippet, LABEL),
                    by_words=each.by_words,
                    by_meaning=each.by_meaning,
                )
                for each in found.hits
            ]
        )

    # -- ways -----------------------------------------------------------------------------------

    def way(self, run: str | None, to_state: StateId, from_state: StateId | None) -> Way:
        """The most reliable way to a state."""
        with self._asked(run) as (reading, known):
            reading.check_state(to_state)
            if from_state is not None:
                reading.check_state(from_state)
            if known.paths is None:
                known.paths = paths_of(reading)
            paths = known.paths
            try:
                path = paths.to(to_state) if from_state is None else paths.between(from_state, to_state)
            except Unreachable as why:
                return Way(
                    run=reading.name,
                    to_state=to_state,
                    from_state=from_state,
                    reachable=False,
                    why=str(why),
                    configuration={},
                    reliability=0.0,
                    estimate=0.0,
                    steps=[],
                )
            return Way(
                run=reading.name,
                to_state=to_state,
                from_state=path.origin,
                reachable=True,
                why="",
                configuration=configuration_lines(reading, path.configuration),
                reliability=figure(path.reliability),
                estimate=figure(path.estimate),
                steps=[step_line(reading, step) for step in path.steps],
            )

    # -- actions --------------------------------------------------------------------------------

    def outcomes(self, run: str | None, state: StateId, action: str) -> ActionOutcomes:
        """What came of one action at one state; `action` is its signature, or its words."""
        with self._asked(run) as (reading, _):
            page = self._shown.state_page(reading.name, state)
            signature, info = find_action(reading, page, action)
            number = reading.entries.signatures.find(signature)
            done = [
                sequence
                for sequence in reading.entries.done_at(state)
                if reading.entries.signature[sequence - 1] == number
            ]
            return ActionOutcomes(
                run=reading.name,
                state=state,
                title=quoted(page.state.title, TITLE),
                action=action_line(info, successors=MOST_ROWS),
                ambiguous=len(info.successors) > 1,
                state_ambiguity=figure(page.ambiguity.value),
                latest=[execution_line(reading, sequence) for sequence in reversed(done[-LATEST:])],
            )

    def ambiguous(self, run: str | None, offset: int, limit: int) -> AmbiguousActions:
        """The actions whose outcomes differ most, weighed by how often they were tried (a term of eq. 1)."""
        limit = _bounded(limit, offset)
        with self._asked(run) as (reading, known):
            if known.ambiguous is None:
                known.ambiguous = ambiguous_actions(reading)
            return AmbiguousActions(
                run=reading.name,
                total=len(known.ambiguous),
                next_offset=_next(offset, limit, len(known.ambiguous)),
                actions=[
                    ambiguous_line(reading, state, signature)
                    for _, state, signature in known.ambiguous[offset : offset + limit]
                ],
            )

    def findings(self, run: str | None, offset: int, limit: int) -> Findings:
        """Crashes, hangs, exits and captures."""
        limit = _bounded(limit, offset)
        with self._asked(run) as (reading, known):
            if known.findings is None:
                known.findings = make_findings(reading).findings
            found = known.findings
            return Findings(
                run=reading.name,
                total=len(found),
                next_offset=_next(offset, limit, len(found)),
                findings=[finding_line(each) for each in found[offset : offset + limit]],
            )

    # -- where am I -----------------------------------------------------------------------------

    def where_am_i(
        self,
        run: str | None,
        *,
        elements: Sequence[SeenElement] = (),
        window: SeenWindow | None = None,
        observation: str | dict[str, Any] | None = None,
        application: str = "",
        display_mode: str = "",
        text_scale: float = 1.0,
    ) -> Place:
        """Which state a screen is: given by its elements and its window, or by an observation document."""
        with self._asked(run) as (reading, known):
            if observation is not None:
                seen = read_observation(observation)
            elif window is None:
                raise FormatError(
                    "give the elements you see and the box of their window, or an observation document"
                )
            else:
                sights = reading.sights
                seen = make_observation(
                    elements,
                    window,
                    application=application or _first(sights.applications.texts),
                    display_mode=display_mode or _first(sights.display_modes.texts),
                    text_scale=text_scale,
                )
            if known.whereabouts is None:
                known.whereabouts = Whereabouts(reading.run.settings)
            unknown = {each.role for each in elements if role_of(each.role) is None}
            return place_line(reading, known.whereabouts, seen, unknown)

    # -- runs by name ---------------------------------------------------------------------------

    def _name(self, run: str | None) -> str:
        if run is not None:
            return self._shown.reading(run).name
        if len(self.names) > 1:
            raise ScreenSearchError(f"say which run: there are {', '.join(self.names)}")
        return self.names[0]

    @contextmanager
    def _asked(self, run: str | None) -> Iterator[tuple[Reading, _Known]]:
        """The run as it is now, and what is known of it at that length."""
        reading = self._shown.reading(self._name(run))
        with reading.lock:
            reading.follow()
            known = self._known[reading.name]
            if known.run != reading.manifest.run or reading.sequence < known.sequence:
                known = self._known[reading.name] = _Known(run=reading.manifest.run)
            if known.sequence != reading.sequence:
                known.sequence = reading.sequence
                known.paths = known.findings = known.ambiguous = None
            yield reading, known


def _bounded(limit: int, offset: int) -> int:
    if not 1 <= limit <= MOST_ROWS:
        raise ScreenSearchError(f"limit is {limit}; it must be between 1 and {MOST_ROWS}: ask page by page")
    if offset < 0:
        raise ScreenSearchError(f"offset is {offset}; it is counted from 0")
    return limit


def _next(offset: int, limit: int, total: int) -> int | None:
    return offset + limit if offset + limit < total else None


def _first(texts: Sequence[str]) -> str:
    return texts[0] if texts else ""
