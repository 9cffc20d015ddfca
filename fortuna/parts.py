"""The parts list of a live generator: everything it is built from, so that nothing inside it picks for itself."""

from __future__ import annotations

from .clones import NO_GENERATION
from .core.scheduler import INTERVAL_NS, MIN_POOL_SIZE
from .generators.secret import Secret, Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final

    from .clones import Generation
    from .core.constructions import Construction
    from .forks import ForkDetector
    from .generators.choice import Choice
    from .seedfile import SeedFile
    from .sources.os import OperatingSystem
    from .typing import Clock, Source

#: Min-entropy in bits that healthy sources must have put into P_0 before the first seed: a full key's worth.
FIRST_SEED_BITS: Final = 256.0


def no_seed_file() -> None:
    """Stand in where no seed file is configured."""


class Parts(Uncopyable):
    """What `fortuna.Fortuna` is made of; `fortuna.boot` fills it in from the tunables.

    Parameters
    ----------
    make_keystream : Choice
        The keystream generator: cipher, provider and kernel.
    construction : Construction
        The edition of Fortuna.
    system : OperatingSystem
        Answers for fresh bytes after a fork and at `Fortuna.reseed`, whatever the sources are.
    sources : sequence of Source
        What is harvested.
    clock : Clock
        Monotonic time.
    forks : ForkDetector
        Shared by all generators of the process.
    min_pool_size : int
        Bytes in P_0 that make a reseed possible.
    interval_ns : int
        Nanoseconds that must be exceeded between pulls, and between reseeds.
    has_system_clock : bool
        Whether *clock* is the system's monotonic clock, which C can read by itself.
    health_tests : bool
        Whether harvests are tested before they are used.
    harvest_interval_ns : int
        Nanoseconds between two rounds of the harvester over every source; 0 leaves the sources that are not slow to the
        pulls of readers.
    harvest_per_request : callable, optional
        ``() -> 32 fresh bytes``, mixed into K before each call.
    make_seed_file : callable
        Returns a seed file of its own for each life, or ``None``.
    generation : Generation
        Changes when the machine was restored from a snapshot.
    clone_detectors : tuple of str
        Names, for the statistics, of what tells of a restore.
    pretend_unseeded : bool
        Refuse every request, to test what a service does before the first seed.
    """

    __slots__ = (
        "clock",
        "clone_detectors",
        "construction",
        "forks",
        "generation",
        "harvest_interval_ns",
        "harvest_per_request",
        "has_system_clock",
        "health_tests",
        "interval_ns",
        "make_keystream",
        "make_seed_file",
        "min_pool_size",
        "pretend_unseeded",
        "sources",
        "system",
    )

    def __init__(
        self,
        *,
        make_keystream: Choice,
        construction: Construction,
        system: OperatingSystem,
        sources: Sequence[Source],
        clock: Clock,
        forks: ForkDetector,
        min_pool_size: int = MIN_POOL_SIZE,
        interval_ns: int = INTERVAL_NS,
        health_tests: bool = True,
        harvest_interval_ns: int = 0,
        harvest_per_request: Callable[[], Secret] | None = None,
        make_seed_file: Callable[[], SeedFile | None] = no_seed_file,
        generation: Generation = NO_GENERATION,
        clone_detectors: tuple[str, ...] = (),
        has_system_clock: bool = False,
        pretend_unseeded: bool = False,
    ) -> None:
        self.make_keystream = make_keystream
        self.construction = construction
        self.system = system
        self.sources = tuple(sources)
        self.clock = clock
        self.forks = forks
        self.min_pool_size = min_pool_size
        self.interval_ns = interval_ns
        self.health_tests = health_tests
        self.harvest_interval_ns = harvest_interval_ns
        self.harvest_per_request = harvest_per_request
        self.make_seed_file = make_seed_file
        self.generation = generation
        self.clone_detectors = clone_detectors
        self.has_system_clock = has_system_clock
        self.pretend_unseeded = pretend_unseeded

    def without_sources(self) -> Parts:
        """Return the same parts for a generator that is fed by its parent alone."""
        changed: dict[str, Any] = {"sources": (), "harvest_interval_ns": 0, "make_seed_file": no_seed_file}
        return Parts(**{name: changed.get(name, getattr(self, name)) for name in self.__slots__})
