"""An environment by its name: ``plugin:argument``, as in ``synthetic:notepad``."""

from __future__ import annotations

from screensearch.environments.protocol import ENVIRONMENTS, Environment, Means
from screensearch.errors import EnvironmentFailed, ScreenSearchError


def open_environment(specification: str, means: Means) -> Environment:
    """Open what a specification names; the argument is the plugin's own business."""
    name, _, argument = specification.partition(":")
    open_world = ENVIRONMENTS.get(name)
    try:
        return open_world(argument, means)
    except ScreenSearchError:
        raise
    except Exception as problem:  # a plugin may raise anything
        raise EnvironmentFailed(
            f"environment {specification!r} could not be opened: {type(problem).__name__}: {problem}"
        ) from problem
