"""`screensearch view`: look at runs in a browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from screensearch.cli.output import as_json_option, console, print_json, say
from screensearch.errors import PluginUnavailable, RunNotFound
from screensearch.view.access import LOOPBACK, Access, check_host


@click.command()
@click.argument("runs", metavar="RUN…", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The port; without one, any that is free."
)
@click.option("--host", default=LOOPBACK, show_default=True, help="The address to serve at.")
@click.option(
    "--allow-remote", is_flag=True, help="Let --host be an address that other machines reach, unencrypted."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the default browser.")
@as_json_option
def view(
    runs: tuple[Path, ...], port: int, host: str, allow_remote: bool, opens: bool, as_json: bool
) -> None:
    """Look at one RUN or several in a browser: map, states, edges, findings, search.

    Reads them, then prints an address with a token; whoever has it can read these runs, until Ctrl-C ends
    the viewer. A RUN that is still being explored is followed. A folder with runs in it, such as a
    campaign's, stands for all of them.
    """
    try:
        from screensearch.view.serve import serve
        from screensearch.view.shown import Shown
    except ImportError as problem:
        raise PluginUnavailable(
            "the viewer needs the extra `view`: pip install 'screensearch[view]'"
        ) from problem
    shown = Shown(path for run in runs for path in _runs_in(run))
    names = shown.names

    def ready(access: Access) -> None:
        if as_json:
            print_json({"address": access.address, "host": access.host, "port": access.port, "runs": names})
        else:
            what = names[0] if len(names) == 1 else f"{len(names)} runs"
            out = console()
            say(out, f"Showing {escape(what)} at")
            say(out, f"  [bold]{escape(access.address)}[/]")
            say(out, "[dim]Open it in a browser on this machine. Ctrl-C ends the viewer.[/]")
        if opens and not webbrowser.open(access.address):
            say(console(stderr=True), "No browser could be opened: open the address yourself.")

    with _bar(names, quiet=as_json) as bar:
        task = bar.add_task("", total=1.0)

        def reading(share: float) -> None:
            bar.update(task, completed=share)

        def read(access: Access) -> None:
            bar.stop()
            ready(access)

        serve(shown, check_host(host, elsewhere=allow_remote), port, read, reading)


def _bar(names: Sequence[str], *, quiet: bool) -> Progress:
    """How far the runs have been read. It leaves nothing behind, and only a terminal sees it."""
    out = console(stderr=True)
    what = names[0] if len(names) == 1 else f"{len(names)} runs"
    return Progress(
        TextColumn(f"Reading {escape(what)}"),
        BarColumn(),
        TaskProgressColumn(),
        console=out,
        transient=True,
        disable=quiet or not out.is_terminal,
    )


def _runs_in(folder: Path) -> list[Path]:
    """The run at a place, or the runs in that folder."""
    if (folder / "run.json").exists() or not folder.is_dir():
        return [folder]
    found = sorted(each.parent for each in folder.glob("*/run.json"))
    if not found:
        raise RunNotFound(f"there is no run at {folder}, nor in it: it has no run.json")
    return found
