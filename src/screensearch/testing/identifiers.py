"""The contract of an identifier."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from screensearch.domain.screen import Metadata, Screen, StateId
from screensearch.encode.atoms import AtomTable
from screensearch.encode.embed_hashing import HashingEmbedder
from screensearch.encode.embedder import Embedder
from screensearch.encode.encoder import atoms_key
from screensearch.identify.resolve import Continuing, Identifier, IdentifySettings, Match, Query
from screensearch.identify.verify import MergeSettings, jaccard
from screensearch.testing.contract import ContractBroken, require, unbroken

THRESHOLDS = (0.75, 0.93, 1.0)
TOLERANCE = 1e-9
_CONTINUED = 4  # how often a search goes on
POOLS = (Metadata("app", "light", "1", "main|app"), Metadata("app", "light", "1", "dialog|save"))

MakePool = Callable[[], Identifier]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question to one pool, its answer, and the state that the screen founded if there was no match."""

    query: Query
    answer: Match | None
    founded: StateId | None


@dataclass(slots=True)
class _Pool:
    identifier: Identifier
    founders: dict[StateId, Query] = field(default_factory=dict)
    asked: list[_Asked] = field(default_factory=list)


def check_identifier(
    make_identifier: Callable[[IdentifySettings, Embedder | None], Identifier],
    *,
    settings: IdentifySettings | None = None,
    embedder: Embedder | None = None,
    screens: int = 200,
    seed: int = 11,
) -> None:
    """Lead an identifier through a drawn history of two pools; raise `ContractBroken` on a broken clause.

    Without `settings` the history is repeated under several thresholds; without an `embedder` a plugin
    that has `needs_embedder` gets the hashing one. Clauses: it describes itself; it finds only states of
    its own pool; no match scores below the threshold; what a match says is true of the founding screen,
    and `measure` says the same; a runner-up is another state over the threshold; a founding screen
    measures 1 against itself; `measure` raises `KeyError` for a state that is elsewhere; `find` changes
    nothing, so that one which was only given its states, as from a log, answers like one that searched;
    equal calls in equal order give equal answers, whatever happens in other pools; one that has
    `find_since` answers by it as by `find`, wherever the earlier search stopped.
    """
    if embedder is None and getattr(make_identifier, "needs_embedder", False):
        embedder = HashingEmbedder()
    history = draw_history(random.Random(seed), screens)  # noqa: S311 - a test, not a secret
    chosen = [settings] if settings is not None else [_at(threshold) for threshold in THRESHOLDS]
    for each in chosen:
        _check_history(partial(make_identifier, each, embedder), each.merge.threshold, history)


def _at(threshold: float) -> IdentifySettings:
    return IdentifySettings(merge=MergeSettings(threshold=threshold))


def _check_history(make_pool: MakePool, threshold: float, history: list[Screen]) -> None:
    pools = _explore(make_pool, threshold, history)
    for pool in pools:
        elsewhere = [state for other in pools if other is not pool for state in other.founders]
        _check_measures(pool, elsewhere)
        _check_repeated(make_pool(), pool)
        _check_restored(make_pool(), pool)
        _check_continued(make_pool(), pool)


def _explore(make_pool: MakePool, threshold: float, history: list[Screen]) -> list[_Pool]:
    """Both pools side by side, as the resolver leads them; states are numbered across the two."""
    roles, texts = AtomTable(), AtomTable()
    pools = {metadata: _Pool(make_pool()) for metadata in POOLS}
    states = 0
    for screen in history:
        pool = pools[screen.metadata]
        query = Query(screen, roles.intern(screen.role_atoms), texts.intern(screen.text_atoms))
        answer = _find_twice(pool.identifier, query)
        if answer is not None:
            _check_match(pool, query, answer, threshold)
            pool.asked.append(_Asked(query, answer, None))
            continue
        _add(pool.identifier, states, query)
        pool.founders[states] = query
        pool.asked.append(_Asked(query, None, states))
        states += 1
    for pool in pools.values():
        with unbroken("an identifier describes itself"):
            said = pool.identifier.describe()
        require(isinstance(said, str) and bool(said), "an identifier describes itself in words", said)
    return list(pools.values())


def _find(identifier: Identifier, query: Query) -> Match | None:
    with unbroken("`find` answers about every screen"):
        return identifier.find(query)


def _find_twice(identifier: Identifier, query: Query) -> Match | None:
    before = query.roles[:], query.texts[:]
    answer = _find(identifier, query)
    require((query.roles, query.texts) == before, "`find` leaves the query as it is", query)
    again = _find(identifier, query)
    require(again == answer, "`find` changes nothing: the next answer is the same", (answer, again))
    return answer


def _add(identifier: Identifier, state: StateId, query: Query) -> None:
    with unbroken("`add` takes in every screen"):
        identifier.add(state, query)


def _measure(identifier: Identifier, state: StateId, query: Query) -> Match:
    with unbroken("`measure` knows every state of its pool"):
        return identifier.measure(state, query)


def _check_match(pool: _Pool, query: Query, answer: Match, threshold: float) -> None:
    founder = pool.founders.get(answer.state)
    if founder is None:
        raise ContractBroken(f"`find` names a state of its own pool; found {answer!r:.300}")
    require(threshold <= answer.score <= 1, f"no match scores below the threshold, {threshold}", answer)
    _check_jaccards(query, founder, answer)
    measured = _measure(pool.identifier, answer.state, query)
    require(
        replace(answer, runner_up=None) == replace(measured, runner_up=None),
        "`measure` says the same of a match as `find`",
        (answer, measured),
    )
    second = answer.runner_up
    if second is not None:
        require(
            second.state in pool.founders and second.state != answer.state,
            "a runner-up is another state of the pool",
            answer,
        )
        measured = _measure(pool.identifier, second.state, query)
        require(
            threshold <= second.score == measured.score,
            "a runner-up passes the threshold too, with the score that `measure` gives",
            (answer, measured),
        )


def _check_jaccards(query: Query, founder: Query, answer: Match) -> None:
    for kind, told, one, other in (
        ("role", answer.role_jaccard, query.screen.role_atoms, founder.screen.role_atoms),
        ("text", answer.text_jaccard, query.screen.text_atoms, founder.screen.text_atoms),
    ):
        true = jaccard(one, other)
        require(
            abs(told - true) <= TOLERANCE,
            f"`{kind}_jaccard` compares with the founding screen, {true}",
            answer,
        )


def _check_measures(pool: _Pool, elsewhere: list[StateId]) -> None:
    for state, founder in pool.founders.items():
        own = _measure(pool.identifier, state, founder)
        require(own == Match(state, 1.0, 1.0, 1.0), "a founding screen measures 1 against its own state", own)
    first, query = next(iter(pool.founders.items()))
    for asked in pool.asked:  # whatever the rule: mostly screens of other states
        _check_jaccards(asked.query, query, _measure(pool.identifier, first, asked.query))
    for state in [*elsewhere, max([*pool.founders, *elsewhere]) + 1]:
        try:
            found = pool.identifier.measure(state, query)
        except KeyError:
            continue
        raise ContractBroken(f"`measure` raises KeyError for state {state}, not in its pool; found {found!r}")


def _check_repeated(fresh: Identifier, pool: _Pool) -> None:
    for asked in pool.asked:
        answer = _find(fresh, asked.query)
        require(
            answer == asked.answer,
            "equal calls in equal order give equal answers, whatever happens in other pools",
            (asked.answer, answer),
        )
        if asked.founded is not None:
            _add(fresh, asked.founded, asked.query)


def _check_restored(fresh: Identifier, pool: _Pool) -> None:
    for state, query in pool.founders.items():
        _add(fresh, state, query)
    for asked in pool.asked:
        expected, answer = _find(pool.identifier, asked.query), _find(fresh, asked.query)
        require(
            answer == expected,
            "one that was only given its states answers like one that searched",
            (expected, answer),
        )


def _check_continued(fresh: Identifier, pool: _Pool) -> None:
    """Every question, asked first when there were few states and gone on with as others are founded."""
    if not isinstance(fresh, Continuing):
        return
    earlier: list[tuple[int, Match | None]] = [(0, None)] * len(pool.asked)
    founders = list(pool.founders.items())
    stops = {len(founders) * part // _CONTINUED for part in range(1, _CONTINUED + 1)}
    for count, (state, founder) in enumerate(founders, start=1):
        _add(fresh, state, founder)
        if count not in stops:
            continue
        for place, asked in enumerate(pool.asked):
            since, found = earlier[place]
            expected = _find(fresh, asked.query)
            with unbroken("`find_since` answers about every screen"):
                answer = fresh.find_since(asked.query, since, found)
            require(
                answer == expected,
                f"`find_since`, after {since} of {count} states, answers as `find` does",
                (expected, answer),
            )
            earlier[place] = (count, answer)


def make_screen(roles: list[str], texts: list[str], metadata: Metadata) -> Screen:
    """A screen of these atoms, as the encoder would make it."""
    role_atoms, text_atoms = tuple(sorted(set(roles))), tuple(sorted(set(texts)))
    text = " ".join(atom.partition("|")[2] for atom in text_atoms)
    return Screen(atoms_key(role_atoms, text_atoms), role_atoms, text_atoms, text, metadata)


def draw_history(rng: random.Random, count: int) -> list[Screen]:
    """Screens as an explorer meets them: repeats, near duplicates, new views, two windows, bare ones."""
    chrome = [f"r0_c{place}|menu {place}" for place in range(12)]
    views: list[tuple[list[str], list[str], Metadata]] = []
    history: list[Screen] = []
    for number in range(count):
        chance = rng.random()
        if history and chance < 0.3:
            history.append(rng.choice(history))
            continue
        if len(views) < len(POOLS) or chance < 0.45:
            size = rng.choice((0, 1, 4, 25, 60))
            content = [f"r{place % 30}_c{place % 7}|item {number} {place}" for place in range(size)]
            roles = [f"r{place % 30}_c{place % 11}|button" for place in range(rng.choice((0, 1, 20, 50)))]
            window = POOLS[len(views)] if len(views) < len(POOLS) else rng.choice(POOLS)
            views.append((roles, [*chrome, *content] if size > 1 else content, window))
        roles, texts, window = rng.choice(views)
        texts = [text for text in texts if rng.random() > 0.03]
        if rng.random() < 0.5:
            texts.append(f"r29_c29|clock {number}")
        history.append(make_screen(roles, texts, window))
    return history
