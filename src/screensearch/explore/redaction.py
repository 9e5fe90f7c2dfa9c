"""What may leave a run: with ``redact.at = "export"`` its log keeps secrets, and nothing shown may have them.

Normalised texts are lower case and cut, so that a token in them is not found by its form any more. Secrets
are therefore taken out of the observation that a screen was made from, and the screen is encoded again. A
signature carries the label of its element: labels that lost something are learned from the screens.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from screensearch.act.signature import ParsedSignature, Target, parse_signature, target_of
from screensearch.config import Settings, settings_document, settings_from_document
from screensearch.domain.document import decode_observation
from screensearch.domain.screen import Box, Element, Image, Observation, Screen, moved
from screensearch.encode.encoder import Encoder
from screensearch.encode.grid import GRID
from screensearch.encode.masks import Masks
from screensearch.encode.redact import Redactor
from screensearch.errors import FormatError
from screensearch.record.log import Log

EXPORT = "export"

_NAMED = re.compile(r"[A-Za-z_]\w*=")


class Sighting(NamedTuple):
    """A screen in a picture: its row, and where its window is there."""

    screen: int
    window: Box | None
    first: bool  # its elements were stored with this very picture


class Sightings(dict[tuple[int, Box | None], Sighting]):
    """The screens that were seen in one picture, each once for each place of its window."""

    def note(self, screen: int, window: Box | None, *, first: bool) -> None:
        """Take note of one more."""
        self.setdefault((screen, window), Sighting(screen, window, first))


class Redaction:
    """Takes secrets out of all that leaves one run. Used by one thread at a time, like the run's log.

    `active` tells whether there is anything to take out: if not, everything comes back as it was.
    """

    def __init__(self, settings: Settings) -> None:
        self.active = settings.redact.at == EXPORT
        self._redactor = Redactor(settings.redact)
        self._encoder = Encoder(settings.encode)
        self._masks = Masks(settings.encode.masks)
        self._labels: dict[str, str] = {}  # of elements that hold a secret, without it
        self._learned: set[int] = set()

    def text(self, text: str) -> str:
        """A text as it was captured: a title, a note, the name of a window."""
        if not self.active:
            return text
        return self._labels.get(text) or self._redactor.text(text)

    def signature(self, signature: str) -> str:
        """A signature whose label and arguments hold no secret; still one that can be parsed.

        `learn` comes first: only then are the labels of the run's elements known.
        """
        if not self.active:
            return signature
        try:
            parsed = parse_signature(signature)
        except FormatError:
            return self.text(signature)
        target = parsed.target
        clean = ParsedSignature(
            parsed.template,
            None if target is None else self._aim(target),
            tuple(
                (name, self.text(value) if isinstance(value, str) else value)
                for name, value in parsed.arguments
            ),
        )
        return signature if clean == parsed else str(clean.signature())

    def _aim(self, target: Target) -> Target:
        return replace(target, label=self.text(target.label), application=self.text(target.application))

    def settings(self, settings: Settings) -> Settings:
        """Settings whose texts hold no secret, such as an application's environment; rules stay."""
        if not self.active:
            return settings
        document = settings_document(settings)
        tables = document["settings"]
        clean = {name: each if name == "redact" else self._values(each) for name, each in tables.items()}
        return settings_from_document(document | {"settings": clean})

    def _values(self, value: Any) -> Any:
        if isinstance(value, str):
            clean, named = self.text(value), _NAMED.match(value)
            # A variable keeps its name, or it would be none.
            return clean if clean == value or not named else named[0] + clean.removeprefix(named[0])
        if isinstance(value, Mapping):
            return {name: self._values(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._values(each) for each in value]
        return value

    def learn(self, log: Log, screens: Iterable[int]) -> None:
        """Read the labels of these screens that hold secrets. Those that were read before cost nothing."""
        if self.active:
            for row in screens:
                if row not in self._learned:
                    self.observation(log, row)

    def observation(self, log: Log, screen: int) -> Observation:
        """The observation behind a screen of the log, without its secrets and without a screenshot."""
        raw = stored_observation(log, screen)
        if not self.active:
            return raw
        clean = self._redactor.apply(raw)
        self._learned.add(screen)
        for before, after in zip(raw.elements, clean.elements, strict=True):
            if before is not after:
                label = target_of(before, raw.window.box, self._masks).label
                if label:
                    self._labels[label] = target_of(after, raw.window.box, self._masks).label
        return clean

    def screen(self, log: Log, screen: int) -> Screen:
        """A screen of the log, encoded again if its observation lost something."""
        stored = log.screen(screen)
        if not self.active:
            return stored
        return self._encoder.encode(self.observation(log, screen))

    def picture(self, image: Image, log: Log, sightings: Iterable[Sighting]) -> Image | None:
        """A picture with the secrets of all screens that were seen in it covered.

        None if no screen is known to it: then nobody knows where a secret would be.
        """
        if not self.active:
            return image
        known = False
        for sighting in sightings:
            known = True
            raw = _as_seen(stored_observation(log, sighting.screen), sighting)
            image = self._redactor.apply(replace(raw, screenshot=image)).screenshot or image
        return image if known else None


def stored_observation(log: Log, screen: int) -> Observation:
    """The observation behind a screen as the log has it, without its screenshot; `FormatError` if damaged."""
    try:
        return decode_observation(zlib.decompress(log.elements(screen)))
    except zlib.error as problem:
        raise FormatError(f"the elements of screen {screen} are malformed: {problem}") from problem


def _as_seen(observation: Observation, sighting: Sighting) -> Observation:
    """The observation with its boxes where the window is in the picture.

    A screen keeps the elements of its first sighting: in another, each may be anywhere in its cell.
    """
    there, here = observation.window.box, sighting.window
    if here is None or not (there.width > 0 and there.height > 0):
        return observation
    slack_x, slack_y = (0.0, 0.0) if sighting.first else (here.width / GRID, here.height / GRID)

    def as_seen(element: Element) -> Element:
        box = element.box
        if box.width < 0 or box.height < 0:
            return element
        box = moved(box, there, here)
        return replace(
            element,
            box=Box(box.x - slack_x, box.y - slack_y, box.width + 2 * slack_x, box.height + 2 * slack_y),
        )

    return replace(
        observation,
        elements=tuple(map(as_seen, observation.elements)),
        window=replace(observation.window, box=here),
    )
