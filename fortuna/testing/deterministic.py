"""Fortuna without anything that a test does not control: the same seed, events and times give the same bytes anywhere.

It is the pure core (`fortuna.core`) with a clock set by hand, and no source, no fork detection and no way into the
functions of `fortuna`: it is no `fortuna.Fortuna`, and `fortuna.boot` takes paths, names and numbers alone.
"""

from __future__ import annotations

from operator import index
from threading import RLock

from ..core.accumulator import Accumulator
from ..core.constructions import construction_named
from ..core.generator import Generator
from ..core.scheduler import INTERVAL_NS, MIN_POOL_SIZE
from ..errors import ParameterError
from ..generators.base import KEY_SIZE, byte_view, writable_view
from ..generators.registry import resolve
from ..generators.secret import Uncopyable
from .clock import ManualClock
from .steps import Event, Reseed, Start, read_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex

    from ..typing import Buffer, Size, WritableBuffer
    from .steps import Step
    from .transcript import Transcript


class DeterministicFortuna(Uncopyable):
    """A Fortuna whose every byte follows from its seed and from what is done to it. Not random: for tests only.

    Parameters
    ----------
    seed : bytes-like
        At least 1 byte. Reseed number 1 is from it and from the empty P_0, as the first seed of a forked child or of a
        `fortuna.Fortuna.child` is.
    cipher : str
        The keystream generator, as the tunable ``generator.cipher``.
    provider, kernel : str
        What executes it; makes no difference to the bytes.
    construction : str
        The edition of Fortuna, as the tunable ``generator.construction``.
    min_pool_size : int
        Bytes in P_0 that make a reseed possible, at least 0.
    interval_ns : int
        Nanoseconds that must be exceeded between two reseeds, at least 0.
    clock : ManualClock, optional
        Its time; without one, a clock of its own that starts at 0.

    Attributes
    ----------
    clock : ManualClock
        Its time. `advance` moves it; so may whoever else holds it.

    Raises
    ------
    ParameterError
        The seed is empty, a number negative, or a name unknown; the message says what is allowed.
    ProviderUnavailableError, SelfTestError
        The provider cannot run the cipher here.

    Notes
    -----
    *Threads*: every method may be called from any thread; who gets which bytes is then up to chance.
    *Forks*: a child repeats the bytes of its parent. That is what deterministic means.
    *Copies*: copying and pickling raise ``TypeError``, as for all that holds a key. Make a second one from the same
    seed, or replay the `Transcript` of the first.
    """

    __slots__ = ("_accumulator", "_keystream", "_lock", "_rules", "_start", "_steps_done", "_transcript", "clock")

    def __init__(
        self,
        seed: Buffer,
        *,
        cipher: str = "aes256-icm",
        provider: str = "auto",
        kernel: str = "auto",
        construction: str = "fsk2010",
        min_pool_size: SupportsIndex = MIN_POOL_SIZE,
        interval_ns: SupportsIndex = INTERVAL_NS,
        clock: ManualClock | None = None,
    ) -> None:
        first_seed = bytes(byte_view(seed))
        if not first_seed:
            raise ParameterError("seed: got 0 bytes; allowed is 1 byte or more")
        self._rules = construction_named(construction)
        self._keystream = resolve(cipher, provider, kernel)
        self.clock = ManualClock() if clock is None else clock
        self._start = Start(
            seed=first_seed,
            cipher=cipher,
            construction=construction,
            min_pool_size=index(min_pool_size),
            interval_ns=index(interval_ns),
            now_ns=self.clock.monotonic_ns(),
        )
        self._accumulator = Accumulator(
            Generator(self._keystream, self._rules),
            self._rules,
            min_pool_size=self._start.min_pool_size,
            interval_ns=self._start.interval_ns,
        )
        self._accumulator.reseed(self._start.now_ns, first_seed)
        self._lock = RLock()
        self._steps_done = 0
        self._transcript: Transcript | None = None

    @property
    def reseeds(self) -> int:
        """ReseedCnt: 1 at first."""
        return self._accumulator.reseed_count

    def random_bytes(self, n: Size, /) -> bytes:
        """Reseed if that is due, then return the next *n* bytes.

        Parameters
        ----------
        n : int
            At least 0. Each 2**20 bytes are a request of their own, as in `fortuna.Fortuna.random_bytes`.

        Raises
        ------
        ParameterError
            *n* is negative; nothing changed.
        MemoryError
            *n* bytes do not fit into memory; nothing changed.
        """
        with self._lock:
            now_ns = self.clock.monotonic_ns()
            given = self._accumulator.random_data(n, now_ns)
            self._note(now_ns, read_step, given)
        return given

    def readinto(self, buffer: WritableBuffer, /) -> int:
        """Fill *buffer* with what `random_bytes` would return, and return the number of bytes in it.

        Raises
        ------
        BufferError
            *buffer* is read-only or not contiguous; nothing was drawn.
        """
        view = writable_view(buffer)
        view[:] = self.random_bytes(len(view))
        return len(view)

    def add_event(self, source: SupportsIndex, data: Buffer, *, pool: SupportsIndex | None = None) -> None:
        """Give the pools an event, of any source that the test plays.

        Parameters
        ----------
        source : int
            0 <= source < 256; a live generator takes 128..255 from its application.
        data : bytes-like
            At least 1 byte, unless the construction is ``freebsd``; what is longer than 32 bytes is hashed first.
        pool : int, optional
            0 <= pool < 32. Without it each source goes round the pools in turn.

        Raises
        ------
        ParameterError
            Source, pool or data out of range; nothing was added.
        """
        event = Event(index(source), bytes(byte_view(data)), None if pool is None else index(pool))
        with self._lock:
            now_ns = self.clock.monotonic_ns()
            self._accumulator.add(event.source, event.data, pool=event.pool, timestamp=now_ns)
            self._note(now_ns, lambda: event)

    def reseed(self, fresh: Buffer = b"") -> None:
        """Reseed now, unpaced, from the pools that are due and from *fresh*.

        Parameters
        ----------
        fresh : bytes-like
            Any length: what the operating system would give a live generator here.
        """
        step = Reseed(bytes(byte_view(fresh)))
        with self._lock:
            now_ns = self.clock.monotonic_ns()
            self._accumulator.reseed(now_ns, step.fresh)
            self._note(now_ns, lambda: step)

    def advance(self, seconds: float) -> None:
        """Let time pass; see `ManualClock.advance`."""
        self.clock.advance(seconds)

    def child(self) -> DeterministicFortuna:
        """Return an independent generator of the same kind and time, whose seed is the next 32 bytes of this one."""
        return DeterministicFortuna(
            self.random_bytes(KEY_SIZE),
            cipher=self._keystream.name,
            provider=self._keystream.provider,
            kernel=self._keystream.kernel,
            construction=self._start.construction,
            min_pool_size=self._start.min_pool_size,
            interval_ns=self._start.interval_ns,
            clock=self.clock,
        )

    def _record_to(self, transcript: Transcript) -> Start:
        """Note every step in *transcript* from now on, if none was made, and return what they start from."""
        with self._lock:
            if self._steps_done or self._transcript is not None:
                raise ParameterError(
                    f"record: got a generator that {self._steps_done} steps were made with, or that is recorded "
                    "already; a recording starts before the first step, and there is one of each generator"
                )
            self._transcript = transcript
        return self._start

    def _note(self, now_ns: int, make_step: Callable[..., Step], *arguments: bytes) -> None:
        self._steps_done += 1
        if self._transcript is not None:
            self._transcript._append(now_ns, make_step(*arguments))

    def __repr__(self) -> str:
        keystream = self._keystream
        return (
            f"<DeterministicFortuna: DETERMINISTIC, NOT RANDOM; {keystream.name}/{keystream.provider}/"
            f"{keystream.kernel} {self._start.construction}, {self.reseeds} reseeds>"
        )
