from __future__ import annotations

import pytest

from screensearch.environments.protocol import Means
from screensearch.environments.synthetic import declared, open_world
from screensearch.environments.synthetic.arguments import parse
from screensearch.errors import SettingsError


def test_the_argument_of_the_issue_is_understood() -> None:
    parsed = parse("generated?states=10000&branching=8&aliasing=0.2&noise=0.1&seed=3")
    assert parsed.generator is not None
    assert (parsed.generator.states, parsed.generator.branching, parsed.generator.seed) == (10_000, 8, 3)
    assert (parsed.generator.aliasing, parsed.noise) == (0.2, 0.1)


def test_variables_with_several_initial_values_can_be_pinned() -> None:
    assert parse("settings?managed=true&modes=dark").initial == (
        ("display_mode", ("dark",)),
        ("managed", (True,)),
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("", r"no application '' \(known: notepad, files, settings, generated\)"),
        ("notpad", "no application 'notpad'; did you mean 'notepad'"),
        ("notepad?mode=dark", "no option 'mode'; did you mean 'modes'"),
        ("notepad?modes=drak", "no value of display_mode 'drak'; did you mean 'dark'"),
        ("notepad?clipboard=gamma", r"no value of clipboard 'gamma' .*known: alpha, beta"),
        ("files?states=10", r"no option 'states'.*known: modes, text_scales, content, access, noise, scales"),
        ("generated?state=10", "no option 'state'; did you mean 'states'"),
        ("generated?states=many", "states='many' is not a whole number"),
        ("generated?aliasing=2", "aliasing=2.0 is not within"),
        ("notepad?noise=7", "noise=7.0 is not within"),
        ("notepad?noise", r"options look like \?key=value"),
        ("notepad?noise=0&noise=1", "given twice"),
    ],
)
def test_a_bad_argument_is_explained(argument: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        open_world(argument, Means(screenshots=False))


def test_the_size_of_the_truth_is_known_for_generated_applications() -> None:
    summary = declared("generated?states=1200&aliasing=0.2")
    assert (summary.states, summary.screens, summary.aliased) == (1200, 1000, 200)
    assert declared("generated?races=0.1").aliased is None
