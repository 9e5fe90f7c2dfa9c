"""Entries of a profile that cannot work on this machine: told before anything is started."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from screensearch.environments.desktop.sandbox import HOME
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings, SeedFile
from screensearch.errors import SettingsError


def check_fitness(app: AppSettings, desktop: DesktopSettings) -> None:
    """Refuse a placement that is not on the screen, and a document that no episode would find.

    Without a sandbox, the home and what is in it are the user's own affair.
    """
    for number, place in enumerate(app.placements):
        right, bottom = place.x + place.width, place.y + place.height
        if right > desktop.width or bottom > desktop.height:
            raise SettingsError(
                f"app.placements[{number}] reaches to {right}×{bottom}, and the screen is {desktop.width}×"
                f"{desktop.height}: make it smaller, or raise desktop.width or desktop.height"
            )
    for number, document in enumerate(app.documents if desktop.sandbox else ()):
        if _is_a_file(document) and not _is_there(document, app.files):
            problem = _problem_of(document, app.files)
            raise SettingsError(f"app.documents[{number}] is {document!r}, {problem}")


def _is_a_file(word: str) -> bool:
    """Whether a word of a command line can only be meant as a file: not as an option, nor as a program."""
    if word.startswith("-") or "://" in word:
        return False
    return "/" in word or bool(PurePosixPath(word).suffix)


def _is_there(document: str, files: Sequence[SeedFile]) -> bool:
    """Whether a new home has that file or folder, or the sandbox shows it because the command names it."""
    path = PurePosixPath(HOME, document)
    if not path.is_relative_to(HOME):
        return Path(document).exists()
    inside = path.relative_to(HOME)
    if not inside.parts:
        return True
    for file in files:
        seeded = PurePosixPath(file.path)
        if seeded.is_relative_to(inside):
            return True
        if file.source and inside.is_relative_to(seeded):
            return Path(file.source, inside.relative_to(seeded)).exists()
    return False


def _problem_of(document: str, files: Sequence[SeedFile]) -> str:
    if PurePosixPath(HOME, document).is_relative_to(HOME):
        near = difflib.get_close_matches(document, [file.path for file in files], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return (
            f"which is not in the home of a new episode{hint}: seed it with [[app.files]], where an empty "
            "text makes an empty file, or correct it"
        )
    return "and there is no such file: correct the path, or seed the document with [[app.files]]"
