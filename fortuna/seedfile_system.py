"""The file system that a seed file lies on: the calls it needs, as the operating system gives them.

`fortuna._boot` picks this one; tests hand in another, which stops, lies or runs full at a step of their choice.
"""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Files(Protocol):
        """The calls to the file system, as `os` has them; `SystemFiles` is the real one."""

        def open(self, path: str, flags: int, mode: int = ..., *, dir_fd: int | None = ...) -> int:
            """Open, relative to an opened directory where one is given."""
            ...

        def close(self, descriptor: int, /) -> None:
            """Close."""

        def fstat(self, descriptor: int, /) -> os.stat_result:
            """Return what the descriptor leads to."""
            ...

        def stat(self, path: str, *, dir_fd: int | None = ..., follow_symlinks: bool = ...) -> os.stat_result:
            """Return what the name leads to."""
            ...

        def read(self, descriptor: int, size: int, /) -> bytes:
            """Read up to *size* bytes."""
            ...

        def write(self, descriptor: int, data: memoryview, /) -> int:
            """Write, and return how many bytes were."""
            ...

        def fsync(self, descriptor: int, /) -> None:
            """Return when it is on the disk."""

        def rename(
            self, source: str, target: str, /, *, src_dir_fd: int | None = ..., dst_dir_fd: int | None = ...
        ) -> None:
            """Rename, and replace what had the name."""

        def unlink(self, path: str, *, dir_fd: int | None = ...) -> None:
            """Remove a file."""

        def mkdir(self, path: str, mode: int = ...) -> None:
            """Make a directory."""

        def geteuid(self) -> int:
            """Return the user whose files these must be."""
            ...

        def lock(self, descriptor: int, /) -> None:
            """Lock exclusively without waiting, or raise ``BlockingIOError``."""

        def unlock(self, descriptor: int, /) -> None:
            """Unlock."""


class SystemFiles:
    """The system calls, each under the name and with the errors that `os` and `fcntl` give it."""

    __slots__ = ()

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    fstat = staticmethod(os.fstat)
    stat = staticmethod(os.stat)
    read = staticmethod(os.read)
    write = staticmethod(os.write)
    fsync = staticmethod(os.fsync)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(os.mkdir)
    geteuid = staticmethod(os.geteuid)

    @staticmethod
    def lock(descriptor: int) -> None:
        """Lock what is open exclusively, or raise ``BlockingIOError`` where somebody else holds the lock."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @staticmethod
    def unlock(descriptor: int) -> None:
        """Give the lock back."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
