"""Holding a clipboard: who asks gets the text in the forms that are offered, and nothing in any other."""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from screensearch.environments.desktop.xclipboard import ATOMS, Clipboard
from screensearch.errors import SettingsError

OTHER = 99


class Wire:
    """A connection that notes what goes out."""

    def __init__(self) -> None:
        self.atoms: Mapping[str, int] = {name: number for number, name in enumerate(ATOMS, 40)}
        self.owned: list[str] = []
        self.answers: list[tuple[int, int, bytes] | None] = []

    def own_selection(self, name: str) -> None:
        self.owned.append(name)

    def answer_request(self, request: Any, kind: int, bits: int, data: bytes) -> None:
        self.answers.append((kind, bits, data))

    def refuse_request(self, request: Any) -> None:
        self.answers.append(None)

    def ask(self, clipboard: Clipboard, target: int, selection: int | None = None) -> object:
        chosen = self.atoms["CLIPBOARD"] if selection is None else selection
        clipboard.answer(SimpleNamespace(selection=chosen, target=target))
        return self.answers[-1]


def test_a_text_is_offered_in_two_forms_and_handed_over_in_either() -> None:
    wire = Wire()
    clipboard = Clipboard(wire)
    clipboard.hold("Grüße")
    assert wire.owned == ["CLIPBOARD"]
    offered = [wire.atoms[name] for name in ("TARGETS", "UTF8_STRING", "text/plain;charset=utf-8")]
    assert wire.ask(clipboard, wire.atoms["TARGETS"]) == (4, 32, struct.pack("=3I", *offered))
    for form in offered[1:]:
        assert wire.ask(clipboard, form) == (form, 8, "Grüße".encode())
    assert [taken.text for taken in clipboard.take_taken()] == ["Grüße"] * 2  # the list of forms is no text
    assert clipboard.take_taken() == []


def test_another_form_another_selection_and_a_clipboard_that_was_taken_over_are_refused() -> None:
    wire = Wire()
    clipboard = Clipboard(wire)
    text = wire.atoms["UTF8_STRING"]
    assert wire.ask(clipboard, text) is None  # nothing is held yet
    clipboard.hold("alpha")
    assert wire.ask(clipboard, OTHER) is None
    assert wire.ask(clipboard, text, selection=OTHER) is None
    clipboard.lost(SimpleNamespace(selection=OTHER))
    assert wire.ask(clipboard, text) == (text, 8, b"alpha")
    clipboard.lost(SimpleNamespace(selection=wire.atoms["CLIPBOARD"]))
    assert wire.ask(clipboard, text) is None
    clipboard.hold("beta")
    assert wire.ask(clipboard, text) == (text, 8, b"beta")


def test_who_asks_once_another_text_is_due_gets_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    wire = Wire()
    clipboard = Clipboard(wire)
    text = wire.atoms["UTF8_STRING"]
    clipboard.hold("alpha")
    clipboard.expect("beta", 10.5)
    clipboard.catch_up()
    assert wire.ask(clipboard, text) == (text, 8, b"alpha")
    now = 10.5
    assert wire.ask(clipboard, text) == (text, 8, b"beta")  # though nobody had called in between
    assert wire.owned == ["CLIPBOARD"] * 2  # the others are told of the change
    assert [(taken.text, taken.at) for taken in clipboard.take_taken()] == [("alpha", 10.0), ("beta", 10.5)]
    clipboard.expect("gamma", 11.0)
    clipboard.hold("delta")
    now = 12.0
    assert wire.ask(clipboard, text) == (text, 8, b"delta")  # what was held since has the last word


def test_a_text_that_does_not_go_over_in_one_piece_is_refused_before_it_is_held() -> None:
    wire = Wire()
    with pytest.raises(SettingsError, match="65537 bytes"):
        Clipboard(wire).hold("x" * 65_537)
    assert wire.owned == []
