"""What events cost, and what they cost the readers.

With an interpreter lock, threads take turns of some milliseconds. A thread that adds events is charged for its own work
by its processor time; a reader is held up by any thread that computes, so beside the readers under events stand readers
beside a thread that computes as long and adds nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic_ns, perf_counter_ns, thread_time_ns

from .measure import Timing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Final

    from ..rng import Fortuna

#: Events of a round, and calls of a reader in one; rounds of a table. A million events in all.
EVENTS: Final = 50_000
READS: Final = 20_000
ROUNDS: Final = 20
#: Source number and data of each event.
SOURCE: Final = 200
DATA: Final = bytes(8)
#: Bytes of a read.
SIZE: Final = 32


def cost(fortuna: Fortuna) -> tuple[Timing, ...]:
    """Return nanoseconds of processor time for each ``add_event``: alone, and beside a thread that reads."""
    alone = tuple(adding_ns(fortuna) for _ in range(ROUNDS))
    with beside(lambda: fortuna.random_bytes(SIZE)):
        with_reader = tuple(adding_ns(fortuna) for _ in range(ROUNDS))
    return Timing("add_event(200, 8 bytes)", alone), Timing("the same, with a reader running", with_reader)


def adding_ns(fortuna: Fortuna) -> float:
    """Return the processor time of one event, in nanoseconds."""
    start = thread_time_ns()
    for _ in range(EVENTS):
        fortuna.add_event(SOURCE, DATA)
    return (thread_time_ns() - start) / EVENTS


def delays(fortuna: Fortuna) -> tuple[Timing, ...]:
    """Return the 99th percentile of ``random_bytes(32)``: alone, beside a thread that computes, and one that adds."""
    alone = tuple(percentile_ns(fortuna) for _ in range(ROUNDS))
    with beside(lambda: sum(range(50))):
        computing = tuple(percentile_ns(fortuna) for _ in range(ROUNDS))
    with beside(lambda: fortuna.add_event(SOURCE, DATA)):
        adding = tuple(percentile_ns(fortuna) for _ in range(ROUNDS))
    return (
        Timing("readers alone", alone),
        Timing("beside a thread that computes", computing),
        Timing("beside a thread that adds events", adding),
    )


def percentile_ns(fortuna: Fortuna) -> float:
    """Return the time that 99 of 100 reads stay below, in nanoseconds."""
    taken = []
    for _ in range(READS):
        start = perf_counter_ns()
        fortuna.random_bytes(SIZE)
        taken.append(perf_counter_ns() - start)
    return float(sorted(taken)[READS * 99 // 100])


def pace(fortuna: Fortuna) -> tuple[Timing, ...]:
    """Return the nanoseconds from one reseed to the next while events and reads come as fast as they can."""
    rounds = []
    with beside(lambda: fortuna.add_event(SOURCE, DATA)):
        for _ in range(3):
            start, before = monotonic_ns(), fortuna.stats().reseeds
            while fortuna.stats().reseeds < before + 10:
                fortuna.random_bytes(SIZE)
            rounds.append((monotonic_ns() - start) / (fortuna.stats().reseeds - before))
    return (Timing("reseeds under events and reads", tuple(rounds)),)


@contextmanager
def beside(work: Callable[[], object]) -> Generator[None, None, None]:
    """Repeat *work* on another thread meanwhile."""
    done = Event()

    def repeat() -> None:
        while not done.is_set():
            for _ in range(100):
                work()

    thread = Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
