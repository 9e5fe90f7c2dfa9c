"""Live tests run real programs in real sandboxes; without the Debian packages they fail, and say which."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio

from live.display_desks import Desk, running_desk
from screensearch.environments.desktop.programs import missing_packages
from screensearch.environments.desktop.session import Dressing, Session
from screensearch.environments.desktop.settings import AppSettings, DesktopSettings


class Start(Protocol):
    def __call__(
        self, *command: str, app: dict[str, Any] = ..., desktop: dict[str, Any] = ..., **dressing: Any
    ) -> Awaitable[Session]: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives real programs."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session", autouse=True)
def desktop_packages() -> None:
    """The tools of a live desktop are installed."""
    if missing := missing_packages():
        pytest.fail(
            f"live tests need the Debian packages {', '.join(missing)}: run `scripts/setup tests`",
            pytrace=False,
        )


@pytest_asyncio.fixture
async def start() -> AsyncIterator[Start]:
    """Starts sessions, ``await start(*command, app={…}, desktop={…}, **dressing)``, and stops them all."""
    sessions: list[Session] = []

    async def begin(
        *command: str,
        app: dict[str, Any] | None = None,
        desktop: dict[str, Any] | None = None,
        **dressing: Any,
    ) -> Session:
        session = await Session.start(
            AppSettings(command=command, **(app or {})),
            DesktopSettings(**(desktop or {})),
            Dressing(**dressing),
        )
        sessions.append(session)
        return session

    yield begin
    for session in sessions:
        await session.stop()


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A display with a window on it that tells what reached it."""
    async with running_desk(tmp_path) as desk:
        yield desk
