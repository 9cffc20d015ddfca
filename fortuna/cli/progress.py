"""Progress on standard error: a line that is written over on a terminal, and one line for each task anywhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final, TextIO

    from typing_extensions import Self

    from ..typing import Clock

#: Between two updates; writing more often would cost more and show no more.
INTERVAL_NS: Final = 500_000_000
#: What is left of a longer line before is written over.
WIDTH: Final = 79


class Progress:
    """Where tasks tell how far they are.

    Parameters
    ----------
    stream : text stream or None
        Standard error.
    clock : Clock
        Says when to tell again, and how long a task took.
    """

    __slots__ = ("_stream", "clock", "is_terminal")

    def __init__(self, stream: TextIO | None, clock: Clock) -> None:
        self._stream = stream
        self.clock = clock
        self.is_terminal = stream is not None and stream.isatty()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self.write(f"{text:<{WIDTH}}\n" if self.is_terminal else f"{text}\n")

    def write(self, text: str) -> None:
        """Write *text*, if anybody can hear it."""
        if self._stream is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                self._stream = None

    def task(self, label: str) -> Task:
        """Return a task, which is under way inside a ``with`` statement."""
        return Task(self, label)


class Task:
    """One run of a battery."""

    __slots__ = ("_label", "_progress", "_size", "_start", "_told")

    def __init__(self, progress: Progress, label: str) -> None:
        self._progress = progress
        self._label = label
        self._size = 0
        self._start = self._told = progress.clock.monotonic_ns()

    @property
    def seconds(self) -> float:
        """Return the time since the start."""
        return (self._progress.clock.monotonic_ns() - self._start) / 1e9

    def advance(self, size: int) -> None:
        """Note that *size* bytes have been taken, and tell so from time to time, on a terminal."""
        self._size = size
        if self._progress.is_terminal:
            now = self._progress.clock.monotonic_ns()
            if now - self._told >= INTERVAL_NS:
                self._told = now
                self._progress.write(f"{self._line():<{WIDTH}}\r")

    def end(self, result: str) -> None:
        """Write what came of it."""
        self._progress.say(f"{self._line()}: {result}")

    def _line(self) -> str:
        return f"{self._label}: {self._size / 1e6:,.1f} MB, {self.seconds:.1f} s"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and self._progress.is_terminal:
            self._progress.write("\n")  # what comes next is no part of the line
