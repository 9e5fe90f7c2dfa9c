"""The runs that a study of recorded runs is given: folders of runs, or of campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from screensearch.config import Settings
from screensearch.domain.transition import Entry
from screensearch.errors import FormatError, ScreenSearchError, StoreFailed
from screensearch.explore.campaign.record import FILE, CampaignRecord
from screensearch.explore.run import Run, open_run
from screensearch.record.run import read_manifest
from screensearch.record.sharded_log import ShardedLog
from screensearch.record.weaving import Weaving
from screensearch.study.published_corpus import counterpart

_MANIFEST = "run.json"


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run of a study: where it lies, which one it is, and how far it was read."""

    folder: str
    run: str  # its id
    environment: str
    seed: int
    version: str  # of this project, when it was made
    entries: int


def find_runs(folders: Iterable[Path]) -> list[Path]:
    """The runs of these folders, those of a campaign by name. Refuses what is none, and a run given twice."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in _runs_of(folder):
            run = read_manifest(path).run
            if run in found:
                raise ScreenSearchError(
                    f"{found[run]} and {path} are the same run, {run}: give each run once, or it counts twice"
                )
            found[run] = path
    return list(found.values())


def _runs_of(folder: Path) -> Sequence[Path]:
    if not (folder / FILE).is_file() or (folder / _MANIFEST).exists():
        return [folder]
    record = CampaignRecord.read(folder)
    try:
        runs = sorted(
            path for path in folder.iterdir() if path.name in record and (path / _MANIFEST).exists()
        )
    except OSError as problem:
        raise StoreFailed(f"cannot read {folder}: {problem}; check its permissions") from problem
    if not runs:
        raise ScreenSearchError(
            f"the campaign at {folder} has no run yet: start it with `screensearch campaign`"
        )
    return runs


@contextmanager
def opened(path: Path) -> Iterator[tuple[Run, RunSource]]:
    """A run, open for reading; what goes wrong with it names it."""
    manifest = read_manifest(path)
    with open_run(path) as run:
        source = RunSource(
            str(path), manifest.run, run.environment, run.seed, manifest.version, run.log.last_sequence
        )
        try:
            yield run, source
        except FormatError as problem:
            if str(path) in str(problem):
                raise
            raise FormatError(
                f"{path} cannot be read to its end: {problem}; see `screensearch verify {path}`"
            ) from problem


def in_order(run: Run) -> Iterator[Entry]:
    """All entries in an order that every episode agrees with: that of the log, or of its shards woven."""
    if isinstance(run.log, ShardedLog):
        return iter(Weaving(run.log))
    return (entry for _, entry in run.entries())


def application_of(environment: str) -> str:
    """What was explored: ``mousepad``, ``synthetic:files``."""
    return environment.removeprefix("desktop:")


def counterpart_of(environment: str, settings: Settings) -> str:
    """The paper's application that it stands in for; "" for none."""
    app = settings.app
    return counterpart(application_of(environment), app.display_modes, app.text_scales)


def titled(application: str, stands_for: str) -> str:
    """An application as rows name it: with the one that it stands in for, if that is another."""
    same = stands_for.lower().replace(" ", "-") == application
    return application if same or not stands_for else f"{application} (for {stands_for})"
