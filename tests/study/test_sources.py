"""Where dispersion comes from: cases worked by hand, and that the parts add up whatever happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screensearch.record.ambiguity import dispersion
from screensearch.study.sources import Sources, Trial, find_sources


def trial(rest: str, *, state: str = "s", signature: str = "click") -> Trial:
    """A trial from its true screen, true state, true successor and successor: ``A1>Bb``."""
    before, _, after = rest.partition(">")
    return Trial(state, signature, after[1], before[0], before, after[0])


def parts(*written: str) -> tuple[float, float, float, float, float]:
    found = find_sources([trial(each) for each in written])
    return found.pooled, found.merged, found.hidden, found.timing, found.split


def test_two_true_screens_in_one_state_explain_all_by_merging() -> None:
    assert parts("A1>Xx", "B1>Yy", "A1>Xx", "B1>Yy") == (1, 1, 0, 0, 0)


def test_two_true_states_behind_one_screen_are_hidden_state() -> None:
    assert parts("A1>Xx", "A2>Yy", "A1>Xx", "A2>Yy") == (1, 0, 1, 0, 0)


def test_one_true_state_that_goes_two_ways_is_timing() -> None:
    assert parts("A1>Xx", "A1>Yy") == (1, 0, 0, 1, 0)


def test_one_true_successor_in_two_states_is_split() -> None:
    assert parts("A1>Xx", "A1>Xy") == (1, 0, 0, 0, 1)


def test_successors_that_differ_in_truth_and_are_one_state_do_not_disperse() -> None:
    assert parts("A1>Xx", "A1>Yx", "B1>Zx") == (0, 0, 0, 0, 0)


def test_a_mixture_is_divided_as_by_hand() -> None:
    """Screen A always leads to x; B has two hidden states, one leads to x and the other to y.

    Of 8 trials 6 lead to x and 2 to y: H = 0.8113 bit, k = 2. Knowing the screen: half the trials are A (0
    bit), half are B with 2 and 2 (1 bit): 0.5 left. Knowing the state: B1 is certain, B2 always leads to y:
    nothing left.
    """
    found = parts(*["A1>Xx"] * 4, *["B1>Xx"] * 2, *["B2>Yy"] * 2)
    assert found == pytest.approx((0.8113, 0.3113, 0.5, 0, 0), abs=1e-4)


def test_groups_weigh_as_they_were_tried_and_certain_ones_count() -> None:
    trials = [trial("A1>Xx"), trial("A1>Yy")] + [trial("A1>Xx", signature="type")] * 6
    found = find_sources(trials)
    assert (found.trials, found.repeated, found.dispersed) == (8, 8, 1)
    assert (found.pooled, found.timing) == (0.25, 0.25)


def test_labels_that_never_repeat_explain_no_more_than_chance_does() -> None:
    """Every trial in a true state of its own: each explains its one successor, and so does any label."""
    found = find_sources([trial(f"A{number}>{'Xx' if number % 2 else 'Yy'}") for number in range(8)])
    assert (found.pooled, found.hidden) == (1, 1)
    assert found.hidden_by_chance == pytest.approx(1)


def test_labels_that_repeat_explain_more_than_chance_does() -> None:
    found = find_sources([trial(each) for each in ["A1>Xx"] * 20 + ["A2>Yy"] * 20])
    assert found.hidden == 1
    assert found.hidden_by_chance < 0.2
    assert found.merged_by_chance == 0


def test_without_trials_there_is_nothing() -> None:
    assert find_sources([]) == Sources(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


many_trials = st.lists(
    st.builds(
        Trial,
        st.sampled_from("st"),
        st.sampled_from(["click", "type"]),
        st.sampled_from("xyz"),
        st.sampled_from("AB"),
        st.sampled_from("123"),
        st.sampled_from("XYZ"),
    ),
    max_size=40,
)


@given(many_trials)
def test_the_parts_add_up_to_the_mean_dispersion_of_all_trials(trials: Sequence[Trial]) -> None:
    found = find_sources(trials)
    assert min(found.merged, found.hidden, found.timing, found.split) >= 0
    assert found.merged + found.hidden + found.timing + found.split == pytest.approx(found.pooled)
    counts: defaultdict[str, defaultdict[str, defaultdict[str, int]]]
    counts = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for each in trials:
        counts[str(each.state)][each.signature][str(each.successor)] += 1
    total = 0.0
    for actions in counts.values():
        tried = sum(sum(successors.values()) for successors in actions.values())
        total += tried * dispersion([successors.values() for successors in actions.values()], tried)
    assert found.pooled == pytest.approx(total / len(trials) if trials else 0)


@given(many_trials)
def test_what_is_known_in_full_leaves_nothing_to_finer_steps(trials: Sequence[Trial]) -> None:
    """If the true screen decides the successor, only merging disperses."""
    certain = [Trial(t.state, t.signature, t.true_screen, t.true_screen, "1", "X") for t in trials]
    found = find_sources(certain)
    assert found.merged == pytest.approx(found.pooled)
    assert found.hidden + found.timing + found.split == pytest.approx(0)
