"""The graph of a log without folding all of it: checkpoints hold most of the work."""

from __future__ import annotations

import math
from itertools import takewhile

from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.graph import StateGraph
from screensearch.record.log import Log
from screensearch.record.sharded_log import ShardedLog


def restore_graph(log: Log, settings: AmbiguitySettings) -> StateGraph:
    """The graph of a log: its latest checkpoint, then the tail; of several shards, those of each, joined."""
    if not isinstance(log, ShardedLog):
        return _restored(log, settings)
    parts = zip(log.shards, log.lengths, strict=True)
    return StateGraph.join((_restored(each, settings, last) for (_, each), (_, last) in parts), settings)


def _restored(log: Log, settings: AmbiguitySettings, last: float = math.inf) -> StateGraph:
    """As of the `last` entry, or of now."""
    checkpoint = log.latest_checkpoint()
    start = None if checkpoint is None else StateGraph.load(checkpoint.graph)
    if start is not None and start.sequence > last:  # it was written since
        start = None
    rows = log.rows(0 if start is None else start.sequence)
    return StateGraph.fold(takewhile(lambda row: row.sequence <= last, rows), settings, start=start)
