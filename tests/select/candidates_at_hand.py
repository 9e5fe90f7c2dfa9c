"""Candidates for tests of the choice: only what a prior or a selector can see of them matters."""

from __future__ import annotations

from screensearch.domain.action import Action, Candidate
from screensearch.domain.screen import Box, Element


def click(label: str, place: int = 0) -> Candidate:
    return _candidate("focus_click@1", label, place, editable=False)


def type_into(label: str, place: int = 0, *, editable: bool = True) -> Candidate:
    return _candidate("focus_type@1", label, place, editable=editable)


def clicks(*labels: str) -> list[Candidate]:
    return [click(label, place) for place, label in enumerate(labels)]


def _candidate(template: str, label: str, place: int, *, editable: bool) -> Candidate:
    element = Element(
        role="edit" if editable else "button",
        text=label,
        box=Box(0, 0, 10, 10),
        application="notepad",
        clickable=True,
        editable=editable,
    )
    return Candidate(
        id=place,
        action=Action(template, element),
        signature=f"{template}::r0_c{place}|{element.role}|{label}|notepad::none",
        label=label,
    )
