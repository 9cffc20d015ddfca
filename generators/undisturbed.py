"""Import without being interrupted, by a signal or by a fork.

A signal handler may draw random bytes while the very call it interrupts is still importing what draws them: it would
find half a module. So the imports of a first call hold signals back for the few milliseconds they take. Signals that
another thread receives still reach the handler; docs/limitations.md says so.

A fork while another thread imports would leave the child with the lock of a module that nobody is importing any more,
and its own first call would wait for ever. So Python's forks wait for the end of such imports.

Whoever has installed a handler has imported ``signal``. Where nobody has, there is nothing to hold back, and the import
of ``signal``, which takes longer than that of this package, is spared.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final

#: Held during imports, and by whoever forks. Re-entrant: what is imported may fork, and what forks may import.
IMPORTING: Final = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=IMPORTING.acquire, after_in_parent=IMPORTING.release, after_in_child=IMPORTING.release)


def is_imported(name: str) -> bool:
    """Tell whether the module *name* is there, and whole."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


class Undisturbed:
    """A context in which this thread receives no signals and no thread forks; both go on at its end.

    Parameters
    ----------
    *modules : str
        What is imported in it. Where all of that is there already, nothing is held back and nothing waited for: a boot
        holds a lock that a handler may wait for, on top of another thread's imports.
    """

    __slots__ = ("_before", "_is_idle")

    def __init__(self, *modules: str) -> None:
        self._is_idle = bool(modules) and False not in [is_imported(module) for module in modules]

    def __enter__(self) -> None:
        if self._is_idle:
            return
        IMPORTING.acquire()
        signal = sys.modules.get("signal")
        # Windows has neither such masks nor handlers that interrupt at will.
        if signal is not None and hasattr(signal, "pthread_sigmask"):
            try:
                self._before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            except BaseException:
                # The mask is set before the handlers of signals that came just now are run, and one of them raised.
                IMPORTING.release()
                if hasattr(self, "_before"):
                    signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_idle:
            return
        # In this order: the second may run a handler that raises.
        IMPORTING.release()
        if hasattr(self, "_before"):
            signal = sys.modules["signal"]
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
