"""Notice that this process is a forked child, at the point of use.

A child inherits K. If it drew from it, parent and child would hand out the same bytes, so every request asks here
first. Three detectors, because each has a blind spot:

* the at-fork hook of Python misses forks made by C code;
* a page that the kernel wipes in the child (``MADV_WIPEONFORK``, Linux 4.14) misses nothing, where it exists;
* the process id is wrong when a grandchild gets its dead grandparent's number, so it is asked only where no page is
  armed.

All they do is step one number, the *epoch*. State made in one epoch is not used in another.
"""

from __future__ import annotations

import mmap
import os
import sys
from weakref import WeakValueDictionary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, Protocol

    class Inheritor(Protocol):
        """What holds state that a child must drop."""

        def abandon(self) -> None:
            """Drop K in the child; no lock may be taken."""

        def pull_soon(self) -> None:
            """Refresh K in the parent, which shared it for a moment."""


#: Linux's number for "zero this range in a forked child"; Python's mmap module has no name for it.
MADV_WIPEONFORK: Final = 18
#: No kernel knows this advice. An emulator that accepts it accepts everything and wipes nothing.
BOGUS_ADVICE: Final = 0x7FFFFFFE


class ForkDetector:
    """Count the forks that lie between this process and the one that made the detector.

    Parameters
    ----------
    use_hook, use_page : bool
        Arm the at-fork hook and the wipe-on-fork page; tests disarm one to see the others work.
    getpid : callable
        The process id, for where no page can be armed.

    Attributes
    ----------
    parent_forks : int
        Forks made by this very process, as its hook saw them.

    Notes
    -----
    Safe for threads: two that notice one fork at the same time may step the epoch twice, which is harmless. The hook
    cannot be unregistered, so a process makes one detector; it takes no lock and allocates next to nothing.
    """

    __slots__ = ("__weakref__", "_epoch", "_getpid", "_inheritors", "_page", "_pid", "hook_armed", "parent_forks")

    def __init__(self, *, use_hook: bool = True, use_page: bool = True, getpid: Callable[[], int] = os.getpid) -> None:
        self._epoch = 0
        self._getpid = getpid
        self._pid = getpid()
        self._page = arm_page() if use_page else None
        # By id; a set would have to be walked in Python, and another thread could change it meanwhile.
        self._inheritors: WeakValueDictionary[int, Inheritor] = WeakValueDictionary()
        self.parent_forks = 0
        self.hook_armed = use_hook and hasattr(os, "register_at_fork")
        if self.hook_armed:
            os.register_at_fork(after_in_child=self._in_child, after_in_parent=self._in_parent)

    def epoch(self) -> int:
        """Return a number that differs from what it was before this process was forked."""
        if self._page is not None:
            if not self._page[0]:
                # In this order: a thread that sees the page armed again must also see the new epoch.
                self._epoch += 1
                self._page[0] = 1
        elif self._getpid() != self._pid:
            self._epoch += 1
            self._pid = self._getpid()
        return self._epoch

    def watch(self, inheritor: Inheritor) -> None:
        """Have the hook call *inheritor* on both sides of a fork, so that K is dropped even if it is never used."""
        self._inheritors[id(inheritor)] = inheritor

    @property
    def inheritors(self) -> tuple[Inheritor, ...]:
        """What is watched and still alive."""
        found = [reference() for reference in self._inheritors.valuerefs()]
        return tuple(inheritor for inheritor in found if inheritor is not None)

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names of the detectors that are live."""
        hook = ("at-fork hook",) if self.hook_armed else ()
        return (*hook, "process id" if self._page is None else "wipe-on-fork page")

    def _in_child(self) -> None:
        self._epoch += 1
        for inheritor in self.inheritors:
            inheritor.abandon()

    def _in_parent(self) -> None:
        self.parent_forks += 1
        for inheritor in self.inheritors:
            inheritor.pull_soon()


def arm_page() -> mmap.mmap | None:
    """Map one private page that reads 1 here and 0 in a forked child; ``None`` where the kernel cannot do that."""
    if sys.platform != "linux":
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        page.madvise(BOGUS_ADVICE)
    except OSError:
        pass
    else:
        return None
    try:
        page.madvise(MADV_WIPEONFORK)
    except OSError:
        return None
    page[0] = 1
    return page
