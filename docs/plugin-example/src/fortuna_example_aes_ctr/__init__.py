"""AES-256 in the counter mode of NIST SP 800-38A 6.5, as a keystream generator for fortuna.

An example of a plug-in, not a recommendation: fortuna's own ``aes256-icm`` is the same cipher over a counter whose
least significant byte comes first, on faster providers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from Crypto.Cipher import AES

from fortuna.generators import KeystreamGenerator, Secret
from fortuna.generators.counter import library_calls

if TYPE_CHECKING:
    from fortuna.typing import Buffer, WritableBuffer


class AES256CTR(KeystreamGenerator):
    """AES-256 over a big-endian 128-bit counter; blocks of 16 bytes."""

    __slots__ = ("_key",)

    name = "aes256-ctr"
    block_size = 16
    provider = "plug-in"
    kernel = "pycryptodome"
    # Made with `openssl enc -aes-256-ctr` from zeros: key 00 01 .. 1f, from the last block before a carry on.
    _known_answers = (
        ((1 << 32) - 1, "b9c2739810cba157a9fe6a108c6e569e641d1a3a80becff6"),
        ((1 << 64) - 1, "a6fbdb5cfde07d1b58fd362177bcffdf511dd5ef9a682b7d"),
        ((1 << 128) - 1, "e999e41d4ca770da5387117b5d8f57eef29000b62a499fd0"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._key = Secret(self.key_size)

    def _rekey(self, key: Buffer) -> None:
        self._key[:] = key

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        with memoryview(out) as view:
            # Never more than a library gets right: no call is long, and none crosses a multiple of 2**32 blocks.
            for entry, start, stop in library_calls(counter, len(view), self.block_size):
                cipher = AES.new(self._key, AES.MODE_CTR, nonce=b"", initial_value=entry)
                cipher.encrypt(bytes(stop - start), output=view[start:stop])

    def _erase(self) -> None:
        self._key.wipe()
