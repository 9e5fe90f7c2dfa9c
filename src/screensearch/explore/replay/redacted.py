"""A route on its way out of a run: without the secrets that the run's settings keep back.

A run that takes secrets out when it captures has none to lose. One that keeps them until something is
exported (``redact.at = "export"``) loses them here, and the route then takes them out of what it sees, so
that the screens it expects and those it meets are still made alike. Where an application is started with a
secret, in its configuration or its environment, that is gone, too: whoever runs the script has to give it.
"""

from __future__ import annotations

from dataclasses import replace

from screensearch.explore.redaction import Redaction
from screensearch.explore.replay.route import Route, RouteStep
from screensearch.explore.run import Run


def redacted_route(run: Run, route: Route) -> Route:
    """The route as it may leave the run."""
    redaction = Redaction(route.settings)
    if not redaction.active:
        return route
    redaction.learn(run.log, [decided.screen for decided in run.log.decided_screens()])
    clean = redaction.settings(route.settings)
    return replace(
        route,
        settings=replace(clean, redact=replace(clean.redact, at="capture")),
        configuration={name: redaction.text(value) for name, value in route.configuration.items()},
        screens={state: redaction.screen(run.log, run.founding_row(state)) for state in route.screens},
        steps=tuple(RouteStep(redaction.signature(step.signature), step.expected) for step in route.steps),
    )
