"""What is made of the figures of a cluster: no rate is called a ceiling that is none, no page is copied."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster_figures import ceiling, conclude, lost_steps, stopped_growing
from cluster_parts import CONDUCTOR, DATABASE, MACHINERY, OWNERS, RAY, WORKERS
from cluster_size import (
    Assumptions,
    Desktop,
    Measured,
    assume,
    largest_served,
    read_measured,
    rung_to_scale,
    size,
)
from cluster_text import describe, marks, measured_text, put_into
from screensearch.errors import FormatError, SettingsError

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "benchmarks" / "results" / "cluster.json"
COST = {OWNERS: 1.0, DATABASE: 0.5, RAY: 0.3, CONDUCTOR: 0.1, WORKERS: 2.0}
DESKTOP = Desktop("mousepad", steps_per_second_per_core=10.0, picture_bytes_per_step=20_000.0)


def rung(
    workers: int, rate: float, *, shards: int = 8, lost: int = 0, seconds: float = 40.0
) -> dict[str, Any]:
    """So many workers at 5 steps/s, of which so many were taken."""
    return {
        "workers": workers,
        "shards": shards,
        "seconds": seconds,
        "offered_steps_per_second": 5.0 * workers,
        "steps_per_second": rate,
        "saturated": rate < 0.95 * 5 * workers,
        "decisions": round(rate * seconds),
        "decision_ms": {"p50": 1.0, "p90": 2.0, "p99": 3.0, "p100": 4.0},
        "decision_ms_from_due": {"p50": 1.0, "p90": 2.0, "p99": 1_234.5, "p100": 4_000.0},
        "cpu_ms_per_step": dict(COST),
        "machinery_cpu_ms_per_step": sum(COST[part] for part in MACHINERY),
        "cores_used": dict.fromkeys(COST, 0.2),
        "cores_busy_of_the_machine": 1.9,
        "cores_of_others": 0.1,
        "busiest_owner_cores": 0.2,
        "busiest_owner_thread_cores": 0.1,
        "cores_in_iowait": 0.25,
        "cores_stolen": 0.05,
        "database_bytes_per_step": 2_000,
        "wal_bytes_per_step": 3_000,
        "lost": lost,
        "failures": [],
        "trouble": "",
        "owner_replaced": False,
    }


def report(**changed: Any) -> dict[str, Any]:
    idle = {"seconds": 1.0, "shards": 8, "cpu_ms_per_second": dict.fromkeys(COST, 1.0)}
    run = {"steps": 100, "lost": 0, "owners_replaced": 0, "verify_problems": []}
    found = {
        "asked": {"command": "cluster.py", "seconds": 40.0, "workers": [1, 10], "nodes": 3},
        "idle": idle,
        "hot_idle": idle,
        "ladder": [rung(1, 5.0), rung(10, 50.0), rung(100, 300.0)],
        "all_workers": rung(1_000, 180.0),
        "hot": [
            rung(50, 250.0, shards=1),
            rung(100, 460.0, shards=1),
            rung(200, 400.0, shards=1),
        ],
        "runs": [run],
        "problems": [],
        "complete": True,
        "machine": {"cpu": "CPU", "cores": 2, "memory_gb": 25.3, "load": 0.1, "date": "2026-11-16"},
        **changed,
    }
    conclude(found)
    return found


def test_a_rate_that_the_pace_limits_is_no_ceiling() -> None:
    met = [rung(10, 50.0), rung(20, 100.0)]
    assert ceiling(met) is None
    assert not stopped_growing(met)
    assert "No ceiling" in measured_text(report(hot=met))


def test_a_series_stops_growing_when_more_load_makes_no_more_steps() -> None:
    served, beyond = rung(100, 500.0), rung(200, 800.0)
    assert not stopped_growing([served, beyond])
    assert not stopped_growing([served, beyond, rung(400, 850.0)])
    assert stopped_growing([served, beyond, rung(400, 810.0)])
    found = ceiling([served, beyond, rung(400, 700.0)])
    assert found is not None
    assert found["steps_per_second"] == 800.0
    assert found["stopped_growing"]
    unfinished = report(ladder=[rung(1, 5.0), served, beyond], hot=[])
    assert not unfinished["ceilings"]["ladder"]["stopped_growing"]
    assert "still more load" in measured_text(unfinished)


def test_one_saturated_rung_does_not_end_a_series() -> None:
    """With more waiting at once, an owner commits more at once."""
    assert not stopped_growing([rung(100, 500.0), rung(125, 510.0)])
    assert not stopped_growing([rung(100, 500.0), rung(125, 510.0), rung(150, 600.0)])


def test_a_ceiling_is_no_lower_than_what_was_carried() -> None:
    series = [rung(50, 250.0, shards=1), rung(100, 500.0, shards=1), rung(200, 438.0, shards=1)]
    found = ceiling(series)
    assert found is not None
    assert (found["steps_per_second"], found["workers"]) == (500.0, 100)
    assert found["carried"] == {"steps_per_second": 500.0, "workers": 100}
    said = measured_text(report(hot=series))
    assert "100 workers, 500 steps/s. Saturated: at the most 438 steps/s, fewer than were carried," in said
    more = [*series[:2], rung(200, 600.0, shards=1)]
    assert "fewer than were carried" not in measured_text(report(ladder=[rung(1, 5.0)], hot=more))


def test_an_owner_that_python_holds_back_is_told_before_the_disk_is_blamed() -> None:
    series = [rung(100, 500.0, shards=1), {**rung(200, 438.0, shards=1), "cores_busy_of_the_machine": 1.6}]
    assert "for the disk or for each other (iowait: 0.25 cores)" in measured_text(report(hot=series))
    series[1]["busiest_owner_cores"] = 0.76
    said = measured_text(report(hot=series))
    assert "an owner's process, which used 0.76 cores" in said
    assert "disk" not in said


def test_what_decisions_took_from_when_they_were_due_is_told_beside_their_number() -> None:
    said = measured_text(report(ladder=[rung(1, 5.0), rung(10, 50.0)]))
    assert "| 10 | 50 | 50 | 2,000 | 1.0 / 3.0 | 1,234.5 |" in said
    assert said.count("| 0.25 / 0.05 |") == 6


def test_a_step_of_one_worker_makes_up_for_no_lost_one_of_another() -> None:
    assert lost_steps({0: 5, 1: 5}, {0: 5, 1: 5, 2: 1}) == 0
    assert lost_steps({0: 5, 1: 5, 2: 1}, {0: 6, 1: 4}) == 2


def test_the_cost_of_idling_is_not_taken_for_the_cost_of_steps() -> None:
    above = report()["ladder"][1]["above_idle_cpu_ms_per_step"]
    assert above[OWNERS] == pytest.approx(COST[OWNERS] - 1.0 / 50)
    against = report()["cost_against_1_workers"]
    assert [each["all"] for each in against] == [1.0] * 4
    assert against[1]["above_idle"] > 1.0  # the first one idles for most of its cost


def test_what_a_step_costs_above_idle_is_not_told_by_a_few_steps() -> None:
    few = report(ladder=[rung(1, 5.0, seconds=15.0), rung(10, 50.0, seconds=15.0), rung(100, 300.0)])
    assert [each["above_idle"] for each in few["cost_against_1_workers"]] == [None] * 4
    assert all(each["above_idle"] for each in few["cost_against_10_workers"])
    assert "a step of more workers costs no more than one of 10" in few["targets"]


def test_a_rung_that_lasted_longer_is_told() -> None:
    ladder = [rung(1, 5.0, seconds=40.0), rung(10, 50.0, seconds=15.0)]
    asked = {**report()["asked"], "seconds": 15.0}
    said = measured_text(report(ladder=ladder, all_workers=rung(1_000, 180.0, seconds=15.0), asked=asked))
    assert "15 s a line (1 worker: 40 s)." in said


def test_that_no_step_costs_more_is_a_target_for_every_rung() -> None:
    target = "a step of more workers costs no more than one of 1"
    first, dear = rung(1, 5.0), rung(100, 400.0)
    first["cpu_ms_per_step"] = {part: cost + 0.2 for part, cost in COST.items()}  # all of it idles
    assert report(ladder=[first, dear])["targets"][target]
    dear["cpu_ms_per_step"] = {part: 2 * cost for part, cost in COST.items()}
    missed = report(ladder=[first, dear])
    assert not missed["targets"][target]
    assert f"{target}: **no**" in measured_text(missed)
    assert "The dearest of more than 1 worker: 100 with 500 steps/s asked, " in measured_text(missed)
    assert not any("costs" in name for name in report(ladder=[first], all_workers=first)["targets"])


def test_a_lost_step_is_told() -> None:
    lost = report(ladder=[rung(1, 5.0), rung(10, 50.0, lost=1)])
    assert not lost["targets"]["no step lost"]
    assert "no step lost: **no**" in measured_text(lost)


def test_an_owner_that_is_busy_has_not_failed_and_its_trouble_is_told() -> None:
    target = "no worker failed, no owner was replaced"
    busy = {**rung(400, 300.0), "trouble": "the owner of shard 0 has more to do than its machine can bear"}
    told = report(ladder=[rung(1, 5.0), busy, {**busy, "workers": 500}])
    assert told["targets"][target]
    assert "trouble with 400 workers: the owner of shard 0 has more to do" in measured_text(told)
    assert "500 workers: the owner" not in measured_text(told)
    assert not report(ladder=[rung(1, 5.0), {**busy, "owner_replaced": True}])["targets"][target]


def test_a_disturbed_machine_is_told() -> None:
    assert "Doubtful" not in measured_text(report())
    assert "up to 1.2 cores" in measured_text(report(ladder=[{**rung(1, 5.0), "cores_of_others": 1.2}]))


def test_what_was_measured_and_where_is_told() -> None:
    said = measured_text(
        report(code={"commit": "0123456789abcdef", "changed": True}, network_namespaces=True)
    )
    assert "2026-11-16, commit 0123456789 and changes, 2 cores" in said
    assert "3 nodes in network namespaces of their own, the head and PostgreSQL in the machine's," in said
    assert "commit" not in measured_text(report(code=None))


def test_what_was_measured_before_an_interruption_can_be_told() -> None:
    whole = report()
    nothing = {**whole, "ladder": [], "hot": [], "runs": [], "complete": False}
    del nothing["all_workers"], nothing["idle"]
    assert "not come to its end" in measured_text(nothing)
    without_hot = report(hot=[], runs=[], complete=False)
    assert "One shard" not in measured_text(without_hot)
    assert "8 shards: TimeoutError" in measured_text(report(problems=["8 shards: TimeoutError: "]))


def test_cores_grow_with_steps_and_disk_with_observations() -> None:
    asked = Assumptions(workers=10_000, pace=5.0, observations=100_000_000, utilisation=0.5)
    found = report()
    planned = size(found["ladder"][1], {"steps_per_second": 1_000.0}, [DESKTOP], asked)
    assert planned.owner_cores == pytest.approx(50_000 * 0.001 / 0.5)
    assert planned.database_cores == pytest.approx(50_000 * 0.0005 / 0.5)
    assert planned.least_shards == 100
    assert planned.workers_of_a_shard == 100
    assert planned.database_bytes == pytest.approx(200e9)
    assert planned.worker_cores == pytest.approx(50_000 * 0.002 / 0.5)
    assert planned.desktop_cores == {"mousepad": 10_000.0}
    of_all = 10_000 + 100 + 50 + 200 + planned.ray_cores
    assert planned.machines("mousepad", 32, 2.0) == math.ceil(of_all / 30)
    assert planned.picture_bytes == {"mousepad": 2e12}
    more = size(found["ladder"][1], None, [DESKTOP], replace(asked, workers=20_000))
    assert more.owner_cores == pytest.approx(2 * planned.owner_cores)
    assert more.database_bytes == planned.database_bytes
    assert more.least_shards is None


def test_what_is_scaled_had_about_as_much_to_do_as_a_shard_shall_have() -> None:
    found = report()
    found["hot"][0]["cpu_ms_per_step"] = {part: cost / 2 for part, cost in COST.items()}
    half = Assumptions(utilisation=0.5)
    assert rung_to_scale(found, half) is found["hot"][0]  # 250 steps/s, of a ceiling of 460
    assert rung_to_scale(found, Assumptions(utilisation=0.01)) is found["ladder"][1]
    said = describe(Measured(found, [DESKTOP]), half)["size"]
    assert "from 50 workers on one shard with 250 steps/s (not saturated), the nearest to the 230" in said
    assert "less to do, 6 steps/s each, a step cost 1.00 ms for owners" in said
    assert "0.50 ms a step, 50% busy" in said
    without = report(hot=[])
    assert rung_to_scale(without, half)["workers"] == 10
    assert "no ceiling of a shard was found" in describe(Measured(without, [DESKTOP]), half)["size"]


def test_a_saturated_rung_is_not_scaled() -> None:
    found = report()
    assert largest_served(found["ladder"])["workers"] == 10
    with pytest.raises(FormatError, match="saturated"):
        largest_served(found["ladder"][2:])


def test_an_assumption_is_replaced_by_its_name() -> None:
    assert assume(["core_hour_price=0.5", "workers=7"]) == Assumptions(core_hour_price=0.5, workers=7)
    with pytest.raises(SettingsError, match="core_price"):
        assume(["core_price=1"])
    with pytest.raises(SettingsError, match="cheap"):
        assume(["core_hour_price=cheap"])
    with pytest.raises(SettingsError, match="more than 0"):
        assume(["utilisation=0"])


def test_a_text_takes_the_place_of_the_one_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    begin, end = marks("size")
    page.write_text(f"before\n{begin}\nwhat was here\n{end}\nafter\n")
    texts = describe(Measured(report(), [DESKTOP]), Assumptions())
    put_into(page, texts)
    once = page.read_text()
    assert "what was here" not in once
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert texts["size"] in once
    put_into(page, texts)
    assert page.read_text() == once
    page.write_text("no marks\n")
    with pytest.raises(FormatError, match="no mark"):
        put_into(page, texts)
    page.write_text(f"{begin}\n")
    with pytest.raises(FormatError, match="where the text ends"):
        put_into(page, texts)


def test_pages_say_what_the_results_say(tmp_path: Path) -> None:
    """Also that they do not say it before there are any."""
    marked = [
        page
        for page in (ROOT / "docs").rglob("*.md")
        if any(marks(name)[0] in page.read_text() for name in ("measured", "size"))
    ]
    for page in marked:
        again = tmp_path / page.name
        again.write_text(page.read_text())
        put_into(again, describe(read_measured(RESULT), Assumptions()))
        assert again.read_text() == page.read_text(), f"run benchmarks/cluster.py --size --into {page}"


def test_concluding_twice_changes_nothing() -> None:
    once = report()
    twice = copy.deepcopy(once)
    conclude(twice)
    assert once == twice
