"""Export a run as tables and look at them with pandas: which actions are least predictable?

    python examples/export_to_pandas.py RUN

Where there is no run yet, it makes a small one of the synthetic notepad first. Needs the extra `tables`, and
pandas.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from screensearch import StopRule, start_exploration


def main(folder: str) -> None:
    if not Path(folder).exists():
        start_exploration("synthetic:notepad", folder, stop=StopRule(steps=60), seed=7)
    with tempfile.TemporaryDirectory() as place:
        tables = Path(place, "tables")
        command = ["export", folder, "--format", "parquet", "--out", str(tables)]
        subprocess.run([sys.executable, "-m", "screensearch", *command], check=True)  # noqa: S603
        edges = pd.read_parquet(tables / "edges.parquet")
        states = pd.read_parquet(tables / "states.parquet").set_index("state")
    tried = edges.groupby(["source", "signature"], observed=True).agg(
        words=("words", "first"), visits=("visits", "first"), likeliest=("share", "max")
    )
    unsure = tried[tried["likeliest"] < 1].sort_values("likeliest").head(5).reset_index()
    for action in unsure.itertuples():
        window = states.loc[action.source, "window"]
        print(
            f"state {action.source} ({window}): {action.words}, {action.visits} times, {action.likeliest:.0%}"
        )
    print(f"{len(states)} states, {len(tried)} actions tried, {len(unsure)} of the unsure ones shown")


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
