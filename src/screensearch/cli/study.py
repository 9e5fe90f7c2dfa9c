"""`screensearch study`: experiments that anyone can run again."""

from __future__ import annotations

import click


@click.group()
def study() -> None:
    """Experiments, each one command: raw results, tables and what they mean."""
