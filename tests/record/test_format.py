"""What no writer wrote is refused, also where it could be passed over."""

from __future__ import annotations

from typing import Any

import pytest

from screensearch.domain.transition import Choice, Decision, EpisodeId, Evidence, FailedStart, Outcome, Reward
from screensearch.domain.transition import Transition as Step
from screensearch.errors import FormatError
from screensearch.record.format import decode_entry, encode_entry

FAILED = FailedStart(EpisodeId(0, 3), Outcome.CRASH, Evidence(), (("content", "a"),), "it was killed")
STEP = Step(
    EpisodeId(0, 3),
    1,
    0,
    "click",
    Outcome.OK,
    Decision(0, "memo"),
    1,
    Choice("click", 0, 2, 0.5, 0.0, 0, 0.5),
    Reward(False, False, 0.0, 0.5),
    Evidence(),
)


@pytest.mark.parametrize(
    "foreign",
    [
        {"source": 0},
        {"signature": "click"},
        {"target": 0},
        {"founded": True},
        {"snapshot": 0},
        {"reward": 0.0},
        {"screen": 1},
        {"detail": encode_entry(STEP).detail},
    ],
)
def test_a_failed_start_with_parts_of_a_step_is_damage(foreign: dict[str, Any]) -> None:
    stored = encode_entry(FAILED)
    assert decode_entry(stored) == FAILED
    with pytest.raises(FormatError, match=r"step 0 of .* is a failed start with .*: the log is damaged"):
        decode_entry(stored._replace(**foreign))
