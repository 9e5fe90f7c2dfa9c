"""What stands after ``synthetic:``: an application and its options, with help for the near miss."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from screensearch.environments.synthetic.apps import APPS, Initial
from screensearch.environments.synthetic.generator import GeneratorSettings
from screensearch.environments.synthetic.model import Value
from screensearch.errors import SettingsError

GENERATED = "generated"
DEFAULT_NOISE = 0.1
MODES: tuple[Value, ...] = ("light", "dark")
TEXT_SCALES: tuple[Value, ...] = (1.0, 1.25, 1.5)
SCALES: tuple[Value, ...] = (1.0, 1.25, 1.5)

NUMBERS = {"states": int, "branching": int, "aliasing": float, "races": float, "hazards": float, "seed": int}
"""The options of a generated application, besides ``noise`` and ``scales``."""


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """A parsed argument: one of the hand-written applications, or a generated one."""

    name: str
    noise: float = DEFAULT_NOISE  # chance of each kind of cosmetic noise per observation, [0, 1]
    scales: tuple[float, ...] = (1.0,)  # window sizes that episodes draw from, multiples of 1200×840
    initial: Initial = ()  # initial values that episodes draw from, by variable
    generator: GeneratorSettings | None = None


def parse(argument: str) -> WorldSettings:
    """``notepad``, ``files?modes=light,dark&noise=0``, ``generated?states=10000&aliasing=0.2`` …"""
    name, _, query = argument.partition("?")
    names = (*APPS, GENERATED)
    if name not in names:
        raise SettingsError(_unknown("application", name, names, "synthetic: "))
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError as problem:
        raise SettingsError(f"synthetic:{argument}: options look like ?key=value&key=value") from problem
    options = dict(pairs)
    if len(options) < len(pairs):
        raise SettingsError(f"synthetic:{argument}: an option is given twice")
    noise = _number(name, "noise", options.pop("noise", str(DEFAULT_NOISE)), float)
    if not 0 <= noise <= 1:
        raise SettingsError(f"synthetic:{name}: noise={noise} is not within 0 … 1")
    scales = tuple(float(v) for v in _chosen(name, "scales", options.pop("scales", "1.0"), SCALES))
    if name == GENERATED:
        generator = GeneratorSettings(**_numbers(name, options))
        return WorldSettings(name, noise, scales, generator=generator)
    return WorldSettings(name, noise, scales, initial=_initial(name, options))


def _numbers(name: str, options: dict[str, str]) -> dict[str, Any]:
    for key in options:
        if key not in NUMBERS:
            raise SettingsError(_unknown("option", key, (*NUMBERS, "noise", "scales"), f"synthetic:{name}: "))
    return {key: _number(name, key, value, NUMBERS[key]) for key, value in options.items()}


def _initial(name: str, options: dict[str, str]) -> Initial:
    """Options of a hand-written application: which values its episodes may start with."""
    allowed = {v.name: v.initial for v in APPS[name].variables if len(v.initial) > 1}
    allowed |= {"display_mode": MODES, "text_scale": TEXT_SCALES}
    options = {
        {"modes": "display_mode", "text_scales": "text_scale"}.get(k, k): v for k, v in options.items()
    }
    for key in options:
        if key not in allowed:
            known = ("modes", "text_scales", *(k for k in allowed if k not in ("display_mode", "text_scale")))
            raise SettingsError(_unknown("option", key, (*known, "noise", "scales"), f"synthetic:{name}: "))
    return tuple((key, _chosen(name, key, options[key], allowed[key])) for key in sorted(options))


def _chosen(name: str, key: str, text: str, allowed: tuple[Value, ...]) -> tuple[Value, ...]:
    by_text = {str(value).lower(): value for value in allowed}
    by_text |= {f"{value:g}": value for value in allowed if isinstance(value, float)}
    chosen = []
    for part in text.lower().split(","):
        if part not in by_text:
            raise SettingsError(_unknown(f"value of {key}", part, map(str, allowed), f"synthetic:{name}: "))
        chosen.append(by_text[part])
    return tuple(dict.fromkeys(chosen))


def _number(name: str, key: str, text: str, kind: type[int] | type[float]) -> int | float:
    try:
        return kind(text)
    except ValueError as problem:
        what = "a whole number" if kind is int else "a number"
        raise SettingsError(f"synthetic:{name}: {key}={text!r} is not {what}") from problem


def _unknown(what: str, given: str, known: Iterable[str], where: str) -> str:
    known = list(known)
    near = difflib.get_close_matches(given, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{where}no {what} {given!r}{hint} (known: {', '.join(known)})"
