"""A (K, C) generator that threads, signal handlers and finalizers may share.

The plain generator must never be used twice at once: two requests that see the same K and C give the same bytes. A
lock keeps threads apart. It cannot keep a signal handler apart from the code it interrupts, since both are the same
thread: a plain lock would wait for itself for ever, and a re-entrant one would let the handler in to see a K that is
being replaced.

So the generator lies in a one-place cell, and a request *takes it out* by one indivisible ``list.pop`` before it looks
at it. Whoever finds the cell empty while holding the lock has interrupted a request of its own thread, or comes after
one that died on the way; it makes a second generator, keyed from the operating system, and uses that. A generator
goes back only after its K was replaced. One that died on the way never does.
"""

from __future__ import annotations

from _thread import RLock

from .core.generator import ONE_CALL_MAX, UNSEEDED, check_request
from .errors import NotSeededError
from .generators.base import KEY_SIZE, writable_view
from .generators.secret import Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .core.generator import Generator
    from .typing import Buffer, WritableBuffer


def free_lock(lock: RLock) -> None:
    """Free *lock* in a forked child, unless the call that forked holds it itself and will release it.

    Called by the at-fork hook. A signal handler may fork while the code it interrupted waits for another thread; in the
    child that thread does not exist, and the wait would never end. Replacing the lock would not help whoever waits for
    it already, so it is released in the other thread's name, by the method that `threading.Condition` uses.
    """
    if not lock._is_owned():  # type: ignore[attr-defined]
        try:
            lock._release_save()  # type: ignore[attr-defined]
        except RuntimeError:
            pass  # nobody holds it


class SharedGenerator(Uncopyable):
    """Serve one generator's requests one after another, each with its own K.

    Parameters
    ----------
    make_generator : callable
        Makes an unseeded `Generator`.
    read_fresh : callable
        ``(size) -> bytes`` from the operating system, for a second generator.

    Attributes
    ----------
    requests, bytes_given : int
        Counts since it was made.
    is_locked, is_undumpable : bool
        Always false: Python's memory cannot be kept out of swap and core dumps.

    Notes
    -----
    Safe for threads and for re-entry on one thread. Requests over 4096 bytes hold the lock only while K is replaced
    and are filled in side by side. Not for use in a forked child: the owner makes another one there.
    """

    __slots__ = ("_cell", "_lock", "_make_generator", "_read_fresh", "bytes_given", "requests")

    is_locked = False
    is_undumpable = False

    def __init__(self, make_generator: Callable[[], Generator], read_fresh: Callable[[int], Buffer]) -> None:
        self._lock = RLock()
        self._make_generator = make_generator
        self._read_fresh = read_fresh
        self._cell = [make_generator()]  # under _lock, as the two counts
        self.requests = 0
        self.bytes_given = 0

    @property
    def is_seeded(self) -> bool:
        """Whether requests are answered. True while a request is under way, since only a seeded generator has one."""
        return False not in [generator.is_seeded for generator in tuple(self._cell)]

    def readinto(self, out: WritableBuffer) -> int:
        """Fill *out*, 0..2**20 bytes, as `Generator.readinto` does; raises as it does."""
        view = writable_view(out)
        size = len(view)
        check_request(size)
        claim = None
        with self._lock:
            generator = self._take()
            # The one refusal that needs a look at the generator. Any error after it leaves a K that was half
            # replaced, also one that a signal handler throws in, and such a generator does not go back.
            if not generator.is_seeded:
                self._put_back(generator)
                raise NotSeededError(UNSEEDED)
            if size > ONE_CALL_MAX:
                claim = generator.claim(size)
            else:
                generator.readinto(view)
            self._put_back(generator)
            self.requests += 1
            self.bytes_given += size
        if claim is not None:
            claim.fill(view)
        return size

    def reseed(self, seed: Buffer) -> None:
        """Reseed as `Generator.reseed` does."""
        with self._lock:
            generator = self._take()
            generator.reseed(seed)
            self._put_back(generator)

    def wipe(self) -> None:
        """Forget K, after the request that is under way in another thread."""
        with self._lock:
            self.abandon()

    def abandon(self) -> None:
        """Forget K without asking for the lock, which nobody may ever release in a forked child."""
        for generator in self._cell:
            generator.wipe()

    def abandon_in_child(self) -> None:
        """Forget K, and free the lock of threads that a forked child does not have."""
        free_lock(self._lock)
        self.abandon()

    def _take(self) -> Generator:
        try:
            return self._cell.pop()
        except IndexError:
            generator = self._make_generator()
            generator.reseed(self._read_fresh(KEY_SIZE))
            return generator

    def _put_back(self, generator: Generator) -> None:
        # Whatever a request that interrupted this one put there gives way, and is wiped once nobody can take it.
        seconds = tuple(self._cell)
        self._cell[:] = (generator,)
        for second in seconds:
            second.wipe()

    def __repr__(self) -> str:
        return f"<shared generator, {'seeded' if self.is_seeded else 'not seeded'}>"
