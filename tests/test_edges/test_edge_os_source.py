"""The source ``os``: which call answers, what counts as a failure, and that no failure turns into zeros."""

from __future__ import annotations

import errno
import os

import pytest

from fortuna.errors import SourceError
from fortuna.sources.os import HARVEST_SIZE, OperatingSystem

from .edge_doubles import ScriptedSystem, stream


@pytest.fixture
def scripted() -> ScriptedSystem:
    """Give the two system calls as doubles."""
    return ScriptedSystem()


@pytest.fixture
def system(scripted: ScriptedSystem) -> OperatingSystem:
    """Give the source on those doubles."""
    return OperatingSystem(scripted.getrandom, scripted.urandom)


def test_edge_os_source_asks_getrandom_without_blocking(scripted: ScriptedSystem, system: OperatingSystem) -> None:
    """The system call is asked first, never to block, and gives a pull of 64 events of 32 bytes."""
    assert stream("getrandom/1", HARVEST_SIZE) == bytes(system.harvest())
    assert [1] == scripted.flags
    assert 1 == getattr(os, "GRND_NONBLOCK", 1)
    assert 64 * 32 == HARVEST_SIZE
    assert 0 == scripted.urandom_reads


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
def test_edge_os_source_falls_back_where_the_call_is_forbidden_or_absent(
    number: int, scripted: ScriptedSystem, system: OperatingSystem
) -> None:
    """Under a seccomp filter or an old kernel ``os.urandom`` answers, and the call is tried again next time."""
    scripted.errors = [OSError(number, os.strerror(number))]
    assert stream("urandom/1", 32) == bytes(system.read(32))
    assert stream("getrandom/1", 32) == bytes(system.read(32))


def test_edge_os_source_without_the_call(scripted: ScriptedSystem) -> None:
    """A Python without ``os.getrandom`` uses ``os.urandom``."""
    assert stream("urandom/1", 48) == bytes(OperatingSystem(None, scripted.urandom).read(48))


def test_edge_os_source_unseeded_kernel(scripted: ScriptedSystem, system: OperatingSystem) -> None:
    """EAGAIN is "not seeded yet", and no reason to ask the device, which would answer all the same."""
    scripted.errors = [BlockingIOError(errno.EAGAIN, "would block")]
    with pytest.raises(SourceError, match="not seeded yet") as caught:
        system.read(32)
    assert errno.EAGAIN == caught.value.errno
    assert 0 == scripted.urandom_reads


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "broken"), OSError(errno.EFAULT, "bad"), NotImplementedError("no /dev/urandom")]
)
def test_edge_os_source_other_errors(error: Exception) -> None:
    """Any other failure is a `SourceError` with the number, or EIO where there is none."""

    def fail(size: int, flags: int = 0) -> bytes:
        raise error

    with pytest.raises(SourceError, match=str(error.args[-1])) as caught:
        OperatingSystem(fail, fail).read(32)
    assert getattr(error, "errno", errno.EIO) == caught.value.errno


def test_edge_os_source_both_calls_fail(scripted: ScriptedSystem) -> None:
    """Where the call is absent and the device cannot be read, the device's error is told."""

    def no_device(size: int) -> bytes:
        raise FileNotFoundError(errno.ENOENT, "no /dev/urandom")

    scripted.errors = [OSError(errno.ENOSYS, "absent")]
    with pytest.raises(SourceError, match="no /dev/urandom"):
        OperatingSystem(scripted.getrandom, no_device).read(32)


@pytest.mark.parametrize("piece", [1, 7, 31, 256])
def test_edge_os_source_short_reads_are_put_together(piece: int) -> None:
    """A call that gives less than asked is asked for the rest, and only for the rest."""
    whole = stream("short", 1000)
    asked: list[int] = []

    def short(size: int, flags: int) -> bytes:
        start = 1000 - size
        asked.append(size)
        return whole[start : start + min(size, piece)]

    assert whole == bytes(OperatingSystem(short, lambda size: b"").read(1000))
    assert list(range(1000, 0, -piece)) == asked


@pytest.mark.parametrize("given", [0, 1, 31])
def test_edge_os_source_empty_read_is_an_error(given: int) -> None:
    """A call that gives nothing, at once or after a part, is an error and no endless loop."""
    answers = [b"\x01" * given, b""] if given else [b""]
    with pytest.raises(SourceError, match="got 0 bytes"):
        OperatingSystem(lambda size, flags: answers.pop(0), lambda size: b"").read(32)


@pytest.mark.parametrize("size", [16, 32, 2048])
def test_edge_os_source_zeros_are_refused(size: int) -> None:
    """Sixteen zero bytes and more mean a broken system, never an event."""
    with pytest.raises(SourceError, match=f"got {size} zero bytes"):
        OperatingSystem(lambda size, flags: bytes(size), bytes).read(size)


@pytest.mark.parametrize("size", [0, 1, 15])
def test_edge_os_source_few_zeros_may_be_chance(size: int) -> None:
    """Up to fifteen zero bytes are taken, since they may be chance."""
    assert bytes(size) == bytes(OperatingSystem(lambda size, flags: bytes(size), bytes).read(size))


def test_edge_os_source_one_bit_is_enough() -> None:
    """Zeros but for the last bit are not all zeros."""
    almost = bytes(31) + b"\x01"
    assert almost == bytes(OperatingSystem(lambda size, flags: almost, bytes).read(32))


def test_edge_os_source_hides_what_it_read(system: OperatingSystem) -> None:
    """The bytes read do not show in the representation of what is returned."""
    assert "<32 secret bytes>" == repr(system.read(32))


def test_edge_os_source_names_itself() -> None:
    """Name, number and credit are those of a built-in source with full entropy."""
    assert ("os", 0, 8.0) == (OperatingSystem.name, OperatingSystem.number, OperatingSystem.min_entropy)


def test_edge_os_source_of_this_machine() -> None:
    """The real calls answer with different bytes each time."""
    real = OperatingSystem(getattr(os, "getrandom", None), os.urandom)
    assert bytes(real.read(32)) != bytes(real.read(32))
