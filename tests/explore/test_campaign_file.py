"""What a campaign file says, and how it is told what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from screensearch import StopRule
from screensearch.environments.desktop.profiles import profile_names
from screensearch.errors import SettingsError
from screensearch.explore.campaign.file import Above, Campaign, campaign_names, read_campaign

HEAD = "stop.steps = 10\n"
NOTEPAD = '[[run]]\ntarget = "synthetic:notepad"\n'


def read(folder: Path, text: str) -> Campaign:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return read_campaign(path)


def test_defaults_lie_over_the_profile_and_a_run_over_the_defaults(tmp_path: Path) -> None:
    campaign = read(
        tmp_path,
        "at_once = 3\nworkers = 2\nseed = 7\n[stop]\nsteps = 100\n[candidates]\nwait = false\n"
        '[[run]]\ntarget = "galculator"\n'
        '[[run]]\ntarget = "galculator"\nname = "dark"\nworkers = 4\nseed = 8\n'
        '[run.app]\ndisplay_modes = ["dark"]\n[run.stop]\nsteps = 50\nplateau = "none"\n',
    )
    first, second = campaign.runs
    assert (campaign.name, campaign.at_once) == ("mine", 3)
    assert (first.name, first.environment, first.workers, first.seed) == (
        "galculator",
        "desktop:galculator",
        2,
        7,
    )
    assert first.stop == StopRule(steps=100, plateau=600)  # the plateau is the profile's
    assert first.settings.app.display_modes == ("light", "dark")
    assert (second.name, second.workers, second.seed) == ("dark", 4, 8)
    assert second.stop == StopRule(steps=50)
    assert second.settings.app.display_modes == ("dark",)
    assert not first.settings.candidates.wait
    assert not second.settings.candidates.wait


def test_seeds_make_as_many_runs_each_with_a_folder_of_its_own(tmp_path: Path) -> None:
    campaign = read(tmp_path, f"seeds = [1, 2]\n{HEAD}{NOTEPAD}{NOTEPAD}name = 'once'\nseed = 5\n")
    assert [(run.name, run.seed) for run in campaign.runs] == [
        ("synthetic-notepad-1", 1),
        ("synthetic-notepad-2", 2),
        ("once", 5),
    ]


def test_files_that_it_names_are_relative_to_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (below / "app.py").touch()
    (below / "own.toml").write_text('[app]\ncommand = ["true"]\n')
    (below / "preset.toml").write_text("[select]\nc_puct = 9\n")
    monkeypatch.chdir(tmp_path)
    Path("below/mine.toml").write_text(
        HEAD + '[[run]]\ntarget = "own.toml"\npreset = "preset.toml"\n[[run]]\ncommand = ["true", "app.py"]\n'
    )
    own, command = read_campaign("below/mine.toml").runs
    assert (own.name, own.environment, own.settings.select.c_puct) == ("own", "desktop:own", 9)
    assert command.settings.app.command == ("true", str(below / "app.py"))


def test_workers_of_the_command_line_stand_above_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"{HEAD}{NOTEPAD}workers = 2\n")
    assert [run.workers for run in read_campaign(path, Above(workers=5)).runs] == [5]


def test_pictures_of_each_run_go_below_its_own_name_and_a_folder_is_relative_to_the_file(
    tmp_path: Path,
) -> None:
    head = f'{HEAD}artifacts = "pictures"\n'
    own = f"{NOTEPAD}name = 'own'\nartifacts = 's3://lab/own/'\n"
    runs = read(tmp_path, f"{head}{NOTEPAD}name = 'two'\nseeds = [1, 2]\n{own}").runs
    assert [run.artifacts for run in runs] == [
        f"{tmp_path}/pictures/two-1",
        f"{tmp_path}/pictures/two-2",
        "s3://lab/own/own",
    ]
    above = read_campaign(tmp_path / "mine.toml", Above(artifacts="file:///elsewhere"))
    assert [run.artifacts for run in above.runs][1:] == ["/elsewhere/two-2", "/elsewhere/own"]
    assert [run.artifacts for run in read(tmp_path, HEAD + NOTEPAD).runs] == [""]


def test_a_cluster_and_a_store_of_the_command_line_stand_above_the_file(tmp_path: Path) -> None:
    text = f'cluster = "lab1:6379"\n{HEAD}{NOTEPAD}store = "postgresql://me@lab1/x"\n'
    campaign = read(tmp_path, text)
    assert (campaign.cluster, [run.store for run in campaign.runs]) == (
        "lab1:6379",
        ["postgresql://me@lab1/x"],
    )
    above = Above(cluster="auto", store="postgresql://me@lab2/y")
    campaign = read_campaign(tmp_path / "mine.toml", above)
    assert (campaign.cluster, [run.store for run in campaign.runs]) == ("auto", ["postgresql://me@lab2/y"])


MISTAKES = {
    "no TOML": (f"{HEAD}[[run]\n", "line 2"),
    "no run": (HEAD, "has no run: add a line [[run]]"),
    "one run without its second bracket": (
        '[run]\ntarget = "mousepad"\n',
        "line 1: run is no list of tables",
    ),
    "unknown at the top": (
        f"worker = 2\n{HEAD}{NOTEPAD}",
        "line 1: a campaign has no 'worker' here; did you",
    ),
    "unknown in a run": (
        f"{HEAD}{NOTEPAD}nane = 'x'\n",
        "line 4: a campaign has no 'nane' here; did you mean 'n",
    ),
    "at_once in a run": (f"{HEAD}{NOTEPAD}at_once = 2\n", "line 4: a campaign has no 'at_once' here"),
    "target at the top": (f'target = "mousepad"\n{HEAD}{NOTEPAD}', "line 1: a campaign has no 'target' here"),
    "unknown setting": (
        f"{HEAD}select.c_pukt = 1\n{NOTEPAD}",
        "line 2: no setting named 'select.c_pukt'; did",
    ),
    "unknown setting of a run": (
        f"{HEAD}{NOTEPAD}{NOTEPAD}name = 'b'\n[run.stop]\nstep = 1\n",
        "line 8: no setting named 'stop.step'; did you mean 'stop.steps'",
    ),
    "wrong type of a setting": (f"{HEAD}{NOTEPAD}stop.steps = 'many'\n", "line 4: stop.steps is 'many'"),
    "setting out of range": (f"{HEAD}{NOTEPAD}stop.steps = 0\n", "line 4: stop.steps is 0, but must be >= 1"),
    "no stop rule": (NOTEPAD, "line 2: an exploration needs a stop rule"),
    "workers in words": (
        f"workers = 'two'\n{HEAD}{NOTEPAD}",
        "line 1: workers is 'two'; it must be a whole num",
    ),
    "no workers": (f"{HEAD}{NOTEPAD}workers = 0\n", "line 4: workers is 0; it must be a whole number"),
    "none at once": (
        f"at_once = 0\n{HEAD}{NOTEPAD}",
        "line 1: at_once is 0; it must be a whole number of runs",
    ),
    "seed below zero": (
        f"seed = -1\n{HEAD}{NOTEPAD}",
        "line 1: seed is -1; it must be a whole number from 0",
    ),
    "seed and seeds": (f"seed = 1\nseeds = [1]\n{HEAD}{NOTEPAD}", "line 2: seed and seeds are both given"),
    "a seed twice": (f"{HEAD}{NOTEPAD}seeds = [1, 1]\n", "line 4: seeds = [1, 1] holds a seed twice"),
    "no seeds": (f"{HEAD}{NOTEPAD}seeds = []\n", "line 4: seeds is []; it must be a list of whole numbers"),
    "a cluster in a run": (
        f"{HEAD}{NOTEPAD}cluster = 'auto'\n",
        "line 4: a campaign has no 'cluster' here",
    ),
    "a cluster by a number": (
        f"cluster = 6379\n{HEAD}{NOTEPAD}",
        "line 1: cluster is 6379; it must be the address of a Ray cluster",
    ),
    "a cluster without a store": (
        f"cluster = 'auto'\n{HEAD}{NOTEPAD}store = 'postgresql://me@host/x'\n{NOTEPAD}name = 'b'\n",
        "line 6: a run on a cluster needs a log that all its machines can reach: add store = ",
    ),
    "artifacts without a place": (
        f"{HEAD}artifacts = 's3://'\n{NOTEPAD}",
        "line 2: the location of the artifacts, s3://, names no place",
    ),
    "nothing to explore": (f"{HEAD}[[run]]\nname = 'x'\n", "line 2: a run needs something to explore"),
    "two things to explore": (f"{HEAD}{NOTEPAD}command = ['true']\n", "line 4: target and command are two"),
    "an empty command": (
        f"{HEAD}[[run]]\ncommand = []\n",
        "line 3: command is []; it must be a list of words",
    ),
    "unknown application": (f"{HEAD}[[run]]\ntarget = 'mousepat'\n", "line 3: no application profile named"),
    "unknown environment": (f"{HEAD}[[run]]\ntarget = 'syntetic:x'\n", "line 3: no environment named"),
    "unknown preset": (
        f"{HEAD}{NOTEPAD}preset = 'papper'\n",
        "line 3: no preset named 'papper'; did you mean",
    ),
    "no such profile": (f"{HEAD}[[run]]\ntarget = 'none.toml'\n", "none.toml' cannot be read"),
    "a name that is a path": (
        f"{HEAD}{NOTEPAD}name = '../x'\n",
        "line 4: '../x' cannot be the name of a run's",
    ),
    "a name of ours": (
        f"{HEAD}{NOTEPAD}name = 'campaign.json'\n",
        "line 4: 'campaign.json' cannot be the name",
    ),
    "a name twice": (f"{HEAD}{NOTEPAD}{NOTEPAD}", "line 4: there is a run named 'synthetic-notepad' already"),
    "a name that seeds make again": (
        f"{HEAD}{NOTEPAD}name = 'a'\nseeds = [1]\n{NOTEPAD}name = 'a-1'\n",
        "line 6: there is a run named 'a-1' already (campaign file",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_line_and_what_to_do(mistake: str, tmp_path: Path) -> None:
    text, told = MISTAKES[mistake]
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"campaign file '{tmp_path / 'mine.toml'}'")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('store = ["postgresql://me:secret@host/x"]', "line 2: store must be the address"),
        ('artifacts = ["s3://key:secret@lab/x"]', "line 2: artifacts must be a folder or a URL"),
        ('artifacts = "s3://key:secret@lab/x"', "line 2: the location of the artifacts, s3://…, holds a key"),
    ],
)
def test_an_address_that_may_hold_a_secret_is_not_shown(line: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=told) as caught:
        read(tmp_path, f"{HEAD}{line}\n{NOTEPAD}")
    assert "secret" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"campaign file .*nowhere\.toml' cannot be read"):
        read_campaign(tmp_path / "nowhere.toml")
    with pytest.raises(SettingsError, match="no campaign named 'papper'; did you mean 'paper'"):
        read_campaign("papper")


def test_the_corpus_of_the_paper_is_one_campaign_of_eleven_applications() -> None:
    assert "paper" in campaign_names()
    campaign = read_campaign("paper")
    assert len(campaign.runs) == 11
    assert {run.environment.removeprefix("desktop:") for run in campaign.runs} <= set(profile_names())
    assert sum(run.stop.steps or 0 for run in campaign.runs) == 1_007_406  # screenshots, as the paper counts
    looks = {
        (run.environment, run.settings.app.display_modes, run.settings.app.text_scales)
        for run in campaign.runs
    }
    assert len(looks) == 11  # no graph is made twice


def test_the_shipped_campaigns_can_be_read_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in campaign_names():
        assert read_campaign(name).runs
    assert os.listdir(tmp_path) == []
