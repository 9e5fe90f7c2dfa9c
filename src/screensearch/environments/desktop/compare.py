"""Whether two readings of the same tree agree, and where not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from screensearch.environments.desktop.atspi import State, names_of
from screensearch.environments.desktop.node import Key, Node

_COMPARED = (
    State.ACTIVE
    | State.CHECKED
    | State.EDITABLE
    | State.EXPANDED
    | State.FOCUSED
    | State.PRESSED
    | State.SELECTED
    | State.SENSITIVE
    | State.SHOWING
    | State.MANAGES_DESCENDANTS
)
"""States that say something about an element as a person meets it, and that events report."""


@dataclass(frozen=True, slots=True)
class Check:
    """How the mirror compared with a walk; `differences` names up to 20 of them."""

    mismatches: int
    differences: tuple[str, ...]
    partial: bool


def differences(
    mine: Mapping[str, Node], walked: Mapping[str, Node], *, behind: Collection[Key] = ()
) -> list[str]:
    """Every element that shows in one reading and not, or not in the same way, in the other.

    Of windows behind, only they themselves are compared.
    """
    found: list[str] = []
    for bus_name in mine.keys() | walked.keys():
        ours, theirs = (_shown(each.get(bus_name), behind) for each in (mine, walked))
        found += [f"only in the mirror: {_describe(ours[key])}" for key in ours if key not in theirs]
        found += [f"only in the walk: {_describe(theirs[key])}" for key in theirs if key not in ours]
        for key, node in ours.items():
            other = theirs.get(key)
            if other is not None:
                found += _compare(node, other)
        if not found and list(ours) != list(theirs):
            found.append(f"another order of elements in {bus_name}")
    return found


def _shown(root: Node | None, behind: Collection[Key]) -> dict[Key, Node]:
    if root is None:
        return {}
    hidden = {id(each) for window in root.children if window.key in behind for each in window.subtree()}
    hidden -= {id(window) for window in root.children}
    return {node.key: node for node in root.showing() if id(node) not in hidden}


def _compare(mine: Node, walked: Node) -> list[str]:
    differ = [
        f"{field} {getattr(mine, field)!r} is {getattr(walked, field)!r}"
        for field in ("role", "name", "text", "value", "box")
        if getattr(mine, field) != getattr(walked, field)
    ]
    if not mine.name and mine.description != walked.description:
        differ.append(f"description {mine.description!r} is {walked.description!r}")
    # All cells of a sheet cease to be editable while one is being edited. Of those without the focus it
    # is of no interest, and not kept current.
    compared = _COMPARED & ~State.EDITABLE if walked.place is not None and not walked.focused else _COMPARED
    if (mine.states ^ walked.states) & compared:
        changed = names_of((mine.states ^ walked.states) & compared)
        differ.append(f"states {', '.join(changed)} (is {', '.join(names_of(walked.states))})")
    if (mine.parent.key if mine.parent else None) != (walked.parent.key if walked.parent else None):
        differ.append("another parent")
    return [f"{_describe(walked)}: {'; '.join(differ)}"] if differ else []


def _describe(node: Node) -> str:
    return f"{node.role} {node.label[:40]!r} ({node.path.rpartition('/')[2]})"
