"""Which shard a step belongs to that was lost with its worker."""

from __future__ import annotations

import pytest

from screensearch.cluster.names import WorkerReport
from screensearch.cluster.workers import shard_of_loss

HEARD_OF_IN_TWO = WorkerReport(
    node="",
    node_id="",
    process=1,
    silent_seconds=0.0,
    waits=False,
    shard=2,
    steps=0,
    starts=1,
    told_to_end=False,
)


@pytest.mark.parametrize(
    ("stands", "shard"),
    [
        ({0: (4, 7)}, 0),
        ({0: (4, 7), 1: (3, 50)}, 0),  # an earlier episode ended there
        ({0: (4, 7), 1: (4, 8)}, 0),  # step 8 has landed there, and was not recorded where it began
        ({0: (2, 50), 1: (4, 8), 2: (3, 50)}, 1),
        ({}, 2),  # it stands nowhere: whoever heard of it last counts the failure
    ],
)
def test_a_step_is_lost_where_it_began(stands: dict[int, tuple[int, int]], shard: int) -> None:
    assert shard_of_loss(stands, HEARD_OF_IN_TWO) == shard


def test_a_worker_that_was_never_heard_of_is_a_matter_of_the_first_shard() -> None:
    assert shard_of_loss({}, None) == 0
