"""What the paper published of its diagnostic: two tables of the appendix "Original Notepad diagnostic".

Three starts, 50 steps, graphs that begin empty. Its two figures have the curves that the first table
sums up; that our metrics turn the one into the other is tested (`tests/golden`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedCurves:
    """A row of the table "Exact frontier and ambiguity summaries": each curve's end, and its sum."""

    title: str
    frontier: float  # M_V(49)
    frontier_auc: float
    ambiguity: float  # Δu_49
    ambiguity_auc: float


@dataclass(frozen=True, slots=True)
class PublishedPrior:
    """A row of the table "Additional learned-proposal control"."""

    selector: str
    prior: str
    states: float
    state_auc: float
    edges: float
    edge_auc: float
    revisit: float
    loop_stall: float


CURVES = {
    "reactive_nano_no_context": PublishedCurves("Reactive GPT-5.4 nano, no ctx", 10.00, 340.33, -0.00, 5.37),
    "reactive_nano_context": PublishedCurves("Reactive GPT-5.4 nano, ctx", 10.00, 362.00, 0.03, 5.41),
    "reactive_mini_no_context": PublishedCurves("Reactive GPT-5.4 mini, no ctx", 13.67, 362.33, -0.09, 0.55),
    "reactive_mini_context": PublishedCurves("Reactive GPT-5.4 mini, ctx", 10.00, 411.00, -0.18, -1.23),
    "puct_uniform_prior": PublishedCurves("PUCT graph-bandit", 10.00, 253.33, 0.05, 1.08),
}

PRIORS = (
    PublishedPrior("PUCT", "Uniform", 10.00, 253.33, 46.67, 1199.00, 0.796, 0.440),
    PublishedPrior("PUCT", "Learned diffusion", 14.33, 406.67, 49.00, 1225.00, 0.708, 0.253),
)
