"""Where the bytes go: a descriptor that takes all of them, or an error that says how many it took."""

from __future__ import annotations

import os
import stat

from .status import OutputError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final

    from typing_extensions import Self

    from ..typing import Buffer


#: Bytes that Linux lets an ordinary user's pipe hold, unless it was told otherwise.
PIPE_SIZE: Final = 1 << 20


class Sink:
    """A descriptor that is written to without a buffer of ours.

    Parameters
    ----------
    descriptor : int
        Open for writing. Blocking or not: a full pipe is waited for.
    target : str
        Its name in messages.
    owns : bool
        Whether leaving the context closes it.
    """

    __slots__ = ("_descriptor", "_owns", "_target", "_written")

    def __init__(self, descriptor: int, target: str, *, owns: bool) -> None:
        self._descriptor = descriptor
        self._target = target
        self._owns = owns
        self._written = 0

    def write(self, data: Buffer) -> None:
        """Write all of *data*.

        Raises
        ------
        OutputError
            The target does not take it.
        BrokenPipeError
            Nobody reads any more.
        """
        with memoryview(data) as view:
            start = 0
            while start < len(view):
                try:
                    taken = os.write(self._descriptor, view[start:])
                except BlockingIOError:
                    self._wait()
                except BrokenPipeError:
                    raise
                except OSError as error:
                    raise self._failure(error) from error
                else:
                    start += taken
                    self._written += taken

    def widen(self) -> None:
        """Have a pipe hold as much as the system allows anybody; with less, writer and reader wait for each other."""
        import fcntl  # here, because short outputs do not need it

        try:
            if fcntl.fcntl(self._descriptor, fcntl.F_GETPIPE_SZ) < PIPE_SIZE:
                fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        except (AttributeError, OSError):
            pass  # no pipe, no Linux, or more than this user has left: then as it is

    def _wait(self) -> None:
        """Wait until a non-blocking descriptor takes more."""
        from select import select  # here, because few outputs are non-blocking

        select((), (self._descriptor,), ())

    def _failure(self, error: OSError) -> OutputError:
        return OutputError(f"{self._target}: {error.strerror} after {self._written} bytes written")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._owns:
            try:
                os.close(self._descriptor)
            except OSError as failure:  # a network file system reports a full disk here
                if error is None:
                    raise self._failure(failure) from failure


def create_file(path: str, *, force: bool) -> Sink:
    """Create *path* with mode 0600, or open it where it is a FIFO or a character device.

    Writing destroys nothing there. An existing file is overwritten with *force* only. Its mode is then set to 0600 as
    well, since what will be in it is secret.

    Raises
    ------
    UsageError
        The file exists and *force* is off, or it is a folder.
    OutputError
        It cannot be opened.
    """
    flags = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        descriptor = open_existing(path, flags, force=force)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}; nothing was written") from error
    return Sink(descriptor, path, owns=True)


def open_existing(path: str, flags: int, *, force: bool) -> int:
    """Open what *path* names already; what it is, is asked of the opened descriptor."""
    try:
        descriptor = os.open(path, flags)
    except IsADirectoryError as error:
        raise UsageError(f"-o {path}: it is a folder; name a file in it") from error
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}; nothing was written") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or force):
            raise UsageError(f"-o {path}: the file exists; --force overwrites it")
        if stat.S_ISREG(mode):
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, 0)
    except OSError as error:
        os.close(descriptor)
        raise OutputError(f"{path}: {error.strerror}; nothing was written") from error
    except UsageError:
        os.close(descriptor)
        raise
    return descriptor
