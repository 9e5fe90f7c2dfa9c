"""A report as a file: what may run in it, what is kept out of it, and what it replaces."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hostile_run import MARK, make_hostile_run
from viewed import SECRETS, explore

from screensearch.errors import RunNotFound, ScreenSearchError
from screensearch.view.report import write_report
from screensearch.view.report_contents import ReportLimits
from screensearch.view.report_page import DATA_ID, PageParts, data_script, document


class _Parsed(HTMLParser):
    """The tags of a page with their attributes, the text of each script and style, and the policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inner: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.inner.append((self._inside, data))

    @property
    def policy(self) -> str:
        return next(
            each["content"] or "" for tag, each in self.tags if tag == "meta" and "http-equiv" in each
        )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "run"
    make_hostile_run(folder)
    return folder


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explore(tmp_path_factory.mktemp("desk") / "desk", steps=40)


def test_no_text_of_the_application_becomes_a_tag(hostile: Path, tmp_path: Path) -> None:
    written = write_report(hostile, tmp_path / "report")
    page = written.path.read_text("utf-8")
    assert MARK in page
    parsed = _Parsed(page)
    tags = [tag for tag, _ in parsed.tags]
    assert tags.count("script") == 2
    assert tags.count("style") == 1
    assert not {"img", "svg", "iframe", "a", "link"} & set(tags)
    data = json.loads(next(text for kind, text in parsed.inner if kind == "script"))
    assert data["answers"]["api/runs"]["runs"][0]["states"] == written.states == 12


def test_only_the_script_and_the_style_of_the_page_are_allowed(desk: Path, tmp_path: Path) -> None:
    parsed = _Parsed(write_report(desk, tmp_path / "report").path.read_text("utf-8"))
    scripts = [text for kind, text in parsed.inner if kind == "script"]
    (style,) = (text for kind, text in parsed.inner if kind == "style")
    for text, directive in ((scripts[-1], "script-src"), (style, "style-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in parsed.policy
    assert "default-src 'none'" in parsed.policy
    assert not re.search(r"unsafe|https?:|\*", parsed.policy)


def test_a_script_that_names_the_end_of_a_script_does_not_end_there() -> None:
    parts = PageParts(script="const end = '</script><!--';", style="p { color: red }")
    page = document(parts, title="<b>run</b>", data=b'{"a": "</script>"}', beside=True)
    parsed = _Parsed(page)
    assert [tag for tag, _ in parsed.tags if tag in ("script", "b")] == ["script", "script"]
    assert f'id="{DATA_ID}"' in page


def test_a_data_file_is_a_call_with_one_text() -> None:
    said = data_script('{"__proto__": "</script>\u2028"}'.encode())
    assert said.startswith('screensearchData("')
    assert said.endswith('");\n')
    assert "<" not in said


def test_what_is_left_out_is_said_and_the_rest_is_a_folder(desk: Path, tmp_path: Path) -> None:
    written = write_report(desk, tmp_path / "report.html", limits=ReportLimits(states=2, file_bytes=1_000))
    assert written.path == tmp_path / "report-report" / "index.html"
    assert written.states == 2
    assert any("2 of " in sentence for sentence in written.lacks)
    assert list((tmp_path / "report-report" / "data").glob("*.js"))
    assert len(list((tmp_path / "report-report").glob("*/*.webp"))) == written.pictures > 0


def test_only_a_report_is_replaced_and_only_on_request(desk: Path, tmp_path: Path) -> None:
    first = write_report(desk, tmp_path / "mine")
    with pytest.raises(ScreenSearchError, match="exists already"):
        write_report(desk, tmp_path / "mine")
    assert write_report(desk, tmp_path / "mine", force=True).path == first.path
    first.path.write_text("my thesis")
    with pytest.raises(ScreenSearchError, match="is no report"):
        write_report(desk, tmp_path / "mine", force=True)
    assert first.path.read_text() == "my thesis"


def test_a_report_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound):
        write_report(tmp_path / "nothing", tmp_path / "out" / "report")
    assert not list(tmp_path.rglob("*report*"))


def test_no_secret_that_the_log_keeps_is_in_the_report(tmp_path: Path) -> None:
    run = explore(tmp_path / "kept", "redact.at=export", steps=60, secrets=True)
    page = write_report(run, tmp_path / "report").path.read_text("utf-8").casefold()
    assert "redacted:email" in page
    assert [secret for secret in SECRETS if secret.casefold() in page] == []
    assert str(tmp_path) not in page
