"""One life of a live generator: all state that belongs to one process, from its seeding to a fork or to the end.

After a fork the child builds a new life, with locks that nobody holds, and never looks at the old one again. A call
that was interrupted by the fork still holds the old life, finds that it is not the current one, and starts over.

Locks: ``_pull_lock`` is only ever tried, never waited for. ``_pool_lock`` is for the accumulator, and the one inside
`SharedGenerator` for K and C; no code here waits for one of them while it holds the other, since a signal handler may
interrupt a request, which holds the second, and want the first. Sources are harvested outside both.
"""

from __future__ import annotations

from _thread import RLock, allocate_lock

from .core.accumulator import Accumulator
from .errors import NotSeededError, SourceError
from .generators.base import KEY_SIZE
from .generators.secret import Uncopyable
from .parts import FIRST_SEED_BITS
from .shared import free_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .native import NativeShared
    from .parts import Parts
    from .shared import SharedGenerator
    from .typing import Buffer, Source

#: Bytes of a harvest that make one event.
EVENT_SIZE: Final = 32
#: A pull that has not come back after this time died of an exception raised by a signal handler between taking the
#: lock and remembering it; built-in sources answer in microseconds.
STALE_PULL_NS: Final = 10_000_000_000
#: No number of forks: a pull is due.
NEVER: Final = -1
#: Pause between two looks at sources that are not ready, while a boot waits.
RETRY_SECONDS: Final = 0.01


class Life(Uncopyable):
    """Accumulator, shared generator and locks of one process.

    Attributes
    ----------
    epoch : int
        The fork epoch it belongs to.
    generator : SharedGenerator or NativeShared
        What requests are served from.
    accumulator : Accumulator
        Under ``_pool_lock``; its counts may be read without.
    failures : dict
        Source name -> how many harvests in a row failed; empty while all is well.
    """

    __slots__ = (
        "_last_pull_ns",
        "_parts",
        "_pool_lock",
        "_pull_lock",
        "_pulled_after_forks",
        "accumulator",
        "epoch",
        "failures",
        "generator",
    )

    def __init__(self, parts: Parts, epoch: int, generator: SharedGenerator | NativeShared) -> None:
        self._parts = parts
        self.epoch = epoch
        self.generator = generator
        self.accumulator = Accumulator(
            self.generator,
            parts.construction,
            min_pool_size=parts.min_pool_size,
            interval_ns=parts.interval_ns,
            first_seed_bits=FIRST_SEED_BITS,
        )
        self._pool_lock = RLock()
        self._pull_lock = allocate_lock()
        self._last_pull_ns = 0
        # A pull is due after this process was forked, so that what the child inherited is soon worth nothing.
        self._pulled_after_forks = NEVER
        self.failures: dict[str, int] = {}

    def seed_from(self, fresh: Buffer) -> None:
        """Seed at once from *fresh*, unpaced and without pools: a forked child's or a child generator's first seed."""
        now = self._parts.clock.monotonic_ns()
        self._mark_pulled(now)
        self._install(now, fresh)

    @property
    def next_pull_ns(self) -> int:
        """The first nanosecond at which the next pull is due: 1, long ago, where a fork since the last asks for it."""
        if self._pulled_after_forks != self._parts.forks.parent_forks:
            return 1
        return self._last_pull_ns + self._parts.interval_ns + 1

    def pull_if_due(self) -> None:
        """Harvest and reseed when the interval has passed since the last pull, unless somebody is at it already."""
        now = self._parts.clock.monotonic_ns()
        passed = now - self._last_pull_ns
        if passed <= self._parts.interval_ns and self._pulled_after_forks == self._parts.forks.parent_forks:
            return
        if passed > STALE_PULL_NS and self._pull_lock.locked():
            self._pull_lock = allocate_lock()
        lock = self._pull_lock
        if lock.acquire(blocking=False):
            try:
                self.pull(now)
            finally:
                lock.release()

    def pull(self, now: int) -> None:
        """Harvest every source, distribute the events and reseed if the schedule asks for it."""
        self._mark_pulled(now)
        for source in self._parts.sources:
            self._harvest(source)
        # At the time of the pull, not of its end: one clock paces both, or some pulls would reseed nothing.
        self._install(now)
        if not self.generator.is_seeded:
            self._pulled_after_forks = NEVER

    def reseed(self) -> None:
        """Reseed now from 32 fresh bytes of the operating system and the pools that are due."""
        fresh = self._parts.system.read(KEY_SIZE)
        for source in self._parts.sources:
            self._harvest(source)
        self._install(self._parts.clock.monotonic_ns(), fresh)
        fresh.wipe()

    def _install(self, now: int, fresh: Buffer | None = None) -> None:
        """Reseed from *fresh* and the due pools, or without *fresh* when the schedule asks for it."""
        with self._pool_lock:
            if fresh is None and not self.accumulator.is_due(now):
                return
            seed = self.accumulator.take_seed(now, fresh or b"")
        self.generator.reseed(seed)
        seed.wipe()

    def add_event(self, source: int, data: Buffer, min_entropy: float = 0.0) -> None:
        """Give one event to the pools."""
        timestamp = self._parts.clock.monotonic_ns()
        with self._pool_lock:
            self.accumulator.add(source, data, timestamp=timestamp, min_entropy=min_entropy)

    def wait_for_seed(self, timeout_ns: int) -> None:
        """Pull until the first seed or until the time is up.

        Raises
        ------
        NotSeededError
            Time is up; the message names what each source answered.
        """
        clock = self._parts.clock
        deadline = clock.monotonic_ns() + timeout_ns
        while True:
            now = clock.monotonic_ns()
            self.pull(now)
            if self.generator.is_seeded:
                return
            if now >= deadline:
                failing = ", ".join(self.failures) or "none; they gave too little"
                raise NotSeededError(
                    f"not seeded within boot.timeout = {timeout_ns / 1e9:g} s; failing sources: {failing}; "
                    "wait for the operating system's generator or raise boot.timeout"
                )
            if self.failures:
                clock.sleep(RETRY_SECONDS)

    def abandon_in_child(self) -> None:
        """Drop K in a forked child, and free the locks of threads that it does not have."""
        free_lock(self._pool_lock)
        self.generator.abandon_in_child()

    def _mark_pulled(self, now: int) -> None:
        self._last_pull_ns = now
        self._pulled_after_forks = self._parts.forks.parent_forks

    def _harvest(self, source: Source) -> None:
        try:
            harvest = memoryview(source.harvest())
        except SourceError as error:
            self._note_failure(source.name, error)
            return
        self.failures.pop(source.name, None)
        for start in range(0, len(harvest), EVENT_SIZE):
            self.add_event(source.number, harvest[start : start + EVENT_SIZE], source.min_entropy)

    def _note_failure(self, name: str, error: SourceError) -> None:
        failures = self.failures.get(name, 0) + 1
        self.failures[name] = failures
        if failures == 1 and self.generator.is_seeded:
            # Imported here because a healthy generator never logs.
            from logging import getLogger

            getLogger("fortuna").warning("entropy source fails, going on with the current key: %s", error)

    def __repr__(self) -> str:
        return f"<life {self.epoch} of {self.generator!r}>"
