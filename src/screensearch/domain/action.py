"""What can be done: executable actions, and the signatures that identify them across runs."""

from __future__ import annotations

from dataclasses import dataclass

from screensearch.domain.screen import Element

Argument = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Action:
    """One executable interaction: a template such as ``focus_click@1``, its element, its arguments."""

    template: str
    element: Element | None = None
    arguments: tuple[tuple[str, Argument], ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    """What an action is, stable across runs: ``template@version::target::arguments``."""

    template: str
    target: str
    arguments: str

    def __str__(self) -> str:
        return f"{self.template}::{self.target}::{self.arguments}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action that can be executed on this observation. `id` is its place in the list: unstable."""

    id: int
    action: Action
    signature: str
    label: str

    @property
    def types_into_editable(self) -> bool:
        """Whether this types text into an editable element (the last term of eq. 6)."""
        element = self.action.element
        return element is not None and element.editable and self.action.template.startswith("focus_type@")
