"""What a person may want explored: an environment, a profile by name or file, a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screensearch.config import (
    load_preset,
    resolve,
    settings_document,
    settings_for,
    settings_from_document,
    to_toml,
    written_at,
)
from screensearch.config.layers import build, preset_layer, text_layer
from screensearch.environments.desktop import profiles
from screensearch.errors import SettingsError, UnknownPlugin


def written(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of profiles in place of the one that is shipped."""
    written(tmp_path, '[candidates]\nkeys = ["Return"]\nlimit = 70\n', "base.toml")
    written(tmp_path, '[app]\ncommand = ["editor"]\n[candidates]\nlimit = 80\n', "editor.toml")
    monkeypatch.setattr(profiles, "PROFILE_FOLDER", tmp_path)
    return tmp_path


def test_an_environment_gets_the_preset_and_no_profile() -> None:
    assert settings_for("synthetic:notepad") == ("synthetic:notepad", resolve())
    assert settings_for("synthetic", "paper", ["select.c_puct=2"]) == (
        "synthetic",
        resolve("paper", overrides=["select.c_puct=2"]),
    )


def test_preset_base_profile_and_override_apply_in_this_order(shipped: Path) -> None:
    environment, settings = settings_for("editor")
    assert environment == "desktop:editor"
    assert settings.app.command == ("editor",)
    assert settings.candidates.keys == ("Return",)  # the base over the preset
    assert settings.candidates.limit == 80  # the profile over the base
    assert settings_for("editor", overrides=["candidates.limit=90"])[1].candidates.limit == 90
    assert settings_for("editor", "paper")[1].identify == resolve("paper").identify


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "placements = [{ width = 800, height = 600, x = 300 }]\n",
            r"line 3: app.placements\[0\] reaches to 1100×600, and the screen is 1024×768: make it smaller",
        ),
        (
            "[[app.placements]]\nwidth = 90\nheight = 90\n"
            "[[app.placements]]\nwidth = 90\nheight = 90\ny = 700\n",
            r"line 6: app.placements\[1\] reaches to 90×790",
        ),
        (
            "documents = ['notes.text']\n[[app.files]]\npath = 'notes.txt'\n",
            r"line 3: app.documents\[0\] is 'notes.text', which is not in the home of a new episode; "
            r"did you mean 'notes.txt'\?: seed it",
        ),
        (
            "documents = ['a.txt', '/no/such/b.txt']\n[[app.files]]\npath = 'a.txt'\n",
            r"line 3: app.documents\[1\] is '/no/such/b.txt', and there is no such file",
        ),
        ("documents = ['/home/user/c.txt']\n", r"line 3: app.documents\[0\] is '/home/user/c.txt', which is"),
        (
            "documents = ['seeds/none.txt']\n[[app.files]]\npath = 'seeds'\nsource = 'sown'\n",
            r"line 3: app.documents\[0\] is 'seeds/none.txt', which is not in the home",
        ),
    ],
)
def test_a_document_or_a_placement_that_cannot_work_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "sown").mkdir()
    with pytest.raises(SettingsError, match=rf"mine.toml', {message}"):
        settings_for(written(tmp_path, f"[app]\ncommand = ['editor']\n{text}"))


def test_documents_that_an_episode_finds_or_that_are_no_files_are_taken(tmp_path: Path) -> None:
    (tmp_path / "sown").mkdir()
    (tmp_path / "sown" / "one.txt").touch()
    seeded = ["a.txt", "letters", "/home/user/a.txt", "seeds/one.txt", "seeds", "./"]
    others = ["-n", "file:///x.y", "env", str(tmp_path / "sown" / "one.txt")]
    text = (
        f"[app]\ncommand = ['editor']\ndocuments = {[*seeded, *others]}\n"
        "files = [{ path = 'a.txt' }, { path = 'letters/b.txt' }, { path = 'seeds', source = 'sown' }]\n"
        "placements = [{ width = 1024, height = 768 }]\n"
    )
    assert settings_for(written(tmp_path, text))[1].app.documents[:2] == ("a.txt", "letters")
    home = "[app]\ncommand = ['editor']\ndocuments = ['mine.txt']\n[desktop]\nsandbox = false\n"
    assert settings_for(written(tmp_path, home))[1].app.documents == ("mine.txt",)


STEPS = "start = [\n  { click = 'a' },\n  # the second\n  { press = 'Return' },\n]\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"[app]\ncommand = ['editor']\n{STEPS}", 6),
        ("[app]\ncommand = ['e']\n[[app.start]]\nclick = 'a'\n[[app.start]]\npress = 'Return'\n", 5),
        ("[app]\nstart = [{ click = 'a' }, { press = 'Return' }]\ncommand = ['e']\n", 2),
    ],
)
def test_where_a_step_of_the_start_script_is_written_can_be_told(
    tmp_path: Path, text: str, line: int
) -> None:
    profile = written(tmp_path, text)
    key = ("app", "start", "1")
    assert written_at(key, profile) == f"profile {profile!r}, line {line}"
    override = "app.start=[{click='a'}]"
    assert written_at(key, profile, overrides=[override]) == f"--set {override!r}"
    for other in ("mousepad", ("mousepad",)):
        assert (written_at(key, other) or "").startswith("preset 'default', line")
    assert written_at(key, ("mousepad",), written(tmp_path, "", "empty.toml")) is None


def test_a_profile_may_be_named_by_the_environment_too(shipped: Path) -> None:
    assert settings_for("desktop:editor") == settings_for("editor")


def test_a_profile_file_is_a_layer_over_the_base(shipped: Path, tmp_path: Path) -> None:
    path = written(tmp_path, '[app]\ncommand = ["gimp", "-s"]\n[stop]\nminutes = 3\n', "drawing.toml")
    environment, settings = settings_for(path)
    assert environment == "desktop:drawing"
    assert settings.app.command == ("gimp", "-s")
    assert settings.candidates.keys == ("Return",)
    assert settings.stop.minutes == 3.0


def test_a_command_needs_no_profile(shipped: Path) -> None:
    environment, settings = settings_for(["/usr/bin/editor", "--new", "a b.txt"])
    assert environment == "desktop:editor"
    assert settings.app.command == ("/usr/bin/editor", "--new", "a b.txt")
    assert settings.candidates.keys == ("Return",)


def test_a_program_named_by_a_relative_path_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings_for(["./tool"])[1].app.command == (str(tmp_path / "tool"),)


@pytest.mark.parametrize("command", [[], [""]])
def test_an_empty_command_is_refused(command: list[str]) -> None:
    with pytest.raises(SettingsError, match="the command is empty"):
        settings_for(command)


def test_an_unknown_target_gets_the_nearest_name_and_the_way_to_explore_a_command(shipped: Path) -> None:
    with pytest.raises(
        SettingsError,
        match=r"no application profile named 'edtor'; did you mean 'editor'\? \(profiles: editor; "
        r"environments: .*synthetic:\); .*screensearch explore -- edtor",
    ):
        settings_for("edtor")
    with pytest.raises(SettingsError, match="did you mean 'synthetic:'"):
        settings_for("synthetics")
    with pytest.raises(UnknownPlugin, match="did you mean 'synthetic'"):
        settings_for("synthetik:notepad")


@pytest.mark.parametrize("name", ["base", "../editor", "", "desktop:nothing", "desktop:", "desktop"])
def test_what_is_no_application_is_no_profile(shipped: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="no application profile named"):
        settings_for(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[candidates]\nlimit = 3\n", r"^profile '.*mine.toml': app.command is empty.*\[app\]"),
        ("\n[app]\ncommand = []\n", r"mine.toml', line 3: app.command is empty"),
        ('[app]\ncomand = ["x"]\n', r"mine.toml', line 2: no setting .*did you mean 'app.command'"),
        ('[app]\ncommand = "x"\n', r"mine.toml', line 2: app.command is 'x': expected `array`"),
        (
            '[app]\ncommand = ["x"]\ndisplay_modes = ["dusk"]\n',
            r"mine.toml', line 3: app.display_modes holds 'dusk'",
        ),
        (
            '[app]\ncommand = ["x"]\n[[app.files]]\npath = "a"\n[[app.files]]\npth = "b"\n',
            r"mine.toml', line 6: an entry of app.files has no 'pth'; did you mean 'path'\?",
        ),
        (
            '[app]\ncommand = ["x"]\n\n[[app.files]]\npath = "a"\ntext = 3\n',
            r"mine.toml', line 6: app.files is .*expected `str`",
        ),
        (
            '[app]\ncommand = ["x"]\n\n[[app.files]]\npath = "a"\n[[app.files]]\nsource = "x.txt"\n',
            r"mine.toml', line 7: app.files names the source 'x.txt', and there is no /.*x.txt: put it there",
        ),
        ('[app]\ncommand = ["x"]\nstart = [{ clikc = "a" }]\n', r"line 3: .*has no 'clikc'.*'click'"),
        ('[app]\ncommand = ["x"]\nstart = [{ }]\n', r"line 3: app.start\[0\] has nothing; each step"),
        ("[app\n", r"mine.toml' is not TOML"),
    ],
)
def test_a_bad_profile_is_named_with_the_line_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings_for(written(tmp_path, text))


def test_the_sources_of_files_are_found_beside_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets" / "one.csv").write_text("1,2\n")
    text = '[app]\ncommand = ["x"]\nfiles = [{ path = "one.csv", source = "sheets/one.csv" }]\n'
    path = written(tmp_path, text)
    monkeypatch.chdir("/")
    (file,) = settings_for(path)[1].app.files
    assert file.source == str(tmp_path / "sheets" / "one.csv")


def test_a_source_in_an_override_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    files = 'app.files=[{path="a.txt", source="a.txt"}]'
    (file,) = settings_for(["x"], overrides=[files])[1].app.files
    assert file.source == str(tmp_path / "a.txt")


def test_every_shipped_profile_is_complete() -> None:
    assert "mousepad" in profiles.profile_names()
    for name in profiles.profile_names():
        environment, settings = settings_for(name)
        assert environment == f"desktop:{name}"
        assert settings.app.title, name
        assert settings.app.packages, name
        assert settings.desktop.sandbox, name


def test_the_base_profile_alone_is_sound() -> None:
    text = profiles.profile_text(profiles.BASE)
    assert text is not None
    assert build([preset_layer("default"), text_layer("base", text)]).app.command == ()


@pytest.mark.parametrize("name", profiles.profile_names())
def test_a_profile_survives_being_stored_and_being_written(name: str, tmp_path: Path) -> None:
    settings = settings_for(name)[1]
    assert settings_from_document(json.loads(json.dumps(settings_document(settings)))) == settings
    path = written(tmp_path, to_toml(settings), "written.toml")
    assert settings_for(path)[1] == settings


def test_files_that_a_command_names_are_named_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.py").touch()
    monkeypatch.chdir(tmp_path)
    _, settings = settings_for(["python3", "app.py", "--fast", "new.txt"])
    assert settings.app.command == ("python3", str(tmp_path / "app.py"), "--fast", "new.txt")


def test_the_papers_preset_keeps_its_own_actions_and_weights_on_a_desktop() -> None:
    _, ours = settings_for("mousepad")
    _, paper = settings_for("mousepad", preset="paper")
    assert paper.app.command == ours.app.command
    assert paper.candidates.double_click_roles == ()
    assert paper.select == load_preset("paper").select
    assert paper.select != ours.select


def test_a_settings_file_as_preset_lies_over_what_is_shipped_for_every_application(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("[select]\nc_puct = 3.0\n")
    _, settings = settings_for("mousepad", preset=mine)
    assert settings.select.c_puct == 3.0
    assert settings.candidates.double_click_roles != ()
