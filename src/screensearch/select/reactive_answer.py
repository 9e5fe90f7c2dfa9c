"""What a model answered: one of the actions it was offered, or nothing.

An answer is one JSON object and nothing else. It is not repaired: no object is cut out of prose, no nearest
id is looked for, no other action takes its place. Parts that its action has no use for are ignored.
"""

from __future__ import annotations

import json
import re
from typing import Any

from screensearch.select.chat import Answer, NotAnswered, quoted
from screensearch.select.policy import Pick, Unanswered
from screensearch.select.reactive_prompt import Offer, Offers

LONGEST_TEXT = 200
"""Characters that are typed at most. A limit of 140 tokens leaves room for more, but not for much."""

_REFUSAL = re.compile(
    r"\W*(i['’]?m (very |so )?sorry|i am sorry|sorry|i apologi[sz]e|i can ?not|i can['’]t|i won['’]t"
    r"|i will not|i['’]?m (not able|unable)|i am (not able|unable)|as an ai)\b",
    re.IGNORECASE,
)
"""How models begin to refuse in prose. An endpoint that says `refusal` needs no guessing."""


def pick_of(answer: Answer, offers: Offers) -> Pick:
    """The candidate that an answer names. Raises `NotAnswered` for any other answer."""
    said = _object(answer)
    action = said.get("action")
    if action == "wait":
        return _waiting(said, offers)
    if action not in ("click", "type"):
        raise NotAnswered(Unanswered.BAD_ACTION, f"the action is {_shown(action)}, none of click, type, wait")
    offer = _offered(said, offers)
    if action == "click":
        if offer.click is None:
            raise NotAnswered(Unanswered.IMPOSSIBLE, f"candidate {said['id']} cannot be clicked")
        return Pick(offer.click)
    if offer.type is None:
        raise NotAnswered(Unanswered.IMPOSSIBLE, f"candidate {said['id']} cannot be typed into")
    return Pick(offer.type, _text(said))


def _object(answer: Answer) -> dict[str, Any]:
    text = answer.text.strip()
    try:
        value, end = json.JSONDecoder(object_pairs_hook=_once).raw_decode(text)
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, _Twice):
            raise NotAnswered(Unanswered.MANY_ACTIONS, str(problem)) from problem
        if answer.cut_off:
            raise NotAnswered(Unanswered.CUT_OFF, f"it ends within {quoted(text)!r}") from problem
        if _REFUSAL.match(text):
            raise NotAnswered(Unanswered.REFUSAL, quoted(text)) from problem
        raise NotAnswered(
            Unanswered.BAD_JSON, f"{quoted(text)!r}" if text else "the answer is empty"
        ) from problem
    rest = text[end:].strip()
    objects = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    if len(objects) > 1 or (rest.startswith("{") and objects):
        raise NotAnswered(Unanswered.MANY_ACTIONS, f"{quoted(text)!r}")
    if rest or not isinstance(value, dict):
        raise NotAnswered(Unanswered.BAD_JSON, f"not one object and nothing else: {quoted(text)!r}")
    return value


class _Twice(ValueError):
    """A name stands twice in an object: which of the two was meant cannot be known."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice(f"a name stands twice in {quoted(repr(pairs))}")
    return found


def _waiting(said: dict[str, Any], offers: Offers) -> Pick:
    if said.get("id") is not None:
        _offered(said, offers)
    if offers.wait is None:
        raise NotAnswered(Unanswered.IMPOSSIBLE, "waiting is not among the candidates (candidates.wait)")
    return Pick(offers.wait)


def _offered(said: dict[str, Any], offers: Offers) -> Offer:
    number = said.get("id")
    if type(number) is not int:
        raise NotAnswered(Unanswered.BAD_ACTION, f"the id is {_shown(number)}, not a whole number")
    if not 0 <= number < len(offers.elements):
        offered = f"0 to {len(offers.elements) - 1}" if offers.elements else "none"
        raise NotAnswered(Unanswered.INVENTED_ID, f"{_shown(number)}, where the ids are {offered}")
    return offers.elements[number]


def _text(said: dict[str, Any]) -> str:
    text = said.get("text")
    if not isinstance(text, str) or not text:
        raise NotAnswered(Unanswered.BAD_ACTION, f"the text to type is {_shown(text)}")
    if len(text) > LONGEST_TEXT or not text.isprintable():
        raise NotAnswered(
            Unanswered.BAD_ACTION,
            f"the text to type has {len(text)} characters, and may have {LONGEST_TEXT}, all printable: "
            f"{quoted(text)!r}",
        )
    return text


def _shown(value: object) -> str:
    return quoted(repr(value)[:400]) if value is not None else "missing"
