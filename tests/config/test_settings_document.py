from __future__ import annotations

import json
from typing import Any

import pytest

from screensearch.config import load_preset, presets, settings_document, settings_from_document
from screensearch.errors import FormatError, NewerFormat


@pytest.mark.parametrize("preset", presets())
def test_a_stored_document_gives_the_same_settings(preset: str) -> None:
    settings = load_preset(preset)
    assert settings_from_document(json.loads(json.dumps(settings_document(settings)))) == settings


def test_a_document_is_versioned() -> None:
    assert settings_document(load_preset("default"))["version"] == 1


def test_a_newer_document_is_refused_by_its_version() -> None:
    document = settings_document(load_preset("default")) | {"version": 99}
    with pytest.raises(NewerFormat, match="version 99"):
        settings_from_document(document)


def damaged(**changes: Any) -> dict[str, Any]:
    document = settings_document(load_preset("default"))
    document["settings"]["select"] |= changes
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "version None"),
        ({"version": "1"}, "version '1'"),
        ({"version": 1}, "no table named 'settings'"),
        ({"version": 1, "settings": []}, "no table named 'settings'"),
        (damaged(c_puct="high"), "c_puct"),
        (damaged(c_puct=-1.0), "select.c_puct is -1.0"),
        (damaged(telepathy=True), "select.telepathy"),
    ],
)
def test_a_malformed_document_is_refused_and_named(document: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        settings_from_document(document)
