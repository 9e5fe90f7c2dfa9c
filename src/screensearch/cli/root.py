"""The group of commands, and how errors reach a person."""

from __future__ import annotations

from importlib.metadata import version

import click

from screensearch.cli.apps import apps
from screensearch.cli.doctor import doctor
from screensearch.cli.explain import explain
from screensearch.cli.explore import explore
from screensearch.cli.findings import findings
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
            raise click.ClickException(str(problem)) from problem
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
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


for command in (explore, apps, doctor, show, states, findings, skipped, explain, verify, plugins, study):
    main.add_command(command)
