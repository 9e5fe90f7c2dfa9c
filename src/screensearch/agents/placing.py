"""The answer to "where am I": a screen among the states of a run."""

from __future__ import annotations

from collections.abc import Collection

from screensearch.agents.answers import Near, Place
from screensearch.agents.quoting import LABEL, NOTE, TITLE, figure, quoted
from screensearch.agents.whereabouts import Whereabouts
from screensearch.config import Settings
from screensearch.domain.screen import Observation, Screen
from screensearch.encode.encoder import Encoder
from screensearch.encode.redact import Redactor
from screensearch.identify.ablations import merge_of
from screensearch.view.reading import Reading

MOST_ROLES = 20
"""How many unknown roles are named."""


def place_line(
    reading: Reading, whereabouts: Whereabouts, seen: Observation, unknown_roles: Collection[str]
) -> Place:
    """Which state of a run an observation is."""
    settings = reading.run.settings
    screen = encode_as_captured(seen, settings)
    found = whereabouts.identify(reading.run.log, screen)
    why = ""
    if not found.compared_with:
        why = _alone(screen, settings)
    elif found.state is None:
        why = "no state is alike enough: this screen is new to the map"
    return Place(
        run=reading.name,
        known=found.state is not None,
        state=found.state,
        title="" if found.state is None else quoted(reading.title(found.state), TITLE),
        score=None if found.score is None else figure(found.score),
        threshold=merge_of(settings.identify).threshold,
        why=quoted(why, NOTE),
        compared_with=found.compared_with,
        nearest=[
            Near(
                state=each.state,
                title=quoted(reading.title(each.state), TITLE),
                score=figure(each.score),
                role_jaccard=figure(each.role_jaccard),
                text_jaccard=figure(each.text_jaccard),
            )
            for each in found.nearest
        ],
        elements_counted=len(seen.elements),
        unknown_roles=sorted(quoted(role, LABEL) for role in unknown_roles)[:MOST_ROLES],
    )


def encode_as_captured(observation: Observation, settings: Settings) -> Screen:
    """The screen of an observation as the run would have stored it: without secrets, if it has none."""
    if settings.redact.at == "capture":
        observation = Redactor(settings.redact).apply(observation)
    return Encoder(settings.encode).encode(observation)


def _alone(screen: Screen, settings: Settings) -> str:
    """Why a screen was compared with nothing."""
    about = ", ".join(f"{name} {getattr(screen.metadata, name)!r}" for name in settings.identify.filters)
    return f"no state of the run has {about}: screens that differ in one of these are never compared"
