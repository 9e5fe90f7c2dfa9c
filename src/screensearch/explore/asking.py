"""A policy at work in an episode: what it is told of it, and what its picks become.

What a policy picks is checked like any candidate: text of its own is an action of its own, with a signature
of its own, and has to pass the guards again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace

from screensearch.act.guard import Guard, Guarded, guard
from screensearch.act.signature import parse_signature
from screensearch.domain.action import Candidate
from screensearch.domain.screen import Observation, StateId
from screensearch.domain.transition import Choice, Outcome
from screensearch.errors import FormatError, PluginMisbehaved
from screensearch.explore.messages import Receipt
from screensearch.select.policy import Counters, Done, Pick, Policy, Scene, Unanswered, Undecided

MOST_REMEMBERED = 1_000
"""Actions of an episode that a policy can be told of."""


class Asking:
    """Asks one policy, and counts for it what its episode has come to."""

    def __init__(self, policy: Policy, guards: Sequence[Guard], *, steps: int) -> None:
        self._policy = policy
        self._guards = guards
        self._steps = steps
        self.start_episode()

    def start_episode(self) -> None:
        """Forget the last episode: a policy is told of no other."""
        self._recent: deque[Done] = deque(maxlen=MOST_REMEMBERED)
        self._visits: Counter[StateId] = Counter()
        self._taken = 0

    def note(self, candidate: Candidate, outcome: Outcome) -> None:
        """An action was carried out, or its target was missing."""
        self._recent.append(Done(candidate, outcome))

    async def ask(
        self, observation: Observation, receipt: Receipt, guarded: Guarded
    ) -> tuple[Candidate, Choice] | Undecided:
        """What to do here; `guarded` has at least one candidate that is allowed."""
        here = receipt.here
        assert here is not None  # or there is nothing to decide
        self._visits[here.state] += 1
        counters = Counters(self._taken, self._steps, len(self._visits), self._visits[here.state])
        self._taken += 1
        allowed = guarded.allowed
        decided = await self._policy.decide(Scene(allowed, observation.window, counters, tuple(self._recent)))
        if isinstance(decided, Undecided):
            return decided
        candidate = self._picked(decided, allowed)
        if decided.text is not None:
            typed = _typing(candidate, decided.text)
            if isinstance(typed, Undecided):
                return typed
            candidate = typed
            vetoed = guard([candidate], observation, self._guards).vetoed
            reason = vetoed[0].reason if vetoed else here.spent.get(candidate.signature)
            if reason is not None:
                return Undecided(Unanswered.VETOED, f"{candidate.signature}: {reason}")
        known = here.tried.get(candidate.signature)
        return candidate, Choice(
            signature=candidate.signature,
            snapshot=receipt.snapshot,
            candidates=len(allowed),
            prior=0.0,
            value=0.0 if known is None else known.value,
            visits=0 if known is None else known.visits,
            score=0.0,  # nothing was weighed here
            vetoed=len(guarded.vetoed),
        )

    def _picked(self, pick: Pick, allowed: Sequence[Candidate]) -> Candidate:
        if type(pick.index) is not int or not 0 <= pick.index < len(allowed):
            raise PluginMisbehaved(
                f"{type(self._policy).__name__} picked candidate {pick.index!r} of {len(allowed)}: a policy "
                "returns the place of one of them, or Undecided"
            )
        return allowed[pick.index]


def _typing(candidate: Candidate, text: str) -> Candidate | Undecided:
    """The candidate with another text to type: another action, so another signature."""
    arguments = (("text", text),)
    try:
        signature = str(replace(parse_signature(candidate.signature), arguments=arguments).signature())
        parse_signature(signature)  # says what is wrong with the text
    except FormatError as problem:
        return Undecided(Unanswered.BAD_ACTION, str(problem))
    return replace(candidate, action=replace(candidate.action, arguments=arguments), signature=signature)
