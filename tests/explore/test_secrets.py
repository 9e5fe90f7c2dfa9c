"""What is secret on the screen is in no part of the run, and what must not be touched is not touched."""

from __future__ import annotations

import logging
import zlib
from pathlib import Path

import pytest

import screensearch as ss
from screensearch import Action, Box, Element, Image, Observation, Outcome, Result, Start, Window
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import start_exploration
from screensearch.record.run import open_run_folder

ADDRESS, WORD, CARD = "joe.doe@example.com", "correct-horse-battery", "4111 1111 1111 1111"
MAILBOX, MENU = Box(20, 60, 200, 30), Box(20, 20, 80, 30)
FIELD = Box(20, 100, 200, 30)


class Mail:
    """Shows an address in a button, a list and the title; has a password field and a button that sends."""

    application = "mail"

    def __init__(self) -> None:
        self.performed: list[Action] = []
        self._opened = False

    async def reset(self, seed: int) -> Start:
        self._opened = False
        return Start(self._look())

    async def perform(self, action: Action) -> Result:
        self.performed.append(action)
        if action.element is not None and action.element.text.startswith("Mailbox"):
            self._opened = not self._opened
        return Result(Outcome.OK, self._look())

    async def close(self) -> None:
        pass

    def _look(self) -> Observation:
        elements = [
            Element("button", "Send", MENU, "mail", clickable=True, handle="1"),
            Element("button", f"Mailbox of {ADDRESS}", MAILBOX, "mail", clickable=True, handle="2"),
            Element("edit", "", FIELD, "mail", editable=True, value=WORD, secret=True, handle="3"),
        ]
        if self._opened:
            elements.append(Element("text", f"Card {CARD}", Box(20, 140, 200, 30), "mail", handle="4"))
        window = Window(f"{ADDRESS} - Mail", "main", Box(0, 0, 300, 300), "mail")
        return Observation(tuple(elements), window, screenshot=Image(300, 300, b"\xff" * 270_000))


def explore(folder: Path, world: Mail, *overrides: str, steps: int = 60) -> None:
    settings = ss.resolve(overrides=overrides)
    start_exploration(world, folder, stop=StopRule(steps=steps), settings=settings, seed=3)


def everything_kept(folder: Path) -> str:
    """All texts of a run: its entries, its screens, the elements behind them."""
    with ss.open_run(folder) as run:
        entries = [entry for _, entry in run.entries()]
    kept = [repr(entry) for entry in entries]
    log = open_run_folder(folder).read_log()
    rows = {entry.screen for entry in entries if entry.screen is not None}
    kept += [repr(log.screen(row)) + zlib.decompress(log.elements(row)).decode() for row in rows]
    log.close()
    return "\n".join(kept)


def test_no_secret_is_in_the_run(tmp_path: Path) -> None:
    explore(tmp_path / "run", Mail())
    kept = everything_kept(tmp_path / "run")
    assert [secret for secret in (ADDRESS, WORD, CARD) if secret in kept] == []
    assert "[redacted:email]" in kept
    assert "[redacted:password]" in kept
    assert "[redacted:card]" in kept
    files = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert [secret for secret in (ADDRESS, WORD, CARD) if secret.encode() in files] == []


def test_the_pictures_are_covered_where_the_secrets_were(tmp_path: Path) -> None:
    explore(tmp_path / "run", Mail(), steps=1)
    with ss.open_run(tmp_path / "run") as run:
        pictures = [run.screenshot(entry) for _, entry in run.entries()]
    assert len(pictures) == 2
    for picture in pictures:
        assert picture is not None
        places = [(30, 70), (30, 110), (250, 290)]
        assert [picture.pixels[3 * (300 * y + x)] for x, y in places] == [64, 64, 255]


def test_an_action_still_reaches_an_element_whose_text_is_redacted(tmp_path: Path) -> None:
    world = Mail()
    explore(tmp_path / "run", world)
    reached = {each.element.text for each in world.performed if each.element is not None}
    assert f"Mailbox of {ADDRESS}" in reached  # the environment is given its own element back
    with ss.open_run(tmp_path / "run") as run:
        assert run.verify().problems == ()
        assert run.graph.states == 2


def test_a_password_field_is_never_touched_and_a_sandbox_makes_sending_harmless(tmp_path: Path) -> None:
    world = Mail()
    explore(tmp_path / "run", world)
    touched = [each.element for each in world.performed if each.element is not None]
    assert not any(each.secret for each in touched)
    assert any(each.text == "Send" for each in touched)


def test_irreversible_actions_can_be_denied_everywhere(tmp_path: Path) -> None:
    world = Mail()
    explore(tmp_path / "run", world, "guard.irreversible=deny")
    assert not any(each.element is not None and each.element.text == "Send" for each in world.performed)


def test_what_was_skipped_and_redacted_is_counted_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="screensearch.explore.mind"):
        explore(tmp_path / "run", Mail(), "guard.irreversible=deny", steps=20)
    told = [record.getMessage() for record in caplog.records]
    assert sum(each.startswith("vetoed focus_click@1") and "'send'" in each for each in told) == 1
    assert "skipped 20 times, irreversible: 'send' in the label 'send'" in told
    assert "skipped 40 times, credentials: the element is a password field" in told
    assert any(each.startswith("redacted ") and "× email" in each and "× password" in each for each in told)
    assert not any(secret in each for secret in (ADDRESS, WORD, CARD) for each in told)


def test_a_run_that_redacts_at_export_keeps_what_was_seen(tmp_path: Path) -> None:
    explore(tmp_path / "run", Mail(), "redact.at=export", steps=5)
    assert ADDRESS in everything_kept(tmp_path / "run")


def test_what_an_environment_dies_of_is_kept_without_its_secrets(tmp_path: Path) -> None:
    class Broken(Mail):
        async def perform(self, action: Action) -> Result:
            raise RuntimeError(f"no mailbox of {ADDRESS}")

    with pytest.raises(RuntimeError):
        explore(tmp_path / "run", Broken())
    kept = everything_kept(tmp_path / "run")
    assert ADDRESS not in kept
    assert "no mailbox of [redacted:email]" in kept
