"""Screens and messages for tests of the store: a screen is named by its labels."""

from __future__ import annotations

from pathlib import Path

from screensearch.config import Settings
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.domain.transition import Choice, EpisodeId, Evidence, Outcome
from screensearch.encode.encoder import Encoder
from screensearch.explore.budget import Budget
from screensearch.explore.messages import Begin, BeginFailed, Land, Receipt, Report, Sighting
from screensearch.explore.store import ShardStore
from screensearch.record.sqlite_log import SqliteLog

WINDOW = Box(0, 0, 300, 300)
CLICK = "focus_click@1::r1_c1|button|go|toy::none"


def observation(*labels: str) -> Observation:
    elements = tuple(
        Element("button", label, Box(10, 10 + 40 * place, 80, 30), "toy", clickable=True)
        for place, label in enumerate(labels)
    )
    return Observation(elements, Window("Toy", "main", WINDOW, "toy"))


def sighting(*labels: str) -> Sighting:
    return Sighting(screen=Encoder(Settings().encode).encode(observation(*labels)), elements=b"{}")


def begin(worker: int, number: int, *labels: str) -> Begin:
    return Begin(EpisodeId(worker, number), sighting(*labels), Evidence())


def report(
    asked: Begin | Report,
    receipt: Receipt,
    *labels: str,
    signature: str = CLICK,
    outcome: Outcome = Outcome.OK,
) -> Report:
    """The next step after a receipt: it ends on the screen with these labels, or on none."""
    assert receipt.here is not None
    return Report(
        episode=asked.episode,
        step=(asked.step if isinstance(asked, Report) else 0) + 1,
        source=receipt.here.state,
        choice=Choice(signature, receipt.snapshot, candidates=1, prior=1.0, value=0.0, visits=0, score=0.0),
        outcome=outcome,
        sighting=sighting(*labels) if labels else None,
        evidence=Evidence(),
    )


def ask(store: ShardStore, *messages: Begin | BeginFailed | Land | Report) -> list[Receipt]:
    answers = store.handle(messages)
    for answer in answers:
        if not isinstance(answer, Receipt):
            raise answer
    return [answer for answer in answers if isinstance(answer, Receipt)]


def open_store(folder: Path, settings: Settings | None = None, budget: Budget | None = None) -> ShardStore:
    path = folder / "log.sqlite"
    log = SqliteLog.open_to_write(path) if path.exists() else SqliteLog.create(path)
    return ShardStore(log, settings or Settings(), budget)
