"""The viewer over HTTP. The only module that knows `starlette`: import it late.

Blocking work runs in threads, so that one long answer does not keep the others waiting.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from screensearch.errors import RunNotFound, ScreenSearchError
from screensearch.view.access import HEADERS, Access
from screensearch.view.edge_page import make_edge_page
from screensearch.view.figures import make_figures
from screensearch.view.found import make_ambiguities, make_findings
from screensearch.view.messages import Answer, Live, Problem
from screensearch.view.openapi import describe_api
from screensearch.view.reading import Reading, UnknownState
from screensearch.view.shown import Body, Shown, encode
from screensearch.view.state_page import make_observations

STATIC = Path(__file__).parent / "static"
"""The page, as it was built."""

LIVE_SECONDS = 0.5
"""How often a run is looked at while somebody listens."""

QUIET_LOOKS = 30
"""After so many looks without news a listener gets a sign of life."""

MOST_ROWS = 500
"""Of a table, in one answer."""


MOST_HITS = 200
"""Of a search."""

LONGEST_QUERY = 1_000
"""Characters that are searched for."""


class BadQuestion(ScreenSearchError):
    """The address asks for something that cannot be meant."""


def make_application(shown: Shown, access: Access, *, static: Path = STATIC) -> ASGIApp:
    """All that is served, behind the check of who asks."""
    api = _Api(shown)
    run = "/runs/{run}"
    states = f"/api{run}/states/{{state:int}}"
    routes: list[Route | Mount] = [
        Route("/api/runs", api.runs),
        Route(f"/api{run}/map", api.map),
        Route(states, api.state),
        Route(f"{states}/observations", api.observations),
        Route(f"{states}/path", api.path),
        Route(f"{states}/similar", api.similar),
        Route(f"/api{run}/explain/{{first}}", api.explain),
        Route(f"/api{run}/explain/{{first}}/{{second}}", api.explain),
        Route("/api/search", api.search),
        Route("/api/difference/{first}/{second}", api.difference),
        Route(f"/api{run}/edges/{{source:int}}/{{target:int}}", api.edge),
        Route(f"/api{run}/figures", api.figures),
        Route(f"/api{run}/findings", api.findings),
        Route(f"/api{run}/ambiguities", api.ambiguities),
        Route("/api/live", api.live),
        Route("/api/openapi.json", api.openapi),
        Route(ENTER, _enter),
        Route(f"{run}/pictures/{{name}}.png", api.picture),
        Route(f"{run}/thumbnails/{{state:int}}", api.thumbnail),
    ]
    if (static / "index.html").exists():
        routes.append(Mount("/", StaticFiles(directory=static, html=True)))
    else:
        routes.append(Route("/", _unbuilt))
    application = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _refused, ScreenSearchError: _failed, Exception: _broken},
    )
    return _Guarded(application, access)


ENTER = "/enter.js"

_ENTRY = f'<!doctype html><title>ScreenSearch</title><script src="{ENTER}"></script>'
_ENTER = 'location.replace("/" + location.hash);'


class _Guarded:
    """Lets through who may ask, and puts the headers on every answer."""

    def __init__(self, application: ASGIApp, access: Access) -> None:
        self._application = application
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                message["headers"] += [
                    (name.lower().encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.lower().encode() not in present
                ]
                if b"cache-control" not in present:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        request = Request(scope)
        answer = self._enter(request)
        if answer is None:
            why = self._access.refuses(request.method, request.headers, request.cookies)
            answer = None if why is None else _refusal(request, why)
        await (self._application if answer is None else answer)(scope, receive, send_guarded)

    def _enter(self, request: Request) -> Response | None:
        """Put the token of the printed address into a cookie. Redirected, a browser keeps the fragment.

        A link on a page of another site is followed too, as from a chat: but then the browser would not send
        the cookie along with the redirected request. So a page of ours asks again.
        """
        token = request.query_params.get("token")
        if token is None or request.url.path != "/" or request.method != "GET":
            return None
        followed = request.headers.get("sec-fetch-mode") == "navigate"
        if self._access.is_foreign(request.headers, followed=followed):
            return None
        if not self._access.knows(token):
            why = "this token is not of this server: open the address that it printed last"
            return _refusal(request, why)
        answer: Response = RedirectResponse("/", status_code=303)
        if self._access.is_foreign(request.headers):
            answer = Response(_ENTRY, media_type="text/html")
        answer.set_cookie(self._access.cookie, token, httponly=True, samesite="strict", path="/")
        return answer


class _Api:
    """One function for each address."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    async def runs(self, request: Request) -> Response:
        return await _answered(request, self._shown.runs)

    async def map(self, request: Request) -> Response:
        return await _answered(request, lambda: self._shown.map(request.path_params["run"]))

    async def figures(self, request: Request) -> Response:
        return await self._whole(request, "figures", make_figures)

    async def findings(self, request: Request) -> Response:
        return await self._whole(request, "findings", make_findings)

    async def ambiguities(self, request: Request) -> Response:
        return await self._whole(request, "ambiguities", make_ambiguities)

    async def _whole(self, request: Request, what: str, make: Callable[[Reading], Answer]) -> Response:
        """An answer about a whole run."""
        return await _answered(request, lambda: self._shown.kept(request.path_params["run"], what, make))

    async def state(self, request: Request) -> Response:
        run, state = request.path_params["run"], request.path_params["state"]
        return await _answered(request, lambda: self._shown.state_page(run, state))

    async def path(self, request: Request) -> Response:
        run, state = request.path_params["run"], request.path_params["state"]
        return await _answered(request, lambda: self._shown.path(run, state))

    async def similar(self, request: Request) -> Response:
        run, state = request.path_params["run"], request.path_params["state"]
        limit = _number(request, "limit", 20, MOST_HITS)
        return await _answered(request, lambda: self._shown.similar(run, state, limit))

    async def search(self, request: Request) -> Response:
        text = request.query_params.get("q", "")[:LONGEST_QUERY]
        run = request.query_params.get("run") or None
        if run is not None:
            self._shown.reading(run)
        limit = _number(request, "limit", 20, MOST_HITS)
        return await _answered(request, lambda: self._shown.searching.search(text, run, limit))

    async def difference(self, request: Request) -> Response:
        first, second = request.path_params["first"], request.path_params["second"]
        return await _answered(request, lambda: self._shown.difference(first, second))

    async def explain(self, request: Request) -> Response:
        run, first = request.path_params["run"], request.path_params["first"]
        second = request.path_params.get("second")
        for each in (first, second or first):
            if not re.fullmatch("@?[0-9]{1,18}", each):
                raise BadQuestion(f"{each[:40]!r} is neither a state, such as 12, nor an entry, such as @345")
        return await _answered(request, lambda: self._shown.explain(run, first, second))

    async def observations(self, request: Request) -> Response:
        run, state = request.path_params["run"], request.path_params["state"]
        offset, limit = _part(request)
        return await _answered(
            request,
            lambda: self._shown.ask(run, lambda reading: make_observations(reading, state, offset, limit)),
        )

    async def edge(self, request: Request) -> Response:
        run, source, target = (request.path_params[name] for name in ("run", "source", "target"))
        signature = request.query_params.get("signature") or None
        offset, limit = _part(request)
        return await _answered(
            request,
            lambda: self._shown.ask(
                run, lambda reading: make_edge_page(reading, source, target, signature, offset, limit)
            ),
        )

    async def picture(self, request: Request) -> Response:
        run, name = request.path_params["run"], request.path_params["name"]
        if not re.fullmatch(r"[0-9a-f]{64}", name):
            raise UnknownState(f"{name[:100]!r} is not the name of a picture")
        content = await run_in_threadpool(self._shown.screenshot, run, name)
        headers = {"cache-control": "private, max-age=31536000, immutable"}
        return Response(content, media_type="image/png", headers=headers)

    async def thumbnail(self, request: Request) -> Response:
        run, state = request.path_params["run"], request.path_params["state"]
        tag = f'"{await run_in_threadpool(self._shown.thumbnail_tag, run, state)}"'
        headers = {"cache-control": "private, no-cache", "etag": tag}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        content = await run_in_threadpool(self._shown.thumbnail, run, state)
        return Response(content, media_type="image/webp", headers=headers)

    async def openapi(self, request: Request) -> Response:
        return Response(msgspec.json.encode(describe_api()), media_type="application/json")

    async def live(self, request: Request) -> Response:
        return StreamingResponse(self._events(), media_type="text/event-stream")

    async def _events(self) -> AsyncIterator[bytes]:
        """An event for each change of a run, for as long as somebody listens."""
        told: dict[str, Live] = {}
        quiet = 0
        while not self._shown.closed:
            quiet += 1
            for name in self._shown.names:
                try:
                    now = await run_in_threadpool(self._shown.live, name)
                except ScreenSearchError:
                    continue  # its pages say why
                if told.get(name) != now:
                    told[name] = now
                    quiet = 0
                    yield b"data: " + msgspec.json.encode(now) + b"\n\n"
            if quiet >= QUIET_LOOKS:
                quiet = 0
                yield b": still here\n\n"
            await asyncio.sleep(LIVE_SECONDS)


async def _answered(request: Request, work: Callable[[], Answer | Body]) -> Response:
    def made() -> Body:
        answer = work()
        return answer if isinstance(answer, Body) else encode(answer)

    body = await run_in_threadpool(made)
    headers = {"vary": "accept-encoding"}
    if body.tag is not None:
        headers |= {"etag": f'"{body.tag}"', "cache-control": "private, no-cache"}
        if f'"{body.tag}"' in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
    if body.zipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            body.zipped, media_type="application/json", headers=headers | {"content-encoding": "gzip"}
        )
    return Response(body.content, media_type="application/json", headers=headers)


def _part(request: Request) -> tuple[int, int]:
    """Which rows of a table are asked for."""
    return _number(request, "offset", 0, 2**31), _number(request, "limit", 50, MOST_ROWS)


def _number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not re.fullmatch("[0-9]{1,10}", text):
        raise BadQuestion(f"{name} is {text[:40]!r}, but must be a number from 0 to {most}")
    return min(int(text), most)


# -- what could not be answered -----------------------------------------------------------------------


def _problem(status: int, why: str) -> Response:
    return Response(msgspec.json.encode(Problem(problem=why)), status, media_type="application/json")


def _refusal(request: Request, why: str) -> Response:
    """A 403: in plain words for a person who opened an address, else a `Problem`."""
    if "text/html" in request.headers.get("accept", ""):
        return Response(f"{why}\n", 403, media_type="text/plain")
    return _problem(403, why)


async def _enter(request: Request) -> Response:
    return Response(_ENTER, media_type="text/javascript")


async def _failed(request: Request, problem: Exception) -> Response:
    """One of our errors: its words say what to do."""
    if isinstance(problem, BadQuestion):
        return _problem(400, str(problem))
    return _problem(404 if isinstance(problem, RunNotFound | UnknownState) else 409, str(problem))


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    if problem.status_code == 404:
        return _problem(404, f"there is nothing at {request.url.path[:200]}")
    return _problem(problem.status_code, problem.detail)


async def _broken(request: Request, problem: Exception) -> Response:
    return _problem(500, f"this could not be answered, for no fault of yours: {type(problem).__name__}")


async def _unbuilt(request: Request) -> Response:
    words = (
        "The page of the viewer has not been built: run scripts/setup, or npm ci && npm run build in web/.\n"
    )
    return Response(words, 503, media_type="text/plain")
