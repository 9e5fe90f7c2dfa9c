"""What a worker thinks with: encoder, candidates, guard, prior and selector, built from settings."""

from __future__ import annotations

import asyncio
import logging
import zlib

import numpy as np

from screensearch.act.candidates import candidates
from screensearch.act.guard import build_guards, guard
from screensearch.config import Settings
from screensearch.domain.action import Candidate
from screensearch.domain.document import encode_observation
from screensearch.domain.screen import Observation
from screensearch.domain.transition import Choice, Evidence
from screensearch.encode.encoder import Encoder
from screensearch.encode.masks import Masks
from screensearch.encode.text import normalise
from screensearch.explore.messages import Receipt, ScreenId, Sighting, screen_id
from screensearch.record.artifacts import Artifacts
from screensearch.select.choose import Chooser

log = logging.getLogger(__name__)

MOST_VETOES = 10_000
"""How many different vetoes are told: after that, a rule is known to be at work."""

KNOWN_ROWS = 200_000
"""How many screens a worker remembers the row of: forgetting one only makes it travel again."""


class Mind:
    """One worker's mind. It holds no statistics of its own: those come with each receipt."""

    def __init__(self, settings: Settings, application: str, artifacts: Artifacts | None = None) -> None:
        self._settings = settings
        self._application = application
        self._artifacts = artifacts
        self._encoder = Encoder(settings.encode)
        self._masks = Masks(settings.encode.masks)
        self._guards = build_guards(settings.guard)
        self._chooser = Chooser(settings.select)
        self._rows: dict[ScreenId, int] = {}
        self._vetoed: set[str] = set()  # signatures whose veto was told
        self._met_application = False
        self._random = np.random.default_rng(0)
        self.announces = settings.select.count_in_flight
        self.deadline_seconds = settings.explore.step_deadline_seconds

    def start_episode(self, seed: np.random.SeedSequence) -> None:
        """Every episode draws from a generator of its own, so that it can be run again alone."""
        self._random = np.random.default_rng(seed)

    async def see(self, observation: Observation) -> tuple[Sighting, str | None]:
        """Encode what is seen; make its screenshot durable meanwhile, since the log will name it."""
        writing: asyncio.Future[str] | None = None
        if self._artifacts is not None and observation.screenshot is not None:
            writing = asyncio.ensure_future(
                asyncio.to_thread(self._artifacts.put_image, observation.screenshot)
            )
        screen = self._encoder.encode(observation)
        row = self._rows.get(screen_id(screen))
        if row is not None:
            sighting = Sighting(row=row)
        else:
            sighting = Sighting(screen=screen, elements=zlib.compress(encode_observation(observation), 1))
        return sighting, None if writing is None else await writing

    def learn_row(self, sighting: Sighting | None, receipt: Receipt) -> None:
        """Remember where the store keeps a screen, so that it need not travel again."""
        if sighting is None or sighting.screen is None or receipt.here is None:
            return
        if len(self._rows) >= KNOWN_ROWS:
            self._rows.pop(next(iter(self._rows)))
        self._rows[screen_id(sighting.screen)] = receipt.here.row

    def choose(self, observation: Observation, receipt: Receipt) -> tuple[Candidate, Choice] | None:
        """Candidates, guard, prior, selector: one action, or None when nothing may be done."""
        if receipt.here is None:
            return None
        proposed = candidates(observation, self._application, self._settings.candidates, self._masks)
        self._look_for_application(observation)
        allowed, vetoed = guard(proposed, observation, self._guards)
        for candidate, reason in vetoed:
            if candidate.signature not in self._vetoed and len(self._vetoed) < MOST_VETOES:
                self._vetoed.add(candidate.signature)
                log.info("vetoed %s: %s", candidate.signature, reason)
        if not allowed:
            return None
        return self._chooser.choose(
            allowed, receipt.here.tried, rng=self._random, snapshot=receipt.snapshot, vetoed=len(vetoed)
        )

    def _look_for_application(self, observation: Observation) -> None:
        """Warn once if nothing on the screen is the application's own: then its name is wrong somewhere."""
        if self._met_application or not observation.elements:
            return
        names = {element.application for element in observation.elements}
        self._met_application = True
        if normalise(self._application) not in map(normalise, names):
            log.warning(
                "no element belongs to the application %r, so none can be acted on; they belong to %s",
                self._application,
                ", ".join(sorted(map(repr, names))),
            )

    def tell_counts(self) -> None:
        """Say what was left out of the screens: elements without a place, masked texts, unknown roles."""
        counts = self._encoder.counts
        log.info(
            "encoded %d screens with %d elements: %d without a place, %d texts masked, unknown roles %s",
            counts.screens,
            counts.elements,
            counts.malformed,
            counts.masked,
            dict(counts.unknown_roles) or "none",
        )

    @staticmethod
    def evidence(screenshot: str | None, *, act_seconds: float, decide_seconds: float = 0.0) -> Evidence:
        return Evidence(screenshot=screenshot, act_seconds=act_seconds, decide_seconds=decide_seconds)
