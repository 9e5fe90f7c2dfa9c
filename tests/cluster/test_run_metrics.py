"""What a conductor shows to Prometheus, and where on its node."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace

import pytest
from stand_ins import job

from screensearch.cluster.account import Counts
from screensearch.cluster.metrics import Moment, RunMetrics, serve, url_of
from screensearch.cluster.names import ENDED, RESTS, WAITS, WORKS, WorkerView
from screensearch.explore.budget import StopRule
from screensearch.explore.metrics import METRICS, OF_RUN
from screensearch.explore.metrics_server import MetricsServer
from screensearch.explore.progress import Figures

NOW = Moment(
    counts=Counts({0: 1, 1: 3}, {0: 0, 1: 2}, 4),
    workers=tuple(WorkerView(0, 1, state) for state in (WORKS, WORKS, WORKS, WAITS, RESTS)),
    figures=Figures(steps=70, states=9),
    seconds=40.0,
    discovered_at=50,
)


def shown(stop: StopRule) -> RunMetrics:
    return RunMetrics(replace(job(), stop=stop), lambda: NOW)


def test_workers_are_told_by_state_and_by_what_became_of_each() -> None:
    values = shown(StopRule(steps=100)).read()
    assert set(values) == OF_RUN
    for metric in METRICS:
        if metric.of_run:
            assert {len(labels) for labels in values[metric.name]} <= {len(metric.labels)}  # type: ignore[union-attr]  # none of them is a distribution
    assert values["screensearch_workers"] == {
        ("working",): 3,
        ("waiting",): 1,
        ("starting",): 0,
        ("resting",): 1,
        ("ended",): 0,
    }
    assert values["screensearch_worker_starts_total"] == {("0",): 1, ("1",): 3}
    assert values["screensearch_worker_failures_total"] == {("0",): 0, ("1",): 2}
    assert values["screensearch_owner_replacements_total"] == {(): 4}


@pytest.mark.parametrize(
    ("stop", "left"),
    [
        (StopRule(steps=100), {"steps": 30}),
        (StopRule(steps=60), {"steps": 0}),
        (StopRule(states=10, plateau=25, seconds=60.0), {"states": 1, "plateau_steps": 5, "seconds": 20}),
    ],
)
def test_what_is_left_is_told_for_the_rules_that_were_given(stop: StopRule, left: dict[str, float]) -> None:
    values = shown(stop).read()
    found = {
        name.removeprefix("screensearch_budget_left_"): series[()]  # type: ignore[index]  # likewise
        for name, series in values.items()
        if name.startswith("screensearch_budget_left_") and series
    }
    assert found == left


def port_of(server: MetricsServer) -> int:
    return int(server.url.rpartition(":")[2].partition("/")[0])


def test_where_a_port_is_taken_the_next_one_is_used(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    figures = shown(StopRule(steps=1))
    with MetricsServer("127.0.0.1:0") as taken:
        server = serve(f"127.0.0.1:{port_of(taken)}", figures)
        assert server is not None
        with server:
            assert port_of(taken) < port_of(server) <= port_of(taken) + 16
            assert f"served at {server.url}: port {port_of(taken)} is taken" in caplog.text


def test_it_is_served_where_it_was_before_if_that_is_free() -> None:
    figures = shown(StopRule(steps=1))
    with MetricsServer("0") as before:
        elsewhere = serve("127.0.0.1:0", figures, before=before.url)
    assert elsewhere is not None
    with elsewhere:
        assert elsewhere.url != before.url
    again = serve("127.0.0.1:0", figures, before=before.url)
    assert again is not None
    with again:
        assert again.url == before.url


@pytest.mark.parametrize(
    ("asked", "host"),
    [("192.0.2.1:0", "127.0.0.1"), ("[2001:db8::1]:9464", "127.0.0.1"), ("0.0.0.0:0", "10.0.0.7")],
)
def test_a_node_that_does_not_have_the_address_serves_to_itself_and_says_so(
    asked: str, host: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(asked, shown(StopRule(steps=1)))
    assert server is not None
    with server:
        assert url_of(server, "10.0.0.7").startswith(f"http://{host}:")
        assert ("to this node only" in caplog.text) is (host == "127.0.0.1")


def test_a_node_without_the_extra_serves_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "screensearch.explore.exposition", raising=False)
    server = serve("127.0.0.1:0", shown(StopRule(steps=1)))
    assert server is None
    assert url_of(server, "10.0.0.7") == ""
    assert "metrics are not served here: metrics need the extra" in caplog.text


def test_all_states_of_workers_have_a_label() -> None:
    moment = replace(NOW, workers=tuple(WorkerView(0, 1, each) for each in (WORKS, WAITS, RESTS, ENDED)))
    values = RunMetrics(job(), lambda: moment).read()["screensearch_workers"]
    assert sum(values.values()) == 4  # type: ignore[union-attr]  # likewise
