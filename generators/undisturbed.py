"""Import without being interrupted.

A signal handler may draw random bytes while the very call it interrupts is still importing what draws them: it would
find half a module. So the imports of a first call hold signals back for the few milliseconds they take. Signals that
another thread receives still reach the handler; docs/limitations.md says so.
"""

from __future__ import annotations

import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Undisturbed:
    """A context in which this thread receives no signals; they are delivered at its end."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        # Windows has neither such masks nor handlers that interrupt at will.
        if hasattr(signal, "pthread_sigmask"):
            self._before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
