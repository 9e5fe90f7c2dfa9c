from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from screensearch.act.signature import ParsedSignature, Target, parse_signature, signature_of
from screensearch.domain.action import Action
from screensearch.domain.roles import ROLES, map_role
from screensearch.domain.screen import Box, Element
from screensearch.encode.grid import cell_at, centre_of
from screensearch.encode.text import normalise
from screensearch.errors import FormatError

WINDOW = Box(0, 0, 300, 300)

tricky = st.text(st.sampled_from('ab |:_%25FC7\u0301é\\"{}'), max_size=6)
any_text = st.text(st.characters(exclude_categories=[]), max_size=12) | tricky
typed_text = (st.text(min_size=1, max_size=8) | tricky).filter(bool)
elements = st.builds(
    Element,
    role=st.sampled_from([*sorted(ROLES), "Button", "flux | capacitor"]),
    text=any_text,
    box=st.builds(Box, st.integers(-9, 309), st.integers(-9, 309), st.integers(-1, 20), st.just(4)),
    application=any_text,
)
actions = st.one_of(
    st.builds(Action, st.just("focus_click@1"), elements),
    st.builds(Action, st.just("focus_type@1"), elements, typed_text.map(lambda text: (("text", text),))),
    st.builds(
        Action,
        st.just("scroll@1"),
        st.none() | elements,
        st.tuples(
            st.tuples(st.just("direction"), st.sampled_from(["up", "down"])),
            st.tuples(st.just("amount"), st.integers(1, 100)),
        ),
    ),
    st.just(Action("wait@1")),
    st.builds(Action, st.just("key@1"), st.none(), typed_text.map(lambda key: (("key", key),))),
)


def parts_of(action: Action) -> ParsedSignature:
    """What an action is, said independently of how it is written."""
    element = action.element
    centre = None if element is None else centre_of(element.box, WINDOW)
    return ParsedSignature(
        action.template,
        None
        if element is None
        else Target(
            None if centre is None else cell_at(centre),
            map_role(element.role),
            normalise(element.text),
            normalise(element.application),
        ),
        tuple(sorted(action.arguments)),
    )


@given(actions)
def test_reading_a_signature_gives_back_what_was_written(action: Action) -> None:
    assert parse_signature(str(signature_of(action, WINDOW))) == parts_of(action)


@given(actions, actions)
@example(
    Action("focus_click@1", Element("button", "a_b", Box(0, 0, 1, 1), "x")),
    Action("focus_click@1", Element("button", "a b", Box(0, 0, 1, 1), "x")),
)
@example(
    Action("focus_click@1", Element("button", "a|b", Box(0, 0, 1, 1), "c")),
    Action("focus_click@1", Element("button", "a", Box(0, 0, 1, 1), "b|c")),
)
@example(
    Action("focus_click@1", Element("button", "%7c", Box(0, 0, 1, 1), "c")),
    Action("focus_click@1", Element("button", "|", Box(0, 0, 1, 1), "c")),
)
def test_actions_share_a_signature_only_if_they_are_the_same(one: Action, other: Action) -> None:
    same = parts_of(one) == parts_of(other)
    assert (str(signature_of(one, WINDOW)) == str(signature_of(other, WINDOW))) == same


@given(actions, st.integers(0, 80), st.text(st.sampled_from('|:_%25CF0 a{}"'), max_size=2), st.integers(0, 2))
@example(Action("wait@1"), 0, "", 0)
def test_a_damaged_signature_is_refused_or_is_that_of_another_action(
    action: Action, at: int, new: str, cut: int
) -> None:
    whole = str(signature_of(action, WINDOW))
    damaged = whole[:at] + new + whole[at + cut :]
    try:
        parsed = parse_signature(damaged)
    except FormatError:
        return
    assert str(parsed.signature()) == damaged
    assert (parsed == parts_of(action)) == (damaged == whole)


@given(actions)
def test_signatures_can_be_stored(action: Action) -> None:
    str(signature_of(action, WINDOW)).encode("utf-8")


def test_typed_text_is_kept_exactly() -> None:
    field = Element("edit", "Name", Box(0, 0, 10, 10), "app", editable=True)
    signature = signature_of(Action("focus_type@1", field, (("text", "  Ｆoo::BAR\n"),)), WINDOW)
    assert signature.arguments == '{"text":"  Ｆoo::BAR\\n"}'


def test_arguments_are_sorted() -> None:
    one, other = (
        signature_of(Action("scroll@1", None, arguments), WINDOW)
        for arguments in (
            (("direction", "down"), ("amount", 3)),
            (("amount", 3), ("direction", "down")),
        )
    )
    assert str(one) == str(other) == 'scroll@1::none::{"amount":3,"direction":"down"}'


def test_handles_and_pixels_inside_a_cell_are_no_part_of_it() -> None:
    one = Element("button", "Save", Box(70, 120, 10, 10), "app", handle="/1", focused=True)
    other = Element("button", "SAVE", Box(72, 121, 10, 10), "App", handle="/2", parent=4)
    assert signature_of(Action("focus_click@1", one), WINDOW) == signature_of(
        Action("focus_click@1", other), WINDOW
    )


def test_an_element_without_a_place_still_has_a_signature() -> None:
    lost = Element("button", "Save", Box(float("nan"), 0, 1, 1), "app")
    signature = str(signature_of(Action("focus_click@1", lost), WINDOW))
    assert signature == "focus_click@1::unknown|button|save|app::none"
    assert parse_signature(signature).target == Target(None, "button", "save", "app")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "fewer than three parts"),
        ("focus_click@1::none", "fewer than three parts"),
        ("dance@1::none::none", "no action template 'dance@1'"),
        ("focus_click@1::none::none", "the element is required"),
        ("wait@1::r1_c1|button|a|b::none", "the element is absent"),
        ("focus_click@1::r1_c1|button|a::none", "not four fields"),
        ("focus_click@1::r30_c1|button|a|b::none", "no cell of the grid"),
        ("focus_click@1::r1_c1|gadget|a|b::none", "'gadget' is no role"),
        ("focus_click@1::r1_c1|button|a b|c::none", "would be written"),
        ("key@1::none::{", "not JSON"),
        ("key@1::none::[1]", "not a JSON object"),
        ("key@1::none::" + "[" * 100_000, "not JSON"),
        ('key@1::none::{"key":' + "1" * 5000 + "}", "not JSON"),
        ('key@1::none::{"key":1}', "must be str"),
        ('key@1::none::{"key":"a","key":"b"}', "would be written"),
    ],
)
def test_what_is_no_signature_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_signature(text)


def test_an_action_that_its_template_does_not_allow_has_no_signature() -> None:
    with pytest.raises(FormatError, match="needs an element"):
        signature_of(Action("focus_click@1"), WINDOW)
