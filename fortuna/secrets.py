"""The standard library's module `secrets`, name for name, on the generator of the process.

>>> from fortuna import secrets
>>> token = secrets.token_urlsafe()

Importing it does not boot; calling does.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hmac import compare_digest

from . import random_bytes
from ._random import Random as SystemRandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, SupportsIndex

__all__ = [
    "SystemRandom",
    "choice",
    "compare_digest",
    "randbelow",
    "randbits",
    "token_bytes",
    "token_hex",
    "token_urlsafe",
]

#: Bytes of a token whose size is left to this module.
DEFAULT_ENTROPY: Final = 32

_random = SystemRandom()
randbits = _random.getrandbits
choice = _random.choice
_randbelow = _random._randbelow


def randbelow(exclusive_upper_bound: int) -> int:
    """Return an integer x, 0 <= x < *exclusive_upper_bound*, each as likely as the others.

    Raises
    ------
    ValueError
        The bound is 0 or negative.
    """
    if exclusive_upper_bound <= 0:
        raise ValueError("Upper bound must be positive.")
    return _randbelow(exclusive_upper_bound)


def token_bytes(nbytes: SupportsIndex | None = None) -> bytes:
    """Return *nbytes* random bytes, 32 of them without an argument.

    Raises
    ------
    ParameterError
        *nbytes* is negative. It is a ``ValueError``, as in the standard library.
    """
    return random_bytes(DEFAULT_ENTROPY if nbytes is None else nbytes)


def token_hex(nbytes: SupportsIndex | None = None) -> str:
    """Return `token_bytes` as two hexadecimal digits each, in lower case."""
    return random_bytes(DEFAULT_ENTROPY if nbytes is None else nbytes).hex()


def token_urlsafe(nbytes: SupportsIndex | None = None) -> str:
    """Return `token_bytes` as base64 with the alphabet for URLs (RFC 4648 5), without padding."""
    return urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode("ascii")
