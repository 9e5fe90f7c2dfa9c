"""The graph: states, edges and their statistics, as a fold of the log.

Nothing enters a graph but rows of the log, so that a graph cannot disagree with its log: folding the
same rows again, at once or from a checkpoint, gives the same graph to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import itemgetter
from types import MappingProxyType

from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry
from screensearch.errors import FormatError
from screensearch.record import ambiguity as measure
from screensearch.record.ambiguity import AmbiguitySettings
from screensearch.record.columns import GraphColumns, decode_columns
from screensearch.record.log import FAILED_STARTS, LANDING, START, Row, row_of

_OK = "ok"
_NO_ACTIONS: Mapping[str, Tried] = MappingProxyType({})
_NO_FAILURES: Mapping[str, Mapping[str, int]] = MappingProxyType({})


class Tried:
    """What is known of one signature in one state: N, Q, and where it led.

    A live view, to be read: only the graph changes it. The first successor lies inline, because
    most actions only ever have one: that makes it four times smaller than with a dictionary.
    """

    __slots__ = ("_first", "_first_since", "_others", "value", "visits")

    def __init__(self, first: StateId, since: int) -> None:
        self.visits = 0
        """N(s, σ): executions that ended `ok`."""
        self.value = 0.0
        """Q(s, σ): the running mean of their rewards."""
        self._first = first
        self._first_since = since
        self._others: dict[StateId, tuple[int, int]] | None = None  # successor: (count, first sequence)

    @property
    def successors(self) -> dict[StateId, int]:
        """How often each successor was reached, in order of discovery."""
        if self._others is None:
            return {self._first: self.visits}
        others = {state: count for state, (count, _) in self._others.items()}
        return {self._first: self.visits - sum(others.values()), **others}

    def since(self, target: StateId) -> int | None:
        """The sequence number at which `target` was first reached, if it ever was."""
        if target == self._first:
            return self._first_since
        known = None if self._others is None else self._others.get(target)
        return None if known is None else known[1]

    def _counts(self) -> list[int]:
        others = [] if self._others is None else [count for count, _ in self._others.values()]
        return [self.visits - sum(others), *others]

    def _postpone(self, by: int) -> None:
        """Count all sequence numbers from another beginning."""
        self._first_since += by
        if self._others is not None:
            self._others = {state: (count, since + by) for state, (count, since) in self._others.items()}

    def __repr__(self) -> str:
        return f"Tried(visits={self.visits}, value={self.value!r}, successors={self.successors})"


class _State:
    """The statistics of one state."""

    __slots__ = ("ambiguity", "dispersed", "failures", "first_seen", "trials", "tried", "visits")

    def __init__(self, first_seen: int) -> None:
        self.first_seen = first_seen
        self.visits = 0  # occupancy
        self.trials = 0  # n_s
        self.tried: dict[str, Tried] = {}
        self.dispersed: list[Tried] | None = None  # those with several successors: all that D(s) needs
        self.failures: dict[str, dict[str, int]] | None = None
        self.ambiguity: float | None = None  # cached u(s)

    def _take_in(self, number: StateId, later: _State) -> None:
        """Add what a later shard knows of this state."""
        if self.tried and later.tried:
            raise FormatError(f"state {number} was left in two shards: each state is of one")
        self.visits += later.visits
        self.trials += later.trials
        self.tried = self.tried or later.tried
        self.dispersed = self.dispersed or later.dispersed
        for signature, kinds in (later.failures or {}).items():
            for outcome, count in kinds.items():
                _note_failure(self, signature, outcome, count)
        self.ambiguity = None


def _branch(state: _State, tried: Tried, target: StateId, sequence: int) -> bool:
    """Count a successor that is not the first; returns whether it is new."""
    if tried._others is None:
        tried._others = {}
        if state.dispersed is None:
            state.dispersed = []
        state.dispersed.append(tried)
    count, since = tried._others.get(target, (0, sequence))
    tried._others[target] = (count + 1, since)
    return count == 0


def _note_failure(state: _State, signature: str | None, outcome: str, count: int = 1) -> None:
    if state.failures is None:
        state.failures = {}
    kinds = state.failures.setdefault(signature or "", {})
    kinds[outcome] = kinds.get(outcome, 0) + count


class StateGraph:
    """The fold. Only `ok` feeds N, Q, successors and u; other outcomes are counted apart."""

    def __init__(self, settings: AmbiguitySettings) -> None:
        self.settings = settings
        self._states: dict[StateId, _State] = {}
        self._outcomes: dict[str, int] = {}
        self._edges = 0
        self._sequence = 0

    @classmethod
    def fold(
        cls, rows: Iterable[Row], settings: AmbiguitySettings, start: StateGraph | None = None
    ) -> StateGraph:
        """Fold rows into a new graph, or into `start`, which then is the one returned."""
        graph = cls(settings) if start is None else start
        graph._apply_all(rows)
        return graph

    @classmethod
    def join(cls, graphs: Iterable[StateGraph], settings: AmbiguitySettings) -> StateGraph:
        """The graph of several shards, whose logs follow one another, from the graph of each.

        It equals the fold of all their rows to the bit, since whatever is done in a state is logged by the
        shard of that state alone; others only tell of arriving there. The graphs given are used up.
        """
        joined = cls(settings)
        for graph in graphs:
            joined._append(graph)
        return joined

    def _append(self, graph: StateGraph) -> None:
        """Go on as if the rows of another graph were numbered after those of this one."""
        before = self._sequence
        for number, state in graph._states.items():
            state.first_seen += before
            for tried in state.tried.values():
                tried._postpone(before)
            known = self._states.setdefault(number, state)
            if known is not state:
                known._take_in(number, state)
        for outcome, count in graph._outcomes.items():
            self._outcomes[outcome] = self._outcomes.get(outcome, 0) + count
        self._edges += graph._edges
        self._sequence += graph._sequence

    def apply(self, row: Row) -> None:
        """Add the next row. Rows come in order and without gaps; anything else is refused unchanged."""
        self._apply_all((row,))

    def apply_entry(self, sequence: int, entry: Entry) -> None:
        """Add one entry, exactly as its row would be."""
        self._apply_all((row_of(sequence, entry),))

    def _apply_all(self, rows: Iterable[Row]) -> None:
        """The fold itself, as one loop over local names: a call for each row would cost half as much."""
        states, outcomes = self._states, self._outcomes
        last, edges, learned = self._sequence, self._edges, 0
        try:
            for row in rows:
                sequence, outcome, source, signature, target, reward = row
                if sequence != last + 1:
                    raise FormatError(f"entry {sequence} follows entry {last}: the log has a gap")
                state = states.get(source)  # type: ignore[arg-type]  # None is in no graph
                if outcome == START:
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
                elif outcome == LANDING and target is not None:
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
                    if target not in states:
                        states[target] = _State(sequence)
                    target = None  # the visit is counted where the step was
                elif state is None:
                    if source is not None or target is not None or outcome not in FAILED_STARTS:
                        raise FormatError(f"entry {sequence} leaves a state that none has reached: {row}")
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
                elif outcome != _OK:
                    _note_failure(state, signature, outcome)
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
                elif signature is None or target is None or reward is None:
                    raise FormatError(f"entry {sequence} is ok but is no transition: {row}")
                else:
                    tried = state.tried.get(signature)
                    if tried is None:
                        tried = state.tried[signature] = Tried(target, sequence)
                        edges += 1
                    elif target != tried._first:
                        edges += _branch(state, tried, target, sequence)
                    tried.visits = visits = tried.visits + 1
                    tried.value += (reward - tried.value) / visits
                    state.trials += 1
                    state.ambiguity = None
                    learned += 1
                if target is not None:
                    here = states.get(target)
                    if here is None:
                        here = states[target] = _State(sequence)
                    here.visits += 1
                last = sequence
        finally:
            self._sequence, self._edges = last, edges
            if learned:
                outcomes[_OK] = outcomes.get(_OK, 0) + learned

    @property
    def sequence(self) -> int:
        """The number of the last row folded."""
        return self._sequence

    @property
    def states(self) -> int:
        """|V|."""
        return len(self._states)

    @property
    def edges(self) -> int:
        """|E|: distinct (state, signature, state)."""
        return self._edges

    @property
    def outcomes(self) -> Mapping[str, int]:
        """Entries by outcome; arrivals count as ``start``, failed starts as ``start:crash`` and so on.

        ``landing`` counts steps of other shards that ended in this one.
        """
        return MappingProxyType(self._outcomes)

    def iter_states(self) -> Iterator[StateId]:
        """Every state, in order of its number."""
        return iter(sorted(self._states))

    def iter_edges(self) -> Iterator[tuple[StateId, str, StateId, int]]:
        """Every edge with its count, in order of state, signature and successor."""
        for source in self.iter_states():
            for signature, tried in sorted(self._states[source].tried.items()):
                for target, count in sorted(tried.successors.items()):
                    yield source, signature, target, count

    def visits(self, state: StateId) -> int:
        """Occupancy: observations that landed in the state, arrivals included."""
        known = self._states.get(state)
        return 0 if known is None else known.visits

    def trials(self, state: StateId) -> int:
        """n_s, the sum of N(s, ·): the numerator of eq. 4 without its root."""
        known = self._states.get(state)
        return 0 if known is None else known.trials

    def tried(self, state: StateId) -> Mapping[str, Tried]:
        """What was tried in a state, by signature: a live view."""
        known = self._states.get(state)
        return _NO_ACTIONS if known is None else known.tried

    def failures(self, state: StateId) -> Mapping[str, Mapping[str, int]]:
        """What failed in a state: signature → outcome → count. An unknown signature is ``""``."""
        known = self._states.get(state)
        return _NO_FAILURES if known is None or known.failures is None else known.failures

    def ambiguity(self, state: StateId) -> float:
        """u(s), eq. 2. A state without trials, known or not, has the prior ambiguity."""
        known = self._states.get(state)
        return self.settings.prior_ambiguity if known is None else self._measured(known)

    def _measured(self, state: _State) -> float:
        if state.ambiguity is None:
            counts = [tried._counts() for tried in state.dispersed or ()]
            state.ambiguity = measure.ambiguity(counts, state.trials, self.settings)
        return state.ambiguity

    def first_seen(self, state: StateId) -> int | None:
        """The sequence number of the first entry that landed in the state."""
        known = self._states.get(state)
        return None if known is None else known.first_seen

    def state_known(self, state: StateId, at: int) -> bool:
        """Whether s ∈ V at sequence number `at`."""
        known = self._states.get(state)
        return known is not None and known.first_seen <= at

    def edge_known(self, source: StateId, signature: str, target: StateId, at: int) -> bool:
        """Whether (s, σ, s') ∈ E at sequence number `at`."""
        tried = self.tried(source).get(signature)
        since = None if tried is None else tried.since(target)
        return since is not None and since <= at

    def digest(self) -> str:
        """A hash of everything folded, to the bit, in an order that does not depend on how it got here."""
        return self._columns().digest()

    def dump(self) -> bytes:
        """A checkpoint: `load` gives an equal graph."""
        return self._columns().encode()

    @classmethod
    def load(cls, data: bytes) -> StateGraph:
        """The graph of a checkpoint. Damaged bytes raise `FormatError`, newer ones `NewerFormat`."""
        columns = decode_columns(data)
        graph = cls(AmbiguitySettings(kappa=columns.kappa, prior_ambiguity=columns.prior_ambiguity))
        try:
            graph._restore(columns)
        except (IndexError, ValueError) as problem:
            raise FormatError(f"a graph checkpoint does not fit together: {problem}") from problem
        return graph

    def _columns(self) -> GraphColumns:
        texts = {signature for state in self._states.values() for signature in state.tried}
        texts.update(signature for state in self._states.values() for signature in state.failures or ())
        columns = GraphColumns(
            sequence=self._sequence,
            kappa=self.settings.kappa,
            prior_ambiguity=self.settings.prior_ambiguity,
            outcomes=sorted(self._outcomes.items()),
            signatures=sorted(texts),
        )
        places = {signature: place for place, signature in enumerate(columns.signatures)}
        kinds = {outcome: place for place, (outcome, _) in enumerate(columns.outcomes)}
        for number in self.iter_states():
            state = self._states[number]
            columns.state.append(number)
            columns.state_first_seen.append(state.first_seen)
            columns.state_visits.append(state.visits)
            columns.state_actions.append(len(state.tried))
            for signature in sorted(state.tried):
                tried = state.tried[signature]
                successors = sorted(tried.successors.items())
                columns.action_signature.append(places[signature])
                columns.action_visits.append(tried.visits)
                columns.action_value.append(tried.value)
                columns.action_successors.append(len(successors))
                for target, count in successors:
                    columns.successor_state.append(target)
                    columns.successor_count.append(count)
                    columns.successor_since.append(tried.since(target) or 0)
            failures = [
                (places[signature], kinds[outcome], count)
                for signature, counts in (state.failures or {}).items()
                for outcome, count in counts.items()
            ]
            columns.state_failures.append(len(failures))
            for place, kind, count in sorted(failures):
                columns.failure_signature.append(place)
                columns.failure_outcome.append(kind)
                columns.failure_count.append(count)
        return columns

    def _restore(self, columns: GraphColumns) -> None:
        """Rebuild from columns, in order of discovery: a loaded graph also iterates like the folded one."""
        self._sequence = columns.sequence
        self._outcomes = dict(columns.outcomes)
        self._edges = len(columns.successor_state)
        actions = zip(
            columns.action_signature,
            columns.action_visits,
            columns.action_value,
            columns.action_successors,
            strict=True,
        )
        successors = zip(
            columns.successor_since, columns.successor_state, columns.successor_count, strict=True
        )
        failures = zip(columns.failure_signature, columns.failure_outcome, columns.failure_count, strict=True)
        for number, first_seen, visits, tried_here, failed_here in zip(
            columns.state,
            columns.state_first_seen,
            columns.state_visits,
            columns.state_actions,
            columns.state_failures,
            strict=True,
        ):
            state = self._states[number] = _State(first_seen)
            state.visits = visits
            found: list[tuple[int, str, Tried]] = []
            dispersed: list[Tried] = []
            for place, tries, value, reached in islice(actions, tried_here):
                (since, first, _), *others = sorted(islice(successors, reached))
                tried = Tried(first, since)
                tried.visits, tried.value = tries, value
                if others:
                    tried._others = {target: (count, since) for since, target, count in others}
                    dispersed.append(tried)
                state.trials += tries
                found.append((since, columns.signatures[place], tried))
            state.dispersed = dispersed or None
            found.sort(key=itemgetter(0))
            state.tried = {signature: tried for _, signature, tried in found}
            for place, kind, count in islice(failures, failed_here):
                _note_failure(state, columns.signatures[place], columns.outcomes[kind][0], count)
