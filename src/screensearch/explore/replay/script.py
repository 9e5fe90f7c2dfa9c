"""A route as a stand-alone test: a Python file that needs this package and the application, and no run.

An explored application may have put anything into its texts, so whatever of it goes into the file goes in as
a literal of plain characters, or into a comment of printable ones.
"""

from __future__ import annotations

import pprint
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from screensearch.act.wording import describe_actions
from screensearch.config import Settings
from screensearch.domain.transition import Outcome
from screensearch.errors import SettingsError
from screensearch.explore.landmarks import describe_screen
from screensearch.explore.redaction import EXPORT
from screensearch.explore.replay.packed import pack_screens
from screensearch.explore.replay.route import Expected, Route, tell_expected

WIDTH = 100

_NEEDED = ("app", "desktop", "redact", "encode", "identify", "candidates", "guard")
"""The settings that say how an application is driven and how its screens are judged."""

_MOST_SEEDS = 3
_LONGEST_COMMENT = 100


def write_script(route: Route, *, origin: str, lenient: bool = False) -> str:
    """The text of the file. `origin` says, in a few words, what the route was taken from.

    With `lenient`, a step that leads to another state does not fail it as long as the next target is there.

    A route that may still hold what its run keeps back until it is exported is refused: `redacted_route`
    makes one that may leave.
    """
    if route.settings.redact.at == EXPORT:
        raise SettingsError(
            "this route is of a run with redact.at = 'export' and may hold its secrets: write the script of "
            "screensearch.redacted_route(run, route)"
        )
    name = _test_name(route)
    return "\n".join(
        [
            *_head(route, origin),
            "",
            "import screensearch",
            "",
            "",
            f"def {name}() -> None:",
            f"    screensearch.replay_route(route(){', lenient=True' if lenient else ''}).check()",
            "",
            "",
            "def route() -> screensearch.Route:",
            "    return screensearch.load_route(",
            f"        environment={route.environment!a},",
            *_literal("configuration", dict(route.configuration)),
            f"        start={_value(route.start)},  # {_shown(route, route.start, None)}",
            *_steps(route),
            "        screens=SCREENS,",
            *_literal("settings", changed_settings(route.settings)),
            f"        seeds={list(route.seeds[:_MOST_SEEDS])!r},  # where no configuration can be asked for",
            "    )",
            "",
            "",
            "# The screens that are expected, packed: what they are judged by, atom by atom.",
            'SCREENS = """',
            pack_screens(route.screens),
            '"""',
            "",
            'if __name__ == "__main__":',
            f"    {name}()",
            f"    print({'reached ' + tell_expected(route.goal)!a})",
            "",
        ]
    )


def changed_settings(settings: Settings) -> dict[str, Any]:
    """The needed settings that differ from the defaults, in nested tables."""
    given, usual = msgspec.to_builtins(settings), msgspec.to_builtins(Settings())
    changed = {name: _changed(given[name], usual[name]) for name in _NEEDED}
    deadline = settings.explore.step_deadline_seconds
    if deadline != Settings().explore.step_deadline_seconds:
        changed["explore"] = {"step_deadline_seconds": deadline}
    return {name: table for name, table in changed.items() if table}


def _changed(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, value in given.items():
        if value == usual[name]:
            continue
        changed[name] = _changed(value, usual[name]) if isinstance(value, dict) else value
    return changed


def _head(route: Route, origin: str) -> Iterator[str]:
    """The docstring: what the test does, where it is from, how it is run; nothing of the application's."""
    actions = f"{len(route.steps)} action{'' if len(route.steps) == 1 else 's'}"
    yield f'"""{_safe(route.environment)}: {actions} from the start to {tell_expected(route.goal)}.'
    yield ""
    yield f"Written by `screensearch script` from {_safe(origin)}. Run it with pytest, or by itself with"
    yield "Python. It needs screensearch and the application, and starts it afresh in a sandbox of its own."
    yield "Targets are found by signature: kind of action, place on a grid of 30 by 30, role, label,"
    yield "application, arguments. The numbers are those of the states that are expected."
    yield '"""'


def _safe(text: str) -> str:
    """Text inside a docstring: no quote, backslash or break can end it."""
    return "".join(each if each.isprintable() and each not in '"\\' else "?" for each in text)


def _steps(route: Route) -> Iterator[str]:
    words = describe_actions(step.signature for step in route.steps)
    yield "        steps=["
    before: Expected = route.start
    for number, step in enumerate(route.steps, start=1):
        yield f"            # {number}. {_comment(words[step.signature])}"
        yield f"            #    → {_shown(route, step.expected, before)}"
        yield f"            ({step.signature!a}, {_value(step.expected)}),"
        before = step.expected
    yield "        ],"


def _value(expected: Expected) -> str:
    return ascii(expected.value) if isinstance(expected, Outcome) else str(expected)


def _shown(route: Route, expected: Expected, before: Expected | None) -> str:
    """What is expected, for a reader: the window, and texts that the screen before did not have."""
    if isinstance(expected, Outcome):
        return f"it ends with {expected.value}"
    earlier = None if before is None or isinstance(before, Outcome) else route.screens[before]
    return _comment(f"state {expected}: {describe_screen(route.screens[expected], earlier)}")


def _comment(text: str) -> str:
    """Text that stays inside a comment of one line."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return line if len(line) <= _LONGEST_COMMENT else line[: _LONGEST_COMMENT - 1] + "…"


def _literal(name: str, value: dict[str, Any]) -> Iterator[str]:
    """An argument of the call, as lines: plain characters only."""
    text = pprint.pformat(value, width=WIDTH - 8, sort_dicts=False)
    lines = text.encode("ascii", "backslashreplace").decode().splitlines()
    yield f"        {name}={lines[0]}" + ("," if len(lines) == 1 else "")
    for place, line in enumerate(lines[1:], start=2):
        yield " " * (9 + len(name)) + line + ("," if place == len(lines) else "")


def _test_name(route: Route) -> str:
    """Of the application and the goal: letters, digits and underscores."""
    application = re.sub(r"[^a-z0-9]+", "_", route.environment.lower()).strip("_")
    goal = route.goal
    what = f"the_{goal.value}_comes_again" if isinstance(goal, Outcome) else f"state_{goal}_is_reached"
    return f"test_{application}_{what}"


def script_name(route: Route) -> str:
    """What the file is called, unless its writer is told otherwise."""
    return f"{_test_name(route)}.py"
