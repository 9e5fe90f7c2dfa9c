"""The description of the viewer's API (OpenAPI 3.1), made from the types of its answers.

The page's own types are made from it, so that what is sent and what is read cannot drift apart.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from screensearch.view import comparisons, messages
from screensearch.view.messages import Answer

VERSION = "1"
"""Raised when an answer changes so that a page of before would not understand it."""


class Query(NamedTuple):
    """A part of an address after the question mark; none is required."""

    name: str
    type: str
    meaning: str


class Address(NamedTuple):
    """Something that can be asked for. Parts in braces are filled in."""

    path: str
    answer: type[Answer]
    summary: str
    queries: tuple[Query, ...] = ()


_OFFSET = Query("offset", "integer", "how many are skipped; 0 if not given")
_LIMIT = Query("limit", "integer", "how many are answered at most; 50 if not given, 500 at most")
_HITS = Query("limit", "integer", "how many are answered at most; 20 if not given, 200 at most")

_RUN = "/api/runs/{run}"
_STATE = f"{_RUN}/states/{{state}}"

ADDRESSES = (
    Address("/api/runs", messages.Runs, "The runs that are shown."),
    Address(f"{_RUN}/map", messages.Map, "Every state with its place, and the arrows between them."),
    Address(_STATE, messages.StatePage, "All about a state."),
    Address(
        f"{_STATE}/observations", messages.Observations, "The times that it was seen.", (_OFFSET, _LIMIT)
    ),
    Address(f"{_STATE}/similar", messages.Hits, "States that look like it.", (_HITS,)),
    Address(f"{_STATE}/path", messages.Path, "The most reliable way there."),
    Address(
        f"{_RUN}/edges/{{source}}/{{target}}",
        messages.EdgePage,
        "Everything from one state to another.",
        (Query("signature", "string", "only what this action did"), _OFFSET, _LIMIT),
    ),
    Address(f"{_RUN}/figures", messages.Figures, "The course of the run."),
    Address(f"{_RUN}/findings", messages.Findings, "Crashes, hangs, exits and captures."),
    Address(f"{_RUN}/ambiguities", messages.Ambiguities, "The most ambiguous actions."),
    Address(
        f"{_RUN}/explain/{{first}}",
        comparisons.Explanation,
        "Why a screen was decided as it was: a state (12) or an entry (@345).",
    ),
    Address(
        f"{_RUN}/explain/{{first}}/{{second}}",
        comparisons.Explanation,
        "Why two screens are one state, or are not.",
    ),
    Address(
        "/api/search",
        messages.Hits,
        "States by their texts: by words and by meaning.",
        (Query("q", "string", "what is searched for"), Query("run", "string", "only in this run"), _HITS),
    ),
    Address(
        "/api/difference/{first_run}/{second_run}",
        comparisons.Difference,
        "What one run has and another has not.",
    ),
    Address("/api/live", messages.Live, "An event of each change of a run that goes on (text/event-stream)."),
)

_TEXTS = ("run", "first", "second", "first_run", "second_run")  # parts of an address that are no numbers


def describe_api() -> dict[str, Any]:
    """The whole description as JSON values."""
    types = list(dict.fromkeys([messages.Problem, *(each.answer for each in ADDRESSES)]))
    references, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(types, references, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ScreenSearch viewer",
            "version": VERSION,
            "description": "What `screensearch view` answers about runs. It only reads.",
        },
        "paths": {
            each.path: {"get": _operation(each, schemas[each.answer], schemas[messages.Problem])}
            for each in ADDRESSES
        },
        "components": {"schemas": components},
    }


def _operation(address: Address, schema: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    media = "text/event-stream" if address.answer is messages.Live else "application/json"
    parts = re.findall(r"\{(\w+)\}", address.path)
    return {
        "summary": address.summary,
        "parameters": [
            *(_parameter(part, "path", "string" if part in _TEXTS else "integer") for part in parts),
            *(
                _parameter(query.name, "query", query.type) | {"description": query.meaning}
                for query in address.queries
            ),
        ],
        "responses": {
            "200": {"description": "the answer", "content": {media: {"schema": schema}}},
            "default": {
                "description": "why there is none",
                "content": {"application/json": {"schema": problem}},
            },
        },
    }


def _parameter(name: str, place: str, type_: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": type_}}
