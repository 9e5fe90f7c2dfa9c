"""The guard of passwords and payments: such fields are neither typed into nor clicked.

A field is one if the backend says so (`Element.secret`), or if what it is called, or the label that
stands left of it or above it, says so. Fields that follow in a row without a label of their own belong to
it, as the parts of a card number do. Where the layout leaves a doubt, the field is denied: what is skipped
is told, what is typed is typed. A spin button holds a number that is no secret, such as the length of a
password. A placeholder tells where the tool kit makes it the name of the field: Qt does, GTK does not.
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
_ALIGNED = 24.0  # pixels between the left edges of a field and a label that was put above it
_CONTROLS = frozenset({"button", "splitbutton", "menuitem", "checkbox", "radiobutton"})
"""Roles whose text is their own. A row of a list is none: it may hold a label and the field it is of."""
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
        self._fields: list[Element] = []

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
        for label in _nearest(element, self._labels, self._fields):
            word = next((word for each, word in self._telling if each is label), None)
            if word is not None:
                return f"credentials: the label beside the field says {word!r}"
        return None

    def _read(self, observation: Observation) -> None:
        """Find the labels that tell of a credential field: there are hardly ever any."""
        self._observation = observation
        elements = observation.elements
        self._labels = [
            each
            for each in elements
            if each.role == "text" and not each.editable and not _part_of_a_control(each, elements)
        ]
        self._fields = [each for each in elements if each.editable or each.role in EDITABLE_ROLES]
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
    return element.role != "spinner" and (element.editable or element.role in EDITABLE_ROLES)


def _part_of_a_control(label: Element, elements: Sequence[Element]) -> bool:
    """Whether a label is the text on a button or a check box, and says nothing of a field beside it."""
    above = label.parent
    return above is not None and 0 <= above < len(elements) and elements[above].role in _CONTROLS


@lru_cache(maxsize=256)
def _leaves(key: str) -> bool:
    try:
        return _LEAVING.fullmatch(parse_combination(key).key) is not None
    except FormatError:
        return False


def _nearest(field: Element, labels: Sequence[Element], fields: Sequence[Element]) -> list[Element]:
    """The label left of a field in its row, and the one above it, as far as there are any.

    A label above that stands left of another field is that one's, unless the two begin at the same place.
    """
    box = field.box
    beside = [
        (box.x - _right(label.box), place) for place, label in enumerate(labels) if _left_of(label.box, box)
    ]
    above = [
        (box.y - _bottom(label.box), place)
        for place, label in enumerate(labels)
        if _overlap(label.box.x, label.box.width, box.x, box.width)
        and label.box.y < box.y
        and _bottom(label.box) - box.y <= label.box.height / 2
        and box.y - _bottom(label.box) <= _ABOVE
        and (
            abs(label.box.x - box.x) <= _ALIGNED
            or not any(_left_of(label.box, other.box) for other in fields if other is not field)
        )
    ]
    return [labels[min(found)[1]] for found in (beside, above) if found]


def _left_of(label: Box, field: Box) -> bool:
    """Whether a label stands left of a field, in its row and near enough to be its own."""
    return (
        _overlap(label.y, label.height, field.y, field.height)
        and label.x < field.x
        and _right(label) - field.x <= label.width / 2
        and field.x - _right(label) <= _BESIDE
    )


def _right(box: Box) -> float:
    return box.x + box.width


def _bottom(box: Box) -> float:
    return box.y + box.height


def _overlap(first: float, length: float, other: float, other_length: float) -> bool:
    return first < other + other_length and other < first + length
