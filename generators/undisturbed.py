"""Import without being interrupted.

A signal handler may draw random bytes while the very call it interrupts is still importing what draws them: it would
find half a module. So the imports of a first call hold signals back for the few milliseconds they take. Signals that
another thread receives still reach the handler; docs/limitations.md says so.

Whoever has installed a handler has imported ``signal``. Where nobody has, there is nothing to hold back, and the import
of ``signal``, which takes longer than that of this package, is spared.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Undisturbed:
    """A context in which this thread receives no signals; they are delivered at its end."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        signal = sys.modules.get("signal")
        # Windows has neither such masks nor handlers that interrupt at will.
        if signal is not None and hasattr(signal, "pthread_sigmask"):
            self._before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
            try:
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            except BaseException:
                # The mask is set before handlers of signals that came just now are run, and one of them raised.
                signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if hasattr(self, "_before"):
            signal = sys.modules["signal"]
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
