"""Screenshots: paints a scene's elements, so that viewers and OCR have something to see.

The picture is of the whole desktop; element boxes are pixels of it. A window that stands behind the
one with the input is painted first and dimmed.
"""

from __future__ import annotations

from PIL import Image as Pictures

from screensearch.domain.screen import Element, Image, Window
from screensearch.environments.synthetic.painters import DARK, LIGHT, Painter, Palette, corners
from screensearch.environments.synthetic.scene import DESKTOP_HEIGHT, DESKTOP_WIDTH, Scene


def render(scene: Scene, elements: tuple[Element, ...], behind: Scene | None, scale: float) -> Image:
    """The desktop with the window that has the input, and the one behind it, if any."""
    size = round(DESKTOP_WIDTH * scale), round(DESKTOP_HEIGHT * scale)
    palette = DARK if scene.display_mode == "dark" else LIGHT
    picture = Pictures.new("RGB", size, palette.desktop)
    if behind is not None:
        _paint(picture, behind.window, behind.elements, palette, behind.text_scale * scale)
        picture = Pictures.blend(picture, Pictures.new("RGB", size, "#10161d"), 0.35)
    _paint(picture, scene.window, elements, palette, scene.text_scale * scale)
    return Image(*size, picture.tobytes())


def _paint(
    picture: Pictures.Image, window: Window, elements: tuple[Element, ...], palette: Palette, scale: float
) -> None:
    painter = Painter(picture, palette, round(13 * scale))
    painter.window(window, corners(window.box))
    for element in elements:
        painter.element(element)
