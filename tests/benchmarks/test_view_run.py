"""The generated run is a run like any other, as large as was asked for."""

from __future__ import annotations

from pathlib import Path

from screensearch import open_run
from view_run import make_run


def test_a_generated_run_has_exactly_what_was_asked_for_and_holds_together(tmp_path: Path) -> None:
    make_run(tmp_path / "run", states=40, edges=130)
    with open_run(tmp_path / "run") as run:
        verification = run.verify()
        assert verification.problems == ()
        assert (verification.states, verification.edges) == (40, 130)
        assert verification.screenshots > 5
        states = list(run.states())
        assert len({state.display_mode for state in states}) > 1
        assert len({state.window for state in states}) > 5
        assert max(state.ambiguity for state in states) > min(state.ambiguity for state in states)


def test_one_seed_gives_one_graph(tmp_path: Path) -> None:
    digests = set()
    for place, seed in (("a", 3), ("b", 3), ("c", 4)):
        make_run(tmp_path / place, states=30, edges=80, seed=seed)
        with open_run(tmp_path / place) as run:
            digests.add((seed, run.graph.digest()))
    assert len(digests) == 2
