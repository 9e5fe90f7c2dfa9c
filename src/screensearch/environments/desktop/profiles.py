"""The application profiles that are shipped: settings files, one for each application.

A profile holds what differs for one application: the table `app`, and any other setting. It is laid over
`BASE`, which holds what differs on every live desktop, and that over a preset.
"""

from __future__ import annotations

from pathlib import Path

BASE = "base"
"""The profile below all others. It is no application's, so it is not listed."""

PROFILE_FOLDER = Path(__file__).parent / "profiles"
"""Where the profiles are; the sources of `app.files` are relative to it."""


def profile_names() -> list[str]:
    """The applications that have a profile, sorted."""
    return sorted(path.stem for path in PROFILE_FOLDER.glob("*.toml") if path.stem != BASE)


def profile_text(name: str) -> str | None:
    """The text of a profile, the base too, or None when there is none of that name."""
    if name != BASE and name not in profile_names():  # a name is not a path
        return None
    return (PROFILE_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
