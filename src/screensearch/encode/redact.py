"""Secrets leave an observation before it is encoded, stored or drawn: in texts, and in the picture.

Masks blank what changes by itself; this takes out what nobody should read. Handles stay, so that an
action chosen on the redacted observation still reaches its element.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from screensearch.domain.screen import Box, Element, Image, Observation
from screensearch.encode.masks import compile_pattern
from screensearch.encode.secrets import KINDS, finders, marker, redact_text
from screensearch.errors import SettingsError

_MOMENTS = ("capture", "export", "never")

_CHARACTERS_REMEMBERED = 1_000_000  # of known texts, all together
_COST_OF_AN_ENTRY = 200  # characters that an entry is counted as, besides its text
_SHORTEST_REPEATED = 4  # characters: what is shorter is in other texts by chance
_DEEPEST = 100  # parents that are followed: a malformed tree may go in circles
_TITLE_ABOVE, _TITLE_BELOW = 40, 48  # pixels around a window's upper edge that may show its title

_FLAT = bytes((64, 64, 64))  # the colour of what is covered


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactSettings:
    """What must not be kept, and from when on."""

    at: str = "capture"  # capture, export, never
    kinds: tuple[str, ...] = KINDS  # password, token, email, card
    patterns: tuple[str, ...] = ()  # own regular expressions, searched in texts, case ignored
    screenshots: bool = True  # also cover the elements in the picture

    def __post_init__(self) -> None:
        if self.at not in _MOMENTS:
            raise SettingsError(f"redact.at is {self.at!r}, but must be one of {', '.join(_MOMENTS)}")
        for kind in self.kinds:
            if kind not in KINDS:
                near = difflib.get_close_matches(kind, KINDS, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f" (known: {', '.join(KINDS)})"
                raise SettingsError(f"redact.kinds holds {kind!r}, which is no kind of secret{hint}")
        for place, pattern in enumerate(self.patterns):
            what = f"redact.patterns[{place}]"
            if compile_pattern(pattern, what=what).search(""):
                raise SettingsError(f"{what} = {pattern!r} matches the empty text: it would match everywhere")


class Redactor:
    """Takes secrets out of observations, and counts them. Most texts repeat: what is known is remembered."""

    def __init__(self, settings: RedactSettings) -> None:
        self.settings = settings
        patterns = [compile_pattern(each, what="redact.patterns") for each in settings.patterns]
        self._finding = finders(settings.kinds, patterns)
        self._passwords = "password" in settings.kinds
        self._known: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._remembered = 0
        self.counts: Counter[str] = Counter()  # secrets taken out so far, by kind

    def text(self, text: str) -> str:
        """A text without its secrets."""
        clean, kinds = self._look_up(text)
        if kinds:
            self.counts.update(kinds)
        return clean

    def apply(self, observation: Observation) -> Observation:
        """The observation without its secrets; the same object if it has none.

        A secret element loses all of its text, and its ancestors where they repeat it. In the picture,
        every element that lost something is covered, and every secret one: its dots tell how long it is.
        """
        changed = self._changed(observation.elements)
        window = observation.window
        title = self.text(window.title)
        secrets = [each for each in observation.elements if each.secret] if self._passwords else []
        picture = observation.screenshot
        if not changed and title == window.title and not (secrets and picture is not None):
            return observation
        if picture is not None and self.settings.screenshots:
            covered = [_shown(element) for element in (*changed.values(), *secrets)]
            if title != window.title:
                covered.append(_title_bar(window.box))
            picture = cover(picture, covered)
        elements = tuple(changed.get(place, each) for place, each in enumerate(observation.elements))
        return replace(
            observation, elements=elements, window=replace(window, title=title), screenshot=picture
        )

    def _changed(self, elements: tuple[Element, ...]) -> dict[int, Element]:
        """The elements that hold a secret, without it, by their place."""
        changed: dict[int, Element] = {}
        secret: list[int] = []
        known = self._known
        for place, element in enumerate(elements):
            if element.secret and self._passwords:
                secret.append(place)
                continue
            text, value = element.text, element.value
            if (known.get(text) or self._look_up(text))[1] or (
                value and (known.get(value) or self._look_up(value))[1]
            ):
                changed[place] = replace(element, text=self.text(text), value=self.text(value))
        for place in secret:
            self._hide(place, elements, changed)
        return changed

    def _hide(self, place: int, elements: tuple[Element, ...], changed: dict[int, Element]) -> None:
        """Take all text from a secret element, and from its ancestors what they repeat of it."""
        element = elements[place]
        hidden = marker("password")
        text, value = (hidden if each.strip() else each for each in (element.text, element.value))
        if (text, value) == (element.text, element.value):
            return
        changed[place] = replace(element, text=text, value=value)
        self.counts["password"] += 1
        secret = (element.value or element.text).strip()
        if len(secret) < _SHORTEST_REPEATED or not any(map(str.isalnum, secret)):
            return
        above = element.parent
        for _ in range(_DEEPEST):
            if above is None or not 0 <= above < len(elements):
                return
            ancestor = changed.get(above, elements[above])
            if secret in ancestor.text or secret in ancestor.value:
                changed[above] = replace(
                    ancestor,
                    text=ancestor.text.replace(secret, hidden),
                    value=ancestor.value.replace(secret, hidden),
                )
            above = ancestor.parent

    def _look_up(self, text: str) -> tuple[str, tuple[str, ...]]:
        found = self._known.get(text)
        if found is None:
            found = redact_text(text, self._finding)
            size = len(text) + _COST_OF_AN_ENTRY
            if size <= _CHARACTERS_REMEMBERED // 8:
                if self._remembered + size > _CHARACTERS_REMEMBERED:
                    self._known.clear()
                    self._remembered = 0
                self._known[text] = found
                self._remembered += size
        return found


def redacting_text(settings: RedactSettings) -> Callable[[str], str]:
    """Takes the secrets out of a text that is to be kept, if these settings want that when it is captured."""
    return Redactor(settings).text if settings.at == "capture" else str


def redact_observation(observation: Observation, settings: RedactSettings) -> Observation:
    """One observation without its secrets, whenever that is asked for: what an export calls."""
    return Redactor(settings).apply(observation)


def cover(picture: Image, boxes: Iterable[Box]) -> Image:
    """The picture with some rectangles filled with one flat colour; what lies outside of it is cut off."""
    pixels: bytearray | None = None
    for box in boxes:
        if not all(map(math.isfinite, (box.x, box.y, box.width, box.height))):
            continue  # no place, nothing drawn
        left, right = _cut(box.x, box.x + box.width, picture.width)
        top, bottom = _cut(box.y, box.y + box.height, picture.height)
        if left >= right or top >= bottom:
            continue
        if pixels is None:
            pixels = bytearray(picture.pixels)
        flat = _FLAT * (right - left)
        for row in range(top, bottom):
            start = 3 * (row * picture.width + left)
            pixels[start : start + len(flat)] = flat
    return picture if pixels is None else Image(picture.width, picture.height, bytes(pixels))


def _cut(first: float, last: float, length: int) -> tuple[int, int]:
    return max(0, math.floor(first)), min(length, math.ceil(last))


def _shown(element: Element) -> Box:
    """Where an element's text can be seen: a window shows its own in the title bar."""
    return _title_bar(element.box) if element.role == "window" else element.box


def _title_bar(window: Box) -> Box:
    """Around the upper edge: a window manager draws the title above it, some toolkits below it."""
    return Box(window.x, window.y - _TITLE_ABOVE, window.width, _TITLE_ABOVE + _TITLE_BELOW)
