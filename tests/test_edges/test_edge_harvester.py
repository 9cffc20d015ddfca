"""The harvester's thread: slow and blocking sources, the interval, forks, close, and what happens without a thread."""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from fortuna._boot import SystemClock
from fortuna.errors import NotSeededError
from fortuna.forks import ForkDetector
from fortuna.life import NO_SOURCE_LEFT
from fortuna.monitor import BUDGET_NS
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles

from .child_support import Child
from .edge_doubles import Bench, ScriptedSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: A thread that has not done its work by then hangs.
PATIENCE_SECONDS = 20.0


class SlowSource(ScriptedSource):
    """A source of cost class slow that remembers the threads it was harvested on, and blocks while it is told to."""

    def __init__(self, name: str = "slow", number: int = 9, size: int = 2048) -> None:
        super().__init__(name, number=number, size=size)
        self.cost = "slow"
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.before_harvest = self.wait

    def wait(self) -> None:
        """Note the thread, and block until the gate is open."""
        self.threads.add(threading.get_ident())
        assert self.gate.wait(PATIENCE_SECONDS)


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for another thread's work."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the thread did not do it"
        time.sleep(0.001)


#: Threads of generators that earlier tests left behind, until they are collected.
STRANGERS: set[threading.Thread] = set()


def harvesters() -> list[threading.Thread]:
    """Return the harvesters' threads that are alive and of this test."""
    threads = (thread for thread in threading.enumerate() if thread.name == "fortuna-harvester")
    return [thread for thread in threads if thread not in STRANGERS]


@pytest.fixture(autouse=True)
def strangers() -> None:
    """Know the threads that are there before the test."""
    STRANGERS.clear()
    STRANGERS.update(harvesters())


def test_edge_harvester_runs_slow_sources_alone(path: str) -> None:
    """A slow source is harvested on a daemon thread that the first request starts, never on a reader's."""
    slow = SlowSource()
    bench = Bench(path, sources=[ScriptedSource(), slow]).boot()
    assert (0, []) == (slow.harvests, harvesters())
    bench.fortuna.random_bytes(1)
    eventually(lambda: slow.harvests > 0)
    assert threading.get_ident() not in slow.threads
    assert [True] == [thread.daemon for thread in harvesters()]
    assert 1 == bench.source.harvests - 1
    bench.fortuna.close()
    eventually(lambda: not harvesters())


def test_edge_harvester_is_absent_where_nothing_needs_it(bench: Bench) -> None:
    """Quick sources alone start no thread."""
    bench.fortuna.random_bytes(1)
    bench.pass_interval()
    bench.fortuna.random_bytes(1)
    assert [] == harvesters()


def test_edge_harvester_seeds_a_boot_that_has_slow_sources_only(path: str) -> None:
    """The boot waits for the thread, and the bytes that it gathered seed the generator."""
    slow = SlowSource()
    with_thread = Bench(path, sources=[slow], clock=SystemClock())
    with_thread.fortuna.wait_for_seed(round(PATIENCE_SECONDS * 1e9))
    assert bytes(16) != with_thread.fortuna.random_bytes(16)
    assert threading.get_ident() not in slow.threads
    with_thread.fortuna.close()
    eventually(lambda: not harvesters())


@pytest.mark.parametrize("timeout_ns", [0, 50_000_000])
def test_edge_harvester_a_boot_ends_though_its_source_blocks(path: str, timeout_ns: int) -> None:
    """A source that never comes back costs the boot its time limit and no more; no byte is given out."""
    slow = SlowSource()
    slow.gate.clear()
    bench = Bench(path, sources=[slow], clock=SystemClock())
    start = time.monotonic_ns()
    with pytest.raises(NotSeededError, match=r"boot\.timeout = .*source slow: no answer yet"):
        bench.fortuna.wait_for_seed(timeout_ns)
    assert time.monotonic_ns() - start < timeout_ns + PATIENCE_SECONDS * 1e9
    with pytest.raises(NotSeededError):
        bench.fortuna.random_bytes(1)
    bench.fortuna.close()
    slow.gate.set()
    eventually(lambda: not harvesters())


def test_edge_harvester_passes_a_blocking_source_over(path: str) -> None:
    """After its budget a blocked source is reported and its thread left to itself; the other source is harvested on."""
    stuck, other = SlowSource("stuck"), SlowSource("other", 10)
    stuck.gate.clear()
    bench = Bench(path, sources=[ScriptedSource(), stuck, other]).boot()
    bench.fortuna.random_bytes(1)
    eventually(lambda: stuck.harvests == 0 and bool(stuck.threads))
    assert 0 == other.harvests
    bench.clock.now += BUDGET_NS["slow"]
    bench.fortuna.random_bytes(1)
    assert 1 == len(harvesters())
    bench.clock.now += bench.parts.interval_ns + 1
    bench.fortuna.random_bytes(1)
    eventually(lambda: other.harvests > 0)
    reports = {report.name: report for report in bench.fortuna.stats().sources}
    assert ("failing", "healthy") == (reports["stuck"].state, reports["scripted"].state)
    assert "source stuck: no answer for 5.1 s" in reports["stuck"].last_error
    # When it comes back, the old thread ends and the source is asked again.
    stuck.gate.set()
    eventually(lambda: len(harvesters()) == 1)
    bench.fortuna.close()
    eventually(lambda: not harvesters())


def test_edge_harvester_all_sources_blocking_or_failing_is_said_once(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After the first seed requests go on from K, with a flag and one warning of it."""
    stuck = SlowSource("stuck")
    bench = Bench(path, sources=[ScriptedSource(), stuck]).boot()
    stuck.gate.clear()
    bench.source.is_failing = True
    with caplog.at_level(logging.WARNING, logger="fortuna"):
        bench.fortuna.random_bytes(1)
        eventually(lambda: bool(stuck.threads))
        for _ in range(3):
            bench.clock.now += BUDGET_NS["slow"] + 1
            assert 16 == len(bench.fortuna.random_bytes(16))
    assert (NO_SOURCE_LEFT,) == bench.fortuna.stats().sticky_flags
    assert 1 == sum("no entropy source is left" in record.getMessage() for record in caplog.records)
    bench.fortuna.close()
    stuck.gate.set()
    eventually(lambda: not harvesters())


def test_edge_harvester_interval_fills_pools_without_readers(path: str) -> None:
    """With `entropy.harvest_interval` every source is harvested, whether anybody reads or not."""
    bench = Bench(path, harvest_interval_ns=10_000_000, interval_ns=3600 * 10**9).boot()
    bench.fortuna.random_bytes(1)
    before = bench.source.harvests
    eventually(lambda: bench.source.harvests >= before + 3)
    assert min(bench.fortuna.stats().pool_lengths) > 0
    bench.fortuna.close()
    eventually(lambda: not harvesters())


def test_edge_harvester_ends_with_its_generator(path: str) -> None:
    """A generator that nobody holds any more is collected, and its thread ends."""
    bench = Bench(path, sources=[ScriptedSource(), SlowSource()]).boot()
    bench.fortuna.random_bytes(1)
    eventually(lambda: len(harvesters()) == 1)
    harvester = bench.fortuna._life._harvester
    assert harvester is not None
    wake = harvester._wake
    assert wake is not None
    del harvester, bench
    gc.collect()
    wake.release()
    eventually(lambda: not harvesters())


def test_edge_harvester_may_be_stopped_twice(path: str) -> None:
    """Stopping a harvester that was stopped already does nothing."""
    bench = Bench(path, sources=[ScriptedSource(), SlowSource()]).boot()
    bench.fortuna.random_bytes(1)
    harvester = bench.fortuna._life._harvester
    assert harvester is not None
    for _ in range(2):
        harvester.stop()
    eventually(lambda: not harvesters())
    bench.fortuna.close()


def test_edge_harvester_of_a_forked_child_is_its_own(path: str) -> None:
    """The thread does not exist in a child; the child's first request starts another, and the parent's goes on."""
    slow = SlowSource()
    bench = Bench(path, sources=[ScriptedSource(), slow], forks=ForkDetector()).boot()
    bench.fortuna.random_bytes(1)
    eventually(lambda: len(harvesters()) == 1)
    eventually(lambda: slow.harvests > 0)

    def act() -> bytes:
        inherited = len(harvesters())
        before = slow.harvests
        bench.fortuna.random_bytes(1)
        bench.clock.now += bench.parts.interval_ns + 1
        bench.fortuna.random_bytes(1)
        eventually(lambda: slow.harvests > before)
        return bytes((inherited, len(harvesters())))

    assert bytes((0, 1)) == Child(act, os.fork).answer()
    assert 1 == len(harvesters())
    bench.fortuna.close()
    eventually(lambda: not harvesters())


def test_edge_harvester_without_threads_the_readers_go_on(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no thread can be started, that is said once, and requests are served from the other sources."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    bench = Bench(path, sources=[ScriptedSource(), SlowSource()]).boot()
    for _ in range(3):
        bench.pass_interval()
        assert 16 == len(bench.fortuna.random_bytes(16))
    assert ["no thread for slow sources and the seed file: can't start new thread"] == [
        record.getMessage() for record in caplog.records
    ]
    assert 4 == bench.reseeds


def test_edge_harvester_saves_the_seed_file_when_due(path: str, tmp_path: Path) -> None:
    """The thread saves at the interval, close() saves once more, and a reader never does."""
    place = tmp_path / "state" / "seed"
    clock = SystemClock()
    saving: list[int] = []

    class Watched(SystemFiles):
        """The file system, which notes the thread of each replacement."""

        def rename(self, source: str, target: str, /, **keywords: Any) -> None:  # type: ignore[override]  # notes
            """Rename."""
            saving.append(threading.get_ident())
            super().rename(source, target, **keywords)

    bench = Bench(
        path,
        clock=clock,
        harvest_interval_ns=10_000_000,
        make_seed_file=lambda: SeedFile(str(place), Watched(), clock, 50_000_000),
    ).boot()
    assert [threading.get_ident()] == saving
    bench.fortuna.random_bytes(1)
    eventually(lambda: len(saving) > 3)
    assert threading.get_ident() not in saving[1:]
    before = place.read_bytes()
    bench.fortuna.close()
    assert threading.get_ident() == saving[-1]
    assert before != place.read_bytes()
    assert () == bench.fortuna.stats().sticky_flags
    eventually(lambda: not harvesters())
