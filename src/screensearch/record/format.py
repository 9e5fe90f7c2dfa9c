"""What is stored, as versioned JSON: the version, and the parts of entries and screens.

One number covers a whole run: its manifest and its log are written by the same version, and both
carry it. Floats survive to the bit; what JSON cannot hold (NaN, infinities, lone surrogates) is refused.
"""

from __future__ import annotations

import math
import zlib
from typing import NamedTuple

import msgspec

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.domain.transition import (
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
from screensearch.errors import FormatError, NewerFormat
from screensearch.record.log import FAILED_STARTS, LANDING, START, Outline, failed_start

FORMAT_VERSION = 1


def check_version(found: int, what: str, written_by: str = "a newer screensearch") -> None:
    """Refuse what this version cannot read: newer data, and numbers that no version ever wrote."""
    if found > FORMAT_VERSION:
        raise NewerFormat(
            f"{what} has format {found}, written by {written_by}; this version reads up to {FORMAT_VERSION}: "
            "open it with that version or a newer one (nothing was changed)"
        )
    if found < 1:
        raise FormatError(f"{what} claims format {found}, which never existed: it is damaged or not ours")


class _Decided(msgspec.Struct, omit_defaults=True):
    """A `Decision` without its state, which has a column."""

    how: str
    score: float = 1.0
    role_jaccard: float = 1.0
    text_jaccard: float = 1.0
    runner_up: RunnerUp | None = None


class _Chosen(msgspec.Struct, omit_defaults=True):
    """A `Choice` without its snapshot, which has a column."""

    signature: str | None  # only when it differs from the entry's
    candidates: int
    prior: float
    value: float
    visits: int
    score: float
    vetoed: int = 0


class _Terms(msgspec.Struct, omit_defaults=True):
    """A `Reward` without its total, which has a column."""

    ambiguity: float
    state: bool = False
    edge: bool = False


class _Detail(msgspec.Struct, omit_defaults=True):
    """What an entry holds beyond its columns."""

    evidence: Evidence = Evidence()
    decision: _Decided | None = None
    choice: _Chosen | None = None
    reward: _Terms | None = None
    configuration: tuple[tuple[str, str], ...] = ()
    note: str = ""


class _Glimpse(msgspec.Struct, frozen=True, gc=False):
    """An `Evidence` without the place of its window."""

    screenshot: str | None = None
    act_seconds: float = 0.0
    decide_seconds: float = 0.0


class _Glance(msgspec.Struct, frozen=True, gc=False):
    """What an outline needs of a `_Detail`: the rest is passed over."""

    evidence: _Glimpse = _Glimpse()


class StoredEntry(NamedTuple):
    """An entry as a log keeps it: columns, and the rest as JSON."""

    worker: int
    episode: int
    step: int
    outcome: str
    source: StateId | None
    signature: str | None
    target: StateId | None
    founded: bool
    snapshot: int | None
    reward: float | None
    screen: int | None
    detail: bytes


_ENCODER = msgspec.json.Encoder()
_DETAIL = msgspec.json.Decoder(_Detail)
_GLANCE = msgspec.json.Decoder(_Glance)
_OUTCOMES = {START, LANDING, *FAILED_STARTS, *(outcome.value for outcome in Outcome)}
_SCREEN = msgspec.json.Decoder(tuple[tuple[str, ...], tuple[str, ...], str])


def encode_entry(entry: Entry) -> StoredEntry:
    """Split an entry into columns and detail. Values that JSON cannot hold raise `FormatError`."""
    decision, evidence = entry.decision, entry.evidence
    floats = evidence.act_seconds + evidence.decide_seconds
    detail = _Detail(evidence=evidence)
    if decision is not None:
        runner_up = decision.runner_up
        floats += decision.score + decision.role_jaccard + decision.text_jaccard
        floats += 0.0 if runner_up is None else runner_up.score
        detail.decision = _Decided(
            decision.how, decision.score, decision.role_jaccard, decision.text_jaccard, runner_up
        )
    outcome, source, signature, snapshot, total = START, None, None, None, None
    if isinstance(entry, Arrival):
        outcome = LANDING if entry.step else START
        detail.configuration = entry.configuration
    elif isinstance(entry, FailedStart):
        outcome = failed_start(entry.outcome)
        detail.configuration, detail.note = entry.configuration, entry.note
    else:
        outcome, source, signature = entry.outcome.value, entry.source, entry.signature
        detail.note = entry.note
        check_text(signature or "")
        if (choice := entry.choice) is not None:
            snapshot = choice.snapshot
            floats += choice.prior + choice.value + choice.score
            detail.choice = _Chosen(
                None if choice.signature == signature else choice.signature,
                choice.candidates,
                choice.prior,
                choice.value,
                choice.visits,
                choice.score,
                choice.vetoed,
            )
        if (reward := entry.reward) is not None:
            total = reward.total
            floats += reward.ambiguity + total
            detail.reward = _Terms(reward.ambiguity, reward.state, reward.edge)
    if not math.isfinite(floats):
        raise FormatError(
            f"step {entry.step} of {entry.episode} holds a number that is not finite: {entry!r}"
        )
    return StoredEntry(
        entry.episode.worker,
        entry.episode.number,
        entry.step,
        outcome,
        source,
        signature,
        None if decision is None else decision.state,
        decision is not None and decision.founded,
        snapshot,
        total,
        entry.screen,
        _json(detail, f"step {entry.step} of {entry.episode}"),
    )


def decode_entry(stored: StoredEntry) -> Entry:
    """The entry that was encoded, equal in every field."""
    episode = EpisodeId(stored.worker, stored.episode)
    what = f"step {stored.step} of {episode}"
    try:
        detail = _DETAIL.decode(stored.detail)
        failed = FAILED_STARTS.get(stored.outcome)
        outcome = None if stored.outcome in (START, LANDING) else failed or Outcome(stored.outcome)
    except (msgspec.DecodeError, ValueError) as problem:
        raise FormatError(f"{what} is malformed: {problem}") from problem
    decision = _decision(stored.target, detail.decision)
    if outcome is None:
        if decision is None or stored.screen is None:
            raise FormatError(f"{what} is an arrival without a state or a screen: the log is damaged")
        return Arrival(
            episode, decision, stored.screen, detail.evidence, detail.configuration, step=stored.step
        )
    if failed is not None:
        _check_failed_start(stored, detail, what)
        return FailedStart(
            episode, failed, detail.evidence, detail.configuration, detail.note, step=stored.step
        )
    if stored.source is None:
        raise FormatError(f"{what} is a transition without a source: the log is damaged")
    return Transition(
        episode,
        stored.step,
        stored.source,
        stored.signature,
        outcome,
        decision,
        stored.screen,
        _choice(stored, detail.choice),
        _reward(stored.reward, detail.reward),
        detail.evidence,
        detail.note,
    )


def outline_of(sequence: int, stored: StoredEntry) -> Outline:
    """The outline of an entry, without decoding all of it."""
    worker, episode, step, outcome, source, signature, target, founded, _, reward, screen, detail = stored
    try:
        evidence = _GLANCE.decode(detail).evidence
    except msgspec.DecodeError as problem:
        raise FormatError(f"entry {sequence} is malformed: {problem}") from problem
    if outcome not in _OUTCOMES:
        raise FormatError(f"entry {sequence} is malformed: {outcome!r} is no outcome")
    if outcome in (START, LANDING) and (target is None or screen is None):
        raise FormatError(f"entry {sequence} is an arrival without a state or a screen: the log is damaged")
    return Outline(
        sequence,
        worker,
        episode,
        step,
        outcome,
        source,
        signature,
        target,
        bool(founded),
        reward,
        screen,
        evidence.screenshot,
        evidence.act_seconds,
        evidence.decide_seconds,
    )


def _check_failed_start(stored: StoredEntry, detail: _Detail, what: str) -> None:
    """A start that failed has no screen, and all that comes of one has no place in it."""
    parts = {
        "a source": stored.source,
        "a signature": stored.signature,
        "a target": stored.target,
        "a founded state": stored.founded or None,
        "a snapshot": stored.snapshot,
        "a reward": stored.reward if detail.reward is None else detail.reward,
        "a screen": stored.screen,
        "a decision": detail.decision,
        "a choice": detail.choice,
    }
    foreign = [name for name, part in parts.items() if part is not None]
    if foreign:
        raise FormatError(f"{what} is a failed start with {', '.join(foreign)}: the log is damaged")


def _decision(state: StateId | None, decided: _Decided | None) -> Decision | None:
    if state is None or decided is None:
        return None
    return Decision(
        state, decided.how, decided.score, decided.role_jaccard, decided.text_jaccard, decided.runner_up
    )


def _choice(stored: StoredEntry, chosen: _Chosen | None) -> Choice | None:
    if chosen is None or stored.snapshot is None:
        return None
    return Choice(
        chosen.signature if chosen.signature is not None else stored.signature or "",
        stored.snapshot,
        chosen.candidates,
        chosen.prior,
        chosen.value,
        chosen.visits,
        chosen.score,
        chosen.vetoed,
    )


def _reward(total: float | None, terms: _Terms | None) -> Reward | None:
    if total is None or terms is None:
        return None
    return Reward(terms.state, terms.edge, terms.ambiguity, total)


def encode_screen(screen: Screen) -> bytes:
    """Atoms and text as compressed JSON; key and metadata have columns."""
    content = _json((screen.role_atoms, screen.text_atoms, screen.text), f"screen {screen.key}")
    return zlib.compress(content, 1)


def decode_screen(key: str, metadata: Metadata, content: bytes) -> Screen:
    """The screen that was encoded."""
    try:
        role_atoms, text_atoms, text = _SCREEN.decode(zlib.decompress(content))
    except (zlib.error, msgspec.DecodeError) as problem:
        raise FormatError(f"the atoms of screen {key} are malformed: {problem}") from problem
    return Screen(key, role_atoms, text_atoms, text, metadata)


def metadata_fields(metadata: Metadata) -> tuple[str, str, str, str]:
    """The columns of a screen's metadata, in their order."""
    return metadata.application, metadata.display_mode, metadata.text_size, metadata.window


def check_text(*texts: str) -> None:
    """Refuse text that cannot be stored: lone surrogates."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as problem:
            raise FormatError(f"{text!r} is not valid Unicode: {problem}") from problem


def _json(value: object, what: str) -> bytes:
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError as problem:
        raise FormatError(f"{what} holds text that is not valid Unicode: {problem}") from problem
