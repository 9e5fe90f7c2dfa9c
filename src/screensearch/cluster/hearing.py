"""What is heard of an owner, and for how long it is waited for."""

from __future__ import annotations

import asyncio
from typing import Any

from screensearch.cluster.engine import Gone, ask, cause_of
from screensearch.cluster.names import OwnerReport


class NotOpened(TimeoutError):
    """An owner says how it is, and is not done with its log."""


def silence(seconds: float) -> str:
    """Why an owner is replaced that did not say how it is for so long."""
    return f"it did not answer for {seconds:.0f} s"


async def opened(
    actor: Any, opening: Any, *, look_seconds: float, silent_seconds: float, seconds: float
) -> None:
    """Wait until an owner has opened its log, for as long as it says how it is: it may have much to fold."""
    waiting = asyncio.ensure_future(ask(opening, seconds=seconds))
    try:
        while not (await asyncio.wait([waiting], timeout=look_seconds))[0]:
            await told(actor, silent_seconds)
        try:
            await waiting
        except TimeoutError:
            raise NotOpened(f"not within {seconds:.0f} s") from None
    finally:
        waiting.cancel()


async def told(actor: Any, seconds: float) -> OwnerReport:
    """How an owner is; raises when it does not say."""
    try:
        report: OwnerReport = await ask(actor.report.remote(), seconds=seconds)
    except TimeoutError:
        raise TimeoutError(silence(seconds)) from None
    return report


async def heard(actor: Any, seconds: float) -> OwnerReport | None:
    """How an owner is; None when it does not say."""
    try:
        return await told(actor, seconds)
    except (TimeoutError, Gone):
        return None


def words(problem: BaseException) -> str:
    """The first line of what was raised, or what it is when it says nothing."""
    cause = cause_of(problem)
    return next((line for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
