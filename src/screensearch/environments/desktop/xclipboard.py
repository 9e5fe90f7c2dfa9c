"""The clipboard of an X display, held from outside: a selection owner that applications ask for its text."""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from typing import Any, Protocol

from screensearch.environments.protocol import Taken
from screensearch.errors import SettingsError

_CLIPBOARD = "CLIPBOARD"
_TARGETS = "TARGETS"
_TEXTS = ("UTF8_STRING", "text/plain;charset=utf-8")
ATOMS = (_CLIPBOARD, _TARGETS, *_TEXTS)

_ATOM_TYPE = 4  # ATOM, an atom that always is
_MOST_BYTES = 65_536  # one request of the core protocol carries four times that
_MOST_TAKEN = 1_000  # that are remembered: an application may ask without end


class ClipboardWire(Protocol):
    """What holding a selection needs of a connection."""

    atoms: Mapping[str, int]

    def own_selection(self, name: str) -> None:
        """Become the owner of a selection."""
        ...

    def answer_request(self, request: Any, kind: int, bits: int, data: bytes) -> None:
        """Give what was asked for."""
        ...

    def refuse_request(self, request: Any) -> None:
        """Say that it cannot be had so."""
        ...


class Clipboard:
    """The clipboard while it is ours. An application that copies takes it over, as from anyone."""

    def __init__(self, wire: ClipboardWire) -> None:
        self._wire = wire
        self._text: str | None = None
        self._coming: tuple[str, float] | None = None  # another text, and when it is due
        self._taken: list[Taken] = []

    def hold(self, text: str) -> None:
        """Take the clipboard over with this text; who held it before is told by the server."""
        if len(text.encode()) > _MOST_BYTES:
            raise SettingsError(
                f"a clipboard of {len(text.encode())} bytes is more than the {_MOST_BYTES} that are handed "
                "over in one piece: give a shorter text"
            )
        self._text, self._coming = text, None
        self._wire.own_selection(_CLIPBOARD)

    def expect(self, text: str, at: float) -> None:
        """Another text is due at a time of ``time.monotonic``. Who asks from then on gets that one.

        Call `catch_up` then, so that programs are told of the change also when nobody asks.
        """
        self._coming = text, at

    def catch_up(self) -> float:
        """Hold what is due by now; gives the time that was taken for now."""
        now = time.monotonic()
        if self._coming is not None and now >= self._coming[1]:
            self.hold(self._coming[0])
        return now

    def lost(self, event: Any) -> None:
        """Another program holds it now."""
        if event.selection == self._wire.atoms[_CLIPBOARD]:
            self._text = None

    def answer(self, request: Any) -> None:
        """An application asks for the text, or for the forms that it can be had in."""
        now = self.catch_up()  # the clock decides which text it is, not who gets his turn first
        atoms = self._wire.atoms
        if self._text is None or request.selection != atoms[_CLIPBOARD]:
            self._wire.refuse_request(request)
        elif request.target == atoms[_TARGETS]:
            offered = [atoms[name] for name in (_TARGETS, *_TEXTS)]
            data = struct.pack(f"={len(offered)}I", *offered)
            self._wire.answer_request(request, _ATOM_TYPE, 32, data)
        elif request.target in [atoms[name] for name in _TEXTS]:
            self._wire.answer_request(request, request.target, 8, self._text.encode())
            if len(self._taken) < _MOST_TAKEN:
                self._taken.append(Taken(self._text, now))
        else:
            self._wire.refuse_request(request)

    def take_taken(self) -> list[Taken]:
        """What applications took since the last call, oldest first."""
        taken, self._taken = self._taken, []
        return taken
