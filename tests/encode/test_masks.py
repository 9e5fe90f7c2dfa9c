from __future__ import annotations

import pytest
from trees import element, observe

from screensearch.encode.encoder import Encoder, EncodeSettings
from screensearch.encode.masks import Masks, MaskSettings, Region
from screensearch.errors import SettingsError


def encoder(**masks: object) -> Encoder:
    return Encoder(EncodeSettings(masks=MaskSettings(**masks)))  # type: ignore[arg-type]


def test_a_clock_no_longer_tells_two_screens_apart() -> None:
    masked = encoder(patterns=(r"\d\d:\d\d",))
    one, other = (
        masked.encode(observe(element("text", f"Saved at {time}", 5, 5))) for time in ("12:03", "12:04")
    )
    assert one == other
    assert one.text_atoms == ("r1_c1|saved at",)
    assert masked.counts.masked == 2


def test_patterns_ignore_case_as_labels_do() -> None:
    assert (
        encoder(patterns=("UNREAD .*",)).encode(observe(element("text", "Unread: 7", 5, 5))).text
        == "unread: 7"
    )
    assert encoder(patterns=("UNREAD: .*",)).encode(observe(element("text", "Unread: 7", 5, 5))).text == ""


def test_a_region_blanks_the_texts_whose_centre_it_holds_and_nothing_else() -> None:
    masked = encoder(regions=(Region(left=0.5, bottom=0.1),))
    screen = masked.encode(
        observe(
            element("text", "3 users", 200, 0),
            element("text", "Title", 20, 0),
            element("text", "Body", 200, 200),
        )
    )
    assert screen.text_atoms == ("r0_c2|title", "r20_c20|body")
    assert len(screen.role_atoms) == 3
    assert masked.counts.masked == 1


def test_a_text_that_no_mask_touches_is_not_counted() -> None:
    masked = encoder(patterns=("clock",))
    masked.encode(observe(element("text", "Save", 5, 5), element("text", "", 50, 50)))
    assert masked.counts.masked == 0


def test_the_count_does_not_depend_on_what_was_seen_before() -> None:
    masked = encoder(patterns=("clock",))
    for _ in range(3):
        masked.encode(observe(element("text", "clock", 5, 5)))
    assert masked.counts.masked == 3


def test_what_has_no_place_is_in_no_region_but_patterns_hold() -> None:
    masks = Masks(MaskSettings(patterns=(r"\d+",), regions=(Region(),)))
    assert masks.apply("page 3", None) == "page"
    assert masks.apply("page 3", (0.5, 0.5)) == ""


def test_equal_settings_make_equal_masks() -> None:
    def masks(pattern: str) -> Masks:
        return Masks(MaskSettings(patterns=(pattern,), regions=(Region(left=0.5),)))

    assert len({masks("a"), masks("a"), masks("b")}) == 2


def test_a_bad_pattern_is_named_with_its_position() -> None:
    with pytest.raises(SettingsError, match=r"masks\.patterns\[1\] = 'a\(b'.*position 1"):
        MaskSettings(patterns=("fine", "a(b"))


@pytest.mark.parametrize("fractions", [{"left": 0.5, "right": 0.5}, {"top": -0.1}, {"bottom": 1.5}])
def test_a_region_outside_the_window_is_refused(fractions: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=r"masks\.regions\[1\] is .*inside the window"):
        MaskSettings(regions=(Region(), Region(**fractions)))
