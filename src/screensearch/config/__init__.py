"""All settings of a run: what they are, and how presets, files and overrides resolve to them."""

from __future__ import annotations

from screensearch.config.layers import changed, load_preset, presets, resolve
from screensearch.config.settings import (
    ExploreSettings,
    Settings,
    StopSettings,
    check_deadlines,
    settings_document,
    settings_from_document,
    telling_seconds,
)
from screensearch.config.targets import DESKTOP, settings_for, written_at
from screensearch.config.toml import to_toml

__all__ = [
    "DESKTOP",
    "ExploreSettings",
    "Settings",
    "StopSettings",
    "changed",
    "check_deadlines",
    "load_preset",
    "presets",
    "resolve",
    "settings_document",
    "settings_for",
    "settings_from_document",
    "telling_seconds",
    "to_toml",
    "written_at",
]
