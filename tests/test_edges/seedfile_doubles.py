"""Doubles for the seed file: file systems that stop, fail or lose power at a chosen step, and a generator to reseed."""

from __future__ import annotations

import errno
import os
import stat
from hashlib import sha512
from typing import TYPE_CHECKING, Any, Final, cast

from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles

from .edge_doubles import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fortuna.generators.secret import Secret
    from fortuna.seedfile_system import Files

INTERVAL_NS: Final = 600_000_000_000


class Killed(BaseException):
    """The process was killed. None of its code runs any more, so a double that raised this does nothing any more."""


class FaultyFiles:
    """A file system in front of another one, that counts the calls and fails where it is told to.

    Attributes
    ----------
    calls : list of str
        The names of the calls so far.
    stop_at : int or None
        How many calls are carried out before the process is killed.
    faults : dict
        What to do in place of a call: an error to raise, or a callable that gets the real call and its arguments. The
        key is the call's name, or its name and number: ``fsync#2``.
    """

    def __init__(self, inner: object) -> None:
        self.inner = inner
        self.calls: list[str] = []
        self.stop_at: int | None = None
        self.faults: dict[str, OSError | Callable[..., Any]] = {}
        self.opened: set[int] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        real = getattr(self.inner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            if self.stop_at is not None and len(self.calls) >= self.stop_at:
                raise Killed
            self.calls.append(name)
            fault = self.faults.get(f"{name}#{self.calls.count(name)}", self.faults.get(name))
            if isinstance(fault, OSError):
                raise fault
            result = real(*arguments, **named) if fault is None else fault(real, *arguments, **named)
            if name == "open":
                self.opened.add(result)
            elif name == "close":
                self.opened.discard(arguments[0])
            return result

        return call

    def end(self) -> None:
        """Close what a killed process had open, as the system does."""
        for descriptor in self.opened:
            cast("Any", self.inner).close(descriptor)
        self.opened.clear()

    @property
    def files(self) -> Files:
        """Itself, in the type that the product asks for."""
        return cast("Files", self)


class Inode:
    """A file of the memory disk: what programs see, and what would survive a loss of power."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.on_disk = bytes(content)


class MemoryDisk:
    """A directory in memory that can lose power: what was not synced is then gone, in part or as a whole."""

    #: What a loss of power leaves: all that was done; what was synced; names as they were, contents as synced; the
    #: other way round.
    LOSSES: Final = ("nothing", "all", "contents", "names")

    def __init__(self, **files: bytes) -> None:
        self.names = {name: Inode(content) for name, content in files.items()}
        self.names_on_disk = dict(self.names)
        self._open: dict[int, Inode | None] = {}
        self._next = 100
        self._locked_by: int | None = None

    def open(self, path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """Open the directory, which has an absolute name, or a file in it."""
        inode: Inode | None = None
        if not flags & os.O_DIRECTORY:
            assert dir_fd in self._open
            if flags & os.O_CREAT:
                assert flags & os.O_EXCL
                if path in self.names:
                    raise FileExistsError(errno.EEXIST, "File exists")
                self.names[path] = Inode()
            if path not in self.names:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory")
            inode = self.names[path]
        self._next += 1
        self._open[self._next] = inode
        return self._next

    def close(self, descriptor: int) -> None:
        """Close, and drop the lock that goes with it."""
        del self._open[descriptor]
        if self._locked_by == descriptor:
            self._locked_by = None

    def fstat(self, descriptor: int) -> os.stat_result:
        """Say that it is as it should be."""
        mode = stat.S_IFDIR | 0o700 if self._open[descriptor] is None else stat.S_IFREG | 0o600
        return os.stat_result((mode, 1, 1, 1, 4242, 0, 64, 0, 0, 0))

    def geteuid(self) -> int:
        """Say that the user is the owner."""
        return 4242

    def read(self, descriptor: int, size: int) -> bytes:
        """Read all at the first call."""
        inode = self._open[descriptor]
        assert inode is not None
        self._open[descriptor] = Inode()
        return bytes(inode.content)

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write at most 24 bytes, so that one seed takes several calls."""
        inode = self._open[descriptor]
        assert inode is not None
        inode.content += data[:24]
        return len(data[:24])

    def fsync(self, descriptor: int) -> None:
        """Bring a file's content or the directory's names to the disk."""
        inode = self._open[descriptor]
        if inode is None:
            self.names_on_disk = dict(self.names)
        else:
            inode.on_disk = bytes(inode.content)

    def rename(self, source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Give a file another name."""
        self.names[target] = self.names.pop(source)

    def unlink(self, path: str, *, dir_fd: int) -> None:
        """Remove a name."""
        if path not in self.names:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        del self.names[path]

    def lock(self, descriptor: int) -> None:
        """Lock."""
        assert self._locked_by is None
        self._locked_by = descriptor

    def unlock(self, descriptor: int) -> None:
        """Unlock."""
        assert self._locked_by == descriptor
        self._locked_by = None

    def lose_power(self, loss: str) -> None:
        """Start again from what the loss of power left."""
        if loss in ("all", "names"):
            self.names = dict(self.names_on_disk)
        if loss in ("all", "contents"):
            for inode in self.names.values():
                inode.content = bytearray(inode.on_disk)
        for inode in self.names.values():
            inode.on_disk = bytes(inode.content)
        self.names_on_disk = dict(self.names)


class WorstGenerator:
    """A generator whose only secret is the seed file: each boot starts with the same key.

    A live generator never boots like that. If this one does not repeat itself, no other does for want of a fresh file.
    """

    def __init__(self) -> None:
        self._key = b"the same at each boot"
        self.got: list[bytes] = []

    def reseed(self, seed: Secret) -> None:
        """Mix *seed* into the key."""
        self.got.append(bytes(seed))
        self._key = sha512(self._key + seed).digest()

    def draw(self, out: Secret) -> None:
        """Fill the 64 bytes of *out*."""
        out[:] = sha512(b"out" + self._key).digest()
        self._key = sha512(b"key" + self._key).digest()

    def output(self) -> bytes:
        """Return what a reader gets."""
        out = sha512(b"out" + self._key).digest()
        self._key = sha512(b"key" + self._key).digest()
        return out


class SeedBench:
    """A seed file on a real directory, behind a file system that can fail, with a clock set by hand."""

    def __init__(self, where: Path) -> None:
        where.mkdir(mode=0o700, exist_ok=True)
        self.path = where / "seed"
        self.clock = ManualClock()
        self.files = FaultyFiles(SystemFiles())
        self.generator = WorstGenerator()
        self.seed_file = self.make()

    def make(self) -> SeedFile:
        """Return a seed file at the same place, as each life makes one for itself."""
        return SeedFile(str(self.path), self.files.files, self.clock, INTERVAL_NS)

    def put(self, content: bytes, mode: int = 0o600) -> None:
        """Write a seed file by hand."""
        self.path.write_bytes(content)
        self.path.chmod(mode)

    def restart(self) -> None:
        """Boot."""
        self.seed_file.restart(self.generator.reseed, self.generator.draw)

    def save(self) -> None:
        """Save."""
        self.seed_file.save(self.generator.draw)

    @property
    def names(self) -> list[str]:
        """What lies in the directory."""
        return sorted(path.name for path in self.path.parent.iterdir())


def open_descriptors() -> int:
    """Return how many descriptors this process has open, as far as the first 256 go."""
    count = 0
    for descriptor in range(256):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        count += 1
    return count
