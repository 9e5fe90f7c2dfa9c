"""Another screen came out than the one that was expected: which, how far off, and what differs."""

from __future__ import annotations

from screensearch.domain.screen import Screen
from screensearch.explore.replay.judge import Judge, Judgement

MOST_TEXTS = 4

_LONGEST = 40  # characters of a text that are shown


def tell_strayed(words: str, judgement: Judgement, judge: Judge, screen: Screen) -> str:
    """What an action led to instead, in one sentence."""
    came = "a screen that is no known state" if judgement.state is None else f"state {judgement.state}"
    parts = [f"{words} led to {came}, not to state {judgement.expected}"]
    parts += [
        f"{name} is {seen!r}, not {known!r}"
        for name, known, seen in judge.differing_filters(screen, judgement.expected)
    ]
    score = judgement.comparison.score
    parts.append(f"score {score:.3f} against it ({judge.rule.merge.threshold:g} is needed)")
    known, seen = _texts(judge.founder(judgement.expected)), _texts(screen)
    for what, texts in (
        ("not there", [each for each in known if each not in seen]),
        ("there instead", [each for each in seen if each not in known]),
    ):
        if texts:
            parts.append(f"{what}: {_listed(texts)}")
    return "; ".join(parts)


def _texts(screen: Screen) -> dict[str, None]:
    """What a screen says, wherever it says it."""
    return dict.fromkeys(atom.partition("|")[2] for atom in screen.text_atoms)


def _listed(texts: list[str]) -> str:
    shown = ", ".join(
        repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") for text in texts[:MOST_TEXTS]
    )
    return shown if len(texts) <= MOST_TEXTS else f"{shown} and {len(texts) - MOST_TEXTS} more"
