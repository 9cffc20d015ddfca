"""One life of a live generator: all state that belongs to one process, from its seeding to a fork or to the end.

After a fork the child builds a new life, with locks that nobody holds, and never looks at the old one again. A call
that was interrupted by the fork still holds the old life, finds that it is not the current one, and starts over.

Locks: ``_pull_lock`` is only ever tried, never waited for. ``_pool_lock`` is for the accumulator, and the one inside
`SharedGenerator` for K and C; no code here waits for one of them while it holds the other, since a signal handler may
interrupt a request, which holds the second, and want the first. Sources are harvested outside both.
"""

from __future__ import annotations

from _thread import RLock

from .core.accumulator import Accumulator
from .errors import NotSeededError, SourceError
from .generators.base import KEY_SIZE
from .generators.secret import Uncopyable
from .monitor import OUT_OF_USE, Monitor, log
from .parts import FIRST_SEED_BITS
from .shared import free_lock
from .unpatched import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .harvester import Harvester
    from .native import NativeShared
    from .parts import Parts
    from .shared import SharedGenerator
    from .typing import Buffer

#: Bytes of a harvest that make one event.
EVENT_SIZE: Final = 32
#: A pull that has not come back after this time died of an exception raised by a signal handler between taking the
#: lock and remembering it; the sources that a pull harvests answer in microseconds.
STALE_PULL_NS: Final = 10_000_000_000
#: No number of forks: a pull is due.
NEVER: Final = -1
#: The flags of a life.
NO_SOURCE_LEFT: Final = "no_source_left"
NOT_RESEEDED: Final = "not_reseeded_after_restore"
#: Pause between two looks at sources that are not ready, while a boot waits.
RETRY_SECONDS: Final = 0.01


class Life(Uncopyable):
    """Accumulator, shared generator, monitored sources, seed file and locks of one process.

    Attributes
    ----------
    epoch : int
        The fork epoch it belongs to.
    generator : SharedGenerator or NativeShared
        What requests are served from.
    seal : tuple of int
        What K was last seeded under: the generation number (`fortuna.clones`), and how many restores were told of.
    accumulator : Accumulator
        Under ``_pool_lock``; its counts may be read without.
    monitors : tuple of Monitor
        The sources. Those that are not slow are harvested under ``_pull_lock``, the others by the harvester alone.
    flags : set of str
        What went wrong once and is worth knowing until the end; see `fortuna.Stats`.
    """

    __slots__ = (
        "__weakref__",
        "_harvester",
        "_is_open",
        "_last_pull_ns",
        "_parts",
        "_pool_lock",
        "_pull_lock",
        "_pulled",
        "_pulled_after_forks",
        "_restores",
        "_seed_file",
        "accumulator",
        "epoch",
        "flags",
        "generator",
        "monitors",
        "seal",
    )

    def __init__(self, parts: Parts, epoch: int, generator: SharedGenerator | NativeShared) -> None:
        self._parts = parts
        self.epoch = epoch
        self.generator = generator
        self._restores = 0
        # Read before anything is harvested: if it changes from here on, K is worth replacing.
        self.seal = (parts.generation.read(), self._restores)
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
        self.monitors = tuple(Monitor(source, parts.clock, health_tests=parts.health_tests) for source in parts.sources)
        self._pulled = tuple(monitor for monitor in self.monitors if monitor.cost != "slow")
        self._seed_file = parts.make_seed_file()
        self._harvester = self._make_harvester()
        self._is_open = False
        self.flags: set[str] = set()

    def _make_harvester(self) -> Harvester | None:
        """Return the harvester where there is work for one."""
        slow = [monitor for monitor in self.monitors if monitor not in self._pulled]
        interval = self._parts.harvest_interval_ns
        if not (slow or interval or self._seed_file):
            return None
        # Imported here, because most generators are fed by their readers alone.
        from .harvester import PAUSE_SECONDS, Harvester

        return Harvester(self, slow, interval / 1e9 or PAUSE_SECONDS, self._parts.clock)

    def seed_from(self, fresh: Buffer) -> None:
        """Seed at once from *fresh*, unpaced and without pools: a forked child's or a child generator's first seed."""
        now = self._parts.clock.monotonic_ns()
        self._mark_pulled(now)
        self._install(now, fresh)
        self._is_open = True

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
        # The boot draws as well, for the seed file; the thread is for services that draw.
        harvester = self._harvester if self._is_open else None
        if (
            0 <= passed <= self._parts.interval_ns
            and self._pulled_after_forks == self._parts.forks.parent_forks
            and (harvester is None or harvester.was_started)
        ):
            return
        if passed > STALE_PULL_NS and self._pull_lock.locked():
            self._pull_lock = allocate_lock()
        if harvester is not None:
            harvester.watch(now)
        self.try_pull(now)

    def try_pull(self, now: int) -> None:
        """Pull, unless somebody is at it already."""
        lock = self._pull_lock
        if lock.acquire(blocking=False):
            try:
                self.pull(now)
            finally:
                lock.release()

    def pull(self, now: int) -> None:
        """Harvest the sources that are not slow, distribute the events and reseed if the schedule asks for it."""
        self._mark_pulled(now)
        for monitor in self._pulled:
            self.distribute(monitor)
        # At the time of the pull, not of its end: one clock paces both, or some pulls would reseed nothing.
        self._install(now)
        if not self.generator.is_seeded:
            self._pulled_after_forks = NEVER
        elif self.monitors:
            self._note_health()

    def reseed(self) -> None:
        """Reseed now from 32 fresh bytes of the operating system, the sources and the pools that are due.

        Raises
        ------
        SourceError
            The operating system gave no bytes; K is unchanged.
        """
        seal = (self._parts.generation.read(), self._restores)
        fresh = self._parts.system.read(KEY_SIZE)
        lock = self._pull_lock
        # Where a pull is under way, in another thread or under this very call, its harvest will do.
        if lock.acquire(blocking=False):
            try:
                for monitor in self._pulled:
                    # The one event of a costly source goes where this reseed finds it.
                    self.distribute(monitor, pool=None if monitor.cost == "cheap" else 0)
            finally:
                lock.release()
        self._install(self._parts.clock.monotonic_ns(), fresh)
        fresh.wipe()
        self.seal = seal

    def is_sealed(self) -> bool:
        """Tell whether K was seeded since the last restore."""
        return self.seal == (self._parts.generation.read(), self._restores)

    def follow_restore(self) -> None:
        """Reseed where the machine or the process was restored since K was last seeded.

        Raises
        ------
        NotSeededError
            The operating system gave no bytes, and K is the one that other copies have as well.
        """
        if self.is_sealed():
            return
        try:
            self.reseed()
        except SourceError as error:
            if NOT_RESEEDED not in self.flags:
                self.flags.add(NOT_RESEEDED)
                log("no reseed after a restore, answering nothing until there is one: %s", error.strerror)
            raise NotSeededError(f"not seeded after a restore: {error}; no byte was given out") from error

    def mark_restored(self) -> None:
        """Have the next request reseed first: other copies of this process hold the same K."""
        self._restores += 1

    def mix(self) -> None:
        """Reseed K and C alone from 32 fresh bytes, before a request, where ``entropy.per_request`` asks for it."""
        harvest = self._parts.harvest_per_request
        if harvest is not None and self.generator.is_seeded:
            fresh = harvest()
            self.generator.reseed(fresh)
            fresh.wipe()

    def _install(self, now: int, fresh: Buffer | None = None) -> None:
        """Reseed from *fresh* and the due pools, or without *fresh* when the schedule asks for it."""
        with self._pool_lock:
            if fresh is None and not self.accumulator.is_due(now):
                return
            seed = self.accumulator.take_seed(now, fresh or b"")
        self.generator.reseed(seed)
        seed.wipe()

    def add_event(self, source: int, data: Buffer) -> None:
        """Give one event of the application to the pools; it credits nothing."""
        timestamp = self._parts.clock.monotonic_ns()
        with self._pool_lock:
            self.accumulator.add(source, data, timestamp=timestamp)

    def distribute(self, monitor: Monitor, *, pool: int | None = None) -> None:
        """Harvest one source and give the pools what may be used, as events of 32 bytes."""
        harvest = monitor.harvest(is_waiting=not self.generator.is_seeded)
        if harvest is None:
            return
        with memoryview(harvest) as view:
            for start in range(0, len(view), EVENT_SIZE):
                timestamp = self._parts.clock.monotonic_ns()
                with self._pool_lock:
                    self.accumulator.add(
                        monitor.number,
                        view[start : start + EVENT_SIZE],
                        pool=pool,
                        timestamp=timestamp,
                        min_entropy=monitor.min_entropy,
                    )
        harvest.wipe()

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
            self.try_pull(clock.monotonic_ns())
            if self.generator.is_seeded:
                return
            now = clock.monotonic_ns()
            if now >= deadline:
                raise NotSeededError(
                    f"not seeded within boot.timeout = {timeout_ns / 1e9:g} s; failing sources: {self._complaints()}; "
                    "wait for the operating system's generator or raise boot.timeout"
                )
            if self._harvester is not None:
                self._harvester.watch(now)
            if self._harvester is not None or self.failing:
                clock.sleep(RETRY_SECONDS)

    def abandon_in_child(self) -> None:
        """Drop K in a forked child, and free the locks of threads that it does not have."""
        free_lock(self._pool_lock)
        self.generator.abandon_in_child()

    def do_chores(self) -> None:
        """Do what the harvester does after each round: pull where an interval is set, save the seed file when due."""
        now = self._parts.clock.monotonic_ns()
        if self._parts.harvest_interval_ns:
            self.try_pull(now)
        if self._seed_file is not None and self._seed_file.is_due(now):
            self._save_seed()

    def open_to_readers(self) -> None:
        """Mix the seed of the last boot in and replace it on the disk: the end of a boot.

        Raises
        ------
        SeedFilePermissionError
            Others may have read or written it.
        """
        seed_file, self._seed_file = self._seed_file, None
        if seed_file is not None:
            seed_file.restart(self.generator.reseed, self.generator.readinto)
            # After a refusal, nobody comes near it any more.
            self._seed_file = seed_file
        self._is_open = True

    def finish(self) -> None:
        """Stop the harvester and save the seed file, before K is wiped."""
        if self._harvester is not None:
            self._harvester.stop()
        if self._seed_file is not None and self.generator.is_seeded:
            self._save_seed()

    def _save_seed(self) -> None:
        if self._seed_file is not None:
            try:
                self._seed_file.save(self.generator.readinto)
            except NotSeededError:
                pass  # restored, closed or forked in this moment, or not to answer: then there is nothing to save

    @property
    def sticky_flags(self) -> tuple[str, ...]:
        """What went wrong once, sorted."""
        return tuple(sorted([*self.flags, *(self._seed_file.flags if self._seed_file is not None else ())]))

    def _mark_pulled(self, now: int) -> None:
        self._last_pull_ns = now
        self._pulled_after_forks = self._parts.forks.parent_forks

    @property
    def failing(self) -> list[Monitor]:
        """The sources that give nothing to the pools now."""
        return [monitor for monitor in self.monitors if monitor.state in OUT_OF_USE]

    def _note_health(self) -> None:
        """Raise a flag, and say once, that no source is left; requests go on from the K there is."""
        if NO_SOURCE_LEFT not in self.flags and len(self.failing) == len(self.monitors):
            self.flags.add(NO_SOURCE_LEFT)
            log("no entropy source is left, going on with the current key: %s", self._complaints())

    def _complaints(self) -> str:
        """Return what each source that gives nothing has answered."""
        answers = [monitor.last_error for monitor in self.failing]
        answers += [f"source {monitor.name}: no answer yet" for monitor in self.monitors if monitor.state == "new"]
        return "; ".join(answers) or "none, but they gave too little in time"

    def __repr__(self) -> str:
        return f"<life {self.epoch} of {self.generator!r}>"
