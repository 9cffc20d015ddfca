"""The parts list of a live generator: everything it is built from, so that nothing inside it picks for itself."""

from __future__ import annotations

from .core.scheduler import INTERVAL_NS, MIN_POOL_SIZE
from .generators.secret import Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from .core.constructions import Construction
    from .forks import ForkDetector
    from .generators.choice import Choice
    from .sources.os import OperatingSystem
    from .typing import Clock, Source

#: Min-entropy in bits that healthy sources must have put into P_0 before the first seed: a full key's worth.
FIRST_SEED_BITS: Final = 256.0


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
        What a pull harvests.
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
    pretend_unseeded : bool
        Refuse every request, to test what a service does before the first seed.
    """

    __slots__ = (
        "clock",
        "construction",
        "forks",
        "has_system_clock",
        "interval_ns",
        "make_keystream",
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
        self.has_system_clock = has_system_clock
        self.pretend_unseeded = pretend_unseeded

    def without_sources(self) -> Parts:
        """Return the same parts for a generator that is fed by its parent alone."""
        return Parts(
            make_keystream=self.make_keystream,
            construction=self.construction,
            system=self.system,
            sources=(),
            clock=self.clock,
            forks=self.forks,
            min_pool_size=self.min_pool_size,
            interval_ns=self.interval_ns,
            has_system_clock=self.has_system_clock,
            pretend_unseeded=self.pretend_unseeded,
        )
