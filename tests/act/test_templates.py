from __future__ import annotations

import pytest

from screensearch.act.templates import TEMPLATES, check_action, template_of
from screensearch.domain.action import Action, Argument
from screensearch.domain.screen import Box, Element
from screensearch.errors import FormatError

SAVE = Element("button", "Save", Box(0, 0, 1, 1), "app", clickable=True)


def test_the_templates_are_those_of_the_first_version() -> None:
    assert sorted(TEMPLATES) == [
        "double_click@1",
        "focus_click@1",
        "focus_type@1",
        "key@1",
        "right_click@1",
        "scroll@1",
        "wait@1",
    ]


@pytest.mark.parametrize(
    "action",
    [
        Action("focus_click@1", SAVE),
        Action("double_click@1", SAVE),
        Action("right_click@1", SAVE),
        Action("focus_type@1", SAVE, (("text", " exact\tTEXT \x00"),)),
        Action("scroll@1", None, (("direction", "down"), ("amount", 3))),
        Action("scroll@1", SAVE, (("amount", 3), ("direction", "up"))),
        Action("wait@1"),
        Action("key@1", None, (("key", "Escape"),)),
    ],
)
def test_what_is_declared_is_allowed(action: Action) -> None:
    assert check_action(action).id == action.template


def test_an_unknown_template_is_named_with_a_near_one() -> None:
    with pytest.raises(FormatError, match="'focus_clik@1'; did you mean 'focus_click@1'"):
        template_of("focus_clik@1")
    with pytest.raises(FormatError, match="no action template 'focus_click@2'"):
        template_of("focus_click@2")


Arguments = tuple[tuple[str, Argument], ...]


@pytest.mark.parametrize(
    ("template", "element", "arguments", "message"),
    [
        ("focus_click@1", None, (), "needs an element"),
        ("double_click@1", None, (), "needs an element"),
        ("right_click@1", SAVE, (("amount", 1),), r"takes \(\), was given \('amount'\)"),
        ("wait@1", SAVE, (), "takes no element"),
        ("focus_click@1", SAVE, (("text", "x"),), r"takes \(\), was given \('text'\)"),
        ("focus_type@1", SAVE, (), r"takes \(text\), was given \(\)"),
        ("focus_type@1", SAVE, (("text", "x"), ("text", "y")), "was given"),
        ("focus_type@1", SAVE, (("text", 3),), "'text' must be str, not int 3"),
        ("focus_type@1", SAVE, (("text", ""),), "1 to 10000 characters"),
        ("focus_type@1", SAVE, (("text", "\ud800"),), "lone surrogate"),
        ("scroll@1", None, (("direction", "sideways"), ("amount", 3)), "one of up, down, left, right"),
        ("scroll@1", None, (("direction", "up"), ("amount", 0)), r"in \[1, 100\], not 0"),
        ("scroll@1", None, (("direction", "up"), ("amount", True)), "must be int, not bool"),
        ("scroll@1", None, (("direction", "up"), ("amount", 3.0)), "must be int, not float"),
    ],
)
def test_what_is_not_declared_is_refused_by_name(
    template: str, element: Element | None, arguments: Arguments, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        check_action(Action(template, element, arguments))
