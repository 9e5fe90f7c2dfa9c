"""One run of a campaign on a cluster: ``python -m screensearch.cluster.campaign_process FD``.

The process leads the run and explores nothing itself. It is told what to do, and when to stop, as the one
that explores on this machine is (`explore.campaign.process`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from screensearch.cluster.launch import Attached, is_under_way, resume_on_cluster, start_on_cluster
from screensearch.cluster.leading import Leading
from screensearch.config import settings_from_document
from screensearch.errors import EnvironmentFailed
from screensearch.explore.campaign.process import Order, holds_a_run, main
from screensearch.explore.progress import NeverStarted, Progress, Summary
from screensearch.record.run import read_manifest

log = logging.getLogger("screensearch.cluster.campaign_process")  # run as a program, it has another name


def explore_on_cluster(order: Order, on_progress: Callable[[Progress], None]) -> Summary:
    """Explore one run of a campaign on the cluster of the order, or go on with the one that is there.

    A campaign whose machine was switched off left its runs under way: such a one is stopped first, since it
    follows the rule of that time. However it ended, this one goes on from what it recorded.
    """
    address, folder = order.cluster, Path(order.folder)
    with Leading() as leading:
        if holds_a_run(folder):
            if is_under_way(address, read_manifest(folder).run):
                leading.hold()
                left = Attached(address, folder)
                left.stop("interrupted")
                try:
                    summary = leading.follow(left, lambda view: None)
                except (EnvironmentFailed, NeverStarted) as problem:
                    if leading.interrupted:
                        raise
                    log.warning("the run was left under way, and has failed since; it goes on: %s", problem)
                else:
                    if leading.interrupted:
                        return replace(summary, ended="interrupted")
            resume_on_cluster(
                address,
                folder,
                stop=order.stop,
                workers=order.workers,
                log_format=order.log_format,
                metrics=order.metrics,
                before_begin=leading.hold,
            )
        else:
            start_on_cluster(
                address,
                order.environment,
                folder,
                settings=settings_from_document(order.settings),
                stop=order.stop,
                workers=order.workers,
                seed=order.seed,
                store=order.store,
                artifacts=order.artifacts,
                log_format=order.log_format,
                metrics=order.metrics,
                before_begin=leading.hold,
            )
        return leading.follow(Attached(address, folder), lambda view: on_progress(view.progress))


if __name__ == "__main__":
    main(explore_on_cluster)
