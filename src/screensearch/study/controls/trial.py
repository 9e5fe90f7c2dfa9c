"""One trial: begin with a known clipboard, probe, read the screen, commit to what was read.

Everything that a figure is made of is read off the application's own screens. Only what the clipboard held
at the start is ours: that is the truth which a commitment is held against.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from screensearch.config import Settings
from screensearch.domain.action import Action, Argument
from screensearch.domain.screen import Element, Observation
from screensearch.domain.transition import Outcome
from screensearch.encode.encoder import Encoder, shown_text
from screensearch.encode.redact import Redactor
from screensearch.environments.protocol import (
    ClipboardHolder,
    Configurable,
    Environment,
    Start,
    StartFailed,
    TruthTeller,
)
from screensearch.environments.specification import open_environment
from screensearch.errors import EnvironmentFailed, HopelessStart, SettingsError
from screensearch.explore.step import in_time
from screensearch.explore.worker import means_of
from screensearch.study.controls.plan import TOKENS, ControlPlan, Kind, Moment, Place, Sight, Trial

PASTE, UNDO, CLOSE = "ctrl+v", "ctrl+z", "escape"
FILE, EDIT, SYNC = "File", "Edit", "Sync Clipboard"
CLIPBOARD = "clipboard"
"""The variable of a synthetic world, as its configuration tells it."""

ENVIRONMENT = "environment"
"""The failure of a trial whose machinery failed; any other is the outcome that an action had."""

_WORD = re.compile(r"\w+")


class _Ended(Exception):
    """An action did not end well, so that the trial tells nothing."""

    def __init__(self, outcome: Outcome, note: str) -> None:
        super().__init__(note)
        self.outcome = outcome


async def run_trial(
    plan: ControlPlan, settings: Settings, place: Place, paste_seconds: float | None = None
) -> Trial:
    """Run one trial in an environment of its own. What fails in it or around it makes it a failed one.

    `paste_seconds` is how long a Paste takes to reach the application: a race needs it where the clipboard
    is a real one.
    """
    trial = Trial(place, plan.clipboard(place))
    try:
        world = open_environment(plan.application(place.application).environment, means_of(settings))
        try:
            await _Hand(plan, settings, world, trial, paste_seconds).run()
        finally:
            await world.close()
    except HopelessStart:
        raise
    except _Ended as end:
        trial.failure, trial.note = end.outcome.value, str(end)
    except StartFailed as failure:
        trial.failure, trial.note = failure.outcome.value, str(failure)
    except EnvironmentFailed as problem:
        trial.failure, trial.note = ENVIRONMENT, str(problem)
    return trial


class _Hand:
    """Does what a trial consists of, and keeps what is seen."""

    def __init__(
        self,
        plan: ControlPlan,
        settings: Settings,
        world: Environment,
        trial: Trial,
        paste_seconds: float | None,
    ) -> None:
        self._plan = plan
        self._world = world
        self._trial = trial
        self._paste_seconds = paste_seconds
        self._deadline_seconds = settings.explore.step_deadline_seconds
        self._encoder = Encoder(settings.encode)
        self._redactor = Redactor(settings.redact) if settings.redact.at == "capture" else None
        self._seen: Observation | None = None

    async def run(self) -> None:
        """The whole trial."""
        start = await in_time(self._begin(), self._deadline_seconds, "reset")
        self._trial.configuration = dict(start.configuration)
        self._seen = start.observation
        self._keep(Moment.START)
        steps: Mapping[Kind, Callable[[], Awaitable[None]]] = {
            Kind.TIMING: self._paste,
            Kind.HIDDEN: self._paste,
            Kind.RACE: self._race,
            Kind.NO_PROBE: self._commit,
            Kind.PASTE_UNDO: self._probe_by_paste,
            Kind.FILE_MENU: self._look_into_menu,
        }
        await steps[self._trial.place.kind]()

    async def _begin(self) -> Start:
        """Begin with the same visible screen in every trial, and with the trial's clipboard."""
        token = self._trial.clipboard
        if isinstance(self._world, ClipboardHolder):
            await self._world.hold_clipboard(token)
            return await self._world.reset(self._plan.seed)
        start = await self._world.reset(self._plan.seed)
        if CLIPBOARD not in start.configuration or not isinstance(self._world, Configurable):
            raise SettingsError(
                f"{self._trial.place.application!r} has no clipboard that can be set before a trial: take a "
                "live application, such as mousepad, or synthetic:notepad"
            )
        wanted = {**start.configuration, CLIPBOARD: token}
        return await self._world.reset_as(wanted, self._plan.world_seed(self._trial.place))

    # -- what is done ---------------------------------------------------------------------------

    async def _paste(self) -> None:
        if isinstance(self._world, ClipboardHolder):
            self._world.take_taken()  # what was taken before is not this Paste's
        await self._paste_since(time.monotonic())

    async def _paste_since(self, begun: float) -> None:
        """Paste; how long the application took to ask for the text is counted from `begun`."""
        await self._press(PASTE)
        if isinstance(self._world, ClipboardHolder):
            for taken in self._world.take_taken()[:1]:
                self._trial.taken, self._trial.taken_seconds = taken.text, taken.at - begun
        self._keep(Moment.PROBE)

    async def _race(self) -> None:
        """Paste while an update of the clipboard is on its way."""
        if isinstance(self._world, ClipboardHolder):
            if self._paste_seconds is None:
                raise EnvironmentFailed("no Paste reached the application, so that none can be raced against")
            delay = self._paste_seconds * self._plan.delay_share(self._trial.place)
            self._trial.delay_seconds = delay
            self._world.take_taken()
            due = self._world.update_clipboard(_other(self._trial.clipboard), seconds=delay)
            await self._paste_since(due - delay)
        else:
            await self._click(EDIT)
            await self._click(SYNC)
            await self._paste()

    async def _probe_by_paste(self) -> None:
        await self._paste()
        probe = self._trial.sight(Moment.PROBE)
        assert probe is not None  # it was kept just now
        self._trial.evidence = _only(probe.tokens)
        await self._press(UNDO)
        self._keep(Moment.DESTINATION)
        await self._commit()

    async def _look_into_menu(self) -> None:
        await self._click(FILE)
        self._keep(Moment.PROBE)
        probe = self._trial.sight(Moment.PROBE)
        assert probe is not None  # it was kept just now
        self._trial.evidence = _only(probe.tokens)
        await self._press(CLOSE)
        self._keep(Moment.DESTINATION)
        await self._commit()

    async def _commit(self) -> None:
        """Type the token that the evidence says; without any, always the same one."""
        token = self._trial.evidence or TOKENS[0]
        target = document_of(self._observation)
        if target is None:
            raise _Ended(Outcome.MISSED, "there is no document to type the commitment into")
        await self._perform("focus_type@1", target, text=token)
        self._keep(Moment.COMMITMENT)
        self._trial.committed = _only(words_in(read_document(self._observation) or ""))

    async def _press(self, key: str) -> None:
        await self._perform("key@1", None, key=key)

    async def _click(self, label: str) -> None:
        found = [each for each in self._observation.elements if each.text == label and each.clickable]
        if not found:
            raise _Ended(Outcome.MISSED, f"nothing that can be clicked is called {label!r}")
        await self._perform("focus_click@1", found[0])

    async def _perform(self, template: str, target: Element | None, **arguments: Argument) -> None:
        action = Action(template, target, tuple(arguments.items()))
        result = await in_time(self._world.perform(action), self._deadline_seconds, "perform an action")
        if result.outcome is Outcome.LOST:
            raise EnvironmentFailed(f"{template} {dict(arguments)} was lost: {result.note}")
        if result.outcome is not Outcome.OK or result.observation is None:
            raise _Ended(result.outcome, f"{template} {dict(arguments)} ended with it: {result.note}")
        self._seen = result.observation

    # -- what is seen ---------------------------------------------------------------------------

    @property
    def _observation(self) -> Observation:
        assert self._seen is not None  # the trial has begun
        return self._seen

    def _keep(self, moment: Moment) -> None:
        seen = self._observation
        if self._redactor is not None:
            seen = self._redactor.apply(seen)
        truth = self._world.truth() if isinstance(self._world, TruthTeller) else {}
        self._trial.sights.append(
            Sight(
                moment,
                self._encoder.encode(seen),
                read_document(seen),
                words_in(" ".join(shown_text(each) for each in seen.elements)),
                truth.get("screen"),
            )
        )


# -- reading --------------------------------------------------------------------------------------


def document_of(observation: Observation) -> Element | None:
    """What a document is written in: the largest element that can be typed into."""
    editable = [each for each in observation.elements if each.editable and each.enabled]
    return max(editable, key=lambda each: each.box.width * each.box.height, default=None)


def read_document(observation: Observation) -> str | None:
    """The text of the document: what its element holds, or else what the elements in it say, in order."""
    document = document_of(observation)
    if document is None:
        return None
    return document.value or "\n".join(_texts_in(observation, document))


def _texts_in(observation: Observation, document: Element) -> Iterator[str]:
    elements = observation.elements
    place = next(place for place, each in enumerate(elements) if each is document)
    return (each.text for each in elements if each.parent == place and each.text)


def words_in(text: str) -> tuple[str, ...]:
    """The tokens that can be read in a text as words of their own."""
    words = set(_WORD.findall(text))
    return tuple(token for token in TOKENS if token in words)


def _only(tokens: tuple[str, ...]) -> str | None:
    """The token that was read; none if there is none, or if both can be."""
    return tokens[0] if len(tokens) == 1 else None


def _other(token: str) -> str:
    return next(each for each in TOKENS if each != token)
