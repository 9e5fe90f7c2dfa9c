"""Property tests search at random on a developer's machine and take a fixed path in CI.

No example is failed for being slow: machines are noisy, and speed is a matter for the benchmarks. Ray is
told its settings before any test can import it: it reads them once.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for all that tests start: more make numpy slow to import

import pytest
import ray_cluster  # noqa: F401
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

SHARED = {
    "tests/cluster/test_cluster_": "runs",  # these take as long as all the others on a cluster
    "tests/cluster/": "cluster",
    "tests/chaos/test_cluster_history.py": "cluster",
    "tests/chaos/test_cluster_faults.py": "faults",
    "tests/view/test_browser": "browser",
}
"""Tests that share a cluster or a browser run in one process: every process would start its own."""

TOGETHER = (
    "tests/agents/test_mcp.py",
    "tests/conformance/test_logs.py",
    "tests/explore/test_artifacts_elsewhere.py",
    "tests/explore/test_metrics_server.py",
    "tests/explore/test_postgres_store.py",
    "tests/live/test_going_back.py",
    "tests/record/test_postgres_",
    "tests/record/test_remote_artifacts.py",
    "tests/study/test_context.py",
    "tests/study/test_controls.py",
    "tests/study/test_corpus.py",
    "tests/study/test_diagnostic.py",
    "tests/study/test_lines_study.py",
    "tests/study/test_matched.py",
    "tests/study/test_truth_study.py",
    "tests/view/test_explaining.py",
    "tests/view/test_export.py",
    "tests/view/test_import.py",
)
"""Files whose tests share a server or a run of their own: each of these is run in one process as well."""


class BySharedCluster(LoadScopeScheduling):  # type: ignore[misc]
    """Gives processes one test after another, and all that share something costly to one of them.

    Those that are many come first, so that nobody is left alone with them at the end.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(TOGETHER):
            return nodeid.partition("::")[0]
        return next((name for place, name in SHARED.items() if nodeid.startswith(place)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySharedCluster:
    return BySharedCluster(config, log)


settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# With the same examples each time, more of them find something once at the most: searching is for the others.
settings.register_profile(
    "ci", parent=settings.get_profile("search"), derandomize=True, print_blob=True, max_examples=50
)
settings.register_profile("long", parent=settings.get_profile("search"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "search"))
