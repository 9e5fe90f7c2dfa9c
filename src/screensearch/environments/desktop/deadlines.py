"""Waiting for something, but no longer than so many seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


async def in_time(awaited: Awaitable[object], seconds: float) -> bool:
    """Wait for it; False when it did not come within so many seconds, and then it is cancelled."""
    try:
        async with asyncio.timeout(seconds):
            await awaited
    except TimeoutError:
        return False
    return True
