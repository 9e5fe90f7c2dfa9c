"""Choose actions by a rule of your own: least tried first.

    python examples/own_selector.py [folder]

Worker processes find plugins by their entry points; a plugin registered as below lives in this
process only, so the environment is opened here too.
"""

from __future__ import annotations

import sys
import tempfile

import numpy as np

import screensearch as ss
from screensearch import Selection, Situation


def least_tried(situation: Situation) -> Selection:
    """The action with the fewest visits; among equals the likeliest, then the first."""
    order = np.lexsort((-situation.priors, situation.visits))
    index = int(order[0])
    return Selection(index, -float(situation.visits[index]))


def main(folder: str) -> None:
    ss.SELECTORS.register("least_tried", least_tried)
    settings = ss.resolve(overrides=["select.selector=least_tried", "explore.screenshots=none"])
    world = ss.ENVIRONMENTS.get("synthetic")("notepad", ss.Means(screenshots=False))
    summary = ss.start_exploration(world, folder, stop=ss.StopRule(steps=500), settings=settings, seed=7)
    print(f"{summary.states} states and {summary.edges} edges with {settings.select.selector}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="screensearch-"))
