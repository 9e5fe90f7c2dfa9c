from __future__ import annotations

import base64
import dataclasses
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import WINDOW, any_element, any_observation, any_text, element, observe

from screensearch.act.candidates import candidates
from screensearch.domain.screen import Box, Element, Image, Observation, Window
from screensearch.encode.encoder import Encoder, EncodeSettings
from screensearch.encode.redact import Redactor, RedactSettings, redact_observation
from screensearch.encode.secrets import KINDS, finders, redact_text
from screensearch.errors import SettingsError

ALL = finders(KINDS)
LUHN_VALID = "4111111111111111"

SECRETS = [
    ("Write to joe.doe+news@mail.example.co.uk!", "Write to [redacted:email]!"),
    ("<joe@example.com>", "<[redacted:email]>"),
    ("JOE@EXAMPLE.COM", "[redacted:email]"),
    ("jürgen@bücher.example", "[redacted:email]"),
    ("joe＠example.com", "[redacted:email]"),  # a full-width @
    ("joe\u200b@exam\u00adple.com", "[redacted:email]"),  # characters that show nothing
    ("a@example.com, b@example.com", "[redacted:email], [redacted:email]"),
    ("4111 1111 1111 1111", "[redacted:card]"),
    ("Visa 4111-1111-1111-1111 12/30", "Visa [redacted:card] 12/30"),
    (LUHN_VALID, "[redacted:card]"),
    ("3782 822463 10005", "[redacted:card]"),
    ("5555.5555.5555.4444", "[redacted:card]"),
    ("6011000990139424", "[redacted:card]"),
    ("４１１１１１１１１１１１１１１１", "[redacted:card]"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:token]"),
    ("github_pat_11ABCDEFG0aBcDeFgHiJkL_mnopqrstuvwxyz", "[redacted:token]"),
    ("sk-proj-abcdefghijklmnop123456", "[redacted:token]"),
    ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted:token]"),
    ("xoxb-123456789012-abcdefghij", "[redacted:token]"),
    ("AKIAIOSFODNN7EXAMPLE", "[redacted:token]"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted:token]"),
    ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "[redacted:token]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN", "[redacted:token]"),
    ("Authorization: Bearer abcdef0123456789xyz", "Authorization: [redacted:token]"),
    ("api_key = 9f86d081884c7d659a2feaa0c55ad015", "api_key = [redacted:token]"),
    ('"client_secret": "abc123def456"', '"client_secret": "[redacted:token]"'),
    ("https://joe:hunter2@example.com/x", "https://[redacted:token]@example.com/x"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend", "[redacted:token]\nend"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r", "[redacted:token]"),  # cut short
    ("Password: hunter2", "Password: [redacted:password]"),
    ("pwd='x y'", "pwd='[redacted:password] y'"),
]

NOT_SECRETS = [
    "",
    "Save As…",
    "Password:",
    "Password",
    "Token: Authentication",
    "Key: Ctrl+Shift+F12",
    "person@localhost",
    "@someone",
    "1@2",
    "978-3-16-148410-0",  # ISBN
    "9783161484100",
    "+49 30 12345678901",  # telephone
    "(555) 123-4567",
    "4111111111111112",  # no Luhn sum
    "490154203237518",  # IMEI: a Luhn sum, but no card begins so
    "2024-01-31 12:30:45",
    "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6",
    "550e8400-e29b-41d4-a716-446655440000",  # UUID
    "d41d8cd98f00b204e9800998ecf8427e",  # MD5
    "9e6b610c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a",  # git commit
    "image-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.iso",
    "/home/Joe/Projects2/ScreenSearch/src/main/Very/Long/Path",
    "ThisIsAVeryLongClassNameWithNumber2InItAndMore3",
    "Screenshot_2024-01-31_12-30-45_Firefox",
    "https://example.com:8080/a?b=c",
    "-----BEGIN PUBLIC KEY-----",
    "Basic settings of the document",
    "3.141592653589793",
]


@pytest.mark.parametrize(("text", "clean"), SECRETS)
def test_a_secret_is_taken_out_and_the_rest_stays(text: str, clean: str) -> None:
    assert redact_text(text, ALL)[0] == clean


@pytest.mark.parametrize("text", NOT_SECRETS)
def test_what_is_no_secret_stays_the_same_object(text: str) -> None:
    clean, kinds = redact_text(text, ALL)
    assert clean is text
    assert kinds == ()


def test_random_keys_are_found_though_nothing_names_them() -> None:
    rng = random.Random(5)
    drawn = [base64.b64encode(rng.randbytes(30)).decode() for _ in range(500)]
    missed = sum(redact_text(each, ALL)[1] == () for each in drawn)
    assert missed <= 0.03 * len(drawn)


any_secret = st.sampled_from([text for text, _ in SECRETS]) | st.emails()
any_mixture = st.lists(any_secret | any_text | st.sampled_from(NOT_SECRETS), max_size=5).map("".join)
settings_of_any_kind = st.builds(
    RedactSettings,
    kinds=st.lists(st.sampled_from(KINDS), unique=True).map(tuple),
    patterns=st.lists(
        st.sampled_from(
            ["redacted", "e.ail", r"\bcard\b", "^.", ".$", "[a-c]+", r"(?<=]).", ".+", r"]\w+", r"(?<=\d)\d"]
        ),
        max_size=2,
    ).map(tuple),
)


@given(any_mixture, settings_of_any_kind)
def test_redacting_twice_is_redacting_once(text: str, settings: RedactSettings) -> None:
    once = Redactor(settings).text(text)
    assert Redactor(settings).text(once) == once


telling_element = st.builds(
    Element,
    role=st.sampled_from(["button", "edit", "window"]),
    text=any_mixture,
    box=st.builds(Box, st.integers(-50, 350), st.integers(-50, 350), st.integers(0, 80), st.integers(0, 80)),
    application=st.just("Notepad"),
    clickable=st.booleans(),
    value=any_mixture,
    secret=st.booleans(),
    parent=st.none() | st.integers(-1, 4),
    handle=any_text,
)
PICTURE = Image(300, 300, bytes(range(256)) * 1054 + bytes(176))
telling_observation = st.builds(
    Observation,
    elements=st.lists(telling_element | any_element, max_size=5).map(tuple),
    window=st.builds(lambda title: dataclasses.replace(WINDOW, title=title), any_mixture),
    screenshot=st.none() | st.just(PICTURE),
)

_EMAIL_TO_A_READER = re.compile(r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}")


@given(telling_observation)
def test_no_address_survives_in_an_atom_a_title_or_a_signature(observation: Observation) -> None:
    clean = redact_observation(observation, RedactSettings())
    screen = Encoder(EncodeSettings()).encode(clean)
    kept = [*screen.text_atoms, screen.text, screen.metadata.window]
    kept += [each.signature for each in candidates(clean, "Notepad")]
    assert [text for text in kept if _EMAIL_TO_A_READER.search(text)] == []


@given(telling_observation)
def test_pictures_keep_their_size_and_elements_their_handles(observation: Observation) -> None:
    clean = redact_observation(observation, RedactSettings())
    assert [each.handle for each in clean.elements] == [each.handle for each in observation.elements]
    assert [repr(each.box) for each in clean.elements] == [repr(each.box) for each in observation.elements]
    if observation.screenshot is not None:
        assert clean.screenshot is not None
        assert (clean.screenshot.width, clean.screenshot.height) == (300, 300)
        assert len(clean.screenshot.pixels) == len(PICTURE.pixels)


@given(telling_observation)
def test_a_redacted_observation_has_nothing_left_to_redact(observation: Observation) -> None:
    clean = redact_observation(observation, RedactSettings())
    again = Redactor(RedactSettings())
    assert again.apply(clean) == clean
    assert not again.counts


@given(any_observation)
def test_nothing_that_a_backend_reports_makes_it_fail(observation: Observation) -> None:
    redactor = Redactor(RedactSettings(patterns=("a",)))
    clean = redactor.apply(observation)
    assert len(clean.elements) == len(observation.elements)
    assert not any("a" in each.text.replace("[redacted:pattern]", "") for each in clean.elements)


def test_an_observation_without_secrets_comes_back_itself() -> None:
    seen = dataclasses.replace(observe(element("button", "Save", 10, 10)), screenshot=PICTURE)
    assert Redactor(RedactSettings()).apply(seen) is seen


def pixel(picture: Image | None, x: int, y: int) -> bytes:
    assert picture is not None
    start = 3 * (y * picture.width + x)
    return picture.pixels[start : start + 3]


def white(*elements: Element) -> Observation:
    return dataclasses.replace(observe(*elements), screenshot=Image(300, 300, b"\xff" * 270_000))


def test_the_element_that_held_a_secret_is_covered_in_the_picture_and_nothing_else() -> None:
    held = Element("text", "joe@example.com", Box(10.5, 20.5, 30, 10), "Notepad", handle="/7")
    clean = redact_observation(white(held, element("button", "Save", 100, 100)), RedactSettings())
    covered = {
        (x, y) for x in range(300) for y in range(300) if pixel(clean.screenshot, x, y) != b"\xff\xff\xff"
    }
    assert covered == {(x, y) for x in range(10, 41) for y in range(20, 31)}
    assert clean.elements[0].text == "[redacted:email]"
    assert clean.elements[0].handle == "/7"


def test_what_sticks_out_of_the_picture_is_cut_off() -> None:
    held = Element("text", "joe@example.com", Box(-20, 290, 1000, 1000), "Notepad")
    clean = redact_observation(white(held), RedactSettings())
    assert pixel(clean.screenshot, 0, 289) == b"\xff\xff\xff"
    assert {pixel(clean.screenshot, x, y) for x in (0, 299) for y in (290, 299)} == {b"@@@"}


def test_pictures_can_be_left_as_they_are() -> None:
    seen = white(Element("text", "joe@example.com", Box(10, 20, 30, 10), "Notepad"))
    assert redact_observation(seen, RedactSettings(screenshots=False)).screenshot is seen.screenshot


def test_a_password_field_loses_all_it_holds_and_its_parents_what_they_repeat() -> None:
    seen = white(
        Element("pane", "Sign in: hunter2", Box(0, 100, 200, 100), "Notepad"),
        Element("edit", "Password", Box(50, 150, 90, 10), "Notepad", value="hunter2", secret=True, parent=0),
        Element("edit", "Comment", Box(50, 250, 90, 10), "Notepad", value="hello"),
    )
    redactor = Redactor(RedactSettings())
    pane, password, comment = redactor.apply(seen).elements
    assert pane.text == "Sign in: [redacted:password]"
    assert (password.text, password.value) == ("[redacted:password]", "[redacted:password]")
    assert comment is seen.elements[2]
    assert redactor.counts == {"password": 1}
    assert pixel(redactor.apply(seen).screenshot, 10, 110) == b"@@@"


def test_parents_that_go_in_a_circle_are_followed_only_so_far() -> None:
    one = Element("edit", "", Box(0, 0, 9, 9), "Notepad", value="hunter2", secret=True, parent=1)
    two = Element("pane", "hunter2", Box(0, 0, 9, 9), "Notepad", parent=0)
    assert [
        each.value + each.text for each in redact_observation(observe(one, two), RedactSettings()).elements
    ] == [
        "[redacted:password]",
        "[redacted:password]",
    ]


def test_a_title_is_redacted_and_its_bar_covered() -> None:
    window = dataclasses.replace(WINDOW, title="joe@example.com - Mail", box=Box(0, 100, 300, 200))
    frame = Element("window", "joe@example.com - Mail", window.box, "Notepad")
    seen = dataclasses.replace(white(frame), window=window)
    clean = redact_observation(seen, RedactSettings())
    assert clean.window.title == "[redacted:email] - Mail"
    assert pixel(clean.screenshot, 150, 90) == b"@@@"  # above the edge, where the window manager draws
    assert (
        pixel(clean.screenshot, 150, 250) == b"\xff\xff\xff"
    )  # a window does not show its title in its middle


def test_own_patterns_are_redacted_too() -> None:
    redactor = Redactor(RedactSettings(kinds=(), patterns=(r"\bEMP-\d+",)))
    assert redactor.text("emp-1234 and joe@example.com") == "[redacted:pattern] and joe@example.com"
    assert redactor.counts == {"pattern": 1}


def test_kinds_that_are_not_asked_for_stay() -> None:
    redactor = Redactor(RedactSettings(kinds=("card",)))
    seen = observe(dataclasses.replace(element("edit", "hunter2", 0, 0), secret=True))
    assert redactor.apply(seen) is seen
    assert redactor.text(f"joe@example.com {LUHN_VALID}") == "joe@example.com [redacted:card]"


def test_counts_are_of_every_time_a_secret_was_seen() -> None:
    redactor = Redactor(RedactSettings())
    for _ in range(3):
        redactor.apply(observe(element("text", "a@example.com b@example.com", 0, 0)))
    assert redactor.counts == {"email": 6}


def test_memories_that_overflow_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screensearch.encode.redact._CHARACTERS_REMEMBERED", 2_000)
    redactor = Redactor(RedactSettings())
    for number in range(50):
        assert redactor.text(f"{number}@example.com") == "[redacted:email]"
        assert redactor.text(f"Button {number}") == f"Button {number}"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"at": "once"}, "redact.at is 'once', but must be one of capture, export, never"),
        ({"kinds": ("e-mail",)}, "redact.kinds holds 'e-mail'.*did you mean 'email'"),
        ({"patterns": ("(",)}, r"redact\.patterns\[0\] = '\('"),
        ({"patterns": ("x*",)}, r"redact\.patterns\[0\] = 'x\*' matches the empty text"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        RedactSettings(**wrong)  # type: ignore[arg-type]


def test_a_password_field_is_covered_even_while_nothing_of_it_was_read() -> None:
    field = Element("edit", "", Box(1, 1, 2, 2), "app", editable=True, secret=True)
    window = Window("form", "main", Box(0, 0, 4, 4), "app")
    picture = Image(4, 4, bytes(range(48)))
    seen = Observation((field,), window, screenshot=picture)
    clean = Redactor(RedactSettings()).apply(seen)
    assert clean.screenshot is not None
    assert clean.screenshot.pixels[:15] == picture.pixels[:15]
    assert clean.screenshot.pixels[15:21] == clean.screenshot.pixels[27:33] != picture.pixels[15:21]
