from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.domain.document import (
    decode_document,
    decode_observation,
    encode_document,
    encode_observation,
)
from screensearch.domain.screen import Box, Element, Image, Metadata, Observation, Screen, Window
from screensearch.encode.encoder import Encoder
from screensearch.errors import FormatError, NewerFormat

any_text = st.text(st.characters(exclude_categories=[]), max_size=8)
any_number = st.floats()
any_box = st.builds(Box, any_number, any_number, any_number, any_number)
any_observation = st.builds(
    Observation,
    elements=st.lists(
        st.builds(
            Element,
            role=any_text,
            text=any_text,
            box=any_box | st.just(Box(5, 5, 10, 10)),
            application=any_text,
            parent=st.none() | st.integers(),
            handle=any_text,
        ),
        max_size=4,
    ).map(tuple),
    window=st.builds(Window, any_text, any_text, st.just(Box(0, 0, 100, 100)) | any_box, any_text),
    display_mode=any_text,
    text_scale=any_number,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)

ORDINARY = Observation(
    (Element("button", 'Say "x":null', Box(1.5, 2, 3, 4), "app", clickable=True, parent=0, handle="/1"),),
    Window("Title", "main", Box(0, 0, 100, 100), "app"),
    partial=True,
)


def test_an_observation_comes_back_as_it_was() -> None:
    back = decode_observation(encode_observation(ORDINARY))
    assert back == ORDINARY
    assert back.elements[0].handle == "/1"


def test_the_envelope_says_what_it_is() -> None:
    envelope = json.loads(encode_observation(ORDINARY))
    assert (envelope["format"], envelope["version"]) == ("screensearch.observation", 1)


def test_the_screenshot_is_left_out() -> None:
    pictured = dataclasses.replace(ORDINARY, screenshot=Image(1, 1, b"abc"))
    assert encode_observation(pictured) == encode_observation(ORDINARY)
    assert decode_observation(encode_observation(pictured)).screenshot is None


@given(any_observation)
def test_whatever_was_observed_can_be_stored_and_gives_the_same_screen(observation: Observation) -> None:
    back = decode_observation(encode_observation(observation))
    assert Encoder().encode(back) == Encoder().encode(observation)


def test_what_json_cannot_hold_is_replaced() -> None:
    strange = dataclasses.replace(
        ORDINARY,
        elements=(Element("text", "a\ud800b", Box(math.nan, 0, 1, 1), "app", parent=10**30),),
        text_scale=math.inf,
    )
    back = decode_observation(encode_observation(strange))
    assert back.elements[0].text == "a\ufffdb"
    assert back.elements[0].box.width < 0
    assert back.elements[0].parent is None
    assert back.text_scale == 0


def test_other_values_are_documents_too() -> None:
    screen = Screen("k", ("a",), ("b",), "b", Metadata("app", "light", "any", "main|"))
    data = encode_document("screen", screen, version=2)
    assert decode_document(data, "screen", Screen, version=2) == screen
    assert decode_document(data, "screen", Screen, version=3) == screen


def test_a_newer_version_is_refused_by_name() -> None:
    data = encode_document("observation", {"from": "the future"}, version=7)
    with pytest.raises(NewerFormat, match=r"version 7, this program reads up to 1; upgrade"):
        decode_observation(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not readable JSON"),
        (b"\xff\xfe", "not readable JSON"),
        (b"[" * 100_000, r"observation.*\$"),
        (b"{}", r"missing required field `format`.*\$"),
        (b'{"format": "screensearch.screen", "version": 1, "body": {}}', r"screensearch\.screen.*\$\.format"),
        (b'{"format": "screensearch.observation", "version": 0, "body": {}}', r"version 0.*\$\.version"),
        (b'{"format": "screensearch.observation", "version": "1", "body": {}}', r"\$\.version"),
        (b'{"format": "screensearch.observation", "version": 1, "body": 3}', r"\$\.body"),
        (b'{"format": "screensearch.observation", "version": 1, "body": {}}', r"`elements`.*\$\.body"),
        (b'{"format": "screensearch.observation", "version": 1, "body": ' + b"[" * 99_999, "observation"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        decode_observation(data)


def test_a_wrong_value_deep_inside_is_named_with_its_path() -> None:
    envelope = json.loads(encode_observation(ORDINARY))
    envelope["body"]["elements"][0]["box"]["x"] = "left"
    with pytest.raises(FormatError, match=r"float.*\$\.body\.elements\[0\]\.box\.x"):
        decode_observation(json.dumps(envelope).encode())


def decodes_or_complains(data: bytes) -> None:
    try:
        observation = decode_observation(data)
    except FormatError:
        return
    Encoder().encode(observation)


@given(st.data())
def test_a_document_with_a_replaced_part_decodes_or_gives_a_format_error(data: st.DataObject) -> None:
    envelope: Any = json.loads(encode_observation(ORDINARY))
    place = envelope
    while True:
        key = data.draw(
            st.sampled_from(sorted(place) if isinstance(place, dict) else list(range(len(place))))
        )
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
        else:
            break
    place[key] = data.draw(json_values)
    decodes_or_complains(json.dumps(envelope).encode())


@given(st.integers(0, 400), st.binary(max_size=4), st.integers(0, 4))
def test_a_document_with_damaged_bytes_decodes_or_gives_a_format_error(at: int, new: bytes, cut: int) -> None:
    data = encode_observation(ORDINARY)
    decodes_or_complains(data[:at] + new + data[at + cut :])


@given(st.binary())
def test_bytes_of_any_kind_give_a_format_error(data: bytes) -> None:
    with pytest.raises(FormatError):
        decode_observation(data)


@given(st.integers(0, 300))
def test_a_truncated_document_gives_a_format_error(length: int) -> None:
    data = encode_observation(ORDINARY)
    with pytest.raises(FormatError):
        decode_observation(data[: min(length, len(data) - 1)])


def test_a_value_that_is_no_json_is_refused_when_written() -> None:
    with pytest.raises(FormatError, match="screen cannot be written"):
        encode_document("screen", "\ud800")
    with pytest.raises(FormatError, match="cannot be written"):
        encode_document("screen", object())


def test_documents_are_ordinary_json() -> None:
    assert msgspec.json.decode(encode_observation(ORDINARY)) == json.loads(encode_observation(ORDINARY))


def test_an_element_stored_before_it_had_a_value_reads_as_one_without() -> None:
    old = (
        b'{"format":"screensearch.observation","version":1,"body":{"elements":[{"role":"edit","text":"Name",'
        b'"box":{"x":1.0,"y":2.0,"width":3.0,"height":4.0},"application":"app","clickable":false,'
        b'"editable":true,"enabled":true,"focused":false,"checked":false,"parent":null,"handle":"7"}],'
        b'"window":{"title":"T","kind":"main","box":{"x":0.0,"y":0.0,"width":9.0,"height":9.0},'
        b'"application":"app"},"display_mode":"light","text_scale":1.0,"partial":false,"screenshot":null}}'
    )
    (element,) = decode_observation(old).elements
    assert (element.text, element.value, element.secret, element.process) == ("Name", "", False, None)
