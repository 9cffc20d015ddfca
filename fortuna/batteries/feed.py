"""A stream on its way into a battery: through a pipe, or by way of a file."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..typing import Buffer


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program left behind.

    Attributes
    ----------
    output, errors : str
        Its standard output and standard error.
    status : int
        Its exit status; negative if a signal ended it.
    """

    output: str
    errors: str
    status: int


class Feed:
    """One stream, for one run of a battery.

    Parameters
    ----------
    pieces : iterator of bytes-like
        The stream; a piece is used before the next is asked for.
    progress : callable
        Called with the bytes that went out so far, after every write.
    """

    __slots__ = ("_pieces", "_progress", "size")

    def __init__(self, pieces: Iterator[Buffer], progress: Callable[[int], object]) -> None:
        self._pieces = pieces
        self._progress = progress
        #: Bytes that were taken from us.
        self.size = 0

    def pipe(self, command: Sequence[str], *, size: int | None = None) -> Answer:
        """Run *command* with the next *size* bytes on its standard input, or without end, until it has ended.

        What a program does not take of a piece is dropped, so that the next one starts with a piece, on a whole word.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=errors) as process:
                try:
                    assert process.stdin is not None  # noqa: S101 - it was asked for above
                    self._write(process.stdin.fileno(), size)
                    process.stdin.close()
                    status = process.wait()
                finally:
                    process.kill()
            return Answer(text_of(output.fileno()), text_of(errors.fileno()), status)

    def save(self, path: str, size: int) -> None:
        """Write the next *size* bytes to a new file that nobody else may read."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            self._write(descriptor, size)
        finally:
            os.close(descriptor)

    def _write(self, descriptor: int, size: int | None) -> None:
        """Write until *size* bytes are gone or the reader closes its end."""
        # The command lets a closed pipe end it without a word; this pipe is the battery's, which closes it when it has
        # seen enough.
        before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        try:
            while size is None or size:
                with memoryview(next(self._pieces)) as piece:
                    start, end = 0, len(piece) if size is None else min(size, len(piece))
                    while start < end:
                        start += self._written(os.write(descriptor, piece[start:end]))
                    if size is not None:
                        size -= end
        except BrokenPipeError:
            pass
        finally:
            signal.signal(signal.SIGPIPE, before)

    def _written(self, taken: int) -> int:
        self.size += taken
        self._progress(self.size)
        return taken


def ask(command: Sequence[str], *, answers: str, folder: str) -> Answer:
    """Run *command* in *folder* with *answers* to its questions on standard input."""
    done = subprocess.run(command, input=answers.encode(), capture_output=True, check=False, cwd=folder)
    return Answer(done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode)


def compile_program(command: Sequence[str]) -> Answer:
    """Run the compiler."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return Answer(done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode)


def search(program: str, variables: Mapping[str, str]) -> str | None:
    """Return the path of an executable that a shell would find, or ``None``."""
    from shutil import which

    return which(program, path=variables.get("PATH", os.defpath))


def text_of(descriptor: int) -> str:
    """Return what was written to a temporary file."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read().decode(errors="replace")
