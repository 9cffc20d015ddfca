"""Fixtures of the edge tests."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import pytest

from fortuna import _boot
from fortuna._boot import Process
from fortuna.forks import ForkDetector
from fortuna.multiprocess import ENTRY, luggage
from fortuna.tunables_file import ENVIRONMENT_VARIABLE

from .edge_doubles import PROVIDERS, Bench
from .edge_paths import PATHS
from .random_doubles import KINDS

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path


#: How long a thread that was told to end may take.
END_SECONDS: Final = 10.0


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail a test that leaves a thread behind: another test's fork by C code might hang in the child for it."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(END_SECONDS)
        assert not thread.is_alive(), f"the test left {thread!r} running"


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> str:
    """Give each of the two paths of a request."""
    found: str = request.param
    return found


@pytest.fixture(params=PATHS)
def kind(request: pytest.FixtureRequest) -> type[random.Random]:
    """Give the class `fortuna.Random` with its primitives in Python, and with those in C."""
    return KINDS[request.param]


@pytest.fixture
def bench(path: str) -> Bench:
    """Give a seeded live generator on doubles, on each path."""
    return Bench(path).boot()


@pytest.fixture
def python_bench() -> Bench:
    """Give a seeded live generator on doubles whose implementation is the one in Python."""
    return Bench("python").boot()


@pytest.fixture
def provider(path: str) -> str:
    """Give the provider that a boot must ask for to get the path."""
    return PROVIDERS[path]


@pytest.fixture
def config(provider: str, tmp_path: Path) -> dict[str, str]:
    """Give the environment of a process whose boot takes the path, though it says nothing itself."""
    file = tmp_path / "path.toml"
    file.write_text(f"generator.provider = {provider!r}\n")
    file.chmod(0o600)
    return {ENVIRONMENT_VARIABLE: str(file)}


@pytest.fixture
def unbooted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    """Give a process in which nothing is booted, and take back what a boot tells multiprocessing.

    It stands in for the real one, which other tests may have booted: tunables that arrive reach this one alone.
    """
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    luggage().pop(ENTRY, None)
    process = Process(ForkDetector(use_hook=False))
    monkeypatch.setattr(_boot, "process", process)
    yield process
    luggage().pop(ENTRY, None)
