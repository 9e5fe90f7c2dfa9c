"""Search over the screens of runs, as the paper retrieves (section 4.2): BM25 and vectors, fused by rank.

A text is looked for in the words of screens, a screen in the atoms of others; both by meaning as well. Of a
state, the screen that founded it is indexed, and each further screen of it that shows a new word. A vector is
compared with all others: at 30,000 screens that takes milliseconds, is exact, and needs no graph to be built.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from screensearch.domain.screen import Screen, StateId
from screensearch.encode.embed import Embedder
from screensearch.encode.text import words
from screensearch.errors import ScreenSearchError
from screensearch.identify.fuse import reciprocal_rank_fusion
from screensearch.record.log import Log
from screensearch.view.meaning import Meanings, choose_embedder
from screensearch.view.sweep import Scores, SetColumns, hashed
from screensearch.view.vocabulary import Vocabulary

_K1, _B = 1.2, 0.75  # of BM25
_RRF_K = 60
_DEPTH = 200  # places of each ranking that are fused
_MEANT = 0.7  # what a word counts that was perhaps meant, beside one that was typed
_LONGEST_QUERY = 64  # words
_BATCH = 256  # screens that are embedded at once
_SNIPPET = 120  # characters


@dataclass(frozen=True, slots=True)
class Found:
    """A state that was found."""

    run: str
    state: StateId
    score: float  # Σ 1 / (60 + place) over the two rankings
    by_words: int | None  # place among those found by BM25, from 1
    by_meaning: int | None  # place among those found by vectors
    snippet: str  # of its text, around the first word found


@dataclass(slots=True)
class _Source:
    """One run: how its screens are read, and how far it is indexed."""

    name: str
    log: Log
    screen: Callable[[int], Screen]
    sequence: int = 0  # entries whose screens are in, or wait
    waiting: list[tuple[int, StateId]] = field(default_factory=list)  # rows of screens, and their states
    met: set[int] = field(default_factory=set)  # rows that are in, or wait


class SearchIndex:
    """The screens of any number of runs, read on at each question. For one thread at a time, like their logs.

    A *subject* is a state of a run, a *document* one of its screens; both are numbered from 0 as they come.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._meanings: Meanings | None = None  # over documents; an embedder is slow to load
        self._sources: list[_Source] = []
        self._subjects: dict[tuple[int, StateId], int] = {}
        self._source_of: array[int] = array("I")  # of a subject
        self._state_of: array[int] = array("q")  # of a subject
        self._founder_of: array[int] = array("I")  # of a subject: its first document
        self._others_of: dict[int, list[int]] = {}  # of a subject: its further documents
        self._subject_of: array[int] = array("I")  # of a document
        self._row_of: array[int] = array("q")  # of a document
        self._vocabulary = Vocabulary()
        self._words = SetColumns(k1=_K1, b=_B)  # over documents
        self._atoms = SetColumns(k1=_K1, b=_B)  # over subjects: of their founding screens

    def add(self, name: str, log: Log, screen: Callable[[int], Screen] | None = None) -> None:
        """Search in this run too. `screen` gives a screen of its log by its row, as it may be shown."""
        if any(source.name == name for source in self._sources):
            raise ScreenSearchError(f"a run named {name!r} is searched already: give this one another name")
        self._sources.append(_Source(name, log, log.screen if screen is None else screen))

    def renew(self, name: str, log: Log, screen: Callable[[int], Screen]) -> None:
        """Read a run on from its log as it was opened anew: what is indexed stays."""
        source = next(each for each in self._sources if each.name == name)
        source.log, source.screen, source.sequence = log, screen, 0

    def __len__(self) -> int:
        """How many screens are indexed."""
        return len(self._row_of)

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors; loaded when it is first needed."""
        return self._meaning.embedder

    @property
    def _meaning(self) -> Meanings:
        if self._meanings is None:
            self._meanings = Meanings(self._embedder or choose_embedder())
        return self._meanings

    # -- what is indexed ----------------------------------------------------------------------

    def extend(self, most: int | None = None) -> bool:
        """Take in what the logs have gained, at most so many screens; returns whether that was all."""
        for number, source in enumerate(self._sources):
            _look_further(source)
            while source.waiting and most != 0:
                batch = source.waiting[: _BATCH if most is None else min(most, _BATCH)]
                self._take(number, batch)
                del source.waiting[: len(batch)]
                most = None if most is None else most - len(batch)
        return not any(source.waiting for source in self._sources)

    def _take(self, source: int, batch: Iterable[tuple[int, StateId]]) -> None:
        texts: list[str] = []
        said: list[str] = []
        # Read before anything is entered: a row that cannot be read must not leave half of a batch.
        screens = [(row, state, self._sources[source].screen(row)) for row, state in batch]
        for row, state, screen in screens:
            subject = self._subjects.get((source, state))
            saying = words(f"{screen.text} {screen.metadata.window} {screen.metadata.application}")
            numbers = self._vocabulary.intern(saying)
            if subject is None:
                subject = self._found(source, state, screen)
            elif numbers <= self._said_by(subject):
                continue
            else:
                self._others_of.setdefault(subject, []).append(len(self))
            self._vocabulary.count(numbers)
            self._words.add(numbers)
            self._subject_of.append(subject)
            self._row_of.append(row)
            texts.append(screen.text)
            said += saying
        self._meaning.add(texts, said)

    def _found(self, source: int, state: StateId, screen: Screen) -> int:
        subject = self._subjects[source, state] = len(self._state_of)
        self._atoms.add(hashed((*(f"{atom}|" for atom in screen.role_atoms), *screen.text_atoms)))
        self._source_of.append(source)
        self._state_of.append(state)
        self._founder_of.append(len(self._row_of))
        return subject

    def _said_by(self, subject: int) -> set[int]:
        """The words of a subject, in all its documents."""
        documents = (self._founder_of[subject], *self._others_of.get(subject, ()))
        return {number for document in documents for number in self._words[document]}

    def _screen(self, document: int) -> Screen:
        source = self._sources[self._source_of[self._subject_of[document]]]
        return source.screen(self._row_of[document])

    # -- questions ----------------------------------------------------------------------------

    def search(self, text: str, limit: int = 20, runs: Collection[str] | None = None) -> list[Found]:
        """The states that say this, or something like it, best first; of `runs` alone, if they are given."""
        self.extend()
        typed = words(text)[:_LONGEST_QUERY]
        if not typed:
            return []
        groups, meant, understood = self._groups(typed, finished=text[-1:].isspace())
        vector = self._meaning.embed(understood)
        related = self._meaning.related(vector)
        said, near = self._words.strongest(groups, [self._numbered(related)])
        scores = said * self._words.norms(), near + self._meaning.near(vector)
        by_words, by_meaning = (self._best(each, runs) for each in scores)
        return self._fused(by_words, by_meaning, limit, [*meant, *related])

    def like(
        self, run: str, state: StateId, limit: int = 20, runs: Collection[str] | None = None
    ) -> list[Found]:
        """The states that look like this one, by their atoms and by meaning, best first; itself left out."""
        self.extend()
        names = [source.name for source in self._sources]
        subject = self._subjects.get((names.index(run), state)) if run in names else None
        if subject is None:
            raise ScreenSearchError(f"{run} has no state {state}; `screensearch states {run}` lists them")
        here = self._founder_of[subject]
        scores = np.zeros(len(self))
        scores[np.asarray(self._founder_of)] = self._atoms.scores(self._atoms[subject])
        by_atoms, by_meaning = (self._best(each, runs) for each in (scores, self._meaning.like(here)))
        for ranking in (by_atoms, by_meaning):
            ranking.pop(subject, None)
        return self._fused(by_atoms, by_meaning, limit, ())

    def _groups(
        self, typed: Sequence[str], *, finished: bool
    ) -> tuple[list[dict[int, float]], list[str], str]:
        """For each word, the numbers and weights of what it may mean; with all words looked for.

        Also the question as it is understood: a word that no screen has is replaced by the first it may mean.
        """
        groups: list[dict[int, float]] = []
        meant: list[str] = []
        understood: list[str] = []
        for place, word in enumerate(typed):
            last = place == len(typed) - 1
            others = self._vocabulary.meant(word, unfinished=last and not finished)
            group = {number: _MEANT * self._idf(number) for number in others.values()}
            number = self._vocabulary.number(word)
            if number is not None:
                group[number] = self._idf(number)
            groups.append(group)
            meant += [word, *others]
            understood.append(word if number is not None else next(iter(others), word))
        return groups, meant, " ".join(understood)

    def _idf(self, number: int) -> float:
        return float(self._words.weigh(np.array(self._vocabulary.frequency(number))))

    def _numbered(self, related: Mapping[str, float]) -> dict[int, float]:
        """Words that are near in meaning, by their numbers."""
        numbers = {word: self._vocabulary.number(word) for word in related}
        return {number: related[word] for word, number in numbers.items() if number is not None}

    def _best(self, scores: Scores, runs: Collection[str] | None) -> dict[int, int]:
        """The subjects of the documents that score over 0, best first, each with its best document."""
        found = scores > 0
        if runs is not None:
            wanted = np.array([source.name in runs for source in self._sources], dtype=bool)
            found &= wanted[np.asarray(self._source_of)[np.asarray(self._subject_of)]]
        documents = np.flatnonzero(found)
        if len(documents) > 2 * _DEPTH:  # several of them may be of one state
            last = -np.partition(-scores[documents], 2 * _DEPTH)[2 * _DEPTH]
            documents = documents[scores[documents] >= last]
        best: dict[int, int] = {}
        for document in documents[np.argsort(-scores[documents], kind="stable")].tolist():
            best.setdefault(self._subject_of[document], document)
            if len(best) == _DEPTH:
                break
        return best

    def _fused(
        self, by_words: dict[int, int], by_meaning: dict[int, int], limit: int, meant: Collection[str]
    ) -> list[Found]:
        rankings = [list(by_words), list(by_meaning)]
        places = [{subject: place for place, subject in enumerate(each, start=1)} for each in rankings]
        found = []
        for subject in reciprocal_rank_fusion(rankings, k=_RRF_K, top=limit):
            ranks = [each.get(subject) for each in places]
            document = by_words[subject] if subject in by_words else by_meaning[subject]
            found.append(
                Found(
                    run=self._sources[self._source_of[subject]].name,
                    state=self._state_of[subject],
                    score=sum(1 / (_RRF_K + rank) for rank in ranks if rank is not None),
                    by_words=ranks[0],
                    by_meaning=ranks[1],
                    snippet=snippet(self._screen(document).text, meant),
                )
            )
        return found


def _look_further(source: _Source) -> None:
    """Queue the screens that the log has gained. The first look asks for distinct ones: that is quicker."""
    last = source.log.last_sequence
    if last == source.sequence:
        return
    for row, state in _decided(source.log, source.sequence, last):
        if row not in source.met:
            source.met.add(row)
            source.waiting.append((row, state))
    source.sequence = last


def _decided(log: Log, after: int, last: int) -> Iterator[tuple[int, StateId]]:
    if not after:
        yield from ((decided.screen, decided.state) for decided in log.decided_screens())
        return
    for sequence, entry in log.read(after):
        if sequence > last:
            return
        if entry.screen is not None and entry.decision is not None:
            yield entry.screen, entry.decision.state


def snippet(text: str, wanted: Collection[str], length: int = _SNIPPET) -> str:
    """A part of a text on one line, with the first of the wanted words in it if there is one."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    pattern = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, wanted))})(?![^\W_])"
    match = re.search(pattern, text, re.IGNORECASE) if wanted else None
    start = 0 if match is None else max(0, match.start() - length // 3)
    if start:
        start = text.find(" ", start, match.start() if match else start) + 1 or start
    end = min(len(text), start + length)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"
