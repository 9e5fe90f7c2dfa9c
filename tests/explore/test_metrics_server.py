"""Metrics as Prometheus sees them: over HTTP, while an exploration runs, and nothing after it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from failing_world import FailingWorld
from postgres_server import PostgresServer, postgres_server
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as text_families
from sightings import open_store

import screensearch as ss
from screensearch import MetricsServer, StopRule, resume_exploration, start_exploration
from screensearch.errors import PluginUnavailable, SettingsError
from screensearch.explore.exposition import OWN
from screensearch.explore.metrics import METRICS, Metrics
from screensearch.explore.metrics_server import MetricsUnavailable, parse_listen_address

FAST = ss.resolve(overrides=["explore.screenshots=none"])
OPEN = "application/openmetrics-text; version=1.0.0"

Scrape = dict[tuple[str, ...], float]
"""Values by the name of the sample and the values of its labels, without those that say whose it is."""


def scrape(url: str, accept: str = "text/plain") -> Scrape:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=30) as reply:
        text = reply.read().decode()
        assert reply.headers["Content-Type"].startswith(accept.partition(";")[0])
    families = open_families(text) if accept == OPEN else text_families(text)  # type: ignore[no-untyped-call]
    return {
        (
            sample.name,
            *(value for name, value in sorted(sample.labels.items()) if name not in OWN),
        ): sample.value
        for family in families
        for sample in family.samples
    }


def logged(folder: Path) -> Counter[str]:
    """The log's own counts: steps by outcome, and arrivals."""
    with ss.open_run(folder) as run:
        entries = [entry for _, entry in run.entries()]
    counts = Counter(str(entry.outcome) for entry in entries if isinstance(entry, ss.Transition))
    counts["arrivals"] = sum(isinstance(entry, ss.Arrival) for entry in entries)
    return counts


def counted(found: Scrape) -> Counter[str]:
    counts = Counter({str(each): int(found["screensearch_steps_total", each]) for each in ss.Outcome})
    counts["arrivals"] = int(found["screensearch_starts_total", "ok"])
    return counts


class ScrapedWorld(FailingWorld):
    """Scrapes its own exploration, over HTTP, in the middle of a step."""

    def __init__(self, server: MetricsServer, folder: Path) -> None:
        super().__init__()
        self._server, self._folder = server, folder
        self.seen: list[tuple[Counter[str], Counter[str], Scrape]] = []

    async def perform(self, action: ss.Action) -> ss.Result:
        accept = OPEN if len(self.seen) % 2 else "text/plain"
        found = scrape(self._server.url, accept)
        self.seen.append((counted(found), logged(self._folder), found))
        return await super().perform(action)


def test_what_is_scraped_at_every_step_is_what_the_log_says(tmp_path: Path) -> None:
    with MetricsServer() as server:
        world = ScrapedWorld(server, tmp_path / "run")
        stop = StopRule(steps=40)
        summary = start_exploration(world, tmp_path / "run", stop=stop, settings=FAST, metrics=server)
        after = scrape(server.url)
    assert len(world.seen) == 40
    for taken, (counts, entries, found) in enumerate(world.seen):
        assert +counts == +entries
        assert found["screensearch_decide_seconds_count",] == taken
        assert found["screensearch_batch_entries_sum",] == entries.total()
        assert found["screensearch_budget_left_steps",] == 40 - taken
        assert found["screensearch_workers", "working"] == 1
    assert summary.captures + summary.crashes + summary.hangs + summary.exits > 3
    assert [name for name, *_ in after if name.startswith("screensearch_")] == []  # the exploration is over
    assert after["process_resident_memory_bytes",] > 0


def test_several_workers_are_counted_and_a_killed_one_shows_as_failed_and_started_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    killed: list[int] = []
    found: Scrape = {}

    def look(progress: ss.Progress) -> None:
        found.update(scrape(server.url))
        assert counted(found).total() <= logged(folder).total()  # nothing is told before it is durable
        if not killed and progress.steps > 20:
            killed.append(first_child())
            os.kill(killed[0], signal.SIGKILL)
        elif (
            not progress.stopping
            and sum(by_worker(found, "starts")) == 3
            and found["screensearch_workers", "working"] == 2
        ):
            signal.raise_signal(signal.SIGINT)

    with MetricsServer() as server:
        stop = StopRule(steps=100_000)
        summary = start_exploration(
            "synthetic:notepad",
            folder,
            stop=stop,
            settings=FAST,
            workers=2,
            on_progress=look,
            metrics=server,
        )
        assert summary.ended == "interrupted"
        assert sorted(by_worker(found, "starts")) == [1, 2]
        assert sorted(by_worker(found, "failures")) == [0, 1]
        before = logged(folder)
        resumed: list[Scrape] = []
        resume_exploration(
            folder,
            stop=StopRule(steps=summary.steps + 5),
            on_progress=lambda progress: resumed.append(scrape(server.url)),
            metrics=server,
        )
    assert +counted(resumed[0]) == +before  # a counter that goes on where it was


def by_worker(found: Scrape, what: str) -> list[float]:
    return [value for name, value in found.items() if name[0] == f"screensearch_worker_{what}_total"]


def first_child() -> int:
    """A worker process of this one."""
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            for child in (thread / "children").read_text().split():
                if b"worker_process" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
    raise AssertionError("no worker is there")


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


def test_a_log_in_a_database_tells_how_often_its_owner_changed(
    database: PostgresServer, tmp_path: Path
) -> None:
    epochs: list[float] = []

    def look(progress: ss.Progress) -> None:
        epochs.append(scrape(server.url)["screensearch_lease_epoch",])

    with MetricsServer() as server:
        start_exploration(
            "synthetic:notepad",
            tmp_path / "run",
            stop=StopRule(steps=5),
            settings=FAST,
            store=database.url(),
            on_progress=look,
            metrics=server,
        )
        resume_exploration(tmp_path / "run", stop=StopRule(steps=10), on_progress=look, metrics=server)
    first, *_ = epochs
    assert sorted(set(epochs)) == [first, first + 1]


def test_series_of_several_shards_at_one_address_are_told_apart_by_their_labels(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(MetricsServer())
        for run, part in (("r1", "light"), ("r1", "dark"), ("r2", "")):
            (tmp_path / run / part).mkdir(parents=True)
            store = open_store(tmp_path / run / part)
            stack.callback(store.log.close)
            metrics = Metrics(store, run=run, environment="toy", folder="", version="1", part=part)
            stack.enter_context(server.showing(metrics))
        with urllib.request.urlopen(server.url) as reply:
            families = [*text_families(reply.read().decode())]
    assert len({family.name for family in families}) == len(families)
    states = next(family for family in families if family.name == "screensearch_states")
    whose = [(sample.labels["run"], sample.labels["shard"]) for sample in states.samples]
    assert whose == [("r1", "light"), ("r1", "dark"), ("r2", "")]


# -- the server -----------------------------------------------------------------------------------


def test_every_metric_of_the_table_is_announced_with_its_kind_and_meaning() -> None:
    with MetricsServer() as server, urllib.request.urlopen(server.url) as reply:
        announced = {family.name: family for family in text_families(reply.read().decode())}
    for metric in METRICS:
        family = announced[metric.name.removesuffix("_total")]
        assert (family.type, family.documentation) == (metric.kind, metric.meaning)


def test_it_ends_with_its_block_also_when_that_fails(tmp_path: Path) -> None:
    server = MetricsServer()
    with pytest.raises(SettingsError), server:
        start_exploration(FailingWorld(), tmp_path / "run", seed=-1, stop=StopRule(steps=1), metrics=server)
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(server.url)
    server.close()


def test_a_client_that_says_nothing_keeps_no_other_waiting() -> None:
    with MetricsServer() as server:
        host, port = server.url.removeprefix("http://").partition("/")[0].split(":")
        with socket.create_connection((host, int(port))):
            assert scrape(server.url)


def test_only_the_metrics_are_served() -> None:
    with MetricsServer() as server, pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(server.url.replace("/metrics", "/"))
    assert refused.value.code == 404
    refused.value.close()


def test_it_listens_on_the_loopback_interface_unless_another_is_named() -> None:
    assert parse_listen_address("9464") == ("127.0.0.1", 9464)
    assert parse_listen_address("0.0.0.0:9464") == ("0.0.0.0", 9464)
    assert parse_listen_address("[::1]:0") == ("::1", 0)
    with MetricsServer("0") as server:
        assert server.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("address", ["", "port", ":9464", "127.0.0.1:", "::1:9464", "[]:1", "1:70000", "-1"])
def test_an_address_that_is_none_is_refused_with_what_it_should_be(address: str) -> None:
    with pytest.raises(SettingsError, match=r"give \[HOST:\]PORT"):
        MetricsServer(address)


def test_an_occupied_port_and_a_foreign_address_are_named() -> None:
    with (
        MetricsServer() as server,
        pytest.raises(MetricsUnavailable, match="in use; give an address"),
    ):
        MetricsServer(server.url.removeprefix("http://").removesuffix("/metrics"))
    with pytest.raises(MetricsUnavailable, match=r"192\.0\.2\.1 port 9464: Cannot assign"):
        MetricsServer("192.0.2.1:9464")


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "screensearch.explore.exposition", raising=False)
    with pytest.raises(PluginUnavailable, match=r"pip install 'screensearch\[metrics\]'"):
        MetricsServer()
