"""The group of commands, and how errors reach a person."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from keyword import iskeyword

import click

from screensearch.cli.logs import logger, logs_json, tell
from screensearch.cli.status import INTERRUPTED_STATUS
from screensearch.errors import ScreenSearchError
from screensearch.interrupts import raise_as_usual

_COMMANDS = (
    *("apps", "attach", "campaign", "coverage", "diff", "doctor", "explain", "explore", "export", "findings"),
    *("import", "mcp", "path", "plugins", "remerge", "replay", "script", "search", "show", "skipped"),
    *("states", "status", "stop", "study", "verify", "view"),
)
_ELSEWHERE = {**dict.fromkeys(("attach", "status", "stop"), "cluster"), "import": "export"}
"""The modules of commands that have none of their own."""


class FriendlyGroup(click.Group):
    """Our own errors are messages for a person: shown without a traceback, with status 1.

    An interrupt that no command makes something of ends with the status of one. A command is loaded when it
    is asked for: all of them take as long as all that most of them do.
    """

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = import_module(f"screensearch.cli.{_ELSEWHERE.get(name, name)}")
        command = getattr(module, f"{name}_" if iskeyword(name) else name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, context: click.Context) -> object:
        try:
            raise_as_usual()
            return super().invoke(context)
        except ScreenSearchError as problem:
            if logs_json():
                logger.error("%s", problem)
                context.exit(click.ClickException.exit_code)
            raise click.ClickException(str(problem)) from problem
        except KeyboardInterrupt:
            tell("Interrupted.")
            context.exit(INTERRUPTED_STATUS)


@click.group(
    cls=FriendlyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(version("screensearch"), prog_name="screensearch")
def main() -> None:
    """Map applications: screens become states, actions become edges, inconsistent outcomes become ambiguity.

    Start with `screensearch explore mousepad --minutes 2 --workers 2`, or with a command of your own:
    `screensearch explore -- COMMAND`. Then look at the run with `screensearch view`, or `screensearch show`.
    """
