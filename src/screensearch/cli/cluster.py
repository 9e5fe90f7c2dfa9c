"""`screensearch attach`, `stop` and `status`: runs that are under way on a cluster."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from screensearch import Progress, Summary
from screensearch.cli.live import LiveView, LogView
from screensearch.cli.logs import log_as, log_format_option, logger, logs_json, tell
from screensearch.cli.output import as_json_option, console, print_json, say, table
from screensearch.cli.summary import print_summary
from screensearch.errors import PluginUnavailable
from screensearch.explore.logs import Whereabouts

if TYPE_CHECKING:
    from screensearch.cluster.launch import Attached
    from screensearch.cluster.names import View

LEAVES = "Ctrl-C leaves"

cluster_option = click.option(
    "--cluster",
    default="auto",
    show_default=True,
    metavar="ADDRESS",
    help="The Ray cluster: HOST:PORT of its head, or `auto` for the one that this machine belongs to.",
)


def launcher() -> ModuleType:
    """The room that knows Ray, which is an extra."""
    try:
        from screensearch.cluster import launch
    except ImportError as problem:
        raise PluginUnavailable(
            "a cluster needs the extra `cluster`: pip install 'screensearch[cluster]'"
        ) from problem
    return launch


def _resuming(run: str, cluster: str) -> str:
    return shlex.join(["screensearch", "explore", "--resume", "--out", run, "--cluster", cluster])


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@cluster_option
@log_format_option
@as_json_option
@click.pass_context
def attach(context: click.Context, run: Path, cluster: str, log_format: str, as_json: bool) -> None:
    """Follow a run that is under way on a cluster. Ctrl-C leaves it: it goes on.

    RUN is its folder, or where that is not on this machine, the folder or the id that `status` shows.
    """
    where = log_as(context, log_format)
    attached = launcher().Attached(cluster, run)
    ending = shlex.join(["screensearch", "stop", str(run), "--cluster", cluster])
    left = f"the run goes on. To end it: {ending}"
    _follow(attached, run, cluster, where, left=left, as_json=as_json)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@cluster_option
@click.option(
    "--now",
    is_flag=True,
    help="End the workers at once; their steps are logged as lost. Where the log cannot be reached, the run "
    "ends without closing it, and nothing that was acknowledged is missing from it.",
)
@log_format_option
@as_json_option
@click.pass_context
def stop(context: click.Context, run: Path, cluster: str, now: bool, log_format: str, as_json: bool) -> None:
    """End a run that is under way on a cluster: steps under way are finished, and no more are taken.

    RUN is its folder, or where that is not on this machine, the folder or the id that `status` shows.
    """
    where = log_as(context, log_format)
    attached = launcher().Attached(cluster, run)
    if now:
        attached.give_up()
        left = "the run ends by itself"
    else:
        attached.stop("interrupted")
        insisting = shlex.join(["screensearch", "stop", str(run), "--now", "--cluster", cluster])
        left = f"the run ends when its steps under way are done. To end it at once: {insisting}"
    _follow(attached, run, cluster, where, left=left, as_json=as_json)


def _follow(
    attached: Attached, run: Path, cluster: str, where: Whereabouts, *, left: str, as_json: bool
) -> None:
    """Show a run until it ends and what it came to; Ctrl-C leaves it, and says what becomes of it."""
    view = (
        LogView()
        if logs_json()
        else LiveView(console(stderr=True), what=str(run), steps=None, hint=LEAVES, hint_at_end=LEAVES)
    )
    troubles = Troubles()

    def look(seen: View) -> None:
        where.run = seen.run
        view.show(seen.progress, places_of(seen))
        if logs_json():  # others see the latest while no worker is at work
            troubles.tell(seen)

    try:
        with view:
            summary = attached.follow(look)
    except KeyboardInterrupt:
        tell(f"Left: {left}")
        return
    if as_json:
        print_json(summary)
    else:
        print_summary(summary, _resuming(summary.run, cluster))
        if not attached.is_here:
            say(console(), "Its folder is on the machine that it was begun on: commands for it go there")


@click.command()
@click.argument("run", type=click.Path(path_type=Path), required=False)
@cluster_option
@as_json_option
def status(run: Path | None, cluster: str, as_json: bool) -> None:
    """What is under way on a cluster: all runs, or one of them with its conductor, owners and workers.

    RUN is its folder, or where that is not on this machine, the folder or the id that is shown without a RUN.
    """
    views: list[View] = (
        launcher().runs_under_way(cluster) if run is None else [launcher().Attached(cluster, run).view()]
    )
    if as_json:
        print_json(views if run is None else views[0])
        return
    out = console()
    if not views:
        say(out, f"no run is under way on the cluster at {escape(cluster)}")
    figures = table("run", "of", "phase", "workers", "steps", "steps/s", "states", "edges")
    for view in views:
        working = sum(worker.state == "working" for worker in view.workers)
        progress = view.progress
        figures.add_row(
            *map(escape, (view.folder, view.environment, view.phase, f"{working} of {len(view.workers)}")),
            *(f"{progress.steps:,}", f"{progress.steps_per_second:,.1f}"),
            *(f"{progress.states:,}", f"{progress.edges:,}"),
        )
    if views:
        out.print(figures)
    for view in views:  # whole, so that it can be copied
        say(out, f"[dim]{escape(view.folder)} has the id {view.run}[/]")
    if run is not None:
        _print_parts(views[0])


def _print_parts(view: View) -> None:
    out = console()
    parts = table("part", "state", "node", "process", "failures", "queue", "answer ms", "epoch", "metrics")
    conductor = view.conductor
    parts.add_row(
        "conductor", view.phase, conductor.node, str(conductor.process), *[""] * 4, conductor.metrics
    )
    for owner in view.owners:
        parts.add_row(
            f"owner {owner.shard}",
            *(owner.state, owner.node, str(owner.process), str(owner.generation - 1), str(owner.queue)),
            *(f"{1000 * owner.answer_seconds:.1f}", str(owner.epoch), owner.metrics),
        )
    for worker in view.workers:
        process = str(worker.process) if worker.process else ""
        parts.add_row(
            f"worker {worker.worker}", worker.state, worker.node, process, str(worker.failures), *[""] * 4
        )
    out.print(parts)
    if view.trouble:
        say(out, f"latest trouble: {escape(view.trouble)}")


def places_of(seen: View) -> str:
    """How many workers of a run on a cluster are at work, how many wait, and why if none can work."""
    working = sum(worker.state == "working" for worker in seen.workers)
    waiting = sum(worker.state == "waiting for a slot" for worker in seen.workers)
    wait = f", {waiting} wait for a slot" if waiting else ""
    why = f"; latest trouble: {seen.trouble}" if seen.trouble and not working else ""
    return f"{working} of {len(seen.workers)} workers{wait}{why}"


def lead(
    cluster: str,
    folder: Path,
    begin: Callable[[Callable[[], object]], object],
    on_progress: Callable[[Progress, str], None],
) -> Summary:
    """Begin a run and stay with it: Ctrl-C ends it, a second one gives up its steps under way.

    `begin` calls what it is given when everything is checked. What goes wrong meanwhile is logged.
    """
    launch = launcher()
    from screensearch.cluster.leading import Leading  # which is there if the launcher is

    troubles = Troubles()

    def look(seen: View) -> None:
        on_progress(seen.progress, places_of(seen))
        if logs_json():  # others see the latest while no worker is at work
            troubles.tell(seen)

    with Leading() as leading:
        begin(leading.hold)
        return leading.follow(launch.Attached(cluster, folder), look)


class Troubles:
    """Logs what went wrong in a run, each trouble once."""

    def __init__(self) -> None:
        self._told = 0.0  # the time of the last

    def tell(self, seen: View) -> None:
        for each in seen.troubles:
            if each.time > self._told:
                self._told = each.time
                logger.warning("%s", each.what, extra=each.fields())
