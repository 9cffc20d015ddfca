"""Provider ``reference``: ChaCha in plain Python, as RFC 8439 2.3 states it.

The slow oracle that the fast providers are checked against. Its counter is the Python integer itself, so no width is
ever exceeded.
"""

from __future__ import annotations

from struct import pack, unpack

from ..base import COUNTER_MAX, KEY_SIZE
from ..chacha import ChaCha, ChaCha8, ChaCha12, ChaCha20, XChaCha8, XChaCha12, XChaCha20
from ..counter import counter_block
from ..secret import Secret, SecretWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ...typing import Buffer, WritableBuffer

CONSTANTS: Final = unpack("<4I", b"expand 32-byte k")
#: The eight quarter-rounds of a double round: four columns, then four diagonals.
QUARTER_ROUNDS: Final = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)


def rotate_left(word: int, bits: int) -> int:
    """Rotate a 32-bit word."""
    return (word << bits | word >> (32 - bits)) & 0xFFFFFFFF


def quarter_round(x: list[int], a: int, b: int, c: int, d: int) -> None:
    """Update four words of the state in place (RFC 8439 2.1)."""
    for left, right, target, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[left] = (x[left] + x[right]) & 0xFFFFFFFF
        x[target] = rotate_left(x[target] ^ x[left], bits)


def permute(state: SecretWords, rounds: int) -> SecretWords:
    """Return the state after *rounds* rounds, without the final addition."""
    working = SecretWords(state)
    for _ in range(rounds // 2):
        for words in QUARTER_ROUNDS:
            quarter_round(working, *words)
    return working


def chacha_block(key: Buffer, counter: int, rounds: int) -> bytes:
    """Return the 64-byte block of a 32-byte key at a 128-bit counter (RFC 8439 2.3, words 12..15 = LE128(C))."""
    state = SecretWords((*CONSTANTS, *unpack("<8I", key), *unpack("<4I", counter_block(counter))))
    working = permute(state, rounds)
    return pack("<16I", *[(w + s) & 0xFFFFFFFF for w, s in zip(working, state, strict=True)])


def hchacha(key: Buffer, nonce: bytes, rounds: int) -> Secret:
    """Return the 32-byte subkey: words 0..3 and 12..15 after the rounds (draft-irtf-cfrg-xchacha 2.2)."""
    state = SecretWords((*CONSTANTS, *unpack("<8I", key), *unpack("<4I", nonce)))
    working = permute(state, rounds)
    return Secret(pack("<8I", *working[:4], *working[12:]))


class Reference(ChaCha):
    """ChaCha in plain Python, for comparison only."""

    __slots__ = ("_key",)

    provider = "reference"
    kernel = "python"

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(KEY_SIZE)

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = key

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        for start in range(0, len(out), 64):
            block = chacha_block(self._key, counter, self.rounds)
            out[start : start + 64] = block[: len(out) - start]
            counter = (counter + 1) & COUNTER_MAX

    def _erase(self) -> None:
        self._key.wipe()


class ExtendedReference(Reference):
    """XChaCha in plain Python: the subkey takes the key's place."""

    __slots__ = ()

    def _rekey(self, key: Buffer) -> None:
        subkey = hchacha(key, bytes(16), self.rounds)
        super()._rekey(subkey)
        subkey.wipe()


class ReferenceChaCha20(Reference, ChaCha20):
    """ChaCha20 in plain Python."""

    __slots__ = ()


class ReferenceChaCha12(Reference, ChaCha12):
    """ChaCha12 in plain Python."""

    __slots__ = ()


class ReferenceChaCha8(Reference, ChaCha8):
    """ChaCha8 in plain Python."""

    __slots__ = ()


class ReferenceXChaCha20(ExtendedReference, XChaCha20):
    """XChaCha20 in plain Python."""

    __slots__ = ()


class ReferenceXChaCha12(ExtendedReference, XChaCha12):
    """XChaCha12 in plain Python."""

    __slots__ = ()


class ReferenceXChaCha8(ExtendedReference, XChaCha8):
    """XChaCha8 in plain Python."""

    __slots__ = ()
