"""The group of commands, and how errors reach a person."""

from __future__ import annotations

from importlib.metadata import version

import click

from screensearch.cli.apps import apps
from screensearch.cli.campaign import campaign
from screensearch.cli.cluster import attach, status, stop
from screensearch.cli.doctor import doctor
from screensearch.cli.explain import explain
from screensearch.cli.explore import explore
from screensearch.cli.findings import findings
from screensearch.cli.logs import logger, logs_json, tell
from screensearch.cli.plugins import plugins
from screensearch.cli.show import show
from screensearch.cli.skipped import skipped
from screensearch.cli.states import states
from screensearch.cli.status import INTERRUPTED_STATUS
from screensearch.cli.study import study
from screensearch.cli.verify import verify
from screensearch.errors import ScreenSearchError


class FriendlyGroup(click.Group):
    """Our own errors are messages for a person: shown without a traceback, with status 1.

    An interrupt that no command makes something of ends with the status of one.
    """

    def invoke(self, context: click.Context) -> object:
        try:
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
    `screensearch explore -- COMMAND`. Then look at the run with `screensearch show`.
    """


_COMMANDS = (
    *(explore, campaign, apps, doctor, show, states, findings, skipped, explain, verify, plugins, study),
    *(attach, status, stop),
)
for command in _COMMANDS:
    main.add_command(command)
