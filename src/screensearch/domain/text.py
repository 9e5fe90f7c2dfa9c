"""Text that can be kept: what UTF-8 and JSON cannot hold is replaced, in one way everywhere."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD, so that it is valid UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
