"""The source ``proc``: a digest of counters and time, files that are missing, and counters that stand still."""

from __future__ import annotations

import errno
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fortuna._boot import SystemClock
from fortuna.errors import SourceError
from fortuna.sources.proc import FILES, FOLDER, PIECE, LinuxCounters

from .source_doubles import SteppingClock

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 5


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], None]:
    """Give a function that writes one file of counters."""
    (tmp_path / "net").mkdir()

    def write_one(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)

    return write_one


def test_proc_is_the_digest_of_counters_and_times(tmp_path: Path, write: Callable[[str, str], None]) -> None:
    """An event is SHA-256 of the time after each file, and of the digest of all files in their order."""
    long = "9" * (2 * PIECE + 1)
    write("vmstat", long)
    write("interrupts", "1 2 3")
    times = b"".join((1_000_000_000 + look * STEP).to_bytes(8, "little") for look in (1, 2))
    counters = sha256(b"1 2 3" + long.encode()).digest()
    proc = LinuxCounters(SteppingClock(STEP), str(tmp_path))
    assert sha256(times + counters).digest() == proc.harvest()


def test_proc_refuses_counters_that_stand_still(tmp_path: Path, write: Callable[[str, str], None]) -> None:
    """The time alone is no event: counters that have not moved are refused until they do."""
    write("stat", "ctxt 1")
    proc = LinuxCounters(SteppingClock(STEP), str(tmp_path))
    first = proc.harvest()
    for _ in range(2):
        with pytest.raises(SourceError, match="source proc: no counter has moved") as caught:
            proc.harvest()
    assert errno.EAGAIN == caught.value.errno
    write("stat", "ctxt 2")
    assert first != proc.harvest()


def test_proc_is_absent_elsewhere(tmp_path: Path) -> None:
    """A machine without such files has no such source, and the reason is said."""
    proc = LinuxCounters(SteppingClock(STEP), str(tmp_path))
    with pytest.raises(SourceError, match=r"source proc: absent; .* has no counters") as caught:
        proc.harvest()
    assert errno.ENODEV == caught.value.errno
    assert f"source proc: absent; {proc.absence}" == caught.value.strerror


def test_proc_whose_files_are_gone(tmp_path: Path, write: Callable[[str, str], None]) -> None:
    """Files that cannot be read any more are an error; one of them is enough to go on."""
    write("stat", "1")
    write("interrupts", "1")
    proc = LinuxCounters(SteppingClock(STEP), str(tmp_path))
    (tmp_path / "interrupts").unlink()
    assert 32 == len(proc.harvest())
    (tmp_path / "stat").unlink()
    with pytest.raises(SourceError, match="none of its files in .* can be read"):
        proc.harvest()


def test_proc_file_that_fails_while_it_is_read(tmp_path: Path, write: Callable[[str, str], None]) -> None:
    """A file that opens and then cannot be read, as a folder cannot, is passed over."""
    write("stat", "1")
    (tmp_path / "interrupts").mkdir()
    proc = LinuxCounters(SteppingClock(STEP), str(tmp_path))
    expected = (1_000_000_000 + STEP).to_bytes(8, "little") + sha256(b"1").digest()
    assert sha256(expected).digest() == proc.harvest()


def test_proc_names_itself() -> None:
    """Name, number, cost, and a credit of one bit an event."""
    kind = LinuxCounters
    assert ("proc", 3, "slow", 1.0) == (kind.name, kind.number, kind.cost, 32 * kind.min_entropy)


@pytest.mark.skipif(not Path(FOLDER, "stat").exists(), reason="no Linux counters here")
def test_proc_of_this_machine() -> None:
    """The real counters give an event, and another one after they have moved."""
    proc = LinuxCounters(SystemClock())
    assert any(Path(FOLDER, file).exists() for file in FILES)
    first = proc.harvest()
    while True:
        try:
            second = proc.harvest()
        except SourceError:
            continue
        break
    assert first != second
