"""What a command line names to be explored: a target, or everything after ``--``."""

from __future__ import annotations

import shlex

import click

from screensearch.errors import SettingsError

COMMAND = "screensearch.command"
"""Where the command after ``--`` waits while the rest is parsed."""


class ExploreCommand(click.Command):
    """Everything after ``--`` is a command to explore, and none of our business to parse."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        if "--" in arguments:
            place = arguments.index("--")
            arguments, context.meta[COMMAND] = arguments[:place], tuple(arguments[place + 1 :])
        return super().parse_args(context, arguments)


def named_target(target: str | None, command: tuple[str, ...] | None) -> str | tuple[str, ...]:
    """What shall be explored: a target, or the words of a command."""
    if command is not None and target is not None:
        raise SettingsError(
            f"{target!r} and the command after -- are two things to explore: leave one of them out"
        )
    if command is not None:
        return command
    if target is None:
        raise SettingsError(
            "what shall be explored? Try: screensearch explore mousepad, screensearch explore -- COMMAND, or "
            "screensearch explore synthetic:notepad"
        )
    return target


def with_patient(words: str, target: str | None, command: tuple[str, ...] | None) -> str:
    """The words of a failure; if they say to ask the doctor, also about what."""
    about = [target] if target is not None else ["--", *command] if command is not None else []
    asking = "`screensearch doctor`"
    return words.replace(asking, f"`{shlex.join(['screensearch', 'doctor', *about])}`")
