"""Known answers, computed by every provider class before its first use: proof of its layout, whatever its version.

Each answer starts on the last block before a word of the counter is full and ends in the middle of the next block, so
a library that keeps a shorter counter, lays it out differently or carries elsewhere cannot pass. A pass costs a few
library calls and is made once in a process.
"""

from __future__ import annotations

from hashlib import sha256

from ..errors import SelfTestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from .base import KeystreamGenerator

#: The key of every answer: 00 01 02 .. 1f.
KEY: Final = bytes(range(32))

#: Generator -> (counter, keystream as hex). tests/test_generators/test_keystream_vectors.py holds the table to the
#: published values and to every provider.
KNOWN_ANSWERS: Final = {
    "aes256-icm": (
        ((1 << 32) - 1, "1a4452e636f1368c12aebea3056b07309baf50855c76e5b3"),
        ((1 << 64) - 1, "91658d77eba9ef4e2a4d5619c6c186b790f10a18df1dcf11"),
        ((1 << 128) - 1, "e999e41d4ca770da5387117b5d8f57eef29000b62a499fd0"),
    ),
    "chacha20": (
        (
            (1 << 32) - 1,
            "1ce0deb8925fccea2d5587e850054559edcbbeb1a6c8e1c02c1e89abba08b01cad6048fe5ab5242ed6befbef6b4040fc"
            "b666a5f3858d942a912c4e8800301a42d838fb09536e2e3a10e8f23f486273a6",
        ),
        (
            (1 << 64) - 1,
            "ee0f29e1754bcbb97686c9c1c850fc7ccf91b9d5a744f01e4833eeb281c8f5a5b66d769bf25bf330fe5219235341d51d"
            "16a3cd17220da5832b0f4b8a464b2cc02fa4f10250808e89a25231e50fdf6ee0",
        ),
        (
            (1 << 128) - 1,
            "3a7463c6b2aa11ea1af811469c8c94b9271a4017fa7cf1574063f12ab4d5b6850ee878f37bfa3515e8dfea7ff569be07"
            "6a86c51019477b523a8b78a6a3d098e639fd2b7dd9c5196a8dbd0377b8dc4a49",
        ),
    ),
}

#: Generator -> (counter, bytes, SHA-256 of the keystream): long enough for the code that providers keep for long
#: calls, across a multiple of 2**32.
LONG_ANSWERS: Final = {
    "aes256-icm": ((1 << 32) - 3, 4200, "ae3109df726051a7d295445fa0a2e8cdca616e4d52832aaff851dc05eb850635"),
    "chacha20": ((1 << 32) - 3, 4200, "efef17228f42573cf9ad40b8d1186f96bb15eb328c720a18a18e11bc653c3c3a"),
}


def check_known_answers(candidate: type[KeystreamGenerator]) -> None:
    """Compute *candidate*'s known answers.

    Raises
    ------
    SelfTestError
        An answer differs, or computing it failed. The message names provider, generator and counter.
    """
    for counter, expected in KNOWN_ANSWERS[candidate.name]:
        check(candidate, counter, compute(candidate, counter, len(expected) // 2).hex(), expected)
    counter, size, expected = LONG_ANSWERS[candidate.name]
    check(candidate, counter, sha256(compute(candidate, counter, size)).hexdigest(), expected)


def compute(candidate: type[KeystreamGenerator], counter: int, size: int) -> bytearray:
    """Return *size* bytes of *candidate*'s keystream from block *counter* on."""
    got = bytearray(size)
    try:
        generator = candidate()
        generator.set_key(KEY)
        generator.keystream_into(counter, got)
    except Exception as error:
        where = f"{candidate.provider}: {candidate.name} at counter {counter:#x}"
        raise SelfTestError(f"{where}: the known answer could not be computed: {error}") from error
    return got


def check(candidate: type[KeystreamGenerator], counter: int, got: str, expected: str) -> None:
    """Raise where *got* is not the answer expected."""
    if got != expected:
        where = f"{candidate.provider}: {candidate.name} at counter {counter:#x}"
        raise SelfTestError(f"{where}: known answer wrong; this provider is not used, choose another")
