"""Enumerations that one process makes and others read."""

from __future__ import annotations

from pathlib import Path

import pytest

from screensearch.environments.synthetic import kept as kept_module
from screensearch.environments.synthetic.apps import APPS, survey
from screensearch.environments.synthetic.kept import Enumeration, kept
from screensearch.environments.synthetic.truth import Survey

ALL = Enumeration({("main", 1, 1.5, True): "a look", ("main", 1, 1.0, 1): "another"}, {"a look": True})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "screensearch" / "enumerations"


def never() -> Enumeration:
    raise AssertionError("it was kept")


def make() -> Enumeration:
    return ALL


def test_what_was_made_once_is_read_from_then_on_and_values_keep_their_types(folder: Path) -> None:
    assert kept("one", make) == ALL
    found = kept("one", never)
    assert found == ALL
    assert repr(found) == repr(ALL)  # 1, 1.0 and True are equal to ==
    assert len(list(folder.iterdir())) == 1


def test_another_application_or_start_is_another_one(folder: Path) -> None:
    kept("one", make)
    with pytest.raises(AssertionError, match="it was kept"):
        kept("two", never)


def test_what_was_made_by_other_sources_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(kept_module, "SOURCES", "older")
        kept("one", lambda: Enumeration({}, {}))
    assert kept("one", make) == ALL
    assert kept("one", never) == ALL


def test_a_file_that_is_broken_is_made_anew(folder: Path) -> None:
    kept("one", make)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for broken in (b"", whole[:-3], whole.replace(b"look", b"l\xff\xffk")):
        file.write_bytes(broken)
        assert kept("one", make) == ALL
        assert kept("one", never) == ALL


def test_where_nothing_can_be_kept_it_is_made_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the place of a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert kept("one", make) == kept("one", make) == ALL


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    assert kept("one", make) == kept("one", make) == ALL


@pytest.mark.parametrize("name", APPS)
def test_a_survey_from_the_cache_is_the_one_that_was_made(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey.cache_clear()
    made = survey(name)
    survey.cache_clear()
    with monkeypatch.context() as kept_only:
        kept_only.setattr(Survey, "_enumerate", never)
        found = survey(name)
    assert (found.states, found.aliased) == (made.states, made.aliased)
    assert repr(list(found.states)) == repr(list(made.states))
