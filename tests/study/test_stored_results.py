"""What docs/results says follows from what is stored there: figures from episodes, episodes from suites."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from screensearch.study.build import verify_suite
from screensearch.study.plan import StudyFolder, read_results
from screensearch.study.suite import read_suite
from screensearch.study.summary import summarise
from screensearch.study.tables import results_latex, results_markdown

RESULTS = Path(__file__).parents[2] / "docs" / "results"
STUDIES = sorted(path.parent.name for path in RESULTS.glob("*/results.jsonl.gz") if "-" in path.parent.name)
MATCHED = [name for name in STUDIES if name.partition("-")[0] in ("selector", "components", "sensitivity")]


@pytest.mark.parametrize("name", MATCHED)
def test_the_stored_tables_follow_from_the_stored_episodes(name: str) -> None:
    plan = StudyFolder(RESULTS / name).plan()
    traces = read_results(RESULTS / name / "results.jsonl.gz")
    assert [trace.place for trace in traces] == list(plan.places())
    summary = summarise(plan, traces)
    assert results_markdown(summary) in (RESULTS / name / "tables.md").read_text()
    assert results_latex(summary) in (RESULTS / name / "tables.tex").read_text()


@pytest.mark.parametrize("name", ["mousepad", "thunar", "libreoffice-calc"])
def test_a_stored_suite_holds_and_is_the_one_that_the_live_studies_are_of(name: str, tmp_path: Path) -> None:
    with tarfile.open(RESULTS / "suites" / f"{name}.tar.xz") as stored:
        stored.extractall(tmp_path, filter="data")
    assert verify_suite(tmp_path / name) == []
    digest = read_suite(tmp_path / name).digest
    live = [StudyFolder(RESULTS / each).plan() for each in MATCHED if each.endswith("-live")]
    assert live
    assert {suite.digest for plan in live for suite in plan.suites if suite.name == name} <= {digest}
