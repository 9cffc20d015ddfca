"""ChaCha20 with a 128-bit counter.

The block function of RFC 8439 2.3 with state words 4..11 = K and all four words 12..15 = LE128(C): there is no nonce,
and the counter carries through all four words. For counters below 2**32 the stream equals RFC 8439 with an all-zero
nonce; FreeBSD's random(4) uses the same layout.
"""

from __future__ import annotations

from .base import KeystreamGenerator


class ChaCha20(KeystreamGenerator):
    """ChaCha with 20 rounds over a little-endian 128-bit counter; blocks of 64 bytes. A provider supplies it."""

    __slots__ = ()

    name = "chacha20"
    block_size = 64
    rounds = 20
