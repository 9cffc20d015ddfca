"""The source ``file``: real FIFOs and devices, everything that a writer may do, and what is refused."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from fortuna.errors import SourceError
from fortuna.sources.file import BUDGET_NS, EVENT_SIZE, HARVEST_MAX, PAUSE_SECONDS, DeviceFile

from .source_doubles import SteppingClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Self

EVENT = bytes(range(32))
OTHER = bytes(range(32, 64))

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")


class Pipe:
    """A FIFO, its source, and the end that a test writes to."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        self.clock = SteppingClock()
        self.source = DeviceFile(str(path), self.clock)
        self.writer: int | None = None

    def connect(self) -> Self:
        """Open the writer's end, with a reader there for a moment that lets it."""
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.writer = os.open(self.path, os.O_WRONLY)
        # From here on the source is the reader.
        self.source._open()
        os.close(reader)
        return self

    def write(self, data: bytes) -> None:
        """Write as the writer."""
        assert self.writer is not None
        assert len(data) == os.write(self.writer, data)

    def hang_up(self) -> None:
        """Close the writer's end."""
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Pipe]:
    """Give a FIFO without a writer."""
    pipe = Pipe(tmp_path / "fifo")
    yield pipe
    pipe.hang_up()
    pipe.source.close()


def test_file_reads_a_fifo(fifo: Pipe) -> None:
    """A harvest takes an event, hides it and does not wait."""
    fifo.connect().write(EVENT)
    event = fifo.source.harvest()
    assert (EVENT, "<32 secret bytes>") == (bytes(event), repr(event))
    assert [] == fifo.clock.slept
    assert (32, 256) == (EVENT_SIZE, HARVEST_MAX)


@pytest.mark.parametrize("more", [-1, 0, 1, 32, 256])
def test_file_takes_what_is_there(more: int, fifo: Pipe) -> None:
    """Up to 256 bytes that are there already are taken at once, the others with the next harvest."""
    whole = bytes(number % 251 for number in range(256 + more))
    fifo.connect().write(whole)
    assert whole[:256] == bytes(fifo.source.harvest())
    assert [] == fifo.clock.slept
    if more >= EVENT_SIZE:
        assert whole[256:] == bytes(fifo.source.harvest())


@pytest.mark.parametrize("size", [32, 33])
def test_file_takes_what_is_there_at_the_end(size: int, fifo: Pipe) -> None:
    """A writer that hangs up has its last bytes taken, where they are enough for an event."""
    fifo.connect().write(bytes(range(size)))
    fifo.hang_up()
    assert bytes(range(size)) == bytes(fifo.source.harvest())


def test_file_fifo_without_a_writer(fifo: Pipe) -> None:
    """A FIFO that nobody writes into is an error at once, and names the path."""
    with pytest.raises(SourceError, match=f"source file: {fifo.path}: it has ended; nobody writes") as caught:
        fifo.source.harvest()
    assert errno.ENODATA == caught.value.errno
    assert [] == fifo.clock.slept


def test_file_fifo_with_a_silent_writer(fifo: Pipe) -> None:
    """A writer that writes nothing is waited for as long as the budget lasts, no longer."""
    fifo.connect()
    start = fifo.clock.now
    with pytest.raises(SourceError, match="got 0 of 32 bytes within 1 s") as caught:
        fifo.source.harvest()
    assert errno.ETIMEDOUT == caught.value.errno
    assert start + BUDGET_NS == fifo.clock.now
    assert {PAUSE_SECONDS} == set(fifo.clock.slept)


def test_file_fifo_with_a_slow_writer(fifo: Pipe) -> None:
    """What arrives piece by piece within the budget is put together."""
    pieces = [EVENT[start : start + 5] for start in range(0, 32, 5)]
    fifo.connect()
    fifo.clock.while_asleep = lambda: fifo.write(pieces.pop(0))
    assert EVENT == bytes(fifo.source.harvest())
    assert 7 == len(fifo.clock.slept)


@pytest.mark.parametrize("size", [1, 31])
def test_file_short_harvest_is_completed_by_the_next(size: int, fifo: Pipe) -> None:
    """Bytes that were too few are no event and are not lost: the next harvest begins with them."""
    fifo.connect().write(EVENT[:size])
    with pytest.raises(SourceError, match=f"got {size} of 32 bytes"):
        fifo.source.harvest()
    fifo.write(EVENT[size:])
    assert EVENT == bytes(fifo.source.harvest())
    fifo.write(OTHER)
    assert OTHER == bytes(fifo.source.harvest())


def test_file_outlives_its_writer(fifo: Pipe) -> None:
    """When the writer hangs up the source fails, and goes on with the next writer where it stood."""
    fifo.connect().write(EVENT[:10])
    fifo.hang_up()
    for _ in range(2):
        with pytest.raises(SourceError, match="it has ended"):
            fifo.source.harvest()
    # The source still is a reader: a new writer need not wait for one.
    fifo.writer = os.open(fifo.path, os.O_WRONLY | os.O_NONBLOCK)
    fifo.write(EVENT[10:])
    assert EVENT == bytes(fifo.source.harvest())


def test_file_that_disappears(fifo: Pipe) -> None:
    """A path that leads nowhere any more is an error, though the old FIFO is still open; it may come back."""
    fifo.connect().write(EVENT)
    assert EVENT == bytes(fifo.source.harvest())
    fifo.write(EVENT)
    fifo.path.unlink()
    with pytest.raises(SourceError, match="No such file") as caught:
        fifo.source.harvest()
    assert errno.ENOENT == caught.value.errno
    fifo.hang_up()
    os.mkfifo(fifo.path, 0o600)
    fifo.connect().write(OTHER)
    assert OTHER == bytes(fifo.source.harvest())


def test_file_that_is_replaced(fifo: Pipe) -> None:
    """A path that leads elsewhere is opened anew, whatever the old FIFO still holds."""
    fifo.connect().write(EVENT)
    assert EVENT == bytes(fifo.source.harvest())
    fifo.write(EVENT)
    fifo.path.rename(fifo.path.with_name("old"))
    os.mkfifo(fifo.path, 0o600)
    reader = os.open(fifo.path, os.O_RDONLY | os.O_NONBLOCK)
    fifo.hang_up()
    fifo.writer = os.open(fifo.path, os.O_WRONLY)
    fifo.write(OTHER)
    assert OTHER == bytes(fifo.source.harvest())
    os.close(reader)


def test_file_is_not_there(tmp_path: Path) -> None:
    """A path that leads nowhere is an error of the harvest, not of the boot."""
    source = DeviceFile(str(tmp_path / "none"), SteppingClock())
    with pytest.raises(SourceError, match=r"source file: .*none: No such file") as caught:
        source.harvest()
    assert errno.ENOENT == caught.value.errno


def test_file_without_a_path_is_absent() -> None:
    """No path, no source."""
    with pytest.raises(SourceError, match="source file: absent; entropy.file names no device") as caught:
        DeviceFile("", SteppingClock()).harvest()
    assert errno.ENODEV == caught.value.errno


def test_file_refuses_what_repeats(tmp_path: Path) -> None:
    """A regular file is refused before a byte of it is read, and so is a folder."""
    regular = tmp_path / "regular"
    regular.write_bytes(EVENT * 2)
    for path, message in ((regular, "it is a regular file, which gives the same bytes"), (tmp_path, "no such thing")):
        source = DeviceFile(str(path), SteppingClock())
        with pytest.raises(SourceError, match=f"{message}.*; allowed is a character device or a FIFO") as caught:
            source.harvest()
        assert errno.EINVAL == caught.value.errno
        assert source._descriptor is None


def test_file_refuses_a_fifo_for_everybody(fifo: Pipe) -> None:
    """A FIFO that everybody may write is refused until that is mended."""
    fifo.path.chmod(0o602)
    with pytest.raises(SourceError, match="everybody may write into this FIFO"):
        fifo.source.harvest()
    fifo.path.chmod(0o660)
    fifo.connect().write(EVENT)
    assert EVENT == bytes(fifo.source.harvest())


def test_file_reads_a_device() -> None:
    """A character device is read, whoever may write it."""
    source = DeviceFile("/dev/urandom", SteppingClock())
    assert bytes(source.harvest()) != bytes(source.harvest())


def test_file_device_that_ends() -> None:
    """A device at its end is an error, and is opened anew next time."""
    source = DeviceFile("/dev/null", SteppingClock())
    with pytest.raises(SourceError, match="source file: /dev/null: it has ended"):
        source.harvest()
    assert source._descriptor is None


def test_file_device_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is pulled out is an error with its number, and is opened anew next time."""
    source = DeviceFile("/dev/urandom", SteppingClock())
    with monkeypatch.context() as patched:
        patched.setattr(os, "read", lambda descriptor, size: (_ for _ in ()).throw(OSError(errno.ENODEV, "gone")))
        with pytest.raises(SourceError, match="source file: /dev/urandom: gone") as caught:
            source.harvest()
    assert errno.ENODEV == caught.value.errno
    assert source._descriptor is None
    assert HARVEST_MAX == len(source.harvest())


def test_file_closes_its_descriptor(fifo: Pipe) -> None:
    """Closing twice is fine, a collected source leaves nothing open, and a closed one opens again when harvested."""
    fifo.connect().write(EVENT)
    source, descriptor = fifo.source, fifo.source._descriptor
    assert descriptor is not None
    assert not os.get_inheritable(descriptor)
    source.close()
    source.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    other = DeviceFile("/dev/urandom", SteppingClock())
    other.harvest()
    descriptor = other._descriptor
    assert descriptor is not None
    del other
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    assert HARVEST_MAX == len(DeviceFile("/dev/urandom", SteppingClock()).harvest())


def test_file_shows_an_awkward_path_on_one_line(tmp_path: Path) -> None:
    """A path with a line break stays on one line of the message."""
    with pytest.raises(SourceError, match=r"a\\nb: No such file"):
        DeviceFile(str(tmp_path / "a\nb"), SteppingClock()).harvest()


def test_file_names_itself() -> None:
    """Name, number, cost and credit."""
    kind = DeviceFile
    assert ("file", 4, "slow", 1.0) == (kind.name, kind.number, kind.cost, kind.min_entropy)
