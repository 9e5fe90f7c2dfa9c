from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.act.candidates import CandidateSettings, candidates
from screensearch.act.signature import signature_of
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.encode.encoder import Encoder, EncodeSettings
from screensearch.encode.masks import Masks, MaskSettings, Region
from screensearch.errors import SettingsError

WINDOW = Window("Notepad", "main", Box(0, 0, 300, 300), "notepad")
BARE = CandidateSettings(texts=("hello", "world"), keys=(), scroll=False, wait=False)

SAVE = Element("button", "Save", Box(70, 120, 10, 10), "notepad", clickable=True)
EDITOR = Element("edit", "Text Editor", Box(100, 100, 100, 100), "notepad", editable=True)

any_text = st.text(st.characters(exclude_categories=[]), max_size=6)
any_number = st.floats() | st.integers(0, 300)
any_element = st.builds(
    Element,
    role=st.sampled_from(["button", "edit", "listitem", "odd"]),
    text=st.sampled_from(["Save", "save", "Open"]) | any_text,
    box=st.builds(Box, any_number, any_number, any_number, any_number) | st.just(Box(5, 5, 5, 5)),
    application=st.sampled_from(["notepad", "Notepad", "browser"]),
    clickable=st.booleans(),
    editable=st.booleans(),
    enabled=st.booleans(),
    handle=any_text,
)


def observe(*elements: Element) -> Observation:
    return Observation(elements, WINDOW)


def signatures(observation: Observation, settings: CandidateSettings = BARE) -> list[str]:
    return [candidate.signature for candidate in candidates(observation, "notepad", settings)]


def test_what_is_clickable_is_clicked_and_what_is_editable_is_typed_into() -> None:
    assert signatures(observe(SAVE, EDITOR)) == [
        "focus_click@1::r12_c7|button|save|notepad::none",
        'focus_type@1::r15_c15|edit|text_editor|notepad::{"text":"hello"}',
        'focus_type@1::r15_c15|edit|text_editor|notepad::{"text":"world"}',
    ]


def test_keys_scrolling_and_waiting_come_last() -> None:
    settings = CandidateSettings(texts=(), keys=("Escape", "F1", "Escape"), scroll_amount=5)
    listed = candidates(observe(SAVE), "notepad", settings)
    assert [candidate.signature for candidate in listed[1:]] == [
        'key@1::none::{"key":"Escape"}',
        'key@1::none::{"key":"F1"}',
        'scroll@1::none::{"amount":5,"direction":"down"}',
        'scroll@1::none::{"amount":5,"direction":"up"}',
        "wait@1::none::none",
    ]
    assert [candidate.label for candidate in listed] == [
        "save",
        "escape",
        "f1",
        "scroll down",
        "scroll up",
        "wait",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"enabled": False},
        {"clickable": False},
        {"application": "browser"},
        {"box": Box(math.nan, 0, 1, 1)},
        {"box": Box(0, 0, -1, 1)},
    ],
)
def test_what_cannot_be_clicked_in_the_target_application_is_left_out(change: dict[str, object]) -> None:
    assert signatures(observe(dataclasses.replace(SAVE, **change))) == []  # type: ignore[arg-type]


def test_applications_are_the_same_however_they_are_spelled() -> None:
    assert signatures(observe(dataclasses.replace(SAVE, application="Notepad"))) == signatures(observe(SAVE))


def test_a_clickable_editable_element_is_both_clicked_and_typed_into() -> None:
    assert len(signatures(observe(dataclasses.replace(EDITOR, clickable=True)))) == 3


def test_of_two_elements_with_one_signature_the_first_wins() -> None:
    outer, inner = dataclasses.replace(SAVE, handle="outer"), dataclasses.replace(SAVE, handle="inner")
    for _ in range(2):
        (only,) = candidates(observe(outer, inner), "notepad", BARE)
        assert only.action.element is not None
        assert only.action.element.handle == "outer"


CLOCK = MaskSettings(patterns=(r"\d+:\d+",))


def test_a_masked_clock_gives_one_screen_and_one_action_at_every_tick() -> None:
    encoder, masks = Encoder(EncodeSettings(masks=CLOCK)), Masks(CLOCK)
    ticks = [observe(dataclasses.replace(SAVE, text=f"Saved 12:{minute:02}")) for minute in range(3)]
    assert len({encoder.encode(tick).key for tick in ticks}) == 1
    listed = [candidates(tick, "notepad", BARE, masks) for tick in ticks]
    assert [[candidate.signature for candidate in each] for each in listed] == [
        ["focus_click@1::r12_c7|button|saved|notepad::none"]
    ] * 3
    assert {candidate.label for each in listed for candidate in each} == {"saved"}
    shown = [each[0].action.element.text for each in listed if each[0].action.element]
    assert shown == ["Saved 12:00", "Saved 12:01", "Saved 12:02"]  # aimed at what is there now


def test_a_masked_region_blanks_labels_there_and_nowhere_else() -> None:
    masks = Masks(MaskSettings(regions=(Region(bottom=0.45),)))
    assert [each.label for each in candidates(observe(SAVE, EDITOR), "notepad", BARE, masks)] == [
        "",
        "text editor",
        "text editor",
    ]


def test_of_two_elements_that_masks_make_alike_the_first_wins() -> None:
    early, late = (dataclasses.replace(SAVE, text=text) for text in ("12:01", "12:02"))
    (only,) = candidates(observe(early, late), "notepad", BARE, Masks(CLOCK))
    assert only.action.element == early
    assert len(candidates(observe(early, late), "notepad", BARE)) == 2


def test_what_is_remembered_under_some_masks_does_not_leak_to_others() -> None:
    seen = observe(dataclasses.replace(SAVE, text="at 12:01"))
    for masks, label in [
        (None, "at 12:01"),
        (Masks(CLOCK), "at"),
        (Masks(MaskSettings(patterns=("at",))), "12:01"),
        (Masks(MaskSettings()), "at 12:01"),
    ] * 2:
        (only,) = candidates(seen, "notepad", BARE, masks)
        assert only.label == label


@given(
    st.lists(any_element, max_size=8),
    st.sampled_from([CLOCK, MaskSettings(patterns=("a",), regions=(Region(right=0.5),))]),
)
def test_labels_are_masked_as_atoms_are(elements: list[Element], settings: MaskSettings) -> None:
    masks = Masks(settings)
    for element in elements:
        texts = Encoder(EncodeSettings(masks=settings)).encode(observe(element)).text_atoms
        for candidate in candidates(observe(element), "notepad", BARE, masks):
            assert candidate.signature == str(signature_of(candidate.action, WINDOW.box, masks))
            cell = candidate.signature.split("::")[1].split("|")[0]
            assert texts == ((f"{cell}|{candidate.label}",) if candidate.label else ())


def test_a_remembered_candidate_is_aimed_at_the_element_of_now() -> None:
    for handle in ("/1", "/2", "/1"):
        (only,) = candidates(observe(dataclasses.replace(SAVE, handle=handle)), "notepad", BARE)
        assert only.action.element is not None
        assert only.action.element.handle == handle


def test_the_limit_keeps_the_first() -> None:
    seen = observe(SAVE, EDITOR)
    everything = signatures(seen, CandidateSettings())
    for limit in range(1, len(everything) + 2):
        listed = candidates(seen, "notepad", CandidateSettings(limit=limit))
        assert [candidate.signature for candidate in listed] == everything[:limit]
        assert [candidate.id for candidate in listed] == list(range(len(listed)))


@given(st.lists(st.lists(any_element, max_size=8), min_size=1, max_size=3))
def test_every_candidate_is_executable_named_and_numbered(screens: list[list[Element]]) -> None:
    for elements in screens:
        listed = candidates(observe(*elements), "notepad", CandidateSettings())
        assert [candidate.id for candidate in listed] == list(range(len(listed)))
        assert len({candidate.signature for candidate in listed}) == len(listed)
        for candidate in listed:
            action = candidate.action
            assert candidate.signature == str(signature_of(action, WINDOW.box))
            if action.element is not None:
                assert any(action.element is each or action.element == each for each in elements)
                assert action.element.enabled
                assert action.element.application.lower() == "notepad"
                assert action.element.editable if "type" in action.template else action.element.clickable


@given(st.lists(any_element, max_size=8))
def test_the_same_observation_gives_the_same_list(elements: list[Element]) -> None:
    assert candidates(observe(*elements), "notepad", BARE) == candidates(observe(*elements), "notepad", BARE)


def test_memories_that_overflow_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screensearch.act.candidates._ELEMENTS_REMEMBERED", 3)
    window = dataclasses.replace(WINDOW, box=Box(0, 0, 299, 299))  # a geometry of its own, nothing remembered
    elements = [dataclasses.replace(SAVE, text=f"Button {number % 7}") for number in range(20)]
    listed = candidates(Observation(tuple(elements), window), "notepad", BARE)
    assert [candidate.label for candidate in listed] == [f"button {number}" for number in range(7)]


CLICKS = dataclasses.replace(
    BARE, double_click_roles=("button", "listitem"), right_click_roles=("edit", "button")
)


def test_roles_that_the_settings_name_are_double_clicked_and_right_clicked_before_they_are_typed_into() -> (
    None
):
    both = dataclasses.replace(EDITOR, clickable=True)
    assert [each.split("::")[0] for each in signatures(observe(SAVE, both), CLICKS)] == [
        "focus_click@1",
        "double_click@1",
        "right_click@1",
        "focus_click@1",
        "right_click@1",
        "focus_type@1",
        "focus_type@1",
    ]


def test_a_double_click_is_aimed_as_a_click_is() -> None:
    click, double, right = signatures(observe(SAVE), CLICKS)
    assert click == "focus_click@1::r12_c7|button|save|notepad::none"
    assert double == "double_click@1::r12_c7|button|save|notepad::none"
    assert right == "right_click@1::r12_c7|button|save|notepad::none"


def test_what_is_not_for_clicking_is_not_double_clicked_either() -> None:
    assert signatures(observe(dataclasses.replace(SAVE, clickable=False)), CLICKS) == []


def test_what_is_remembered_under_some_roles_does_not_leak_to_others() -> None:
    for settings, count in [(BARE, 1), (CLICKS, 3), (BARE, 1)]:
        assert len(signatures(observe(SAVE), settings)) == count


def test_one_key_is_one_action_however_it_is_spelled() -> None:
    settings = CandidateSettings(
        texts=(), keys=("shift+ctrl+-", "ctrl+shift+minus"), scroll=False, wait=False
    )
    assert signatures(observe(), settings) == ['key@1::none::{"key":"ctrl+shift+minus"}']


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"double_click_roles": ("listitm",)},
            r"double_click_roles holds 'listitm'.*did you mean 'listitem'",
        ),
        ({"right_click_roles": ("Edit",)}, "right_click_roles holds 'Edit'.*did you mean 'edit'"),
        ({"keys": ("Escpe",)}, "no key 'Escpe'; did you mean 'Escape'"),
        ({"keys": ("ctl+s",)}, "no modifier 'ctl' in 'ctl\\+s'; did you mean 'ctrl'"),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_a_near_one(
    settings: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        CandidateSettings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [{"limit": 0}, {"texts": ("",)}, {"texts": ("\ud800",)}, {"keys": ("",)}, {"scroll_amount": 0}],
)
def test_settings_that_no_template_allows_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="candidates"):
        CandidateSettings(**settings)  # type: ignore[arg-type]
