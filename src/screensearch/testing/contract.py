"""What all checks share: the error they raise, and two ways to state a clause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from screensearch.errors import ScreenSearchError

MISHAPS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a plugin's own mistakes raise. Our errors are not among them: they say themselves what is wrong."""


class ContractBroken(ScreenSearchError):
    """A plugin does not keep the contract of its kind: which clause, and what was found."""


def require(holds: bool, clause: str, found: object) -> None:
    """Raise `ContractBroken` unless the clause holds."""
    if not holds:
        raise ContractBroken(f"{clause}; found {found!r:.300}")


@contextmanager
def unbroken(clause: str) -> Iterator[None]:
    """State a clause that a mishap inside the plugin breaks. Only the plugin's own call belongs inside."""
    try:
        yield
    except MISHAPS as problem:
        raise ContractBroken(f"{clause}; it raised {problem!r:.300}") from problem
