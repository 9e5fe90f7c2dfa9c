"""A synthetic world with declared truth: what an explorer finds can be checked against what is there.

Three hand-written applications (``notepad``, ``files``, ``settings``) and a generator of applications
with 10² to 10⁶ true states. `open_world` is the environment plugin, `declared` the size of the truth.
"""

from __future__ import annotations

from typing import Any

from screensearch.environments.protocol import Means
from screensearch.environments.synthetic.apps import DeclaredModel, survey
from screensearch.environments.synthetic.arguments import parse
from screensearch.environments.synthetic.generator import GeneratedModel, Structure
from screensearch.environments.synthetic.truth import TruthSummary
from screensearch.environments.synthetic.world import TEMPLATES, World

__all__ = ["TEMPLATES", "TruthSummary", "World", "declared", "open_world"]


def open_world(argument: str, means: Means) -> World[Any]:
    """Open ``synthetic:<argument>``: an application's name, with options as in a query string.

    All take ``noise`` (chance of each kind of cosmetic noise per observation, default 0.1) and
    ``scales`` (window sizes, multiples of 1200×840). Hand-written ones take ``modes``,
    ``text_scales`` and any variable with several initial values (``notepad?clipboard=alpha``): comma
    lists of what an episode may start with. ``generated`` takes ``states``, ``branching``,
    ``aliasing``, ``races``, ``hazards`` and ``seed``.
    """
    settings = parse(argument)
    model: DeclaredModel | GeneratedModel
    if settings.generator is not None:
        model = GeneratedModel(settings.generator)
    else:
        model = DeclaredModel(settings.name, settings.initial)
    return World[Any](model, screenshots=means.screenshots, noise=settings.noise, scales=settings.scales)


def declared(argument: str) -> TruthSummary:
    """How many true states, true screens and aliased screens there are to find.

    For the hand-written applications this enumerates (about a second the first time), counting one
    variant of the seeded content and two sample texts.
    """
    settings = parse(argument)
    if settings.generator is not None:
        return Structure(settings.generator).summary()
    return survey(settings.name, settings.initial).summary
