"""What the tests of the C extension share: cells, generators on both sides, doubles, and scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.generator import Generator
from fortuna.core.native_generator import NativeGenerator
from fortuna.errors import SourceError
from fortuna.forks import ForkDetector
from fortuna.generators import _native, available
from fortuna.generators.registry import resolve
from fortuna.native import NativeFortuna
from fortuna.parts import Parts
from fortuna.rng import Fortuna
from fortuna.sources.os import OperatingSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna.generators.choice import Choice
    from fortuna.typing import Cost

TESTS: Final = Path(__file__).resolve().parent.parent
ROOT: Final = TESTS.parent
Cell = tuple[str, str, str]
#: The first provider after ours: of the libraries, one is optional.
LIBRARY: Final = "openssl" if find_spec("cryptography") else "pycryptodome"
#: Generator, provider and kernel of everything that runs on this machine, and those of our own kernels.
CELLS: Final = tuple((row.generator, row.provider, row.kernel) for row in available() if row.is_available)
NATIVE: Final = tuple(cell for cell in CELLS if cell[1] == "native")
#: The best kernel of each generator that has one here.
BEST: Final = tuple(next(cell for cell in NATIVE if cell[0] == name) for name in dict.fromkeys(c[0] for c in NATIVE))
EDITIONS: Final = tuple(CONSTRUCTIONS)
#: A construction of each request rule.
RULES: Final = ("fsk2010", "fast-key-erasure")
COUNTER_END: Final = 1 << 128
REQUEST_MAX: Final = 1 << 20
KEY: Final = bytes(range(32))
INTERVAL_NS: Final = 100_000_000
#: How long a test waits for a process before it calls it hung.
HANG_SECONDS: Final = 120


def choice_of(cell: Cell) -> Choice:
    """Return the choice of one cell, after making sure that it is that one."""
    choice = resolve(*cell)
    assert cell == (choice.name, choice.provider, choice.kernel)
    return choice


def other_cell(cell: Cell) -> Cell:
    """Return the fastest cell that runs the same generator by other code: a library, else another kernel."""
    others = [c for c in CELLS if c[0] == cell[0] and c[2] != cell[2] and c[1] != "reference"]
    others.sort(key=lambda c: c[1] == "native")
    return others[0] if others else oracle_cell(cell)


def oracle_cell(cell: Cell) -> Cell:
    """Return the plain-Python cell of the same generator."""
    return (cell[0], "reference", "python")


def native_generator(
    cell: Cell, construction: str = "fsk2010", *, key: bytes = bytes(32), counter: int = 0
) -> NativeGenerator:
    """Return the generator in C on one kernel."""
    assert cell[1] == "native"
    return NativeGenerator(choice_of(cell), CONSTRUCTIONS[construction], key=key, counter=counter)


def python_generator(
    cell: Cell, construction: str = "fsk2010", *, key: bytes = bytes(32), counter: int = 0
) -> Generator:
    """Return the generator in Python on any cell."""
    return Generator(choice_of(cell), CONSTRUCTIONS[construction], key=key, counter=counter)


def key_of(generator: NativeGenerator) -> bytes:
    """Return K."""
    key = bytearray(32)
    generator._export(key)
    return bytes(key)


def assert_other_code(native: NativeGenerator, python: Generator) -> None:
    """Assert that a comparison compares two implementations on two kernels."""
    assert native._keystream.name == python._keystream.name
    assert native._keystream.kernel != python._keystream.kernel
    assert type(native).__module__ != type(python).__module__


def scripted(label: str, size: int) -> bytes:
    """Return *size* bytes that depend on *label* alone and are not zero."""
    blocks = (sha256(f"{label}:{number}".encode()).digest() for number in range(-(-size // 32)))
    return b"".join(blocks)[:size]


class ManualClock:
    """A clock that moves when it is told to, and may do something at each look."""

    def __init__(self, now: int = 5_000_000_000) -> None:
        self.now = now
        self.before_look: Callable[[], object] = lambda: None

    def monotonic_ns(self) -> int:
        """Return the time set, after doing what was asked for."""
        self.before_look()
        return self.now

    def sleep(self, seconds: float) -> None:
        """Pass the time at once."""
        self.now += round(seconds * 1e9)


class ScriptedSource:
    """A source that gives the same bytes in every run, does something first, and fails while it is told to."""

    def __init__(self, number: int = 7) -> None:
        self.name = f"scripted-{number}"
        self.number = number
        self.cost: Cost = "cheap"
        self.min_entropy = 8.0
        self.assumption = "a script"
        self.harvests = 0
        self.is_failing = False
        self.before_harvest: Callable[[], object] = lambda: None

    def harvest(self) -> bytes:
        """Return the next bytes of the script."""
        self.harvests += 1
        number = self.harvests
        self.before_harvest()
        if self.is_failing:
            raise SourceError(5, f"source {self.name}: told to fail")
        return scripted(f"{self.name}/{number}", 2048)


class ScriptedSystem:
    """The operating system's random bytes, scripted."""

    def __init__(self) -> None:
        self.reads = 0
        self.is_failing = False

    def getrandom(self, size: int, flags: int = 0) -> bytes:
        """Answer as ``os.getrandom`` would."""
        if self.is_failing:
            raise OSError(5, "told to fail")
        self.reads += 1
        return scripted(f"getrandom/{self.reads}", size)

    def urandom(self, size: int) -> bytes:
        """Answer as ``os.urandom`` would."""
        return self.getrandom(size)


class Stand:
    """A live generator on doubles, seeded, with every double at hand."""

    def __init__(
        self,
        cell: Cell,
        construction: str = "fsk2010",
        *,
        interval_ns: int = INTERVAL_NS,
        forks: ForkDetector | None = None,
        pretend_unseeded: bool = False,
        is_booted: bool = True,
    ) -> None:
        self.clock = ManualClock()
        self.os = ScriptedSystem()
        self.source = ScriptedSource()
        self.forks = forks or ForkDetector(use_hook=False)
        self.parts = Parts(
            make_keystream=choice_of(cell),
            construction=CONSTRUCTIONS[construction],
            system=OperatingSystem(self.os.getrandom, self.os.urandom),
            sources=[self.source],
            clock=self.clock,
            forks=self.forks,
            interval_ns=interval_ns,
            pretend_unseeded=pretend_unseeded,
        )
        self.fortuna = Fortuna(self.parts)
        assert isinstance(self.fortuna, NativeFortuna) == (cell[1] == "native")
        if is_booted:
            self.fortuna.wait_for_seed(0)

    def pass_interval(self) -> None:
        """Move the clock to the first nanosecond at which a pull is due."""
        self.clock.now += self.parts.interval_ns + 1


def kernels(cipher: str, features: int) -> dict[str, str]:
    """Return what the extension says of each kernel of *cipher* on a processor with *features*."""
    return dict(_native.kernels(cipher, features))


def run_script(
    text: str,
    *arguments: str,
    python: str = sys.executable,
    environment: dict[str, str] | None = None,
    timeout: float = HANG_SECONDS,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run *text* as a program of its own, with the fork helpers of the edge tests on its path."""
    inherited = {key: value for key, value in os.environ.items() if key != "FORTUNA_CONFIG"}
    return subprocess.run(
        [python, "-c", text, *arguments],
        env={**inherited, "PYTHONPATH": str(TESTS / "test_edges"), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=cwd,
    )


def lines_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a script printed, after making sure that it ended well and complained of nothing."""
    assert (0, "") == (done.returncode, done.stderr), done.stdout[-2000:] + done.stderr[-8000:]
    return done.stdout.splitlines()
