"""Secrets in a text: e-mail addresses, payment cards, tokens and keys, passwords that are written out.

What is found is replaced by ``[redacted:email]`` and so on. Finding is by form alone, so it errs in both
directions, and where it does is a decision: an ISBN, a UUID and a hash of hexadecimal digits (MD5, git,
SHA-256) are names of public things far more often than secrets, and stay, unless a word such as
``token=`` stands before them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

KINDS = ("password", "token", "email", "card")
PATTERN = "pattern"
"""The kind of what a pattern of the settings matched."""

_OPENING = "[redacted:"
_MARKER = re.compile(rf"\[redacted:(?:{'|'.join((*KINDS, PATTERN))})\]")
_PASSES = 8  # each removes something; the second finds something only where a replacement made an edge

Find = Callable[[str], Iterator[tuple[int, int]]]
"""Where the secrets of one kind are in a text: not empty, ascending, apart."""


def marker(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"{_OPENING}{kind}]"


def finders(kinds: Sequence[str], patterns: Sequence[re.Pattern[str]] = ()) -> tuple[tuple[str, Find], ...]:
    """How to find what is to be redacted: own patterns first, then the kinds that may hold others."""
    own = tuple((PATTERN, _matches(pattern)) for pattern in patterns)
    return own + tuple((kind, _FINDERS[kind]) for kind in _FINDERS if kind in kinds)


def redact_text(text: str, finding: Sequence[tuple[str, Find]]) -> tuple[str, tuple[str, ...]]:
    """The text without its secrets, and the kind of each. The same object if there are none. Idempotent.

    What a reader would take for the secret counts: letters of another width and characters that show
    nothing do not hide one. A text with such a secret comes back in plain form (NFKC).
    """
    clean, kinds = _redact(text, finding)
    if not text.isascii() or not text.isprintable():
        plain = unicodedata.normalize("NFKC", "".join(filter(_shows, clean)))
        if plain != clean:
            cleaner, more = _redact(plain, finding)
            if more:
                return cleaner, kinds + more
    return clean, kinds


def _redact(text: str, finding: Sequence[tuple[str, Find]]) -> tuple[str, tuple[str, ...]]:
    found: list[str] = []
    for _ in range(_PASSES):
        before = len(found)
        for kind, find in finding:
            spans = list(find(text))
            if spans and _OPENING in text:
                spans = _around_markers(text, spans)
            if spans:
                text = _replaced(text, spans, marker(kind))
                found += [kind] * len(spans)
        if len(found) == before:
            return text, tuple(found)
    return marker(found[-1]), tuple(
        found
    )  # a pattern that feeds on markers, such as "(?<=]).": it has it all


def _around_markers(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that lie in a marker are none; those that cut one take it in."""
    markers = [match.span() for match in _MARKER.finditer(text)]
    firsts, lasts = [first for first, _ in markers], [last for _, last in markers]
    taken: list[tuple[int, int]] = []
    for start, end in spans:
        touched = markers[bisect_right(lasts, start) : bisect_left(firsts, end)]
        if touched:
            if touched[0][0] <= start and end <= touched[0][1]:
                continue
            start, end = min(start, touched[0][0]), max(end, touched[-1][1])
        if taken and start < taken[-1][1]:  # both took in the same marker
            start = taken.pop()[0]
        taken.append((start, end))
    return taken


def _replaced(text: str, spans: list[tuple[int, int]], by: str) -> str:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return by.join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _shows(character: str) -> bool:
    """Whether a character is read at all; white space is."""
    return character.isspace() or unicodedata.category(character) not in ("Cc", "Cf")


def _matches(pattern: re.Pattern[str], group: int = 0) -> Find:
    def find(text: str) -> Iterator[tuple[int, int]]:
        for match in pattern.finditer(text):
            if match.end(group) > match.start(group):
                yield match.span(group)

    return find


# Every quantifier below is bounded or starts behind a fixed text: a megabyte of hostile text costs
# milliseconds, not minutes.

_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,63}", re.IGNORECASE)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    return _matches(_EMAIL)(text) if "@" in text else iter(())


_GAP = "[ \u00a0.\u2010-\u2015-]"
_CARD = re.compile(
    rf"(?<![\w+])(?:[0-9]{{13,19}}"
    rf"|[0-9]{{4}}({_GAP})[0-9]{{4}}\1[0-9]{{4}}\1[0-9]{{1,4}}(?:\1[0-9]{{1,3}})?"
    rf"|[0-9]{{4}}({_GAP})[0-9]{{6}}\2[0-9]{{4,5}})(?!\w)"
)


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        digits = [int(each) for each in match[0] if each.isdigit()]
        if _is_card(digits):
            yield match.span()


def _is_card(digits: list[int]) -> bool:
    """Luhn's sum, and how cards begin: 2 to 6, and those of 15 digits with 34 or 37 (others are IMEIs)."""
    if not 13 <= len(digits) <= 19 or not 2 <= digits[0] <= 6:
        return False
    if len(digits) == 15 and digits[:2] not in ([3, 4], [3, 7]):
        return False
    doubled = (2 * each - 9 * (each > 4) for each in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_TOKEN = re.compile(
    r"""
    -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY(?:\ BLOCK)?-----
        (?:(?!-----END)[\s\S]){0,20000}(?:-----END\ [A-Z ]{0,30}PRIVATE\ KEY(?:\ BLOCK)?-----)?
    | \b(?:gh[opsur]_[A-Za-z0-9]{20,255} | github_pat_\w{20,255} | glpat-[\w-]{20,255}
        | sk-[\w-]{16,255} | [spr]k_(?:live|test)_[A-Za-z0-9]{10,255} | whsec_[A-Za-z0-9+/=]{16,255}
        | xox[a-z]-[A-Za-z0-9-]{10,255} | xapp-[A-Za-z0-9-]{10,255}
        | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[\w-]{35} | ya29\.[\w-]{20,255}
        | npm_[A-Za-z0-9]{30,255} | pypi-[\w-]{16,255} | hf_[A-Za-z0-9]{30,255} | dop_v1_[a-f0-9]{40,255}
        | SG\.[\w-]{16,64}\.[\w-]{16,128} | AGE-SECRET-KEY-1[A-Z0-9]{50,64}
        | eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,2000})?)
    | \b(?i:bearer|basic)\ {1,4}(?=[^\s\d]{0,200}\d)[\w.~+/=-]{16,4000}
    | (?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)
    """,
    re.VERBOSE,
)
_NAMED_TOKEN = re.compile(
    r"""
    (?:\b(?:api|access|auth|secret|private|client|encryption)[\s_-]?key|token|secret)
    ["']?\s{0,4}[:=]\s{0,4}["']?
    (?=[^\s\d"']{0,200}\d)([\w.~+/=-]{12,4000})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RUN = re.compile(r"[A-Za-z0-9_+/=-]{32,}")
_WRITTEN = re.compile(r"[a-z]{3,}")


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    spans = [match.span() for match in _TOKEN.finditer(text)]
    if ":" in text or "=" in text:
        spans += [match.span(1) for match in _NAMED_TOKEN.finditer(text)]
    if len(text) >= 32:
        spans += [match.span() for match in _RUN.finditer(text) if _random(match[0])]
    end = 0
    for span in sorted(spans):
        if span[0] >= end:
            end = span[1]
            yield span


def _random(run: str) -> bool:
    """Whether a long run of letters and digits was drawn, not written.

    Drawn ones mix upper case, lower case and digits, and have few runs of small letters; words, paths
    and names in camel case consist of such runs. Hexadecimal ones have no two cases, and never count.
    """
    upper, lower, digits = (sum(map(of, run)) for of in (str.isupper, str.islower, str.isdigit))
    written = sum(map(len, _WRITTEN.findall(run)))
    return upper >= 4 and lower >= 4 and digits >= 1 and written <= 0.4 * len(run)


_PASSWORD = re.compile(
    r"""
    \b(?:password|passwd|pwd|passphrase|passcode|passwort|kennwort|mot\ de\ passe|contraseña)
    ["']?\s{0,4}[:=]\s{0,4}["']?([^\s"']{1,200})
    """,
    re.VERBOSE | re.IGNORECASE,
)

_FINDERS: dict[str, Find] = {
    "token": _tokens,
    "password": _matches(_PASSWORD, 1),
    "email": _emails,
    "card": _cards,
}
