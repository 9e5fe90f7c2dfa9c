"""Read a run: which screens are ambiguous, and what led there.

screensearch explore synthetic:notepad --out runs/notepad
python examples/read_a_run.py runs/notepad
"""

from __future__ import annotations

import sys
from collections import Counter

import screensearch as ss


def main(folder: str) -> None:
    with ss.open_run(folder) as run:
        most_ambiguous = sorted(run.states(), key=lambda state: state.ambiguity, reverse=True)[:5]
        for state in most_ambiguous:
            print(f"state {state.id}: u = {state.ambiguity:.3f}, {state.visits} visits, {state.text[:60]!r}")
        outcomes = Counter(transition.outcome for transition in run.transitions())
        print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
