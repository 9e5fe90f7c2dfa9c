"""`screensearch apps`: the applications that have a profile, and whether they are installed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import click
from rich.markup import escape

from screensearch import settings_for
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.environments.desktop.packages import apt_line, installed_packages
from screensearch.environments.desktop.profiles import profile_names


@dataclass(frozen=True, slots=True)
class Application:
    """A profile, and what of it is there."""

    name: str
    title: str
    command: tuple[str, ...]
    packages: tuple[str, ...]
    installed: bool  # its command is found, and its packages where that can be asked
    missing: tuple[str, ...]  # packages that are not installed


@click.command()
@as_json_option
def apps(as_json: bool) -> None:
    """List the applications that have a profile, and whether they are installed.

    An application without a profile is explored by its command: screensearch explore -- COMMAND
    """
    profiles = {name: settings_for(name)[1].app for name in profile_names()}
    there = installed_packages(package for app in profiles.values() for package in app.packages)
    found = []
    for name, app in profiles.items():
        runs = shutil.which(app.command[0]) is not None
        missing = app.packages if there is None else tuple(set(app.packages) - there)
        if there is None and runs:
            missing = ()
        found.append(
            Application(
                name, app.title, app.command, app.packages, runs and not missing, tuple(sorted(missing))
            )
        )
    line = apt_line({package for each in found for package in each.missing})
    if as_json:
        print_json({"apps": found, "install": line or None})
        return
    rows = table("name", "what it is", "installed")
    for each in found:
        state = "yes" if each.installed else f"no: {' '.join(each.missing) or each.command[0]} is missing"
        rows.add_row(each.name, escape(each.title), escape(state))
    out = console()
    out.print(rows)
    if line:
        say(out, f"\nInstall what is missing with: {escape(line)}")
