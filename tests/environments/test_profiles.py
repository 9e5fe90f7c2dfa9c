"""The application profiles that are shipped: complete, consistent, and free of what only looks right."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from screensearch import Settings, settings_for
from screensearch.encode.masks import Masks
from screensearch.encode.text import normalise
from screensearch.environments.desktop.profiles import profile_names, profile_text
from screensearch.environments.desktop.settings import AppSettings, SeedFile, StartStep

PROMISED = {
    "featherpad",
    "galculator",
    "gnome-calculator",
    "gnome-clocks",
    "gnome-text-editor",
    "libreoffice-calc",
    "libreoffice-impress",
    "libreoffice-math",
    "libreoffice-writer",
    "mousepad",
    "thunar",
    "wine-notepad",
    "xfce4-settings",
}
OFFICE = sorted(name for name in PROMISED if name.startswith("libreoffice"))
FRAME = 25  # pixels of a window's title bar and border
XML_ENDINGS = (".xcu", ".xml", ".fods", ".fodt", ".fodp", ".mml", ".svg")


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-profile.md"


def profile(name: str) -> Settings:
    environment, settings = settings_for(name)
    assert environment == f"desktop:{name}"
    return settings


def masked(settings: Settings, text: str) -> str:
    return Masks(settings.encode.masks).apply(normalise(text), None)


def test_every_promised_application_has_a_profile() -> None:
    assert set(profile_names()) >= PROMISED


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_says_what_it_is_how_it_starts_what_brings_it_and_when_it_has_enough(name: str) -> None:
    settings = profile(name)
    assert settings.app.title
    assert settings.app.command
    assert settings.app.packages
    assert settings.stop.steps is not None
    assert settings.candidates.texts


@pytest.mark.parametrize("name", profile_names())
def test_a_document_is_a_seeded_file_or_a_program(name: str) -> None:
    app = profile(name).app
    seeded = {file.path for file in app.files}
    for document in app.documents:
        assert document in seeded or (app.command == ("env",) and document.startswith("xfce4-")), document


@pytest.mark.parametrize("name", profile_names())
def test_a_first_window_fits_on_the_screen_with_its_frame(name: str) -> None:
    settings = profile(name)
    for place in settings.app.placements:
        assert place.x + place.width + 2 <= settings.desktop.width
        assert place.y + place.height + FRAME <= settings.desktop.height


@pytest.mark.parametrize("name", profile_names())
def test_seeded_files_in_xml_are_well_formed(name: str) -> None:
    for file in profile(name).app.files:
        if file.path.endswith(XML_ENDINGS):
            ElementTree.fromstring(file.text.strip().encode())


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_explains_what_it_denies(name: str) -> None:
    lines = (profile_text(name) or "").splitlines()
    for place, line in enumerate(lines):
        if line == "[[guard.rules]]":
            assert lines[place + 1].startswith("# "), f"{name}, line {place + 1}: say why"


def test_the_four_of_libreoffice_start_from_the_same_settings() -> None:
    registries = {
        file.text
        for name in OFFICE
        for file in profile(name).app.files
        if file.path.endswith("registrymodifications.xcu")
    }
    assert len(registries) == 1
    assert len({profile(name).guard for name in OFFICE}) == 1


@pytest.mark.parametrize(
    ("name", "text", "rest"),
    [
        (
            "thunar",
            "3 folders | 2 files: 53 bytes | Free space: 256.9 MiB",
            "3 folders | 2 files: 53 bytes |",
        ),
        ("thunar", "Today", ""),
        ("thunar", "Yesterday at 23:59", ""),
        ("thunar", "2026-11-15 22:03:01", ""),
        ("thunar", "17 bytes", "17 bytes"),
        ("thunar", "Date Modified", "date modified"),
        ("gnome-clocks", "12:34", ""),
        ("gnome-clocks", "00:00:07.3", ""),
        ("gnome-clocks", "1∶05∶59 PM", ""),
        ("gnome-clocks", "Add World Clock", "add world clock"),
        ("gnome-clocks", "5 minutes", "5 minutes"),
    ],
)
def test_masks_blank_what_changes_by_itself_and_nothing_else(name: str, text: str, rest: str) -> None:
    assert masked(profile(name), text) == rest


def test_programs_that_are_named_exist_where_their_packages_are_installed() -> None:
    """A misspelt command would look like an application that is not installed."""
    if shutil.which("xfce4-settings-editor") is None:
        pytest.skip("xfce4-settings is not installed")
    assert [each for each in profile("xfce4-settings").app.documents if shutil.which(each) is None] == []


def test_the_page_about_profiles_has_an_example_of_every_key() -> None:
    text = PAGE.read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"```toml\n(.*?)```", text, re.DOTALL))
    keys = [field.name for field in dataclasses.fields(AppSettings)]
    assert [key for key in keys if not re.search(rf"^(\[\[app\.)?{key}\b", examples, re.MULTILINE)] == []
    parts = [field.name for table in (SeedFile, StartStep) for field in dataclasses.fields(table)]
    assert [part for part in parts if f"`{part}`" not in text and f"{part} = " not in examples] == []
