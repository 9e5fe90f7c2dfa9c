"""Everything pluggable has a kind and a name. Built-ins are plugins too.

A plugin is an entry point in the group ``screensearch.<kind>s`` (see this project's own
``pyproject.toml``), or an object given to :meth:`Registry.register` for the life of the process.
"""

from __future__ import annotations

import difflib
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from screensearch.errors import PluginUnavailable, UnknownPlugin

Plugin = TypeVar("Plugin")

KINDS = ("environment", "embedder", "identifier", "selector", "prior", "guard")


def _origin(entry: EntryPoint) -> str:
    package = "an unknown package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    return f"{entry.value} ({package})"


class Registry(Generic[Plugin]):
    """The plugins of one kind, loaded when first asked for."""

    def __init__(self, kind: str) -> None:
        if kind not in KINDS:
            raise UnknownPlugin(f"no plugin kind {kind!r} (known: {', '.join(KINDS)})")
        self.kind = kind
        self._registered: dict[str, Plugin] = {}

    def _declared(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=f"screensearch.{self.kind}s"):
            other = found.setdefault(entry.name, entry)
            if other.value != entry.value:
                raise PluginUnavailable(
                    f"two packages provide the {self.kind} {entry.name!r}: {_origin(other)} and "
                    f"{_origin(entry)}; stored runs must know which one they used: rename or remove one"
                )
        return found

    def names(self) -> list[str]:
        """Every known name, sorted."""
        return sorted({*self._declared(), *self._registered})

    def origin(self, name: str) -> str:
        """Where a plugin comes from: package, version and place, or that it lives in this process only."""
        return "registered in this process" if name in self._registered else _origin(self._declared()[name])

    def register(self, name: str, plugin: Plugin) -> None:
        """Add or replace a plugin for the life of this process."""
        self._registered[name] = plugin

    def get(self, name: str) -> Plugin:
        """The plugin of that name; a near miss is suggested when there is none."""
        if name in self._registered:
            return self._registered[name]
        entry = self._declared().get(name)
        if entry is None:
            raise UnknownPlugin(self._unknown(name))
        try:
            return cast(Plugin, entry.load())
        except (ImportError, AttributeError) as problem:
            raise PluginUnavailable(
                f"{self.kind} {name!r} is declared as {entry.value!r} but does not load: {problem}"
            ) from problem

    def _unknown(self, name: str) -> str:
        names = self.names()
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"no {self.kind} named {name!r}{hint} (known: {', '.join(names) or 'none'})"
