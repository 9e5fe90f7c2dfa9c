"""`path`, `replay` and `script` as a person and as a machine would use them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import screensearch as ss
from screensearch.cli import main
from screensearch.cli.status import FOUND_STATUS
from screensearch.errors import ScreenSearchError

QUIET = "synthetic:files?noise=0"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("back") / "run"
    result = run("explore", QUIET, "--steps", 250, "--seed", 7, "--no-screenshots", "--out", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def surest(folder: Path) -> int:
    """A state some steps away whose way has come out every time."""
    with ss.open_run(folder) as opened:
        ways = [opened.path_to(state) for state in opened.graph.iter_states()]
    return max((way for way in ways if len(way.steps) >= 2), key=lambda way: way.estimate).state


def test_path_tells_steps_in_words_with_their_counts(folder: Path, surest: int) -> None:
    told = run("path", folder, surest)
    assert told.exit_code == 0
    assert f"To state {surest} from a start" in told.output
    assert f"screensearch replay {folder} {surest}" in told.output
    machine = json.loads(run("path", folder, surest, "--json").stdout)
    for step in machine["steps"]:
        assert step["words"].split()[0] in told.output
        assert f"{step['count']} of {step['tries']}" in told.output
    assert machine["steps"][-1]["target"] == surest
    assert machine["configuration"]["display_mode"] == "light"


def test_path_from_a_state_begins_there(folder: Path, surest: int) -> None:
    steps = json.loads(run("path", folder, surest, "--json").stdout)["steps"]
    middle = steps[0]["target"]
    between = json.loads(run("path", folder, surest, "--from", middle, "--json").stdout)
    assert (between["origin"], between["start"]) == (middle, None)
    assert len(between["steps"]) == len(steps) - 1


def test_a_state_that_is_not_there_or_cannot_be_reached_is_an_error(folder: Path) -> None:
    absent = run("path", folder, 99999)
    assert absent.exit_code == 1
    assert "has no state 99999" in absent.output


def test_replay_walks_there_and_tells_how_often_each_step_came_out(folder: Path, surest: int) -> None:
    told = run("replay", folder, surest, "--times", 3)
    assert told.exit_code == 0, told.output
    assert f"3 of 3 walks reached state {surest}: 100%" in told.output
    machine = json.loads(run("replay", folder, surest, "--times", 3, "--json").stdout)
    assert (machine["tried"], machine["reached"], machine["broken"], machine["rate"]) == (3, 3, 0, 1.0)
    assert all(count["done"] == count["as_expected"] == 3 for count in machine["counts"])
    assert [walk["verdict"] for walk in machine["walks"]] == ["reached"] * 3


def test_a_replay_that_does_not_come_out_ends_with_a_status_of_its_own(folder: Path, tmp_path: Path) -> None:
    """The same run, but its application has changed: it is another one."""
    changed = tmp_path / "changed"
    subprocess.run(["cp", "-r", str(folder), str(changed)], check=True)
    manifest = changed / "run.json"
    manifest.write_text(manifest.read_text().replace(QUIET, "synthetic:files?noise=0&scales=1.5"))
    told = run("replay", changed, 0)
    assert told.exit_code == 1  # it cannot even begin as it did: that is no finding about the application
    assert "never begins with" in told.output


def test_replay_needs_a_state_or_a_finding(folder: Path) -> None:
    assert run("replay", folder).exit_code == 2
    assert run("replay", folder, 1, "--finding", 1).exit_code == 2
    assert run("replay", folder, "--finding", 1, "--as-found").exit_code == 2
    assert "has no finding 99" in run("replay", folder, "--finding", 99).output


def test_a_required_rate_decides_the_status(folder: Path) -> None:
    with ss.open_run(folder) as opened:
        ways = [opened.path_to(state) for state in opened.graph.iter_states()]
    worst = min(ways, key=lambda way: way.estimate).state
    rate = json.loads(run("replay", folder, worst, "--times", 5, "--json").stdout)["rate"]
    assert run("replay", folder, worst, "--times", 5, "--rate", rate).exit_code == 0
    if rate < 1:
        assert run("replay", folder, worst, "--times", 5).exit_code == FOUND_STATUS


def python(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(ss.__file__).parent.parent)}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True
    )


def test_a_script_stands_alone_and_fails_clearly_when_the_application_changed(
    folder: Path, surest: int, tmp_path: Path
) -> None:
    file = tmp_path / "test_back.py"
    told = run("script", folder, surest, "-o", file)
    assert told.exit_code == 0, told.output
    assert str(folder) not in file.read_text()
    alone = python(file, cwd=tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert f"reached state {surest}" in alone.stdout
    # The next release of the application: the same start, with another one behind it.
    text = file.read_text()
    changed = text.replace("'synthetic:files?noise=0'", "'synthetic:settings?noise=0'")
    assert changed != text
    configuration = json.dumps(_configuration_of("synthetic:settings?noise=0"))
    changed = changed.replace("configuration=", f"configuration={configuration} or ", 1)
    file.write_text(changed)
    failed = python(file, cwd=tmp_path)
    assert failed.returncode == 1
    assert "ReplayFailed" in failed.stderr
    assert "0 of 1 walks reached" in failed.stderr
    assert "the start led to a screen that is no known state" in failed.stderr


def test_a_lenient_script_goes_on_over_a_state_that_differs(
    folder: Path, surest: int, tmp_path: Path
) -> None:
    with ss.open_run(folder) as opened:
        route = ss.route_to(opened, surest)
    first = route.steps[0]
    assert first.expected not in (route.start, surest)
    for options, status in ([], 1), (["--lenient"], 0):
        file = tmp_path / f"test_{status}.py"
        assert run("script", folder, surest, "-o", file, *options).exit_code == 0
        text = file.read_text()
        step = f"({first.signature!a}, "
        changed = text.replace(f"{step}{first.expected})", f"{step}{route.start})")
        assert changed != text
        file.write_text(changed)
        ended = python(file, cwd=tmp_path)
        assert ended.returncode == status, ended.stderr
        assert ("step 1:" in ended.stderr) == (status == 1)


def _configuration_of(environment: str) -> dict[str, str]:
    """How an episode of a world may begin."""
    import asyncio

    from screensearch.environments.specification import open_environment

    world = open_environment(environment, ss.Means(screenshots=False))
    return dict(asyncio.run(world.reset(1)).configuration)


def test_a_script_is_not_written_over_a_file_unless_told_to(
    folder: Path, surest: int, tmp_path: Path
) -> None:
    file = tmp_path / "test_mine.py"
    file.write_text("mine")
    refused = run("script", folder, surest, "-o", file)
    assert refused.exit_code == 1
    assert "--force" in refused.output
    assert file.read_text() == "mine"
    assert run("script", folder, surest, "-o", file, "--force").exit_code == 0
    shown = run("script", folder, surest, "-o", "-")
    assert shown.stdout == file.read_text()


def test_what_an_application_calls_itself_cannot_become_code(folder: Path, surest: int) -> None:
    with ss.open_run(folder) as opened:
        route = ss.route_to(opened, surest)
    nasty = '"""\nimport os\r\nos.abort()\u2028#\x1b[31m\\'
    screen = route.screens[surest]
    window = replace(screen.metadata, window=f"main|{nasty}")
    hostile = replace(screen, text_atoms=(*screen.text_atoms, f"r0_c0|{nasty}"), metadata=window)
    signature = f"focus_click@1::r0_c0|button|{nasty.replace(' ', '_')}|files::none"
    route = replace(
        route,
        environment=f"synthetic:{nasty}",
        configuration={nasty: nasty},
        steps=(*route.steps[:-1], ss.RouteStep(signature, surest)),
        screens={**route.screens, surest: hostile},
    )
    text = ss.write_script(route, origin=nasty)
    assert text.replace("→", "").replace("…", "").isascii()
    imported = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
    ]
    calls = {ast.unparse(node.func) for node in imported if isinstance(node, ast.Call)}
    assert [node.names[0].name for node in imported if isinstance(node, ast.Import)] == ["screensearch"]
    assert calls <= {
        "screensearch.replay_route",
        "screensearch.replay_route(route()).check",
        "route",
        "screensearch.load_route",
        "print",
        ast.parse(text).body[2].name,  # type: ignore[attr-defined]
    }
    made = {"screensearch": ss}
    exec(compile(text.partition("import screensearch\n")[2], "script", "exec"), made)
    again = made["route"]()  # type: ignore[operator]
    assert again.steps == route.steps
    assert dict(again.configuration) == dict(route.configuration)
    assert again.environment == route.environment


def test_secrets_that_exports_lose_are_not_in_a_script(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=("redact.at=export", "explore.screenshots=none"))
    stop = ss.StopRule(steps=40)
    folder = tmp_path / "run"
    secret = replace(settings, redact=replace(settings.redact, patterns=("plum|tuesday",)))
    ss.start_exploration("synthetic:notepad?noise=0", folder, stop=stop, settings=secret, seed=7)
    with ss.open_run(folder) as opened:
        last = max(opened.graph.iter_states())
        kept = ss.route_to(opened, last)
        route = ss.redacted_route(opened, kept)
        words = {text for screen in kept.screens.values() for text in screen.text_atoms}
        assert any("plum" in text or "tuesday" in text for text in words)
        clean = {text for screen in route.screens.values() for text in screen.text_atoms}
        assert not any("plum" in text or "tuesday" in text for text in clean)
        assert route.settings.redact.at == "capture"
        seen = [[each.as_expected for each in walk.seen] for walk in ss.replay_route(route, times=3).walks]
        before = [[each.as_expected for each in walk.seen] for walk in ss.replay_route(kept, times=3).walks]
    assert seen == before


TOKEN = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4"


class Desk:
    """Its button says from the second start on whose letter it opens; the screens are one state."""

    application = "desk"

    def __init__(self) -> None:
        self._starts, self._open = 0, False

    async def reset(self, seed: int) -> ss.Start:
        self._starts, self._open = self._starts + 1, False
        return ss.Start(self._look(), {"document": f"token={TOKEN}"})

    async def perform(self, action: ss.Action) -> ss.Result:
        self._open = action.element is not None and action.element.text.startswith("Open")
        return ss.Result(ss.Outcome.OK, self._look())

    async def close(self) -> None:
        """There is nothing to end."""

    def _look(self) -> ss.Observation:
        if self._open:
            elements = [ss.Element("button", "Back", ss.Box(10, 10, 50, 20), "desk", clickable=True)]
        else:
            elements = [
                ss.Element("text", f"row {i}", ss.Box(10 + 60 * (i % 4), 10 + 20 * (i // 4), 50, 15), "desk")
                for i in range(40)
            ]
            label = "Open nothing" if self._starts == 1 else f"Open joe{self._starts}@example.com"
            box = ss.Box(10, 260, 100, 20)
            elements.append(ss.Element("button", label, box, "desk", clickable=self._starts > 1))
        return ss.Observation(tuple(elements), ss.Window("Desk", "main", ss.Box(0, 0, 300, 300), "desk"))


def test_no_secret_of_a_label_a_configuration_or_an_environment_variable_is_in_a_script(
    tmp_path: Path,
) -> None:
    settings = ss.resolve(
        overrides=(
            *("redact.at=export", "explore.screenshots=none", "explore.episode_steps=5"),
            *("candidates.scroll=false", "candidates.keys=[]", "identify.merge.threshold=0.9"),
            f'app.environment=["API_TOKEN={TOKEN}"]',
        )
    )
    folder = tmp_path / "run"
    ss.start_exploration(Desk(), folder, stop=ss.StopRule(steps=40), settings=settings, seed=3)
    with ss.open_run(folder) as opened:
        route = ss.route_to(opened, 1)
        with pytest.raises(ScreenSearchError, match="redacted_route"):
            ss.write_script(route, origin="a run")
        text = ss.write_script(ss.redacted_route(opened, route), origin="a run")
    assert "API_TOKEN=[redacted" in text
    assert "open_[redacted" in text
    assert TOKEN not in text
    assert "example.com" not in text
