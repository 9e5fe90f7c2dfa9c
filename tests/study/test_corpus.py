"""The corpus of runs: the paper's own sums, runs end to end, pooled runs, pixels, figures, refusals."""

from __future__ import annotations

import gzip
import json
import math
import tomllib
import xml.etree.ElementTree as ElementTree
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import screensearch as ss
from screensearch.cli import main
from screensearch.domain.screen import Box, Image
from screensearch.domain.transition import Arrival, Decision, EpisodeId, Evidence, Outcome
from screensearch.explore.budget import StopRule
from screensearch.explore.exploration import start_exploration
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.study.corpus import CorpusRow, latency_bins, read_corpus, thinned
from screensearch.study.corpus_report import PIXELS, pixel_bars, study_corpus
from screensearch.study.corpus_tables import corpus_cells, names_of
from screensearch.study.pixels import PER_STATE, PictureSample, changed_fraction
from screensearch.study.plots import bar_chart, xy_chart
from screensearch.study.published_corpus import CORPUS, OVERALL, counterpart

# -- the paper's figures --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column", ["worker_hours", "captures", "observations", "unique", "windows", "states"]
)
def test_the_published_columns_add_up_to_the_published_sums(column: str) -> None:
    assert sum(getattr(row, column) for row in CORPUS.values()) == getattr(OVERALL, column)


def test_the_published_rates_are_states_per_screenshot() -> None:
    for row in [*CORPUS.values(), OVERALL]:
        assert 100 * row.states / row.observations == pytest.approx(row.state_rate, abs=0.0051)


def test_every_run_of_the_shipped_campaign_has_the_counterpart_it_is_named_after() -> None:
    named = {
        "excel": "Microsoft Excel",
        "word": "Microsoft Word",
        "powerpoint": "Microsoft PowerPoint",
        "vs-code": "VS Code",
    }
    campaign = tomllib.loads(Path(ss.__file__).with_name("campaigns").joinpath("paper.toml").read_text())
    by_name = {name.lower().replace(" ", "-"): name for name in CORPUS}
    found = []
    for run in campaign["run"]:
        app = run.get("app", {})
        theirs = counterpart(
            run["target"], app.get("display_modes", ["light"]), app.get("text_scales", [1.0])
        )
        assert theirs == named.get(run["name"], by_name.get(run["name"]))
        assert run["stop"]["steps"] == CORPUS[theirs].observations
        found.append(theirs)
    assert sorted(found) == sorted(CORPUS)
    assert counterpart("synthetic:files", ["light"], [1.0]) == ""


# -- runs -----------------------------------------------------------------------------------------


APPLICATION = "synthetic:generated?states=60&noise=0"


def explored(folder: Path, *, seed: int, steps: int = 150, overrides: Sequence[str] = ()) -> Path:
    settings = ss.resolve(overrides=["explore.screenshots=none", *overrides])
    start_exploration(APPLICATION, folder, stop=StopRule(steps=steps), settings=settings, seed=seed)
    return folder


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("one") / "run", seed=1)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("two") / "run", seed=2)


def test_a_row_counts_what_the_run_itself_knows(one: Path) -> None:
    ((gathered,), (source,)) = read_corpus([one], pictures=0)
    row, course = gathered.row, gathered.course
    with ss.open_run(one) as run:
        entries = [entry for _, entry in run.entries()]
        assert (row.states, row.steps, source.entries) == (run.graph.states, 150, len(entries))
        assert row.captures == run.graph.outcomes.get(Outcome.CAPTURE, 0)
        seconds = math.fsum(each.evidence.act_seconds + each.evidence.decide_seconds for each in entries)
        seen = {each.screen for each in entries if each.decision is not None}
    assert row.worker_hours == pytest.approx(seconds / 3600)
    assert row.observations == sum(each.screen is not None for each in entries)
    assert row.unique == len(seen) == course.discovery[-1][1]
    assert row.states <= row.unique <= row.observations
    assert row.state_rate == pytest.approx(100 * row.states / row.observations)
    assert row.ok_steps - row.still_steps - row.looped_steps == sum(
        length * count for length, count in course.segments.items()
    )
    assert course.windows[3] == row.windows >= row.distinct_windows > 0
    assert course.latency[-1].step == 150


def test_runs_of_one_application_are_merged_together(one: Path, two: Path) -> None:
    (together,), _ = read_corpus([one, two], pictures=0)
    (first,), _ = read_corpus([one], pictures=0)
    (second,), _ = read_corpus([two], pictures=0)
    assert together.row.observations == first.row.observations + second.row.observations
    assert max(first.row.states, second.row.states) <= together.row.states
    assert together.row.states < first.row.states + second.row.states  # both begin on the same screens
    assert together.row.unique < first.row.unique + second.row.unique
    assert together.row.windows == first.row.windows + second.row.windows


def test_a_run_pooled_with_one_that_adds_nothing_has_its_own_states(one: Path, tmp_path: Path) -> None:
    """The pooled rule decides as the run did: the same number, by another way."""
    again = explored(tmp_path / "again", seed=1)
    (together,), _ = read_corpus([one, again], pictures=0)
    (alone,), _ = read_corpus([one], pictures=0)
    assert (together.row.states, together.row.unique) == (alone.row.states, alone.row.unique)


def test_runs_that_differ_in_their_prior_are_rows_of_their_own_and_a_table(one: Path, tmp_path: Path) -> None:
    other = explored(tmp_path / "uniform", seed=1, overrides=["select.prior=uniform@1"])
    summary, _ = study_corpus([one, other], tmp_path / "out", pictures=0)
    assert summary.names == [f"{APPLICATION}, heuristic@1", f"{APPLICATION}, uniform@1"]
    assert [each.prior for each in summary.priors] == ["heuristic@1", "uniform@1"]
    page = (tmp_path / "out" / "tables.md").read_text()
    assert "## By prior" in page
    assert "(1.74)" in page


def test_all_files_are_there_and_can_be_read(one: Path, tmp_path: Path) -> None:
    summary, files = study_corpus([one], tmp_path, pictures=100)
    assert {file.name for file in files} == {file.name for file in tmp_path.iterdir()}
    (raw,) = gzip.decompress((tmp_path / "results.jsonl.gz").read_bytes()).splitlines()
    assert json.loads(raw)["row"]["states"] == summary.rows[0].states
    for file in tmp_path.glob("*.svg"):
        ElementTree.parse(file)
    assert PIXELS not in {file.name for file in files}
    assert "Without screenshots" in (tmp_path / "tables.md").read_text()
    latex = (tmp_path / "tables.tex").read_text()
    assert r"\begin{tabular}{lrrrrrrr}" in latex
    assert latex.count(r"\midrule") == 2


def test_a_figure_of_other_runs_does_not_stay(one: Path, tmp_path: Path) -> None:
    (tmp_path / PIXELS).write_text("of before")
    study_corpus([one], tmp_path, pictures=100)
    assert not (tmp_path / PIXELS).exists()


def test_pictures_of_a_run_are_compared_within_its_states(tmp_path: Path) -> None:
    settings = ss.resolve(overrides=["explore.screenshots=all"])
    start_exploration(
        "synthetic:notepad", tmp_path / "run", stop=StopRule(steps=40), settings=settings, seed=1
    )
    summary, files = study_corpus([tmp_path / "run"], tmp_path / "out", pictures=60)
    (told,) = summary.diagnostics
    assert summary.rows[0].pictures > 1
    assert 0 < told.compared_states <= summary.rows[0].states
    assert told.compared_pictures <= 60
    assert 0 <= told.pixels_p50 <= told.pixels_p90 <= told.pixels_most <= 1
    assert tmp_path / "out" / PIXELS in files
    summary, _ = study_corpus([tmp_path / "run"], tmp_path / "none", pictures=0)
    assert summary.diagnostics[0].compared_states == 0
    assert "--pictures 0" in (tmp_path / "none" / "tables.md").read_text()


def test_a_campaign_is_all_its_runs(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'stop.steps = 20\nexplore.screenshots = "none"\n'
        '[[run]]\nname = "a"\ntarget = "synthetic:notepad"\n[[run]]\nname = "b"\ntarget = "synthetic:files"\n'
    )
    assert CliRunner().invoke(main, ["campaign", str(file), "--out", str(tmp_path / "runs")]).exit_code == 0
    words = ["study", "corpus", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert [row["application"] for row in told["rows"]] == ["synthetic:notepad", "synthetic:files"]
    assert told["overall"]["observations"] == sum(row["observations"] for row in told["rows"])
    twice = CliRunner().invoke(main, [*words, str(tmp_path / "runs" / "a")])
    assert twice.exit_code == 1
    assert "same run" in twice.output


def test_a_campaign_without_a_run_and_a_folder_that_is_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text('{"format": 1, "runs": {}}')
    told = CliRunner().invoke(main, ["study", "corpus", str(tmp_path)])
    assert told.exit_code == 1
    assert "has no run yet" in told.output
    (tmp_path / "empty").mkdir()
    told = CliRunner().invoke(main, ["study", "corpus", str(tmp_path / "empty")])
    assert told.exit_code == 1
    assert "it has no run.json" in told.output


def test_the_command_shows_the_table(one: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["study", "corpus", str(one), "--out", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "Overall" in shown.output
    assert "discovery.svg" in shown.output


# -- parts ----------------------------------------------------------------------------------------


def row_for(stands_for: str) -> CorpusRow:
    return CorpusRow(
        application=stands_for.lower().replace(" ", "-"),
        stands_for=stands_for,
        prior="heuristic@1",
        rule="exact, τ = 0.93",
        runs=[stands_for],
        steps=10,
        worker_hours=250.0,
        captures=1,
        observations=200,
        unique=20,
        pictures=0,
        states=10,
        state_rate=5.0,
        windows=3,
        distinct_windows=3,
        ok_steps=9,
        still_steps=0,
        looped_steps=0,
    )


def test_the_papers_sum_stands_beside_ours_only_if_all_its_applications_do(one: Path, tmp_path: Path) -> None:
    summary, _ = study_corpus([one], tmp_path, pictures=0)
    rows = [row_for(name) for name in CORPUS]
    whole = replace(summary, rows=rows, names=names_of(rows))
    assert corpus_cells(whole)[-1][1].endswith("(5,524)")
    assert corpus_cells(whole)[1][1:4] == ["250 (214)", "1 (1)", "200 (42,500)"]
    part = replace(summary, rows=rows[1:], names=names_of(rows[1:]))
    assert "(" not in corpus_cells(part)[-1][1]


def test_rows_that_are_alike_in_all_that_is_told_are_numbered() -> None:
    rows = [row_for("Clock"), row_for("Clock"), replace(row_for("Notepad"), application="mousepad")]
    assert names_of(rows) == ["clock [1]", "clock [2]", "mousepad (for Notepad)"]


def image(*pixels: int, width: int = 2) -> Image:
    """A picture of grey pixels."""
    return Image(width, len(pixels) // width, bytes(value for grey in pixels for value in (grey, grey, grey)))


def test_a_pixel_has_changed_if_any_channel_has() -> None:
    assert changed_fraction(image(0, 0, 0, 0), image(0, 0, 0, 0)) == 0
    assert changed_fraction(image(0, 0, 0, 0), image(0, 9, 0, 9)) == 0.5
    blue = Image(1, 2, bytes([0, 0, 1, 0, 0, 0]))
    assert changed_fraction(blue, Image(1, 2, bytes(6))) == 0.5


def seen(place: int, name: str, *, state: int = 0, window: Box | None = None) -> Arrival:
    return Arrival(EpisodeId(0, place), Decision(state, "memo"), 1, Evidence(screenshot=name, window=window))


def test_pictures_are_compared_with_the_founding_one_in_their_window(tmp_path: Path) -> None:
    """Outside the window everything differs, inside one pixel of two; another size has one of its own."""
    artifacts = LocalArtifacts(tmp_path)
    founding = artifacts.put_image(image(1, 1, 5, 5))
    later = artifacts.put_image(image(2, 2, 5, 6))
    larger = artifacts.put_image(image(7, 7, 7, 7, 7, 7))
    sample = PictureSample()
    below = Box(0, 1, 2, 1)
    for place, (name, window) in enumerate(
        [(founding, below), (later, below), (founding, below), (larger, None)]
    ):
        sample.note(seen(place, name, window=window))
    (found,) = sample.compare("run", artifacts, most=10)
    assert (found.state, found.pictures, found.fraction) == (0, 1, 0.5)


def test_no_more_pictures_are_read_than_allowed_and_few_of_one_state(tmp_path: Path) -> None:
    artifacts = LocalArtifacts(tmp_path)
    sample = PictureSample()
    for place in range(3 * PER_STATE):
        sample.note(seen(place, artifacts.put_image(image(place, 0))))
    sample.note(seen(99, artifacts.put_image(image(1, 2)), state=1))  # nothing to compare it with
    (found,) = sample.compare("run", artifacts, most=1_000)
    assert (found.pictures, found.fraction) == (PER_STATE, 0.5)
    assert list(sample.compare("run", artifacts, most=PER_STATE)) == []


def test_a_picture_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    artifacts = LocalArtifacts(tmp_path)
    sample = PictureSample()
    for place, name in enumerate(
        [artifacts.put_image(image(1, 1)), artifacts.put_image(image(1, 2)), "0" * 64]
    ):
        sample.note(seen(place, name))
    (found,) = sample.compare("run", artifacts, most=10)
    assert (found.pictures, found.fraction) == (1, 0.5)


def test_bars_of_changed_pixels_are_fine_near_zero() -> None:
    bars = dict(pixel_bars([0.0, 0.0, 0.0005, 0.01, 0.011, 0.4, 1.0]))
    assert bars == {
        "none": 2, "0.1 %": 1, "1 %": 1, "2 %": 1, "5 %": 0, "10 %": 0, "20 %": 0, "50 %": 1, "100 %": 1,
    }  # fmt: skip


def test_latency_is_told_for_parts_of_enough_steps() -> None:
    bins = latency_bins(array("f", [0.5] * 60 + [2.0] * 60))
    assert [(each.step, each.p50) for each in bins] == [(60, 0.5), (120, 2.0)]
    assert [each.step for each in latency_bins(array("f", [1.0] * 7))] == [7]
    assert latency_bins(array("f")) == []


def test_a_long_curve_keeps_its_ends() -> None:
    points = [(float(place), place) for place in range(5_000)]
    assert len(thinned(points)) <= 400
    assert (thinned(points)[0], thinned(points)[-1]) == (points[0], points[-1])
    assert thinned(points[:3]) == points[:3]


SVG = "{http://www.w3.org/2000/svg}"


def test_a_logarithmic_axis_marks_powers_of_ten_and_leaves_out_zero() -> None:
    chart = xy_chart({"<b>": [(0, 0), (1, 2), (7, 200)]}, title="t", x_label="x", y_label="y", log_y=True)
    root = ElementTree.fromstring(chart)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"1", "10", "100", "1,000", "<b>"} <= set(texts)
    (line,) = root.iter(f"{SVG}polyline")
    (_, low), (_, high) = (tuple(map(float, point.split(","))) for point in line.attrib["points"].split())
    marks = {text.text: float(text.attrib["y"]) - 4 for text in root.iter(f"{SVG}text") if "y" in text.attrib}
    # From 2 to 200 is two of the three decades that are drawn.
    assert low - high == pytest.approx((marks["1"] - marks["1,000"]) * 2 / 3, abs=0.2)


def test_bars_are_as_high_as_their_counts() -> None:
    root = ElementTree.fromstring(
        bar_chart([("one", 10), ("none", 0), ("two", 20)], title="t", x_label="x", y_label="y")
    )
    _, *bars = root.iter(f"{SVG}rect")  # the first is the background
    low, high = (float(bar.attrib["height"]) for bar in bars)
    assert high == pytest.approx(2 * low, abs=0.2)


def test_charts_of_nothing_are_charts() -> None:
    for chart in (
        xy_chart({}, title="t", x_label="x", y_label="y", log_y=True),
        xy_chart({"a": []}, title="t", x_label="x", y_label="y"),
        bar_chart([], title="t", x_label="x", y_label="y", log_y=True),
    ):
        assert ElementTree.fromstring(chart).tag == f"{SVG}svg"
