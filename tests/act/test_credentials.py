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


def denied(*elements: Element) -> list[int]:
    """The places of the elements that must not be typed into or clicked."""
    seen = Observation(elements, WINDOW)
    return [
        elements.index(veto.candidate.action.element)
        for veto in guard(candidates(seen, "mail", SETTINGS), seen, [Credentials()]).vetoed
        if veto.candidate.action.template == "focus_click@1" and veto.candidate.action.element is not None
    ]


def spinner(text: str, y: float) -> Element:
    return Element("spinner", text, Box(200, y, 150, 24), "mail", clickable=True, editable=True, value="4")


def checkbox(text: str, y: float) -> Element:
    return Element("checkbox", text, Box(200, y, 150, 20), "mail", clickable=True)


def test_a_placeholder_that_is_the_name_of_a_field_tells_what_it_is_for() -> None:
    # Qt publishes a placeholder as the name of the field. GTK does not: that one cannot be known.
    assert denied(field("Password", y=100), field("E-mail", y=140)) == [0]
    assert denied(field("", y=100)) == []


def test_a_check_box_that_shows_a_password_may_be_clicked() -> None:
    assert denied(label("Password:", 100, 102), field(y=100), checkbox("Show password", 130)) == [1]


def test_the_text_on_a_check_box_says_nothing_of_the_field_below() -> None:
    # GTK 4 publishes the text of a check box as a label of its own, within it.
    text = dataclasses.replace(label("Show password", 220, 130), parent=0)
    assert denied(checkbox("Show password", 130), text, label("E-mail:", 100, 162), field(y=160)) == []
    loose = dataclasses.replace(text, parent=None)
    assert denied(checkbox("Show password", 130), loose, label("E-mail:", 100, 162), field(y=160)) == [3]


@pytest.mark.parametrize("role", ["listitem", "dataitem", "treeitem", "tabitem", "headeritem", "group"])
def test_a_label_in_a_row_of_a_list_tells_of_the_field_beside_it(role: str) -> None:
    # Preferences are often such a list: GtkListBox, AdwActionRow.
    row = Element(role, "", Box(90, 90, 400, 40), "mail", clickable=True)
    inside = [dataclasses.replace(each, parent=0) for each in (label("API token", 100, 102), field(y=100))]
    assert denied(row, *inside) == [2]


@pytest.mark.parametrize("role", ["button", "splitbutton", "menuitem", "checkbox", "radiobutton"])
def test_the_text_on_a_control_says_nothing_of_the_field_beside_it(role: str) -> None:
    control = Element(role, "", Box(90, 100, 90, 24), "mail", clickable=True)
    assert denied(control, dataclasses.replace(label("API token", 95, 102), parent=0), field(y=100)) == []


def test_the_length_of_a_password_is_no_secret() -> None:
    named = spinner("Password generator length", 100)
    assert denied(named, label("Password length", 100, 142), spinner("", 140)) == []
    assert denied(dataclasses.replace(named, secret=True)) == [0]


def test_a_user_name_beside_a_password_is_typed_into() -> None:
    row = [label("User:", 0, 102, 60), field(x=70, y=100), label("Password:", 230, 102), field(x=320, y=100)]
    assert denied(*row) == [3]


def test_fields_without_a_label_of_their_own_belong_to_the_one_before_them() -> None:
    parts = [field(x=100 + 60 * place, y=100, box=Box(100 + 60 * place, 100, 50, 24)) for place in range(4)]
    assert denied(label("Card number", 10, 102), *parts) == [1, 2, 3, 4]


def test_a_label_of_the_row_above_belongs_to_the_field_of_that_row() -> None:
    above = [label("Password:", 0, 72, 190), field(x=200, y=70)]
    below = [label("User:", 0, 102, 30), field(x=40, y=100)]
    assert denied(*above, *below) == [1]


def test_a_label_above_counts_although_a_field_stands_in_its_row_if_it_is_in_line() -> None:
    columns = [label("Password", 10, 76), field(x=10, y=100), field("Comment", x=200, y=74)]
    assert 1 in denied(*columns)


def test_nonsense_boxes_are_no_neighbours() -> None:
    nowhere = dataclasses.replace(label("Password", 0, 0), box=Box(float("nan"), 0, -1, float("inf")))
    assert reasons(nowhere, field()) == []


def test_further_names_can_be_given() -> None:
    assert (
        reasons(field("Zugangswort"), patterns=("zugang",))[0] == "credentials: the field is called 'zugang'"
    )
    with pytest.raises(SettingsError, match=r"credentials\.patterns\[0\]"):
        Credentials(["("])
