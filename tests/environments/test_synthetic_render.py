from __future__ import annotations

import pytest
from PIL import Image as Pictures
from synthetic_walks import ALL, find, follow, walk

from screensearch.domain.screen import Image, Observation
from screensearch.environments.protocol import Means
from screensearch.environments.synthetic import open_world
from screensearch.environments.synthetic.painters import DARK, LIGHT, PAINTERS


def _picture(observation: Observation | None) -> Pictures.Image:
    assert observation is not None
    image = observation.screenshot
    assert isinstance(image, Image)
    return Pictures.frombytes("RGB", (image.width, image.height), image.pixels)


@pytest.mark.parametrize("argument", ALL)
async def test_every_observation_has_a_screenshot_that_holds_its_window(argument: str) -> None:
    async for _, result in walk(argument, 12, screenshots=True):
        if result.observation is not None:
            picture = _picture(result.observation)
            box = result.observation.window.box
            assert box.x + box.width <= picture.width
            assert box.y + box.height <= picture.height


async def test_the_picture_changes_where_the_screen_does() -> None:
    world = open_world("notepad?noise=0", Means(screenshots=True))
    before = _picture((await world.reset(1)).observation)
    (result,) = await follow(world, 1, ("page", "hello"))
    after = _picture(result.observation)
    assert result.observation is not None
    box = find(result.observation, "own.typed").box
    area = (int(box.x), int(box.y), int(box.x + box.width), int(box.y + box.height))
    assert before.crop(area).getcolors() is not None
    assert len(before.crop(area).getcolors() or ()) == 1  # blank paper
    assert len(after.crop(area).getcolors() or ()) > 1  # now with text


async def test_the_same_seed_paints_the_same_pixels() -> None:
    world = open_world("files", Means(screenshots=True))
    one = (await world.reset(5)).observation.screenshot
    two = (await world.reset(5)).observation.screenshot
    assert one == two


async def test_dark_mode_is_dark() -> None:
    for mode, palette in (("light", LIGHT), ("dark", DARK)):
        world = open_world(f"notepad?modes={mode}", Means(screenshots=True))
        picture = _picture((await world.reset(1)).observation)
        assert picture.getpixel((picture.width - 1, picture.height - 1)) == tuple(
            bytes.fromhex(palette.desktop[1:])
        )


async def test_text_that_no_font_has_is_painted_all_the_same() -> None:
    world = open_world("notepad", Means(screenshots=True))
    for text in ("\ud800 lone", "\u202eright to left", "数え切れない", "x" * 5_000, "\x00\x1b[31m"):
        (result,) = await follow(world, 1, ("page", text))
        assert _picture(result.observation).width > 0


async def test_every_role_on_a_screen_has_a_look() -> None:
    plain = {"text", "dataitem", "window", "tooltip", "custom"}
    for argument in ALL:
        async for _, result in walk(argument, 150):
            if result.observation is not None:
                assert {e.role for e in result.observation.elements} <= PAINTERS.keys() | plain
