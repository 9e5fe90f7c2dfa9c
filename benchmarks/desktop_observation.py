"""The observation of `desktop.py`: our time to see, against a full walk with the standard binding.

A seeded random walk through the application, by the candidates and guards of its profile. After each step
two things are known about the same moment: how long our environment took for its observation, once the
screen had settled, and how long the walk of `desktop_binding.py` takes inside the same sandbox. What our
mirror of the tree holds is then compared with what the pruned walk found: role, name and box of every
element that shows, in every window. Two things that ours reads in another way on purpose are brought to one
form first. GTK 3 composes a cell of parts (icon, text, box to tick) whose places are those of another row:
ours is one element with the names of its parts, so the binding's parts are folded into their cell.
LibreOffice places its own elements without regard to what is above them: ours corrects that, and for the
comparison the correction is taken back.

Ours is measured where it happens, in `perform`: from the settled screen to the finished observation. The
events that keep the mirror current were read while the screen settled, when there was nothing else to do;
so the CPU time of the whole step in this process is given too. An observation leaves out what is in windows
behind the one in front; it is read before the comparison, and that time is given, and counted, as well.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import screensearch as ss
from desktop_pace import spread
from screensearch.act.candidates import candidates
from screensearch.act.guard import build_guards, guard
from screensearch.encode.masks import Masks
from screensearch.environments.desktop.desk import Desk
from screensearch.environments.desktop.environment import DesktopEnvironment
from screensearch.environments.desktop.framebuffer import Framebuffer
from screensearch.environments.desktop.tree import Tree
from screensearch.environments.desktop.vitals import ApplicationEnded

WALKER = Path(__file__).with_name("desktop_binding.py")
LONGEST_ANSWER = 64 << 20  # bytes of one walk
SHOWN_DIFFERENCES = 12
SHOWN = ("observe", "refresh", "binding", "pruned", "step", "worker_cpu")

Place = tuple[int, int, int, int]

Seen = tuple[str, str, Place]
"""An element as both sides know it: its native role, its name, its box."""


class Binding:
    """The walker, a process inside the sandbox of one episode."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def enter(cls, desk: Desk, *options: str) -> Binding:
        """Start it beside the application: same namespaces, same user, same buses."""
        session = desk.session
        process = await asyncio.create_subprocess_exec(
            *("nsenter", f"--target={session.pid}", "--user", "--mount", "--pid", "--ipc", "--net", "--uts"),
            *("--preserve-credentials", "env", "-i", "PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8"),
            "XDG_RUNTIME_DIR=/run/user/1000",
            "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
            "DISPLAY=:0",
            *("/usr/bin/python3", "-c", WALKER.read_text(), *options),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_ANSWER,
        )
        binding = cls(process)
        await binding._line()
        return binding

    async def walk(self, kind: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{kind}\n".encode())
        found: dict[str, Any] = json.loads(await self._line())
        return found

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the walker ended with status {await self._process.wait()}")
        return line

    async def close(self) -> None:
        """Let it end by itself: it is a child of nsenter's, and no signal to that would reach it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()


class Clock:
    """How long the parts of the latest observation took, in seconds."""

    def __init__(self) -> None:
        self.observe = self.refresh = self.picture = 0.0

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Time our own code from outside, without a change in it."""
        with (
            mock.patch.object(Desk, "observe", self._timed("observe", Desk.observe)),
            mock.patch.object(Tree, "refresh", self._timed("refresh", Tree.refresh)),
            mock.patch.object(Framebuffer, "image", self._timed_picture(Framebuffer.image)),
        ):
            yield

    def _timed(self, part: str, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return await method(*arguments, **options)
            finally:
                setattr(self, part, time.perf_counter() - begun)

        return timed

    def _timed_picture(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                self.picture = time.perf_counter() - begun

        return timed


class Walkabout:
    """A seeded random exploration of one application, watched from both sides."""

    def __init__(self, world: DesktopEnvironment, settings: ss.Settings, seed: int) -> None:
        self._world = world
        self._settings = settings
        self._masks = Masks(settings.encode.masks)
        self._guards = build_guards(settings.guard, harmless=settings.desktop.sandbox)
        self._random = np.random.default_rng(seed)
        self._clock = Clock()
        self.rows: list[dict[str, Any]] = []
        self.differences: list[str] = []
        self.ends: list[str] = []  # of applications that did not survive being read by the binding

    async def run(self, steps: int, *, cached: bool, show: bool) -> None:
        with self._clock.attached():
            while len(self.rows) < steps:
                await self._episode(steps, cached=cached, show=show)

    async def _episode(self, steps: int, *, cached: bool, show: bool) -> None:
        start = await self._world.reset(int(self._random.integers(2**32)))
        observation, length = start.observation, self._settings.explore.episode_steps
        binding = await Binding.enter(self._desk)
        other = await Binding.enter(self._desk, "cached") if cached else None
        try:
            for _ in range(length):
                if len(self.rows) >= steps:
                    return
                chosen = self._choose(observation)
                if chosen is None:
                    return
                began, cpu_began = time.perf_counter(), time.process_time()
                result = await self._world.perform(chosen.action)
                step_seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
                if result.outcome not in (ss.Outcome.OK, ss.Outcome.MISSED) or result.observation is None:
                    return
                observation = result.observation
                row: dict[str, Any] = {
                    "action": chosen.signature,
                    "elements": len(observation.elements),
                    "observe": self._clock.observe - self._clock.picture,
                    "refresh": self._clock.refresh,
                    "picture": self._clock.picture,
                    "step": step_seconds,
                    "worker_cpu": cpu,
                }
                try:
                    row |= await self._compare(binding)
                except ApplicationEnded as end:
                    self.ends.append(f"step {len(self.rows) + 1}: it {end}")
                    return
                if other is not None:
                    row["cached"] = (await other.walk("pruned"))["seconds"]
                self.rows.append(row)
                if show:
                    told = " ".join(f"{name} {1000 * row[name]:6.1f}" for name in SHOWN)
                    print(f"{len(self.rows):>4} {told} ms  {row['verdict']}", file=sys.stderr)
        finally:
            await binding.close()
            if other is not None:
                await other.close()

    @property
    def _desk(self) -> Desk:
        desk = self._world._desk
        assert desk is not None  # there is one from a reset to the next
        return desk

    def _choose(self, observation: ss.Observation) -> ss.Candidate | None:
        listed = candidates(observation, self._world.application, self._settings.candidates, self._masks)
        allowed = guard(listed, observation, self._guards).allowed
        return allowed[int(self._random.integers(len(allowed)))] if allowed else None

    async def _compare(self, binding: Binding) -> dict[str, Any]:
        """Walk with the binding, and compare with the mirror before and after: the screen may change."""
        desktop = self._settings.desktop
        screen = (0, 0, desktop.width, desktop.height)
        rest = await self._read_the_rest()
        before = mirrored(self._desk, screen)
        pruned = await binding.walk("pruned")
        theirs = walked_by_binding(pruned["elements"], screen)
        verdict = "equal"
        if not same(before, theirs):
            await self._desk.observe()
            await self._read_the_rest()
            after = mirrored(self._desk, screen)
            if not same(after, theirs):
                verdict = "different" if same(before, after) else "moving"
                self._note(verdict, before, theirs)
        whole = await binding.walk("whole")
        return {
            "rest": rest,
            "binding": whole["seconds"],
            "pruned": pruned["seconds"],
            "binding_elements": len(theirs),
            "binding_asked": whole["asked"],
            "pruned_asked": pruned["asked"],
            "mirror_elements": len(before),
            "verdict": verdict,
        }

    async def _read_the_rest(self) -> float:
        """Bring up to date what is in windows behind, which an observation leaves and the binding reads."""
        begun = time.perf_counter()
        await self._desk.tree.refresh()
        return time.perf_counter() - begun

    def _note(self, verdict: str, ours: dict[str, Seen], theirs: dict[str, Seen]) -> None:
        """Say what differs: elements that only one side has, and what each side says of a common one."""
        if len(self.differences) >= SHOWN_DIFFERENCES:
            return
        mine, others = Counter(ours.values()), Counter(theirs.values())
        told = [
            f"{who} only: {len(only)} elements, {'; '.join(map(str, list(only)[:3]))}"
            for who, only in (("ours", mine - others), ("binding", others - mine))
            if only
        ]
        self.differences.append(f"step {len(self.rows) + 1}, {verdict}: {' | '.join(told)}")


def same(ours: dict[str, Seen], theirs: dict[str, Seen]) -> bool:
    """Whether both know the same elements. Cells are made anew when asked for, so addresses do not count."""
    return Counter(ours.values()) == Counter(theirs.values())


def mirrored(desk: Desk, screen: Place) -> dict[str, Seen]:
    """Every element of every application that shows, as our mirror has it, by its address."""
    seen: dict[str, Seen] = {}
    for window in desk.tree.windows():
        for node in desk.tree.showing(window):
            x, y, width, height = place(node.box)
            if node.shift is not None:
                x, y = x - int(node.shift.x), y - int(node.shift.y)
            if on_screen((x, y, width, height), screen):
                seen[node.bus_name + node.path] = (node.role, node.name, (x, y, width, height))
    return seen


def walked_by_binding(elements: list[dict[str, Any]], screen: Place) -> dict[str, Seen]:
    """The same, as the binding found it, with the parts of composed cells folded into them."""
    parts: dict[int, list[str]] = {}
    seen: dict[str, Seen] = {}
    for each in elements:
        above = each["parent"]
        if above is not None and each["role"] == elements[above]["role"] == "table cell":
            parts.setdefault(above, []).append(each["name"])
    for number, each in enumerate(elements):
        above = each["parent"]
        if each["box"] is None or above in parts:
            continue
        name = " ".join(dict.fromkeys(filter(None, parts[number]))) if number in parts else each["name"]
        if on_screen(tuple(each["box"]), screen):
            seen[each["handle"]] = (each["role"], name, tuple(each["box"]))
    return seen


def place(box: ss.Box) -> Place:
    return int(box.x), int(box.y), int(box.width), int(box.height)


def on_screen(box: Place, screen: Place) -> bool:
    """Whether it takes up any of the screen. Lists say of rows far off that they show, at -2147483648."""
    x, y, width, height = box
    return width > 0 and height > 0 and -width < x < screen[2] and -height < y < screen[3]


async def measure_observation(
    world: DesktopEnvironment, settings: ss.Settings, steps: int, *, seed: int, cached: bool, show: bool
) -> dict[str, Any]:
    """So many steps, each seen from both sides."""
    walk = Walkabout(world, settings, seed)
    try:
        await walk.run(steps, cached=cached, show=show)
    finally:
        await world.close()
    rows = walk.rows

    def times(name: str) -> dict[str, float]:
        return spread([row[name] for row in rows])

    ours, with_picture = times("observe"), spread([row["observe"] + row["picture"] for row in rows])
    everything = spread([row["observe"] + row["rest"] for row in rows])
    binding, pruned = times("binding"), times("pruned")
    verdicts = Counter(row["verdict"] for row in rows)
    return {
        "steps": len(rows),
        "our_observation_ms": ours,
        "our_observation_with_screenshot_ms": with_picture,
        "our_observation_and_windows_behind_ms": everything,
        "of_that_refreshing_the_mirror_ms": times("refresh"),
        "binding_walk_ms": binding,
        "binding_pruned_walk_ms": pruned,
        **({"binding_pruned_walk_with_its_cache_ms": times("cached")} if cached else {}),
        "ratio_of_medians": round(binding["p50"] / ours["p50"], 1),
        "ratio_of_medians_with_windows_behind": round(binding["p50"] / everything["p50"], 1),
        "ratio_of_medians_with_screenshot": round(binding["p50"] / with_picture["p50"], 1),
        "ratio_of_means": round(binding["mean"] / ours["mean"], 1),
        "ratio_of_medians_to_pruned_walk": round(pruned["p50"] / ours["p50"], 1),
        "ratio_of_means_to_pruned_walk": round(pruned["mean"] / ours["mean"], 1),
        "whole_step_ms": times("step"),
        "worker_cpu_of_whole_step_ms": times("worker_cpu"),
        "elements_p50": float(np.median([row["elements"] for row in rows])),
        "mirror_elements_p50": float(np.median([row["mirror_elements"] for row in rows])),
        "binding_asked_p50": float(np.median([row["binding_asked"] for row in rows])),
        "binding_pruned_asked_p50": float(np.median([row["pruned_asked"] for row in rows])),
        "equal": verdicts["equal"],
        "different": verdicts["different"],
        "moving": verdicts["moving"],
        "differences": walk.differences,
        "ended_while_the_binding_read": walk.ends,
    }


async def measure_resets(world: DesktopEnvironment, count: int) -> dict[str, Any]:
    """How long a reset takes, the first observation included."""
    seconds = []
    try:
        for seed in range(count):
            begun = time.perf_counter()
            await world.reset(seed)
            seconds.append(time.perf_counter() - begun)
    finally:
        await world.close()
    return {"resets": count, "reset_ms": spread(seconds)}
