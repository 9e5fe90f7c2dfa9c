"""The audit of repeated state–action groups (paper, appendix "Ambiguity audits"): rows, tables, files."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from screensearch.errors import ScreenSearchError
from screensearch.explore.redaction import Redaction
from screensearch.explore.run import Run
from screensearch.study.context import (
    DRAWS,
    Context,
    Groups,
    Split,
    Trial,
    read_groups,
    shuffled_means,
    split_group,
)
from screensearch.study.context_tables import (
    Chance,
    ContextSummary,
    Explained,
    Parts,
    context_latex,
    context_page,
)
from screensearch.study.plan import write_whole
from screensearch.study.published_corpus import CONTEXT
from screensearch.study.report import LATEX, SUMMARY, TABLES
from screensearch.study.runs import RunSource, application_of, counterpart_of, in_order, opened

GROUPS = "groups.jsonl.gz"
DEFAULT = Context.RECENT


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """One group as raw results keep it."""

    run: str
    state: int
    signature: str
    successors: dict[str, int]
    splits: dict[Context, Split]


class _Application:
    """What was read of an application so far. Groups are of one run: another numbers its states anew."""

    def __init__(self) -> None:
        self.trials: list[Sequence[Trial]] = []
        self.splits: dict[Context, list[Split]] = {context: [] for context in Context}

    def add(self, groups: Groups) -> list[dict[Context, Split]]:
        """Take in the groups of a run; their splits, in the same order."""
        found = [{context: split_group(trials, context) for context in Context} for trials in groups.values()]
        self.trials += groups.values()
        for splits in found:
            for context, split in splits.items():
                self.splits[context].append(split)
        return found


def study_context(
    runs: Sequence[Path],
    out: Path,
    context: Context = DEFAULT,
    on_run: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> tuple[ContextSummary, list[Path]]:
    """Read the runs, one after another, and write the study's files; its numbers, and what was written."""
    applications: dict[tuple[str, str], _Application] = {}
    sources: list[RunSource] = []
    lines: list[bytes] = []
    for done, path in enumerate(runs):
        on_run(done, len(runs), str(path))
        with opened(path) as (run, source):
            sources.append(source)
            groups = read_groups(in_order(run))
            name = application_of(run.environment), counterpart_of(run.environment, run.settings)
            splits = applications.setdefault(name, _Application()).add(groups)
            lines += _raw(run, source, groups, splits)
    if not lines:
        raise ScreenSearchError(
            f"no action was carried out twice at one state in {', '.join(map(str, runs))}: there is nothing "
            "to split; explore for longer"
        )
    summary = _summary(context, applications, sources)
    files = {
        GROUPS: gzip.compress(b"".join(lines), mtime=0),
        TABLES: context_page(summary).encode(),
        LATEX: context_latex(summary).encode(),
        SUMMARY: msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n",
    }
    for file, content in files.items():
        write_whole(out / file, content)
    return summary, [out / file for file in files]


def _raw(run: Run, source: RunSource, groups: Groups, splits: Sequence[dict[Context, Split]]) -> list[bytes]:
    """A line for each group, with no secret in its signature."""
    redaction = Redaction(run.settings)
    if redaction.active:
        redaction.learn(run.log, (decided.screen for decided in run.log.decided_screens()))
    lines = []
    for ((state, signature), trials), found in zip(groups.items(), splits, strict=True):
        successors: dict[str, int] = {}
        for trial in trials:
            successors[str(trial.successor)] = successors.get(str(trial.successor), 0) + 1
        result = GroupResult(
            run=source.run,
            state=state,
            signature=redaction.signature(signature),
            successors=successors,
            splits=found,
        )
        lines.append(msgspec.json.encode(result) + b"\n")
    return lines


def _summary(
    context: Context, applications: dict[tuple[str, str], _Application], sources: list[RunSource]
) -> ContextSummary:
    order = [*CONTEXT, ""]
    names = sorted(applications, key=lambda name: order.index(name[1] if name[1] in order else ""))
    with_groups = [name for name in names if applications[name].trials]
    definitions = {
        (name, each): _explained(name, each, applications[name].splits[each])
        for name in with_groups
        for each in Context
    }
    rows = [definitions[name, context] for name in with_groups]
    chances = [
        _chance(shuffled_means(applications[name].trials, context), row.parts.between)
        for name, row in zip(with_groups, rows, strict=True)
    ]
    return ContextSummary(
        context=context,
        draws=DRAWS,
        rows=rows,
        chances=chances,
        definitions=list(definitions.values()),
        runs=sources,
    )


def _explained(name: tuple[str, str], context: Context, splits: Sequence[Split]) -> Explained:
    parts = _parts(splits, [1] * len(splits))
    return Explained(
        application=name[0],
        stands_for=name[1],
        context=context,
        groups=len(splits),
        trials=sum(split.trials for split in splits),
        dispersed=sum(split.pooled > 0 for split in splits),
        repeated=sum(split.repeated for split in splits),
        repeated_dispersed=sum(split.repeated and split.pooled > 0 for split in splits),
        contexts=sum(split.contexts for split in splits) / len(splits),
        parts=parts,
        weighted=_parts(splits, [split.trials for split in splits]),
        beyond=parts.beyond,
    )


def _parts(splits: Sequence[Split], weights: Sequence[int]) -> Parts:
    def mean(name: str) -> float:
        values = (getattr(split, name) * weight for split, weight in zip(splits, weights, strict=True))
        return math.fsum(values) / sum(weights)

    return Parts(mean("pooled"), mean("within"), mean("between"), mean("chance"))


def _chance(means: np.ndarray[tuple[int], np.dtype[np.float64]], between: float) -> Chance:
    low, high = np.quantile(means, [0.025, 0.975])
    as_much = int(np.sum(means >= between - 1e-12))
    return Chance(float(low), float(high), (as_much + 1) / (len(means) + 1))
