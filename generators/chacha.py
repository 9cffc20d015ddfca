"""The ChaCha family with a 128-bit counter.

``chachaN`` is the block function of RFC 8439 2.3 with N rounds, state words 4..11 = K and all four words 12..15 =
LE128(C): there is no nonce, and the counter carries through all four words. For counters below 2**32, ``chacha20``
equals RFC 8439 with an all-zero nonce; FreeBSD's random(4) uses the same layout.

``xchachaN`` first derives a subkey, HChaCha(K, 16 zero bytes) with N rounds (draft-irtf-cfrg-xchacha 2.2), and then is
``chachaN`` under that subkey. As published, XChaCha has a 64-bit counter; with the nonce's first 16 bytes fixed at
zero, ours has the family's 128 bits.
"""

from __future__ import annotations

from .base import KeystreamGenerator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class ChaCha(KeystreamGenerator):
    """What the family has in common: blocks of 64 bytes. A provider supplies the cipher."""

    __slots__ = ()

    block_size = 64
    #: Rounds of the block function, and of HChaCha where there is a subkey.
    rounds: ClassVar[int]


class ChaCha20(ChaCha):
    """ChaCha with 20 rounds, as in RFC 8439."""

    __slots__ = ()

    name = "chacha20"
    rounds = 20


class ChaCha12(ChaCha):
    """ChaCha with 12 rounds."""

    __slots__ = ()

    name = "chacha12"
    rounds = 12


class ChaCha8(ChaCha):
    """ChaCha with 8 rounds."""

    __slots__ = ()

    name = "chacha8"
    rounds = 8


class XChaCha20(ChaCha):
    """ChaCha20 under a subkey by HChaCha20."""

    __slots__ = ()

    name = "xchacha20"
    rounds = 20


class XChaCha12(ChaCha):
    """ChaCha12 under a subkey by HChaCha12."""

    __slots__ = ()

    name = "xchacha12"
    rounds = 12


class XChaCha8(ChaCha):
    """ChaCha8 under a subkey by HChaCha8."""

    __slots__ = ()

    name = "xchacha8"
    rounds = 8
