"""A small suite of a synthetic world, as the tests of studies build it."""

from __future__ import annotations

from pathlib import Path

import screensearch as ss
from screensearch.study.build import CorpusPlan, build_suite

WORLD = "synthetic:generated?states=120&noise=0&races=0&hazards=0.05"
SETTINGS = ss.resolve()
STEPS = 600


def build(folder: Path, starts: int = 6) -> Path:
    corpus = CorpusPlan(stop=ss.StopRule(steps=STEPS))
    build_suite("small", WORLD, SETTINGS, folder, corpus, starts=starts, seed=5)
    return folder
