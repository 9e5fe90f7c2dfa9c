"""`screensearch mcp`: maps for agents, over the Model Context Protocol."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from screensearch.agents.atlas import Atlas
from screensearch.cli.output import as_json_option, console, print_json, say
from screensearch.errors import SettingsError
from screensearch.view.access import LOOPBACK, Access, new_token

TOKEN = "SCREENSEARCH_MCP_TOKEN"  # noqa: S105 - the name of a variable
"""The environment variable with the token that clients give; without it, a new one each time."""

_SHORTEST_TOKEN = 16


@click.command()
@click.argument("runs", metavar="RUN…", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Serve over HTTP on this port of this machine, 0 for any that is free, not on standard input.",
)
@as_json_option
def mcp(runs: tuple[Path, ...], port: int | None, as_json: bool) -> None:
    """Give agents the map of one RUN or several, over the Model Context Protocol.

    A client starts this command and asks on its standard input. With --json and no --port it only prints what
    to put into the client's configuration. All tools read, none acts; a RUN that is still being explored is
    followed.
    """
    from screensearch.agents import serving

    folders = [run.absolute() for run in runs]
    atlas = Atlas(folders)
    if port is not None:
        _serve_http(atlas, port, as_json)
        return
    if as_json:
        atlas.close()
        print_json(_configuration(folders))
        return
    if sys.stdin.isatty():
        out = console(stderr=True)
        say(out, "This speaks the Model Context Protocol on standard input: it is for a client to start.")
        command = f"screensearch mcp --json {' '.join(shlex.quote(str(run)) for run in runs)}"
        say(out, f"What to put into its configuration: {escape(command)}")
        say(out, "[dim]Waiting for a client; Ctrl-C ends it.[/]")
    serving.serve_stdio(atlas)


def _configuration(folders: list[Path]) -> dict[str, Any]:
    """What most clients read: how to start this server."""
    command = [sys.executable, "-m", "screensearch", "mcp", *map(str, folders)]
    return {"mcpServers": {"screensearch": {"command": command[0], "args": command[1:]}}}


def _serve_http(atlas: Atlas, port: int, as_json: bool) -> None:
    from screensearch.agents import serving

    token = os.environ.get(TOKEN, "") or new_token()
    if len(token) < _SHORTEST_TOKEN:
        raise SettingsError(f"{TOKEN} has {len(token)} characters: at least {_SHORTEST_TOKEN} are needed")
    with serving.listen(port) as listening:
        access = Access(LOOPBACK, listening.getsockname()[1], token)
        address = f"{access.origin}{serving.PATH}"
        header = {"Authorization": f"Bearer {token}"}
        if as_json:
            print_json({"address": address, "headers": header, "runs": atlas.names})
        else:
            out = console()
            say(out, f"Serving {escape(', '.join(atlas.names))} at\n  [bold]{escape(address)}[/]")
            say(out, f"with the header\n  Authorization: Bearer {escape(token)}")
            say(out, "[dim]Ctrl-C ends it.[/]")
        serving.serve_http(atlas, listening, access)
