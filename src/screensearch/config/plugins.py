"""What the names in the settings stand for: every plugin must be there, and every guard rule must be sound.

The rooms look a name up when they need it; whoever wrote it is told where it stands, before anything runs.
"""

from __future__ import annotations

from typing import Any

from screensearch.act.guard import GUARDS, GuardRule
from screensearch.config.settings import Settings
from screensearch.encode.embed import EMBEDDERS, EmbedSettings
from screensearch.errors import PluginUnavailable, ScreenSearchError, SettingsError, UnknownPlugin
from screensearch.identify.resolve import IDENTIFIERS
from screensearch.registry import Registry
from screensearch.select.priors import PRIORS
from screensearch.select.selectors import SELECTORS


def check_plugins(settings: Settings) -> None:
    """Refuse settings that name a plugin that there is none of, or give one what it cannot use.

    A plugin that is there but cannot be used here, for want of a key or a package, is no mistake of the
    settings: whoever needs it says so.
    """
    _check_name("embed.name", EMBEDDERS, settings.embed.name)
    _check_name("identify.identifier", IDENTIFIERS, settings.identify.identifier)
    _check_name("select.selector", SELECTORS, settings.select.selector)
    _check_name("select.prior", PRIORS, settings.select.prior)
    _check_size(settings.embed)
    for place, rule in enumerate(settings.guard.rules):
        _check_name(f"guard.rules[{place}].name", GUARDS, rule.name)
        _check_rule(rule, f"guard.rules[{place}].patterns")


def _check_name(key: str, registry: Registry[Any], name: str) -> None:
    try:
        registry.require_known(name)
    except UnknownPlugin as problem:
        raise SettingsError(f"{key}: {problem}") from problem


def _check_size(embed: EmbedSettings) -> None:
    """Ask an embedder that can tell it for its size, which is how it says what it thinks of the settings."""
    try:
        size_for = getattr(EMBEDDERS.get(embed.name), "size_for", None)
        if size_for is not None:
            size_for(embed)
    except PluginUnavailable:
        return
    except SettingsError:  # it names the setting itself
        raise
    except Exception as problem:  # a plugin may raise anything
        failure = f"the embedder {embed.name!r} cannot tell its size"
        raise _refusal("embed.name", failure, problem) from problem


def _check_rule(rule: GuardRule, key: str) -> None:
    """Make the guard of a rule, which is how it says what it thinks of its patterns."""
    try:
        GUARDS.get(rule.name)(rule.patterns)
    except PluginUnavailable:
        return
    except Exception as problem:  # a plugin may raise anything
        failure = f"the guard {rule.name!r} cannot be made of them"
        raise _refusal(key, failure, problem) from problem


def _refusal(key: str, failure: str, problem: Exception) -> SettingsError:
    """What a plugin has against the settings at a key; `failure` explains an error that is none of ours."""
    if isinstance(problem, ScreenSearchError):
        return SettingsError(f"{key}: {problem}")
    return SettingsError(f"{key}: {failure}: {type(problem).__name__}: {problem}")
