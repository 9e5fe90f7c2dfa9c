"""Names that become folders: of suites and of conditions. A suite may come from anywhere."""

from __future__ import annotations

import re

from screensearch.errors import FormatError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_name(what: str, name: str) -> None:
    """Refuse a name that would be a path, or none at all."""
    if not _NAME.fullmatch(name):
        raise FormatError(
            f"{what} is named {name!r}: a name begins with a letter or digit and has letters, digits, dots, "
            "hyphens and underscores, at most 100"
        )


def name_of(target: str) -> str:
    """The name of an application's suite: ``synthetic:notepad?noise=0`` is ``synthetic-notepad-noise-0``."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", target).strip("-._")[:100] or "suite"
