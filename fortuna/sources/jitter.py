"""The source ``jitter``: how long the same little piece of work takes, again and again.

Caches, predictors, interrupts and the other threads of the machine make each round take another time. Two ways to that:
`LibraryJitter` asks the system's libjitterentropy, which measures in C and conditions its output by SHA-3;
`LoopJitter` measures a loop of this file and gives the raw low bytes, since the pools hash anyway and health tests can
judge raw bytes only. `jitter_source` takes the library where it is installed.

A clock that is too coarse to see the differences is found out at each harvest and refused, never papered over.

Source: SP 800-90B 3.1.3 (raw samples) and 4.4; libjitterentropy, jent_entropy_init (what a clock must do).
"""

from __future__ import annotations

import errno

from ..errors import SourceError
from ..generators.secret import Secret
from ..generators.undisturbed import Undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ctypes import CDLL
    from typing import Final

    from ..typing import Clock, Cost

#: Samples of one harvest: one round of the 32 pools, 32 bytes each.
SAMPLES: Final = 32 * 32
#: Bytes that a round of work walks through: as many as a first-level cache holds, so that other users of it matter.
MEMORY_SIZE: Final = 1 << 15
#: Steps of the walk in one round. With fewer, the interpreter's own jitter hardly shows; more cost time.
STEPS: Final = 8
#: Distance of two steps: another cache line, and prime to the size, so that the walk comes by everywhere.
STRIDE: Final = 4093
#: A clock whose differences are nearly all multiples of this ticks too coarsely to see jitter.
COARSE_NS: Final = 100
#: The share of samples, in percent, from which on "nearly all" is meant: 2**-(1/8), what LoopJitter's claim allows.
NEARLY_ALL_PERCENT: Final = 91

#: Names under which the dynamic linker knows libjitterentropy, newest first.
LIBRARIES: Final = ("libjitterentropy.so.3", "libjitterentropy.so.2")
#: Bytes that the library is asked for in one harvest: one event.
LIBRARY_SIZE: Final = 32


def load_library(name: str) -> CDLL:
    """Return the shared library *name*, or raise ``OSError``."""
    with Undisturbed():
        from ctypes import CDLL
    return CDLL(name)


def jitter_source(clock: Clock, load: Callable[[str], CDLL] = load_library) -> LibraryJitter | LoopJitter:
    """Return the library's jitter where it is installed, else our own.

    Parameters
    ----------
    clock : Clock
        What our own loop is timed with.
    load : callable, optional
        ``(name) -> library``, as `load_library`.
    """
    for name in LIBRARIES:
        try:
            return LibraryJitter(load(name))
        except (OSError, ImportError):  # the second in a Python that was built without libffi
            continue
    return LoopJitter(clock)


class LoopJitter:
    """The timing jitter of a loop of our own.

    Parameters
    ----------
    clock : Clock
        ``monotonic_ns`` times the rounds.

    Notes
    -----
    Safe for threads; keeps nothing but the memory that it walks through, so a forked child may go on using it.
    """

    __slots__ = ("_clock", "_memory")

    name = "jitter"
    number = 2
    cost: Cost = "slow"
    min_entropy = 0.125
    assumption = "an eighth of a bit is what a raw sample holds where nine in ten are alike; more alike is refused"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._memory = bytearray(MEMORY_SIZE)

    def harvest(self) -> Secret:
        """Return 1024 raw samples, each the low byte of one round's nanoseconds.

        Raises
        ------
        SourceError
            The clock stood still, ran backwards, ticks in steps of 100 ns or more, or nearly all rounds took the same
            time.
        """
        times = [self._round(place) for place in range(SAMPLES)]
        many = SAMPLES * NEARLY_ALL_PERCENT // 100
        if sum(time <= 0 for time in times) >= many:
            raise SourceError(errno.ENOTSUP, "source jitter: the clock stands still; it is too coarse for jitter")
        if sum(time % COARSE_NS == 0 for time in times) >= many:
            raise SourceError(
                errno.ENOTSUP, f"source jitter: the clock ticks in steps of {COARSE_NS} ns or more; it is too coarse"
            )
        samples = Secret(time & 0xFF for time in times)
        if max(map(samples.count, set(samples))) >= many:
            samples.wipe()
            raise SourceError(errno.EIO, "source jitter: nearly all rounds took the same time; there is no jitter")
        return samples

    def _round(self, place: int) -> int:
        """Walk through a piece of the memory, and return how long that took, in nanoseconds."""
        memory = self._memory
        now = self._clock.monotonic_ns
        start = now()
        for _ in range(STEPS):
            place = (place + STRIDE) % MEMORY_SIZE
            memory[place] = (memory[place] + 1) & 0xFF
        return now() - start


class LibraryJitter:
    """The jitter of libjitterentropy.

    Parameters
    ----------
    library : ctypes.CDLL
        The library, loaded.

    Notes
    -----
    Safe for threads and forks: each harvest has a collector of its own, which the library wipes when it is freed.
    The library's own tests run at the first harvest, not before, since they take their time.
    """

    __slots__ = ("_is_tested", "_library")

    name = "jitter"
    number = 2
    cost: Cost = "slow"
    min_entropy = 4.0
    assumption = "libjitterentropy claims full entropy for what it conditions and tests; half is credited"

    def __init__(self, library: CDLL) -> None:
        with Undisturbed():
            from ctypes import c_int, c_size_t, c_ssize_t, c_uint, c_void_p

        # The C prototypes of jitterentropy.h, the same in versions 2 and 3.
        library.jent_entropy_init.argtypes = ()
        library.jent_entropy_init.restype = c_int
        library.jent_entropy_collector_alloc.argtypes = (c_uint, c_uint)
        library.jent_entropy_collector_alloc.restype = c_void_p
        library.jent_read_entropy.argtypes = (c_void_p, c_void_p, c_size_t)
        library.jent_read_entropy.restype = c_ssize_t
        library.jent_entropy_collector_free.argtypes = (c_void_p,)
        library.jent_entropy_collector_free.restype = None
        self._library = library
        self._is_tested = False

    def harvest(self) -> Secret:
        """Return 32 bytes of the library.

        Raises
        ------
        SourceError
            The library refuses this machine's clock, has no memory, or its health tests failed.
        """
        library = self._library
        if not self._is_tested:
            refusal = library.jent_entropy_init()
            if refusal:
                raise SourceError(
                    errno.ENOTSUP,
                    f"source jitter: libjitterentropy refuses this machine (jent_entropy_init: {refusal})",
                )
            self._is_tested = True
        # Its default oversampling and no flags.
        collector = library.jent_entropy_collector_alloc(0, 0)
        if not collector:
            raise SourceError(errno.ENOMEM, "source jitter: libjitterentropy could not make a collector")
        try:
            return self._read(collector)
        finally:
            library.jent_entropy_collector_free(collector)

    def _read(self, collector: int) -> Secret:
        from ctypes import c_char

        event = Secret(LIBRARY_SIZE)
        # The library writes into our own memory, so that no other copy is left.
        got = self._library.jent_read_entropy(collector, (c_char * LIBRARY_SIZE).from_buffer(event), LIBRARY_SIZE)
        if got != LIBRARY_SIZE:
            event.wipe()
            raise SourceError(errno.EIO, f"source jitter: libjitterentropy failed (jent_read_entropy: {got})")
        return event
