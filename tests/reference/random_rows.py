"""Small random logs, as rows: few states and signatures, so that everything repeats."""

from __future__ import annotations

from hypothesis import strategies as st

from screensearch.domain.shard import first_of
from screensearch.record.log import Row

SIGNATURES = ("click::a", "click::b", "type::é\u2028::x")
FAILED_STARTS = ("start:crash", "start:hang", "start:exit")
FAILURES = ("capture", "crash", "hang", "exit", "missed", "lost")

_rewards = st.floats(min_value=0.0, max_value=3.0, allow_nan=False)


@st.composite
def row_lists(draw: st.DrawFn, max_size: int = 60) -> list[Row]:
    """Rows that a log could hold: numbered from 1, dense states, sources that were reached before."""
    rows: list[Row] = []
    states = 0
    for sequence in range(1, draw(st.integers(0, max_size)) + 1):
        starts = ("start", draw(st.sampled_from(FAILED_STARTS)))
        kind = draw(st.sampled_from((*starts, "ok", "ok", "ok", "ok", *FAILURES) if states else starts))
        target: int | None = draw(st.integers(0, min(states, 6)))
        source = draw(st.integers(0, states - 1)) if states else 0
        signature = draw(st.sampled_from(SIGNATURES))
        if kind in starts:
            target = target if kind == "start" else None
            rows.append(Row(sequence, kind, None, None, target, None))
        elif kind == "ok":
            rows.append(Row(sequence, kind, source, signature, target, draw(_rewards)))
        else:
            target = target if kind == "missed" else None
            rows.append(Row(sequence, kind, source, None if kind == "lost" else signature, target, None))
        states = states + 1 if target == states else states
    return rows


@st.composite
def shard_lists(draw: st.DrawFn) -> list[list[Row]]:
    """The rows of some shards, each numbered from 1. Steps may end in states of others."""
    shards = [draw(row_lists(max_size=25)) for _ in range(draw(st.integers(1, 4)))]
    return [_crossing(draw, number, rows, len(shards)) for number, rows in enumerate(shards)]


def _crossing(draw: st.DrawFn, number: int, rows: list[Row], shards: int) -> list[Row]:
    crossing: list[Row] = []
    for row in rows:
        source = None if row.source is None else first_of(number) + row.source
        target = None if row.target is None else first_of(number) + row.target
        founds = target is not None and all(each.target != target for each in crossing)
        outcome = row.outcome
        if outcome == "start" and draw(st.booleans()):
            outcome = "landing"
        elif outcome == "ok" and not founds and draw(st.booleans()):
            target = first_of(draw(st.integers(0, shards - 1))) + draw(st.integers(0, 6))
            if target // first_of(1) == number:
                target = source  # its own states are dense: this one is there
        crossing.append(Row(row.sequence, outcome, source, row.signature, target, row.reward))
    return crossing
