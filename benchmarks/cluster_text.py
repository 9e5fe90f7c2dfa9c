"""What `cluster.py` has measured and what it means, in words for pages, which hold no copied figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster_parts import CONDUCTOR, DATABASE, OWNERS, RAY, WORKERS
from cluster_size import (
    Assumptions,
    Desktop,
    Measured,
    Size,
    largest_served,
    rate_of_a_shard,
    rung_to_scale,
    size,
)
from screensearch.errors import FormatError

GIGABYTE, TERABYTE = 1e9, 1e12
BUSY = 0.9  # of a core, or of all: then it is what limits
BOUND = 0.7  # cores of an owner's process: its threads take turns, and passing the turn on takes time, too
QUIET = 0.3  # cores that all else may use before the figures are doubtful

RUNG = "workers | steps/s asked | steps/s | decisions | p50 / p99, ms | p99 from when due, ms"
COST = "CPU ms a step: owners | PostgreSQL | Ray | simulated workers"

LIMITS = """\
What does not follow from one machine:

- **The network.** Nodes were network namespaces on one kernel, the head was beside them, and the database
  was reached through a Unix socket. A real network adds its round trips to a decision, and encryption its
  CPU to a step.
- **Ray within processes.** What its calls cost within owners and workers is counted as theirs; its own row is
  what its other processes use.
- **Connections.** Simulated workers share four processes. Ten thousand real ones are ten thousand
  processes, each with a connection to its owner.
- **The conductor.** It asks each worker how it is. Simulated workers are not placed by it, so what ten
  thousand cost it, and Ray's head, which knows them all, was not measured.
- **One database.** Whether one server takes the whole rate was not measured. Runs share nothing, so each
  may have a server of its own; one run has one, with a connection for each owner (`max_connections` is 100
  if nobody says otherwise). Neither replicas nor backups are in the disk.
- **Crossings.** Nobody went from one shard to another. Such a step has an entry in the logs of both, and
  waits for both owners.
- **Even load.** Every shard had as many workers as the others, each at the same pace. Where some have more,
  the fullest one bounds them, and the others are idle for a part of their cores.
- **A hot shard.** It has one owner, whose ceiling bounds the workers on one application in one display mode
  and text size; more of these are more shards. So many workers need that many shards, and that many shards
  need that many applications, looks and sizes: the paper's eleven applications in two display modes and two
  text sizes are 44. Beyond what those bear, workers are of other runs, and share no graph with the first.
  Within a shard nothing can be split today. Windows of different
  kinds are never compared either (but in the preset `paper`), so the kind of window could become a part of
  the key.
- **Age.** The runs were minutes old. An owner holds the graph of its shard in memory. A long run should
  have fewer new screens and pictures a step than those that were weighed, which were of twenty minutes; so
  the disk is a bound from above."""


def describe(measured: Measured, asked: Assumptions) -> dict[str, str]:
    """The texts, by the name of their mark."""
    return {
        "measured": measured_text(measured.report),
        "size": size_text(measured.report, measured.desktops, asked),
    }


def put_into(page: Path, texts: Mapping[str, str]) -> None:
    """Write each text between its marks in a page, which must have the marks of one of them at least."""
    written, found = page.read_text(), False
    for name, text in texts.items():
        begin, end = marks(name)
        before, begun, rest = written.partition(begin)
        if begun:
            _, ended, after = rest.partition(end)
            if not ended:
                raise FormatError(f"{page} has {begin!r} and no {end!r} after it: put it where the text ends")
            written, found = f"{before}{begin}\n\n{text}\n\n{end}{after}", True
    if not found:
        known = "; ".join(" and ".join(marks(name)) for name in texts)
        raise FormatError(f"{page} has no mark: put one of these pairs where the text shall be: {known}")
    page.write_text(written)


def marks(name: str) -> tuple[str, str]:
    """What stands before a text in a page, and after it."""
    return f"<!-- from benchmarks/cluster.py: {name} -->", f"<!-- end of {name} -->"


# -- what was measured ------------------------------------------------------------------------------


def measured_text(report: Mapping[str, Any]) -> str:
    """The tables of what was measured, as far as it came."""
    machine, asked = report["machine"], report["asked"]
    rungs = [*report["ladder"], *([report["all_workers"]] if "all_workers" in report else [])]
    lines = [
        "```text",
        asked["command"],
        "```",
        "",
        f"{machine['date']}{_code_text(report.get('code'))}, {machine['cores']} cores of an "
        f"{machine['cpu']}, {machine['memory_gb']:.0f} GB, Debian 12, load {machine['load']} before it "
        f"began; {_nodes_text(asked['nodes'], apart=bool(report.get('network_namespaces')))}, "
        f"{asked['seconds']:g} s a line{_longer_text(rungs, asked['seconds'])}."
        f"{'' if report['complete'] else ' **It did not come to its end.**'}",
        *(f"\n**It failed**: {problem}" for problem in report["problems"]),
    ]
    if rungs:
        against = _against(report)
        lines += ["", f"{rungs[0]['shards']} shards:", ""]
        lines += table(
            f"{RUNG} | {COST} | cost against {' / '.join(str(each) for each in against)} workers | "
            "above idle | bytes a step: tables / WAL | cores: iowait / stolen",
            [
                [
                    *_rung_cells(rung),
                    *(_ratios(rung, against, which) for which in ("all", "above_idle")),
                    f"{rung['database_bytes_per_step']:,} / {rung['wal_bytes_per_step']:,}",
                    _waited_cell(rung),
                ]
                for rung in rungs
            ],
        )
        lines += ["", _idle_text(report["idle"], asked["nodes"])]
        lines += ["", _ceiling_text(report["ceilings"]["ladder"], machine["cores"])]
    if report["hot"]:
        lines += ["", "One shard, more and more load:", ""]
        lines += table(
            f"{RUNG} | {COST} | cores: owner / its busiest thread / machine | cores: iowait / stolen",
            [[*_rung_cells(rung), _cores_cell(rung), _waited_cell(rung)] for rung in report["hot"]],
        )
        lines += ["", _ceiling_text(report["ceilings"]["one_shard"], machine["cores"])]
    if rungs:
        lines += ["", _kept_text(report), *_trouble_text([*rungs, *report["hot"]])]
        lines += _disturbed_text([*rungs, *report["hot"]])
    return "\n".join(lines)


def _code_text(code: Mapping[str, Any] | None) -> str:
    if code is None:
        return ""
    return f", commit {code['commit'][:10]}{' and changes' if code['changed'] else ''}"


def _nodes_text(nodes: int, *, apart: bool) -> str:
    if not apart:
        return f"a head and {nodes} nodes"
    return f"{nodes} nodes in network namespaces of their own, the head and PostgreSQL in the machine's"


def _longer_text(rungs: list[Mapping[str, Any]], seconds: float) -> str:
    longer = [
        f"{rung['workers']:,} worker{'s' * (rung['workers'] != 1)}: {rung['seconds']:.0f} s"
        for rung in rungs
        if rung["seconds"] > seconds + 1
    ]
    return f" ({', '.join(longer)})" if longer else ""


def _against(report: Mapping[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """The ratios, by the workers of the rung that they are against."""
    return {
        rung["workers"]: report[f"cost_against_{rung['workers']}_workers"] for rung in report["ladder"][:2]
    }


def _ratios(rung: Mapping[str, Any], against: Mapping[int, list[dict[str, Any]]], which: str) -> str:
    key = ("workers", "offered_steps_per_second")
    found = [
        next(each[which] for each in ratios if all(each[name] == rung[name] for name in key))
        for ratios in against.values()
    ]
    return " / ".join("–" if each is None else f"{each:.2f}" for each in found)


def _rung_cells(rung: Mapping[str, Any]) -> list[str]:
    cost, decision, late = rung["cpu_ms_per_step"], rung["decision_ms"], rung["decision_ms_from_due"]["p99"]
    return [
        f"{rung['workers']:,}",
        f"{rung['offered_steps_per_second']:,.0f}",
        f"{rung['steps_per_second']:,.0f}{' (saturated)' if rung['saturated'] else ''}",
        f"{rung['decisions']:,}",
        f"{decision['p50']} / {decision['p99']}",
        "–" if late is None else f"{late:,.1f}",
        *("–" if rung["owner_replaced"] else f"{cost[part]:.2f}" for part in (OWNERS, DATABASE)),
        f"{cost[RAY] + cost[CONDUCTOR]:.2f}",
        f"{cost[WORKERS]:.2f}",
    ]


def _cores_cell(rung: Mapping[str, Any]) -> str:
    if rung["owner_replaced"]:
        return f"– / – / {rung['cores_busy_of_the_machine']:.2f}"
    return (
        f"{rung['cores_used'][OWNERS]:.2f} / {rung['busiest_owner_thread_cores']:.2f} / "
        f"{rung['cores_busy_of_the_machine']:.2f}"
    )


def _waited_cell(rung: Mapping[str, Any]) -> str:
    found = (rung["cores_in_iowait"], rung["cores_stolen"])
    return " / ".join("–" if each is None else f"{each:.2f}" for each in found)


def _idle_text(idle: Mapping[str, Any], nodes: int) -> str:
    spent = idle["cpu_ms_per_second"]
    return (
        f"While nobody works, all of it uses {sum(spent.values()) / 10:.1f} % of a core; in ms a second: "
        f"{idle['shards']} owners {spent[OWNERS]:.0f}, PostgreSQL {spent[DATABASE]:.0f}, the conductor "
        f"{spent[CONDUCTOR]:.0f}, Ray's own processes {spent[RAY]:.0f} on {nodes + 1} nodes, those of the "
        f"simulated workers {spent[WORKERS]:.0f}. Ray's column above has the conductor in it."
    )


def _ceiling_text(found: Mapping[str, Any] | None, cores: int) -> str:
    if found is None:
        return "No ceiling was reached: each rate is what the pace asked for."
    if found["busiest_owner_thread_cores"] > BUSY:
        limit = "a thread of the owner, which can use one core"
    elif found["machine_cores"] > BUSY * cores:
        limit = (
            f"the machine: its {cores} cores were busy, with the simulated workers as well, so owners "
            "with cores of their own carry more"
        )
    elif (found["busiest_owner_cores"] or 0.0) >= BOUND:
        limit = (
            f"an owner's process, which used {found['busiest_owner_cores']:.2f} cores: of its threads only "
            "one runs Python at a time"
        )
    else:
        limit = "neither an owner nor the cores, so waiting, for the disk or for each other"
        if found["cores_in_iowait"] is not None:
            limit += f" (iowait: {found['cores_in_iowait']:.2f} cores)"
    carried, saturated = found["carried"], found["saturated"]
    fewer = "" if saturated["steps_per_second"] >= found["steps_per_second"] else ", fewer than were carried"
    met = (
        "Nothing was carried. "
        if carried is None
        else f"Carried: {carried['workers']:,} workers, {carried['steps_per_second']:,.0f} steps/s. "
    )
    open_end = "" if found["stopped_growing"] else "; whether still more load makes more was not tried"
    return (
        f"{met}Saturated: at the most {saturated['steps_per_second']:,.0f} steps/s{fewer}, with "
        f"{saturated['workers']:,} workers and {found['owners_cores']:.2f} cores used by owners{open_end}. "
        f"What limited it then: "
        f"{limit}."
    )


def _kept_text(report: Mapping[str, Any]) -> str:
    kept = "; ".join(f"{target}: {'yes' if met else '**no**'}" for target, met in report["targets"].items())
    steps, most = sum(run["steps"] for run in report["runs"]), report["dearest"]
    dearest = (
        f" The dearest of more than {most['than']:,} worker{'s' * (most['than'] != 1)}: "
        f"{most['workers']:,} with {most['offered_steps_per_second']:,.0f} steps/s asked, "
        f"{most['above_idle']:.2f} times as much."
        if most is not None
        else ""
    )
    return f"{steps:,} steps in all; {kept}.{dearest}"


def _trouble_text(rungs: list[Mapping[str, Any]]) -> list[str]:
    """What the run itself told of, each trouble where it came up: it is told until the next one."""
    told: dict[str, str] = {}
    for rung in rungs:
        if rung["trouble"]:
            told.setdefault(rung["trouble"], f"with {rung['workers']:,} workers: {rung['trouble']}")
    return ["", f"The run itself told of trouble {'; '.join(told.values())}."] if told else []


def _disturbed_text(rungs: list[Mapping[str, Any]]) -> list[str]:
    most = max(float(rung["cores_of_others"]) for rung in rungs)
    if most <= QUIET:
        return []
    return ["", f"**Doubtful**: all else on the machine, the kernel included, used up to {most:.1f} cores."]


# -- what it means ----------------------------------------------------------------------------------


def size_text(report: Mapping[str, Any], desktops: list[Desktop], asked: Assumptions) -> str:
    """The cluster on paper, with what was assumed and what does not follow."""
    rung, shard = rung_to_scale(report, asked), report["ceilings"]["one_shard"]
    planned, machine = size(rung, shard, desktops, asked), report["machine"]
    idle_cores = report["idle"]["cpu_ms_per_second"][RAY] / (report["asked"]["nodes"] + 1) / 1000
    rows = _machinery_rows(rung, shard, planned, asked)
    for each in desktops:
        rows += _desktop_rows(each, planned, asked, idle_cores)
    lines = [
        f"On paper, not measured: {asked.workers:,} workers at {asked.pace:g} steps/s and "
        f"{asked.observations / 1e6:,.0f}M observations, scaled linearly from "
        f"{_scaled_text(rung, shard, asked)} on {machine['cores']} cores of an {machine['cpu']}, "
        f"{machine['date']}. All cores are planned to be {asked.utilisation:.0%} busy. "
        f"{_spread_text(report['ladder'], rung)}Prices are assumptions, in any currency; for others: "
        "`benchmarks/cluster.py --size benchmarks/results/cluster.json --assume core_hour_price=0.05`.",
        "",
        *table("what | how much | from", rows, right=(1,)),
        "",
        LIMITS,
    ]
    return "\n".join(lines)


def _scaled_text(rung: Mapping[str, Any], shard: Mapping[str, Any] | None, asked: Assumptions) -> str:
    """Which rung is scaled, and why."""
    shards = "one shard" if rung["shards"] == 1 else f"{rung['shards']} shards"
    rate = f"{rung['steps_per_second']:,.0f} steps/s (not saturated)"
    found = f"{rung['workers']:,} workers on {shards} with {rate}"
    if shard is None:
        return found
    wanted = asked.utilisation * shard["steps_per_second"]
    return f"{found}, the nearest to the {wanted:,.0f} steps/s that are planned for a shard,"


def _spread_text(ladder: list[dict[str, Any]], rung: Mapping[str, Any]) -> str:
    """What the same steps cost where more shards share them."""
    spread = largest_served(ladder)
    if rate_of_a_shard(spread) >= rate_of_a_shard(rung):
        return ""
    return (
        f"Where shards had less to do, {rate_of_a_shard(spread):,.0f} steps/s each, a step cost "
        f"{spread['cpu_ms_per_step'][OWNERS]:.2f} ms for owners and "
        f"{spread['cpu_ms_per_step'][DATABASE]:.2f} ms for PostgreSQL. "
    )


def _machinery_rows(
    rung: Mapping[str, Any], shard: Mapping[str, Any] | None, planned: Size, asked: Assumptions
) -> list[list[str]]:
    def cost(part: str) -> str:
        return f"{rung['cpu_ms_per_step'][part]:.2f} ms a step, {asked.utilisation:.0%} busy"

    most = "no ceiling of a shard was found"
    if shard is not None:
        rate = f"{shard['steps_per_second']:,.0f} steps/s"
        most = f"{asked.utilisation:.0%} of the {rate} that a shard made at the most here"
    return [
        ["steps/s", f"{planned.steps_per_second:,.0f}", f"{asked.workers:,} × {asked.pace:g}"],
        ["time for all observations", f"{planned.seconds / 3600:.1f} h", "at that rate"],
        ["cores for owners", f"{planned.owner_cores:,.0f}", cost(OWNERS)],
        ["cores for PostgreSQL", f"{planned.database_cores:,.0f}", cost(DATABASE)],
        [
            "cores for Ray's calls",
            f"{planned.ray_cores:,.0f}",
            "what its own processes use above idle, likewise"
            if planned.ray_cores
            else "its own processes used no more than while nobody worked",
        ],
        [
            "cores for the workers' side of the calls",
            f"{planned.worker_cores:,.0f}",
            f"{cost(WORKERS)}; of simulated ones, with what drawing their steps costs",
        ],
        ["shards, at least", _or_unknown(planned.least_shards), most],
        ["workers on one shard, at most", _or_unknown(planned.workers_of_a_shard), most],
        [
            "WAL",
            f"{planned.wal_bytes_per_second / 1e6:,.0f} MB/s",
            f"{rung['wal_bytes_per_step']:,} bytes a step",
        ],
        ["tables", _space(planned.database_bytes), f"{rung['database_bytes_per_step']:,} bytes a step"],
    ]


def _desktop_rows(desktop: Desktop, planned: Size, asked: Assumptions, idle_cores: float) -> list[list[str]]:
    name = desktop.name
    cores, pictures = planned.desktop_cores[name], planned.picture_bytes[name]
    machines = planned.machines(name, asked.machine_cores, idle_cores)
    hours = machines * asked.machine_cores * planned.seconds / 3600
    kept = planned.database_bytes * asked.volume_gb_month_price + pictures * asked.bucket_gb_month_price
    return [
        [
            f"{name}: cores for desktops",
            f"{cores:,.0f}",
            f"{desktop.steps_per_second_per_core:.1f} steps/s a busy core, {asked.utilisation:.0%} busy",
        ],
        [
            f"{name}: machines in all",
            f"{machines:,}",
            f"{asked.machine_cores} cores each, of which Ray takes {idle_cores:.2f} while it idles",
        ],
        [f"{name}: pictures", _space(pictures), f"{desktop.picture_bytes_per_step:,.0f} bytes a step"],
        [
            f"{name}: money for cores, once",
            f"{hours * asked.core_hour_price:,.0f}",
            f"{hours:,.0f} core-hours of these machines, assumed at {asked.core_hour_price:g}",
        ],
        [
            f"{name}: money for disk, a month",
            f"{kept / GIGABYTE:,.0f}",
            f"assumed a GB: tables {asked.volume_gb_month_price:g}, pictures {asked.bucket_gb_month_price:g}",
        ],
    ]


def _or_unknown(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _space(count: float) -> str:
    return f"{count / TERABYTE:,.1f} TB" if count >= TERABYTE else f"{count / GIGABYTE:,.0f} GB"


def table(head: str, rows: list[list[str]], *, right: tuple[int, ...] | None = None) -> list[str]:
    """A table in Markdown; the columns named, or all but the first, are aligned to the right."""
    names = head.split(" | ")
    aligned = right if right is not None else range(1, len(names))
    bars = ["--:" if at in aligned else "---" for at in range(len(names))]
    return [f"| {' | '.join(each)} |" for each in (names, bars, *rows)]
