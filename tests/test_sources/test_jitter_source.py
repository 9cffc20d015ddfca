"""The source ``jitter``: raw samples, clocks that are too coarse, and the system's library by its C interface."""

from __future__ import annotations

import ctypes
import errno
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fortuna._boot import SystemClock
from fortuna.errors import SourceError
from fortuna.sources.jitter import LIBRARIES, SAMPLES, LibraryJitter, LoopJitter, jitter_source, load_library

from .source_doubles import SteppingClock

if TYPE_CHECKING:
    from pathlib import Path

#: The library's interface, as its header declares it, with faults by a variable that a test can set.
LIBRARY = """
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
int refusal, is_out_of_memory, is_short, live, inits;
struct rand_data { unsigned char next; };
int jent_entropy_init(void) { inits++; return refusal; }
struct rand_data *jent_entropy_collector_alloc(unsigned int osr, unsigned int flags)
{
    if (is_out_of_memory || osr != 0 || flags != 0)
        return NULL;
    live++;
    return calloc(1, sizeof(struct rand_data));
}
ssize_t jent_read_entropy(struct rand_data *collector, char *data, size_t size)
{
    memset(data, ++collector->next, size);
    return is_short ? -2 : (ssize_t)size;
}
void jent_entropy_collector_free(struct rand_data *collector) { live--; free(collector); }
"""


def jittery(*rest: int) -> SteppingClock:
    """Return a clock whose rounds take many different times, with a sample of each of *rest* first."""
    steps: list[int] = []
    for number in range(SAMPLES):
        steps += [7, rest[number] if number < len(rest) else 1 + number * 37 % 251]
    return SteppingClock(*steps)


def test_jitter_gives_raw_samples() -> None:
    """A harvest is 1024 samples, each the low byte of the nanoseconds of one round."""
    samples = LoopJitter(jittery(0x1234, 255, 256)).harvest()
    assert b"\x34\xff\x00" == bytes(samples[:3])
    assert 1024 == len(samples) == SAMPLES
    assert [1 + number * 37 % 251 for number in range(3, 1024)] == list(samples[3:])
    assert "<1024 secret bytes>" == repr(samples)


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (0, "the clock stands still"),
        (-1, "the clock stands still"),
        (100, "steps of 100 ns or more"),
        (1_000_000, "steps of 100 ns or more"),
        (15_600_000, "steps of 100 ns or more"),
        (37, "nearly all rounds took the same time"),
        (37 + 256, "nearly all rounds took the same time"),
    ],
)
@pytest.mark.parametrize("share", [931, 1024])
def test_jitter_refuses_a_coarse_clock(time: int, message: str, share: int) -> None:
    """A clock that nearly always stands, runs back, ticks in large steps or sees no difference is refused."""
    with pytest.raises(SourceError, match=f"source jitter: .*{message}"):
        LoopJitter(jittery(*[time] * share)).harvest()


@pytest.mark.parametrize("time", [0, 100, 37])
def test_jitter_takes_a_clock_that_is_just_fine_enough(time: int) -> None:
    """One sample less than nearly all is taken: the claim holds for it."""
    fine = [time] * 925  # the other samples have a few of the same kind
    assert SAMPLES == len(LoopJitter(jittery(*fine)).harvest())


def test_jitter_coarse_error_number() -> None:
    """A coarse clock is "not supported", which no repetition will change."""
    with pytest.raises(SourceError) as caught:
        LoopJitter(SteppingClock(0)).harvest()
    assert errno.ENOTSUP == caught.value.errno


def test_jitter_of_this_machine() -> None:
    """The real clock sees jitter, or the source refuses; two harvests are never alike."""
    jitter = LoopJitter(SystemClock())
    try:
        first, second = jitter.harvest(), jitter.harvest()
    except SourceError as error:
        pytest.skip(f"no jitter here: {error}")
    assert bytes(first) != bytes(second)


def test_jitter_names_itself() -> None:
    """Both ways have one name and number, run on the harvester only, and claim less than they promise."""
    for kind, bits in ((LoopJitter, 0.125), (LibraryJitter, 4.0)):
        assert ("jitter", 2, "slow", bits) == (kind.name, kind.number, kind.cost, kind.min_entropy)


def test_jitter_without_the_library() -> None:
    """Where no version of the library is installed our own loop serves; all names were tried."""
    tried: list[str] = []

    def load(name: str) -> ctypes.CDLL:
        tried.append(name)
        raise OSError(f"{name}: cannot open shared object file")

    assert isinstance(jitter_source(SteppingClock(), load), LoopJitter)
    assert [*LIBRARIES] == tried


def test_jitter_without_ctypes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without ctypes has our own loop."""
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert isinstance(jitter_source(SteppingClock()), LoopJitter)


def test_jitter_loads_shared_libraries() -> None:
    """A library that does not exist is an ``OSError``."""
    with pytest.raises(OSError, match="libnosuchlibrary"):
        load_library("libnosuchlibrary.so.0")


def test_jitter_of_the_installed_library() -> None:
    """The system's own library gives different events, where it is installed."""
    jitter = jitter_source(SystemClock())
    if not isinstance(jitter, LibraryJitter):
        pytest.skip("libjitterentropy is not installed")
    first, second = jitter.harvest(), jitter.harvest()
    assert 32 == len(first) == len(second)
    assert bytes(first) != bytes(second)


@pytest.fixture
def library(tmp_path: Path) -> ctypes.CDLL:
    """Give a shared library with the interface of libjitterentropy, compiled here."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to make a double of the library with")
    source, made = tmp_path / "double.c", tmp_path / "libdouble.so"
    source.write_text(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def variable(library: ctypes.CDLL, name: str) -> Any:
    """Return a variable of the double."""
    return ctypes.c_int.in_dll(library, name)


def test_jitter_library_is_preferred_and_initialised_late(library: ctypes.CDLL) -> None:
    """An installed library serves; its tests run at the first harvest and once, and each collector is freed."""
    jitter = jitter_source(SteppingClock(), lambda name: library)
    assert isinstance(jitter, LibraryJitter)
    assert 0 == variable(library, "inits").value
    for _ in range(2):
        event = jitter.harvest()
        assert b"\x01" * 32 == bytes(event)
        assert "<32 secret bytes>" == repr(event)
    assert (1, 0) == (variable(library, "inits").value, variable(library, "live").value)


def test_jitter_library_refuses_the_machine(library: ctypes.CDLL) -> None:
    """What the library says of a machine that it cannot work on is told, and asked again the next time."""
    jitter = LibraryJitter(library)
    variable(library, "refusal").value = 9
    with pytest.raises(SourceError, match=r"refuses this machine \(jent_entropy_init: 9\)"):
        jitter.harvest()
    variable(library, "refusal").value = 0
    assert 32 == len(jitter.harvest())


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("is_out_of_memory", "could not make a collector"),
        ("is_short", r"failed \(jent_read_entropy: -2\)"),
    ],
)
def test_jitter_library_fails(fault: str, message: str, library: ctypes.CDLL) -> None:
    """A failing library is an error, leaves no collector behind, and may recover."""
    jitter = LibraryJitter(library)
    variable(library, fault).value = 1
    with pytest.raises(SourceError, match=f"source jitter: libjitterentropy {message}"):
        jitter.harvest()
    assert 0 == variable(library, "live").value
    variable(library, fault).value = 0
    assert 32 == len(jitter.harvest())
