from __future__ import annotations

import dataclasses

import pytest

from screensearch.act.candidates import CandidateSettings, candidates
from screensearch.act.credentials import Credentials
from screensearch.act.guard import guard
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.errors import SettingsError

WINDOW = Window("Sign in", "main", Box(0, 0, 600, 600), "mail")
SETTINGS = CandidateSettings(
    texts=("hello",), keys=(), scroll=False, wait=False, right_click_roles=("edit", "button")
)


def field(text: str = "", x: float = 200, y: float = 100, **changes: object) -> Element:
    element = Element("edit", text, Box(x, y, 150, 24), "mail", clickable=True, editable=True)
    return dataclasses.replace(element, **changes)  # type: ignore[arg-type]


def label(text: str, x: float, y: float, width: float = 80) -> Element:
    return Element("text", text, Box(x, y, width, 20), "mail")


def reasons(
    *elements: Element, settings: CandidateSettings = SETTINGS, patterns: tuple[str, ...] = ()
) -> list[str]:
    seen = Observation(elements, WINDOW)
    return [
        veto.reason
        for veto in guard(candidates(seen, "mail", settings), seen, [Credentials(patterns)]).vetoed
    ]


def test_a_password_field_is_neither_clicked_nor_typed_into() -> None:
    assert reasons(field(secret=True)) == ["credentials: the element is a password field"] * 3


CREDENTIAL = """
Password|Password:|New password|Confirm passphrase|PIN|PIN code|Secret|API key|Access token|Token|OTP
One-time code|Verification code|Card number|Credit card|CVV|CVC|Security code|IBAN|Passwort|Kennwort
Kartennummer|Mot de passe|Numéro de carte|Contraseña|Número de tarjeta|Recovery phrase|PASSWORD *
"""
ORDINARY = """
Name|User name|Search|File name|Pinned notes|Pinch|Tokenizer|Secretary|Passage|Password-free|Card title
Subject|Keywords|Pinboard|Address|Text Editor|Zoom|Compass
"""


def each(table: str) -> list[str]:
    return [name for line in table.strip().splitlines() for name in line.split("|")]


@pytest.mark.parametrize("name", each(CREDENTIAL))
def test_a_field_that_is_called_so_is_denied(name: str) -> None:
    told = reasons(field(name))
    assert len(told) == 3
    assert all(reason.startswith("credentials: the field is called ") for reason in told)


@pytest.mark.parametrize("name", each(ORDINARY))
def test_a_field_that_is_called_otherwise_is_allowed(name: str) -> None:
    assert reasons(field(name)) == []


@pytest.mark.parametrize("name", each(CREDENTIAL))
def test_a_button_of_that_name_may_be_clicked(name: str) -> None:
    assert reasons(Element("button", name, Box(10, 10, 50, 20), "mail", clickable=True)) == []


def test_the_nearest_label_left_of_a_field_or_above_it_tells_what_it_is_for() -> None:
    beside = [label("User:", 100, 102), field(y=100), label("Password:", 100, 142), field(y=140)]
    told = reasons(*beside)
    assert told == ["credentials: the label beside the field says 'password'"] * 3
    above = [label("Password", 200, 76), field(y=100), label("Comment", 200, 136), field(y=160)]
    assert len(reasons(*above)) == 3


def test_a_label_far_away_or_after_the_field_tells_nothing() -> None:
    assert reasons(label("Password", 200, 10), field(y=100)) == []
    assert reasons(label("Password", 360, 100), field(y=100)) == []
    assert reasons(label("Password", 200, 130), field(y=100)) == []


def test_a_document_that_speaks_of_passwords_is_no_password_field() -> None:
    text = "To change your password, open the settings and choose the account that you want to change."
    assert reasons(field(text, role="document")) == []


@pytest.mark.parametrize(
    ("key", "denied"),
    [("a", True), ("Return", True), ("ctrl+v", True), ("BackSpace", True), ("Escape", False), ("Tab", False)],
)
def test_keys_do_not_reach_a_password_field_that_has_the_focus(key: str, denied: bool) -> None:
    settings = CandidateSettings(texts=(), keys=(key,), scroll=False, wait=False)
    focused = field(secret=True, focused=True, clickable=False)
    assert (reasons(focused, settings=settings) != []) is denied
    assert reasons(dataclasses.replace(focused, focused=False), settings=settings) == []


def test_nonsense_boxes_are_no_neighbours() -> None:
    nowhere = dataclasses.replace(label("Password", 0, 0), box=Box(float("nan"), 0, -1, float("inf")))
    assert reasons(nowhere, field()) == []


def test_further_names_can_be_given() -> None:
    assert (
        reasons(field("Zugangswort"), patterns=("zugang",))[0] == "credentials: the field is called 'zugang'"
    )
    with pytest.raises(SettingsError, match=r"credentials\.patterns\[0\]"):
        Credentials(["("])
