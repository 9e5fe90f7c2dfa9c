"""A person reads what a machine calls by its signature."""

from __future__ import annotations

import pytest

from screensearch.act.templates import TEMPLATES
from screensearch.act.wording import _ROLES, describe_action, describe_actions
from screensearch.domain.roles import ROLES


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("focus_click@1::r0_c3|menuitem|preferences…|mousepad::none", 'click "preferences…" (menu item)'),
        ("double_click@1::r4_c9|listitem|a%5Fb.txt|thunar::none", 'double-click "a_b.txt" (list item)'),
        ("right_click@1::r4_c9|tabitem|one_two|thunar::none", 'right-click "one two" (tab)'),
        ("focus_click@1::r4_c9|button||thunar::none", "click the button at r4_c9"),
        ("focus_click@1::unknown|custom||thunar::none", "click the element at no known place"),
        ('focus_type@1::r1_c1|edit|name|x::{"text":"a \\"b\\"\\n"}', r'type "a \"b\"\n" into "name" (field)'),
        ('scroll@1::none::{"amount":3,"direction":"down"}', "scroll down by 3"),
        ('scroll@1::r1_c1|list|names|x::{"amount":3,"direction":"up"}', 'scroll up by 3 in "names" (list)'),
        ('key@1::none::{"key":"ctrl+s"}', "press ctrl+s"),
        ("wait@1::none::none", "wait"),
        ("", ""),
        ("before a choice", "before a choice"),
        ("focus_click@99::r4_c9|button|x|y::none", "focus_click@99::r4_c9|button|x|y::none"),
    ],
)
def test_an_action_is_told_in_words(signature: str, words: str) -> None:
    assert describe_action(signature) == words


def test_a_long_text_is_cut() -> None:
    words = describe_action(f'focus_type@1::r1_c1|edit|name|x::{{"text":"{"a" * 9_000}"}}')
    assert words.startswith('type "aaa')
    assert words.endswith('…" into "name" (field)')
    assert len(words) < 100


def test_actions_that_would_read_the_same_are_told_apart_by_their_place() -> None:
    one, other, third = (
        f"focus_click@1::r{row}_c1|button|{label}|x::none" for row, label in ((1, "ok"), (2, "ok"), (3, "no"))
    )
    assert describe_actions([one, other, third]) == {
        one: 'click "ok" (button at r1_c1)',
        other: 'click "ok" (button at r2_c1)',
        third: 'click "no" (button)',
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("r1_c1|button|" + "a" * 80 + "1|x", "r1_c1|button|" + "a" * 80 + "2|x"),  # both are cut
        ("r1_c1|button|ok|x", "r1_c1|button|ok|y"),
    ],
)
def test_actions_that_read_the_same_even_with_their_place_are_told_by_their_signatures(
    one: str, other: str
) -> None:
    alike = [f"focus_click@1::{target}::none" for target in (one, other)]
    elsewhere = f"focus_click@1::{one.replace('r1', 'r2')}::none"
    told = describe_actions([*alike, elsewhere])
    assert [told[each] for each in alike] == alike
    assert told[elsewhere].endswith("(button at r2_c1)")


def test_every_template_has_words_and_every_word_is_for_a_role() -> None:
    filled = {
        "focus_type@1": '{"text":"a"}',
        "scroll@1": '{"amount":1,"direction":"up"}',
        "key@1": '{"key":"Escape"}',
    }
    for name, template in TEMPLATES.items():
        target = "none" if template.element == "absent" else "r1_c1|button|ok|x"
        assert "::" not in describe_action(f"{name}::{target}::{filled.get(name, 'none')}"), name
    assert _ROLES.keys() <= ROLES
