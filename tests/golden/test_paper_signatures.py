"""The two signatures that the paper prints, letter for letter (appendix, "Reported-run configuration")."""

from __future__ import annotations

from screensearch.act.signature import parse_signature, signature_of
from screensearch.domain.action import Action
from screensearch.domain.screen import Box, Element

WINDOW = Box(0, 0, 300, 300)


def test_clicking_save_in_notepad() -> None:
    save = Element("button", "Save", Box(70, 120, 10, 10), "Notepad", clickable=True)
    signature = signature_of(Action("focus_click@1", save), WINDOW)
    assert str(signature) == "focus_click@1::r12_c7|button|save|notepad::none"


def test_typing_hello_into_the_text_editor() -> None:
    editor = Element("edit", "Text Editor", Box(0, 0, 300, 300), "Notepad", editable=True)
    signature = signature_of(Action("focus_type@1", editor, (("text", "hello"),)), WINDOW)
    assert str(signature) == 'focus_type@1::r15_c15|edit|text_editor|notepad::{"text":"hello"}'


def test_changing_hello_to_world_changes_the_signature() -> None:
    editor = Element("edit", "Text Editor", Box(0, 0, 300, 300), "Notepad", editable=True)
    hello, world = (
        signature_of(Action("focus_type@1", editor, (("text", text),)), WINDOW) for text in ("hello", "world")
    )
    assert hello != world


def test_the_printed_signature_says_where_what_and_whose() -> None:
    parsed = parse_signature('focus_type@1::r15_c15|edit|text_editor|notepad::{"text":"hello"}')
    assert parsed.target is not None
    assert parsed.target.cell == (15, 15)
    assert (parsed.target.role, parsed.target.label, parsed.target.application) == (
        "edit",
        "text editor",
        "notepad",
    )
    assert parsed.arguments == (("text", "hello"),)
