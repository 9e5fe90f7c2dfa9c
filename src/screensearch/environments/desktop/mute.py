"""Windows that no tree will ever come to: told early, instead of waited for until the deadline."""

from __future__ import annotations

import asyncio

from screensearch.environments.desktop.display import Display
from screensearch.environments.desktop.remedies import Toolkit, toolkit_behind
from screensearch.environments.desktop.session import Session
from screensearch.environments.desktop.tree import Tree

MUTE_SECONDS = 3.0
"""How long a window of a mute toolkit may be all there is before that is taken for all there will be."""


class MuteWatch:
    """Watches a start for a window that belongs to a toolkit without any bridge, while nobody is on the bus.

    A program of any other toolkit is never judged, however slow: its tree may still come.
    """

    def __init__(self, session: Session, display: Display, tree: Tree) -> None:
        self._session = session
        self._display = display
        self._tree = tree
        self._since: float | None = None  # when there was first a window and nobody on the bus

    def verdict(self) -> Toolkit | None:
        """The toolkit that makes waiting vain, once that is certain. To be asked again and again."""
        windows, now = self._display.windows(), asyncio.get_running_loop().time()
        if not windows or self._tree.applications:
            self._since = None
            return None
        if self._since is None:
            self._since = now
        if now - self._since < MUTE_SECONDS:
            return None
        toolkit = toolkit_behind(windows, session=self._session.pid)
        return toolkit if toolkit is not None and toolkit.mute else None
