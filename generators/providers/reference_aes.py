"""Provider ``reference``: AES-256 in plain Python, as FIPS 197 states it.

The slow oracle that the fast providers are checked against, and nothing else: its table look-ups depend on the key, so
it leaks through the cache, and ``auto`` never chooses it. Only encryption is here; counter mode needs no more.
"""

from __future__ import annotations

from ..aes256_icm import AES256ICM
from ..base import COUNTER_MAX, KEY_SIZE
from ..counter import counter_block
from ..secret import Secret, SecretWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from ...typing import Buffer, WritableBuffer

ROUNDS: Final = 14


def times_x(a: int) -> int:
    """Multiply by x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197 4.2.1, XTIMES)."""
    return (a << 1 ^ (0x11B if a & 0x80 else 0)) & 0xFF


def make_sbox() -> bytes:
    """Return SubBytes' table (FIPS 197 5.1.1): the inverse in GF(2^8), then the affine map.

    3 generates the field's units, so walking its powers p and its inverse's powers q together pairs each element
    with its multiplicative inverse.
    """
    sbox = bytearray(256)
    p = q = 1
    while True:
        p = p ^ times_x(p)  # times 3
        for shift in (1, 2, 4):  # divided by 3
            q ^= q << shift
        q = (q ^ (0x09 if q & 0x80 else 0)) & 0xFF
        rotations = q | q << 8  # doubled, so that a rotation is a shift
        sbox[p] = (rotations ^ rotations >> 4 ^ rotations >> 5 ^ rotations >> 6 ^ rotations >> 7) & 0xFF ^ 0x63
        if p == 1:
            sbox[0] = 0x63
            return bytes(sbox)


SBOX: Final = make_sbox()


def expand_key(key: Buffer) -> list[Secret]:
    """Return the 15 round keys of 16 bytes (FIPS 197 5.2, KEYEXPANSION with Nk = 8)."""
    words = [SecretWords(key[i : i + 4]) for i in range(0, KEY_SIZE, 4)]
    rcon = 1
    for i in range(8, 4 * (ROUNDS + 1)):
        word = words[i - 1]
        if i % 8 == 0:
            word = SecretWords(SBOX[b] for b in word[1:] + word[:1])
            word[0] ^= rcon
            rcon = times_x(rcon)
        elif i % 8 == 4:
            word = SecretWords(SBOX[b] for b in word)
        words.append(SecretWords(a ^ b for a, b in zip(words[i - 8], word, strict=True)))
    return [Secret(b for word in words[i : i + 4] for b in word) for i in range(0, len(words), 4)]


def encrypt_block(round_keys: Sequence[Secret], block: bytes) -> bytes:
    """Encrypt one 16-byte block (FIPS 197 5.1, CIPHER). Byte 4*c + r of the state is row r, column c."""
    state = SecretWords(a ^ k for a, k in zip(block, round_keys[0], strict=True))
    for number in range(1, ROUNDS + 1):
        # SubBytes and ShiftRows: row r moves r columns to the left.
        state = SecretWords(SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if number != ROUNDS:  # MixColumns
            mixed = SecretWords()
            for c in range(0, 16, 4):
                column = SecretWords(state[c : c + 4])
                total = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[r] ^ total ^ times_x(column[r] ^ column[(r + 1) % 4]) for r in range(4)]
            state = mixed
        state = SecretWords(a ^ k for a, k in zip(state, round_keys[number], strict=True))
    return bytes(state)


class ReferenceAES256ICM(AES256ICM):
    """AES-256-ICM in plain Python; not constant-time, for comparison only."""

    __slots__ = ("_round_keys",)

    provider = "reference"
    kernel = "python"

    def __init__(self) -> None:
        super().__init__()
        self._round_keys: list[Secret] = []

    def _rekey(self, key: Buffer) -> None:
        self._erase()
        self._round_keys = expand_key(key)

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        for start in range(0, len(out), 16):
            block = encrypt_block(self._round_keys, counter_block(counter))
            out[start : start + 16] = block[: len(out) - start]
            counter = (counter + 1) & COUNTER_MAX

    def _erase(self) -> None:
        for round_key in self._round_keys:
            round_key.wipe()
        self._round_keys = []
