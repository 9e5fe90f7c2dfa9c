"""What was painted on a real X server, and pictures of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xcffib.xproto

from live.display_desks import Desk, other_client
from screensearch.domain.screen import Box, Image, crop
from screensearch.environments.desktop.framebuffer import Framebuffer, FramebufferFailed


async def test_what_is_painted_is_reported_and_nothing_else(desk: Desk) -> None:
    assert desk.display.take_damage() == []
    desk.display.press("F5")
    damage: list[Box] = []

    def painted() -> bool:
        damage.extend(desk.display.take_damage())
        return bool(damage)

    await desk.until(painted)
    await desk.rest()
    box = desk.window.box
    assert covers(damage, Box(box.x + 10, box.y + box.height - 150, 40, 30))
    assert desk.display.take_damage() == []
    image = desk_picture(desk)
    at = 3 * (int(box.y + box.height - 140) * image.width + int(box.x) + 20)
    assert image.pixels[at : at + 3] == bytes((255, 128, 0))


async def test_a_picture_is_what_the_server_has_and_without_the_pointer(desk: Desk) -> None:
    before = desk_picture(desk)
    desk.display.move_pointer(3, 3)  # on the bare root, whose pointer would show
    await desk.rest()
    picture = desk_picture(desk)
    assert picture == before
    async with other_client(desk.server) as client:
        root = client.get_setup().roots[0].root
        whole = (1 << 32) - 1
        reply = client.core.GetImage(xcffib.xproto.ImageFormat.ZPixmap, root, 0, 0, 800, 600, whole).reply()
    pixels = np.frombuffer(bytes(reply.data.buf()), np.uint8).reshape(600, 800, 4)
    assert picture == Image(800, 600, pixels[..., 2::-1].tobytes())
    framebuffer = Framebuffer(desk.server.framebuffer)
    part = crop(framebuffer.image(), Box(desk.window.box.x, desk.window.box.y, 30, 20))
    left, top = int(desk.window.box.x), int(desk.window.box.y)
    assert part == Image(30, 20, pixels[top : top + 20, left : left + 30, 2::-1].tobytes())
    framebuffer.close()


def test_a_file_that_is_no_framebuffer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "screen"
    with pytest.raises(FramebufferFailed, match="cannot open"):
        Framebuffer(path)
    for content in (b"", b"x" * 50, b"x" * 4096):
        path.write_bytes(content)
        with pytest.raises(FramebufferFailed):
            Framebuffer(path)


def desk_picture(desk: Desk) -> Image:
    framebuffer = Framebuffer(desk.server.framebuffer)
    try:
        return framebuffer.image()
    finally:
        framebuffer.close()


def covers(rectangles: list[Box], wanted: Box) -> bool:
    """Whether one of the rectangles holds the wanted one."""
    return any(
        each.x <= wanted.x
        and each.y <= wanted.y
        and each.x + each.width >= wanted.x + wanted.width
        and each.y + each.height >= wanted.y + wanted.height
        for each in rectangles
    )
