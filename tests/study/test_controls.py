"""The controls: their arithmetic against the paper's tables, and on a world whose clipboard is known."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from screensearch.cli import main
from screensearch.config import settings_from_document
from screensearch.environments.protocol import Environment, Means, Start
from screensearch.environments.specification import open_environment
from screensearch.environments.synthetic.world import World
from screensearch.errors import EnvironmentFailed, FormatError, SettingsError
from screensearch.record.ambiguity import Dispersion
from screensearch.study.controls import conduct, trial
from screensearch.study.controls.conduct import plan_application, run_controls
from screensearch.study.controls.figures import (
    ControlSummary,
    ProbeRow,
    Reading,
    disclosure,
    dispersion_by_clipboard,
    paste_seconds,
    summarise,
)
from screensearch.study.controls.plan import (
    PROBES,
    TOKENS,
    ControlFolder,
    ControlPlan,
    Kind,
    Moment,
    Place,
    Trial,
    read_plan,
    read_trials,
)
from screensearch.study.controls.report import write_report
from screensearch.study.controls.tables import CAUSAL, PROBE, tables_latex, tables_page

NOTEPAD = "synthetic:notepad"
NAME = "synthetic-notepad"
RESULTS = Path(__file__).parents[2] / "docs" / "results"


def plan_of(target: str = NOTEPAD, *, trials: int = 6, race_trials: int = 8, seed: int = 3) -> ControlPlan:
    return ControlPlan(
        applications=[plan_application(target)],
        trials=trials,
        race_trials=race_trials,
        seed=seed,
        version="test",
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ControlSummary]:
    """Controls that nothing happened to."""
    folder = tmp_path_factory.mktemp("controls")
    plan = plan_of()
    summary, _ = write_report(plan, run_controls(plan, folder), folder)
    return folder, summary


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def rounded(split: Dispersion) -> tuple[float, float, float]:
    return round(split.pooled, 3), round(split.within, 3), round(split.between, 3)


def probe(summary: ControlSummary, kind: Kind) -> ProbeRow:
    return next(row for row in summary.probes if row.condition is kind)


def causal(summary: ControlSummary, kind: Kind, reading: Reading) -> tuple[float, float, float]:
    (row,) = [each for each in summary.causal if (each.source, each.reading) == (kind, reading)]
    return row.pooled, row.within, row.between


# -- arithmetic -----------------------------------------------------------------------------------


def test_outcomes_that_follow_the_clipboard_are_the_papers_first_row() -> None:
    seen = [(token, token) for token in TOKENS for _ in range(10)]
    assert rounded(dispersion_by_clipboard(seen)) == CAUSAL[Kind.HIDDEN][1:] == (1.0, 0.0, 1.0)


def test_six_against_four_within_one_condition_is_the_papers_second_row() -> None:
    seen = [("alpha", "alpha")] * 6 + [("alpha", "beta")] * 4
    assert rounded(dispersion_by_clipboard(seen)) == CAUSAL[Kind.RACE][1:] == (0.971, 0.971, 0.0)


def test_what_is_partly_hidden_and_partly_late_is_divided_between_the_two() -> None:
    seen = [("alpha", "alpha")] * 10 + [("beta", "beta")] * 5 + [("beta", "alpha")] * 5
    assert rounded(dispersion_by_clipboard(seen)) == (0.811, 0.5, 0.311)


def test_disclosure_is_the_share_of_the_clipboard_that_an_observation_tells() -> None:
    assert disclosure([(token, token) for token in TOKENS]) == 1.0
    assert disclosure([(token, "the same") for token in TOKENS]) == 0.0
    told = disclosure([("alpha", "alpha"), ("alpha", ""), ("beta", ""), ("beta", "")])
    assert told == pytest.approx(0.311, abs=0.001)  # of one bit, that of one trial in four
    assert disclosure([("alpha", "alpha"), ("alpha", "")]) is None  # nothing was hidden


def test_a_race_is_set_up_by_the_latest_pastes_that_were_timed() -> None:
    def timed(kind: Kind, seconds: float | None, failure: str | None = None) -> Trial:
        return Trial(Place(NAME, kind, 0), "alpha", taken_seconds=seconds, failure=failure)

    assert paste_seconds([timed(Kind.HIDDEN, 1.0), timed(Kind.TIMING, None)]) is None
    early = [timed(Kind.TIMING, seconds) for seconds in (9.0, 1.0, 5.0, 2.0, 3.0)]
    assert paste_seconds(early) == 3.0
    later = [timed(Kind.RACE, 7.0), timed(Kind.RACE, 8.0), timed(Kind.RACE, 99.0, "environment")]
    assert paste_seconds([*early, *later]) == 5.0


# -- the plan -------------------------------------------------------------------------------------


def test_clipboards_are_balanced_in_an_order_of_their_own_for_each_seed_and_kind() -> None:
    plan = plan_of(trials=20)
    orders = set()
    for kind in (Kind.HIDDEN, *PROBES):
        for seed in range(3):
            order = [replace(plan, seed=seed).clipboard(Place(NAME, kind, each)) for each in range(20)]
            assert [order.count(token) for token in TOKENS] == [10, 10]
            orders.add(tuple(order))
    assert len(orders) == 12
    assert {plan.clipboard(Place(NAME, Kind.RACE, each)) for each in range(8)} == {"alpha"}
    shares = [plan.delay_share(Place(NAME, Kind.RACE, each)) for each in range(50)]
    assert 0 <= min(shares) < 0.2 < 1.8 < max(shares) <= 2


def test_what_cannot_be_controlled_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="even number"):
        plan_of(trials=3)
    with pytest.raises(SettingsError, match="no clipboard that can be set"):
        run_controls(plan_of("synthetic:files"), tmp_path)
    with pytest.raises(SettingsError, match="give each once"):
        replace(plan_of(), applications=[plan_application(NOTEPAD)] * 2)
    with pytest.raises(SettingsError, match="leave the sandbox"):
        plan_application("mousepad", ("desktop.sandbox=false",))


# -- on the synthetic notepad ---------------------------------------------------------------------


def test_the_tables_of_the_paper_come_out_where_they_are_deterministic(
    finished: tuple[Path, ControlSummary],
) -> None:
    summary = finished[1]
    for reading in (Reading.DOCUMENT, Reading.TRUE_SCREEN):
        assert causal(summary, Kind.HIDDEN, reading) == CAUSAL[Kind.HIDDEN][1:]
        pooled, within, between = causal(summary, Kind.RACE, reading)
        assert pooled == within > 0 == between  # both came out
    for kind, theirs in PROBE.items():
        row = probe(summary, kind)
        assert (row.disclosure, row.destination_dispersion, row.accuracy) == theirs
    assert [probe(summary, kind).returned for kind in PROBES] == [None, 6, 6]
    assert [probe(summary, kind).document_dispersion for kind in PROBES] == [None, 0.0, 0.0]
    assert [probe(summary, kind).evidence for kind in PROBES] == [0, 6, 0]


def test_that_the_identity_rule_takes_two_pasted_words_for_one_state_is_told() -> None:
    """On the full screen of this notepad a word weighs less than the threshold forgives."""
    plan = plan_of("synthetic:notepad?noise=0", trials=2, race_trials=1)
    trials = [trial_of(plan, Place(plan.applications[0].name, Kind.HIDDEN, each)) for each in range(2)]
    forgiving = summarise(plan, trials)
    assert causal(forgiving, Kind.HIDDEN, Reading.STATE) == (0.0, 0.0, 0.0)
    assert causal(forgiving, Kind.HIDDEN, Reading.DOCUMENT) == (1.0, 0.0, 1.0)
    (about,) = forgiving.applications
    assert about.paste_likeness is not None
    assert 0.93 < about.paste_likeness < 1
    assert "one state" in tables_page(forgiving)
    strict = plan_application("synthetic:notepad?noise=0", ("identify.merge.threshold=0.999",))
    judged = summarise(replace(plan, applications=[strict]), trials)
    assert causal(judged, Kind.HIDDEN, Reading.STATE) == (1.0, 0.0, 1.0)
    assert "two states" in tables_page(judged)


def trial_of(plan: ControlPlan, place: Place) -> Trial:
    settings = settings_from_document(plan.application(place.application).settings)
    return conduct._run(plan, settings, place, None)


def test_a_clipboard_that_is_not_set_changes_every_figure_that_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_as = World.reset_as

    async def forgetful(self: World[object], configuration: Mapping[str, str], seed: int) -> Start:
        return await set_as(self, {**configuration, "clipboard": "beta"}, seed)

    monkeypatch.setattr(World, "reset_as", forgetful)
    plan = plan_of()
    summary = summarise(plan, run_controls(plan, tmp_path))
    assert causal(summary, Kind.HIDDEN, Reading.DOCUMENT) == (0.0, 0.0, 0.0)
    row = probe(summary, Kind.PASTE_UNDO)
    assert (row.disclosure, row.accuracy, row.evidence) == (0.0, 0.5, 6)  # it tells, and tells wrong


def test_a_paste_that_is_not_undone_is_no_return_and_spoils_the_commitment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "UNDO", "f9")
    plan = plan_of()
    summary = summarise(plan, run_controls(plan, tmp_path))
    row = probe(summary, Kind.PASTE_UNDO)
    assert (row.disclosure, row.returned, row.document_dispersion) == (1.0, 0, 1.0)
    kept = [each for each in read_trials(tmp_path / "results.jsonl.gz") if each.place.kind is Kind.PASTE_UNDO]
    ends = {(sight.document or "")[-5:] for each in kept if (sight := each.sight(Moment.DESTINATION))}
    assert ends == {"alpha", "\nbeta"}


# -- what befalls a study -------------------------------------------------------------------------

DYING = """
import os, signal, sys
from pathlib import Path
from screensearch.study.controls import conduct, trial
from screensearch.study.controls.plan import read_plan
run, begun = trial.run_trial, 0
async def dying(*given):
    global begun
    begun += 1
    if begun == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return await run(*given)
trial.run_trial = dying
conduct.run_controls(read_plan(Path(sys.argv[1])), sys.argv[1])
"""


def test_controls_killed_in_the_middle_and_resumed_equal_those_that_were_not(
    finished: tuple[Path, ControlSummary], tmp_path: Path
) -> None:
    plan = plan_of()
    ControlFolder(tmp_path).begin(plan)
    killed = subprocess.run([sys.executable, "-c", DYING, str(tmp_path), "11"])
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.rglob("trials/**/*.json"))) == 10
    again: list[Trial] = []
    trials = run_controls(plan, tmp_path, on_trial=lambda trial, done, total: again.append(trial))
    assert len(again) == len(trials) - 10
    write_report(plan, trials, tmp_path)
    assert written(tmp_path) == written(finished[0])


def test_a_failure_around_the_application_is_tried_once_more_then_recorded_and_is_no_outcome(
    finished: tuple[Path, ControlSummary], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of()
    opened: list[str] = []

    def failing(specification: str, means: Means) -> Environment:
        opened.append(specification)
        if len(opened) in (1, 5, 6):  # the first trial once, the fourth twice
            raise EnvironmentFailed("no display today")
        return open_environment(specification, means)

    with monkeypatch.context() as patched:
        patched.setattr(trial, "open_environment", failing)
        trials = run_controls(plan, tmp_path)
    assert [each.tries for each in trials[:5]] == [2, 1, 1, 2, 1]
    assert [each.failure for each in trials[:5]] == [None, None, None, "environment", None]
    summary, _ = write_report(plan, trials, tmp_path)
    (row,) = [each for each in summary.causal if (each.source, each.reading) == (Kind.RACE, "document")]
    assert row.trials == 7
    assert (
        "2 of them run twice; failed and left out: 1 by environment" in (tmp_path / "tables.md").read_text()
    )
    assert run_controls(plan, tmp_path) == trials  # it counts as finished
    again = run_controls(plan, tmp_path, retry_failed=True)
    assert [each.failure for each in again] == [None] * len(again)
    assert again[1:] == read_trials(finished[0] / "results.jsonl.gz")[1:]


def test_an_action_that_does_not_end_well_makes_a_failed_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "FILE", "Fail")
    plan = plan_of()
    found = trial_of(plan, Place(NAME, Kind.FILE_MENU, 0))
    assert (found.failure, found.note) == ("missed", "nothing that can be clicked is called 'Fail'")
    summary = summarise(plan, [found])
    assert (summary.probes, summary.applications[0].failures) == ([], {"missed": 1})


def test_a_folder_of_other_controls_is_left_alone_and_damaged_results_are_refused(
    finished: tuple[Path, ControlSummary], tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="their seed differ"):
        run_controls(plan_of(seed=4), finished[0])
    with pytest.raises(SettingsError, match=r"no study\.json"):
        read_plan(tmp_path)
    (tmp_path / "cut.gz").write_bytes((finished[0] / "results.jsonl.gz").read_bytes()[:-40])
    with pytest.raises(FormatError, match="restore it"):
        read_trials(tmp_path / "cut.gz")
    damaged = shutil.copytree(finished[0], tmp_path / "damaged")
    trial = next(damaged.rglob("trials/**/*.json"))
    trial.write_bytes(trial.read_bytes()[:100])
    with pytest.raises(FormatError, match=rf"{trial.name}.*remove it"):
        run_controls(plan_of(), damaged)


# -- what is left behind --------------------------------------------------------------------------


def test_the_command_writes_tables_with_the_papers_figures_beside_ours(tmp_path: Path) -> None:
    options = ["study", "controls", "--app", NOTEPAD, "--trials", "2", "--race-trials", "1"]
    ran = CliRunner().invoke(main, [*options, "--out", str(tmp_path), "--json"])
    assert ran.exit_code == 0, ran.output
    answer = json.loads(ran.stdout)
    assert [row["condition"] for row in answer["summary"]["probes"]] == list(PROBES)
    assert all(Path(path).exists() for path in answer["files"])
    again = CliRunner().invoke(main, [*options, "--out", str(tmp_path)])
    assert f"| {NAME} | No probe | 2 (20) | 0.000 (0.000) | – (–) | 0.500 (0.500) |" in again.stdout
    latex = (tmp_path / "tables.tex").read_text()
    assert r" & File-menu navigation & 2 (20) & 0.000 (0.000) & 0.000 (0.000) & 0.500 (0.500)\\" in latex
    odd = CliRunner().invoke(main, ["study", "controls", "--trials", "3", "--out", str(tmp_path)])
    assert "even number" in odd.output


@pytest.mark.parametrize("name", ["controls", "controls-races"])
def test_the_stored_tables_follow_from_the_stored_trials(name: str) -> None:
    folder = RESULTS / name
    trials = read_trials(folder / "results.jsonl.gz")
    summary = summarise(read_plan(folder), trials)
    assert tables_page(summary) == (folder / "tables.md").read_text()
    assert tables_latex(summary) == (folder / "tables.tex").read_text()
    races = [each for each in trials if each.place.kind is Kind.RACE and each.taken is not None]
    for each in races:
        assert each.taken_seconds is not None
        assert each.delay_seconds is not None
        assert each.taken == ("alpha" if each.taken_seconds < each.delay_seconds else "beta")
