"""A run on its way out, as rows: as of one moment, and without the secrets that must stay in its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import msgspec

from screensearch.act.signature import parse_signature
from screensearch.act.wording import describe_action
from screensearch.config import settings_document
from screensearch.domain.screen import StateId
from screensearch.domain.transition import Entry
from screensearch.errors import FormatError
from screensearch.explore.redaction import Redaction, Sightings
from screensearch.explore.run import Run
from screensearch.record.graph import StateGraph
from screensearch.record.run import read_manifest
from screensearch.record.sharded_log import ShardedLog
from screensearch.view.exchange.conversion import row_from_entry, row_from_screen, rows_from_elements
from screensearch.view.exchange.pictures import Pictures
from screensearch.view.exchange.rows import (
    ArtifactRow,
    EdgeRow,
    ElementRow,
    Head,
    Row,
    ScreenRow,
    StateRow,
    TransitionRow,
)


@dataclass(slots=True)
class _Known:
    """A distinct screen: what it was first judged to be."""

    state: StateId | None
    founder: bool


@dataclass(slots=True)
class _Named:
    """A screenshot: who names it, and what is to be seen in it."""

    first: int
    entries: int = 0
    sightings: Sightings = field(default_factory=Sightings)  # only if it may hold secrets


class Leaving:
    """One run as the tables of an export. It reads the log once when it is made, and again for each table."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.graph = run.graph
        self.redaction = Redaction(run.settings)
        self._screens: dict[int, _Known] = {}
        self._named: dict[str, _Named] = {}
        self._starts: Counter[StateId] = Counter()
        self._founders: dict[StateId, tuple[int, str | None]] = {}  # screen and picture
        for sequence, entry in self._entries():
            self._note(sequence, entry)
        self.redaction.learn(run.log, self._screens)
        self._signatures = _Signatures(self.redaction.signature)
        self._pictures: Mapping[str, str | None] | None = None  # what became of each, if they go out

    def _entries(self) -> Iterator[tuple[int, Entry]]:
        """The log up to the moment of the graph: a run may be growing."""
        for sequence, entry in self.run.log.read():
            if sequence > self.graph.sequence:
                return
            yield sequence, entry

    def _note(self, sequence: int, entry: Entry) -> None:
        decision, screen, picture = entry.decision, entry.screen, entry.evidence.screenshot
        first = screen not in self._screens
        if screen is not None:
            known = self._screens.setdefault(screen, _Known(None, founder=False))
            if known.state is None and decision is not None:
                known.state, known.founder = decision.state, decision.founded
            if decision is not None and decision.founded:
                self._founders.setdefault(decision.state, (screen, picture))
        if not entry.step and decision is not None:
            self._starts[decision.state] += 1
        if picture is not None:
            named = self._named.setdefault(picture, _Named(sequence))
            named.entries += 1
            if screen is not None and self.redaction.active:
                named.sightings.note(screen, entry.evidence.window, first=first)

    # -- what the run is ----------------------------------------------------------------------

    @cached_property
    def head(self) -> Head:
        """What the run was of; asked for after `write_pictures`, if that is done.

        Addresses of databases and buckets stay here: they may hold passwords.
        """
        manifest = read_manifest(self.run.path)
        log, graph = self.run.log, self.graph
        digest = original = graph.digest()
        if self.redaction.active:
            for state in graph.iter_states():
                for signature in (*graph.tried(state), *graph.failures(state)):
                    self._signatures[signature]
            rows = (
                row._replace(signature=None if row.signature is None else self._signatures[row.signature])
                for row in log.rows()
                if row.sequence <= graph.sequence
            )
            digest = StateGraph.fold(rows, self.run.settings.ambiguity).digest()
        shards = log.lengths if isinstance(log, ShardedLog) else ()
        return Head(
            environment=self.redaction.text(manifest.environment),
            seed=manifest.seed,
            created=manifest.created,
            version=manifest.version,
            settings=settings_document(self.redaction.settings(self.run.settings)),
            shards=len(shards) or 1,
            entries=graph.sequence,
            states=graph.states,
            edges=graph.edges,
            digest=digest,
            original=original,
            redacted=list(self.run.settings.redact.kinds) if self.redaction.active else [],
            changed_signatures=self._signatures.changed,
            pictures=self._pictures is not None,
            shard_numbers=[number for number, _ in shards],
            shard_entries=[entries for _, entries in shards],
        )

    def tables(self) -> Iterator[tuple[str, int, Iterable[Row]]]:
        """Every table by its name, with how many steps it takes and its rows."""
        screens = len(self._screens)
        yield "states", self.graph.states, self.states()
        yield "edges", self.graph.edges, self.edges()
        yield "transitions", self.graph.sequence, self.transitions()
        yield "screens", screens, self.screens()
        yield "elements", screens, self.elements()
        yield "artifacts", len(self._named), self.artifacts()

    # -- the tables ---------------------------------------------------------------------------

    def states(self) -> Iterator[StateRow]:
        graph = self.graph
        screens = Counter(known.state for known in self._screens.values())
        for state in graph.iter_states():
            row, picture = self._founder(state)
            screen = self.redaction.screen(self.run.log, row)
            metadata = screen.metadata
            failures = sum(sum(kinds.values()) for kinds in graph.failures(state).values())
            yield StateRow(
                state=state,
                first_seen=graph.first_seen(state) or 0,
                visits=graph.visits(state),
                trials=graph.trials(state),
                ambiguity=graph.ambiguity(state),
                actions=len(graph.tried(state)),
                failures=failures,
                starts=self._starts[state],
                screens=screens[state],
                screen=row,
                application=metadata.application,
                display_mode=metadata.display_mode,
                text_size=metadata.text_size,
                window=metadata.window,
                text=screen.text,
                picture=self._picture(picture),
            )

    def _founder(self, state: StateId) -> tuple[int, str | None]:
        found = self._founders.get(state)
        if found is None:
            raise FormatError(
                f"no entry of {self.run.path} founds state {state}: `screensearch verify` says what is wrong"
            )
        return found

    def edges(self) -> Iterator[EdgeRow]:
        graph = self.graph
        for source, signature, target, count in graph.iter_edges():
            tried = graph.tried(source)[signature]
            shown = self._signatures[signature]
            yield EdgeRow(
                source=source,
                signature=shown,
                words=describe_action(shown),
                target=target,
                count=count,
                visits=tried.visits,
                share=count / tried.visits,
                value=tried.value,
                first_seen=tried.since(target) or 0,
            )

    def transitions(self) -> Iterator[TransitionRow]:
        for sequence, entry in self._entries():
            row = row_from_entry(sequence, entry)
            picture = self._picture(row.picture)
            if picture != row.picture:
                row = msgspec.structs.replace(row, picture=picture)
            yield self._redacted(row) if self.redaction.active else row

    def _redacted(self, row: TransitionRow) -> TransitionRow:
        signatures = self._signatures
        configuration = row.configuration
        if configuration:
            pairs = msgspec.json.decode(configuration, type=list[tuple[str, str]])
            clean = [(name, self.redaction.text(value)) for name, value in pairs]
            configuration = msgspec.json.encode(clean).decode()
        return msgspec.structs.replace(
            row,
            signature=None if row.signature is None else signatures[row.signature],
            chosen=None if row.chosen is None else signatures[row.chosen],
            note=self.redaction.text(row.note),
            configuration=configuration,
        )

    def screens(self) -> Iterator[ScreenRow]:
        log = self.run.log
        for number, known in sorted(self._screens.items()):
            screen = self.redaction.screen(log, number)
            seen = self.redaction.observation(log, number)
            yield row_from_screen(number, screen, seen, known.state, founder=known.founder)

    def elements(self) -> Iterator[ElementRow]:
        for number in sorted(self._screens):
            elements = self.redaction.observation(self.run.log, number).elements
            if self.redaction.active:
                elements = tuple(replace(each, handle="") for each in elements)
            yield from rows_from_elements(number, elements)

    def artifacts(self) -> Iterator[ArtifactRow]:
        for name, named in self._named.items():
            shown = self._picture(name)
            if shown is not None:
                file = None if self._pictures is None else Pictures.place(shown)
                yield ArtifactRow(picture=shown, first_entry=named.first, entries=named.entries, file=file)

    # -- pictures -----------------------------------------------------------------------------

    def write_pictures(self, pictures: Pictures, progress: Callable[[int, int], None]) -> None:
        """Let the screenshots go out too, secrets covered: before any table, since that renames them."""
        became: dict[str, str | None] = {}
        for done, (name, named) in enumerate(self._named.items()):
            cover = None
            if self.redaction.active:
                seen = named.sightings.values()
                cover = partial(self.redaction.picture, log=self.run.log, sightings=seen)
            became[name] = pictures.put(self.run.artifacts, name, cover)
            progress(done + 1, len(self._named))
        self._pictures = became

    def _picture(self, name: str | None) -> str | None:
        """The name of a screenshot as it goes out. One that may show a secret is not named uncovered."""
        if name is None:
            return None
        if self._pictures is None:
            return None if self.redaction.active else name
        return self._pictures[name]


class _Signatures(dict[str, str]):
    """Signatures as they go out. Two that would become one by redaction are told apart by a number.

    Else an export would join what the run knows as two actions, and its figures would fit no longer.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._taken: set[str] = set()
        self.changed = 0

    def __missing__(self, signature: str) -> str:
        shown = clean = self._redact(signature)
        number = 1
        while shown in self._taken:
            number += 1
            shown = _numbered(clean, number)
        self._taken.add(shown)
        self.changed += shown != signature
        self[signature] = shown
        return shown


def _numbered(signature: str, number: int) -> str:
    try:
        parsed = parse_signature(signature)
    except FormatError:
        return f"{signature} {number}"
    if parsed.target is not None:
        target = replace(parsed.target, label=f"{parsed.target.label} {number}")
        return str(replace(parsed, target=target).signature())
    texts = [name for name, value in parsed.arguments if isinstance(value, str)]
    arguments = tuple(
        (name, f"{value} {number}" if name in texts[:1] else value) for name, value in parsed.arguments
    )
    return str(replace(parsed, arguments=arguments).signature()) if texts else f"{signature} {number}"
