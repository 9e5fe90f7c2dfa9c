"""What the doctor looks at of the machine: the tools of a desktop, and whether walls can be built here."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Sequence

from screensearch.environments.desktop.checkup import Ailment, Seen
from screensearch.environments.desktop.packages import apt_line
from screensearch.environments.desktop.programs import (
    LAUNCHER_PACKAGE,
    PROGRAMS,
    Program,
    accessibility_launcher,
)
from screensearch.environments.desktop.remedies import why_no_sandbox
from screensearch.environments.desktop.sandbox import SessionFailed, walls
from screensearch.environments.desktop.session import SCRIPT


async def see_tool(name: str, program: Program) -> Seen[str]:
    """Look for a program that a desktop is made of, and ask for its version."""
    path = shutil.which(name)
    if path is None:
        raise Ailment(f"there is no {name} here ({program.purpose})", apt_line((program.package,)))
    version = None
    if program.version_flag:
        _, said = await _run([path, program.version_flag])
        version = re.search(r"\d+(\.\d+)+", said)
    return Seen(f"{version[0]}, {path}" if version else path, path)


async def see_launcher() -> Seen[str]:
    """Look for the launcher of the accessibility bus, which is not on the path."""
    try:
        path = accessibility_launcher()
    except SessionFailed as problem:
        raise Ailment("there is no at-spi-bus-launcher here", apt_line((LAUNCHER_PACKAGE,))) from problem
    return Seen(path, path)


async def try_walls() -> Seen[bool]:
    """Build the walls that a session has, around a program that only succeeds."""
    path = shutil.which("bwrap")
    if path is None:
        raise Ailment("cannot be tried without bwrap", apt_line((PROGRAMS["bwrap"].package,)))
    descriptors = [os.open(os.devnull, os.O_WRONLY)]
    try:
        built = walls(["true"], script=SCRIPT, info=descriptors[0], home_bytes=2**20)
        descriptors += built.descriptors
        status, said = await _run([path, *built.arguments[1:], "true"], descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    if status != 0:
        words = " ".join(said.split())
        why, remedy = why_no_sandbox(words)
        raise Ailment(f"{why} (bwrap says: {words[:200] or f'status {status}'})", remedy)
    return Seen("the walls of a session stand, a program within them ran", True)


async def _run(command: list[str], descriptors: Sequence[int] = ()) -> tuple[int, str]:
    """Run a tool to its end; its status and all it said. The deadline of the check kills it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        pass_fds=descriptors,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode(errors="replace")
