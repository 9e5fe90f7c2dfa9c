"""The presets are files that a person reads: they must say everything, and only what is true."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.config import Settings, load_preset, presets, resolve, to_toml
from screensearch.config.settings import declared_settings, items_of


def text_of(preset: str) -> str:
    return files("screensearch").joinpath("presets", f"{preset}.toml").read_text(encoding="utf-8")


@pytest.fixture(params=presets())
def preset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_preset_names_every_setting_and_nothing_else(preset: str) -> None:
    named = [key for key, _ in items_of(tomllib.loads(text_of(preset)))]
    assert sorted(named) == sorted(declared_settings())


def test_every_value_of_a_preset_is_explained(preset: str) -> None:
    """A comment ends the line of each value, or stands on the line above it."""
    lines = text_of(preset).splitlines()
    bare = [
        line
        for above, line in zip(["", *lines], lines, strict=False)
        if re.match(r"[\w.]+ = ", line) and " # " not in line and not above.startswith("#")
    ]
    assert bare == []


def test_the_default_preset_is_the_defaults_of_the_code() -> None:
    assert load_preset("default") == Settings()


def test_the_paper_preset_is_the_reported_run_configuration() -> None:
    """Table "Retrieval and one-step PUCT configuration used for the reported runs", row by row."""
    paper = load_preset("paper")
    assert paper.identify.identifier == "hybrid"
    assert paper.identify.filters == ("display_mode", "text_size")
    assert (paper.embed.name, paper.embed.model) == ("openai", "text-embedding-3-small")
    assert paper.identify.fused_top == 200
    merge = paper.identify.merge
    assert (merge.threshold, merge.role_weight, merge.text_weight) == (0.93, 0.5, 0.5)
    assert (paper.select.selector, paper.select.c_puct) == ("puct", 1.0)
    assert paper.select.prior == "heuristic@1"
    assert (paper.select.overlap_weight, paper.select.typing_weight) == (0.2, 0.15)
    assert tuple(paper.reward.weights) == (1.0, 1.0, 1.0)
    assert (paper.ambiguity.kappa, paper.ambiguity.prior_ambiguity) == (20.0, 0.5)
    assert paper.explore.episode_steps == 50


def test_our_default_knows_the_window_and_needs_no_embedding() -> None:
    default = load_preset("default")
    assert default.identify.identifier == "exact"
    assert "window" in default.identify.filters
    assert {"display_mode", "text_size"} <= set(default.identify.filters)


def test_settings_written_as_toml_read_back_the_same(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "written.toml"
    path.write_text(to_toml(load_preset(preset)), encoding="utf-8")
    for other in presets():
        assert resolve(other, [path]) == load_preset(preset)


printable = st.text(st.characters(codec="utf-8"), max_size=30)


@given(
    instruction=printable,
    patterns=st.lists(printable.map(re.escape), max_size=3),
    kappa=st.floats(0, 1e12),
    limit=st.integers(1, 10_000),
    dimensions=st.none() | st.integers(1, 8192),
    scroll=st.booleans(),
)
def test_any_values_survive_being_written(
    tmp_path_factory: pytest.TempPathFactory,
    instruction: str,
    patterns: list[str],
    kappa: float,
    limit: int,
    dimensions: int | None,
    scroll: bool,
) -> None:
    document = msgspec.to_builtins(Settings())
    document["select"]["instruction"] = instruction
    document["encode"]["masks"]["patterns"] = patterns
    document["encode"]["masks"]["regions"] = [{"left": 0.25, "right": 0.5}]
    document["guard"]["rules"] = [{"name": "deny_labels", "patterns": patterns}]
    document["ambiguity"]["kappa"] = kappa
    document["candidates"]["limit"] = limit
    document["candidates"]["scroll"] = scroll
    document["embed"]["dimensions"] = dimensions
    settings = msgspec.convert(document, Settings)
    path = tmp_path_factory.mktemp("written") / "settings.toml"
    path.write_text(to_toml(settings), encoding="utf-8", newline="")
    assert resolve("paper", [path]) == settings


def test_written_settings_keep_the_explanations() -> None:
    text = to_toml(resolve("paper", overrides=["select.c_puct=2.5"]))
    assert re.search(r"^c_puct = 2\.5  # .+$", text, flags=re.MULTILINE)
    assert text.count("# How an observation becomes a screen") == 1
    assert "The preset `default`" not in text
