"""A run made anew from another one's log: the same screens and actions, under another identity rule.

What was done stays as it was logged: observations, choices, outcomes, times. What was concluded from it is
concluded again, entry by entry, as a store would have done: which state a screen is, what a step was worth,
and so N, Q and u. A run of several shards becomes one with a single log: its entries are decided in an order
that every shard and every episode agrees with (`record.weaving`). The new run is whole or absent; the other
one is only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path

from screensearch.config import Settings
from screensearch.domain.transition import Arrival, Entry, EpisodeId, FailedStart, Outcome
from screensearch.errors import FormatError, SettingsError
from screensearch.explore.beginning import new_manifest
from screensearch.explore.entries import Entries
from screensearch.explore.messages import Begin, Message, Report, Sighting
from screensearch.explore.regrouped import Regrouped, Regrouping
from screensearch.explore.run import Run
from screensearch.explore.store import make_resolver
from screensearch.identify.resolve import Resolver
from screensearch.record.artifacts import ARTIFACTS
from screensearch.record.columns import digest_of
from screensearch.record.graph import StateGraph
from screensearch.record.local_artifacts import LocalArtifacts
from screensearch.record.log import Log
from screensearch.record.placing import placing
from screensearch.record.run import TRUTH, Provenance, RunExists, create_run, own, owner_of, read_manifest
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.weaving import Weaving

REMADE = ("embed", "identify", "ambiguity", "reward")
"""The tables of the settings that a remerged run may have otherwise: those that judge what was done."""

_BATCH = 2_000  # entries made durable together: nobody waits for an answer

OnProgress = Callable[[int, int], None]
"""Called with how many entries are done, and of how many."""


def remerge(
    run: Run, settings: Settings, out: str | Path, on_progress: OnProgress = lambda done, total: None
) -> Regrouped:
    """Make a run at `out` from another one's log under these settings; tells what became of its states.

    The settings are those of the run but for the tables in `REMADE`. A run that is still being written is
    read up to the latest entry there was at the beginning.
    """
    out = Path(out)
    _check(run, settings, out)
    resolver = make_resolver(settings)
    manifest = read_manifest(run.path)
    with placing(out) as building:
        truth = [(path.name, path.read_bytes()) for path in sorted((run.path / TRUTH).glob("*.jsonl"))]
        live = owner_of(run.path) is not None
        last = (
            run.log.last_sequence
        )  # noted after the truth was read: all of that is about entries up to here
        before = StateGraph.fold(islice(run.log.rows(), last), run.settings.ambiguity)
        remade = new_manifest(
            manifest.environment,
            settings,
            seed=manifest.seed,
            store="",
            artifacts=manifest.artifacts,
            remerged_from=Provenance(
                run=manifest.run, folder=run.path.resolve().name, entries=last, digest=before.digest()
            ),
        )
        create_run(building, remade)
        for name, notes in truth:
            (building / TRUTH / name).write_bytes(notes)
        regrouping = Regrouping(before, live=live)
        with own(building) as folder:
            log = folder.write_log()
            try:
                entries = _in_order(run.log, last)
                graph, pictures = _rewrite(
                    run.log, entries, last, log, settings, resolver, regrouping, on_progress
                )
            finally:
                log.close()
        if not manifest.artifacts:
            theirs = LocalArtifacts(run.path / ARTIFACTS)
            LocalArtifacts(building / ARTIFACTS).take_from(theirs, pictures)
        left_out = entries.left_out if isinstance(entries, Weaving) else 0
        return regrouping.result(graph, out, left_out)


def _in_order(log: Log, last: int) -> Iterable[Entry]:
    """The entries of a log up to a number; those of several shards as one owner would have written them."""
    if isinstance(log, ShardedLog):
        return Weaving(log)
    return (entry for _, entry in islice(log.read(), last))


def _rewrite(
    source: Log,
    entries: Iterable[Entry],
    last: int,
    log: Log,
    settings: Settings,
    resolver: Resolver,
    regrouping: Regrouping,
    on_progress: OnProgress,
) -> tuple[StateGraph, list[str]]:
    """Write the entries of one log into another, decided anew; the graph of it, and the pictures it names."""
    graph = StateGraph(settings.ambiguity)
    again = _Again(source, Entries(log, graph, resolver, settings, first=0))
    pictures: dict[str, None] = {}
    for sequence, entry in enumerate(entries, start=1):
        made = again.make(entry)
        log.append(made)
        graph.apply_entry(sequence, made)
        regrouping.take(entry, made)
        if made.evidence.screenshot is not None:
            pictures[made.evidence.screenshot] = None
        if sequence % _BATCH == 0:
            log.commit()
            on_progress(sequence, last)
    if graph.sequence:
        dump = graph.dump()
        log.write_checkpoint(graph.sequence, digest_of([dump]), dump)
    log.commit()
    on_progress(last, last)
    return graph, list(pictures)


class _Again:
    """Turns entries of a log back into what had been reported, and that into entries of another log."""

    def __init__(self, source: Log, entries: Entries) -> None:
        self._source = source
        self._entries = entries
        self._rows: dict[int, int] = {}  # row of a screen in the source: row in the new log
        self._where: dict[EpisodeId, int] = {}  # the state that each episode is at

    def make(self, entry: Entry) -> Entry:
        made = self._made(entry)
        if entry.screen is not None and made.screen is not None:
            self._rows[entry.screen] = made.screen
        if made.decision is None:
            self._where.pop(entry.episode, None)
        else:
            self._where[entry.episode] = made.decision.state
        return made

    def _made(self, entry: Entry) -> Entry:
        if isinstance(entry, FailedStart):
            return entry
        message: Message
        if isinstance(entry, Arrival):
            message = Begin(entry.episode, self._sighting(entry.screen), entry.evidence, entry.configuration)
            return self._entries.make(message, None)
        state = self._where.get(entry.episode)
        if state is None:
            raise FormatError(f"step {entry.step} of {entry.episode} follows no screen: the log is damaged")
        chosen = entry.choice is not None or entry.outcome is Outcome.UNDECIDED
        if not chosen or entry.outcome is Outcome.LOST:  # nothing was decided, nor earned
            return replace(entry, source=state)
        message = Report(
            episode=entry.episode,
            step=entry.step,
            source=state,
            choice=entry.choice,
            outcome=entry.outcome,
            sighting=None if entry.screen is None else self._sighting(entry.screen),
            evidence=entry.evidence,
            note=entry.note,
        )
        return self._entries.make(message, None)

    def _sighting(self, row: int) -> Sighting:
        known = self._rows.get(row)
        if known is not None:
            return Sighting(row=known)
        return Sighting(screen=self._source.screen(row), elements=self._source.elements(row))


def _check(run: Run, settings: Settings, out: Path) -> None:
    """Refuse, before anything is made, what cannot be remerged, or not there."""
    for each in fields(Settings):
        if each.name not in REMADE and getattr(settings, each.name) != getattr(run.settings, each.name):
            raise SettingsError(
                f"settings of {each.name} say how a run is explored, and {run.path} is explored already: "
                f"what can be changed afterwards is in {', '.join(REMADE)}"
            )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunExists(f"{out} is there already: choose another folder for the new run")
