"""Draw a run as one picture: its start, and the states that are reached most often from there.

    python examples/contact_sheet.py RUN [OUT.png]

Where there is no run yet, it makes a small one of the synthetic notepad first. A row is so many actions
away from the start; under each screen stand its state, its window and the action that leads to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from screensearch import Run, StopRule, describe_action, open_run, start_exploration

WIDTH, HEIGHT, CAPTION, GAP, COLUMNS = 320, 240, 40, 16, 4
STATES = 12


def nearest_states(run: Run, most: int) -> Iterator[tuple[int, int, str]]:
    """(state, steps from the start, the action that leads there), breadth first, distinct windows first."""
    pending: list[tuple[int, int, str]] = [(0, 0, "start")]
    met, windows, kept = {0}, set(), 0
    while pending and kept < most:
        state, steps, action = pending.pop(0)
        window = run.state(state).window
        if window not in windows or steps == 0:
            windows.add(window)
            kept += 1
            yield state, steps, action
        for signature, tried in sorted(run.tried(state).items(), key=lambda item: -item[1].visits):
            target = max(tried.successors, key=lambda each: tried.successors[each])
            if target not in met:
                met.add(target)
                pending.append((target, steps + 1, signature))


def draw(run: Run, most: int) -> Image.Image:
    chosen = list(nearest_states(run, most))
    rows = -(-len(chosen) // COLUMNS)
    sheet = Image.new(
        "RGB", (COLUMNS * (WIDTH + GAP) + GAP, rows * (HEIGHT + CAPTION + GAP) + GAP), (244, 244, 240)
    )
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(13)
    for number, (state, steps, action) in enumerate(chosen):
        x = GAP + number % COLUMNS * (WIDTH + GAP)
        y = GAP + number // COLUMNS * (HEIGHT + CAPTION + GAP)
        seen = run.state(state)
        pixels = run.screenshot(run.entry(seen.first_seen))  # from a file or from a bucket
        if pixels is not None:
            picture = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.pixels)
            shown = ImageOps.contain(picture.crop(picture.getbbox()), (WIDTH, HEIGHT))  # no empty screen
            sheet.paste(shown, (x, y))
        pen.text(
            (x, y + HEIGHT + 4), f"state {state} · {seen.window} · {seen.visits} visits", (20, 20, 20), font
        )
        how = (
            "the start"
            if steps == 0
            else f"{steps} action{'s' * (steps > 1)} away, by {describe_action(action)}"
        )
        pen.text((x, y + HEIGHT + 21), how[:52], (110, 110, 110), font)
    return sheet


def main(folder: str, out: str = "") -> None:
    out = out or f"{folder}.png"
    if not Path(folder).exists():
        start_exploration("synthetic:notepad", folder, stop=StopRule(steps=150), seed=7)
    with open_run(folder) as run:
        draw(run, STATES).save(out, optimize=True)
        print(f"{min(STATES, run.graph.states)} of {run.graph.states} states are in {out}")


if __name__ == "__main__":
    main(*sys.argv[1:])
