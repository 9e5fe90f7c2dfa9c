"""What is seen: elements, observations, and the screens they encode to."""

from __future__ import annotations

from dataclasses import dataclass, field

StateId = int
"""A state of the graph: dense, counted from 0 in order of discovery."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in screen pixels. Backends may report nonsense (NaN, negative): readers check."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Element:
    """One control as a backend saw it; `role` is already of our vocabulary (see ``domain.roles``)."""

    role: str
    text: str
    box: Box
    application: str
    clickable: bool = False
    editable: bool = False
    enabled: bool = True
    focused: bool = False
    checked: bool = False
    parent: int | None = None  # index in the observation; never followed by the encoder
    handle: str = field(default="", compare=False)  # the backend's own reference: unstable, no identity
    value: str = ""  # what it holds, where that is not what it is called: the content of a field, a number
    secret: bool = False  # shows or takes a password: it is not typed into, and what it says is not kept
    process: int | None = field(default=None, compare=False)  # as its machine or sandbox counts


@dataclass(frozen=True, slots=True)
class Window:
    """The window that takes input: its kind is ``main``, ``dialog``, ``menu`` or ``popup``."""

    title: str
    kind: str
    box: Box
    application: str


@dataclass(frozen=True, slots=True)
class Image:
    """A screenshot: rows of RGB bytes, top to bottom."""

    width: int
    height: int
    pixels: bytes


def moved(box: Box, window: Box, there: Box) -> Box:
    """Where a box is when its window is elsewhere, and perhaps of another size.

    A box or a window without a size, which says that nobody knows it, stays where it is.
    """
    if window == there or box.width < 0 or box.height < 0 or not (window.width > 0 and window.height > 0):
        return box
    across, down = there.width / window.width, there.height / window.height
    return Box(
        there.x + (box.x - window.x) * across,
        there.y + (box.y - window.y) * down,
        box.width * across,
        box.height * down,
    )


def crop(image: Image, box: Box) -> Image:
    """The part of a picture under a box, cut at its edges; at least one pixel."""
    left, top = (min(max(int(at), 0), size - 1) for at, size in ((box.x, image.width), (box.y, image.height)))
    right = min(max(int(box.x + box.width), left + 1), image.width)
    bottom = min(max(int(box.y + box.height), top + 1), image.height)
    rows = (
        image.pixels[3 * (y * image.width + left) : 3 * (y * image.width + right)] for y in range(top, bottom)
    )
    return Image(right - left, bottom - top, b"".join(rows))


@dataclass(frozen=True, slots=True)
class Observation:
    """A raw capture of one moment. `partial` marks a tree that a cap or a deadline cut short."""

    elements: tuple[Element, ...]
    window: Window
    display_mode: str = "light"
    text_scale: float = 1.0
    partial: bool = False
    screenshot: Image | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the exact filters compare. The settings say which of these fields form a pool."""

    application: str
    display_mode: str
    text_size: str
    window: str


@dataclass(frozen=True, slots=True)
class Screen:
    """An encoded observation: two sorted sets of atoms, the text for the embedder, metadata.

    `key` is a hash of the atoms alone: equal keys mean equal atom sets.
    """

    key: str
    role_atoms: tuple[str, ...]
    text_atoms: tuple[str, ...]
    text: str
    metadata: Metadata
