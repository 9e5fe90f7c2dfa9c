"""The kinds of interaction there are. A template that changes its meaning gets a new version."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from screensearch.domain.action import Action, Argument
from screensearch.domain.text import storable
from screensearch.errors import FormatError

_LONGEST_TEXT = 10_000
_MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument: its name, its type, and the words or the range it is limited to, if it is."""

    name: str
    type: type[str] | type[int]
    words: tuple[str, ...] = ()
    low: int = 1
    high: int = _MOST_STEPS

    def problem(self, value: Argument) -> str | None:
        """What is wrong with a value, or None."""
        if type(value) is not self.type:
            return f"must be {self.type.__name__}, not {type(value).__name__} {value!r}"
        if isinstance(value, str):
            if self.words and value not in self.words:
                return f"must be one of {', '.join(self.words)}, not {value!r}"
            if not 0 < len(value) <= _LONGEST_TEXT:
                return f"must have 1 to {_LONGEST_TEXT} characters, not {len(value)}"
            if storable(value) != value:
                return "holds a lone surrogate, which no keyboard can type and no log can keep"
        elif not self.low <= value <= self.high:
            return f"must be in [{self.low}, {self.high}], not {value}"
        return None


@dataclass(frozen=True, slots=True)
class Template:
    """A declared interaction. `element` says whether an action of it names one."""

    name: str
    version: int
    element: Literal["required", "optional", "absent"]
    parameters: tuple[Parameter, ...] = ()

    @property
    def id(self) -> str:
        """How actions and signatures name it: ``focus_click@1``."""
        return f"{self.name}@{self.version}"


FOCUS_CLICK = Template("focus_click", 1, "required")
DOUBLE_CLICK = Template("double_click", 1, "required")
RIGHT_CLICK = Template("right_click", 1, "required")
FOCUS_TYPE = Template("focus_type", 1, "required", (Parameter("text", str),))
SCROLL = Template(
    "scroll",
    1,
    "optional",
    (Parameter("direction", str, words=("up", "down", "left", "right")), Parameter("amount", int)),
)
WAIT = Template("wait", 1, "absent")
KEY = Template("key", 1, "absent", (Parameter("key", str),))

TEMPLATES: Mapping[str, Template] = {
    template.id: template
    for template in (FOCUS_CLICK, DOUBLE_CLICK, RIGHT_CLICK, FOCUS_TYPE, SCROLL, WAIT, KEY)
}


def template_of(name: str) -> Template:
    """The template of that name and version; a near miss is suggested."""
    template = TEMPLATES.get(name)
    if template is None:
        near = difflib.get_close_matches(name, TEMPLATES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise FormatError(f"no action template {name[:80]!r}{hint} (known: {', '.join(TEMPLATES)})")
    return template


def check_arguments(template: Template, arguments: tuple[tuple[str, Argument], ...]) -> dict[str, Argument]:
    """The arguments by name, if they are exactly what the template declares."""
    given = dict(arguments)
    wanted = [parameter.name for parameter in template.parameters]
    if len(given) != len(arguments) or sorted(given) != sorted(wanted):
        names = ", ".join(repr(name) for name, _ in arguments)
        raise FormatError(f"{template.id} takes ({', '.join(wanted)}), was given ({names})")
    for parameter in template.parameters:
        problem = parameter.problem(given[parameter.name])
        if problem is not None:
            raise FormatError(f"{template.id}: argument {parameter.name!r} {problem}")
    return given


def check_action(action: Action) -> Template:
    """The template of an action, once its element and its arguments are what the template declares."""
    template = template_of(action.template)
    if template.element == "required" and action.element is None:
        raise FormatError(f"{template.id} needs an element, but the action has none")
    if template.element == "absent" and action.element is not None:
        raise FormatError(
            f"{template.id} takes no element, but the action names {action.element.text[:80]!r}"
        )
    check_arguments(template, action.arguments)
    return template
