"""Entries and screens of every shape that a log must keep."""

from __future__ import annotations

from hypothesis import strategies as st

from screensearch.domain.screen import Metadata, Screen
from screensearch.domain.transition import (
    START_FAILURES,
    Arrival,
    Choice,
    Decision,
    Entry,
    EpisodeId,
    Evidence,
    FailedStart,
    Outcome,
    Reward,
    RunnerUp,
    Transition,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9)
shares = st.floats(min_value=0.0, max_value=1.0)
counts = st.integers(0, 2**40)
evidence = st.builds(Evidence, st.none() | texts, act_seconds=shares, decide_seconds=shares)
runners_up = st.none() | st.builds(RunnerUp, counts, shares)
rewards = st.builds(Reward, st.booleans(), st.booleans(), shares, numbers)
screens = st.builds(
    Screen,
    key=st.sampled_from("abc"),
    role_atoms=st.just(("r0_c0|button",)),
    text_atoms=st.lists(texts, max_size=3).map(tuple),
    text=texts,
    metadata=st.builds(Metadata, texts, st.sampled_from(("light", "dark")), st.just("medium"), texts),
)


def decisions(known: int) -> st.SearchStrategy[Decision]:
    """A decision for a state that was founded before, or for the next one."""

    def decide(state: int, score: float, roles: float, words: float, runner_up: RunnerUp | None) -> Decision:
        how = "new" if state == known else "memo" if score == 1.0 else "match"
        return Decision(state, how, score, roles, words, runner_up)

    return st.builds(decide, st.integers(0, known), shares, shares, shares, runners_up)


@st.composite
def entry_lists(draw: st.DrawFn, rows: int = 1, max_size: int = 20) -> list[Entry]:
    """Entries of one log, with distinct steps. `rows` screens must be stored before they are appended."""
    entries: list[Entry] = []
    known = 0
    for number in range(draw(st.integers(0, max_size))):
        episode = EpisodeId(draw(st.integers(0, 3)), number)
        screen = draw(st.integers(1, rows))
        kind = draw(st.sampled_from(("arrival", "failed start", "transition", "transition")))
        configuration = tuple(draw(st.lists(st.tuples(texts, texts), max_size=2)))
        if kind == "failed start":
            outcome = draw(st.sampled_from(START_FAILURES))
            entry: Entry = FailedStart(episode, outcome, draw(evidence), configuration, draw(texts))
        elif kind == "transition" and known:
            entry = draw(_transitions(episode, known, screen))
        else:
            entry = Arrival(episode, draw(decisions(known)), screen, draw(evidence), configuration)
        known += entry.decision is not None and entry.decision.founded
        entries.append(entry)
    return entries


@st.composite
def _transitions(draw: st.DrawFn, episode: EpisodeId, known: int, screen: int) -> Transition:
    outcome = draw(st.sampled_from(Outcome))
    landed = outcome in (Outcome.OK, Outcome.MISSED)
    signature = draw(texts) if outcome is not Outcome.LOST else None
    choice = st.builds(
        Choice,
        st.just(signature) if signature is not None else texts,
        counts,
        counts,
        shares,
        numbers,
        counts,
        numbers,
        vetoed=counts,
    )
    return Transition(
        episode,
        draw(st.integers(1, 99)),
        draw(st.integers(0, known - 1)),
        signature,
        outcome,
        draw(decisions(known)) if landed else None,
        screen if landed or outcome is Outcome.CAPTURE else None,
        draw(st.none() | choice),
        draw(rewards) if outcome is Outcome.OK else None,
        draw(evidence),
        draw(texts),
    )
