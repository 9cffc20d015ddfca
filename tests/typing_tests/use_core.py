"""Uses of `fortuna.core` and `fortuna.core.health`."""

from __future__ import annotations

from typing_extensions import assert_type

from fortuna.core import CONSTRUCTIONS, Accumulator, Construction, Generator, Pool, Scheduler
from fortuna.core.health import AdaptiveProportion, HarvestRepetition, HealthTests, RepetitionCount
from fortuna.generators import Secret, create


def use_the_core() -> None:
    """Run a transcript by hand."""
    construction = CONSTRUCTIONS["fsk2010"]
    assert_type(construction, Construction)
    assert_type(construction.key_hash(b"a", bytearray(b"b")), Secret)
    generator = Generator(lambda: create("chacha20"), construction, key=bytes(32), counter=1)
    assert_type(generator.is_seeded, bool)
    generator.reseed(b"seed")
    assert_type(generator.random_bytes(16), bytes)
    assert_type(generator.readinto(bytearray(16)), int)
    claim = generator.claim(16)
    claim.fill(bytearray(16))
    generator.wipe()
    accumulator = Accumulator(generator, construction, min_pool_size=64, interval_ns=0, reseed_count=0)
    accumulator.add(7, b"data", pool=0, timestamp=1, min_entropy=1.0)
    assert_type([accumulator.reseed_if_due(0), accumulator.is_due(0)], list[bool])
    accumulator.reseed(0, b"fresh")
    assert_type(accumulator.take_seed(0), Secret)
    assert_type(accumulator.random_data(16, now_ns=0), bytes)
    assert_type([accumulator.reseed_count, accumulator.last_reseed_ns], list[int])
    assert_type(accumulator.pool_lengths, tuple[int, ...])


def use_its_parts() -> None:
    """Use a pool and a scheduler by themselves."""
    pool = Pool(bytes(64))
    pool.add(b"event", 8.0)
    assert_type(pool.take_digest(), bytes)
    scheduler = Scheduler(min_pool_size=64, interval_ns=0, reseed_count=0)
    assert_type(scheduler.is_due(64, 0), bool)
    assert_type(scheduler.advance(0), int)


def use_health_tests() -> None:
    """Feed each test."""
    tests = HealthTests("ours", 1.0)
    tests.check(bytes(32))
    assert_type(tests.is_started, bool)
    for one in (RepetitionCount(1.0), AdaptiveProportion(1.0, 30)):
        assert_type(one.feed(bytearray(32)), int | None)
        one.restart()
    harvests = HarvestRepetition(1.0)
    assert_type(harvests.feed(bytes(32)), str)
    harvests.restart()


def misuse() -> None:
    """Do what the types forbid."""
    Generator(create, CONSTRUCTIONS["fsk2010"])  # type: ignore[arg-type]
    Pool("prefix")  # type: ignore[arg-type]
