"""`screensearch study`: experiments that anyone can run again."""

from __future__ import annotations

import click

from screensearch.cli.study_controls import controls
from screensearch.cli.study_diagnostic import diagnostic
from screensearch.cli.study_lines import lines
from screensearch.cli.study_matched import components, selector, sensitivity
from screensearch.cli.study_recorded import context, corpus
from screensearch.cli.study_suite import suite, verify
from screensearch.cli.study_truth import truth


@click.group()
def study() -> None:
    """Experiments, each one command: raw results, tables and what they mean."""


for command in (
    suite,
    verify,
    selector,
    components,
    sensitivity,
    diagnostic,
    controls,
    context,
    corpus,
    truth,
    lines,
):
    study.add_command(command)
