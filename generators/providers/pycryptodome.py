"""Provider ``pycryptodome``: keystream by the library of that name, always installed with fortuna.

AES encrypts our own little-endian counter blocks in ECB, which is 1.8 times as fast as the library's counter mode and
leaves every carry to us. ChaCha20 takes the high half of the counter as its 8-byte nonce and the low half as a position
(``seek``); the object is made anew when the high half changes, and never asked to cross a multiple of 2**32 blocks.
"""

from __future__ import annotations

from Crypto.Cipher import AES
from Crypto.Cipher import ChaCha20 as CryptoChaCha20

from ..aes256_icm import AES256ICM
from ..base import COUNTER_MAX, KEY_SIZE
from ..chacha import ChaCha, ChaCha20, XChaCha20
from ..counter import ZEROS, CounterTemplate, counter_blocks, fits_one_call, library_calls
from ..hchacha import ExtendedKey
from ..secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ...typing import Buffer, WritableBuffer

#: Up to this size, joining single counter blocks is faster than keeping a template of 1 MiB.
SHORT_MAX: Final = 4096


def new_ecb(key: Secret) -> Any:
    """Return the library's AES in ECB mode.

    Its constructor hands the cipher's memory to the mode's and only then disowns the cipher. An exception in between,
    such as the ``KeyboardInterrupt`` of a signal handler, would leave two owners who both free it, which ends the
    process. Both are still alive while the traceback is, so the disowning is made up for there.
    """
    try:
        return AES.new(key, AES.MODE_ECB)
    except BaseException as error:
        step = error.__traceback__
        while step is not None:
            held = step.tb_frame.f_locals
            if "block_cipher" in held and "result" in held:  # EcbMode.__init__, after the hand-over
                held["block_cipher"].release()
            step = step.tb_next
        raise


class PyCryptodomeAES256ICM(AES256ICM):
    """AES-256-ICM by pycryptodome, which uses the CPU's AES instructions where it finds them."""

    __slots__ = ("_cipher", "_key", "_template")

    provider = "pycryptodome"
    kernel = "library"

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(KEY_SIZE)
        self._cipher: Any = None
        self._template: CounterTemplate | None = None

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = key
        self._cipher = None

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        if self._cipher is None:
            self._cipher = new_ecb(self._key)
        size = len(out)
        if size <= SHORT_MAX and size % 16 == 0:
            self._cipher.encrypt(counter_blocks(counter, size // 16), output=out)
            return
        whole = size - size % 16
        with memoryview(out) as view:
            for entry, start, stop in library_calls(counter, whole, 16, CounterTemplate.SPAN):
                self._encrypt(entry, view[start:stop])
            if whole < size:
                last = Secret(16)
                self._encrypt((counter + whole // 16) & COUNTER_MAX, last)
                view[whole:] = memoryview(last)[: size - whole]
                last.wipe()

    def _encrypt(self, counter: int, out: WritableBuffer) -> None:
        """Fill whole blocks, at most 2**16 and not past the next multiple of 2**16."""
        blocks: Buffer
        if len(out) <= SHORT_MAX:
            blocks = counter_blocks(counter, len(out) // 16)
        else:
            if self._template is None:
                self._template = CounterTemplate()
            blocks = self._template.blocks(counter, len(out) // 16)
        self._cipher.encrypt(blocks, output=out)

    def _erase(self) -> None:
        self._key.wipe()
        self._cipher = None


class PyCryptodomeChaCha(ChaCha):
    """ChaCha20 by pycryptodome, under the key or a subkey: nonce = high half of C, position = low half."""

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


class PyCryptodomeChaCha20(PyCryptodomeChaCha, ChaCha20):
    """ChaCha20 by pycryptodome."""

    __slots__ = ()


class PyCryptodomeXChaCha20(ExtendedKey, PyCryptodomeChaCha, XChaCha20):
    """XChaCha20 by pycryptodome's ChaCha20, since the counter of its own XChaCha20 has 32 bits."""

    __slots__ = ()
