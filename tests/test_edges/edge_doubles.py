"""Doubles for the edges: a clock set by hand, scripted sources, a system that can fail, and interruptions on demand.

Nothing here waits or asks the real machine, so every test that uses it gives the same bytes each time.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import Crypto

import fortuna
from fortuna.core.accumulator import Accumulator
from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.generator import Generator
from fortuna.errors import SourceError
from fortuna.forks import ForkDetector
from fortuna.generators.registry import resolve
from fortuna.parts import FIRST_SEED_BITS, Parts
from fortuna.rng import Fortuna
from fortuna.shared import SharedGenerator
from fortuna.sources.os import OperatingSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from typing_extensions import Self

    from fortuna.typing import Cost

HERE: Final = Path(__file__).resolve().parent
#: Both names of the product's code: the package, and the folder that its link `generators` leads to.
PRODUCT: Final = (
    str(Path(fortuna.__file__).parent) + os.sep,
    str((Path(fortuna.__file__).parent / "generators").resolve()) + os.sep,
)
#: The same with the library that runs the ciphers, which a signal handler may interrupt just as well.
PRODUCT_AND_LIBRARY: Final = (*PRODUCT, str(Path(Crypto.__file__).parent) + os.sep)
#: Path of the requests -> the provider that a boot must ask for, and the class that it then gets.
PROVIDERS: Final = {"python": "pycryptodome", "native": "native"}
KINDS: Final = {"python": "Fortuna", "native": "NativeFortuna"}
INTERVAL_NS: Final = 100_000_000
#: How long a test waits for a process before it calls it hung.
HANG_SECONDS: Final = 60


def stream(label: str, size: int) -> bytes:
    """Return *size* bytes that depend on *label* alone and are not zero."""
    blocks = (sha256(f"{label}:{number}".encode()).digest() for number in range(-(-size // 32)))
    return b"".join(blocks)[:size]


class ManualClock:
    """A clock that moves when it is told to, may do something at each look, and that sleeping moves too."""

    def __init__(self, now: int = 5_000_000_000) -> None:
        self.now = now
        self.slept: list[float] = []
        self.before_look: Callable[[], object] = lambda: None

    def monotonic_ns(self) -> int:
        """Return the time set."""
        self.before_look()
        return self.now

    def sleep(self, seconds: float) -> None:
        """Pass the time at once."""
        self.slept.append(seconds)
        self.now += round(seconds * 1e9)


class ScriptedSource:
    """A source that gives the same bytes in every run, remembers them, and fails while it is told to."""

    def __init__(self, name: str = "scripted", *, number: int = 7, min_entropy: float = 8.0, size: int = 2048) -> None:
        self.name = name
        self.number = number
        self.cost: Cost = "cheap"
        self.min_entropy = min_entropy
        self.assumption = "a script"
        self.size = size
        self.harvests = 0
        self.is_failing = False
        self.failure = errno.EIO
        self.before_harvest: Callable[[], None] = lambda: None

    def harvest(self) -> bytes:
        """Return the next bytes of the script."""
        self.before_harvest()
        self.harvests += 1
        if self.is_failing:
            raise SourceError(self.failure, f"source {self.name}: told to fail")
        return self.script(self.harvests)

    def script(self, harvest: int) -> bytes:
        """Return the bytes of harvest number *harvest*, counted from 1."""
        return stream(f"{self.name}/{harvest}", self.size)


class ScriptedSystem:
    """The two calls of the operating system, scripted; `errors` are raised one after another before it answers."""

    def __init__(self) -> None:
        self.reads = 0
        self.errors: list[OSError] = []
        self.always: OSError | None = None
        self.flags: list[int] = []
        self.urandom_reads = 0

    def getrandom(self, size: int, flags: int = 0) -> bytes:
        """Answer as ``os.getrandom`` would."""
        self.flags.append(flags)
        if self.always is not None:
            raise self.always
        if self.errors:
            raise self.errors.pop(0)
        self.reads += 1
        return stream(f"getrandom/{self.reads}", size)

    def urandom(self, size: int) -> bytes:
        """Answer as ``os.urandom`` would."""
        if self.always is not None:
            raise self.always
        self.urandom_reads += 1
        return stream(f"urandom/{self.urandom_reads}", size)


class Bench:
    """A live generator on doubles, with every double at hand, on the path ``python`` or ``native``."""

    def __init__(
        self,
        path: str,
        *,
        cipher: str = "aes256-icm",
        construction: str = "fsk2010",
        sources: list[ScriptedSource] | None = None,
        min_pool_size: int = 64,
        interval_ns: int = INTERVAL_NS,
        pretend_unseeded: bool = False,
        forks: ForkDetector | None = None,
        make_keystream: Any = None,
        health_tests: bool = False,
        **parts: Any,
    ) -> None:
        self.clock: Any = parts.pop("clock", None) or ManualClock()
        self.scripted = ScriptedSystem()
        self.system = OperatingSystem(self.scripted.getrandom, self.scripted.urandom)
        self.sources = [ScriptedSource()] if sources is None else sources
        self.pid = 1000
        self.forks = forks or ForkDetector(use_hook=False, use_page=False, getpid=lambda: self.pid)
        self.parts = Parts(
            make_keystream=make_keystream or resolve(cipher, PROVIDERS[path]),
            construction=CONSTRUCTIONS[construction],
            system=self.system,
            sources=self.sources,
            clock=self.clock,
            forks=self.forks,
            min_pool_size=min_pool_size,
            interval_ns=interval_ns,
            pretend_unseeded=pretend_unseeded,
            health_tests=health_tests,
            **parts,
        )
        self.fortuna = Fortuna(self.parts)
        assert KINDS[path] == type(self.fortuna).__name__

    def boot(self) -> Bench:
        """Seed from the sources, as a boot does."""
        self.fortuna.wait_for_seed(0)
        self.fortuna.open_to_readers()
        return self

    def fork(self) -> None:
        """Make the detector believe that this process is now a child, whose kernel has wiped each page of K."""
        self.pid += 1
        for live in self.forks.inheritors:
            if isinstance(live, Fortuna):
                wipe_page(live, self.forks)

    def pass_interval(self) -> None:
        """Move the clock to the first nanosecond at which a pull is due."""
        self.clock.now += self.parts.interval_ns + 1

    @property
    def source(self) -> ScriptedSource:
        """The first source."""
        return self.sources[0]

    @property
    def reseeds(self) -> int:
        """ReseedCnt."""
        return self.fortuna.stats().reseeds

    @property
    def core(self) -> Generator:
        """The (K, C) generator that the next request would use; there is none on the path in C."""
        shared = self.fortuna._life.generator
        assert isinstance(shared, SharedGenerator)
        return shared._cell[0]


def wipe_page(live: Fortuna, forks: ForkDetector) -> None:
    """Do to the page of a generator in C what the kernel does in a child: nothing is left, the life's number neither.

    The process is none, so the page is told for each life that it may be in. A generator in Python has no page.
    """
    for life in range(1, forks._epoch + 3):
        getattr(live, "_wipe", lambda life: None)(life)


class Model:
    """The same Fortuna from the pure core alone: what the live one must give for the same events and times."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.accumulator = Accumulator(
            Generator(resolve(bench.parts.make_keystream.name, PROVIDERS["python"]), bench.parts.construction),
            bench.parts.construction,
            min_pool_size=bench.parts.min_pool_size,
            interval_ns=bench.parts.interval_ns,
            first_seed_bits=FIRST_SEED_BITS,
        )
        self.pulls = 0

    def harvest(self) -> None:
        """Add the events of one harvest of every source."""
        self.pulls += 1
        for source in self._bench.sources:
            data = source.script(self.pulls)
            for start in range(0, len(data), 32):
                self.accumulator.add(source.number, data[start : start + 32], min_entropy=source.min_entropy)

    def pull(self) -> bool:
        """Harvest and reseed when due; tell whether it was."""
        self.harvest()
        return self.accumulator.reseed_if_due(self._bench.clock.now)

    def random_data(self, size: int) -> bytes:
        """Return the bytes of one read, without a pull."""
        out = bytearray(size)
        with memoryview(out) as view:
            for start in range(0, size, 1 << 20):
                self.accumulator.generator.readinto(view[start : start + (1 << 20)])
        return bytes(out)


class Interrupter:
    """Run *action* at the n-th place where CPython may run a signal handler inside the product's code.

    Those places are the start of a Python function and the return of a C function, which are just the profiler's
    events ``call`` and ``c_return``; an action that raises does so from there, as a handler's exception would.
    """

    def __init__(
        self, at: int, action: Callable[[], object], *, only: str = "", inside: tuple[str, ...] = PRODUCT
    ) -> None:
        self._left = at
        self._action = action
        self._only = only
        self._inside = inside
        self.has_fired = False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Count the places, as a profile function."""
        if event not in ("call", "c_return") or not frame.f_code.co_filename.startswith(self._inside):
            return
        if self._only and not frame.f_code.co_filename.endswith(self._only):
            return
        self._left -= 1
        if self._left < 0:
            sys.setprofile(None)
            self.has_fired = True
            self._action()

    def __enter__(self) -> Self:
        """Start counting."""
        sys.setprofile(self)
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop counting."""
        sys.setprofile(None)


def interruptions(action: Callable[[], object], *, only: str = "") -> Iterator[Interrupter]:
    """Yield an interrupter for each place in turn, until the code under test ends before the place is reached."""
    for at in range(20_000):
        interrupter = Interrupter(at, action, only=only)
        yield interrupter
        if not interrupter.has_fired:
            return


def run_script(
    text: str,
    *arguments: str,
    environment: dict[str, str] | None = None,
    options: tuple[str, ...] = (),
    timeout: float = HANG_SECONDS,
    path: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run *text* as a program of its own, as a file where *path* is given, with `child_support` at hand."""
    inherited = {key: value for key, value in os.environ.items() if key != "FORTUNA_CONFIG"}
    if path is not None:
        path.write_text(text)
    return subprocess.run(
        [sys.executable, *options, *(("-c", text) if path is None else (str(path),)), *arguments],
        env={**inherited, "PYTHONPATH": str(HERE), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def lines_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a script printed, after making sure that it ended well and complained of nothing."""
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()
