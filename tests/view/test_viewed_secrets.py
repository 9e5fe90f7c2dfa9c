"""A run that keeps its secrets for itself (redact.at = "export") shows none of them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PIL import Image as Pillow
from test_reading import all_answers
from viewed import FIELD, SECRETS, WIDTH, explore

import screensearch as ss
from screensearch.encode.text import normalise
from screensearch.view.edge_page import make_edge_page
from screensearch.view.messages import Answer
from screensearch.view.pictures import screenshot
from screensearch.view.reading import Reading
from screensearch.view.shown import Shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore(tmp_path_factory.mktemp("runs") / "kept", "redact.at=export", secrets=True)


@pytest.fixture(scope="module")
def shown(folder: Path) -> Iterator[Shown]:
    shown = Shown([folder])
    yield shown
    shown.close()


def written(answers: list[Answer]) -> str:
    return b"\n".join(map(msgspec.json.encode, answers)).decode().casefold()


def test_the_log_has_the_secrets(folder: Path) -> None:
    """Else nothing below would prove anything."""
    with ss.open_run(folder) as run:
        texts = [run.founding_screen(state.id).text for state in run.states()]
        signatures = [each.signature for each in run.transitions()]
    assert all(any(normalise(secret) in text for text in texts) for secret in SECRETS)
    assert any(signature is not None and "joe.doe" in signature for signature in signatures)


def test_no_answer_has_a_secret(shown: Shown) -> None:
    reading = shown.reading("kept")
    reading.follow()
    answers = all_answers(reading)
    answers += [shown.explain("kept", str(state), None) for state in reading.sights.states]
    answers += [shown.explain("kept", "0", str(state)) for state in reading.sights.states]
    answers += [shown.searching.search(secret, None, 50) for secret in ("open", "dear reader")]
    answers.append(shown.searching.similar("kept", 0, 50))
    said = written(answers)
    assert "redacted:email" in said
    assert [secret for secret in SECRETS if secret.casefold() in said] == []


def test_a_secret_cannot_be_searched_for(shown: Shown) -> None:
    hits = shown.searching.search(SECRETS[2], None, 50).hits
    assert all(hit.by_words is None for hit in hits)


def test_an_edge_is_found_by_the_signature_that_is_shown(shown: Shown) -> None:
    reading = shown.reading("kept")
    reading.follow()
    hidden = [
        (state, target, reading.redaction.signature(signature))
        for state in reading.sights.states
        for signature, tried in reading.graph.tried(state).items()
        for target in tried.successors
        if reading.redaction.signature(signature) != signature
    ]
    assert hidden
    for source, target, signature in hidden:
        page = make_edge_page(reading, source, target, signature, 0, 10)
        assert page.transitions
        assert {each.signature for each in page.transitions} == {signature}


def test_pictures_are_covered_where_a_secret_is(shown: Shown) -> None:
    reading: Reading = shown.reading("kept")
    reading.follow()
    for name in reading.entries.pictures.texts:
        with Pillow.open(io.BytesIO(screenshot(reading, name))) as picture:
            assert picture.width == WIDTH
            covered = picture.getpixel((int(FIELD.x) + 5, int(FIELD.y) + 5))
            assert covered == (64, 64, 64)
            assert picture.getpixel((WIDTH - 2, 2)) != (64, 64, 64)


def test_a_run_that_was_redacted_at_capture_is_shown_as_it_is(tmp_path: Path) -> None:
    reading = Reading(explore(tmp_path / "run", secrets=True, steps=30), "run")
    reading.follow()
    assert not reading.redaction.active
    assert reading.info().redacted == ["password", "token", "email", "card"]
    assert [secret for secret in SECRETS if secret.casefold() in written(all_answers(reading))] == []
    reading.close()
