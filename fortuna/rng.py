"""`Fortuna`, the live generator: an accumulator fed by sources, for threads, signal handlers and forking services.

Every request replaces K and nothing is buffered, so after a fork there is nothing to replay but K, and K is replaced
before the child's first byte. RandomData (Cryptography Engineering 9.5.5) is spread over three files: arguments,
splitting and forks are here, pulls and reseeds in `fortuna.life`, the request itself in `fortuna.shared`.
"""

from __future__ import annotations

from io import BytesIO
from operator import index

from .core.generator import REQUEST_MAX, Generator
from .errors import ClosedError, NotSeededError, ParameterError, SourceError
from .generators.base import KEY_SIZE, writable_view
from .generators.secret import Secret, Uncopyable
from .generators.undisturbed import Undisturbed
from .life import Life
from .parts import Parts
from .shared import SharedGenerator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Final, NoReturn

    from typing_extensions import Self

    from ._stats import Stats
    from .errors import FortunaError
    from .native import NativeShared
    from .typing import Buffer, Size, WritableBuffer

#: Source numbers that applications may use for their events; those below are for built-in sources and plug-ins.
APPLICATION_SOURCES: Final = range(128, 256)
#: The attributes of a live generator.
STATE: Final = frozenset(("_life", "_lives", "_parts", "_refusal"))


class Store(BytesIO):
    """A BytesIO that is left alone when it is collected.

    After an error, a traceback may hold views of it. If both end in one garbage collection, the standard finalizer
    wants to close it under them, and Python 3.13 complains on standard error.
    """

    __slots__ = ()

    # Does nothing, as a method in C: one in Python would be one more place where a signal handler may come in.
    close = BytesIO.flush


class Fortuna(Uncopyable):
    """A cryptographic random generator that may be shared by everything in a process.

    `fortuna.boot` and `fortuna.default` make the one of the process, `child` makes further ones.

    Parameters
    ----------
    parts : Parts
        Cipher, construction, sources, clock and fork detector.

    Notes
    -----
    *Threads*: every method may be called from any thread; large requests run side by side (from 4 KiB on in Python,
    from 16 KiB on natively).
    *Signals and finalizers*: a request may interrupt another on the same thread; neither waits nor repeats.
    *Forks*: a child drops the parent's state and seeds itself from the operating system before its first byte.
    *Copies*: copying and pickling raise ``TypeError``, because a copy would repeat the same bytes.
    """

    def __new__(cls, parts: Parts) -> Self:
        """Choose the implementation: in C where the provider is ``native``."""
        if not isinstance(parts, Parts):  # pyright: ignore[reportUnnecessaryIsInstance]  # not every caller checks types
            # Such as a generator for tests, which must not pass for a live one.
            raise TypeError(f"parts: got a {type(parts).__name__}; fortuna.boot and fortuna.default make a generator")
        if cls is Fortuna and parts.make_keystream.provider == "native":
            with Undisturbed(f"{__package__}.native"):
                from .native import NativeFortuna

            return NativeFortuna.__new__(NativeFortuna, parts)  # type: ignore[return-value]  # a subclass of cls
        return super().__new__(cls)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse everything but the generator's own state: what was booted cannot be changed by assignment.

        Slots would do the same, if the native generator did not have a layout of its own already.
        """
        if name not in STATE:
            raise AttributeError(f"cannot set {name!r}: a live generator is what it was booted as")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse."""
        raise AttributeError(f"cannot delete {name!r}: a live generator is what it was booted as")

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._refusal: tuple[type[FortunaError], str] | None = None
        epoch = parts.forks.epoch()
        self._life = Life(parts, epoch, self._make_generator(epoch))
        # Epoch -> the life that won: dict.setdefault decides between threads that notice a fork at the same time.
        self._lives = {epoch: self._life}
        parts.forks.watch(self)

    def random_bytes(self, n: Size, /) -> bytes:
        """Return *n* random bytes.

        Parameters
        ----------
        n : int
            At least 0; anything with ``__index__``.

        Returns
        -------
        bytes
            Exactly *n* bytes.

        Raises
        ------
        ParameterError
            *n* is negative.
        MemoryError
            *n* bytes do not fit into memory; nothing was drawn.
        NotSeededError, ClosedError
            As `readinto`.
        """
        size = index(n)
        if size < 0:
            raise ParameterError(f"n: got {size} bytes; allowed is 0 or more")
        try:
            # A BytesIO hands out the very bytes object that its buffer was written to: no copy, nothing left behind.
            store = Store(bytes(size))
        except OverflowError:
            raise MemoryError(f"n: got {size} bytes, more than memory can hold") from None
        with store.getbuffer() as view:
            self.readinto(view)
        return store.getvalue()

    def readinto(self, buffer: WritableBuffer, /) -> int:
        """Fill *buffer* with random bytes.

        Parameters
        ----------
        buffer : writable bytes-like
            Contiguous, any length. Each 2**20 bytes are a request of their own, with its own rekey.

        Returns
        -------
        int
            The number of bytes in *buffer*; it is never filled short.

        Raises
        ------
        BufferError
            *buffer* is read-only or not contiguous; nothing was drawn.
        NotSeededError
            No source has answered yet, or the operating system does not after a fork.
        ClosedError
            `close` was called.

        Notes
        -----
        Signals are served between requests. Whatever error ends the call, *buffer* then holds zeros.
        """
        view = writable_view(buffer)
        size = len(view)
        if not size:
            self._refuse_if_closed()
            return 0
        try:
            self._mix()
            start, first = 0, None
            while start < size:
                server = self._request(view[start : start + REQUEST_MAX])
                start += REQUEST_MAX
                if first is not None and server != first:
                    # A fork or a restore between two requests: others have what was filled before it, so all is made
                    # anew.
                    start, server = 0, None
                first = server
        except BaseException:
            zeros = bytes(min(size, REQUEST_MAX))  # not of the whole size: there may be no memory for that
            for start in range(0, size, REQUEST_MAX):
                view[start : start + REQUEST_MAX] = zeros[: size - start]
            raise
        return size

    def add_event(self, source: int, data: Buffer) -> None:
        """Mix an event of the application's own into the pools.

        It credits no entropy, so it can only help. It takes part in the next reseeds that use its pool.

        Parameters
        ----------
        source : int
            128 <= source < 256, one number for each kind of event.
        data : bytes-like
            At least 1 byte, unless the construction is ``freebsd``; what is longer than 32 bytes is hashed first.

        Raises
        ------
        ParameterError
            Source out of range, or no data; nothing was added.
        BufferError
            *data* is not contiguous; nothing was added.
        ClosedError
            `close` was called.
        """
        number = index(source)
        if number not in APPLICATION_SOURCES:
            raise ParameterError(f"source: got {number}; applications use 128..255")
        self._current_life().add_event(number, data)

    def reseed(self) -> None:
        """Reseed now, whatever the pace: from the operating system, every quick source and the pools that are due.

        Call it after restoring a snapshot of the process or of its machine: bytes given out afterwards cannot be
        predicted from what the snapshot held, as long as the operating system's own generator has fresh bytes.

        Raises
        ------
        SourceError
            The operating system gave no bytes; K is unchanged.
        ClosedError
            `close` was called.
        """
        while True:
            life = self._current_life()
            life.reseed()
            if self._is_current(life):
                return

    def stats(self) -> Stats:
        """Return counts and names, without secrets; works on a closed generator too.

        In a forked child that has not drawn yet, its own life begins here, as it would with a request: the counts are
        the child's, and ``is_seeded`` says what a request would find.
        """
        # Imported here because it is no part of giving random bytes, and dataclasses are slow to import.
        with Undisturbed(f"{__package__}._stats"):
            from ._stats import Stats

        life, keystream = self._shown_life(), self._parts.make_keystream
        accumulator = life.accumulator
        reseeds = accumulator.reseed_count
        age_ns = self._parts.clock.monotonic_ns() - accumulator.last_reseed_ns
        return Stats(
            generator=keystream.name,
            provider=keystream.provider,
            kernel=keystream.kernel,
            construction=self._parts.construction.name,
            distribution=keystream.distribution,
            is_seeded=self._is_answering(),
            requests=life.generator.requests,
            bytes_given=life.generator.bytes_given,
            reseeds=reseeds,
            last_reseed_age_seconds=age_ns / 1e9 if reseeds else float("nan"),
            pool_lengths=accumulator.pool_lengths,
            sources=tuple(monitor.report() for monitor in life.monitors),
            fork_detectors=self._parts.forks.detectors,
            clone_detectors=self._parts.clone_detectors,
            sticky_flags=life.sticky_flags,
            is_memory_locked=life.generator.is_locked,
            is_memory_undumpable=life.generator.is_undumpable,
        )

    def child(self) -> Fortuna:
        """Return an independent generator with the same cipher, keyed by 32 bytes of this one's output.

        It has pools of its own but no sources: what reseeds it is `add_event`, `reseed` and a fork. Closing either does
        nothing to the other.
        """
        while True:
            life = self._current_life()
            key = Secret(KEY_SIZE)
            self.readinto(key)
            child = Fortuna(self._parts.without_sources())
            child._life.seed_from(key)
            key.wipe()
            # A fork in between would leave two processes with the same child.
            if self._is_current(life):
                return child

    def close(self) -> None:
        """Save the seed file and wipe the key; every later call raises `ClosedError`. Closing again does nothing."""
        life = self._life
        if self._refusal is None and life.epoch == self._parts.forks.epoch():
            life.finish()
        self.refuse(ClosedError, "closed: the key of this generator is wiped; a process boots only once")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        keystream = self._parts.make_keystream
        state = "seeded" if self._is_answering() else "not seeded" if self._refusal is None else "closed"
        return (
            f"<Fortuna {keystream.name}/{keystream.provider}/{keystream.kernel} {self._parts.construction.name}, "
            f"{state}, {self._life.accumulator.reseed_count} reseeds>"
        )

    def abandon(self) -> None:
        """Drop K in a forked child; called by the at-fork hook, so it takes no lock."""
        self._life.abandon_in_child()

    def pull_soon(self) -> None:
        """Have the next request look at what is due, after this process was forked; in Python each request does."""

    def mark_restored(self) -> None:
        """Have the next request replace K first: this process was restored, and other copies hold the same K."""
        self._life.mark_restored()
        self.pull_soon()

    def follow_restore(self) -> None:
        """Replace K now, after `mark_restored`; raises `NotSeededError` where that fails. A closed one stays closed."""
        if self._refusal is None:
            self._current_life().follow_restore()

    @property
    def is_settled(self) -> bool:
        """Whether the next request has nothing to do first that takes longer than a pull: no new life, no refusal."""
        return self._is_current(self._life)

    def wait_for_seed(self, timeout_ns: int) -> None:
        """Pull until the first seed; called by the boot. Raises `NotSeededError` when the time is up."""
        self._life.wait_for_seed(timeout_ns)

    def open_to_readers(self) -> None:
        """Mix in and replace the seed of the last boot; called by the boot, before anybody reads."""
        self._life.open_to_readers()
        # Natively, drawing the seed has armed the page; the first reader is to be noticed all the same.
        self.pull_soon()

    def _request(self, out: memoryview) -> tuple[Life, tuple[int, int]]:
        """Serve one request of 1..2**20 bytes from the life and under the seal that hold before and after it."""
        while True:
            life = self._ready()
            seal = life.seal
            try:
                life.generator.readinto(out)
            except NotSeededError:
                if self._is_current(life):
                    raise
                continue
            is_restored = seal != life.seal or not life.is_sealed()
            if not self._is_current(life):
                # A fork or close() came in between: these bytes are the parent's, or nobody's.
                life.generator.abandon()
            elif not is_restored:
                return life, seal

    def _make_generator(self, epoch: int) -> SharedGenerator | NativeShared:  # noqa: ARG002  # the native one asks
        """Return the (K, C) generator of a new life."""
        parts = self._parts
        return SharedGenerator(lambda: Generator(parts.make_keystream, parts.construction), parts.system.read)

    def _ready(self) -> Life:
        """Return the current life after the pull that may be due."""
        life = self._current_life()
        if self._parts.pretend_unseeded:
            raise NotSeededError("not seeded: the tunable boot.pretend_unseeded is on")
        life.follow_restore()
        life.pull_if_due()
        return life

    def _mix(self) -> None:
        """Mix fresh bytes into K before a call, where ``entropy.per_request`` asks for it."""
        if self._parts.harvest_per_request is not None:
            self._ready().mix()

    def _current_life(self) -> Life:
        self._refuse_if_closed()
        life = self._life
        return life if life.epoch == self._parts.forks.epoch() else self._new_life()

    def _shown_life(self) -> Life:
        """Return the life to report on, this process's own wherever there can be one."""
        life = self._life
        if self._refusal is None and life.epoch != self._parts.forks.epoch():
            try:
                return self._new_life()
            except NotSeededError:
                # The parent's, without its K, shows what is true of this one: it is not seeded.
                life.generator.abandon()
        return life

    def _is_current(self, life: Life) -> bool:
        return life is self._life and life.epoch == self._parts.forks.epoch() and self._refusal is None

    def _new_life(self) -> Life:
        """Seed this forked child from the operating system, unpaced, with locks that nobody holds."""
        epoch = self._parts.forks.epoch()
        mine = Life(self._parts, epoch, self._make_generator(epoch))
        try:
            fresh = self._parts.system.read(KEY_SIZE)
        except SourceError as error:
            raise NotSeededError(f"not seeded after a fork: {error}; no byte was given out") from error
        mine.seed_from(fresh)
        fresh.wipe()
        life = self._lives.setdefault(epoch, mine)
        # A fork within this very call, by a signal handler, may have led to a life that is newer than this one.
        if self._life.epoch < epoch:
            self._life = life
        for old in tuple(self._lives):
            if old < epoch:
                # The hook has wiped it already, unless the fork was made by C code.
                dropped = self._lives.pop(old, None)
                if dropped is not None:
                    dropped.generator.abandon()
        return life

    def _is_answering(self) -> bool:
        return self._refusal is None and not self._parts.pretend_unseeded and self._life.generator.is_seeded

    def refuse(self, error: type[FortunaError], why: str) -> None:
        """Answer every later call with *error*, and wipe K."""
        if self._refusal is None:
            self._refusal = (error, why)
        life = self._life
        if life.epoch == self._parts.forks.epoch():
            life.generator.wipe()
        else:
            # A child that never drew: the lock may be held by a thread that exists in the parent only.
            life.generator.abandon()

    def _refuse_if_closed(self) -> None:
        if self._refusal is not None:
            error, why = self._refusal
            raise error(why)
