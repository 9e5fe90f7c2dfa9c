"""Everything pluggable has a kind and a name. Built-ins are plugins too.

A plugin is an entry point in the group ``screensearch.<kind>s`` (see this project's own
``pyproject.toml``), or an object given to :meth:`Registry.register` for the life of the process.
"""

from __future__ import annotations

import difflib
import sys
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
        self._loaded: dict[tuple[str, ...], Plugin] = {}  # by name and search path: to look takes long

    def _declared(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=f"screensearch.{self.kind}s"):
            same = found.setdefault(entry.name, [])
            if entry.value not in [each.value for each in same]:
                same.append(entry)
        return found

    def names(self) -> list[str]:
        """Every known name, sorted."""
        return sorted({*self._declared(), *self._registered})

    def origin(self, name: str) -> str:
        """Where a plugin comes from: package, version and place, or that it lives in this process only."""
        if name in self._registered:
            return "registered in this process"
        return " and ".join(map(_origin, self._declared()[name]))

    def require_known(self, name: str) -> None:
        """Refuse a name that no plugin has, without loading the plugin that has it."""
        known = name in self._registered or (name, *sys.path) in self._loaded
        if not known and name not in self._declared():
            raise UnknownPlugin(self._unknown(name))

    def require_declared(self, name: str) -> None:
        """Refuse a plugin that lives in this process only: worker processes could not find it."""
        if name in self._registered:
            raise PluginUnavailable(
                f"the {self.kind} {name!r} is registered in this process only, and worker processes cannot "
                f"see it: declare it as an entry point in the group 'screensearch.{self.kind}s', or explore "
                "an environment object in this process"
            )

    def register(self, name: str, plugin: Plugin) -> None:
        """Add or replace a plugin for the life of this process."""
        self._registered[name] = plugin

    def get(self, name: str) -> Plugin:
        """The plugin of that name; a near miss is suggested when there is none."""
        if name in self._registered:
            return self._registered[name]
        key = (name, *sys.path)
        if key not in self._loaded:
            self._loaded[key] = self._load(name)
        return self._loaded[key]

    def _load(self, name: str) -> Plugin:
        self.require_known(name)
        declared = self._declared()[name]
        if len(declared) > 1:
            raise PluginUnavailable(
                f"two packages provide the {self.kind} {name!r}: {self.origin(name)}; stored runs must know "
                "which one they used: rename or remove one"
            )
        try:
            return cast(Plugin, declared[0].load())
        except Exception as problem:  # a plugin's module may raise anything
            raise PluginUnavailable(
                f"{self.kind} {name!r} is declared as {declared[0].value!r} but does not load: "
                f"{type(problem).__name__}: {problem}"
            ) from problem

    def _unknown(self, name: str) -> str:
        names = self.names()
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"no {self.kind} named {name!r}{hint} (known: {', '.join(names) or 'none'})"
