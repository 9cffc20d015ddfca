"""Provider ``reference``: ChaCha in plain Python, as RFC 8439 2.3 states it.

The slow oracle that the fast providers are checked against. Its counter is the Python integer itself, so no width is
ever exceeded.
"""

from __future__ import annotations

from struct import pack, unpack

from ..base import COUNTER_MAX, KEY_SIZE
from ..chacha import ChaCha20
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


def chacha_block(key: Buffer, counter: int, rounds: int) -> bytes:
    """Return the 64-byte block of a 32-byte key at a 128-bit counter (RFC 8439 2.3, words 12..15 = LE128(C))."""
    state = SecretWords((*CONSTANTS, *unpack("<8I", key), *unpack("<4I", counter_block(counter))))
    working = SecretWords(state)
    for _ in range(rounds // 2):
        for words in QUARTER_ROUNDS:
            quarter_round(working, *words)
    return pack("<16I", *[(w + s) & 0xFFFFFFFF for w, s in zip(working, state, strict=True)])


class ReferenceChaCha20(ChaCha20):
    """ChaCha20 in plain Python, for comparison only."""

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
