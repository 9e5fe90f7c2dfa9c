"""The checker finds every kind of wrong that it is there for: each is done to a history that is right."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import model
import pytest
from history import Call, Recorded, read_history
from postgres_faults import SCREEN
from recordings import Recording, answered, record
from replayed import is_lost, read_log

from screensearch.config import resolve
from screensearch.domain.transition import Arrival, Decision, Entry, EpisodeId, Evidence, Transition
from screensearch.explore.messages import Announce, Begin, Here, Report, Sighting, Tried
from screensearch.explore.serving import LocalStore
from screensearch.explore.store import ShardStore
from screensearch.record.sqlite_log import SqliteLog


def is_ok(entry: Entry) -> bool:
    return isinstance(entry, Transition) and entry.reward is not None


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return asyncio.run(record(tmp_path_factory.mktemp("right")))


def test_a_history_that_is_right_has_no_problem(right: Recording) -> None:
    assert right.problems == []
    assert any(is_lost(entry) for entry in right.entries)
    assert any(call.answer is None for call in right.history.calls)


def test_the_model_is_no_longer_than_a_reader_is_promised() -> None:
    assert len(Path(model.__file__).read_text().splitlines()) <= 100


# -- the log -------------------------------------------------------------------------------------


def test_an_acknowledged_entry_that_is_lost_is_missed_wherever_it_was(right: Recording) -> None:
    acknowledged = {right.sequence(call) for call in right.history.calls if call.answer is not None}
    for sequence in random.Random(0).sample(sorted(acknowledged), 12):
        entries = right.entries
        del entries[sequence - 1]
        assert any("but is not in the log" in each for each in right.with_entries(entries).problems)


def test_an_entry_that_is_there_twice_is_found(right: Recording) -> None:
    wrong = right.with_entries([*right.entries, right.entries[50]])
    assert any("is in the log twice" in each for each in wrong.problems)


def test_a_gap_in_the_numbers_is_found(right: Recording) -> None:
    *others, (last, entry) = right.log.entries
    wrong = replace(right, log=replace(right.log, entries=(*others, (last + 1, entry))))
    assert f"entry {last + 1} is where entry {last} should be" in wrong.problems


def test_an_entry_that_is_not_what_was_sent_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: isinstance(call.message, Report))
    entry = right.entry(call)
    assert isinstance(entry, Transition)
    wrong = right.with_entry(right.sequence(call), replace(entry, note="never said"))
    assert any("is not what was sent" in each for each in wrong.problems)
    assert any("was sent by no worker" in each for each in wrong.problems)


def test_an_entry_for_another_action_than_the_one_chosen_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: isinstance(call.message, Report))
    entry = right.entry(call)
    assert isinstance(entry, Transition)
    wrong = right.with_entry(right.sequence(call), replace(entry, signature="another"))
    assert any("is not what was sent" in each for each in wrong.problems)


def test_a_loss_in_the_place_of_an_acknowledged_step_is_found(right: Recording) -> None:
    lost = next(entry for entry in right.entries if is_lost(entry))
    call = right.some_call(lambda call, here: isinstance(call.message, Report))
    entry = right.entry(call)
    assert isinstance(entry, Transition)
    assert isinstance(lost, Transition)
    instead = replace(lost, episode=entry.episode, step=entry.step, source=entry.source)
    wrong = right.with_entry(right.sequence(call), instead)
    assert any("is not what was sent" in each for each in wrong.problems)


def test_an_entry_that_nobody_sent_is_found(right: Recording) -> None:
    invented = Arrival(EpisodeId(99, 0), Decision(0, "memo"), 1, Evidence())
    wrong = right.with_entries([*right.entries, invented])
    (problem,) = wrong.problems
    assert "was sent by no worker" in problem


def test_a_screen_in_the_place_of_another_is_found(right: Recording) -> None:
    call = next(
        call
        for call in right.history.calls
        if call.answer and isinstance(call.message, Begin) and call.message.sighting.screen
    )
    row = right.entry(call).screen
    assert row is not None
    other = next(screen for each, screen in right.log.screens.items() if each != row)
    wrong = replace(right, log=replace(right.log, screens={**right.log.screens, row: other}))
    assert any("is not what was sent" in each for each in wrong.problems)


def test_a_row_that_no_screen_has_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: isinstance(call.message, Begin))
    assert isinstance(call.message, Begin)
    wrong = right.with_call(call, replace(call, message=replace(call.message, sighting=Sighting(row=10**6))))
    assert any("names a screen that nobody had sent" in each for each in wrong.problems)


# -- the order -----------------------------------------------------------------------------------


def test_entries_in_another_order_than_the_workers_saw_are_found(right: Recording) -> None:
    early = right.some_call(lambda call, here: True)
    late = right.some_call(
        lambda call, here: (
            call.invoked > answered(early).at and call.message.episode.worker != early.message.episode.worker
        )
    )
    entries = right.entries
    entries.insert(right.sequence(early) - 1, entries.pop(right.sequence(late) - 1))
    problems = right.with_entries(entries).problems
    assert any("entries were known" in each and str(late.message.episode) in each for each in problems)


def test_an_answer_from_the_past_is_found_though_it_was_true_then(right: Recording) -> None:
    call = right.some_call(lambda call, here: True)
    again = replace(call, invoked=right.end, answer=replace(answered(call), at=right.end + 1))
    (problem,) = right.and_call(again).problems
    assert "when others had been told of" in problem


def test_an_answer_that_does_not_know_of_its_own_message_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: True)
    wrong = right.with_snapshot(call, right.sequence(call) - 1)
    assert any("among which it must be itself" in each for each in wrong.problems)


def test_an_answer_about_entries_that_never_were_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: True)
    wrong = right.with_snapshot(call, len(right.entries) + 1)
    assert any("among which it must be itself" in each for each in wrong.problems)


# -- identity ------------------------------------------------------------------------------------


def test_a_state_that_was_split_is_found(right: Recording) -> None:
    sequence, entry = next(
        (number, entry)
        for number, entry in right.log.entries
        if isinstance(entry, Transition) and entry.decision is not None and entry.decision.how == "memo"
    )
    states = 1 + max(each.decision.state for each in right.entries if each.decision is not None)
    wrong = right.with_entry(sequence, replace(entry, decision=Decision(states, "new")))
    assert any(each.startswith(f"entry {sequence} is ") for each in wrong.problems)


def test_a_decision_that_came_about_otherwise_is_found(right: Recording) -> None:
    sequence, entry = next(
        (number, entry)
        for number, entry in right.log.entries
        if entry.decision is not None and entry.decision.how == "memo"
    )
    assert entry.decision is not None
    wrong = right.with_entry(sequence, replace(entry, decision=replace(entry.decision, how="match")))
    (problem,) = wrong.problems
    assert problem.startswith(f"entry {sequence} is ")


def test_states_that_were_merged_are_found(right: Recording) -> None:
    """Merged everywhere, also in what was sent and told: then only the rule itself can tell."""
    founding = [each for each in right.entries if each.decision is not None and each.decision.founded]
    kept, gone = (entry.decision.state for entry in founding[:2] if entry.decision is not None)

    def renamed(state: int) -> int:
        return kept if state == gone else state - (state > gone)

    def merged_entry(entry: Entry) -> Entry:
        if entry.decision is not None:
            how = "match" if entry is founding[1] else entry.decision.how
            decision = replace(entry.decision, state=renamed(entry.decision.state), how=how)
            entry = replace(entry, decision=decision)
        return replace(entry, source=renamed(entry.source)) if isinstance(entry, Transition) else entry

    def merged_call(call: Call) -> Call:
        if isinstance(call.message, Report):
            call = replace(call, message=replace(call.message, source=renamed(call.message.source)))
        if call.answer is None or call.answer.receipt.here is None:
            return call
        here = replace(call.answer.receipt.here, state=renamed(call.answer.receipt.here.state))
        receipt = replace(call.answer.receipt, here=here)
        return replace(call, answer=replace(call.answer, receipt=receipt))

    history = replace(right.history, calls=tuple(map(merged_call, right.history.calls)))
    wrong = replace(right, history=history).with_entries(list(map(merged_entry, right.entries)))
    first, *_ = (each for each in wrong.problems if "should be" in each)
    assert first.startswith(f"entry {1 + right.entries.index(founding[1])} is ")


def test_a_reward_that_was_not_earned_is_found(right: Recording) -> None:
    sequence, entry = next((number, entry) for number, entry in right.log.entries if is_ok(entry))
    assert isinstance(entry, Transition)
    assert entry.reward is not None
    for reward in (
        replace(entry.reward, total=entry.reward.total + 1e-6),
        replace(entry.reward, state=not entry.reward.state),
        replace(entry.reward, edge=not entry.reward.edge),
    ):
        wrong = right.with_entry(sequence, replace(entry, reward=reward))
        (problem,) = (each for each in wrong.problems if "should be" in each)
        assert problem.startswith(f"entry {sequence} is ")


# -- what was told, and what was made of it -------------------------------------------------------


def test_ambiguity_that_is_not_of_the_log_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: True)
    wrong = right.with_here(call, lambda here: replace(here, ambiguity=here.ambiguity + 1e-6))
    (problem,) = wrong.problems
    assert "u = " in problem


@pytest.mark.parametrize("change", [Tried(1, 0.0), Tried(-1, 0.0), Tried(0, 1e-6)])
def test_visits_and_values_that_are_not_of_the_log_are_found(right: Recording, change: Tried) -> None:
    call = right.some_call(lambda call, here: bool(here.tried))

    def altered(here: Here) -> Here:
        signature, tried = next(iter(here.tried.items()))
        instead = Tried(tried.visits + change.visits, tried.value + change.value)
        return replace(here, tried={**here.tried, signature: instead})

    problems = right.with_here(call, altered).problems
    assert any("was told that state" in each for each in problems)


def test_an_action_that_was_left_out_of_an_answer_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: bool(here.tried))
    wrong = right.with_here(call, lambda here: replace(here, tried={}))
    assert any("was told that state" in each for each in wrong.problems)


@pytest.mark.parametrize(
    "elsewhere",
    [lambda here: replace(here, state=here.state + 1), lambda here: replace(here, row=here.row + 1)],
    ids=["state", "row"],
)
def test_a_message_repeated_that_is_answered_otherwise_is_found(
    right: Recording, elsewhere: Callable[[Here], Here]
) -> None:
    call = right.some_call(lambda call, here: True)
    again = replace(call, invoked=right.end, answer=replace(answered(call), at=right.end + 1))
    wrong = right.and_call(again).with_here(again, elsewhere)
    assert any("was answered with state and row" in each for each in wrong.problems)


def test_an_answer_that_ends_an_episode_that_goes_on_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: True)
    receipt = replace(answered(call).receipt, here=None)
    wrong = right.with_call(call, replace(call, answer=replace(answered(call), receipt=receipt)))
    assert any("was answered with state and row None" in each for each in wrong.problems)


@pytest.mark.parametrize("figure", ["visits", "value", "snapshot"])
def test_a_choice_by_other_figures_than_those_of_the_receipt_is_found(right: Recording, figure: str) -> None:
    call = right.some_call(lambda call, here: isinstance(call.message, Report))
    entry = right.entry(call)
    assert isinstance(entry, Transition)
    assert isinstance(call.message, Report)
    assert call.message.choice is not None
    choice = replace(call.message.choice, **{figure: getattr(call.message.choice, figure) + 1})
    wrong = right.with_call(call, replace(call, message=replace(call.message, choice=choice)))
    wrong = wrong.with_entry(right.sequence(call), replace(entry, choice=choice))
    assert any("but its receipt said" in each for each in wrong.problems)


async def test_a_choice_that_was_announced_may_count_as_one_visit_and_no_more(tmp_path: Path) -> None:
    settings = resolve(overrides=["select.count_in_flight=true"])
    shard = ShardStore(SqliteLog.create(tmp_path / "log.sqlite"), settings)
    first, second = (Recorded(LocalStore(shard), tmp_path) for _ in range(2))
    seen = Sighting(screen=SCREEN, elements=b"[]")
    await first.begin(Begin(EpisodeId(0, 0), seen, Evidence()))
    await first.announce(Announce(EpisodeId(0, 0), "sig"))
    receipt = await second.begin(Begin(EpisodeId(1, 0), seen, Evidence()))
    assert receipt.here is not None
    assert receipt.here.tried == {"sig": Tried(1, 0.0)}
    recording = Recording(read_history(tmp_path), read_log(shard.log), settings)
    for store in (first, second, shard.log):
        store.close()
    assert recording.problems == []
    twice = recording.with_here(
        recording.history.calls[1], lambda here: replace(here, tried={"sig": Tried(2, 0.0)})
    )
    unannounced = replace(recording, history=replace(recording.history, announced=()))
    for wrong in (twice, unannounced):
        (problem,) = wrong.problems
        assert "for sig, but it is Tried(visits=0" in problem


# -- episodes and lives --------------------------------------------------------------------------


def test_a_step_that_is_missing_from_its_episode_is_found(right: Recording) -> None:
    entries = right.entries
    step = next(place for place, entry in enumerate(entries) if entry.step == 2 and entry.decision)
    del entries[step]
    assert any("does not follow the step before it" in each for each in right.with_entries(entries).problems)


def test_a_step_that_starts_elsewhere_than_the_one_before_ended_is_found(right: Recording) -> None:
    call = right.some_call(lambda call, here: isinstance(call.message, Report))
    entry = right.entry(call)
    assert isinstance(entry, Transition)
    wrong = right.with_entry(right.sequence(call), replace(entry, source=entry.source + 1))
    assert any("starts where" in each for each in wrong.problems)


def test_the_step_of_a_worker_that_was_given_up_is_found(right: Recording) -> None:
    number, lost = next((number, entry) for number, entry in right.log.entries if is_lost(entry))
    assert isinstance(lost, Transition)
    life = next(call.life for call in right.history.calls if call.message.episode == lost.episode)
    call = right.some_call(lambda call, here: isinstance(call.message, Report))
    entry = right.entry(call)
    assert isinstance(call.message, Report)
    assert isinstance(entry, Transition)
    report = replace(call.message, episode=lost.episode, step=lost.step + 1)
    zombie = replace(entry, episode=lost.episode, step=lost.step + 1)
    entries = [*right.entries[:number], zombie, *right.entries[number:]]
    wrong = right.with_entries(entries).and_call(Call(life, right.end, report))
    assert any(
        each.startswith(f"entry {number + 1}") and "life of its worker that was over" in each
        for each in wrong.problems
    )


def test_a_new_episode_of_a_life_that_is_over_is_found(right: Recording) -> None:
    lost = next(entry for entry in right.entries if is_lost(entry))
    life = next(call.life for call in right.history.calls if call.message.episode == lost.episode)
    episode = EpisodeId(lost.episode.worker, 10**6)
    start = next(entry for entry in right.entries if isinstance(entry, Arrival))
    begin = Begin(episode, Sighting(row=start.screen), Evidence(), start.configuration)
    zombie = replace(
        start, episode=episode, evidence=Evidence(), decision=Decision(start.decision.state, "memo")
    )
    wrong = right.with_entries([*right.entries, zombie]).and_call(Call(life, right.end, begin))
    (problem,) = wrong.problems
    assert "is of a life of its worker that was over" in problem
