"""The accumulator: 32 pools, the reseed scheduler and the generator they seed (Cryptography Engineering 9.5).

Pure: time comes in as an argument, events are given by the caller, and the generator is any object with the two
methods it calls, be it the plain one of `fortuna.core.generator` or one that threads may share.
"""

from __future__ import annotations

from operator import index

from ..errors import ParameterError
from ..generators.base import byte_view
from ..generators.secret import Secret, Uncopyable
from .generator import REQUEST_MAX
from .pool import Pool
from .scheduler import INTERVAL_NS, MIN_POOL_SIZE, POOL_COUNT, Scheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Protocol

    from ..typing import Buffer, Size, WritableBuffer
    from .constructions import Construction

    class Seedable(Protocol):
        """What the accumulator needs of a generator."""

        def reseed(self, seed: Buffer) -> None:
            """K = key_hash(K || seed)."""

        def readinto(self, out: WritableBuffer) -> int:
            """Fill *out*, at most 2**20 bytes, and return its length."""
            ...


SOURCE_MAX: Final = 255
BITS_PER_BYTE: Final = 8.0
#: What a SHA-256 digest can bear, in bits.
HASH_BITS: Final = 256.0


class Accumulator(Uncopyable):
    """Distribute events over the pools and reseed the generator from them when it is due.

    Parameters
    ----------
    generator : Generator or alike
        What is reseeded; its K and C may start anywhere.
    construction : Construction
        Fixes event encoding and pool digest.
    min_pool_size : int
        Bytes in P_0 that make a reseed possible.
    interval_ns : int
        Nanoseconds that must be exceeded between reseeds.
    reseed_count : int
        ReseedCnt to start from.
    first_seed_bits : float
        Credited min-entropy, in bits, that P_0 needs as well for the first reseed; 0 asks for none, as the book does.

    Notes
    -----
    Not safe for threads; a lock around `add` and around the two reseeding methods is the caller's.
    """

    __slots__ = ("_construction", "_first_seed_bits", "_next_pool", "_pools", "_scheduler", "generator")

    def __init__(
        self,
        generator: Seedable,
        construction: Construction,
        *,
        min_pool_size: int = MIN_POOL_SIZE,
        interval_ns: int = INTERVAL_NS,
        reseed_count: int = 0,
        first_seed_bits: float = 0.0,
    ) -> None:
        self.generator = generator
        self._construction = construction
        self._scheduler = Scheduler(min_pool_size=min_pool_size, interval_ns=interval_ns, reseed_count=reseed_count)
        self._first_seed_bits = first_seed_bits
        self._pools = tuple(Pool(construction.pool_prefix) for _ in range(POOL_COUNT))
        self._next_pool: dict[int, int] = {}

    @property
    def reseed_count(self) -> int:
        """ReseedCnt: reseeds so far."""
        return self._scheduler.reseed_count

    @property
    def last_reseed_ns(self) -> int:
        """Time of the last reseed in nanoseconds; meaningless before the first."""
        return self._scheduler.last_reseed_ns

    @property
    def pool_lengths(self) -> tuple[int, ...]:
        """Bytes in each of the 32 pools."""
        return tuple(pool.length for pool in self._pools)

    def add(
        self, source: int, data: Buffer, *, pool: int | None = None, timestamp: int = 0, min_entropy: float = 0.0
    ) -> None:
        """AddRandomEvent (Cryptography Engineering 9.5.6): append an event to a pool.

        Parameters
        ----------
        source : int
            0 <= source < 256.
        data : bytes-like
            What the construction's encoding takes; ``fsk2010`` hashes what is longer than 32 bytes.
        pool : int, optional
            0 <= pool < 32. Without it each source walks the pools in turn on its own, from P_0 on.
        timestamp : int
            Any integer, used modulo 2**32 by the construction ``freebsd``.
        min_entropy : float
            Bits of min-entropy credited for each byte of *data*, 0.0..8.0; several events share them evenly.

        Raises
        ------
        ParameterError
            Source, pool, data or credit out of range; nothing was added.
        """
        source = index(source)
        if not 0 <= source <= SOURCE_MAX:
            raise ParameterError(f"source: got {source}; allowed is 0..{SOURCE_MAX}")
        if pool is not None and not 0 <= pool < POOL_COUNT:
            raise ParameterError(f"pool: got {pool}; allowed is 0..{POOL_COUNT - 1}")
        if not 0.0 <= min_entropy <= BITS_PER_BYTE:
            raise ParameterError(f"min_entropy: got {min_entropy}; allowed is 0.0..8.0 bits a byte")
        # Applications may add a million events a second, most of them bytes that credit nothing: the short cuts matter.
        view = data if type(data) is bytes else byte_view(data)
        events = self._construction.encode(source, index(timestamp), view)
        # Long data may have been hashed down to one event, which then bears no more than the hash does.
        bits = min(min_entropy * len(view) / len(events), HASH_BITS) if min_entropy else 0.0
        target = self._next_pool.get(source, 0) if pool is None else pool
        for event in events:
            self._pools[target].add(event, bits)
            target = (target + 1) % POOL_COUNT
        if pool is None:
            self._next_pool[source] = target

    def reseed_if_due(self, now_ns: int) -> bool:
        """Reseed when the schedule asks for it (the first half of RandomData, 9.5.5), and tell whether it did."""
        if not self.is_due(now_ns):
            return False
        self.reseed(now_ns)
        return True

    def is_due(self, now_ns: int) -> bool:
        """Tell whether the schedule asks for a reseed."""
        first = self._pools[0]
        if not self._scheduler.reseed_count and first.credited_bits < self._first_seed_bits:
            return False
        return self._scheduler.is_due(first.length, now_ns)

    def reseed(self, now_ns: int, fresh: Buffer = b"") -> None:
        """Reseed now, unpaced, from *fresh* and the pools that are due, which may be empty."""
        seed = self.take_seed(now_ns, fresh)
        self.generator.reseed(seed)
        seed.wipe()

    def take_seed(self, now_ns: int, fresh: Buffer = b"") -> Secret:
        """Count a reseed and return its seed, which the caller gives to the generator and wipes.

        s is *fresh* followed by the digests of P_0, P_1, ... while 2**i divides ReseedCnt; the used pools restart.
        """
        seed = Secret(fresh)
        for pool in self._pools[: self._scheduler.advance(now_ns)]:
            seed += pool.take_digest()
        return seed

    def random_data(self, n: Size, now_ns: int) -> bytes:
        """RandomData (Cryptography Engineering 9.5.5): reseed when due, then return *n* bytes.

        Raises
        ------
        ParameterError
            *n* is negative; nothing changed.
        MemoryError
            *n* bytes do not fit into memory; nothing changed.
        NotSeededError
            Bytes were asked for and no reseed has happened yet.
        """
        size = index(n)
        if size < 0:
            raise ParameterError(f"n: got {size} bytes; allowed is 0 or more")
        try:
            out = bytearray(size)
        except OverflowError:
            raise MemoryError(f"n: got {size} bytes, more than memory can hold") from None
        self.reseed_if_due(now_ns)
        with memoryview(out) as view:
            for start in range(0, size, REQUEST_MAX):
                self.generator.readinto(view[start : start + REQUEST_MAX])
        return bytes(out)

    def __repr__(self) -> str:
        return f"<accumulator {self._construction.name}, {self.reseed_count} reseeds>"
