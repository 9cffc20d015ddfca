"""HChaCha from a block of ChaCha, so that a library which has ChaCha20 alone runs XChaCha20 as well.

Both run the same rounds over the same state. The block function of RFC 8439 2.3 then adds the initial state to every
word; HChaCha (draft-irtf-cfrg-xchacha 2.2) leaves that out and keeps words 0..3 and 12..15 alone. Those words of the
initial state are public, the constants and the nonce, so taking them off a block again gives HChaCha: by whichever
library made the block, at the price of one block, in the library's constant time. The oracle in `reference` and the C
kernels do it by the definition.
"""

from __future__ import annotations

from struct import unpack

from .base import KEY_SIZE
from .chacha import ChaCha
from .secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ..typing import Buffer

#: Words 0..3 of every initial state.
CONSTANTS: Final = b"expand 32-byte k"


def hchacha(block: Buffer, nonce: bytes) -> Secret:
    """Take the public words of the initial state off a block and return the 32-byte subkey HChaCha(K, nonce).

    Parameters
    ----------
    block : bytes-like, 64 bytes
        The block of ChaCha under K with words 12..15 = *nonce*, of as many rounds as HChaCha shall have.
    nonce : bytes
        16 bytes. Public: the time may depend on it.

    Returns
    -------
    Secret
        32 bytes.

    Notes
    -----
    Source: draft-irtf-cfrg-xchacha 2.2.
    """
    # Eight words 64 bits apart make one integer, in which a carry out of a word has room; minus w is plus 2**32 - w.
    # The time of Python's arithmetic depends on an integer's length, so a constant bit stands above the secret ones.
    addend = sum(2**32 - word << 64 * place for place, word in enumerate(unpack("<8I", CONSTANTS + nonce)))
    lanes, subkey = Secret(68), Secret(KEY_SIZE)
    lanes[64] = 1
    with memoryview(block).cast("I") as words, memoryview(lanes).cast("I") as wide, memoryview(subkey).cast("I") as out:
        wide[0:8:2], wide[8:16:2] = words[:4], words[12:]
        lanes[:] = (int.from_bytes(lanes, "little") + addend).to_bytes(68, "little")
        out[:] = wide[0:16:2]
    lanes.wipe()
    return subkey


class ExtendedKey(ChaCha):
    """XChaCha by a provider's ChaCha, which stands behind this class: the subkey takes the key's place."""

    __slots__ = ()

    def _rekey(self, key: Buffer) -> None:
        use = super()._rekey  # type: ignore[safe-super]  # it is the provider's
        use(key)
        block = Secret(64)
        self._fill(0, block)
        subkey = hchacha(block, bytes(16))
        block.wipe()
        use(subkey)
        subkey.wipe()
