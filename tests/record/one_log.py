"""A small log, and a writer that can be killed: what the tests of this room share."""

from __future__ import annotations

import sys
from pathlib import Path

from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import (
    Arrival,
    Decision,
    EpisodeId,
    Evidence,
    Outcome,
    Reward,
    Transition,
)
from screensearch.record.log import Log
from screensearch.record.sqlite_log import SqliteLog

SCREEN = Screen("key", ("r0_c0|button",), (), "", Metadata("notepad", "light", "medium", "main"))


def arrival(episode: int = 0) -> Arrival:
    return Arrival(EpisodeId(0, episode), Decision(0, "new" if episode == 0 else "memo"), 1, Evidence())


def step(number: int, signature: str | None = None) -> Transition:
    return Transition(
        episode=EpisodeId(0, 0),
        step=number,
        source=0,
        signature=signature or f"click::{number % 7}",
        outcome=Outcome.OK,
        decision=Decision(0, "memo"),
        screen=1,
        choice=None,
        reward=Reward(False, False, 0.0, 0.5),
        evidence=Evidence(),
        note="x" * (number % 400),
    )


def fill(log: Log, steps: int = 3) -> None:
    log.add_screen(SCREEN, b"[]")
    log.append(arrival())
    for number in range(1, steps + 1):
        log.append(step(number))
    log.commit()


def write_until_killed(path: Path) -> None:
    """Append batches for ever, and say after each commit how much is safe."""
    log = SqliteLog.open_to_write(path)
    number = log.last_sequence
    if number == 0:
        fill(log, steps=0)
        number = 1
    print(number, flush=True)
    while True:
        for _ in range(number % 50 + 1):
            log.append(step(number))
            number += 1
        log.commit()
        print(number, flush=True)


if __name__ == "__main__":
    write_until_killed(Path(sys.argv[1]))
