"""What the checks of priors and guards are tried on: observations, and the real candidates on them."""

from __future__ import annotations

import random

from screensearch.act.candidates import CandidateSettings, candidates
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Box, Element, Observation, Window

APPLICATION = "notes"
LABELS = (
    "",
    "Save",
    "Save as…",
    "Delete all",
    "Password",
    "Open a menu, a dialog or the settings",
    "日本語 עברית",
    "a::b|c=d",
    "100% \\d+ [x]",
    "x" * 300,
)
_PROPOSED = CandidateSettings(
    keys=("Escape", "Delete"), double_click_roles=("button",), right_click_roles=("button", "edit")
)
_WIDTH = 600


def draw_observation(rng: random.Random) -> Observation:
    """A window of any kind with buttons and fields, some of them alike."""
    elements = tuple(
        Element(
            "edit" if editable else "button",
            rng.choice(LABELS),
            Box(rng.randrange(_WIDTH), rng.randrange(_WIDTH), 20, 10),
            APPLICATION,
            clickable=not editable,
            editable=editable,
        )
        for editable in (rng.random() < 0.3 for _ in range(rng.choice((0, 1, 3, 12))))
    )
    kind = rng.choice(("main", "dialog", "menu", "popup"))
    return Observation(elements, Window("Notes", kind, Box(0, 0, _WIDTH, _WIDTH), APPLICATION))


def draw_candidates(rng: random.Random, observation: Observation) -> list[Candidate]:
    """What can be done there, of every template, and at least one; some were removed, as by a guard."""
    everything = candidates(observation, APPLICATION, _PROPOSED)
    kept = rng.sample(everything, rng.randint(1, len(everything)))
    return sorted(kept, key=lambda candidate: candidate.id)
