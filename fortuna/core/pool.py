"""One entropy pool P_i: Cryptography Engineering 9.5.1.

The book's pool is an unbounded string whose hash is taken at a reseed. A running hash of the string is the same thing
in constant memory.
"""

from __future__ import annotations

from ..generators.secret import Uncopyable
from ..generators.sha256 import sha256


class Pool(Uncopyable):
    """A running hash of events, their length in bytes and the min-entropy credited to them.

    Attributes
    ----------
    length : int
        Bytes absorbed since the last restart, event headers counted, the construction's zero block not.
    credited_bits : float
        Min-entropy that trusted sources claimed for those bytes.
    """

    __slots__ = ("_hash", "_prefix", "credited_bits", "length")

    def __init__(self, prefix: bytes) -> None:
        self._prefix = prefix
        self._restart()

    def _restart(self) -> None:
        self._hash = sha256(self._prefix)
        self.length = 0
        self.credited_bits = 0.0

    def add(self, event: bytes, credited_bits: float = 0.0) -> None:
        """Absorb one encoded event: P_i = P_i || event."""
        self._hash.update(event)
        self.length += len(event)
        self.credited_bits += credited_bits

    def take_digest(self) -> bytes:
        """Return the pool's digest, H(H(prefix || P_i)), 32 bytes, and restart it empty."""
        digest = sha256(self._hash.digest()).digest()
        self._restart()
        return digest

    def __repr__(self) -> str:
        return f"<pool of {self.length} bytes>"
