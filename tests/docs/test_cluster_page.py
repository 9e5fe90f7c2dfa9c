"""The page about clusters can be followed by copy and paste.

``SCREENSEARCH_LAB=FOLDER`` is the nightly form: it follows the page from its first block to its last on three
machines made of this one, whose files are in that folder; it needs 10 GB there and a way to packages.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lab import ADDRESSES, Machine, lab, why_not
from our_pages import ROOT, Block, blocks, typed_lines

PAGE = ROOT / "docs" / "how-to" / "cluster.md"
FOLDER = os.environ.get("SCREENSEARCH_LAB", "")
WORKING_SECONDS = 300.0
KNOCK_SECONDS = 1.0

_WHERE = re.compile(r"\*\*On (lab\d(?:(?:, | and )lab\d)*), as (root|screensearch)\*\*")
_PER_WORKER = (
    'psql -qAt -F " " -c "SELECT worker, count(*) FROM screensearch.entries GROUP BY 1" '
    '"postgresql://screensearch@$LAB1/screensearch"'
)


@dataclass(frozen=True, slots=True)
class Task:
    """A block, the machines that it is pasted on, and as whom."""

    block: Block
    machines: tuple[str, ...]
    user: str

    def scripts(self) -> Iterator[str]:
        """What is pasted: a block of the shell as a whole, commands after ``$`` one by one."""
        if self.block.language == "console":
            yield from (typed.line for typed in typed_lines(self.block))
        else:
            yield self.block.text


def place_of(block: Block) -> re.Match[str] | None:
    """The line above a block that says where it is run."""
    before = block.page.read_text(encoding="utf-8").splitlines()[: block.line - 1]
    return _WHERE.fullmatch("\n".join(before).rstrip().rpartition("\n")[2])


def tasks() -> list[Task]:
    found = ((block, place_of(block)) for block in blocks(PAGE))
    return [Task(block, tuple(re.findall(r"lab\d", place[1])), place[2]) for block, place in found if place]


def test_every_block_of_commands_says_where_it_is_run() -> None:
    commands = [str(block) for block in blocks(PAGE) if block.language in {"bash", "console"}]
    assert len(commands) > 10
    assert [str(task.block) for task in tasks()] == commands


def test_every_machine_that_is_named_is_one_of_the_three() -> None:
    assert {machine for task in tasks() for machine in task.machines} == set(ADDRESSES)


@pytest.mark.parametrize("task", tasks(), ids=lambda task: str(task.block))
def test_the_shell_understands_a_block(task: Task) -> None:
    for script in task.scripts():
        read = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")


def test_no_secret_is_to_be_typed_or_made_up() -> None:
    """Placeholders in capitals, as TOKEN or PASSWORD, cannot be pasted."""
    words = {word for task in tasks() for word in re.findall(r"(?<![\w$])[A-Z_]{5,}\b", task.block.text)}
    set_here = {name for task in tasks() for name in re.findall(r"([A-Z_]+)=", task.block.text)}
    ends = {name for task in tasks() for name in re.findall(r"<<'?([A-Z]+)", task.block.text)}
    assert words - set_here - ends <= {
        "CREATE",
        "ROLE",
        "LOGIN",
        "DATABASE",
        "OWNER",
        "ENCODING",
        "TEMPLATE",
        "PASSWORD",
    }


@pytest.mark.skipif(not FOLDER, reason="nightly only: SCREENSEARCH_LAB names a folder for three machines")
@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_whoever_follows_the_page_explores_mousepad_on_two_machines() -> None:
    with lab(Path(FOLDER), ROOT) as machines:
        for task in tasks():
            for name in task.machines:
                for script in task.scripts():
                    done = machines[name].run(task.user, script)
                    print(f"{task.block} on {name}: {script.splitlines()[0]}\n{done.stdout[-3000:]}")
                    assert done.returncode == 0, f"{task.block} on {name}: {script}\n{done.stdout[-3000:]}"
                    if "--detach" in script:
                        see_both_work(machines["lab1"])
        see_no_secret(machines)
        see_strangers_kept_out(machines)


def see_both_work(machine: Machine) -> None:
    """Wait until workers of both machines have recorded steps; fail if one of them does not."""
    until = time.monotonic() + WORKING_SECONDS
    recorded_before = steps_of_workers(machine)
    busy: set[str] = set()
    while time.monotonic() < until and busy != {ADDRESSES["lab2"], ADDRESSES["lab3"]}:
        seen = json.loads(machine.run("screensearch", "screensearch status runs/mousepad --json").stdout)
        recorded = steps_of_workers(machine)
        busy |= {
            worker["node"]
            for worker in seen["workers"]
            if recorded.get(worker["worker"], 0) > recorded_before.get(worker["worker"], 0)
        }
    assert busy == {ADDRESSES["lab2"], ADDRESSES["lab3"]}


def steps_of_workers(machine: Machine) -> dict[int, int]:
    """How many entries of the log each worker has made."""
    lines = machine.run("screensearch", _PER_WORKER).stdout.splitlines()
    return {int(worker): int(count) for worker, count in map(str.split, lines)}


_LISTINGS = {
    "journal": "journalctl --quiet",
    "logs and runs": "find /var/log /tmp/ray /home/screensearch/runs -type f -print0 | xargs -0r cat",
    "arguments of processes": "cat /proc/[0-9]*/cmdline",
}


def see_no_secret(machines: dict[str, Machine]) -> None:
    """No secret is in a log, in a run, or among the arguments of a process, but for Redis's in Ray's."""
    settings = (machines["lab1"].root / "root/lab/lab.env").read_text()
    secrets = dict(re.findall(r"(\w+_(?:TOKEN|PASSWORD|SECRET))=(\w+)", settings))
    assert len(secrets) == 4
    for machine in machines.values():
        for place, listing in _LISTINGS.items():
            assert lines_with(machine, listing, "") > 10
            for name, secret in secrets.items():
                if (name, place) == ("REDIS_PASSWORD", "arguments of processes"):
                    continue  # as the page says
                assert lines_with(machine, listing, secret) == 0, f"{name}: {place} of {machine.name}"


def lines_with(machine: Machine, listing: str, text: str) -> int:
    """How many lines of a listing have it. It is no argument of a process that looks for it."""
    looking = f"({listing}) 2>/dev/null | tr '\\0' '\\n' | grep -acFf <(echo {text}) || true"
    return int(machine.run("root", looking).stdout)


def see_strangers_kept_out(machines: dict[str, Machine]) -> None:
    """Whoever is on the same network, and none of the three, as this machine is, reaches SSH only."""
    for machine in machines.values():
        address = ADDRESSES[machine.name]
        listening = machine.run("root", "ss -Hlnt | awk '{print $4}'").stdout.split()
        ports = {int(each.rpartition(":")[2]) for each in listening if not each.startswith(("127.", "[::1]"))}
        assert len(ports) > 3  # Ray alone has more
        assert {port for port in ports if reached(address, port)} == {22}


def reached(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), KNOCK_SECONDS).close()
    except OSError:
        return False
    return True
