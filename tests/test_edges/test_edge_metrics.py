"""`fortuna.metrics`, with the real libraries: what is exported, to whom, and never twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.metrics import measures
from fortuna.metrics.measures import MEASURES

from .child_support import Child
from .edge_doubles import lines_of, run_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from fortuna._boot import Process
    from fortuna.metrics.prometheus import PrometheusMetrics

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
#: What every booted process exports for each source.
BY_SOURCE: Final = ("source_harvests", "source_given_bytes", "source_failures", "source_is_healthy")


@pytest.fixture
def process(unbooted: Process, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    """Give a process that the exporters read, in which nothing is booted."""
    monkeypatch.setattr(measures, "process", unbooted)
    yield unbooted
    if unbooted.running is not None:
        unbooted.running.close()


class Exported:
    """Metrics in a registry of their own."""

    def __init__(self) -> None:
        prometheus = pytest.importorskip("prometheus_client", reason="prometheus-client is not installed")
        from fortuna.metrics.prometheus import PrometheusMetrics

        self.registry: CollectorRegistry = prometheus.CollectorRegistry()
        self.metrics: PrometheusMetrics = PrometheusMetrics(self.registry)

    def value(self, name: str, **labels: str) -> float | None:
        """Return what is exported, without an update."""
        return self.registry.get_sample_value(f"fortuna_{name}", labels)


@pytest.fixture
def exported() -> Exported:
    """Give metrics in a registry of their own, or skip."""
    return Exported()


def test_edge_metrics_names_are_told_apart() -> None:
    """Each measure has a name of its own, a unit, a sentence and a known kind."""
    assert len(MEASURES) == len({measure.name for measure in MEASURES})
    for measure in MEASURES:
        assert measure.kind in ("counter", "lowest", "highest")
        assert measure.description.endswith(".")
        assert measure.unit


def test_edge_metrics_prometheus_boots_nothing(process: Process, exported: Exported) -> None:
    """Making and updating them before the boot leaves the process unbooted, and the counts at 0."""
    exported.metrics.update()
    assert [None] == [process.running]
    assert 0.0 == exported.value("requests_total")


def test_edge_metrics_prometheus_counts_each_thing_once(process: Process, exported: Exported) -> None:
    """However often it is updated, a counter says what the statistics say; gauges follow them."""
    live = process.boot(None, {"entropy.sources": ["os"]})
    for size in (1, 16, 3 << 20):
        live.random_bytes(size)
        for _ in range(2):
            exported.metrics.update()
        stats = live.stats()
        assert stats.requests == exported.value("requests_total")
        assert stats.bytes_given == exported.value("given_bytes_total")
    assert 17 + (3 << 20) == exported.value("given_bytes_total")
    live.reseed()
    exported.metrics.update()
    assert 2.0 == exported.value("reseeds_total")
    assert 1.0 == exported.value("is_seeded")
    age = exported.value("last_reseed_age_seconds")
    assert age is not None
    assert 0.0 <= age < live.stats().last_reseed_age_seconds
    source = live.stats().sources[0]
    expected = [source.harvests, source.bytes_given, 0.0, 1.0]
    found = [
        exported.value(name if name == "source_is_healthy" else f"{name}_total", source="os") for name in BY_SOURCE
    ]
    assert expected == found
    names = measures.boot_labels(live.stats())
    assert 1.0 == exported.value("info", **names)


def test_edge_metrics_prometheus_shows_flags_and_the_end(process: Process, exported: Exported) -> None:
    """A sticky flag is a gauge of its own; a closed generator is not seeded, and its counts stay."""
    live = process.default()
    live.random_bytes(16)
    exported.metrics.update()
    assert None is exported.value("sticky_flag", flag="no_source_left")
    live._life.flags.add("no_source_left")
    live.random_bytes(16)
    live.close()
    exported.metrics.update()
    assert 1.0 == exported.value("sticky_flag", flag="no_source_left")
    assert 0.0 == exported.value("is_seeded")
    assert 32.0 == exported.value("given_bytes_total")


def test_edge_metrics_prometheus_leaves_an_update_to_who_is_at_it(process: Process, exported: Exported) -> None:
    """A second update at once changes nothing, so nothing is added twice; the next one makes up for it."""
    live = process.default()
    exported.metrics.update()
    live.random_bytes(16)
    (progress,) = exported.metrics._progress.values()
    with progress.lock:
        exported.metrics.update()
        assert 0.0 == exported.value("given_bytes_total")
    exported.metrics.update()
    assert 16.0 == exported.value("given_bytes_total")


def test_edge_metrics_prometheus_counts_never_go_back(
    process: Process, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reading that was overtaken by a later one takes nothing away, and what follows is not added twice."""
    live = process.default()
    early = live.stats()
    live.random_bytes(16)
    exported.metrics.update()
    with monkeypatch.context() as patch:
        patch.setattr("fortuna.metrics.prometheus.own_stats", lambda: (live._life.epoch, early))
        exported.metrics.update()
    exported.metrics.update()
    assert 16.0 == exported.value("given_bytes_total")


@needs_fork
def test_edge_metrics_prometheus_of_a_child_are_its_own(path: str, process: Process, exported: Exported) -> None:
    """A child adds what it drew: nothing before that, neither what its parent has exported nor what it has not."""
    provider = "native" if path == "native" else "pycryptodome"
    live = process.boot(None, {"generator.provider": provider})
    live.random_bytes(16)
    exported.metrics.update()
    live.random_bytes(100)

    def act() -> bytes:
        values = []
        for size in (None, 1, 2):
            if size is not None:
                live.random_bytes(size)
            for _ in range(2):
                exported.metrics.update()
            values.append(exported.value("given_bytes_total"))
        return repr(values).encode()

    # Without the multi-process mode, the library's counters of a child go on from those it inherited.
    with exported.metrics._progress[live._life.epoch].lock:
        child = Child(act)
    assert b"[16.0, 17.0, 19.0]" == child.answer()
    exported.metrics.update()
    assert 116.0 == exported.value("given_bytes_total")


@needs_fork
def test_edge_metrics_prometheus_adds_processes_up(config: dict[str, str], tmp_path: Path) -> None:
    """In the multi-process mode, a master and two workers are one total, also after a worker has ended."""
    pytest.importorskip("prometheus_client", reason="prometheus-client is not installed")
    code = """
import os
import fortuna
from child_support import answer_of
from prometheus_client import CollectorRegistry, multiprocess
from fortuna.metrics.prometheus import PrometheusMetrics

registry = CollectorRegistry()
multiprocess.MultiProcessCollector(registry)
metrics = PrometheusMetrics(CollectorRegistry())
fortuna.random_bytes(5)
metrics.update()
fortuna.random_bytes(7)  # the workers inherit this one, and only the master exports it

def work(own, done):
    metrics.update()
    for _ in range(10):
        fortuna.random_bytes(1000)
        metrics.update()
    os.write(done, b"x")
    os.read(own, 1)  # alive until the master has looked

def total(name):
    return registry.get_sample_value("fortuna_" + name)

workers = []
for _ in range(2):
    (own, go), (ready, done) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        work(own, done)
        os._exit(0)
    os.close(done)
    assert os.read(ready, 1) == b"x"
    workers.append((pid, go, ready))
metrics.update()
print(total("given_bytes_total"), total("requests_total"), total("is_seeded"))
for pid, go, ready in workers:
    os.write(go, b"x")
    answer_of(pid, ready)
    multiprocess.mark_process_dead(pid)
fortuna.default().close()
metrics.update()
print(total("given_bytes_total"), total("requests_total"), total("is_seeded"), total("last_reseed_age_seconds") > 0)
"""
    folder = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert ["20012.0 22.0 1.0", "20012.0 22.0 0.0 True"] == lines_of(run_script(code, environment={**config, **folder}))


def read_by_sdk(process: Process, size: int) -> list[dict[str, dict[tuple[tuple[str, object], ...], float]]]:
    """Return what OpenTelemetry's SDK collects before the boot, after a read of *size* bytes, and again."""
    sdk = pytest.importorskip("opentelemetry.sdk.metrics", reason="opentelemetry-sdk is not installed")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    from fortuna.metrics.opentelemetry import instrument

    reader = export.InMemoryMetricReader()
    provider = sdk.MeterProvider([reader], shutdown_on_exit=False)
    instrument(provider.get_meter("test"))
    collected: list[dict[str, dict[tuple[tuple[str, object], ...], float]]] = []
    for step in range(3):
        if step == 1:
            process.default().random_bytes(size)
        data = reader.get_metrics_data()
        metrics = [] if data is None else data.resource_metrics[0].scope_metrics[0].metrics
        collected.append(
            {
                metric.name: {tuple(point.attributes.items()): point.value for point in metric.data.data_points}
                for metric in metrics
            }
        )
    provider.shutdown()
    return collected


def test_edge_metrics_opentelemetry_observes_the_statistics(process: Process) -> None:
    """Nothing before the boot, then every measure, cumulative, under names and labels of its own."""
    before, after, again = read_by_sdk(process, 48)
    assert {} == before
    assert process.running is not None
    stats = process.running.stats()
    # A flag has no value until it is raised.
    names = {f"fortuna.{measure.name}" for measure in MEASURES}
    assert names - {"fortuna.sticky_flag"} == set(after)
    assert {(): 48} == after["fortuna.given_bytes"] == again["fortuna.given_bytes"]
    assert {(): stats.requests} == after["fortuna.requests"]
    assert {(): 1} == after["fortuna.is_seeded"]
    assert {(("source", source.name),) for source in stats.sources} == set(after["fortuna.source_harvests"])


def test_edge_metrics_opentelemetry_without_an_sdk_does_nothing(process: Process) -> None:
    """The API's own instruments take the callbacks and never call them."""
    pytest.importorskip("opentelemetry.metrics", reason="opentelemetry-api is not installed")
    from fortuna.metrics.opentelemetry import instrument

    instrument()
    assert [None] == [process.running]
