"""Threads and signal handlers that draw from one generator: no hang, no repeat, whoever closes it and when."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import pytest

from fortuna.errors import ClosedError
from fortuna.generators.providers.reference_aes import ReferenceAES256ICM
from fortuna.shared import SharedGenerator

from .edge_doubles import HANG_SECONDS, KINDS, Bench, lines_of, run_script
from .edge_paths import needs_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna.typing import Buffer, WritableBuffer

MIB: Final = 1 << 20

#: Draw for argv[1] seconds while a handler draws each millisecond; count the blocks that came twice.
HANDLER_DRAWS: Final = """
import signal, sys, time, fortuna
live = fortuna.boot(
    overrides={"generator.cipher": sys.argv[2], "generator.provider": sys.argv[3], "reseed.interval": 0.001}
)
assert sys.argv[4] == type(live).__name__
blocks = []

def handler(number, frame):
    blocks.append(fortuna.random_bytes(16))
    blocks.append(fortuna.random_bytes(32)[:16])

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
end = time.monotonic() + float(sys.argv[1])
seen, count, unique = set(), 0, 0
while time.monotonic() < end:
    for _ in range(100):
        blocks.append(fortuna.random_bytes(16))
    blocks.append(fortuna.random_bytes(20_000)[:16])
    fresh, blocks[:] = blocks[:], []
    count += len(fresh)
    seen.update(fresh)
    if len(seen) > 2_000_000:
        unique += len(seen)
        seen.clear()  # so as not to fill the memory: a repeat would come soon
signal.setitimer(signal.ITIMER_REAL, 0)
seen.update(blocks)
count += len(blocks)
print(count > 1000, count - unique - len(seen), live.stats().reseeds > 10)
"""


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_edge_threads_handler_draws_for_two_seconds(cipher: str, path: str, provider: str) -> None:
    """A handler draws each millisecond while the main thread draws: no hang, no repeat."""
    seconds = "2" if cipher == "aes256-icm" else "1"
    done = run_script(HANDLER_DRAWS, seconds, cipher, provider, KINDS[path])
    assert ["True 0 True"] == lines_of(done)


@pytest.mark.slow
def test_edge_threads_handler_draws_for_twenty_seconds(path: str, provider: str) -> None:
    """The same for twenty seconds."""
    done = run_script(HANDLER_DRAWS, "20", "aes256-icm", provider, KINDS[path], timeout=120)
    assert ["True 0 True"] == lines_of(done)


#: Draw for a second while a handler raises from anywhere in the product.
HANDLER_RAISES: Final = """
import signal, sys, time, fortuna, fortuna.life
fortuna.life.STALE_PULL_NS = 50_000_000  # a pull that a handler killed is found out after 50 ms here
live = fortuna.boot(
    overrides={"reseed.interval": 0.001, "generator.cipher": sys.argv[1], "generator.provider": sys.argv[2]}
)
assert sys.argv[3] == type(live).__name__
blocks = []

class Stop(Exception):
    pass

def handler(number, frame):
    raise Stop

signal.signal(signal.SIGALRM, handler)
end = time.monotonic() + 1.0
stops = 0
# The path in C serves signals in a pull and between the MiBs of a large read; small ones alone would fill the memory.
sizes = (64, 20_000, (2 << 20) + 64) if sys.argv[2] == "native" else (64,)
buffers = [bytearray(size) for size in sizes]
while time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
        for _ in range(1000):  # no longer, as a finalizer may swallow what the handler raises
            for buffer in buffers:
                live.readinto(buffer)
                copy = bytes(buffer[-64:])
                blocks.append(copy)
    except Stop:
        stops += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        blocks.append(live.random_bytes(64))
signal.setitimer(signal.ITIMER_REAL, 0)
before = live.stats().reseeds
time_out = time.monotonic() + 30
while live.stats().reseeds == before and time.monotonic() < time_out:
    live.random_bytes(1)
print(stops > 10, len(blocks) - len(set(blocks)), bytes(64) in blocks, live.stats().reseeds > before)
"""


@pytest.mark.parametrize("provider", ["reference", "pycryptodome", pytest.param("native", marks=needs_native)])
@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_edge_threads_handler_raises_for_a_second(cipher: str, provider: str) -> None:
    """A handler raises again and again, from anywhere in the product or its libraries, where an object may have two
    owners for an instant: what follows neither crashes, repeats nor hangs.
    """
    done = run_script(HANDLER_RAISES, cipher, provider, "NativeFortuna" if provider == "native" else "Fortuna")
    # A finalizer of the library that the handler's exception strikes is reported by Python as ignored.
    assert (0, ["True 0 False True"]) == (done.returncode, done.stdout.splitlines()), done.stderr


def test_edge_threads_many_boot_at_once(path: str, provider: str, config: dict[str, str]) -> None:
    """Threads and a signal handler that all make the first call get one instance."""
    body = """
import signal, sys, threading, fortuna
import fortuna._boot  # what a handler may not interrupt is tested on its own, below
from fortuna.generators.registry import resolve
import fortuna.multiprocess, fortuna.sources.cpu
import tomli
from importlib import import_module
resolve("aes256-icm", sys.argv[1])
if sys.argv[1] == "native":
    import_module("fortuna.native")
sys.setswitchinterval(1e-5)
seen = []

def handler(number, frame):
    seen.append(fortuna.default())

signal.signal(signal.SIGALRM, handler)
barrier = threading.Barrier(8)

def first_call():
    barrier.wait()
    seen.append(fortuna.default())

threads = [threading.Thread(target=first_call) for _ in range(8)]
# A handler boots as well while there is no generator yet, so a boot must fit between two signals on any machine.
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.05)
for thread in threads:
    thread.start()
seen.append(fortuna.default())
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(seen) >= 9, len(set(map(id, seen))), type(seen[0]).__name__)
"""
    assert [f"True 1 {KINDS[path]}"] == lines_of(run_script(body, provider, environment=config))


#: Draw in a handler at the start of the module whose file ends with argv[1], while the first call imports it.
DRAWS_IN_AN_IMPORT: Final = """
import signal, sys, fortuna
seen = []

def handler(number, frame):
    seen.append((fortuna.default(), fortuna.random_bytes(16)))

def at_the_start_of_a_module(event, arguments):
    if event == "exec" and arguments[0].co_filename.endswith(sys.argv[1]):
        signal.raise_signal(signal.SIGALRM)

signal.signal(signal.SIGALRM, handler)
sys.modules.pop("datetime", None)  # whoever has imported it before
sys.addaudithook(at_the_start_of_a_module)
live = fortuna.default()
assert sys.argv[2] == type(live).__name__
print(len(seen), seen[0][0] is live, seen[0][1] != fortuna.random_bytes(16))
"""


#: What the first call executes, of ours, of the standard library and of the library that runs the ciphers.
EVERY_FIRST_CALL: Final = ("_boot.py", "rng.py", "life.py", "tunables.py", "multiprocess.py", "shared.py")
FILES: Final = {
    "python": (
        *(f"fortuna/{name}" for name in EVERY_FIRST_CALL),
        "generators/providers/pycryptodome.py",
        "Crypto/Cipher/AES.py",
        "Crypto/Util/_raw_api.py",
    ),
    "native": (
        *(f"fortuna/{name}" for name in EVERY_FIRST_CALL),
        "fortuna/native.py",
        "fortuna/core/native_generator.py",
        "generators/providers/native.py",
    ),
}


@pytest.mark.parametrize(
    ("path", "file"),
    [
        *(("python", file) for file in FILES["python"]),
        *(pytest.param("native", file, marks=needs_native) for file in FILES["native"]),
    ],
)
def test_edge_threads_handler_draws_during_the_imports_of_the_first_call(
    file: str, path: str, config: dict[str, str]
) -> None:
    """A signal that arrives while the first call is importing what it needs, and whose handler draws, neither fails
    nor boots a second time.
    """
    assert ["1 True True"] == lines_of(run_script(DRAWS_IN_AN_IMPORT, file, KINDS[path], environment=config))


def test_edge_threads_handler_draws_during_the_import_of_the_parser(path: str, config: dict[str, str]) -> None:
    """The same while the first call imports what parses the file of the tunables, which imports ``datetime``."""
    assert ["1 True True"] == lines_of(run_script(DRAWS_IN_AN_IMPORT, "/datetime.py", KINDS[path], environment=config))


#: What is not loaded by a boot, and so imported by whoever uses it first.
FIRST_USES: Final = {
    "stats": "fortuna.stats()",
    "secrets": "fortuna.secrets.token_hex(8)",
    "random": "fortuna.Random().random()",
    "uuid4": "fortuna.uuid4()",
}


@pytest.mark.parametrize("use", FIRST_USES.values(), ids=FIRST_USES)
def test_edge_threads_first_use_during_another(use: str, config: dict[str, str]) -> None:
    """While a thread uses a name for the first time, with all it imports, forked children and a handler use it too."""
    script = f"""
import os, signal, sys, threading, time
import fortuna
from child_support import Child

fortuna.random_bytes(1)
failures = []

def use():
    try:
        {use}
    except BaseException as error:
        failures.append(error)

def child():
    use()
    return repr(failures).encode()

signal.signal(signal.SIGALRM, lambda *_: use())
threads = [threading.Thread(target=use) for _ in range(2)]
for thread in threads:
    thread.start()
signal.setitimer(signal.ITIMER_REAL, 0.0005)
children = []
for _ in range(5):
    children.append(Child(child))
    time.sleep(0.001)
use()
for thread in threads:
    thread.join()
print(failures, {{child.answer() for child in children}})
"""
    assert ["[] {b'[]'}"] == lines_of(
        run_script(script, environment=config, options=("-W", "ignore::DeprecationWarning"))
    )


def run_threads(*works: Callable[[], None]) -> None:
    """Run each of *works* in a thread of its own and wait for all."""
    failures: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed on below
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_edge_threads_large_reads_side_by_side(bench: Bench) -> None:
    """Two threads fill large buffers: all their 16-byte blocks differ, and so do those of a third that draws little."""
    large: list[bytes] = []
    little: list[bytes] = []
    run_threads(
        lambda: large.append(bench.fortuna.random_bytes(2 * MIB + 5)),
        lambda: large.append(bench.fortuna.random_bytes(2 * MIB + 5)),
        lambda: little.extend(bench.fortuna.random_bytes(16) for _ in range(500)),
    )
    blocks = [read[start : start + 16] for read in large for start in range(0, 2 * MIB, 16)] + little
    assert 2 * 131072 + 500 == len(blocks) == len(set(blocks))


class Meeting(ReferenceAES256ICM):
    """A keystream generator whose calls for much output wait until a second one runs too."""

    __slots__ = ()
    barrier = threading.Barrier(2)

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        if len(out) > 4096:
            self.barrier.wait(HANG_SECONDS)
        super()._fill(counter, out)


def test_edge_threads_large_requests_do_not_wait_for_each_other() -> None:
    """Two requests over 4096 bytes are filled at the same time: each one's fill meets the other's."""
    bench = Bench("python", make_keystream=Meeting).boot()
    reads: list[bytes] = []
    run_threads(*[lambda: reads.append(bench.fortuna.random_bytes(4097))] * 2)
    assert 2 == len({read[:16] for read in reads})


class Stopping(ReferenceAES256ICM):
    """A keystream generator that stops inside the next call for much output until it is let go."""

    __slots__ = ()
    inside = threading.Event()
    go_on = threading.Event()
    is_armed = False

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        if len(out) > 4096 and Stopping.is_armed:
            Stopping.is_armed = False
            self.inside.set()
            assert self.go_on.wait(HANG_SECONDS)
        super()._fill(counter, out)


def test_edge_threads_close_while_another_thread_draws() -> None:
    """A close in the middle of a request wipes K, and the request gives nothing: its buffer is zeros."""
    bench = Bench("python", make_keystream=Stopping).boot()
    buffer = bytearray(b"\xaa" * 8192)
    caught: list[ClosedError] = []

    def draw() -> None:
        with pytest.raises(ClosedError) as caught_here:
            bench.fortuna.readinto(buffer)
        caught.append(caught_here.value)

    def close() -> None:
        assert Stopping.inside.wait(HANG_SECONDS)
        bench.fortuna.close()
        shared = bench.fortuna._life.generator
        assert isinstance(shared, SharedGenerator)
        assert not any(any(core._key) for core in shared._cell)
        Stopping.go_on.set()

    Stopping.is_armed = True
    run_threads(draw, close)
    assert 1 == len(caught)
    assert bytes(8192) == buffer


def test_edge_threads_request_that_loses_the_pull_goes_on(bench: Bench) -> None:
    """While one request pulls, others are served from the current K, without waiting and without a second pull."""
    inside, go_on = threading.Event(), threading.Event()
    reads: list[Any] = []

    def wait_in_harvest() -> None:
        inside.set()
        assert go_on.wait(HANG_SECONDS)

    def lose() -> None:
        assert inside.wait(HANG_SECONDS)
        bench.source.before_harvest = lambda: pytest.fail("a second pull")
        # The clock passes the interval again: even so there is one pull at a time.
        bench.pass_interval()
        reads.append(bench.fortuna.random_bytes(16))
        reads.append(bench.reseeds)
        go_on.set()

    bench.source.before_harvest = wait_in_harvest
    bench.pass_interval()
    run_threads(lambda: reads.append(bench.fortuna.random_bytes(16)), lose)
    assert 1 == reads[1]
    assert 2 == bench.reseeds
    assert reads[0] != reads[2]


def test_edge_threads_stale_pull_lock_is_not_broken_early(bench: Bench) -> None:
    """A pull that takes long is left alone up to the time that proves it dead; after it, pulls happen again."""
    from fortuna.life import STALE_PULL_NS

    life = bench.fortuna._life
    lock = life._pull_lock
    assert lock.acquire(blocking=False)
    bench.clock.now = life._last_pull_ns + STALE_PULL_NS
    bench.fortuna.random_bytes(1)
    assert (lock, 1) == (life._pull_lock, bench.source.harvests)
    bench.clock.now += 1
    bench.fortuna.random_bytes(1)
    assert lock is not life._pull_lock
    assert 2 == bench.source.harvests


def test_edge_threads_noticing_a_broken_wait_is_part_of_the_test() -> None:
    """The helper reports what a thread raised."""
    with pytest.raises(ZeroDivisionError):
        run_threads(lambda: print(1 // 0))


def test_edge_threads_events_and_draws_together(bench: Bench) -> None:
    """Threads that add events, reseed, read statistics and draw do not lose a request or a reseed."""

    def stir() -> None:
        for number in range(200):
            bench.fortuna.add_event(128 + number % 128, bytes((number,)))
            bench.fortuna.reseed()
            repr(bench.fortuna)
            bench.fortuna.stats()

    reads: list[Buffer] = []
    run_threads(stir, stir, lambda: reads.extend(bench.fortuna.random_bytes(16) for _ in range(400)))
    assert 400 == len(reads) == len(set(reads))
    assert 401 == bench.reseeds
