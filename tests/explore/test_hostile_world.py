"""Whatever a backend reports, the loop goes on, the log holds, and other states stay what they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import examples
from sightings import observation, open_store
from trees import any_observation

from screensearch.config import resolve
from screensearch.domain.screen import Observation
from screensearch.domain.transition import EpisodeId, Evidence, Outcome
from screensearch.explore.messages import Begin, Receipt, Report
from screensearch.explore.mind import Mind
from screensearch.explore.verify import verify_log
from screensearch.explore.wire import Frames, pack
from screensearch.record.local_artifacts import LocalArtifacts

SETTINGS = resolve(overrides=["explore.screenshots=none"])


async def walk(mind: Mind, folder: Path, seen: list[Observation]) -> None:
    """Land on each observation in turn, sending every message over the wire format."""
    store = open_store(folder, SETTINGS)
    sighting, _ = await mind.see(observation("home", "sweet", "home"))
    episode = EpisodeId(0, 0)
    ((answer),) = store.handle([_travelled(Begin(episode, sighting, Evidence()))])
    assert isinstance(answer, Receipt)
    before = store.log.screen(1)
    now = observation("home", "sweet", "home")
    for step, after in enumerate(seen, start=1):
        chosen = mind.choose(now, answer)
        assert chosen is not None  # waiting is always possible
        sighting, _ = await mind.see(after)
        assert answer.here is not None
        report = Report(episode, step, answer.here.state, chosen[1], Outcome.OK, sighting, Evidence())
        ((answer),) = store.handle([_travelled(report)])
        assert isinstance(answer, Receipt)
        mind.learn_row(sighting, answer)
        now = after
    assert store.log.screen(1) == before
    store.checkpoint()
    assert verify_log(store.log, SETTINGS, LocalArtifacts(folder / "artifacts")).problems == ()
    store.log.close()


def _travelled(message: Begin | Report) -> Begin | Report:
    (arrived,) = Frames().feed(pack(message))
    assert isinstance(arrived, Begin | Report)
    return arrived


def _of_toy(seen: Observation) -> Observation:
    """The same nonsense, but the target application's own, so that it offers candidates."""
    return replace(seen, elements=tuple(replace(each, application="toy") for each in seen.elements))


@settings(
    deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seen=st.lists(any_observation, min_size=1, max_size=4))
async def test_no_tree_stops_the_loop_or_changes_another_state(
    seen: list[Observation], tmp_path_factory: pytest.TempPathFactory
) -> None:
    await walk(Mind(SETTINGS, "toy"), tmp_path_factory.mktemp("hostile"), [_of_toy(each) for each in seen])
