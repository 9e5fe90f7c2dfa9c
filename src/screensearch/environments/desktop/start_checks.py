"""What the doctor looks at of an application's start: the documents it opens, and its start script."""

from __future__ import annotations

import difflib
import os
import shutil

from screensearch.environments.desktop.checkup import Ailment, Seen
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.sandbox import HOME, PATH
from screensearch.environments.desktop.script import ScriptFailed, follow
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.settings import AppSettings
from screensearch.environments.desktop.start import first_window
from screensearch.environments.desktop.vitals import ApplicationEnded, ApplicationHangs


async def see_documents(session: Session, app: AppSettings) -> Seen[bool]:
    """Look for the documents in the home of a session in which nothing has been started yet.

    One that is not there is no mistake for sure: it may be a new file, or no file at all.
    """
    missing = [each for each in app.documents if not _there(session, each)]
    if not missing:
        return Seen(", ".join(app.documents), True)
    near = difflib.get_close_matches(missing[0], [file.path for file in app.files], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return Seen(
        f"not in the home when it starts: {', '.join(map(repr, missing))}{hint}",
        True,
        "warn",
        "seed them with [[app.files]], or correct app.documents, unless new files are meant",
    )


def _there(session: Session, word: str) -> bool:
    """Whether a word of the command line is a file inside, or something else that needs none."""
    if word.startswith("-") or "://" in word or shutil.which(word, path=PATH) is not None:
        return True
    return os.path.lexists(f"/proc/{session.pid}/root{os.path.join(HOME, word)}")


async def try_script(desk: Desk, app: AppSettings, *, seconds: float) -> Seen[bool]:
    """Do what an exploration does before the first action of an episode."""
    correct = "correct that step of app.start"
    try:
        await first_window(desk)
        await follow(desk, app.start, seconds=seconds)
        view = await desk.observe()
    except ScriptFailed as problem:
        remedy = f"{correct}, or raise desktop.start_seconds if it needs longer"
        raise Ailment(str(problem), remedy) from problem
    except ApplicationEnded as end:
        raise Ailment(f"the application {end}; {desk.vitals.last_words()}", correct) from end
    except ApplicationHangs as hang:
        raise Ailment(f"{hang}; {desk.vitals.last_words()}", correct) from hang
    if view.foreign is not None:
        text = f"after it, the window in front belongs to {view.foreign!r}"
        raise Ailment(text, f"if that is part of the application, name it in app.also: [{view.foreign!r}]")
    seen = view.observation
    return Seen(
        f"steps done: {len(app.start)}; {len(seen.elements)} elements show in {seen.window.title!r}", True
    )
