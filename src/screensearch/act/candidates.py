"""What can be done here: every executable action on an observation, once per signature."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from screensearch.act.signature import NONE, arguments_text, target_of
from screensearch.act.templates import (
    DOUBLE_CLICK,
    FOCUS_CLICK,
    FOCUS_TYPE,
    KEY,
    RIGHT_CLICK,
    SCROLL,
    WAIT,
    Template,
    check_arguments,
)
from screensearch.domain.action import Action, Argument, Candidate, Signature
from screensearch.domain.keys import parse_combination
from screensearch.domain.roles import ROLES, map_role
from screensearch.domain.screen import Box, Element, Observation
from screensearch.encode.masks import Masks
from screensearch.encode.text import normalise
from screensearch.errors import FormatError, SettingsError

Arguments = tuple[tuple[str, Argument], ...]
_Roles = tuple[tuple[str, ...], tuple[str, ...]]  # double-clicked, right-clicked

_WINDOWS_REMEMBERED = 4
_ELEMENTS_REMEMBERED = 1_024  # per window geometry: some 8 MB in all
_LONGEST_REMEMBERED = 1_000  # characters of a raw label


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSettings:
    """Which actions are proposed besides a click on everything clickable."""

    texts: tuple[str, ...] = ("hello", "world")  # typed into every editable element; exact
    double_click_roles: tuple[str, ...] = ()  # roles whose elements are also double-clicked
    right_click_roles: tuple[str, ...] = ()  # roles whose elements are also clicked with the right button
    keys: tuple[str, ...] = ("Escape",)  # pressed in the active window, such as "F10" or "ctrl+s"
    scroll: bool = True  # up and down, in the active window
    scroll_amount: int = 3  # [1, 100] steps
    wait: bool = True  # do nothing for a while: reveals pending events
    limit: int = 500  # [1, 10000] candidates; what comes later in the order is left out

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= 10_000:
            raise SettingsError(f"candidates.limit = {self.limit} is not in [1, 10000]")
        for name in ("double_click_roles", "right_click_roles"):
            for role in getattr(self, name):
                _check_role(role, f"candidates.{name}")
        if self.scroll:
            with _refused("scroll_amount"):
                check_arguments(SCROLL, (("direction", "down"), ("amount", self.scroll_amount)))
        for place, text in enumerate(self.texts):
            with _refused(f"texts[{place}]"):
                check_arguments(FOCUS_TYPE, (("text", text),))
        for place, key in enumerate(self.keys):
            with _refused(f"keys[{place}]"):
                check_arguments(KEY, (("key", str(parse_combination(key))),))


def candidates(
    observation: Observation,
    application: str,
    settings: CandidateSettings | None = None,
    masks: Masks | None = None,
) -> list[Candidate]:
    """Every executable action of the target application, one per signature.

    First the elements as the observation lists them (a click if it is clickable, a double and a right
    click if the settings name its role, then every text if it is editable), then keys, scrolling and
    waiting. Elements that are disabled, belong to another
    application or have no place on the screen are left out. When two elements share a signature, the
    first one wins: a tree lists the outer before the inner.

    Labels, and so signatures, are what `masks` leave of the texts: give those that screens are encoded
    with, or an action that shows a clock looks untried at every tick.
    """
    settings = CandidateSettings() if settings is None else settings
    limit = settings.limit
    box = observation.window.box
    clicks = settings.double_click_roles, settings.right_click_roles
    proposals = _proposals(box.x, box.y, box.width, box.height, settings.texts, clicks, masks)
    known = proposals.known
    found: dict[str, Candidate] = {}
    for element in observation.elements:
        if not ((element.clickable or element.editable) and element.enabled):
            continue
        if element.application != application and not _same_name(element.application, application):
            continue
        made = known.get(_everything(element))
        if made is None:
            made = proposals.make(element, len(found))
        for candidate in made:
            signature = candidate.signature
            if signature not in found:
                place = len(found)
                if candidate.id != place:
                    candidate = Candidate(place, candidate.action, signature, candidate.label)
                found[signature] = candidate
        if len(found) >= limit:
            return list(found.values())[:limit]
    listed = list(found.values())
    for action, signature, label in _window_actions(settings)[: limit - len(listed)]:
        listed.append(Candidate(len(listed), action, signature, label))
    return listed


def _everything(element: Element) -> tuple[object, ...]:
    """All of an element, its handle too, so that a remembered action is aimed at the element of now."""
    box = element.box
    return (
        element.role,
        element.text,
        element.value,
        element.application,
        element.handle,
        element.clickable,
        element.editable,
        element.focused,
        element.checked,
        element.parent,
        element.secret,
        box.x,
        box.y,
        box.width,
        box.height,
    )


class _Proposals:
    """What elements offer in one window geometry under some masks.

    It forgets when full; results do not change.
    """

    def __init__(self, window: Box, texts: tuple[str, ...], clicks: _Roles, masks: Masks | None) -> None:
        self._window = window
        self._masks = masks
        self._double, self._right = map(frozenset, clicks)
        self._texts = [((("text", text),), arguments_text((("text", text),))) for text in texts]
        self._targets: dict[tuple[object, ...], tuple[str, str]] = {}
        self.known: dict[tuple[object, ...], tuple[Candidate, ...]] = {}

    def make(self, element: Element, first: int) -> tuple[Candidate, ...]:
        """The candidates of an element, numbered from `first`; none if it has no place on the screen."""
        label, where = self._target(element)
        planned: list[tuple[Action, str]] = []
        if where and element.clickable:
            planned.append((Action(FOCUS_CLICK.id, element), _signature(FOCUS_CLICK, where, NONE)))
        if where and (self._double or self._right):
            role = map_role(element.role)
            planned += [
                (Action(template.id, element), _signature(template, where, NONE))
                for template, roles in ((DOUBLE_CLICK, self._double), (RIGHT_CLICK, self._right))
                if role in roles
            ]
        if where and element.editable:
            planned += [
                (Action(FOCUS_TYPE.id, element, arguments), _signature(FOCUS_TYPE, where, text))
                for arguments, text in self._texts
            ]
        made = tuple(
            Candidate(place, action, signature, label)
            for place, (action, signature) in enumerate(planned, first)
        )
        if len(element.text) + len(element.value) <= _LONGEST_REMEMBERED:
            if len(self.known) >= _ELEMENTS_REMEMBERED:
                self.known.clear()
            self.known[_everything(element)] = made
        return made

    def _target(self, element: Element) -> tuple[str, str]:
        """The label and the target signature, empty if there is no place. Handles come and go; this stays."""
        box = element.box
        seen = (element.role, element.text, element.application, box.x, box.y, box.width, box.height)
        known = self._targets.get(seen)
        if known is None:
            target = target_of(element, self._window, self._masks)
            known = target.label, "" if target.cell is None else str(target)
            if len(self._targets) >= _ELEMENTS_REMEMBERED:
                self._targets.clear()
            if len(element.text) <= _LONGEST_REMEMBERED:
                self._targets[seen] = known
        return known


@lru_cache(maxsize=1_024)
def _same_name(one: str, other: str) -> bool:
    return normalise(one) == normalise(other)


@lru_cache(maxsize=_WINDOWS_REMEMBERED)
def _proposals(
    x: float,
    y: float,
    width: float,
    height: float,
    texts: tuple[str, ...],
    clicks: _Roles,
    masks: Masks | None,
) -> _Proposals:
    return _Proposals(Box(x, y, width, height), texts, clicks, masks)


@lru_cache(maxsize=_WINDOWS_REMEMBERED)
def _window_actions(settings: CandidateSettings) -> tuple[tuple[Action, str, str], ...]:
    """The actions that name no element, with their signatures and labels."""
    planned: list[tuple[Template, Arguments, str]] = [
        (KEY, (("key", key),), normalise(key))
        for key in dict.fromkeys(str(parse_combination(key)) for key in settings.keys)
    ]
    if settings.scroll:
        planned += [
            (SCROLL, (("direction", direction), ("amount", settings.scroll_amount)), f"scroll {direction}")
            for direction in ("down", "up")
        ]
    if settings.wait:
        planned.append((WAIT, (), "wait"))
    return tuple(
        (
            Action(template.id, None, arguments),
            _signature(template, NONE, arguments_text(arguments)),
            label,
        )
        for template, arguments, label in planned
    )


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """Name the setting that a template does not allow."""
    try:
        yield
    except FormatError as problem:
        raise SettingsError(f"candidates.{what}: {problem}") from problem


def _check_role(role: str, what: str) -> None:
    if role not in ROLES:
        near = difflib.get_close_matches(role.lower(), sorted(ROLES), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f" (known: {', '.join(sorted(ROLES))})"
        raise SettingsError(f"{what} holds {role!r}, which is no role{hint}")


def _signature(template: Template, target: str, arguments: str) -> str:
    return str(Signature(template.id, target, arguments))
