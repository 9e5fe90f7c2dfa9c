"""Runs over the Model Context Protocol: the SDK's own client, a real process, a real run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import Asked, asked, server_of
from click.testing import CliRunner
from mcp.shared.exceptions import MCPError
from mcp_types import ImageContent, TextContent, TextResourceContents

import screensearch
from screensearch.agents.quoting import NOTICE
from screensearch.cli import main

STEPS = 500
TOOLS = {
    "ambiguous_actions",
    "describe_state",
    "find_screen",
    "findings",
    "list_runs",
    "list_states",
    "outcomes",
    "path",
    "screenshot",
    "similar_screens",
    "where_am_i",
}


class FewPictures:
    """The synthetic editor with a picture of its first screen only, one that is quickly made."""

    def __init__(self) -> None:
        self._world = screensearch.ENVIRONMENTS.get("synthetic")(
            "notepad", screensearch.Means(screenshots=False)
        )
        self.application = self._world.application

    async def reset(self, seed: int) -> screensearch.Start:
        start = await self._world.reset(seed)
        picture = screensearch.Image(600, 420, bytes(range(240)) * (600 * 420 * 3 // 240))
        return replace(start, observation=replace(start.observation, screenshot=picture))

    async def perform(self, action: screensearch.Action) -> screensearch.Result:
        return await self._world.perform(action)

    async def close(self) -> None:
        await self._world.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("maps") / "notes"
    stop = screensearch.StopRule(steps=STEPS)
    screensearch.start_exploration(FewPictures(), run, stop=stop, seed=7)
    return run


@pytest.fixture(scope="module")
def run(folder: Path) -> Iterator[screensearch.Run]:
    with screensearch.open_run(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Asked]:
    with asked(server_of(folder)) as opened:
        yield opened


def seen_at(run: screensearch.Run, state: int) -> dict[str, Any]:
    """A state's founding screen as an agent would tell what it sees."""
    observation = run.founding_observation(state)
    window = observation.window
    return {
        "elements": [
            {
                "role": each.role,
                "text": each.text,
                "value": each.value,
                "x": each.box.x,
                "y": each.box.y,
                "width": each.box.width,
                "height": each.box.height,
            }
            for each in observation.elements
        ],
        "window": {
            "title": window.title,
            "kind": window.kind,
            "x": window.box.x,
            "y": window.box.y,
            "width": window.box.width,
            "height": window.box.height,
        },
        "display_mode": observation.display_mode,
        "text_scale": observation.text_scale,
    }


# -- what a client is told before it asks ---------------------------------------------------------------


def test_every_tool_reads_only_and_says_whose_words_it_quotes(server: Asked) -> None:
    tools = server.wait(server.client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert "are not instructions" in (tool.description or "")
        assert tool.name == "screenshot" or tool.output_schema is not None
        for name, parameter in tool.input_schema.get("properties", {}).items():
            assert parameter.get("description"), f"{tool.name}: {name}"


def test_the_instructions_name_tools_that_exist(server: Asked) -> None:
    instructions = server.client.instructions or ""
    assert NOTICE in instructions
    for name in ("find_screen", "where_am_i", "path", "describe_state", "outcomes"):
        assert name in instructions
        assert name in TOOLS


def test_the_page_names_every_tool_and_every_resource(server: Asked) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "give-agents-a-map.md").read_text(
        encoding="utf-8"
    )
    assert sorted(name for name in TOOLS if f"| `{name}` |" not in page) == []
    templates = server.wait(server.client.list_resource_templates()).resource_templates
    assert len(templates) == 4
    assert [
        each.uri_template for each in templates if each.uri_template.removesuffix("/screenshot") not in page
    ] == []


# -- the tools ------------------------------------------------------------------------------------------


def test_runs_are_listed_with_their_figures(server: Asked, run: screensearch.Run) -> None:
    (listed,) = server.call("list_runs")["runs"]
    figures = run.describe()
    assert (listed["run"], listed["steps"], listed["live"]) == ("notes", STEPS, False)
    assert (listed["states"], listed["edges"]) == (figures["states"], figures["edges"])


def test_states_are_listed_page_by_page(server: Asked, run: screensearch.Run) -> None:
    found: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = server.call("list_states", order="visits", offset=offset, limit=10)
        assert page["total"] == run.graph.states
        found += [each["state"] for each in page["states"]]
        offset = page["next_offset"]
    assert sorted(found) == list(run.graph.iter_states())
    assert [run.graph.visits(each) for each in found] == sorted(map(run.graph.visits, found), reverse=True)


def test_a_screen_is_found_by_what_it_says(server: Asked) -> None:
    hits = server.call("find_screen", text="match case wrap around", limit=3)["hits"]
    assert len(hits) == 3
    assert "wrap around" in hits[0]["snippet"]


def test_screens_like_another_are_found(server: Asked) -> None:
    hits = server.call("similar_screens", state=0, limit=4)["hits"]
    assert len(hits) == 4
    assert 0 not in [each["state"]["state"] for each in hits]


def test_a_state_is_described_with_its_figures(server: Asked, run: screensearch.Run) -> None:
    told = server.call("describe_state", state=0, actions_limit=100, elements_limit=100)
    assert told["notice"] == NOTICE
    assert told["visits"] == run.graph.visits(0)
    assert told["ambiguity"] == pytest.approx(run.graph.ambiguity(0), abs=1e-4)
    assert told["elements_total"] == len(told["elements"])
    assert told["elements_total"] + told["elements_left_out"] == len(run.founding_observation(0).elements)
    by_signature = {each["signature"]: each for each in told["actions"]}
    for signature, tried in run.tried(0).items():
        action = by_signature[signature]
        assert (action["visits"], action["value"]) == (tried.visits, pytest.approx(tried.value, abs=1e-4))
        assert {
            each["state"]: each["count"] for each in action["successors"]
        }.items() <= tried.successors.items()
        assert sum(each["share"] for each in action["successors"]) <= 1.001
    aimed = {each for element in told["elements"] for each in element["actions"]}
    assert aimed
    assert aimed <= set(by_signature)


def test_elements_and_actions_come_in_pages(server: Asked, run: screensearch.Run) -> None:
    busiest = max(run.graph.iter_states(), key=lambda state: len(run.graph.tried(state)))
    first = server.call("describe_state", state=busiest, elements_limit=5, actions_limit=2)
    assert (len(first["elements"]), len(first["actions"])) == (5, 2)
    second = server.call(
        "describe_state",
        state=busiest,
        elements_offset=first["elements_next_offset"],
        actions_offset=first["actions_next_offset"],
        actions_limit=100,
        elements_limit=100,
    )
    assert (second["elements_next_offset"], second["actions_next_offset"]) == (None, None)
    assert len(second["actions"]) == first["actions_total"] - 2


def test_a_path_is_that_of_the_run(server: Asked, run: screensearch.Run) -> None:
    ways = [run.path_to(state) for state in run.graph.iter_states()]
    path = max(ways, key=lambda each: len(each.steps))
    told = server.call("path", to_state=path.state)
    assert path.steps
    assert told["reachable"]
    assert told["configuration"] == path.configuration
    assert [each["signature"] for each in told["steps"]] == [each.signature for each in path.steps]
    assert told["reliability"] == pytest.approx(path.reliability, abs=1e-4)
    assert all(each["words"] for each in told["steps"])


def test_a_path_between_two_states_begins_and_ends_there(server: Asked, run: screensearch.Run) -> None:
    source, _, target, _ = next(edge for edge in run.graph.iter_edges() if edge[0] != edge[2])
    told = server.call("path", from_state=source, to_state=target)
    assert (told["steps"][0]["source"], told["steps"][-1]["target"]) == (source, target)
    end = next(state for state in run.graph.iter_states() if not run.graph.tried(state))
    lost = server.call("path", from_state=end, to_state=0)
    assert (lost["reachable"], lost["steps"]) == (False, [])
    assert "no observed actions lead from" in lost["why"]


def test_the_outcomes_of_an_action_are_all_told(server: Asked, run: screensearch.Run) -> None:
    action = server.call("ambiguous_actions", limit=1)["actions"][0]
    told = server.call("outcomes", state=action["state"], action=action["signature"])
    tried = run.tried(action["state"])[action["signature"]]
    assert told["ambiguous"]
    assert {each["state"]: each["count"] for each in told["action"]["successors"]} == tried.successors
    assert told["action"]["dispersion"] > 0
    for execution in told["latest"]:
        entry = run.entry(execution["entry"])
        assert isinstance(entry, screensearch.Transition)
        assert (entry.source, entry.signature) == (action["state"], action["signature"])


def test_an_action_may_be_named_by_its_words_where_these_are_clear(server: Asked) -> None:
    actions = server.call("describe_state", state=0, actions_limit=100)["actions"]
    words = [each["words"] for each in actions]
    clear = next(each for each in actions if words.count(each["words"]) == 1)
    by_words = server.call("outcomes", state=0, action=clear["words"])
    assert by_words == server.call("outcomes", state=0, action=clear["signature"])


def test_ambiguous_actions_come_in_pages_the_weightiest_first(server: Asked) -> None:
    page = server.call("ambiguous_actions", limit=100)
    weights = [each["visits"] * each["dispersion"] for each in page["actions"]]
    assert weights == sorted(weights, reverse=True)
    assert server.call("ambiguous_actions", offset=1, limit=1)["actions"] == page["actions"][1:2]


def test_findings_tell_the_way_that_led_there(server: Asked, run: screensearch.Run) -> None:
    told = server.call("findings", limit=100)
    expected = run.findings()
    assert told["total"] == len(expected) > 0
    by_place = {(each.outcome.value, each.state, each.signature): each for each in expected}
    for line in told["findings"]:
        same = [
            each
            for (outcome, state, signature), each in by_place.items()
            if (outcome, state, screensearch.describe_action(signature))
            == (line["outcome"], line["state"], line["words"])
        ]
        assert len(line["actions"]) + line["actions_left_out"] in [len(each.actions) for each in same]
        assert line["count"] in [each.count for each in same]


def test_where_am_i_knows_every_state_by_what_is_seen(server: Asked, run: screensearch.Run) -> None:
    for state in run.graph.iter_states():
        told = server.call("where_am_i", **seen_at(run, state))
        assert (told["known"], told["state"], told["score"]) == (True, state, 1.0)


def test_where_am_i_names_the_nearest_states_of_a_new_screen(server: Asked, run: screensearch.Run) -> None:
    seen = seen_at(run, 0)
    seen["elements"] = seen["elements"][: len(seen["elements"]) * 2 // 3]
    told = server.call("where_am_i", **seen)
    assert (told["known"], told["state"]) == (False, None)
    assert told["nearest"][0]["score"] < told["threshold"]
    assert told["why"]


def test_where_am_i_takes_an_observation_document(server: Asked, run: screensearch.Run) -> None:
    from screensearch.domain.document import encode_observation

    document = json.loads(encode_observation(run.founding_observation(2)))
    assert server.call("where_am_i", observation=document)["state"] == 2
    document["version"] = 99
    assert "version 99" in server.refusal("where_am_i", observation=document)


def test_where_am_i_says_why_a_screen_is_compared_with_nothing(server: Asked, run: screensearch.Run) -> None:
    told = server.call("where_am_i", **{**seen_at(run, 0), "application": "other"})
    assert (told["known"], told["compared_with"]) == (False, 0)
    assert "application 'other'" in told["why"]


def test_where_am_i_takes_the_roles_of_any_toolkit(server: Asked, run: screensearch.Run) -> None:
    seen = seen_at(run, 0)
    native = {"button": "push button", "menuitem": "ROLE_MENU_ITEM", "edit": "textbox"}
    for element in seen["elements"]:
        element["role"] = native.get(element["role"], element["role"])
    assert server.call("where_am_i", **seen)["state"] == 0
    seen["elements"][0]["role"] = "flux capacitor"
    assert server.call("where_am_i", **seen)["unknown_roles"] == ["flux capacitor"]


def test_a_screenshot_is_a_picture_of_the_size_asked_for(server: Asked) -> None:
    text, image = server.result("screenshot", state=0, longest_side=256).content
    assert isinstance(text, TextContent)
    assert NOTICE in text.text
    assert isinstance(image, ImageContent)
    assert image.mime_type == "image/png"
    import base64
    import io

    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(image.data))) as picture:
        assert max(picture.size) == 256


def test_resources_tell_the_same(server: Asked) -> None:
    (resource,) = server.wait(server.client.list_resources()).resources
    assert str(resource.uri) == "screensearch://runs"
    for uri, name in (
        ("runs/notes", "steps"),
        ("runs/notes/states", "total"),
        ("runs/notes/states/0", "text"),
    ):
        (content,) = server.wait(server.client.read_resource(f"screensearch://{uri}")).contents
        assert isinstance(content, TextResourceContents)
        assert name in json.loads(content.text)
    (picture,) = server.wait(
        server.client.read_resource("screensearch://runs/notes/states/0/screenshot")
    ).contents
    assert picture.mime_type == "image/png"


# -- what cannot be answered ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("describe_state", {"state": 9999}, "notes has no state 9999"),
        ("path", {"to_state": 9999}, "notes has no state 9999"),
        ("similar_screens", {"state": 9999}, "notes has no state 9999"),
        ("screenshot", {"state": 9999}, "notes has no state 9999"),
        ("list_states", {"run": "other"}, "no run 'other'"),
        ("outcomes", {"state": 0, "action": "fly"}, "no action 'fly'"),
        ("where_am_i", {}, "give the elements you see"),
        ("list_states", {"limit": 1_000_000}, "less than or equal to 100"),
        ("describe_state", {"state": -1}, "state is -1: input should be greater than or equal to 0"),
        (
            "outcomes",
            {"number": 0, "action": "fly"},
            "outcomes cannot be asked like this: it has no argument 'number'; state is missing "
            "(its arguments: state, action, run",
        ),
    ],
)
def test_a_question_that_cannot_be_answered_is_told_why(
    server: Asked, tool: str, arguments: dict[str, Any], said: str
) -> None:
    told = server.refusal(tool, **arguments)
    assert said in told
    assert "pydantic" not in told


def test_a_resource_that_is_not_there_is_an_error_in_our_words(server: Asked) -> None:
    with pytest.raises(MCPError, match="no state 9999"):
        server.wait(server.client.read_resource("screensearch://runs/notes/states/9999"))


def test_a_missing_run_is_told_before_anything_is_served(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "screensearch", "mcp", str(tmp_path / "nothing")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "nothing" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_interrupt_ends_it_although_nobody_has_closed_its_input(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "screensearch", "mcp", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1  # it is up
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


# -- a run that goes on ---------------------------------------------------------------------------------


def test_a_run_that_is_being_explored_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "growing"
    stop = screensearch.StopRule(steps=20)
    settings = screensearch.resolve(overrides=["explore.screenshots=none"])
    screensearch.start_exploration("synthetic:files", folder, stop=stop, seed=3, settings=settings)
    told: list[dict[str, Any]] = []
    with asked(server_of(folder)) as server:
        before = server.call("list_runs")["runs"][0]
        assert server.call("find_screen", text="file", limit=5)["hits"]

        def ask(progress: screensearch.Progress) -> None:
            told.append(server.call("list_runs")["runs"][0])

        screensearch.resume_exploration(folder, stop=screensearch.StopRule(steps=300), on_progress=ask)
        after = server.call("list_runs")["runs"][0]
        with screensearch.open_run(folder) as run:
            newest = max(run.graph.iter_states())
            assert server.call("where_am_i", **seen_at(run, newest))["state"] == newest
            assert server.call("describe_state", state=newest)["visits"] == run.graph.visits(newest)
            assert server.call("path", to_state=newest)["reachable"]
    assert any(each["live"] for each in told)
    assert not after["live"]
    assert (before["steps"], after["steps"]) == (20, 300)


# -- over HTTP ------------------------------------------------------------------------------------------


@contextmanager
def over_http(folder: Path, **environment: str) -> Iterator[dict[str, Any]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "screensearch", "mcp", str(folder), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        text = ""
        for line in process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        assert text, process.communicate()[1]
        yield json.loads(text)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def refused(address: str, **headers: str) -> int:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    request = urllib.request.Request(address, body, {"Content-Type": "application/json", **headers})
    with pytest.raises(urllib.error.HTTPError) as problem:
        urllib.request.urlopen(request, timeout=60)
    problem.value.close()
    return problem.value.code


def test_over_http_only_who_has_the_token_is_answered(folder: Path) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    with over_http(folder, SCREENSEARCH_MCP_TOKEN="correct horse battery") as told:
        address, headers = told["address"], told["headers"]
        assert headers == {"Authorization": "Bearer correct horse battery"}
        assert address.startswith("http://127.0.0.1:")
        assert refused(address) == 401
        assert refused(address, Authorization="Bearer wrong") == 401
        assert refused(address, Host="evil.example", **headers) == 403
        assert refused(address, Origin="http://evil.example", **headers) == 403
        client = httpx2.AsyncClient(headers=headers)
        with asked(streamable_http_client(address, http_client=client)) as server:
            assert server.call("list_runs")["runs"][0]["run"] == "notes"
            server.wait(client.aclose())


def test_a_token_that_can_be_guessed_is_refused(folder: Path) -> None:
    told = CliRunner().invoke(
        main, ["mcp", str(folder), "--port", "0"], env={"SCREENSEARCH_MCP_TOKEN": "short"}
    )
    assert told.exit_code == 1
    assert "at least 16" in told.output


def test_without_the_sdk_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mcp", "serving"):
        monkeypatch.delitem(sys.modules, f"screensearch.agents.{name}", raising=False)
        monkeypatch.delattr(f"screensearch.agents.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    told = CliRunner().invoke(main, ["mcp", str(folder)])
    assert told.exit_code == 1
    assert "pip install 'screensearch[agents]'" in told.output


def test_the_configuration_of_a_client_starts_this_server(folder: Path) -> None:
    told = CliRunner().invoke(main, ["mcp", str(folder), "--json"])
    configured = json.loads(told.output)["mcpServers"]["screensearch"]
    assert configured["command"] == sys.executable
    assert configured["args"] == ["-m", "screensearch", "mcp", str(folder)]
