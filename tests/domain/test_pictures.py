"""Pictures, and parts of them."""

from __future__ import annotations

from screensearch.domain.screen import Box, Image, crop


def test_a_picture_is_cut_to_a_box_and_at_its_own_edges() -> None:
    pixels = bytes(range(4 * 3 * 3))
    picture = Image(4, 3, pixels)
    assert crop(picture, Box(1, 1, 2, 1)) == Image(2, 1, pixels[15:21])
    assert crop(picture, Box(-5, -5, 100, 100)) == picture
    assert crop(picture, Box(50, 50, 1, 1)) == Image(1, 1, pixels[-3:])
