"""From what a person wants explored to an environment and its settings.

A target is an environment (``synthetic:notepad``), the name of a shipped application profile
(``mousepad``), a profile file (``mine.toml``), or a command as a list of words. Layers apply in this
order: preset, base profile, application profile or command, overrides. The preset ``paper`` stands without
the base profile, whose clicks, keys and weights are not the paper's; a settings file as preset lies over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from screensearch.config.layers import (
    Layer,
    build,
    check_live,
    file_layer,
    names_a_file,
    near_miss,
    override_layer,
    preset_layer,
    text_layer,
    values_layer,
)
from screensearch.config.settings import Key, Settings, keys_of
from screensearch.environments.desktop import profiles
from screensearch.environments.protocol import ENVIRONMENTS
from screensearch.errors import SettingsError

DESKTOP = "desktop"
"""The environment plugin that explores an application on a live desktop."""


def settings_for(
    target: str | Sequence[str], preset: str | Path = "default", overrides: Sequence[str] = ()
) -> tuple[str, Settings]:
    """The environment that a target names, and the settings it is explored with.

    `target` is ``plugin:argument``, the name of a profile, the path of a profile file that ends in
    ``.toml``, or a command as a sequence of words.
    """
    return resolve_target(target, preset, [override_layer(each) for each in overrides])


def resolve_target(
    target: str | Sequence[str], preset: str | Path, above: Sequence[Layer], folder: Path = Path()
) -> tuple[str, Settings]:
    """The same with layers as overrides; the files that target and preset name are relative to `folder`."""
    if names_a_file(preset):
        preset = folder / preset
    environment, profile = _find(target, folder)
    layers = _layers(profile, preset, above)
    if profile is None:
        return environment, build(layers)
    settings = build(layers, check_live)
    if not settings.app.command:
        raise SettingsError(
            f"{profile.place(('app', 'command'))}: app.command is empty, so there is nothing to start: "
            'name the program and its arguments in the table [app], such as command = ["mousepad"]'
        )
    return environment, settings


def written_at(
    key: Key, target: str | Sequence[str], preset: str | Path = "default", overrides: Sequence[str] = ()
) -> str | None:
    """Where the value of a setting comes from, or of an entry of it: file and line, or the override.

    For messages about what turns out only later to be wrong. None when it is as in the code.
    """
    above = [override_layer(each) for each in overrides]
    for layer in reversed(_layers(_find(target, Path())[1], preset, above)):
        if any(key[: len(each)] == each for each in keys_of(layer.values)):
            return layer.place(key)
    return None


def _find(target: str | Sequence[str], folder: Path) -> tuple[str, Layer | None]:
    """The environment that a target names, and the profile of an application on a live desktop."""
    if not isinstance(target, str):
        layer = values_layer("the command", {"app": {"command": _command(target, folder)}})
        return f"{DESKTOP}:{Path(target[0]).name}", layer
    plugin, colon, argument = target.partition(":")
    if plugin == DESKTOP:
        return target, _profile(argument)
    if plugin in ENVIRONMENTS.names():
        return target, None
    if target.endswith(".toml"):
        return f"{DESKTOP}:{Path(target).stem}", file_layer(folder / target, "profile")
    if colon:
        ENVIRONMENTS.get(plugin)  # there is none: this says which ones there are
    return f"{DESKTOP}:{target}", _profile(target)


def _layers(profile: Layer | None, preset: str | Path, above: Sequence[Layer]) -> list[Layer]:
    """The layers of a target, the lowest first."""
    below = preset_layer(preset)
    if profile is None:
        return [below, *above]
    base = _shipped(profiles.BASE)
    # A settings file of the user's own says more than what is shipped for every application.
    shipped = {"default": [below, base], "paper": [below]}.get(str(preset), [base, below])
    return [*shipped, profile, *above]


def _command(words: Sequence[str], folder: Path) -> list[str]:
    """The words of a command; the program and files of the folder are named from the root.

    The application runs in a folder of its own, where ``python3 app.py`` would find no ``app.py``.
    """
    program, *arguments = words or ("",)
    if not program:
        raise SettingsError("the command is empty: name a program, as in `screensearch explore -- mousepad`")
    return [
        str((folder / program).absolute()) if "/" in program else program,
        *(str((folder / word).absolute()) if (folder / word).exists() else word for word in arguments),
    ]


def _profile(name: str) -> Layer:
    known = profiles.profile_names()
    if name not in known:
        environments = [f"{each}:" for each in ENVIRONMENTS.names()]
        raise SettingsError(
            f"no application profile named {name!r}{near_miss(name, [*known, *environments])} (profiles: "
            f"{', '.join(known)}; environments: {', '.join(environments)}); to explore a command without a "
            f"profile: screensearch explore -- {name or 'COMMAND'}"
        )
    return _shipped(name)


def _shipped(name: str) -> Layer:
    text = profiles.profile_text(name)
    assert text is not None  # it is in the list of names, or the base
    return text_layer(f"profile {name!r}", text, folder=profiles.PROFILE_FOLDER)
