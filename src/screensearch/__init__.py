"""ScreenSearch maps applications: explore one, then read its states, edges, ambiguity and screenshots.

The names below are the public interface; everything else may move.

    import screensearch

    stop = screensearch.StopRule(steps=500)
    screensearch.start_exploration("synthetic:notepad", "runs/notepad", stop=stop)
    with screensearch.open_run("runs/notepad") as run:
        for state in run.states():
            print(state.id, state.visits, state.ambiguity)
"""

from __future__ import annotations

from screensearch import interrupts as interrupts  # first: from here on Ctrl-C ends the command quietly
from screensearch.act.guard import GUARDS, Guard
from screensearch.act.wording import describe_action
from screensearch.config import Settings, load_preset, resolve, settings_for
from screensearch.domain.action import Action, Candidate, Signature
from screensearch.domain.roles import ROLES
from screensearch.domain.screen import Box, Element, Image, Metadata, Observation, Screen, Window
from screensearch.domain.transition import Arrival, Decision, EpisodeId, FailedStart, Outcome, Transition
from screensearch.encode.embed import EMBEDDERS, Embedder, EmbedSettings
from screensearch.environments.protocol import (
    ENVIRONMENTS,
    Configurable,
    Environment,
    Means,
    Result,
    Start,
    StartFailed,
    TruthTeller,
)
from screensearch.errors import EnvironmentFailed, HopelessStart, ScreenSearchError
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import resume_exploration, start_exploration
from screensearch.explore.findings import Finding
from screensearch.explore.metrics_server import MetricsServer
from screensearch.explore.path import PathStart, PathStep, StatePath, Unreachable
from screensearch.explore.progress import NeverStarted, Progress, Summary
from screensearch.explore.regrouped import Regrouped
from screensearch.explore.remerge import remerge
from screensearch.explore.replay.conduct import replay_route
from screensearch.explore.replay.plan import route_as_found, route_to, route_to_finding
from screensearch.explore.replay.redacted import redacted_route
from screensearch.explore.replay.result import Replay, ReplayFailed, Seen, StepCount, Verdict, Walk
from screensearch.explore.replay.route import Route, RouteStep, load_route
from screensearch.explore.replay.script import write_script
from screensearch.explore.run import Run, State, open_run
from screensearch.explore.skipped import Skipped
from screensearch.explore.verify import Verification
from screensearch.identify.resolve import IDENTIFIERS, Identifier, IdentifySettings, Match, Query
from screensearch.identify.verify import Comparison, compare
from screensearch.record.graph import StateGraph, Tried
from screensearch.select.priors import PRIORS, Prior
from screensearch.select.selectors import SELECTORS, Selection, Selector, Situation

__all__ = [
    "EMBEDDERS",
    "ENVIRONMENTS",
    "GUARDS",
    "IDENTIFIERS",
    "PRIORS",
    "ROLES",
    "SELECTORS",
    "Action",
    "Arrival",
    "Box",
    "Candidate",
    "Comparison",
    "Configurable",
    "Decision",
    "Element",
    "EmbedSettings",
    "Embedder",
    "Environment",
    "EnvironmentFailed",
    "EpisodeId",
    "FailedStart",
    "Finding",
    "Guard",
    "HopelessStart",
    "Identifier",
    "IdentifySettings",
    "Image",
    "Match",
    "Means",
    "Metadata",
    "MetricsServer",
    "NeverStarted",
    "Observation",
    "Outcome",
    "PathStart",
    "PathStep",
    "Prior",
    "Progress",
    "Query",
    "Regrouped",
    "Replay",
    "ReplayFailed",
    "Result",
    "Route",
    "RouteStep",
    "Run",
    "Screen",
    "ScreenSearchError",
    "Seen",
    "Selection",
    "Selector",
    "Settings",
    "Signature",
    "Situation",
    "Skipped",
    "Start",
    "StartFailed",
    "State",
    "StateGraph",
    "StatePath",
    "StepCount",
    "StopRule",
    "Summary",
    "Transition",
    "Tried",
    "TruthTeller",
    "Unreachable",
    "Verdict",
    "Verification",
    "Walk",
    "Window",
    "compare",
    "describe_action",
    "load_preset",
    "load_route",
    "open_run",
    "redacted_route",
    "remerge",
    "replay_route",
    "resolve",
    "resume_exploration",
    "route_as_found",
    "route_to",
    "route_to_finding",
    "settings_for",
    "start_exploration",
    "write_script",
]
