"""The guard of passwords and payments: such fields are neither typed into nor clicked.

A field is one if the backend says so (`Element.secret`), or if what it is called, or the label that
stands left of it or above it, says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from screensearch.domain.action import Candidate
from screensearch.domain.keys import parse_combination
from screensearch.domain.roles import EDITABLE_ROLES
from screensearch.domain.screen import Box, Element, Observation
from screensearch.encode.masks import compile_pattern
from screensearch.encode.text import normalise
from screensearch.errors import FormatError

_WORDS = r"""
    pass\s?words? | pass\s?phrases? | pass\s?codes? | passwd | pwd | pin | pin\s(?:code|number) | tan
    | secrets? | secret\s(?:key|code|answer)s? | (?:access|auth|api|bearer|refresh|security|session)\stokens?
    | tokens? | (?:api|access|private|licen[cs]e|recovery|encryption|security)\s?(?:key|phrase|code)s?
    | credentials? | one[\s-]time\s(?:code|password) | otp | 2fa(?:\scode)? | verification\scode
    | (?:credit|debit|payment|bank)?\s?card\s?(?:number|no\.?) | credit\scard | debit\scard
    | cvv2? | cvc2? | csc | card\sverification | iban | account\snumber | routing\snumber
    | social\ssecurity(?:\snumber)? | ssn
    | passwort | passwörter | kennwort | kennwörter | passphrase | geheimzahl | kartennummer | kreditkarte
    | prüf(?:ziffer|nummer) | sicherheitscode | kontonummer
    | mot\sde\spasse | mots\sde\spasse | phrase\s(?:de\spasse|secrète) | code\s(?:secret|confidentiel)
    | jeton | numéro\sde\scarte | carte\sbancaire | cryptogramme | code\sde\ssécurité
    | contraseñas? | clave\s(?:secreta|privada|de\sacceso)? | código\sde\sseguridad | número\sde\starjeta
    | tarjeta\sde\s(?:crédito|débito)
"""
_CREDENTIAL = re.compile(rf"(?<![\w-])(?:{_WORDS})(?![\w-])", re.VERBOSE)

_LONGEST_LABEL = 60  # characters: what is longer is content, such as the text of an open document
_BESIDE = 400.0  # pixels between a field and the label left of it
_ABOVE = 40.0  # pixels between a field and the label above it
_LEAVING = re.compile(r"Escape|(?:ISO_Left_)?Tab|F\d+|(?:KP_)?(?:Up|Down|Left|Right|Home|End|Page_\w+)")
"""Keys that put nothing into the field that has the focus, and accept nothing."""


class Credentials:
    """Vetoes what types into a credential field or clicks it, and keys while such a field has the focus.

    Patterns are further regular expressions for the labels of such fields (searched, case ignored).
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = tuple(
            compile_pattern(pattern, what=f"credentials.patterns[{place}]")
            for place, pattern in enumerate(patterns)
        )
        self._observation: Observation | None = None  # the one that the next two are about
        self._telling: list[tuple[Element, str]] = []  # labels that announce a credential field
        self._labels: list[Element] = []

    def veto(self, candidate: Candidate, observation: Observation) -> str | None:
        action = candidate.action
        if action.element is not None:
            if action.template.startswith("scroll@"):
                return None
            return self._why(action.element, observation)
        if not action.template.startswith("key@") or _leaves(str(dict(action.arguments).get("key", ""))):
            return None
        focused = next((each for each in observation.elements if each.focused and _holds(each)), None)
        why = None if focused is None else self._why(focused, observation)
        return None if why is None else f"{why} (it has the focus)"

    def _why(self, element: Element, observation: Observation) -> str | None:
        if element.secret:
            return "credentials: the element is a password field"
        if not _holds(element):
            return None
        word = self._word(element.text)
        if word is not None:
            return f"credentials: the field is called {word!r}"
        if observation is not self._observation:
            self._read(observation)
        if not self._telling:
            return None
        for label in _nearest(element, self._labels):
            word = next((word for each, word in self._telling if each is label), None)
            if word is not None:
                return f"credentials: the label beside the field says {word!r}"
        return None

    def _read(self, observation: Observation) -> None:
        """Find the labels that tell of a credential field: there are hardly ever any."""
        self._observation = observation
        self._labels = [each for each in observation.elements if each.role == "text" and not each.editable]
        words = ((each, self._word(each.text)) for each in self._labels)
        self._telling = [(each, word) for each, word in words if word is not None]

    def _word(self, text: str) -> str | None:
        if not text or len(text) > _LONGEST_LABEL:
            return None
        return _credential_word(text, self._patterns)


@lru_cache(maxsize=8_192)
def _credential_word(text: str, patterns: Sequence[re.Pattern[str]]) -> str | None:
    label = normalise(text)
    for pattern in (_CREDENTIAL, *patterns):
        match = pattern.search(label)
        if match is not None:
            return match[0]
    return None


def _holds(element: Element) -> bool:
    return element.editable or element.role in EDITABLE_ROLES


@lru_cache(maxsize=256)
def _leaves(key: str) -> bool:
    try:
        return _LEAVING.fullmatch(parse_combination(key).key) is not None
    except FormatError:
        return False


def _nearest(field: Element, labels: Sequence[Element]) -> list[Element]:
    """The label left of a field in its row, and the one above it, as far as there are any."""
    box = field.box
    beside = [
        (box.x - _right(label.box), place)
        for place, label in enumerate(labels)
        if _overlap(label.box.y, label.box.height, box.y, box.height)
        and label.box.x < box.x
        and _right(label.box) - box.x <= label.box.width / 2
        and box.x - _right(label.box) <= _BESIDE
    ]
    above = [
        (box.y - _bottom(label.box), place)
        for place, label in enumerate(labels)
        if _overlap(label.box.x, label.box.width, box.x, box.width)
        and label.box.y < box.y
        and _bottom(label.box) - box.y <= label.box.height / 2
        and box.y - _bottom(label.box) <= _ABOVE
    ]
    return [labels[min(found)[1]] for found in (beside, above) if found]


def _right(box: Box) -> float:
    return box.x + box.width


def _bottom(box: Box) -> float:
    return box.y + box.height


def _overlap(first: float, length: float, other: float, other_length: float) -> bool:
    return first < other + other_length and other < first + length
