"""`screensearch campaign`: several applications and configurations, one after the other or at once."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from screensearch.cli.campaign_view import CampaignLog, CampaignView, print_campaign
from screensearch.cli.cluster import launcher
from screensearch.cli.logs import log_as, log_format_option, logs_json, tell
from screensearch.cli.output import as_json_option, console, print_json, say
from screensearch.cli.status import INTERRUPTED_STATUS
from screensearch.errors import ScreenSearchError, SettingsError
from screensearch.explore.campaign.conduct import HERE, conduct
from screensearch.explore.campaign.file import Above, Campaign, read_campaign
from screensearch.explore.campaign.ready import (
    CampaignRefused,
    Missing,
    check_runs,
    find_missing,
    is_due,
    refuse_missing,
)
from screensearch.explore.campaign.record import (
    CampaignRecord,
    Failure,
    RunState,
    conducted,
    is_conducted,
)
from screensearch.explore.logs import TEXT
from screensearch.explore.metrics_server import check_metrics

FAILED_STATUS = 1

ON_CLUSTER = "screensearch.cluster.campaign_process"
"""The module whose process leads a run on a cluster."""


@click.command()
@click.argument("file")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder with a folder for each run. Default: runs/ and the name of the campaign.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), help="Worker processes of each run, whatever the file says."
)
@click.option(
    "--cluster",
    default="",
    metavar="ADDRESS",
    help="Explore on the nodes of a Ray cluster, whatever the file says: HOST:PORT of its head, or `auto` "
    "for the one that this machine belongs to. Every run then needs a store.",
)
@click.option(
    "--store",
    default="",
    metavar="URL",
    help="Keep the logs of all runs in one PostgreSQL database (postgresql://USER@HOST/DATABASE), whatever "
    "the file says.",
)
@click.option(
    "--artifacts",
    default="",
    metavar="URL",
    help="Keep the screenshots in a bucket (s3://BUCKET/PREFIX) or another folder, those of each run below "
    "its name, whatever the file says.",
)
@click.option(
    "--skip-missing", is_flag=True, help="Leave runs out whose application is not installed, and say so."
)
@click.option(
    "--metrics",
    default="",
    metavar="[HOST:]PORT",
    help="Let each run serve metrics for Prometheus as `explore --metrics` does; of those at the same time, "
    "the first at this port and the others at the next ones that are free.",
)
@log_format_option
@click.option("--status", is_flag=True, help="Show how far every run has come, and run nothing.")
@as_json_option
@click.pass_context
def campaign(
    context: click.Context,
    file: str,
    out: Path | None,
    workers: int | None,
    cluster: str,
    store: str,
    artifacts: str,
    skip_missing: bool,
    metrics: str,
    log_format: str,
    status: bool,
    as_json: bool,
) -> None:
    """Explore everything that a campaign file lists, each run into a folder of its own.

    FILE is a path that ends in .toml, or the name of a campaign that is shipped: `paper` is the corpus of the
    paper, by applications of Linux. Everything is checked before the first run starts.

    The same command goes on where it stopped: finished runs are left alone, interrupted ones are resumed, and
    failed ones are tried again. Ctrl-C ends it with status 130 once the steps under way are recorded. A run
    that fails does not end the campaign; the status is then 1.
    """
    log_as(context, log_format)
    above = Above(workers=workers, store=store, artifacts=artifacts, cluster=cluster)
    planned = read_campaign(file, above)
    folder = out or Path("runs", planned.name)
    if str(folder) == ".":
        raise SettingsError("--out names no folder of its own: give a new one, such as runs/mine")
    if status:
        alive = is_conducted(folder)
        record = CampaignRecord.read(folder)
        if not alive:
            record.nobody_conducts()
        _print(planned, folder, record, as_json=as_json, complete=True)
        return
    missing = _check(planned, folder, skip_missing=skip_missing)
    if metrics:
        check_metrics(metrics, here=not planned.cluster)
    with conducted(folder):
        record = CampaignRecord.read(folder)
        record.nobody_conducts()
        for each in missing:
            _skip(each, record)
        record.save()
        left_out = [each.run for each in missing]
        due = [run for run in planned.runs if is_due(run, record[run.name]) and run not in left_out]
        view = CampaignLog() if logs_json() else CampaignView(console(stderr=True), planned.runs, record)
        with view:
            complete = conduct(
                *(planned, due, folder, record, view),
                process=ON_CLUSTER if planned.cluster else HERE,
                metrics=metrics,
                log_format=log_format,
            )
    _print(planned, folder, record, as_json=as_json, complete=complete)
    if not complete:
        if not as_json:
            say(console(), f"Go on with: {escape(_again(context))}")
        context.exit(INTERRUPTED_STATUS)
    if any(record[run.name].state not in (RunState.FINISHED, RunState.SKIPPED) for run in planned.runs):
        context.exit(FAILED_STATUS)


def _check(planned: Campaign, folder: Path, *, skip_missing: bool) -> Sequence[Missing]:
    """The runs that are to be left out. Raises when another one cannot be explored, and makes nothing."""
    record = CampaignRecord.read(folder)
    due = [run for run in planned.runs if is_due(run, record[run.name])]
    missing = find_missing(due)
    if missing and not skip_missing:
        raise refuse_missing(missing)
    left_out = [each.run for each in missing]
    due = [run for run in due if run not in left_out]
    check_runs(due, folder, record)
    if due and planned.cluster:
        try:
            launcher().check_cluster(planned.cluster)
        except ScreenSearchError as problem:
            raise CampaignRefused(f"{planned.cluster_place}: {problem}") from problem
    return missing


def _skip(missing: Missing, record: CampaignRecord) -> None:
    tell(f"Left out: {missing.run.name}: {missing.what}")
    why = Failure("NotInstalled", missing.what)
    standing = replace(record[missing.run.name], state=RunState.SKIPPED, failure=why)
    record.put(missing.run.name, standing)


def _again(context: click.Context) -> str:
    """The command that goes on: the same one."""
    given = context.params
    words = ["screensearch", "campaign", given["file"]]
    for name in ("out", "workers", "cluster", "store", "artifacts", "metrics"):
        words += [] if given[name] in (None, "") else [f"--{name}", str(given[name])]
    words += [] if given["log_format"] == TEXT else ["--log-format", given["log_format"]]
    return shlex.join([*words, *(["--skip-missing"] if given["skip_missing"] else [])])


# -- what it came to ------------------------------------------------------------------------------


def _print(planned: Campaign, folder: Path, record: CampaignRecord, *, as_json: bool, complete: bool) -> None:
    if as_json:
        print_json(_described(planned, folder, record, complete=complete))
    else:
        print_campaign(planned, folder, record)


def _described(planned: Campaign, folder: Path, record: CampaignRecord, *, complete: bool) -> dict[str, Any]:
    runs = []
    for run in planned.runs:
        standing = record[run.name]
        runs.append(
            {
                "name": run.name,
                "run": str(folder / run.name),
                "environment": run.environment,
                "seed": run.seed,
                "state": standing.state,
                **asdict(standing.figures),
                "seconds": standing.seconds,
                "ended": standing.ended or None,
                "digest": standing.digest or None,
                "failure": standing.failure,
            }
        )
    counts = {state.value: 0 for state in RunState}
    for run in planned.runs:
        counts[record[run.name].state] += 1
    return {
        "campaign": planned.name,
        "out": str(folder),
        "interrupted": not complete,
        "counts": counts,
        "runs": runs,
    }
