"""Requests that interrupt other requests on the same thread, at every place where CPython may run a signal handler."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fortuna.errors import ClosedError, FortunaError, NotSeededError, ParameterError, SourceError
from fortuna.forks import ForkDetector
from fortuna.life import STALE_PULL_NS
from fortuna.shared import SharedGenerator

from .child_support import Child, answer_of, key_of, key_reader, raw_fork
from .edge_doubles import KINDS, Bench, Interrupter, ScriptedSource, interruptions, run_script
from .edge_paths import RULES, needs_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna._boot import Process
    from fortuna.rng import Fortuna

#: One keystream call, and a request that is filled outside the lock, on the path in C without the GIL.
SIZES = pytest.mark.parametrize("size", [16, 20_000])
CONSTRUCTIONS = pytest.mark.parametrize("construction", RULES)
#: The path in C runs Python code, which is where handlers come in, only when something is due, such as a pull.
DUE = pytest.mark.parametrize(
    ("path", "is_due"),
    [("python", False), ("python", True), pytest.param("native", True, marks=needs_native)],
    ids=["python", "python-due", "native-due"],
)


class HandlerError(Exception):
    """What a signal handler raises, such as a time-out."""


def small(path: str, construction: str = "fsk2010") -> Bench:
    """Return a seeded generator whose pulls have few places to interrupt."""
    return Bench(path, construction=construction, sources=[ScriptedSource(size=64)], min_pool_size=16).boot()


def make_due(bench: Bench, is_due: bool) -> None:
    """Make a pull due, if asked to, even where one that a handler killed has left its lock behind."""
    bench.clock.now += (STALE_PULL_NS + 1) * is_due


def held_keys(live: Fortuna) -> list[bytes]:
    """Return each K that a live generator holds, seconds of interrupted requests included."""
    shared = live._life.generator
    return [bytes(core._key) for core in shared._cell] if isinstance(shared, SharedGenerator) else [key_of(live)]


@pytest.fixture(scope="module")
def armed() -> dict[str, ForkDetector]:
    """Give one real detector of each kind, made once because hooks stay registered."""
    return {
        "hook": ForkDetector(use_page=False, getpid=lambda: 1),
        "page": ForkDetector(use_hook=False),
        "process id": ForkDetector(use_hook=False, use_page=False),
    }


@CONSTRUCTIONS
@SIZES
def test_edge_reentry_draws_differ_at_every_place(size: int, path: str, construction: str) -> None:
    """A draw that interrupts a draw gets bytes of its own, wherever it comes in, also in the middle of a pull."""
    bench = small(path, construction)
    blocks: list[bytes] = []
    for interrupter in interruptions(lambda: blocks.append(bench.fortuna.random_bytes(size))):
        bench.pass_interval()
        with interrupter:
            got = bench.fortuna.random_bytes(size)
        blocks.append(got)
    starts = [block[:16] for block in blocks]
    assert 100 < len(starts)
    assert len(starts) == len(set(starts))
    assert not any(block.count(0) > size // 2 for block in blocks)


@CONSTRUCTIONS
@SIZES
@DUE
def test_edge_reentry_twice_nested(size: int, path: str, is_due: bool, construction: str) -> None:
    """An interruption of an interruption finds the cell empty too, and all three differ."""
    bench = small(path, construction)
    blocks: list[bytes] = []

    def draw() -> None:
        make_due(bench, is_due)
        with Interrupter(13, lambda: blocks.append(bench.fortuna.random_bytes(size))):
            got = bench.fortuna.random_bytes(size)
        blocks.append(got)

    for interrupter in interruptions(draw):
        make_due(bench, is_due)
        with interrupter:
            got = bench.fortuna.random_bytes(size)
        blocks.append(got)
    starts = [block[:16] for block in blocks]
    assert 90 < len(starts)
    assert len(starts) == len(set(starts))


@CONSTRUCTIONS
@SIZES
@DUE
@pytest.mark.parametrize("error", [HandlerError, KeyboardInterrupt, ParameterError, NotSeededError, ClosedError])
def test_edge_reentry_a_handler_that_raises_brings_no_state_back(
    size: int, error: type[BaseException], path: str, is_due: bool, construction: str
) -> None:
    """After an exception at any place the buffer is zeros, later draws work and none repeats, whatever was raised."""

    def interrupt() -> None:
        raise error("handler")

    bench = small(path, construction)
    blocks = []
    for interrupter in interruptions(interrupt):
        buffer = bytearray(b"\xaa" * size)
        make_due(bench, is_due)
        try:
            with interrupter:
                bench.fortuna.readinto(buffer)
        except error:
            # Interrupted before the first byte it is untouched, afterwards it is wiped: never part of an output.
            assert buffer in (bytes(size), b"\xaa" * size)
        else:
            blocks.append(bytes(buffer))
        blocks.append(bench.fortuna.random_bytes(size))
    starts = [block[:16] for block in blocks]
    assert 30 < len(starts)
    assert len(starts) == len(set(starts))
    assert bytes(16) not in starts
    assert b"\xaa" * 16 not in starts


@pytest.mark.parametrize("forks_of_parent", [0, 1])
def test_edge_reentry_pulls_go_on_after_a_handler_raised(forks_of_parent: int, path: str) -> None:
    """Wherever a handler kills a pull, pulls happen again, at the latest when its lock is stale."""

    def interrupt() -> None:
        raise HandlerError

    bench = small(path)
    for interrupter in interruptions(interrupt):
        bench.pass_interval()
        for _ in range(forks_of_parent):
            bench.forks._in_parent()
        try:
            with interrupter:
                bench.fortuna.random_bytes(16)
        except HandlerError:
            pass
        before = bench.source.harvests
        bench.clock.now += STALE_PULL_NS + 1
        bench.fortuna.random_bytes(16)
        assert before + 1 == bench.source.harvests


def test_edge_reentry_reseeds_interrupted_by_draws(path: str) -> None:
    """A draw inside a reseed gets bytes of its own at every place, and the reseed takes effect."""
    bench = small(path)
    blocks: list[bytes] = []
    for interrupter in interruptions(lambda: blocks.append(bench.fortuna.random_bytes(16))):
        before = bench.reseeds
        with interrupter:
            bench.fortuna.reseed()
        assert before + 1 == bench.reseeds
        blocks.append(bench.fortuna.random_bytes(16))
    assert 100 < len(blocks)
    assert len(blocks) == len(set(blocks))


def test_edge_reentry_draws_interrupted_by_reseeds_and_events(path: str) -> None:
    """A handler may reseed and add events in the middle of a draw."""
    bench = small(path)
    blocks = []

    def stir() -> None:
        bench.fortuna.add_event(200, b"handler")
        bench.fortuna.reseed()

    for interrupter in interruptions(stir):
        bench.pass_interval()
        with interrupter:
            got = bench.fortuna.random_bytes(16)
        blocks.append(got)
    assert 50 < len(blocks)
    assert len(blocks) == len(set(blocks))


@CONSTRUCTIONS
@SIZES
@DUE
def test_edge_reentry_close_at_every_place(size: int, path: str, is_due: bool, construction: str) -> None:
    """A close in the middle of a request leaves a wiped buffer or, at the very end, the whole output."""
    place = 0
    whole = 0
    has_fired = True
    while has_fired:
        bench = small(path, construction)
        buffer = bytearray(b"\xaa" * size)
        interrupter = Interrupter(place, bench.fortuna.close)
        make_due(bench, is_due)
        try:
            with interrupter:
                bench.fortuna.readinto(buffer)
        except ClosedError:
            assert buffer in (bytes(size), b"\xaa" * size)
        else:
            whole += 1
            assert bytes(16) != buffer[:16]
        has_fired = interrupter.has_fired
        if has_fired:
            assert not any(map(any, held_keys(bench.fortuna))), place
            with pytest.raises(ClosedError):
                bench.fortuna.random_bytes(1)
        place += 1
    assert 10 < place
    assert 1 <= whole < place // 2


@SIZES
@DUE
@pytest.mark.parametrize(
    ("kind", "fork"),
    # A fork by C code runs no hook, so that cell is missing.
    [
        ("hook", os.fork),
        pytest.param("page", os.fork, marks=pytest.mark.slow),
        ("page", raw_fork),
        pytest.param("process id", os.fork, marks=pytest.mark.slow),
        ("process id", raw_fork),
    ],
    ids=["hook-python", "page-python", "page-raw", "pid-python", "pid-raw"],
)
def test_edge_reentry_fork_at_every_place(
    size: int, kind: str, fork: Callable[[], int], armed: dict[str, ForkDetector], path: str, is_due: bool
) -> None:
    """A handler forks in the middle of a request: parent and child finish the call with different bytes.

    Only behind the last look at the epoch, when the output is made and on its way to the caller, both have it: that is
    a fork between two calls in all but name.
    """
    parent = os.getpid()
    pairs: list[tuple[bytes, bytes]] = []
    later: list[bytes] = []
    place = 0
    while True:
        ends: list[tuple[int, int]] = []

        def split(ends: list[tuple[int, int]] = ends) -> None:
            reader, writer = os.pipe()
            pid = fork()
            os.close(writer if pid else reader)
            ends.append((pid, reader if pid else writer))

        # Anew each time, because the number of places of a pull varies with the number of pools it uses.
        bench = Bench(path, sources=[ScriptedSource(size=64)], min_pool_size=16, forks=armed[kind]).boot()
        # The scripted system would answer alike in parent and child, which the real one never does.
        bench.system._getrandom = os.getrandom
        bench.fortuna.reseed()
        interrupter = Interrupter(place, split)
        make_due(bench, is_due)
        status = 1
        try:
            with interrupter:
                got = bench.fortuna.random_bytes(size)
            if os.getpid() != parent:
                os.write(ends[0][1], got[:16] + bench.fortuna.random_bytes(16))
                status = 0
        finally:
            if os.getpid() != parent:
                os._exit(status)
        if not interrupter.has_fired:
            break
        answer = answer_of(*ends[0])
        assert 32 == len(answer)
        pairs.append((got[:16], answer[:16]))
        later.append(answer[16:])
        place += 1
    differs = [mine != theirs for mine, theirs in pairs]
    before_the_last_look = differs.index(False) if False in differs else len(differs)
    assert 30 < before_the_last_look
    assert not any(differs[before_the_last_look:])
    assert len(differs) - 4 < before_the_last_look
    seen = [*later, *(block for pair in pairs for block in set(pair))]
    assert len(seen) == len(set(seen))


def test_edge_reentry_boot_at_every_place_of_the_boot(unbooted: Process, path: str, provider: str) -> None:
    """A handler that draws during the first boot, at any place of it, leaves one instance for everybody."""
    from fortuna._boot import Process
    from fortuna.multiprocess import ENTRY, luggage

    overrides = {"generator.provider": provider}
    of_the_path = ["fortuna/native.py"] if path == "native" else []
    for only in ("_boot.py", "multiprocess.py", "rng.py", *of_the_path):
        place = 0
        has_fired = True
        while has_fired:
            luggage().pop(ENTRY, None)
            process = Process(ForkDetector(use_hook=False))
            inner: list[Any] = []

            def draw(inner: list[Any] = inner, process: Process = process) -> None:
                inner.extend((process.boot(None, overrides), process.default().random_bytes(16)))

            interrupter = Interrupter(place, draw, only=only)
            with interrupter:
                instance = process.boot(None, overrides)
            has_fired = interrupter.has_fired
            assert KINDS[path] == type(instance).__name__
            assert instance is process.default()
            assert [instance] * has_fired == inner[:1]
            assert [instance.random_bytes(16)] != inner[1:]
            place += 1
        assert 1 < place, only


def test_edge_reentry_finalizer_draws(bench: Bench) -> None:
    """An object whose finalizer draws may die in the middle of a draw."""
    blocks: list[bytes] = []

    class Dying:
        """Draws when it dies, in a cycle so that the collector decides when."""

        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            blocks.append(bench.fortuna.random_bytes(16))

    thresholds = gc.get_threshold()
    gc.set_threshold(3)
    try:
        for _ in range(300):
            Dying()
            blocks.append(bench.fortuna.random_bytes(16))
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert 600 == len(blocks) == len(set(blocks))


def test_edge_reentry_second_generator_needs_the_system(python_bench: Bench) -> None:
    """A draw that finds the cell empty while the system fails gives no byte, and works once it answers again."""
    bench = python_bench
    shared = bench.fortuna._life.generator
    assert isinstance(shared, SharedGenerator)
    shared._cell.clear()
    bench.scripted.always = OSError(5, "told to fail")
    buffer = bytearray(b"\xaa" * 16)
    with pytest.raises((NotSeededError, SourceError)):
        bench.fortuna.readinto(buffer)
    assert bytes(16) == buffer
    bench.scripted.always = None
    assert bytes(16) != bench.fortuna.random_bytes(16)


def test_edge_reentry_interrupted_first_seed_is_not_taken_for_a_seed(path: str) -> None:
    """A handler that kills the first seeding at any place leaves a generator that is keyed by enough or refuses."""

    def interrupt() -> None:
        raise HandlerError

    place = 0
    has_fired = True
    while has_fired:
        bench = Bench(path, sources=[ScriptedSource(size=64)], min_pool_size=16)
        interrupter = Interrupter(place, interrupt)
        try:
            with interrupter:
                bench.boot()
        except HandlerError:
            pass
        has_fired = interrupter.has_fired
        reads = bench.scripted.reads
        bench.clock.now += STALE_PULL_NS + 1
        try:
            got = bench.fortuna.random_bytes(16)
        except FortunaError:
            got = b""
        if got:
            assert bench.source.harvests or reads < bench.scripted.reads
            assert bytes(16) != got
        place += 1
    assert 20 < place


@SIZES
def test_edge_reentry_first_draw_of_a_child_interrupted_by_draws(size: int, path: str) -> None:
    """A draw that interrupts the first one after a fork, at any place, shares its new life and no byte."""
    bench = small(path)
    blocks: list[bytes] = []
    place = 0
    has_fired = True
    while has_fired:
        old, of_the_parent = bench.fortuna._life, key_of(bench.fortuna)
        read_old = key_reader(bench.fortuna)
        bench.fork()
        interrupter = Interrupter(place, lambda: blocks.append(bench.fortuna.random_bytes(size)[:16]))
        with interrupter:
            got = bench.fortuna.random_bytes(size)[:16]
        blocks.append(got)
        has_fired = interrupter.has_fired
        assert old is not bench.fortuna._life
        assert of_the_parent not in held_keys(bench.fortuna)
        # In C the page is that of the new life by now.
        assert any(read_old()) == (path == "native")
        assert [bench.fortuna._life] == list(bench.fortuna._lives.values())
        place += 1
    assert 40 < place
    assert len(blocks) == len(set(blocks))


@SIZES
@pytest.mark.parametrize("error", [HandlerError, NotSeededError, SourceError])
def test_edge_reentry_first_draw_of_a_child_killed_by_a_handler(size: int, error: type[Exception], path: str) -> None:
    """A handler that raises in the first draw after a fork brings the parent's state back nowhere."""

    def interrupt() -> None:
        raise error("handler")

    bench = small(path)
    twin = small(path)
    blocks: list[bytes] = []
    for interrupter in interruptions(interrupt):
        bench.fork()
        try:
            with interrupter:
                got = bench.fortuna.random_bytes(size)[:16]
            blocks.append(got)
        except (HandlerError, NotSeededError, SourceError):
            pass
        blocks.append(bench.fortuna.random_bytes(size)[:16])
        blocks.append(twin.fortuna.random_bytes(size)[:16])
    assert 60 < len(blocks)
    assert len(blocks) == len(set(blocks))


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_edge_reentry_a_handler_that_raises_inside_the_library(cipher: str) -> None:
    """An exception at any place of the library's own code neither frees memory twice nor brings state back."""
    body = """
import gc, sys
from edge_doubles import PRODUCT_AND_LIBRARY, Bench, Interrupter, ScriptedSource

class HandlerError(Exception):
    pass

def interrupt():
    raise HandlerError

for size in (16, 8192):
    bench = Bench("python", cipher=sys.argv[1], sources=[ScriptedSource(size=64)], min_pool_size=16).boot()
    blocks, place, has_fired = [], 0, True
    while has_fired:
        interrupter = Interrupter(place, interrupt, inside=PRODUCT_AND_LIBRARY)
        try:
            with interrupter:
                got = bench.fortuna.random_bytes(size)[:16]
            blocks.append(got)
        except HandlerError:
            pass
        blocks.append(bench.fortuna.random_bytes(size)[:16])
        gc.collect()
        has_fired = interrupter.has_fired
        place += 1
    print(place > 60, len(blocks) - len(set(blocks)))
"""
    done = run_script(body, cipher)
    # A finalizer of the library that the exception strikes is reported by Python as ignored.
    assert (0, ["True 0", "True 0"]) == (done.returncode, done.stdout.splitlines()), done.stderr


def test_edge_reentry_leaves_no_profile_function() -> None:
    """The interrupter of these tests takes itself away."""
    with Interrupter(1 << 30, lambda: None):
        pass
    assert sys.getprofile() is None


def test_edge_reentry_child_support_reports_a_hook_less_fork(armed: dict[str, ForkDetector]) -> None:
    """A raw fork runs no hook, which is what the tests above rely on."""
    detector = armed["hook"]
    before = detector.epoch()
    assert b"same" == Child(lambda: b"same" if detector.epoch() == before else b"other", raw_fork).answer()
    assert b"other" == Child(lambda: b"same" if detector.epoch() == before else b"other").answer()
