"""Uses of `fortuna` itself: the generator of the process, the live generator and what it tells."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

import fortuna
from fortuna import Fortuna, SourceReport, Stats, add_event, boot, default, random_bytes, readinto, reseed, stats

assert_type(fortuna.__version__, str)


class Byte:
    """Anything with ``__index__`` is a size."""

    def __index__(self) -> int:
        """Return 1."""
        return 1


def use_the_process() -> None:
    """Boot in each way, and draw."""
    assert_type(boot(), Fortuna)
    assert_type(boot("/etc/fortuna.toml"), Fortuna)
    assert_type(boot(Path("fortuna.toml"), {"generator.cipher": "chacha20", "boot.timeout": 1}), Fortuna)
    assert_type(boot(overrides={"entropy.sources": ["os"]}), Fortuna)
    assert_type(default(), Fortuna)
    assert_type(random_bytes(32), bytes)
    assert_type(random_bytes(Byte()), bytes)
    assert_type(readinto(bytearray(4)), int)
    assert_type(readinto(memoryview(bytearray(4))), int)
    add_event(200, b"data")
    add_event(200, memoryview(b"data"))
    reseed()
    assert_type(stats(), Stats)
    assert_type(fortuna.random_bytes(1), bytes)


def use_a_generator(live: Fortuna) -> None:
    """Call each method."""
    assert_type(live.random_bytes(32), bytes)
    assert_type(live.readinto(bytearray(4)), int)
    live.add_event(128, bytearray(b"data"))
    live.reseed()
    assert_type(live.child(), Fortuna)
    with live.child() as child:
        assert_type(child, Fortuna)
    live.close()
    read_stats(live.stats())


def read_stats(found: Stats) -> None:
    """Read each attribute."""
    texts = [found.generator, found.provider, found.kernel, found.construction, found.distribution]
    assert_type(texts, list[str])
    assert_type([found.is_seeded, found.is_memory_locked, found.is_memory_undumpable], list[bool])
    assert_type([found.requests, found.bytes_given, found.reseeds], list[int])
    assert_type(found.last_reseed_age_seconds, float)
    assert_type(found.pool_lengths, tuple[int, ...])
    assert_type([found.fork_detectors, found.clone_detectors, found.sticky_flags], list[tuple[str, ...]])
    assert_type(found.sources, tuple[SourceReport, ...])
    for report in found.sources:
        assert_type([report.name, report.cost, report.assumption, report.state, report.last_error], list[str])
        assert_type([report.number, report.harvests, report.bytes_given], list[int])
        assert_type([report.failures, report.failures_in_a_row], list[int])
        assert_type(report.min_entropy, float)


def misuse(live: Fortuna) -> None:
    """Do what the types forbid; a checker that accepts one of these finds its comment unused."""
    random_bytes(1.5)  # type: ignore[arg-type]
    live.random_bytes("32")  # type: ignore[arg-type]
    live.readinto(b"read-only")  # type: ignore[arg-type]
    live.add_event(200, "text")  # type: ignore[arg-type]
    boot(overrides={1: "chacha20"})  # type: ignore[dict-item]
    live.stats().requests = 0  # type: ignore[misc]
