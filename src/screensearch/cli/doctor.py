"""`screensearch doctor`: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import click
from rich.console import Console
from rich.markup import escape

from screensearch import settings_for
from screensearch.cli.output import as_json_option, console, print_json, say
from screensearch.cli.places import with_places
from screensearch.cli.reach import reach
from screensearch.cli.targets import COMMAND, ExploreCommand
from screensearch.environments.desktop.checkup import Check
from screensearch.environments.desktop.doctor import examine
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings
from screensearch.errors import SettingsError

_MARKS = {
    "ok": "[green]ok  [/]",
    "warn": "[yellow]warn[/]",
    "fail": "[red]FAIL[/]",
    "skipped": "[dim]skip[/]",
}


@click.command(cls=ExploreCommand)
@click.argument("app", required=False, metavar="[APP | -- COMMAND [ARGUMENT]...]")
@click.option("--store", default="", metavar="URL", help="Also check the database that is to have the log.")
@click.option("--artifacts", default="", metavar="URL", help="Also check the place of the screenshots.")
@click.option("--cluster", default="", metavar="ADDRESS", help="Also check the Ray cluster, and its slots.")
@as_json_option
@click.pass_context
def doctor(
    context: click.Context, app: str | None, store: str, artifacts: str, cluster: str, as_json: bool
) -> None:
    """Check every layer of a live desktop, and an application on it.

    APP is the name of a profile (`screensearch apps` lists them) or a profile of your own (a path that ends
    in .toml); the COMMAND after -- is checked as it is. Without any, only what every application needs is
    checked. What is missing is shown with the command that brings it. The status is 1 when a check failed.

    On a node of a cluster, --store and --artifacts say whether its workers and owners will get in as well.
    """
    command: tuple[str, ...] | None = context.meta.get(COMMAND)
    if app is not None and command is not None:
        raise SettingsError(
            f"{app!r} and the command after -- are two things to check: leave one of them out"
        )
    described: AppSettings | None = None
    desktop = DesktopSettings()
    target = command if command is not None else app
    if target is not None:
        name, settings = settings_for(target)
        if not settings.app.command:
            raise SettingsError(f"{name} needs no desktop: there is nothing to check")
        described, desktop = settings.app, settings.desktop
    # What is worth a warning is a check of its own here: without a handler, Python would print it as well.
    logging.getLogger("screensearch").addHandler(logging.NullHandler())
    out = console()

    def placed(check: Check) -> Check:
        return replace(check, seen=with_places(check.seen, target))

    def told(check: Check) -> None:
        if not as_json:
            _show(out, placed(check))

    checks = [placed(check) for check in asyncio.run(examine(described, desktop, told))]
    for check in reach(store, artifacts, cluster):
        told(check)
        checks.append(check)
    failed = [check for check in checks if check.state == "fail"]
    if as_json:
        print_json(
            {"ok": not failed, "app": app, "command": described and described.command, "checks": checks}
        )
    elif failed:
        names = ", ".join(check.name for check in failed)
        say(out, f"\n{len(failed)} of {len(checks)} checks failed: {escape(names)}.")
    else:
        say(out, f"\nAll is well{'' if described is None else ': it can be explored'}.")
    if failed:
        context.exit(1)


def _show(out: Console, check: Check) -> None:
    seconds = f"{check.seconds:.2f} s" if check.seconds >= 0.005 else ""
    say(out, f"{_MARKS[check.state]}  {check.name:<25} {escape(check.seen)}  [dim]{seconds}[/]")
    if check.remedy:
        say(out, f"      {'':<25} [bold]{escape(check.remedy)}[/]")
