"""The parts of a run on a cluster whose costs are told apart."""

from __future__ import annotations

OWNERS, DATABASE, RAY, CONDUCTOR, WORKERS = "owners", "postgresql", "ray", "conductor", "simulated workers"

MACHINERY = (OWNERS, DATABASE, RAY, CONDUCTOR)
"""All but the workers, which are on other machines on a real cluster. `ray` is its own processes: what its
code costs within owners and workers is theirs."""
