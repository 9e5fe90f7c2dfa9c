"""The environment `desktop`: a real application, a new sandbox for every episode.

What happens to the application is an outcome: it ended, it hangs, another program's window came up,
the target was not there any more; before its first screen it is told by `StartFailed`. What happens to the
desktop around it raises `EnvironmentFailed`.
"""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Mapping
from pathlib import PurePath

from screensearch.domain.action import Action
from screensearch.domain.transition import Outcome
from screensearch.environments.desktop.coverage import Covered, check_measurable
from screensearch.environments.desktop.desk import Desk, View
from screensearch.environments.desktop.home import Dressing
from screensearch.environments.desktop.sandbox import PATH, find_program
from screensearch.environments.desktop.script import follow
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.environments.desktop.start import first_window
from screensearch.environments.desktop.targets import Missed, Targets
from screensearch.environments.desktop.vitals import ApplicationEnded, ApplicationHangs
from screensearch.environments.protocol import Means, Result, Start, StartFailed, Taken
from screensearch.errors import EnvironmentFailed, SettingsError


def open_desktop(argument: str, means: Means) -> DesktopEnvironment:
    """Open ``desktop:NAME``: the application that the settings of the run describe."""
    app = means.app
    if not app.command:
        raise SettingsError(
            f"desktop:{argument} has no command (app.command): explore it by its profile, as in "
            "`screensearch explore mousepad`, or as `screensearch explore -- COMMAND`"
        )
    path = PATH if means.desktop.sandbox else os.environ.get("PATH", PATH)
    program = find_program(app.command[0], path=path)
    if app.coverage:
        check_measurable([program, *app.command[1:]])
    name = app.name or argument or PurePath(app.command[0]).name
    return DesktopEnvironment(name, app, means.desktop, screenshots=means.screenshots)


class DesktopEnvironment:
    """One application, driven by one worker."""

    def __init__(self, name: str, app: AppSettings, settings: DesktopSettings, *, screenshots: bool) -> None:
        self.application = name
        self._app = app
        self._settings = settings
        self._screenshots = screenshots
        self._desk: Desk | None = None
        self._targets = Targets()
        self._observations = 0
        self._run_lines: dict[str, set[int]] = {}  # by file, in all episodes
        self._fresh: dict[str, list[int]] = {}  # of those, what nobody has taken yet
        self._clipboard: str | None = None  # what every episode begins with

    @property
    def session_pid(self) -> int | None:
        """The process that all of the desktop runs under, if there is one now."""
        return None if self._desk is None else self._desk.session.pid

    async def reset(self, seed: int) -> Start:
        """A new home, a new desktop, a new process."""
        return await self._start(dress(self._app, seed))

    async def reset_as(self, configuration: Mapping[str, str], seed: int) -> Start:
        """The same, dressed as an earlier episode was."""
        return await self._start(dressed_as(self._app, configuration))

    async def _start(self, dressing: Dressing) -> Start:
        await self.close()
        desk = self._desk = await Desk.open(
            self._app,
            self._settings,
            dressing,
            application=self.application,
            screenshots=self._screenshots,
            clipboard=self._clipboard,
        )
        try:
            await first_window(desk)
            await follow(desk, self._app.start, seconds=self._settings.start_seconds)
            view = await desk.observe()
        except ApplicationEnded as end:
            outcome = Outcome.EXIT if end.clean else Outcome.CRASH
            raise await self._start_failed(desk, outcome, f"it {end}", configuration(dressing)) from end
        except ApplicationHangs as hang:
            raise await self._start_failed(desk, Outcome.HANG, str(hang), configuration(dressing)) from hang
        if view.foreign is not None:
            raise EnvironmentFailed(
                f"{self.application!r} started, but the window in front belongs to {view.foreign!r}; if that "
                "program is part of it, name it in app.also"
            )
        desk.vitals.take_delay()  # of the start: no action is to blame for it
        await self._measure(desk)
        self._targets.see(view.observation)
        return Start(view.observation, configuration(dressing))

    async def _start_failed(
        self, desk: Desk, outcome: Outcome, how: str, chosen: dict[str, str]
    ) -> StartFailed:
        """What became of a start, with what is on the screen now; then the desktop is ended."""
        failure = StartFailed(
            outcome, f"{how}; {desk.vitals.last_words()}", observation=desk.glimpse(), configuration=chosen
        )
        await self.close()
        return failure

    async def perform(self, action: Action) -> Result:
        """Give the input, wait for quiet, see what came of it."""
        desk = self._desk
        if desk is None:
            raise EnvironmentFailed("an action was given before the application was reset")
        self._targets.given = False
        try:
            desk.vitals.check_alive()
            missed = await self._act(desk, action)
            settled = await desk.settle()
            view = await desk.observe(check=self._check_is_due())
            await self._measure(desk)
        except ApplicationEnded as end:
            outcome = Outcome.EXIT if end.clean else Outcome.CRASH
            return Result(
                outcome, None, self._told(f"it {end}{'' if end.clean else '; ' + desk.vitals.last_words()}")
            )
        except ApplicationHangs as hang:
            return Result(Outcome.HANG, None, self._told(str(hang)))
        return self._result(view, missed, settled, desk.vitals.take_delay())

    async def _measure(self, desk: Desk) -> None:
        """Ask which lines were run, if that is counted."""
        if desk.session.covered is not None:
            await desk.session.covered.collect()

    def take_measured(self) -> dict[str, list[int]]:
        """The lines of the application, by file, that were run since the last call and never before."""
        if self._desk is not None and self._desk.session.covered is not None:
            self._keep(self._desk.session.covered)
        fresh, self._fresh = self._fresh, {}
        return fresh

    def _keep(self, covered: Covered) -> None:
        """Keep what was not known from earlier episodes."""
        for name, lines in covered.take().items():
            known = self._run_lines.setdefault(name, set())
            new = [line for line in lines if line not in known]
            known.update(new)
            if new:
                self._fresh.setdefault(name, []).extend(new)

    async def hold_clipboard(self, text: str) -> None:
        """Have the clipboard hold a text: now, and before the application of each further episode starts."""
        self._clipboard = text
        if self._desk is not None:
            self._desk.display.hold_clipboard(text)
            await self._desk.display.sync()

    def update_clipboard(self, text: str, *, seconds: float) -> float:
        """Have it hold another text so many seconds from now; the next episode begins as the first did."""
        if self._desk is None:
            raise EnvironmentFailed("a clipboard was to be updated before the application was reset")
        return self._desk.display.update_clipboard(text, seconds=seconds)

    def take_taken(self) -> list[Taken]:
        """What applications took from the clipboard since the last call."""
        return [] if self._desk is None else self._desk.display.take_taken()

    def _told(self, what: str) -> str:
        """What happened, and that it was not this action's doing, if so."""
        return what if self._targets.given else f"before this action was given: {what}"

    def _check_is_due(self) -> bool:
        every = self._settings.check_every
        self._observations += 1
        return every > 0 and self._observations % every == 0

    async def _act(self, desk: Desk, action: Action) -> str | None:
        """Carry it out; why not, if its target was not where it was."""
        try:
            await self._targets.act(desk, action, wait_seconds=self._settings.wait_seconds)
        except Missed as missed:
            return str(missed)
        return None

    def _result(self, view: View, missed: str | None, settled: bool, delay_seconds: float) -> Result:
        self._targets.see(view.observation)
        if view.foreign is not None:
            window = view.observation.window
            return Result(
                Outcome.CAPTURE,
                view.observation,
                f"{view.foreign} took the input with the window {window.title!r}",
            )
        remarks = [f"it answered nothing for {delay_seconds:.1f} s"] if delay_seconds else []
        if missed is not None:
            return Result(Outcome.MISSED, view.observation, "; ".join([missed, *remarks]))
        if not settled:
            remarks.append(f"the screen had not settled after {self._settings.settle_seconds:g} s")
        if view.observation.partial:
            remarks.append("the tree is partial")
        return Result(Outcome.OK, view.observation, "; ".join(remarks))

    async def close(self) -> None:
        """End the application and its desktop."""
        desk, self._desk = self._desk, None
        if desk is not None:
            await desk.close()
            if desk.session.covered is not None:
                self._keep(desk.session.covered)
            del desk
            # A desktop is full of circles and holds pictures, whose size the collector does not see: left to
            # itself it lets those of many episodes lie about.
            gc.collect()


def dress(app: AppSettings, seed: int) -> Dressing:
    """What this episode looks like: one choice from each range of the profile, by the seed alone."""
    chance = random.Random(seed)  # noqa: S311 - variety, not a secret
    return Dressing(
        display_mode=chance.choice(app.display_modes),
        text_scale=chance.choice(app.text_scales),
        placement=chance.choice(app.placements) if app.placements else None,
        document=chance.choice(app.documents) if app.documents else "",
    )


def dressed_as(app: AppSettings, wanted: Mapping[str, str]) -> Dressing:
    """The one dressing of a profile's ranges that a configuration tells."""
    for mode in app.display_modes:
        for scale in app.text_scales:
            for placement in app.placements or (None,):
                for document in app.documents or ("",):
                    dressing = Dressing(
                        display_mode=mode, text_scale=scale, placement=placement, document=document
                    )
                    if configuration(dressing) == wanted:
                        return dressing
    raise SettingsError(
        f"the application cannot be started with {dict(wanted)}: app.display_modes, app.text_scales, "
        "app.placements and app.documents do not hold that"
    )


def configuration(dressing: Dressing) -> dict[str, str]:
    """The dressing as the context that the log keeps with an episode."""
    place = dressing.placement
    chosen = {"display_mode": dressing.display_mode, "text_scale": f"{dressing.text_scale:g}"}
    if place is not None:
        chosen["placement"] = f"{place.width}x{place.height}+{place.x}+{place.y}"
    if dressing.document:
        chosen["document"] = dressing.document
    return chosen
