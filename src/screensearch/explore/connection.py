"""One worker process as its owner sees it: what it says, what it was told, and how long it may be silent."""

from __future__ import annotations

import asyncio
from typing import Protocol

from screensearch.config import Settings, telling_seconds
from screensearch.errors import FormatError
from screensearch.explore.messages import Announce, Begin, BeginFailed, Message, Receipt, Report
from screensearch.explore.store import ShardStore
from screensearch.explore.wire import Failed, Frame, Frames, pack
from screensearch.explore.worker import LONGEST_BACK_OFF_SECONDS

STOP_SECONDS = 15.0
"""How long a worker may take to end once told to, and to finish its step once the run is to stop: longer
where a hang takes longer to be told."""


def patience_seconds(settings: Settings) -> float:
    """How long a step under way is waited for once the run is to stop: as long as a hang may take."""
    return max(STOP_SECONDS, telling_seconds(settings))


class Host(Protocol):
    """What a connection needs of the owner."""

    shard: ShardStore

    def take(self, connection: Connection, message: Message) -> None: ...

    def stopping_seconds(self) -> float: ...


class Connection(asyncio.Protocol):
    """One worker process, as the owner sees it."""

    def __init__(self, owner: Host, worker: int) -> None:
        self.worker = worker
        self.failure: str | None = None
        self.gave_up = False  # after too many starts without a step
        self.never_started = False  # and the last of them failed by the application's own doing
        self.hopeless = False  # another start would fail in the same way
        self.store_failed = False  # what it brought could not be kept
        self.told_to_end = False
        self.steps = 0  # that this life of the worker reported
        self._starts = 0  # since the last of them
        self._in_episode = False
        self._unanswered = 0  # messages that it waits for us to answer
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = owner
        settings = owner.shard.settings
        self._deadline_seconds = settings.explore.step_deadline_seconds
        self._patience_seconds = patience_seconds(settings)
        self._episode_steps = settings.explore.episode_steps
        self._since = asyncio.get_running_loop().time()  # when it was last told or told us something
        self._frames = Frames()
        self._transport: asyncio.WriteTransport | None = None

    @property
    def futile(self) -> int:
        """Starts since its last step, with the one that it was about to make if it is in no episode."""
        return self._starts + (not self._in_episode)

    @property
    def silent_seconds(self) -> float:
        """How long nothing has been heard of the worker, though it was its turn to speak."""
        if self._unanswered:
            return 0.0
        return asyncio.get_running_loop().time() - self._since

    def overdue(self) -> str | None:
        """Why it should be waited for no longer, if so."""
        silent, patience = self.silent_seconds, self._patience_seconds
        waiting = 0.0 if self._in_episode else LONGEST_BACK_OFF_SECONDS  # it may do so before a start
        if silent > self._deadline_seconds + waiting:
            return (
                f"nothing was heard of it for {silent:.0f} s (explore.step_deadline_seconds), so it was ended"
            )
        if self.told_to_end and silent > STOP_SECONDS:
            return f"it did not end within {STOP_SECONDS:.0f} s of being told to, so it was ended"
        if min(silent, self._owner.stopping_seconds()) > patience:
            return f"its step was not done {patience:.0f} s after the run was to stop, so it was ended"
        return None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._since = asyncio.get_running_loop().time()
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
        except FormatError as problem:
            self.failure = str(problem)
            self.close()

    def _take(self, frame: Frame) -> None:
        if isinstance(frame, Begin | BeginFailed | Report):
            if isinstance(frame, Report):
                self.steps += 1
                self._starts = 0
                self._in_episode = frame.step < self._episode_steps
            else:
                self._starts += 1
                self._in_episode = True  # until the receipt says that there is none
            self._unanswered += 1
            self._owner.take(self, frame)
        elif isinstance(frame, Announce):
            self._owner.shard.announce(frame)
        elif isinstance(frame, Failed):
            self.failure, self.hopeless = frame.message, frame.hopeless
            self.gave_up, self.never_started = frame.gave_up, frame.never_started
            self.store_failed = frame.store_failed
        else:
            raise FormatError(f"a worker sent {type(frame).__name__}, which only an owner sends")

    def connection_lost(self, problem: Exception | None) -> None:
        if not self.finished.done():
            self.finished.set_result(None)

    def send(self, frame: Frame) -> None:
        if isinstance(frame, Receipt | Failed):
            self._unanswered -= 1
        if isinstance(frame, Receipt):
            self.told_to_end = self.told_to_end or not frame.proceed
            self._in_episode = self._in_episode and frame.here is not None
        self._since = asyncio.get_running_loop().time()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(pack(frame))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
