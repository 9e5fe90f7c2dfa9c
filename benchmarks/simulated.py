"""Screens and steps as workers of an application report them, drawn at random.

They are as large as those of thunar (`results/weight.json`), with about 135 atoms.
"""

from __future__ import annotations

import random

from screensearch.domain.screen import Box, Metadata, Screen
from screensearch.domain.transition import Choice, Evidence
from screensearch.encode.encoder import atoms_key

VIEWS = 1_200
SIGNATURES = 30

_CHROME = [f"r0_c{place}|menu {place}" for place in range(25)]
_CONTROLS = [f"r{place % 30}_c{place % 11}|button" for place in range(40)]


def draw_screen(rng: random.Random, metadata: Metadata, number: int) -> Screen:
    """A noisy sight of one of many views, some seen often, most rarely. No two numbers give the same."""
    view = min(int(rng.expovariate(1 / 600)), VIEWS - 1)
    roles = [*_CONTROLS, *(f"r{view * place % 30}_c{place}|edit" for place in range(15))]
    words = [f"r{place % 30}_c{place % 7}|item {view} {place}" for place in range(55)]
    texts = [text for text in (*_CHROME, *words) if rng.random() > 0.02] + [f"r29_c29|clock {number}"]
    atoms = tuple(sorted(set(roles))), tuple(sorted(set(texts)))
    return Screen(atoms_key(*atoms), *atoms, "", metadata)


def draw_choice(rng: random.Random, snapshot: int) -> Choice:
    """An action at random."""
    signature = f"focus_click@1::r1_c{rng.randrange(SIGNATURES)}|button|go|app::none"
    return Choice(signature, snapshot, candidates=90, prior=1 / 90, value=0.0, visits=0, score=0.0)


def draw_evidence(rng: random.Random) -> Evidence:
    """Times, and a window, but no picture: a log that names one that is nowhere does not verify."""
    return Evidence(None, rng.random() / 5, rng.random() / 50, Box(61.0, 60.0, 840.0, 600.0))


def draw_note(rng: random.Random) -> str:
    """As long as the name of a picture, in whose place the log has it."""
    return f"{rng.getrandbits(256):064x}"
