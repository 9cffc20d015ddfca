"""Constructions: the points in which the editions of Fortuna differ, each set of choices under one name.

Three different things are called Fortuna. Both editions of the book hash twice; the 2010 edition puts 64 zero bytes
before the message. FreeBSD does so for the key and not for the pools, leaves the key out of its first reseed, and
encodes events its own way. A construction fixes all of that, and a fourth keeps the book's hashes but takes its
requests from another generator: fast key erasure, as Linux has it since 5.18.

Source: Cryptography Engineering 9.4 and 9.5; FreeBSD sys/dev/random/fortuna.c; D. J. Bernstein, "Fast-key-erasure
random-number generators" (2017); Linux drivers/char/random.c.
"""

from __future__ import annotations

from ..errors import ParameterError
from ..generators.secret import Secret
from ..generators.sha256 import sha256
from .events import encode_freebsd, encode_fsk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, NoReturn

    from ..typing import Buffer

    Encoder = Callable[[int, int, Buffer], tuple[bytes, ...]]

#: SHAd-256's zero block: 512 bits, the input block of SHA-256 (Cryptography Engineering 5.4.2).
ZERO_BLOCK: Final = bytes(64)


class Construction:
    """One way to build Fortuna. Frozen; written out because importing ``dataclasses`` costs as much as Python's start.

    Attributes
    ----------
    name : str
        The value of the tunable ``generator.construction``.
    key_prefix, pool_prefix : bytes
        What is hashed before the key material and before a pool's events: `ZERO_BLOCK` or nothing.
    hashes_initial_key : bool
        Whether the first reseed hashes the 32 zero bytes that K starts as, or leaves K out.
    erases_first : bool
        The request rule. The book's: n bytes of keystream at C, then K = the next 32 bytes on a fresh block, and C
        moves past both. Or fast key erasure: of the keystream at counter 0, the first 32 bytes are the next K and the
        n bytes after them the output, and C, which only reseeds change, counts nothing but them.
    encode : callable
        ``(source, timestamp, data) -> events``; see `fortuna.core.events`.
    """

    __slots__ = ("encode", "erases_first", "hashes_initial_key", "key_prefix", "name", "pool_prefix")

    name: str
    key_prefix: bytes
    pool_prefix: bytes
    hashes_initial_key: bool
    erases_first: bool
    encode: Encoder

    def __init__(
        self,
        name: str,
        key_prefix: bytes,
        pool_prefix: bytes,
        encode: Encoder,
        *,
        hashes_initial_key: bool = True,
        erases_first: bool = False,
    ) -> None:
        values = (name, key_prefix, pool_prefix, hashes_initial_key, erases_first, encode)
        fields = ("name", "key_prefix", "pool_prefix", "hashes_initial_key", "erases_first", "encode")
        for field, value in zip(fields, values, strict=True):
            object.__setattr__(self, field, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a construction is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a construction is frozen: cannot delete {name!r}")

    def __repr__(self) -> str:
        return f"<construction {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], Construction], tuple[str]]:
        """Copy and pickle by name: there is one object of each name in a process."""
        return construction_named, (self.name,)

    def reseed_key(self, key: Buffer, seed: Buffer, *, is_seeded: bool) -> Secret:
        """Return the K of Reseed (Cryptography Engineering 9.4.2): key_hash(K || seed), at first perhaps without K."""
        if is_seeded or self.hashes_initial_key:
            return self.key_hash(key, seed)
        return self.key_hash(seed)

    def key_hash(self, *parts: Buffer) -> Secret:
        """Return SHAd-256 of the parts: H(H(prefix || part || ...)), 32 bytes (Cryptography Engineering 5.4.2)."""
        inner = sha256(self.key_prefix)
        for part in parts:
            inner.update(part)
        return Secret(sha256(inner.digest()).digest())


CONSTRUCTIONS: Final = {
    construction.name: construction
    for construction in (
        Construction("fsk2010", ZERO_BLOCK, ZERO_BLOCK, encode_fsk),
        Construction("fsk2003", b"", b"", encode_fsk),
        Construction("freebsd", ZERO_BLOCK, b"", encode_freebsd, hashes_initial_key=False),
        Construction("fast-key-erasure", ZERO_BLOCK, ZERO_BLOCK, encode_fsk, erases_first=True),
    )
}


def construction_named(name: str) -> Construction:
    """Return the construction of that name, or raise `ParameterError` listing those there are."""
    if name not in CONSTRUCTIONS:
        raise ParameterError(f"construction: got {name!r}; there is {', '.join(CONSTRUCTIONS)}")
    return CONSTRUCTIONS[name]
