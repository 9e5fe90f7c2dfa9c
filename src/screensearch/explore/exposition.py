"""Metrics in the formats of Prometheus. The only module that knows `prometheus_client`: import it late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from screensearch.explore.metrics import METRICS, Kind, Metric, Readable, Spread

OWN = ("run", "shard")
"""The labels that say whose series it is: several runs and shards may be shown at one place."""


class Exposition:
    """All that is shown at one address: figures of runs, and of this process (memory, CPU, open files)."""

    def __init__(self, shown: Callable[[], Iterable[Readable]]) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(_Shown(shown))

    def write(self, accept: str) -> tuple[str, bytes]:
        """The content type and the body for a client that says what it accepts."""
        encode, content_type = choose_encoder(accept)
        return content_type, encode(self._registry)


class _Shown(Collector):
    """What the registry asks at every scrape."""

    def __init__(self, shown: Callable[[], Iterable[Readable]]) -> None:
        self._shown = shown

    def describe(self) -> Iterable[Family]:
        """Nothing: names are checked by our tests, and asking would make readings."""
        return ()

    def collect(self) -> Iterator[Family]:
        readings = [((each.run, each.part), each.read()) for each in self._shown()]
        for metric in METRICS:
            family = _family(metric)
            for whose, values in readings:
                series = values.get(metric.name, {})
                if isinstance(series, Spread):
                    assert isinstance(family, HistogramMetricFamily)
                    buckets = [
                        (f"{bound}", n) for bound, n in zip(series.bounds, series.at_most, strict=True)
                    ]
                    family.add_metric(whose, [*buckets, ("+Inf", series.count)], series.total)
                elif isinstance(family, CounterMetricFamily | GaugeMetricFamily):
                    for labels, value in series.items():
                        family.add_metric([*whose, *labels], value)
            yield family


def _family(metric: Metric) -> Family:
    labels = [*OWN, *metric.labels]
    if metric.kind is Kind.HISTOGRAM:
        return HistogramMetricFamily(metric.name, metric.meaning, labels=labels)
    if metric.kind is Kind.COUNTER:
        return CounterMetricFamily(metric.name, metric.meaning, labels=labels)
    return GaugeMetricFamily(metric.name, metric.meaning, labels=labels)
