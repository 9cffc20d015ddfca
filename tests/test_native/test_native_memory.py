"""Memory: old keys are nowhere in the process, the page is kept out of swap and dumps, and nothing leaks."""

from __future__ import annotations

import array
import fcntl
import gc
import os
import re
import subprocess
import sys
import termios
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

import pytest

from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.native_generator import NativeGenerator
from fortuna.errors import NotSeededError
from fortuna.generators import _native

from .native_support import (
    BEST,
    KEY,
    NATIVE,
    RULES,
    TESTS,
    Cell,
    Stand,
    choice_of,
    lines_of,
    native_generator,
    other_cell,
    python_generator,
    run_script,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

REFUSALS: Final = (TypeError, ValueError, OverflowError, MemoryError, BufferError, ImportError, AttributeError)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: Takes keys through a pipe into one buffer, which it overwrites, so that no copy of them is its own doing.
SUBJECT: Final = """
import os, sys
from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.native_generator import NativeGenerator
from fortuna.generators import _native
from fortuna.generators.registry import resolve

cipher, kernel, construction = sys.argv[1:]
generator = NativeGenerator(resolve(cipher, "native", kernel), CONSTRUCTIONS[construction])
keystream = _native.Keystream(cipher, kernel)
keystream.set_key(bytes(32))
buffer, counter, out = bytearray(32), (5).to_bytes(16, "little"), bytearray(3 << 20)
while True:
    words = os.read(0, 100).decode().split()
    if words[0] == "load":
        assert os.readv(0, [buffer]) == 32
        generator._load(buffer, counter)
        buffer[:] = bytes(32)
    elif words[0] == "key":
        assert os.readv(0, [buffer]) == 32
        keystream.set_key(buffer)
        buffer[:] = bytes(32)
    elif words[0] == "request":
        with memoryview(out) as view, view[: int(words[1])] as part:
            generator.readinto(part)
        out[:] = bytes(len(out))
    elif words[0] == "fill":
        with memoryview(out) as view, view[: int(words[1])] as part:
            keystream.fill(counter, part)
        out[:] = bytes(len(out))
    elif words[0] == "wipe":
        generator.wipe()
    elif words[0] == "forget":
        keystream.wipe()
    elif words[0] == "drop":
        del generator, keystream
    os.write(1, b"done")
"""


class Subject:
    """A process whose memory is searched from outside, since a search from within holds what it looks for."""

    def __init__(self, cell: Cell, construction: str) -> None:
        # Bound early, since the loader saves registers on the stack when it binds a function at its first call: taking
        # a key from a test's buffer is not the product's doing, and Python itself is linked to bind late.
        environment = {**os.environ, "PYTHONPATH": str(TESTS / "test_edges"), "LD_BIND_NOW": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SUBJECT, cell[0], cell[2], construction],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            bufsize=0,
        )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)

    def tell(self, command: str, payload: bytes = b"") -> None:
        """Have the process do something and wait until it has."""
        self._input.write(command.encode())
        if payload:
            # After the process has read the command alone: pipes keep no borders.
            self._wait_until_drained()
            self._input.write(payload)
        assert b"done" == self._output.read(4)

    def _wait_until_drained(self) -> None:
        left = array.array("i", [1])
        while left[0]:
            fcntl.ioctl(self._input.fileno(), termios.FIONREAD, left)

    def places(self, secret: bytes) -> list[str]:
        """Return the mappings in which a half of *secret* stands, once for each half: kernels move 16 bytes."""
        found = []
        with Path(f"/proc/{self._process.pid}/mem").open("rb", buffering=0) as memory:
            for line in Path(f"/proc/{self._process.pid}/maps").read_text().splitlines():
                span, rights, _ = line.split(maxsplit=2)
                if "r" not in rights or line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                    continue
                start, stop = (int(edge, 16) for edge in span.split("-"))
                memory.seek(start)
                with suppress(OSError):  # pages that only the kernel reads
                    contents = memory.read(stop - start)
                    found += [line for half in (secret[:16], secret[16:]) if half in contents]
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()


@pytest.fixture
def construction() -> str:
    """Give the book's construction, where a test does not name others."""
    return "fsk2010"


@pytest.fixture
def subject(cell: Cell, construction: str) -> Subject:
    """Give a process with a generator on each kernel, or skip where its memory may not be read."""
    with Subject(cell, construction) as probe:
        try:
            probe.places(b"\x7fELF")
        except PermissionError:
            pytest.skip("this system lets no parent read its child's memory")
    return Subject(cell, construction)


@linux_only
@pytest.mark.parametrize("construction", RULES)
def test_old_key_is_nowhere(cell: Cell, subject: Subject) -> None:
    """After each request, of every size, neither the key it was made from nor half of it is found in the process."""
    with subject:
        for size in (1, 32, 33, 64, 65, 96, 97, 500, 1024, 2000, 2017, 16383, 16384):
            secret = os.urandom(32)
            subject.tell("load", secret)
            assert 2 == len(subject.places(secret)), "the search finds a live key, once"
            subject.tell(f"request {size}")
            assert [] == subject.places(secret), f"after {size} bytes"


@linux_only
@pytest.mark.parametrize("construction", RULES)
def test_next_key_is_on_the_page_alone(cell: Cell, subject: Subject, construction: str) -> None:
    """The key that a request leaves stands on the page and nowhere else, and after the next request nowhere."""
    with subject:
        for size in (1, 32, 64, 300, 2000, 20_000):
            start = os.urandom(32)
            twin = python_generator(other_cell(cell), construction, key=start, counter=5)
            assert cell[2] != twin._keystream.kernel
            twin.random_bytes(size)
            after = bytes(twin._key)
            subject.tell("load", start)
            subject.tell(f"request {size}")
            assert 2 == len(subject.places(after))
            subject.tell("request 32")
            assert [] == subject.places(after)


@linux_only
@pytest.mark.parametrize("command", ["wipe", "drop"])
def test_wiped_key_is_nowhere(cell: Cell, subject: Subject, command: str) -> None:
    """After wipe(), and after the generator is collected, its key is found nowhere."""
    secret = os.urandom(32)
    with subject:
        subject.tell("load", secret)
        subject.tell(command)
        assert [] == subject.places(secret)


@linux_only
def test_keystream_forgets_its_key(cell: Cell, subject: Subject) -> None:
    """Of a plain keystream's key nothing is left after wipe(), after a new key and after its end."""
    with subject:
        for command in ("forget", "key", "drop"):
            secret = os.urandom(32)
            subject.tell("key", secret)
            for size in (1, 16, 100, 3000, 100_000):
                subject.tell(f"fill {size}")
            subject.tell(command, os.urandom(32) if command == "key" else b"")
            assert [] == subject.places(secret), command


@linux_only
def test_page_is_locked_undumpable_and_wiped_on_fork() -> None:
    """What the statistics say of the page is what the kernel says: locked, not dumped, wiped on fork."""
    body = """
import re
from fortuna.generators import _native
generator = _native.Generator("chacha20", "portable")
generator._load(bytes(range(1, 33)), bytes(16))
def flags():
    found = []
    with open("/proc/self/smaps") as smaps, open("/proc/self/mem", "rb", buffering=0) as memory:
        span = None
        for line in smaps:
            if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p", line):
                span = [int(edge, 16) for edge in match.groups()]
            elif re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                span = None
            elif line.startswith("VmFlags:") and span:
                memory.seek(span[0])
                if bytes(range(1, 33)) in memory.read(4096)[:64]:
                    found.append(line.split()[1:])
    return found
(mine,) = flags()
wipes, locked, undumpable = generator._report()[3:]
print(("wf" in mine) == wipes, ("lo" in mine) == locked, ("dd" in mine) == undumpable)
print(wipes, undumpable)
"""
    assert ["True True True", "True True"] == lines_of(run_script(body))


@linux_only
def test_limit_on_locked_memory() -> None:
    """Where nothing may be locked, the generator works all the same and the statistics say that it is not locked."""
    body = """
import os, resource
import fortuna
from fortuna import rng, _boot, native, _stats, _source_report, shared
import fortuna.core.native_generator, fortuna.multiprocess, fortuna.tunables_file, fortuna.generators.providers.native
import fortuna.sources.cpu
resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
live = fortuna.boot(overrides={"generator.provider": "native"})
print(live.stats().is_memory_locked, live.stats().is_memory_undumpable, len(live.random_bytes(40)))
"""
    done = run_script(body)
    if "Permission denied" in done.stderr:
        pytest.skip("the checkout cannot be read by another user")
    assert "False True 40" == done.stdout.strip(), done.stderr


def resident_kib() -> int:
    """Return the resident set in KiB."""
    return int(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line))


def mapping_count() -> int:
    """Return the number of mappings."""
    return len(Path("/proc/self/maps").read_text().splitlines())


@linux_only
@pytest.mark.parametrize("cycles", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cell", [NATIVE[0], BEST[-1]], ids="-".join)
def test_nothing_leaks(cell: Cell, cycles: int) -> None:
    """Memory and number of mappings are flat over many cycles of create, use, wipe and drop, refusals included."""
    choice = choice_of(cell)
    construction = CONSTRUCTIONS["fsk2010"]
    large = bytearray(16384)

    def cycle(number: int) -> None:
        generator = NativeGenerator(choice, construction)
        with suppress(NotSeededError):
            generator.random_bytes(1)
        generator.reseed(b"seed")
        generator.random_bytes(32)
        if number % 10 == 0:
            generator.readinto(large)
            for bad in (-1, 1 << 30, "x"):
                with suppress(ValueError, TypeError):
                    generator.random_bytes(bad)  # type: ignore[arg-type]
            stream = _native.Keystream(cell[0], cell[2])
            stream.set_key(KEY)
            stream.fill(bytes(16), large)
            stream.wipe()
            _native.kernels(cell[0], 0)
            _native.self_test(cell[0], cell[2])
        if number % 2:
            generator.wipe()

    for number in range(3000):
        cycle(number)
    gc.collect()
    before, mappings = resident_kib(), mapping_count()
    for number in range(cycles):
        cycle(number)
    gc.collect()
    assert resident_kib() - before < 1500
    assert mapping_count() - mappings <= 3


@linux_only
def test_live_generators_do_not_leak(best: Cell) -> None:
    """Live generators, their children and their lives come and go without a trace."""

    def cycle() -> None:
        stand = Stand(best)
        stand.fortuna.random_bytes(10)
        child = stand.fortuna.child()
        child.random_bytes(10)
        stand.pass_interval()
        stand.fortuna.random_bytes(20_000)
        stand.fortuna.reseed()
        stand.fortuna.close()

    for _ in range(30):
        cycle()
    gc.collect()
    mappings = mapping_count()
    tracemalloc.start()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        cycle()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert mapping_count() - mappings <= 3
    assert grown < 60_000


def test_reference_counts(best: Cell) -> None:
    """Calls leave the reference counts of their arguments, of shared objects and of the types as they were."""
    generator = native_generator(best, key=KEY, counter=1)
    stream = _native.Keystream(best[0], best[2])
    stream.set_key(KEY)
    buffer, number, text, counter = bytearray(100), 10**30 % 97 + 300, "chacha20 " * 3, bytes(16)
    clock = [0].__len__
    one = bytes(15) + b"\x01"
    watched: tuple[object, ...] = (
        buffer, number, text, counter, clock, None, True, False, KEY, generator, stream, best[0], best[2],
        _native, _native.Generator, _native.Keystream, _native.FirstCall, ValueError, TypeError, OverflowError,
    )  # fmt: skip

    def calls() -> None:
        generator._load(KEY, one)
        generator.random_bytes(number)
        generator.readinto(buffer)
        generator._export(bytearray(32))
        generator._report()
        generator._begin_life(1)
        generator._install(1, 10**6, KEY)
        generator._arm(1, 5, 0, 0)
        generator._disarm()
        generator._wipe(77)
        stream.fill(counter, buffer)
        stream.set_key(KEY)
        _native.Generator(best[0], best[2], clock)
        _native.FirstCall(calls, clock)
        _native.kernels(best[0], 0)
        for refused in refusals:
            with pytest.raises(REFUSALS):
                refused()

    refusals: list[Callable[[], object]] = [
        lambda: generator.random_bytes(text),  # type: ignore[arg-type]
        lambda: generator.random_bytes(-number),
        lambda: generator.random_bytes(1 << 90),
        lambda: generator.readinto(KEY),  # type: ignore[arg-type]
        lambda: generator._export(buffer),
        lambda: generator._install(1, 1, buffer),
        lambda: generator._load(buffer, counter),
        lambda: generator._load(KEY, KEY),
        lambda: stream.set_key(buffer),
        lambda: stream.fill(KEY, buffer),
        lambda: stream.fill(counter, KEY),  # type: ignore[arg-type]
        lambda: stream.fill(counter),  # type: ignore[call-arg]
        lambda: _native.Generator(text, text),
        lambda: _native.Keystream(best[0], text),
        lambda: _native.FirstCall(number, clock),  # type: ignore[arg-type]
        lambda: _native.kernels(best[0], -1) and generator.random_bytes(-1),
        lambda: _native.self_test(text, text),
    ]
    calls()
    gc.collect()
    before = [sys.getrefcount(value) for value in watched]
    for _ in range(200):
        calls()
    gc.collect()
    after = [sys.getrefcount(value) for value in watched]
    assert [] == [
        (str(value)[:40], new - old) for value, old, new in zip(watched, before, after, strict=True) if new - old > 100
    ]


def test_no_text_shows_k(best: Cell) -> None:
    """No text of the generator, of the live one, of its parts or statistics holds K in any spelling."""
    secret = bytes((7 * i + 129) % 256 for i in range(32))
    generator = native_generator(best, key=secret, counter=1)
    stand = Stand(best)
    stand.fortuna._load(secret, bytes(15) + b"\x01")  # type: ignore[attr-defined]
    objects = [
        generator, generator._keystream, generator._report(), stand.fortuna, stand.fortuna._life,
        stand.fortuna._life.generator, stand.fortuna.stats(), _native.Keystream(best[0], best[2]), vars(stand.fortuna),
    ]  # fmt: skip
    for value in objects:
        for text in (repr(value), str(value)):
            for spelling in (secret.hex(), repr(secret)[2:-1], str(list(secret))[1:-1]):
                assert spelling not in text
            assert not re.search(secret[:8].hex(), text)
