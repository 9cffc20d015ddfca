"""The generator: key K and counter C (Cryptography Engineering 9.4).

It turns a seed into pseudo-random data and replaces K in each request, so that a later leak of its state says nothing
of what was given out. A request is one stretch of keystream; where output and next K lie in it is the construction's
request rule. It has no lock, no clock and no source; `fortuna.shared` and `fortuna.rng` add those.
"""

from __future__ import annotations

from operator import index

from ..errors import NotSeededError, ParameterError, RequestTooLargeError
from ..generators.base import COUNTER_MAX, KEY_SIZE, byte_view, writable_view
from ..generators.secret import Secret, Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from ..generators.base import KeystreamGenerator
    from ..typing import Buffer, Size, WritableBuffer
    from .constructions import Construction

#: Bytes that one request may give before K must change (Cryptography Engineering 9.4.4: 2**16 AES blocks).
REQUEST_MAX: Final = 1 << 20
#: Up to here output and next key come from one keystream call and a copy; beyond, a second call is cheaper.
ONE_CALL_MAX: Final = 4096


#: What a generator with C = 0 answers.
UNSEEDED: Final = "generator: not seeded yet (C = 0); reseed it first"


def check_request(n: int) -> None:
    """Refuse a request of more than 2**20 bytes."""
    if n > REQUEST_MAX:
        raise RequestTooLargeError(f"request: got {n} bytes; one request gives at most {REQUEST_MAX} bytes; split it")


class Claim(Uncopyable):
    """A stretch of keystream that one request owns: a generator keyed with the K of then, and where its output begins.

    The live K has moved on already, so the output can be made without holding any lock. While a claim lives it
    determines the key that followed it.

    Attributes
    ----------
    size : int
        Bytes claimed.
    """

    __slots__ = ("_counter", "_idle", "_keystream", "_offset", "size")

    def __init__(
        self, keystream: KeystreamGenerator, counter: int, offset: int, size: int, idle: list[KeystreamGenerator]
    ) -> None:
        self.size = size
        self._keystream: KeystreamGenerator | None = keystream
        self._counter = counter
        self._offset = offset  # in block C, in bytes
        self._idle = idle

    def fill(self, out: WritableBuffer) -> None:
        """Write the claimed bytes over *out*, once, and wipe the key, whatever happens.

        A buffer of another size is refused: a longer one would be given the next key as well.
        """
        view = writable_view(out)
        if len(view) != self.size:
            raise ParameterError(f"claim: got a buffer of {len(view)} bytes, the claim is for {self.size} bytes")
        keystream, self._keystream = self._keystream, None
        if keystream is None:
            raise ParameterError("claim: it was filled before; each gives its bytes once")
        counter, head = self._counter, min(self.size, -self._offset % keystream.block_size)
        try:
            if head:  # the output begins in the middle of a block
                block = Secret(self._offset + head)
                counter = keystream.keystream_into(counter, block)
                with memoryview(block) as whole:
                    view[:head] = whole[self._offset :]
                block.wipe()
            keystream.keystream_into(counter, view[head:])
        finally:
            keystream.wipe()
        self._idle.append(keystream)


class Generator(Uncopyable):
    """Fortuna's generator: pseudo-random data from a key K and a counter C.

    Parameters
    ----------
    make_keystream : callable
        Makes a keystream generator without a key; called once now and for claims that overlap.
    construction : Construction
        Fixes the key hash and the request rule.
    key : bytes-like, 32 bytes
        K to start from; zero unless a known answer starts elsewhere.
    counter : int
        C to start from, 0 <= counter < 2**128. Unseeded is C = 0 and nothing else.

    Notes
    -----
    Not safe for threads, signal handlers or forks by itself.
    """

    __slots__ = ("_counter", "_idle", "_key", "_keystream", "_make_keystream", "construction")

    def __init__(
        self,
        make_keystream: Callable[[], KeystreamGenerator],
        construction: Construction,
        *,
        key: Buffer = bytes(KEY_SIZE),
        counter: int = 0,
    ) -> None:
        initial_key, initial_counter = byte_view(key), index(counter)
        if len(initial_key) != KEY_SIZE:
            raise ParameterError(f"key: got {len(initial_key)} bytes, need exactly {KEY_SIZE} bytes")
        if not 0 <= initial_counter <= COUNTER_MAX:
            raise ParameterError("counter: out of range; it is an integer in 0..2**128 - 1")
        self.construction = construction
        self._make_keystream = make_keystream
        self._keystream = make_keystream()
        # Wiped keystream generators that claims have given back, with the tables some of them keep.
        self._idle: list[KeystreamGenerator] = []
        self._key = Secret(initial_key)
        self._counter = initial_counter
        self._keystream.set_key(self._key)

    @property
    def is_seeded(self) -> bool:
        """Whether C > 0."""
        return self._counter != 0

    def reseed(self, seed: Buffer) -> None:
        """Reseed (Cryptography Engineering 9.4.2): K = key_hash(K || seed), C = C + 1.

        Parameters
        ----------
        seed : bytes-like
            Any length.
        """
        new_key = self.construction.reseed_key(self._key, seed, is_seeded=self.is_seeded)
        self._set_key(new_key)
        self._counter = (self._counter + 1) & COUNTER_MAX
        new_key.wipe()

    def random_bytes(self, n: Size) -> bytes:
        """Return *n* bytes of pseudo-random data; `readinto` has the rules.

        Parameters
        ----------
        n : int
            0 <= n <= 2**20 bytes.
        """
        size = index(n)
        if size < 0:
            raise ParameterError(f"n: got {size} bytes; allowed is 0..{REQUEST_MAX} bytes")
        check_request(size)
        out = bytearray(size)
        self.readinto(out)
        return bytes(out)

    def readinto(self, out: WritableBuffer) -> int:
        """PseudoRandomData (Cryptography Engineering 9.4.4): fill *out* with keystream, and replace K by more of it.

        Parameters
        ----------
        out : writable bytes-like
            0..2**20 bytes. An empty buffer changes nothing, K included.

        Returns
        -------
        int
            The number of bytes filled: all of them.

        Raises
        ------
        RequestTooLargeError
            More than 2**20 bytes; the state is unchanged.
        NotSeededError
            C is 0; the state is unchanged.
        """
        view = writable_view(out)
        size = len(view)
        check_request(size)
        if not size:
            return 0
        self._require_seed()
        if size > ONE_CALL_MAX:
            self.claim(size).fill(view)
        else:
            start, output_at, key_at = self._stretch(size)
            end = max(output_at + size, key_at + KEY_SIZE)
            scratch = Secret(end + -end % self._keystream.block_size)
            after = self._keystream.keystream_into(start, scratch)
            with memoryview(scratch) as stretch:
                self._set_key(stretch[key_at : key_at + KEY_SIZE])
                self._step_counter(after)
                view[:] = stretch[output_at : output_at + size]
            scratch.wipe()
        return size

    def claim(self, n: int) -> Claim:
        """Take K and C for a request of *n* bytes, 1..2**20, and move on: K and C are then as after the request.

        The keystream is seekable, so the next key can be computed before the output is. The bytes are the same.
        """
        if n < 1:
            raise ParameterError(f"claim: got {n} bytes; allowed is 1..{REQUEST_MAX} bytes")
        check_request(n)
        self._require_seed()
        keystream = self._keystream
        start, output_at, key_at = self._stretch(n)
        next_key = Secret(KEY_SIZE)
        after = keystream.keystream_into((start + key_at // keystream.block_size) & COUNTER_MAX, next_key)
        successor = self._idle.pop() if self._idle else self._make_keystream()
        successor.set_key(next_key)
        # Nothing below can fail, so K, C and the cipher move together or not at all.
        self._keystream = successor
        self._step_counter(after)
        self._key[:] = next_key
        next_key.wipe()
        skipped, offset = divmod(output_at, keystream.block_size)
        return Claim(keystream, start + skipped, offset, n, self._idle)

    def wipe(self) -> None:
        """Forget K and C: the generator is unseeded afterwards."""
        self._counter = 0
        self._key.wipe()
        self._keystream.wipe()
        self._keystream.set_key(self._key)

    def _stretch(self, n: int) -> tuple[int, int, int]:
        """Return the block that a request for *n* bytes starts at, and the places of output and next K from there."""
        if self.construction.erases_first:
            return 0, KEY_SIZE, 0
        return self._counter, 0, n + -n % self._keystream.block_size

    def _step_counter(self, after: int) -> None:
        """Move C past a request, whose keystream ends before block *after*, if the request rule counts blocks."""
        if not self.construction.erases_first:
            self._counter = after

    def _set_key(self, key: Buffer) -> None:
        self._key[:] = key
        self._keystream.set_key(self._key)

    def _require_seed(self) -> None:
        if not self._counter:
            raise NotSeededError(UNSEEDED)

    def __repr__(self) -> str:
        seeded = "seeded" if self.is_seeded else "not seeded"
        return f"<generator {self._keystream.name}/{self._keystream.provider} {self.construction.name}, {seeded}>"
