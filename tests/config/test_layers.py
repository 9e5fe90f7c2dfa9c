from __future__ import annotations

from pathlib import Path

import pytest

from screensearch.act.guard import GUARDS, Guard
from screensearch.config import Settings, load_preset, presets, resolve, settings_for
from screensearch.encode.embed import EMBEDDERS, EmbedSettings, HashingEmbedder
from screensearch.errors import EmbeddingFailed, PluginUnavailable, SettingsError


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_later_layers_win(tmp_path: Path) -> None:
    path = written(tmp_path, "[select]\nc_puct = 2.0\noverlap_weight = 3.0\n")
    settings = resolve("default", [path], ["select.c_puct=4"])
    assert (settings.select.c_puct, settings.select.overlap_weight) == (4.0, 3.0)
    assert settings.select.selector == "puct"


def test_what_a_file_does_not_name_stays_as_the_preset_says(tmp_path: Path) -> None:
    path = written(tmp_path, "ambiguity.kappa = 5\n")
    paper, changed = resolve("paper"), resolve("paper", [path])
    assert changed.ambiguity.kappa == 5.0
    assert changed.identify == paper.identify


def test_a_preset_can_be_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, '[reward]\nobjective = "novelty"\n')
    assert load_preset(path).reward.objective == "novelty"
    assert load_preset(str(path)) == load_preset(path)


def test_an_override_is_read_as_toml_or_else_as_text() -> None:
    settings = resolve(
        overrides=[
            "reward.objective=novelty",
            'select.instruction="find the printer"',
            "select.count_in_flight=true",
            'candidates.texts=["a", "b"]',
            "ambiguity.kappa=7",
        ]
    )
    assert settings.reward.objective == "novelty"
    assert settings.select.instruction == "find the printer"
    assert settings.select.count_in_flight is True
    assert settings.candidates.texts == ("a", "b")
    assert settings.ambiguity.kappa == 7.0


def test_an_override_may_hold_an_equals_sign() -> None:
    assert resolve(overrides=["select.instruction=a=b"]).select.instruction == "a=b"


def test_an_optional_setting_is_cleared_with_none() -> None:
    assert resolve(overrides=["embed.dimensions=64"]).embed.dimensions == 64
    assert resolve(overrides=["embed.dimensions=64", "embed.dimensions=none"]).embed.dimensions is None


def test_none_is_a_text_where_a_value_must_be() -> None:
    assert resolve(overrides=["select.instruction=none"]).select.instruction == "none"


def test_settings_that_only_fit_together_may_come_one_by_one() -> None:
    settings = resolve(overrides=["identify.merge.role_weight=0.25", "identify.merge.text_weight=0.75"])
    assert settings.identify.merge.role_weight == 0.25


def test_resolving_changes_no_preset() -> None:
    before = resolve()
    resolve(overrides=['candidates.texts=["changed"]'])
    assert resolve() == before


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["select.c_puckt=2"], r"--set 'select.c_puckt=2': no setting named .*did you mean 'select.c_puct'"),
        (["kappa=2"], r"no setting named 'kappa'; did you mean 'ambiguity.kappa'"),
        (["selekt.zzzzzz=2"], r"no setting named 'selekt.zzzzzz' \(known: app, desktop, .*encode, .*stop\)"),
        (["reward.zzzzzz=2"], r"no setting named .*\(known: reward.objective, reward.state"),
        (["select=2"], r"select is a table, not a setting; it holds .*select.c_puct"),
        (["select.c_puct"], r"--set 'select.c_puct' is not of the form table.key=value"),
        (["=2"], r"not of the form"),
        (["select.c_puct=high"], r"--set 'select.c_puct=high': select.c_puct is 'high': expected `float`"),
        (["select.count_in_flight=1"], r"select.count_in_flight is 1: expected `bool`"),
        (["candidates.limit=1.5"], r"candidates.limit is 1.5: expected `int`"),
        (["select.instruction=2024"], r"select.instruction is 2024: expected `str`"),
        (["candidates.texts=[1]"], r"candidates.texts is \[1\]: expected `str`"),
        (["ambiguity.kappa=-1"], r"^--set 'ambiguity.kappa=-1': ambiguity.kappa is -1.0"),
        (["identify.merge.threshold=1.5", "select.c_puct=2"], r"^--set 'identify.merge.threshold=1.5': "),
        (["reward.objective=curiosity"], r"^--set 'reward.objective=curiosity': .*one of full, novelty"),
        (["explore.screenshots=some"], r"explore.screenshots is 'some', but must be 'all' or 'none'"),
        (["embed.dimensions=big"], r"embed.dimensions is 'big': expected `int \| none`, got `str`"),
        (["guard.rules=[3]"], r"guard.rules is \[3\]: expected `table`, got `int`"),
        (["explore.episode_steps=0"], r"explore.episode_steps is 0, but must be >= 1"),
        (["explore.checkpoint_every=0"], r"explore.checkpoint_every is 0, but must be >= 1"),
        (["encode.masks.regions=[{lefft=0.1}]"], r"no 'lefft'; did you mean 'left'\?"),
    ],
)
def test_a_bad_override_is_named_with_what_to_do(overrides: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        resolve(overrides=overrides)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[select]\n\n# how bold\nc_pukt = 2.0\n", r"mine.toml', line 4: no setting .*'select.c_puct'"),
        ("[select]\nc_puct = 'bold'\n", r"mine.toml', line 2: select.c_puct is 'bold': expected `float`"),
        ("[select]\nselector = 'puct'\nc_puct = -2\n", r"mine.toml', line 3: select.c_puct is -2.0, but"),
        ("identify.merge.threshold = 0.0\n", r"mine.toml', line 1: "),
        ("[select\n", r"mine.toml' is not TOML: .*line 1"),
        ('[app]\nname = "x"\ncommand = ["x"\n', r"mine.toml' is not TOML: .*begins on line 3 is not closed"),
        (
            "[selekt]\nc_puct = 1.0\n",
            r"line 2: no setting named 'selekt.c_puct'; did you mean 'select.c_puct'",
        ),
    ],
)
def test_a_bad_file_is_named_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        resolve(files=[written(tmp_path, text)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[select]\n\nselector = 'puckt'\n", r"line 3: select.selector: no selector .*did you mean 'puct'"),
        (
            "[select]\nprior = 'heuristic'\n",
            r"line 2: select.prior: no prior named 'heuristic'; did you mean",
        ),
        ("[identify]\nidentifier = 'exakt'\n", r"line 2: identify.identifier: .*did you mean 'exact'"),
        ("[embed]\nname = 'hashin'\n", r"line 2: embed.name: no embedder .*did you mean 'hashing'"),
        (
            "[embed]\nname = 'wordllama'\ndimensions = 7\n",
            r"line 3: embed.dimensions = 7: wordllama",
        ),
        ("[embed]\nname = 'openai'\nmodel = 'x'\n", r"line 3: embed.model is 'x', .*set embed.dimensions"),
        (
            "[guard]\n[[guard.rules]]\n[[guard.rules]]\nname = 'deny_lables'\n",
            r"line 4: guard.rules\[1\].name: no guard .*did you mean 'deny_labels'",
        ),
        (
            "[[guard.rules]]\npatterns = ['a']\n[[guard.rules]]\npatterns = ['b', '(']\n",
            r"line 4: guard.rules\[1\].patterns: deny_labels.patterns\[1\] = '\(' is not",
        ),
        (
            "[[guard.rules]]\nname = 'irreversible'\npatterns = ['(']\n",
            r"line 3: guard.rules\[0\].patterns: irreversible.patterns\[0\] = '\(' is not",
        ),
        ("[redact]\npatterns = ['(']\n", r"line 2: redact.patterns\[0\] = '\(' is not a regular expression"),
        ("[redact]\npatterns = ['a*']\n", r"line 2: redact.patterns\[0\] = 'a\*' matches the empty text"),
        ("[redact]\nat = 'night'\n", r"line 2: redact.at is 'night'"),
        ("[encode.masks]\npatterns = ['[z-a]']\n", r"line 2: masks.patterns\[0\] = '\[z-a\]' is not"),
        (
            "[[encode.masks.regions]]\nleft = 0.1\n[[encode.masks.regions]]\nleft = 2.0\n",
            r"line 3: masks.regions\[1\] is .*not inside the window",
        ),
        ("[candidates]\ntexts = ['a', '']\n", r"line 2: candidates.texts\[1\]: .*must have 1 to"),
        ("[candidates]\nwait = true\nkeys = ['Escpe']\n", r"line 3: candidates.keys\[0\]: no key 'Escpe'"),
        ("[candidates]\nscroll_amount = 0\n", r"line 2: candidates.scroll_amount: .*must be in \[1, 100\]"),
        ("[[app.files]]\npath = 'a'\n[[app.files]]\npath = '/b'\n", r"line 4: app.files\[1\].path is '/b'"),
        ("[[app.start]]\nclick = 'a'\n[[app.start]]\npress = 'Entr'\n", r"line 4: app.start\[1\].press is"),
        (
            "[[app.start]]\nclick = 'a'\n[[app.start]]\npress = 'a'\ntype = 'b'\n",
            r"line 3: app.start\[1\] has press and type; each step is exactly one of",
        ),
        (
            "[[app.placements]]\nwidth = 90\nheight = 90\n[[app.placements]]\nwidth = 9\nheight = 90\n",
            r"line 4: app.placements\[1\] is",
        ),
    ],
)
def test_what_a_name_or_a_pattern_stands_for_is_checked_with_the_line_it_stands_on(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=rf"mine.toml', {message}"):
        resolve(files=[written(tmp_path, text)])


@pytest.mark.parametrize(
    ("preset", "profile", "overrides", "place"),
    [
        ("[explore]\nstep_deadline_seconds = 31.5\n", "", [], r"mine.toml', line 2: "),
        ("[select]\nc_puct = 2.0\n", "[desktop]\ngrace_seconds = 55\n", [], r"app.toml', line 4: "),
        ("[desktop]\nhang_seconds = 40\n", "", [], r"mine.toml', line 2: "),
        ("", "", ["explore.step_deadline_seconds=9"], r"^--set 'explore.step_deadline_seconds=9': "),
    ],
)
def test_a_live_desktop_whose_hangs_could_never_be_told_is_refused_with_the_line(
    tmp_path: Path, preset: str, profile: str, overrides: list[str], place: str
) -> None:
    app = tmp_path / "app.toml"
    app.write_text(f"[app]\ncommand = ['true']\n{profile}", encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"{place}explore.step_deadline_seconds is .*raise the first"):
        settings_for(str(app), written(tmp_path, preset), overrides)


def test_an_environment_that_is_no_desktop_may_have_any_deadline() -> None:
    overrides = ["explore.step_deadline_seconds=1"]
    assert settings_for("synthetic:notepad", overrides=overrides)[1].explore.step_deadline_seconds == 1
    _, settings = settings_for(["true"], overrides=["explore.step_deadline_seconds=32"])
    assert settings.explore.step_deadline_seconds == 32


def test_a_guard_that_cannot_be_made_is_a_mistake_of_its_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(patterns: tuple[str, ...]) -> Guard:
        raise ValueError("three patterns, please")

    monkeypatch.setitem(GUARDS._registered, "particular", make)
    path = written(tmp_path, "[[guard.rules]]\nname = 'particular'\n")
    with pytest.raises(SettingsError, match=r"line 1: .*'particular' .*ValueError: three patterns, please"):
        resolve(files=[path])


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (
            ValueError("odd sizes, please"),
            r"line 3: embed.name: .*'particular' .*ValueError: odd sizes, please",
        ),
        (EmbeddingFailed("nobody there"), r"line 3: embed.name: nobody there"),
        (SettingsError("embed.dimensions = 64: 65, please"), r"line 2: embed.dimensions = 64: 65, please"),
        (PluginUnavailable("no key"), None),
    ],
)
def test_an_embedder_that_refuses_a_size_is_a_message_whatever_it_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, message: str | None
) -> None:
    class Particular(HashingEmbedder):
        @staticmethod
        def size_for(settings: EmbedSettings) -> int:
            raise raised

    monkeypatch.setitem(EMBEDDERS._registered, "particular", Particular)
    path = written(tmp_path, "[embed]\ndimensions = 64\nname = 'particular'\n")
    if message is None:
        assert resolve(files=[path]).embed.name == "particular"
        return
    with pytest.raises(SettingsError, match=message):
        resolve(files=[path])


def test_a_plugin_that_wants_something_of_this_machine_is_no_mistake_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert resolve(files=[written(tmp_path, "[embed]\nname = 'openai'\n")]).embed.name == "openai"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"missing.toml' cannot be read: .*No such file"):
        resolve(files=[tmp_path / "missing.toml"])
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"binary.toml' cannot be read"):
        resolve(files=[binary])


def test_an_unknown_preset_gets_help() -> None:
    with pytest.raises(
        SettingsError, match=r"no preset named 'papre'; did you mean 'paper'\?.*default, paper"
    ):
        load_preset("papre")


def test_an_error_of_a_bad_type_that_a_later_layer_repairs_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, "[select]\nc_puct = 'bold'\n")
    assert resolve(files=[path], overrides=["select.c_puct=2"]).select.c_puct == 2.0
    with pytest.raises(SettingsError, match=r"^--set 'ambiguity.kappa=-1'"):
        resolve(files=[path], overrides=["select.c_puct=2", "ambiguity.kappa=-1"])


def test_every_shipped_preset_loads() -> None:
    assert presets() == ["default", "paper"]
    for name in presets():
        assert isinstance(load_preset(name), Settings)
