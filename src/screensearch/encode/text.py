"""What a label is, whatever its spelling: NFKC, lower case, white space collapsed, 120 characters.

Characters that show nothing are not content. Control characters and format characters (zero-width
joiners, bidirectional marks and isolates, soft hyphens, byte-order marks) are removed; a lone
surrogate, which UTF-8 cannot hold, becomes U+FFFD. Right-to-left letters keep their logical order.
"""

from __future__ import annotations

import re
import unicodedata

from screensearch.domain.text import storable

TEXT_LIMIT = 120  # characters (paper, "Text normalization")

_READ_AHEAD = 16
"""Raw characters looked at per character kept. NFKC sorts runs of combining marks in quadratic time,
so a hostile megabyte label must be cut before it is folded, not after."""

_PASSES = 8  # lower-casing can undo NFKC and the other way round; 3 passes are the most ever seen

_CONTROLS = dict.fromkeys((*range(0x20), 0x7F))
_INVISIBLE = frozenset({"Cc", "Cf"})  # Unicode categories: control, format

_WORD = re.compile(r"[^\W_]+")


def normalise(text: str) -> str:
    """Fold a text to the form that atoms, labels and signatures compare. Idempotent, valid UTF-8."""
    # No more than TEXT_LIMIT words can be kept; splitting also skips long runs of white space.
    text = " ".join(text.split(None, TEXT_LIMIT)[:TEXT_LIMIT])[: TEXT_LIMIT * _READ_AHEAD]
    if text.isascii():
        if not text.isprintable():
            text = " ".join(text.translate(_CONTROLS).split())
        return text.lower()[:TEXT_LIMIT].rstrip()
    text = storable(text)
    for _ in range(_PASSES):
        folded = _fold(text)
        if folded == text:
            break
        text = folded
    return text


def _fold(text: str) -> str:
    visible = "".join([each for each in text if unicodedata.category(each) not in _INVISIBLE])
    return " ".join(unicodedata.normalize("NFKC", visible).lower().split())[:TEXT_LIMIT].rstrip()


def words(text: str) -> list[str]:
    """The words of a text of any length, in order: runs of letters and digits, each normalised."""
    if text.isascii():
        return _WORD.findall(text.lower())
    # Piece by piece, so that `normalise` bounds the work that one piece can cause.
    return [word for piece in text.split() for word in _WORD.findall(normalise(piece))]


def tokens(text: str) -> frozenset[str]:
    """The distinct words of a text: tokens(·) of eq. 6."""
    return frozenset(words(text))
