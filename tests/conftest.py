"""Property tests search at random on a developer's machine and take a fixed path in CI.

No example is failed for being slow: machines are noisy, and speed is a matter for the benchmarks. Ray is
told its settings before any test can import it: it reads them once.
"""

from __future__ import annotations

import os

import ray_cluster  # noqa: F401
from hypothesis import HealthCheck, settings

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("search"), derandomize=True, print_blob=True)
settings.register_profile("long", parent=settings.get_profile("search"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "search"))
