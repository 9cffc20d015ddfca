"""Provider ``openssl``: keystream by OpenSSL, through the library ``cryptography`` (the extra ``openssl``).

ChaCha20 takes all of LE128(C) as what the library calls a nonce. One context serves a key and is put at another counter
by ``reset_nonce``, or made anew in releases that lack it (before 43). AES encrypts our own little-endian counter blocks
in ECB, since OpenSSL's counter mode counts with the most significant byte first.

Every request brings a new key, and a new context for it is most of what the library takes for a short one. Its Python
objects that describe a cipher take half as long again. So each instance makes them once, over its own buffers for key
and counter, and later changes what those hold. That the library reads them anew for every context is proved at boot:
the known answers are computed under a second key.

*What is not asked of the library.* What comes after block 2**32 - 1 differs from release to release: up to 48 the
counter carries into word 13 and, at 2**64, wraps without a carry into word 14; from 49 on the call raises. Under other
builds it may wrap within word 12, as BoringSSL's does. No call of ours crosses a multiple of 2**32 blocks
(`fortuna.generators.counter`), so none of these answers is ever part of our keystream: within such a call the upper
three words are what we wrote there, and a carry is ours alone.

*What is proved all the same.* The known answers prove where the library puts the 16 bytes; a library that reads 8 of
them fails there. A call that crosses the low word once, at boot, also proves that the library knows what follows it. A
refusal is the safe answer, and a carry the right one. A counter that wraps within 32 bits is refused although our rule
makes it harmless: in that library one fault in the cutting of calls would repeat keystream at once, and its assembler
promises nothing at all for such calls. A wrap at 2**64 is what OpenSSL itself does and is not held against it; a stream
that shows it fails the known answer there.
"""

from __future__ import annotations

from ..aes256_icm import AES256ICM
from ..base import COUNTER_MAX, KEY_SIZE
from ..chacha import ChaCha, ChaCha20, XChaCha20
from ..counter import ZEROS, CounterTemplate, counter_block, counter_blocks, fits_one_call, library_calls
from ..hchacha import ExtendedKey
from ..secret import Secret
from ..selftest import KEY, KNOWN_ANSWERS, wrong_answer

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20 as CryptoChaCha20
    from cryptography.hazmat.primitives.ciphers.modes import ECB
except BaseException as error:
    # A panic of the library's Rust code is no Exception, and its class has no importable name.
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise
    if isinstance(error, ModuleNotFoundError) and error.name == "cryptography":
        why = "the library cryptography is not installed; pip install 'fortuna-rng[openssl]'"
    elif "interpreter" in str(error):
        why = f"the library cryptography refuses sub-interpreters ({error}); use native or pycryptodome in them"
    else:
        why = f"the library cryptography cannot be loaded ({type(error).__name__}: {error}); reinstall it"
    raise ImportError(why) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ...typing import Buffer, WritableBuffer

#: Whether a context can be put at another counter.
CAN_RESET: Final = hasattr(CipherContext, "reset_nonce")
#: Up to this size, joining single counter blocks is faster than keeping a template of 1 MiB.
SHORT_MAX: Final = 4096
#: ``update_into`` wants room for a block less one byte behind the last block, which ECB then never writes.
SPARE: Final = 15
#: What the library calls a nonce: the counter.
NONCE_SIZE: Final = 16


class OpenSSLAES256ICM(AES256ICM):
    """AES-256-ICM by OpenSSL, which uses the CPU's AES instructions where it finds them."""

    __slots__ = ("_cipher", "_key", "_recipe", "_scratch", "_template")

    provider = "openssl"
    kernel = "library"

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(KEY_SIZE)
        self._recipe = Cipher(AES(self._key), ECB())  # noqa: S305  # over counters, no two blocks are equal
        self._scratch = memoryview(Secret(SHORT_MAX + SPARE))
        self._cipher: Any = None
        self._template: CounterTemplate | None = None

    def _rekey(self, key: Buffer) -> None:
        self._cipher = None
        self._key[:] = key

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        if self._cipher is None:
            self._cipher = self._recipe.encryptor()
        # The end goes through the scratch buffer, which has the room to spare: a short request whole, of a longer one
        # the last 17 to 32 bytes.
        direct, rest = 0, len(out)
        if rest > SHORT_MAX:
            direct = (rest - 17) // 16 * 16
            self._fill_directly(counter, out, direct)
            counter, rest = (counter + direct // 16) & COUNTER_MAX, rest - direct
        blocks = counter_blocks(counter, (rest + 15) // 16)
        self._cipher.update_into(blocks, self._scratch)
        memoryview(out)[direct:] = self._scratch[:rest]
        self._scratch[: len(blocks)] = ZEROS[: len(blocks)]

    def _fill_directly(self, counter: int, out: WritableBuffer, size: int) -> None:
        """Fill the first *size* bytes, whole blocks, of a buffer that is longer by at least `SPARE` bytes."""
        if self._template is None:
            self._template = CounterTemplate()
        with memoryview(out) as view:
            for entry, start, stop in library_calls(counter, size, 16, CounterTemplate.SPAN):
                self._cipher.update_into(self._template.blocks(entry, (stop - start) // 16), view[start:])

    def _erase(self) -> None:
        self._key.wipe()
        self._cipher = None


class OpenSSLChaCha(ChaCha):
    """ChaCha20 by OpenSSL, under the key given or a subkey."""

    __slots__ = ("_cipher", "_key", "_nonce", "_recipe")

    provider = "openssl"
    kernel = "library"

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(KEY_SIZE)
        self._nonce = Secret(NONCE_SIZE)
        self._recipe = Cipher(CryptoChaCha20(self._key, self._nonce), None)
        self._cipher: Any = None

    @classmethod
    def _test_kernel(cls, kernel: str) -> None:  # noqa: ARG003  # there is one
        """Have the library itself cross the low word of the counter; see above."""
        counter, expected = KNOWN_ANSWERS["chacha20"][0]
        got = bytearray(len(expected) // 2)
        try:
            context = Cipher(CryptoChaCha20(KEY, counter_block(counter)), None).encryptor()
            context.update_into(bytes(len(got)), got)
        except Exception:  # noqa: BLE001  # a refusal; what refuses all calls fails the known answers
            return
        if got.hex() != expected:
            raise wrong_answer("openssl, in one call of the library", "chacha20", counter, got)

    def _rekey(self, key: Buffer) -> None:
        self._cipher = None
        self._key[:] = key

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        size = len(out)
        if fits_one_call(counter, size, 64):
            self._enter(counter).update_into(ZEROS[:size], out)
            return
        with memoryview(out) as view:
            for entry, start, stop in library_calls(counter, size, 64):
                self._enter(entry).update_into(ZEROS[: stop - start], view[start:stop])

    def _enter(self, counter: int) -> Any:
        """Return a context of the library that stands at block *counter*."""
        if self._cipher is not None:
            self._cipher.reset_nonce(counter_block(counter))
            return self._cipher
        self._nonce[:] = counter_block(counter)
        made = self._recipe.encryptor()
        if CAN_RESET:
            self._cipher = made
        return made

    def _erase(self) -> None:
        self._key.wipe()
        self._nonce.wipe()
        self._cipher = None


class OpenSSLChaCha20(OpenSSLChaCha, ChaCha20):
    """ChaCha20 by OpenSSL."""

    __slots__ = ()


class OpenSSLXChaCha20(ExtendedKey, OpenSSLChaCha, XChaCha20):
    """XChaCha20 by OpenSSL's ChaCha20."""

    __slots__ = ()
