"""Memory that goes back to the system when it is freed."""

from __future__ import annotations

import contextlib
import ctypes

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of mallopt(3)
_LARGE_BYTES = 1 << 20


def give_large_blocks_back() -> None:
    """Have this process return pictures and dumps of the graph to the system when they are freed.

    Once a large block was freed, the C library takes the next ones from its heap, where they leave holes.
    """
    with contextlib.suppress(AttributeError):  # not every C library has this
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
