"""What must not be done. A guard removes candidates before anything may choose them, and says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from screensearch.domain.action import Candidate
from screensearch.domain.screen import Observation
from screensearch.encode.masks import compile_pattern
from screensearch.encode.text import normalise
from screensearch.errors import SettingsError
from screensearch.registry import Registry


class Guard(Protocol):
    """One rule."""

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        """Why this candidate must not be executed now, or None when it may.

        `candidate.label` is masked; what the user would read is `candidate.action.element.text`.
        """
        ...


GUARDS: Registry[Callable[[tuple[str, ...]], Guard]] = Registry("guard")
"""Guard plugins: each is called with the patterns of its rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRule:
    """A guard by name, and the patterns it is given."""

    name: str = "deny_labels"  # a plugin of kind `guard`
    patterns: tuple[str, ...] = ()  # what they mean is the guard's own matter


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """What must not be done. Credentials are asked first, then what is irreversible, then the rules."""

    credentials: str = "deny"  # deny, allow: typing into password and payment fields, and clicking them
    irreversible: str = "auto"  # auto, deny, allow: deleting, sending, buying, shutting down, …
    rules: tuple[GuardRule, ...] = ()

    def __post_init__(self) -> None:
        for name, known in (("credentials", ("deny", "allow")), ("irreversible", ("auto", "deny", "allow"))):
            value = getattr(self, name)
            if value not in known:
                raise SettingsError(f"guard.{name} is {value!r}, but must be one of {', '.join(known)}")

    def denies_irreversible(self, *, harmless: bool) -> bool:
        """Whether irreversible actions are vetoed: ``auto`` means exactly where they could do harm."""
        return self.irreversible == "deny" or (self.irreversible == "auto" and not harmless)


class Veto(NamedTuple):
    """A candidate that was removed, and why."""

    candidate: Candidate
    reason: str


class Guarded(NamedTuple):
    """Candidates after the guards: each is in exactly one of the two, in its old order, with its old id."""

    allowed: list[Candidate]
    vetoed: list[Veto]


class DenyLabels:
    """Vetoes a candidate whose label matches one of some regular expressions (searched, case ignored).

    An element is judged by its normalised text as shown: a mask must not hide what is forbidden. The
    label of a key press is the name of the key.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = [
            compile_pattern(pattern, what=f"deny_labels.patterns[{place}]")
            for place, pattern in enumerate(patterns)
        ]

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        element = candidate.action.element
        label = candidate.label if element is None else normalise(element.text)
        for pattern in self._patterns:
            if pattern.search(label):
                return f"the label {label!r} matches {pattern.pattern!r}"
        return None


def build_guards(settings: GuardSettings, *, harmless: bool) -> tuple[Guard, ...]:
    """The guards of a run, in the order in which they are asked.

    `harmless` says that nothing done here outlives the episode: a synthetic world, or a sandbox.
    """
    rules = list(settings.rules)
    if settings.denies_irreversible(harmless=harmless):
        rules.insert(0, GuardRule(name="irreversible"))
    if settings.credentials == "deny":
        rules.insert(0, GuardRule(name="credentials"))
    return tuple(GUARDS.get(rule.name)(rule.patterns) for rule in rules)


def open_gates(settings: GuardSettings, *, harmless: bool) -> list[str]:
    """What a user must be told before this run begins, a sentence each: the gates that stand open."""
    told = []
    if not harmless and not settings.denies_irreversible(harmless=harmless):
        told.append(
            "guard.irreversible = 'allow' without a sandbox: the exploration may delete, send, buy or shut "
            "down whatever the application can; set it to 'auto' or 'deny' to prevent that"
        )
    if not harmless and settings.credentials == "allow":
        told.append(
            "guard.credentials = 'allow' without a sandbox: the exploration may type into password and "
            "payment fields; set it to 'deny' to prevent that"
        )
    return told


def guard(candidates: Sequence[Candidate], observation: Observation, rules: Sequence[Guard]) -> Guarded:
    """Ask every rule about every candidate."""
    guarded = Guarded([], [])
    for candidate in candidates:
        reasons = (rule.veto(candidate, observation) for rule in rules)
        reason = next((each for each in reasons if each is not None), None)
        if reason is None:
            guarded.allowed.append(candidate)
        else:
            guarded.vetoed.append(Veto(candidate, reason))
    return guarded
