"""The flags that take an application out of its sandbox, or let it do there what cannot be undone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from screensearch import Settings
from screensearch.act.guard import open_gates
from screensearch.cli.logs import warn
from screensearch.config import DESKTOP
from screensearch.errors import SettingsError


def with_flags(environment: str, settings: Settings, unsandboxed: bool, allow_irreversible: bool) -> Settings:
    """The settings of a new run with what the flags say."""
    if unsandboxed:
        if environment.partition(":")[0] != DESKTOP:
            raise SettingsError(f"--unsandboxed is for applications on a desktop, and {environment} is none")
        settings = replace(settings, desktop=replace(settings.desktop, sandbox=False))
    if allow_irreversible:
        settings = replace(settings, guard=replace(settings.guard, irreversible="allow"))
    return settings


def check_same_walls(run: Path, settings: Settings, unsandboxed: bool, allow_irreversible: bool) -> None:
    """Refuse flags that a resumed run was not started with: it keeps its settings."""
    if unsandboxed and settings.desktop.sandbox:
        raise SettingsError(f"{run} was started in a sandbox and goes on in it: leave --unsandboxed out")
    if allow_irreversible and settings.guard.irreversible != "allow":
        raise SettingsError(f"{run} was started without --allow-irreversible and goes on so: leave it out")


def warn_of_open_walls(environment: str, settings: Settings) -> None:
    """Tell what may happen now."""
    told = f"{environment} runs without a sandbox: as you, with your files, your network and your devices"
    for each in (told, *open_gates(settings.guard, harmless=False)):
        warn(each)
