"""Provider ``pycryptodome``: keystream by the library of that name, always installed with fortuna.

AES goes through ECB over our own counter blocks while a request is short, because that costs 4 us less than setting
up the library's counter mode, and through its little-endian CTR when it is long. ChaCha20 takes the high half of the
counter as its 8-byte nonce and the low half as a position (``seek``); the object is made anew when the high half
changes. Neither is ever asked to cross a multiple of 2**32 blocks (`..counter`).
"""

from __future__ import annotations

from Crypto.Cipher import AES
from Crypto.Cipher import ChaCha20 as CryptoChaCha20
from Crypto.Util import Counter

from ..aes256_icm import AES256ICM
from ..base import COUNTER_BITS, KEY_SIZE
from ..chacha import ChaCha20
from ..counter import LIBRARY_CALL_MAX, counter_blocks, fits_one_call, library_calls
from ..secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ...typing import Buffer, WritableBuffer

#: What a stream cipher encrypts to show its keystream. Never written, so its pages stay the kernel's zero page.
ZEROS: Final = bytes(LIBRARY_CALL_MAX)
#: Up to this size ECB over Python-made counter blocks is faster than a new CTR object (crossover measured at 1 KiB).
ECB_MAX: Final = 1024


class PyCryptodomeAES256ICM(AES256ICM):
    """AES-256-ICM by pycryptodome, which uses the CPU's AES instructions where it finds them."""

    __slots__ = ("_ecb", "_key")

    provider = "pycryptodome"
    kernel = "library"

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(KEY_SIZE)
        self._ecb: Any = None

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = key
        self._ecb = None

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        size = len(out)
        if size > ECB_MAX:
            self._fill_long(counter, out)
        elif size % 16 == 0:
            self._encrypt_into(counter, out)
        else:
            padded = Secret(size + -size % 16)
            self._encrypt_into(counter, padded)
            with memoryview(padded) as view:
                out[:] = view[:size]
            padded.wipe()

    def _encrypt_into(self, counter: int, out: WritableBuffer) -> None:
        if self._ecb is None:
            self._ecb = AES.new(self._key, AES.MODE_ECB)
        self._ecb.encrypt(counter_blocks(counter, len(out) // 16), output=out)

    def _fill_long(self, counter: int, out: WritableBuffer) -> None:
        with memoryview(out) as view:
            for entry, start, stop in library_calls(counter, len(out), 16):
                position = Counter.new(COUNTER_BITS, little_endian=True, initial_value=entry)
                cipher = AES.new(self._key, AES.MODE_CTR, counter=position)
                cipher.encrypt(ZEROS[: stop - start], output=view[start:stop])

    def _erase(self) -> None:
        self._key.wipe()
        self._ecb = None


class PyCryptodomeChaCha20(ChaCha20):
    """ChaCha20 by pycryptodome: nonce = high half of C, position = low half."""

    __slots__ = ("_cipher", "_high", "_key")

    provider = "pycryptodome"
    kernel = "library"

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(KEY_SIZE)
        self._cipher: Any = None
        self._high = 0

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = key
        self._cipher = None

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        size = len(out)
        if fits_one_call(counter, size, 64):
            self._enter(counter)
            self._cipher.encrypt(ZEROS[:size], output=out)
            return
        with memoryview(out) as view:
            for entry, start, stop in library_calls(counter, size, 64):
                self._enter(entry)
                self._cipher.encrypt(ZEROS[: stop - start], output=view[start:stop])

    def _enter(self, counter: int) -> None:
        """Put the cipher at block *counter*: the nonce holds what ``seek`` cannot reach."""
        high, low = divmod(counter, 1 << 64)
        if self._cipher is None or high != self._high:
            self._cipher = CryptoChaCha20.new(key=self._key, nonce=high.to_bytes(8, "little"))
            self._high = high
        self._cipher.seek(low * 64)

    def _erase(self) -> None:
        self._key.wipe()
        self._cipher = None
