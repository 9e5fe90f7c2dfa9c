"""Pictures, and parts of them."""

from __future__ import annotations

from screensearch.domain.screen import Box, Image, crop, moved


def test_a_picture_is_cut_to_a_box_and_at_its_own_edges() -> None:
    pixels = bytes(range(4 * 3 * 3))
    picture = Image(4, 3, pixels)
    assert crop(picture, Box(1, 1, 2, 1)) == Image(2, 1, pixels[15:21])
    assert crop(picture, Box(-5, -5, 100, 100)) == picture
    assert crop(picture, Box(50, 50, 1, 1)) == Image(1, 1, pixels[-3:])


def test_a_box_goes_with_its_window_and_grows_with_it() -> None:
    window, box = Box(0, 0, 200, 200), Box(150, 150, 20, 20)
    assert moved(box, window, Box(10, 5, 200, 200)) == Box(160, 155, 20, 20)
    assert moved(box, window, Box(0, 0, 400, 400)) == Box(300, 300, 40, 40)
    assert moved(box, window, window) == box


def test_a_box_that_nobody_knows_stays_where_it_is() -> None:
    assert moved(Box(1, 2, -1, -1), Box(0, 0, 10, 10), Box(5, 5, 20, 20)) == Box(1, 2, -1, -1)
    assert moved(Box(1, 2, 3, 4), Box(0, 0, 0, 0), Box(5, 5, 20, 20)) == Box(1, 2, 3, 4)
