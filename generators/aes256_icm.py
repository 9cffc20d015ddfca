"""AES-256 in integer counter mode: block i of the keystream is AES-256_K(LE128(C + i)).

Cryptography Engineering 9.4.3 (GenerateBlocks) with the whole 16-byte block as one integer, least significant byte
first. It is *not* the big-endian counter mode of NIST SP 800-38A 6.5: the same key and start give other bytes.
"""

from __future__ import annotations

from .base import KeystreamGenerator


class AES256ICM(KeystreamGenerator):
    """AES-256 over a little-endian 128-bit counter; blocks of 16 bytes. A provider supplies the cipher."""

    __slots__ = ()

    name = "aes256-icm"
    block_size = 16
