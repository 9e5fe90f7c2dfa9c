"""What a worker thinks with: encoder, candidates, guard, prior and selector, built from settings."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import math
import zlib
from collections import Counter
from dataclasses import replace

import numpy as np

from screensearch.act.candidates import candidates
from screensearch.act.guard import Guarded, build_guards, guard, open_gates
from screensearch.config import Settings
from screensearch.domain.action import Candidate
from screensearch.domain.document import encode_observation
from screensearch.domain.screen import Observation
from screensearch.domain.transition import Choice, Evidence, Outcome
from screensearch.encode.encoder import Encoder
from screensearch.encode.masks import Masks
from screensearch.encode.redact import Redactor
from screensearch.encode.text import normalise
from screensearch.explore.asking import Asking
from screensearch.explore.messages import Here, Receipt, ScreenId, Sighting, screen_id
from screensearch.explore.spent import set_aside
from screensearch.record.artifacts import Artifacts
from screensearch.select.choose import Chooser
from screensearch.select.policy import Undecided

log = logging.getLogger(__name__)

MOST_VETOES = 10_000
"""How many different vetoes are told: after that, a rule is known to be at work."""

MOST_REASONS = 1_000
"""How many different reasons are counted one by one."""

OTHER_REASONS = "other reasons"

KNOWN_ROWS = 200_000
"""How many screens a worker remembers the row of: forgetting one only makes it travel again."""


class Mind:
    """One worker's mind. It holds no statistics of its own: those come with each receipt."""

    def __init__(
        self,
        settings: Settings,
        application: str,
        artifacts: Artifacts | None = None,
        chooser: Chooser | None = None,
    ) -> None:
        """`chooser` takes the place of the selector that the settings name."""
        self._settings = settings
        self._application = application
        self._artifacts = artifacts
        self._encoder = Encoder(settings.encode)
        self._masks = Masks(settings.encode.masks)
        harmless = settings.desktop.sandbox  # a synthetic world never leaves one
        self._guards = build_guards(settings.guard, harmless=harmless)
        for warning in open_gates(settings.guard, harmless=harmless):
            log.warning("%s", warning)
        self._redactor = Redactor(settings.redact) if settings.redact.at == "capture" else None
        self._seen: tuple[Observation, Observation] | None = None  # the latest as it was, and redacted
        self._chooser = chooser or Chooser(settings.select)
        policy = self._chooser.policy
        self._asking = (
            None if policy is None else Asking(policy, self._guards, steps=settings.explore.episode_steps)
        )
        self._rows: dict[ScreenId, int] = {}
        self._vetoed: set[str] = set()  # signatures whose veto was told
        self.vetoes: Counter[str] = Counter()  # candidates skipped at a choice so far, by reason
        self._met_application = False
        self._random = np.random.default_rng(0)
        self.announces = settings.select.count_in_flight
        self.deadline_seconds = settings.explore.step_deadline_seconds

    def start_episode(self, seed: np.random.SeedSequence) -> None:
        """Every episode draws from a generator of its own, so that it can be run again alone."""
        self._random = np.random.default_rng(seed)
        if self._asking is not None:
            self._asking.start_episode()

    async def see(self, observation: Observation) -> tuple[Sighting, str | None]:
        """Encode what is seen; make its screenshot durable meanwhile, since the log will name it.

        Secrets are taken out first: nothing after this line meets them.
        """
        observation = self._redacted(observation)
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

    async def keep_picture(self, observation: Observation) -> str | None:
        """Make a screenshot durable, and nothing else of what is seen; secrets are taken out as in `see`.

        Where nothing is known of what the picture shows, no secret in it can be found: it is not kept.
        """
        picture = self._redacted(observation).screenshot
        if self._artifacts is None or picture is None:
            return None
        if self._redactor is not None and self._redactor.settings.screenshots and not observation.elements:
            return None
        return await asyncio.to_thread(self._artifacts.put_image, picture)

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
        reported, observation = observation, self._redacted(observation)  # signatures are kept, so redacted
        allowed, vetoed = self._guarded(observation, receipt.here)
        if not allowed:
            return None
        candidate, choice = self._chooser.choose(
            allowed, receipt.here.tried, rng=self._random, snapshot=receipt.snapshot, vetoed=len(vetoed)
        )
        return as_reported(candidate, observation, reported), choice

    async def decide(
        self, observation: Observation, receipt: Receipt
    ) -> tuple[Candidate, Choice] | Undecided | None:
        """The same for any selector: a policy is asked, and may come to no decision."""
        if self._asking is None or receipt.here is None:
            return self.choose(observation, receipt)
        reported, observation = observation, self._redacted(observation)  # a policy may be far away
        guarded = self._guarded(observation, receipt.here)
        if not guarded.allowed:
            return None
        decided = await self._asking.ask(observation, receipt, guarded)
        if isinstance(decided, Undecided):
            return decided
        candidate, choice = decided
        return as_reported(candidate, observation, reported), choice

    def note_done(self, candidate: Candidate, outcome: Outcome) -> None:
        """What became of a decision: a policy may be told of it at the next one."""
        if self._asking is not None:
            self._asking.note(candidate, outcome)

    def _guarded(self, observation: Observation, here: Here) -> Guarded:
        """What may be done here, and what may not; every reason is counted, and told once."""
        proposed = candidates(observation, self._application, self._settings.candidates, self._masks)
        self._look_for_application(observation)
        guarded = set_aside(guard(proposed, observation, self._guards), here.spent)
        for candidate, reason in guarded.vetoed:
            known = reason in self.vetoes or len(self.vetoes) < MOST_REASONS
            self.vetoes[reason if known else OTHER_REASONS] += 1
            if candidate.signature not in self._vetoed and len(self._vetoed) < MOST_VETOES:
                self._vetoed.add(candidate.signature)
                log.info("vetoed %s: %s", candidate.signature, reason)
        return guarded

    def redact(self, text: str) -> str:
        """A text that is to be kept, such as a note on an outcome, without the secrets in it."""
        return text if self._redactor is None else self._redactor.text(text)

    def _redacted(self, observation: Observation) -> Observation:
        if self._redactor is None:
            return observation
        if self._seen is None or self._seen[0] is not observation:
            self._seen = observation, self._redactor.apply(observation)
        return self._seen[1]

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
        """Say what was left out: of the screens, for secrecy, and of the choices, by the guards."""
        counts = self._encoder.counts
        log.info(
            "encoded %d screens with %d elements: %d without a place, %d texts masked, unknown roles %s",
            counts.screens,
            counts.elements,
            counts.malformed,
            counts.masked,
            dict(counts.unknown_roles) or "none",
        )
        if self._redactor is not None and self._redactor.counts:
            log.info("redacted %s", _listed(self._redactor.counts))
        for reason, times in self.vetoes.most_common():
            log.info("skipped %d times, %s", times, reason)

    @staticmethod
    def evidence(
        screenshot: str | None,
        observation: Observation | None,
        *,
        act_seconds: float,
        decide_seconds: float = 0.0,
    ) -> Evidence:
        """What the log keeps beside an entry: its picture, where the window is in it, how long it took."""
        window = None if screenshot is None or observation is None else observation.window.box
        if window is not None and not all(map(math.isfinite, dataclasses.astuple(window))):
            window = None
        return Evidence(screenshot, act_seconds, decide_seconds, window)


def as_reported(candidate: Candidate, redacted: Observation, reported: Observation) -> Candidate:
    """The candidate aimed at the element as the environment knows it: nothing of this is kept."""
    element = candidate.action.element
    if redacted is reported or element is None:
        return candidate
    for ours, theirs in zip(redacted.elements, reported.elements, strict=True):
        if ours == element and ours.handle == element.handle:
            return replace(candidate, action=replace(candidate.action, element=theirs))
    return candidate


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} × {name}" for name, count in sorted(counts.items()))
