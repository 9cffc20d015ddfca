"""The harvester: one daemon thread of a life, for work that no reader should wait for.

It harvests the sources of cost class ``slow``, every source where ``entropy.harvest_interval`` asks for it, and saves
the seed file. There is no such thread unless one of these is configured, and then not before the first request (or a
boot that has slow sources only). A forked child has no threads but the one that forked; its new life has a harvester of
its own, started in the same way.

A source may block for ever, and no thread can be stopped from outside. So the next pull after the budget is used up
leaves the blocked thread to itself and starts another one, which passes that source over until it has come back.
"""

from __future__ import annotations

from weakref import proxy, ref

from .generators.secret import Uncopyable
from .monitor import BUDGET_NS, log
from .unpatched import allocate_lock, start_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Sequence
    from typing import Final

    from .life import Life
    from .monitor import Monitor
    from .typing import Clock

#: Pause between two rounds where ``entropy.harvest_interval`` is 0.
PAUSE_SECONDS: Final = 1.0
#: Pause while nothing is seeded yet.
EAGER_SECONDS: Final = 0.01
#: Turn of a harvester that was stopped, or could not be started; threads count from 1.
STOPPED: Final = -1


class Harvester(Uncopyable):
    """Work done beside the readers.

    Parameters
    ----------
    life : Life
        Whose pools it feeds; held weakly.
    monitors : sequence of Monitor
        The slow sources.
    pause_seconds : float
        Pause between two rounds.
    clock : Clock
        Measures harvests against their budget.

    Notes
    -----
    `watch` is called under the lock of a pull; the rest is safe for threads. A thread refers to its harvester weakly
    while it pauses, so it keeps no generator alive that nobody uses any more.
    """

    __slots__ = ("__weakref__", "_busy", "_clock", "_life", "_monitors", "_pause_seconds", "_stuck", "_turn", "_wake")

    def __init__(self, life: Life, monitors: Sequence[Monitor], pause_seconds: float, clock: Clock) -> None:
        self._life: Life = proxy(life)
        self._monitors = tuple(monitors)
        self._pause_seconds = pause_seconds
        self._clock = clock
        self._turn = 0
        self._busy: tuple[Monitor, int] | None = None  # what is being harvested, and since when
        self._stuck: set[Monitor] = set()
        self._wake: LockType | None = None  # its thread pauses by waiting for it

    @property
    def was_started(self) -> bool:
        """Whether `watch` has nothing left to start."""
        return self._turn != 0

    def watch(self, now_ns: int) -> None:
        """Start the thread where there is none yet, and replace one that a source keeps beyond its budget."""
        if not self._turn:
            self._start(1)
        elif self._busy is not None:
            monitor, since_ns = self._busy
            if now_ns - since_ns > BUDGET_NS["slow"] and self._turn > 0:
                self._busy = None
                self._stuck.add(monitor)
                monitor.note_overdue(now_ns - since_ns)
                self._start(self._turn + 1)

    def is_turn(self, turn: int) -> bool:
        """Whether the thread of that *turn* is the one whose harvests count."""
        return turn == self._turn

    def stop(self) -> None:
        """Have the thread end after what it is doing; it is not waited for."""
        self._turn = STOPPED
        if self._wake is not None:
            try:
                self._wake.release()
            except RuntimeError:
                pass  # stopped twice at once

    def round(self, turn: int) -> float:
        """Harvest each source once for the thread of that *turn*; return for how many seconds to pause."""
        for monitor in self._monitors:
            if monitor in self._stuck:
                continue
            self._busy = (monitor, self._clock.monotonic_ns())
            self._life.distribute(monitor)
            if turn != self._turn:
                # Left to itself meanwhile, or stopped: others harvest now, and this source may be asked again.
                self._stuck.discard(monitor)
                return 0.0
            self._busy = None
        self._life.do_chores()
        return self._pause_seconds if self._life.generator.is_seeded else EAGER_SECONDS

    def _start(self, turn: int) -> None:
        """Start a thread whose harvests count from now on."""
        self._turn = turn
        self._wake = allocate_lock()
        self._wake.acquire()
        try:
            start_thread(run, (ref(self), turn, self._wake), "fortuna-harvester")
        except RuntimeError as error:
            self._turn = STOPPED
            log("no thread for slow sources and the seed file: %s", error)


def run(harvester: ref[Harvester], turn: int, wake: LockType) -> None:
    """Harvest until stopped, replaced, or the harvester is gone: what the thread does."""
    while True:
        working = harvester()
        if working is None or not working.is_turn(turn):
            return
        try:
            pause = working.round(turn)
        except ReferenceError:
            return  # the life is gone
        del working
        wake.acquire(timeout=pause)
