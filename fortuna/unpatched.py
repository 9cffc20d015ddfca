"""Real locks and real threads, also where gevent has replaced the standard ones.

``gevent.monkey.patch_all()`` makes a lock one that greenlets wait for, and a thread a greenlet. Neither serves here. No
code of ours switches greenlets while it holds a lock, so a real one is held for microseconds whoever asks; and a slow
source in a greenlet would stop all others for as long as it blocks. So what gevent has put aside is used, whether it
came before fortuna or after it; ``_thread.RLock``, the third thing that is used, it leaves as it is.

Sleeping is left to gevent: a boot that waits for its first seed lets other greenlets run.
"""

from __future__ import annotations

import _thread
import sys

from .generators.undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def original(name: str) -> Any:
    """Return what Python's module ``_thread`` has under *name*, not what gevent has put in its place."""
    monkey = sys.modules.get("gevent.monkey")
    return getattr(_thread, name) if monkey is None else monkey.get_original("_thread", name)


def allocate_lock() -> _thread.LockType:
    """Return a lock that keeps threads apart."""
    lock: _thread.LockType = original("allocate_lock")()
    return lock


def start_thread(function: Callable[..., None], arguments: tuple[object, ...], name: str) -> None:
    """Have a daemon thread call *function*.

    Raises
    ------
    RuntimeError
        The system starts no thread.
    """
    start = original("start_new_thread")
    if start is _thread.start_new_thread:
        with Undisturbed("threading"):
            # Imported here, because a generator that is fed by its readers alone has no use for threads.
            from threading import Thread

        Thread(target=function, args=arguments, name=name, daemon=True).start()
    else:
        # The class would start a greenlet. What it adds, a name and an entry in its list, is done without.
        start(function, arguments)
