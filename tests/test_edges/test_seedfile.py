"""The seed file: what a boot and a save do with it, and what they do when the disk or the lock does not play along."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import subprocess
from shutil import which
from typing import TYPE_CHECKING, Any, Final

import pytest

from fortuna.errors import NotSeededError
from fortuna.seedfile import LOCK_WAIT_NS, RETRY_SECONDS, SEED_SIZE, SeedFile
from fortuna.seedfile_directory import READ_MAX
from fortuna.seedfile_system import SystemFiles

from .edge_doubles import Bench, ManualClock, Model, stream
from .seedfile_doubles import INTERVAL_NS, FaultyFiles, MemoryDisk, SeedBench, WorstGenerator, open_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fortuna.generators.secret import Secret

OLD: Final = stream("old seed", SEED_SIZE)
#: Calls of a save, in order: nothing is renamed before it is on the disk, and then the directory is brought there too.
SAVE = ["open", "fstat", "geteuid", "lock", "unlink", "open", "write", "fsync", "close", "rename", "fsync"]
END = ["unlock", "close"]


@pytest.fixture
def bench(tmp_path: Path) -> SeedBench:
    """Give a seed file in an empty directory of its own."""
    return SeedBench(tmp_path / "state")


@pytest.fixture
def holder(bench: SeedBench) -> Iterator[int]:
    """Give the descriptor of another holder of the lock."""
    descriptor = os.open(bench.path.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    os.close(descriptor)


def messages(caplog: pytest.LogCaptureFixture, bench: SeedBench) -> list[str]:
    """Return what was logged, with the directory replaced by DIR."""
    return [record.getMessage().replace(str(bench.path.parent), "DIR") for record in caplog.records]


# What a boot does.


def test_seedfile_first_boot_creates_it(bench: SeedBench) -> None:
    """Where there is no file yet, nothing is mixed in, and the first one is written for the owner alone."""
    bench.restart()
    assert [] == bench.generator.got
    assert ["seed"] == bench.names
    assert (SEED_SIZE, 0o100600) == (bench.path.stat().st_size, bench.path.stat().st_mode)
    assert () == bench.seed_file.flags


def test_seedfile_boot_mixes_in_and_replaces(bench: SeedBench) -> None:
    """A boot reseeds with the old seed and leaves what the generator gave after that."""
    bench.put(OLD)
    bench.restart()
    assert [OLD] == bench.generator.got
    model, expected = WorstGenerator(), bytearray(SEED_SIZE)
    model.reseed(OLD)  # type: ignore[arg-type]
    model.draw(expected)  # type: ignore[arg-type]
    assert expected == bench.path.read_bytes()
    assert ["seed"] == bench.names


def test_seedfile_boot_order(bench: SeedBench) -> None:
    """The new seed is on the disk, name included, before the boot returns; nothing happens outside the lock."""
    bench.put(OLD)
    order = bench.files.calls
    bench.seed_file.restart(lambda seed: order.append("RESEED"), lambda out: order.append("DRAW"))
    read = ["open", "fstat", "geteuid", "read", "read", "close", "RESEED", "DRAW"]
    assert [*SAVE[:4], *read, *SAVE[4:], *END] == order


def test_seedfile_save_order(bench: SeedBench) -> None:
    """A save draws first, and does not look at the old file."""
    order = bench.files.calls
    bench.seed_file.save(lambda out: order.append("DRAW"))
    assert ["DRAW", *SAVE, *END] == order


def test_seedfile_secrets_are_wiped(bench: SeedBench) -> None:
    """What was read and what was drawn is overwritten in memory when it was used."""
    bench.put(OLD)
    seen: list[Secret] = []

    def draw(out: Secret) -> None:
        bench.generator.draw(out)
        seen.append(out)

    bench.seed_file.restart(seen.append, draw)
    bench.seed_file.save(draw)
    assert [bytes(SEED_SIZE)] * 3 == [bytes(secret) for secret in seen]
    assert ["<64 secret bytes>"] * 3 == [repr(secret) for secret in seen]


def test_seedfile_boots_chain(bench: SeedBench) -> None:
    """Each boot reads what the one before it wrote."""
    for _ in range(5):
        before = bench.path.read_bytes() if bench.path.exists() else None
        bench.generator = WorstGenerator()
        bench.restart()
        assert ([] if before is None else [before]) == bench.generator.got
        assert before != bench.path.read_bytes()


def test_seedfile_backup_restored(bench: SeedBench) -> None:
    """A seed that comes back from a backup is mixed in like any other: two boots differ by their other sources."""
    outputs = set()
    for fresh in (b"first boot", b"second boot"):
        bench.put(OLD)
        bench.generator = WorstGenerator()
        bench.generator.reseed(fresh)  # type: ignore[arg-type]
        bench.restart()
        assert [fresh, OLD] == bench.generator.got
        outputs.add(bench.generator.output())
    assert 2 == len(outputs)
    assert () == bench.seed_file.flags


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"", "0 bytes"),
        (stream("x", SEED_SIZE - 1), "63 bytes"),
        (stream("x", SEED_SIZE + 1), "65 bytes"),
        (stream("x", READ_MAX - 1), "4095 bytes"),
        (stream("x", READ_MAX), "4096 bytes or more"),
        (stream("x", READ_MAX + 1), "4096 bytes or more"),
        (bytes(SEED_SIZE), "64 zeros"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_seedfile_corrupt(content: bytes, got: str, bench: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """Wrong size or all zeros: mixed in as far as it goes, said in one line without its contents, and replaced."""
    bench.put(content)
    bench.restart()
    assert [content[:READ_MAX]] == bench.generator.got
    assert ("seed_file_corrupt",) == bench.seed_file.flags
    assert [
        f"seed file, going on from the other sources: DIR/seed: it holds {got} where a seed has 64 bytes; "
        "mixed in as it is"
    ] == messages(caplog, bench)
    assert SEED_SIZE == bench.path.stat().st_size
    assert bytes(SEED_SIZE) != bench.path.read_bytes()
    bench.seed_file = bench.make()
    bench.restart()
    assert () == bench.seed_file.flags


@pytest.mark.parametrize("content", [b"\x01" + bytes(63), bytes(63) + b"\x80", stream("x", SEED_SIZE)])
def test_seedfile_whole(content: bytes, bench: SeedBench) -> None:
    """64 bytes of which one is not zero are a seed."""
    bench.put(content)
    bench.restart()
    assert () == bench.seed_file.flags


def test_seedfile_a_draw_that_fails(bench: SeedBench) -> None:
    """An error of the generator ends the call as it is; the old file stays, nothing is left open or locked."""

    def refuse(out: Secret) -> None:
        raise NotSeededError("not seeded")

    bench.put(OLD)
    before = open_descriptors()
    with pytest.raises(NotSeededError):
        bench.seed_file.restart(bench.generator.reseed, refuse)
    with pytest.raises(NotSeededError):
        bench.seed_file.save(refuse)
    assert (OLD, ["seed"], before) == (bench.path.read_bytes(), bench.names, open_descriptors())
    bench.restart()
    assert () == bench.seed_file.flags


def test_seedfile_live(path: str, bench: SeedBench) -> None:
    """The generator of a live one fits: file and output are those of the core that was reseeded with the old seed."""
    live = Bench(path).boot()
    generator = live.fortuna._life.generator
    model = Model(live)
    assert model.pull()
    bench.put(OLD)
    bench.seed_file.restart(generator.reseed, generator.readinto)
    model.accumulator.generator.reseed(OLD)
    assert model.random_data(SEED_SIZE) == bench.path.read_bytes()
    assert model.random_data(100) == live.fortuna.random_bytes(100)
    bench.seed_file.save(generator.readinto)
    assert model.random_data(SEED_SIZE) == bench.path.read_bytes()
    assert () == bench.seed_file.flags


# When a save is due.


@pytest.mark.parametrize(("passed", "expected"), [(-1, False), (0, True), (1, True)])
@pytest.mark.parametrize("last", ["made", "restart", "save", "failed save"])
def test_seedfile_due(last: str, passed: int, expected: bool, bench: SeedBench) -> None:
    """A save is due one interval after the file was made, the boot or the last save, failed or not."""
    if last != "made":
        bench.clock.now += 123
        if last == "failed save":
            bench.files.faults["rename"] = OSError(errno.EIO, os.strerror(errno.EIO))
        (bench.restart if last == "restart" else bench.save)()
    assert expected == bench.seed_file.is_due(bench.clock.now + INTERVAL_NS + passed)


def test_seedfile_repr(tmp_path: Path) -> None:
    """The repr has the path and nothing else."""
    seed_file = SeedFile("/a b/seed", SystemFiles(), SeedBench(tmp_path).clock, 1)
    assert "<SeedFile '/a b/seed'>" == repr(seed_file)


# A disk that does not play along.

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
READ_ONLY = OSError(errno.EROFS, os.strerror(errno.EROFS))
DENIED = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
BROKEN = OSError(errno.EIO, os.strerror(errno.EIO))


def write_short(real: Any, descriptor: int, data: memoryview) -> int:
    """Write one byte a call."""
    written: int = real(descriptor, data[:1])
    return written


def write_full(real: Any, descriptor: int, data: memoryview) -> int:
    """Write to the device that is always full."""
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        written: int = real(full, data)
        return written
    finally:
        os.close(full)


FAILURES: Final[dict[str, tuple[str, Any, str]]] = {
    "full at creation": ("open#2", FULL, "No space left on device"),
    "full in writing": ("write", write_full, "No space left on device"),
    "nothing written": ("write", lambda real, descriptor, data: 0, "0 bytes were written"),
    "broken in syncing": ("fsync#1", BROKEN, "Input/output error"),
    "quota at closing": ("close#1", OSError(errno.EDQUOT, "Disk quota exceeded"), "Disk quota exceeded"),
    "read-only": ("open#2", READ_ONLY, "Read-only file system"),
    "denied": ("open#2", DENIED, "Permission denied"),
    "broken in renaming": ("rename", BROKEN, "Input/output error"),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("is_boot", [False, True], ids=["save", "boot"])
def test_seedfile_not_replaced(is_boot: bool, failure: str, bench: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """A failed replacement leaves the old file whole and no temporary, is flagged, and logged once; the next works."""
    call, fault, reason = FAILURES[failure]
    if is_boot:  # which has opened and closed the old file before
        call = call.replace("open#2", "open#3").replace("close#1", "close#2")
    closes = call.startswith("close")
    bench.put(OLD)
    before = open_descriptors()
    bench.files.faults[call] = fault
    act = bench.restart if is_boot else bench.save
    act()
    assert (OLD, ["seed"]) == (bench.path.read_bytes(), bench.names)
    assert ([OLD] if is_boot else []) == bench.generator.got
    assert ("seed_file_failed",) == bench.seed_file.flags
    assert [
        f"seed file, going on from the other sources: DIR/seed: cannot be replaced: {reason}; mend it, or name another "
        "place in seed_file.path"
    ] == messages(caplog, bench)
    assert before + closes == open_descriptors()
    bench.files.end()
    act()
    assert ("seed_file_failed",) == bench.seed_file.flags
    bench.files.faults.clear()
    act()
    assert OLD != bench.path.read_bytes()
    assert 1 == len(caplog.records)


def test_seedfile_short_writes(bench: SeedBench) -> None:
    """A disk that takes one byte a call gets all of them."""
    bench.files.faults["write"] = write_short
    bench.restart()
    assert (SEED_SIZE, ()) == (bench.path.stat().st_size, bench.seed_file.flags)
    assert SEED_SIZE == bench.files.calls.count("write")


def test_seedfile_directory_not_synced(bench: SeedBench) -> None:
    """Where the directory cannot be brought to the disk the file is the new one, and the flag says it may not last."""
    bench.put(OLD)
    bench.files.faults["fsync#2"] = BROKEN
    bench.restart()
    assert ("seed_file_failed",) == bench.seed_file.flags
    assert (SEED_SIZE, ["seed"]) == (len(bench.path.read_bytes()), bench.names)
    assert OLD != bench.path.read_bytes()


def test_seedfile_unreadable_content_is_replaced(bench: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """A file that the disk cannot give back is not mixed in, is flagged and makes place for a fresh one."""
    bench.put(OLD)
    bench.files.faults["read"] = BROKEN
    bench.restart()
    assert ([], ("seed_file_failed",)) == (bench.generator.got, bench.seed_file.flags)
    assert OLD != bench.path.read_bytes()
    assert [
        "seed file, going on from the other sources: DIR/seed: cannot be read: Input/output error; mend it, or name "
        "another place in seed_file.path"
    ] == messages(caplog, bench)


@pytest.mark.parametrize(
    ("call", "is_flagged"), [("fstat#1", True), ("fstat#2", True), ("close#1", True), ("unlock", False)]
)
def test_seedfile_other_calls_that_fail(call: str, is_flagged: bool, bench: SeedBench) -> None:
    """Whichever call fails on the way, the boot goes on; a lock that cannot be given back ends with its descriptor."""
    bench.put(OLD)
    bench.files.faults[call] = BROKEN
    before = open_descriptors()
    bench.restart()
    assert (("seed_file_failed",) if is_flagged else ()) == bench.seed_file.flags
    bench.files.end()
    assert before == open_descriptors()
    bench.files.faults.clear()
    bench.save()
    assert OLD != bench.path.read_bytes()


def test_seedfile_read_in_pieces(bench: SeedBench) -> None:
    """A file that comes in pieces is read to its end."""
    bench.put(OLD)
    bench.files.faults["read"] = lambda real, descriptor, size: real(descriptor, min(size, 7))
    bench.restart()
    assert [OLD] == bench.generator.got


def test_seedfile_full_for_real(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """On a disk that is really full, a boot goes on with its flag; with room again, the next save does its work."""
    where = tmp_path / "small"
    where.mkdir()
    mount, umount = which("mount") or "", which("umount") or ""
    small = [mount, "-t", "tmpfs", "-o", "size=4k,mode=0700", "tmpfs", str(where)]
    if os.geteuid() or not mount or subprocess.run(small, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small tmpfs, and not everywhere")
    try:
        bench = SeedBench(where)
        bench.put(OLD)
        bench.restart()
        assert (OLD, ["seed"]) == (bench.path.read_bytes(), bench.names)
        assert ("seed_file_failed",) == bench.seed_file.flags
        assert "No space left on device" in caplog.text
        subprocess.run([mount, "-o", "remount,size=64k", str(where)], check=True)
        bench.save()
        assert OLD != bench.path.read_bytes()
    finally:
        subprocess.run([umount, str(where)], check=True)


# Leftovers, and a directory that comes and goes.


def test_seedfile_leftover_is_replaced(bench: SeedBench) -> None:
    """What a killed writer left is neither read nor kept, be it a link."""
    bench.put(OLD)
    leftover = bench.path.with_name("seed.new")
    target = bench.path.with_name("target")
    for make in (lambda: leftover.write_bytes(b"half"), lambda: leftover.symlink_to(target)):
        make()
        bench.save()
        assert ["seed"] == bench.names
        assert () == bench.seed_file.flags


def test_seedfile_leftover_that_stays(bench: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """A directory in the place of the temporary makes the save fail and is not touched."""
    bench.put(OLD)
    bench.path.with_name("seed.new").mkdir()
    bench.save()
    assert (OLD, ["seed", "seed.new"]) == (bench.path.read_bytes(), bench.names)
    assert "cannot be replaced: File exists" in caplog.text


def test_seedfile_missing_directory_is_created(tmp_path: Path) -> None:
    """The directory is created for the owner alone, whatever the umask gives to others."""
    bench = SeedBench(tmp_path / "state")
    bench.path.parent.rmdir()
    before = os.umask(0)
    try:
        bench.restart()
    finally:
        os.umask(before)
    assert (0o40700, ["seed"]) == (bench.path.parent.stat().st_mode, bench.names)
    assert () == bench.seed_file.flags


def test_seedfile_directory_created_by_another(tmp_path: Path) -> None:
    """A directory that another process creates at the same moment is taken."""
    bench = SeedBench(tmp_path / "state")
    bench.path.parent.rmdir()

    def mkdir(real: Any, path: str, mode: int) -> None:
        real(path, mode)
        real(path, mode)

    bench.files.faults["mkdir"] = mkdir
    bench.restart()
    assert (["seed"], ()) == (bench.names, bench.seed_file.flags)


def test_seedfile_created_directory_is_checked(tmp_path: Path) -> None:
    """A directory that appears meanwhile is checked like any other."""
    bench = SeedBench(tmp_path / "state")
    bench.path.parent.rmdir()
    bench.files.faults["mkdir"] = lambda real, path, mode: os.mkdir(path, 0o755)  # noqa: PTH102
    bench.save()
    assert ("seed_file_unsafe",) == bench.seed_file.flags


@pytest.mark.parametrize("failure", ["missing parent", "read-only"])
def test_seedfile_directory_that_cannot_be_created(
    failure: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the directory cannot be created the boot goes on with its flag; no more than one directory is created."""
    bench = SeedBench(tmp_path / "state")
    bench.path.parent.rmdir()
    if failure == "read-only":
        bench.files.faults["mkdir"] = READ_ONLY
    else:
        bench.seed_file = SeedFile(str(tmp_path / "a" / "b" / "seed"), bench.files.files, bench.clock, INTERVAL_NS)
    before = open_descriptors()
    bench.restart()
    assert ("seed_file_failed",) == bench.seed_file.flags
    assert "; create it with mode 0700, or name another place in seed_file.path" in caplog.text
    assert ([], before) == (list(tmp_path.iterdir()), open_descriptors())


def test_seedfile_directory_removed_while_running(bench: SeedBench) -> None:
    """A directory that was removed is there again after the next save."""
    bench.restart()
    bench.path.unlink()
    bench.path.parent.rmdir()
    bench.save()
    assert (["seed"], 0o40700, ()) == (bench.names, bench.path.parent.stat().st_mode, bench.seed_file.flags)


def test_seedfile_directory_removed_in_the_middle(bench: SeedBench) -> None:
    """A directory that is removed between the lock and the file makes that save fail and no other."""

    def lock(real: Any, descriptor: int) -> None:
        real(descriptor)
        bench.path.parent.rmdir()

    bench.files.faults["lock#1"] = lock
    bench.save()
    assert ("seed_file_failed",) == bench.seed_file.flags
    bench.save()
    assert ["seed"] == bench.names


def test_seedfile_in_the_root_directory() -> None:
    """A file right under the root directory has that for its directory."""
    opened: list[str] = []

    def note(real: Any, path: str, *arguments: int, **named: int) -> int:
        opened.append(path)
        descriptor: int = real(path, *arguments, **named)
        return descriptor

    files = FaultyFiles(MemoryDisk())
    files.faults["open"] = note
    SeedFile("/seed", files.files, ManualClock(), INTERVAL_NS).save(WorstGenerator().draw)
    assert ["/", "seed.new"] == opened


# The lock.


def test_seedfile_boot_waits_for_the_lock(bench: SeedBench, holder: int, caplog: pytest.LogCaptureFixture) -> None:
    """A boot that finds the lock taken looks again, for five seconds, then goes on without the file and says so."""
    bench.put(OLD)
    before = open_descriptors()
    bench.restart()
    assert [RETRY_SECONDS] * 500 == bench.clock.slept
    assert ([], OLD) == (bench.generator.got, bench.path.read_bytes())
    assert ("seed_file_locked",) == bench.seed_file.flags
    assert [
        "seed file, going on from the other sources: DIR/seed: other processes held its lock for 5 s; see which one is "
        "stuck"
    ] == messages(caplog, bench)
    assert before == open_descriptors()


@pytest.mark.parametrize(("looks", "is_read"), [(500, True), (501, True), (502, False)])
def test_seedfile_lock_freed(looks: int, is_read: bool, bench: SeedBench) -> None:
    """A lock that is free at the end of the wait is taken still; one look later it is too late."""
    bench.put(OLD)
    tries = iter(range(1, looks + 1))

    def lock(real: Any, descriptor: int) -> None:
        if next(tries) < looks:
            raise BlockingIOError(errno.EAGAIN, "taken")
        real(descriptor)

    bench.files.faults["lock"] = lock
    start = bench.clock.now
    bench.restart()
    assert ([OLD] if is_read else []) == bench.generator.got
    assert (() if is_read else ("seed_file_locked",)) == bench.seed_file.flags
    assert min(looks - 1, 500) * 10_000_000 == bench.clock.now - start <= LOCK_WAIT_NS


def test_seedfile_save_leaves_a_taken_lock_alone(bench: SeedBench, holder: int) -> None:
    """A save that finds the lock taken leaves the work to its holder, at once and without a flag."""
    bench.put(OLD)
    bench.save()
    assert (OLD, [], ()) == (bench.path.read_bytes(), bench.clock.slept, bench.seed_file.flags)
    fcntl.flock(holder, fcntl.LOCK_UN)
    bench.save()
    assert OLD != bench.path.read_bytes()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EBADF, errno.EOPNOTSUPP])
@pytest.mark.parametrize("act", ["restart", "save"])
def test_seedfile_no_locks(number: int, act: str, bench: SeedBench, caplog: pytest.LogCaptureFixture) -> None:
    """Where there are no locks, as on some network file systems, the file is left alone, and the flag says so."""
    bench.put(OLD)
    bench.files.faults["lock"] = OSError(number, os.strerror(number))
    getattr(bench, act)()
    assert (OLD, [], ["seed"]) == (bench.path.read_bytes(), bench.generator.got, bench.names)
    assert ("seed_file_locked",) == bench.seed_file.flags
    assert [
        f"seed file, going on from the other sources: DIR: cannot be locked: {os.strerror(number)}; name a place on a "
        "local file system in seed_file.path"
    ] == messages(caplog, bench)


def test_seedfile_is_unlocked_while_it_logs(bench: SeedBench) -> None:
    """A logger finds the lock free: it may take its time, and wait for whom it likes."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            descriptor = os.open(bench.path.parent, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(descriptor)
            found.append(record.levelname)

    handler = Handler()
    logging.getLogger("fortuna").addHandler(handler)
    try:
        bench.put(b"")
        bench.restart()
        bench.files.faults["rename"] = BROKEN
        bench.save()
    finally:
        logging.getLogger("fortuna").removeHandler(handler)
    assert ["WARNING", "WARNING"] == found
    assert ("seed_file_corrupt", "seed_file_failed") == bench.seed_file.flags


def test_seedfile_leaves_nothing_open(bench: SeedBench) -> None:
    """No boot and no save leaves a descriptor open."""
    before = open_descriptors()
    for _ in range(20):
        bench.restart()
        bench.save()
    assert before == open_descriptors()
