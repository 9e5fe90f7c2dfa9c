"""An environment by its name: ``plugin:argument``, as in ``synthetic:notepad``."""

from __future__ import annotations

from screensearch.environments.protocol import ENVIRONMENTS, Environment


def open_environment(specification: str, *, screenshots: bool) -> Environment:
    """Open what a specification names; the argument is the plugin's own business."""
    name, _, argument = specification.partition(":")
    return ENVIRONMENTS.get(name)(argument, screenshots=screenshots)
