"""`screensearch plugins`: everything that has a kind and a name."""

from __future__ import annotations

import click

from screensearch import IdentifySettings
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.config import presets
from screensearch.identify.resolve import Resolver
from screensearch.registry import KINDS, Registry


@click.command()
@as_json_option
def plugins(as_json: bool) -> None:
    """List every plugin by kind, where it comes from, and the presets."""
    found: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        registry: Registry[object] = Registry(kind)
        found[kind] = {name: registry.origin(name) for name in registry.names()}
    exact = Resolver(IdentifySettings(identifier="exact")).describe()
    if as_json:
        print_json({"plugins": found, "presets": presets(), "exact": exact})
        return
    rows = table("kind", "name", "from")
    for kind, named in found.items():
        for name, origin in named.items():
            rows.add_row(kind, name, origin)
    out = console()
    out.print(rows)
    say(out, f"\npresets: {', '.join(presets())}\nthe identifier exact is: {exact}")
