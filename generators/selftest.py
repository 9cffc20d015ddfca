"""Known answers, computed by every provider and kernel before its first use: proof of its layout, whatever its version.

Each answer starts on the last block before a word of the counter is full and ends in the middle of the next block, so
a library that keeps a shorter counter, lays it out differently or carries elsewhere cannot pass. A pass costs a few
library calls and is made once in a process.
"""

from __future__ import annotations

from ..errors import SelfTestError
from .sha256 import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ..typing import Buffer
    from .choice import Choice

#: The key of every answer: 00 01 02 .. 1f.
KEY: Final = bytes(range(32))
#: The key that each instance is given before it.
FIRST_KEY: Final = bytes(32)

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
    "chacha12": (
        (
            (1 << 32) - 1,
            "0e70045b1d0e06d10173499dd9aa36c09d973ec90ef89bf156dd7c0ef8e730618fe796c3a188f38546025d120ebce1ae"
            "a61457689bc82ee99421c98d1f36745b880e567cf24b6765bd32886c1f075703",
        ),
        (
            (1 << 64) - 1,
            "bbc1dc44544ba7da19d6abfbd24d7d4aa531bad2713ce076b575a007fd3019660358c9bb18a9763a8d16137448ec10e2"
            "153ba5ee36203d45ec2ba1fed0d3848f92b68018a8a55a0f4c09c35acaea95e2",
        ),
        (
            (1 << 128) - 1,
            "e9df44d64e57aa5e182ad86480df6f7a303531933e578717df60d468cb1939cb887183b30951b6738e8799ef6e97340a"
            "e16568fac6fa8161f8ce5cd533c32d89f231f9ffd17ac65e4405f325d7e940aa",
        ),
    ),
    "chacha8": (
        (
            (1 << 32) - 1,
            "5a39850a19400d61182cf59f1a52d0813592f8a7acbb8bf24858a350711d7fc3a8b6278c8327708d6fd820f053b12000"
            "6c807c02ca7b39fadc500a739fba798335d8868ee86b4981c3c19c27189c877f",
        ),
        (
            (1 << 64) - 1,
            "6a3000b1f9d8875f5390b756c05ebc2aef34c220bc2241094c05c87b85dee32537c9c5ef0f8c912df0a1ebcb57e13259"
            "dd418b7ce61ee15d6f57c3ea6473fdb74fc71deff9d20ebd4138c59256ba3691",
        ),
        (
            (1 << 128) - 1,
            "140b8995193e7358672e41bd2f82c8239f49e8ce905d2651434a6b1b61bcf10830bfdfe7ae9668f2a3401399534d2647"
            "d3eca6820e1174ce18594b9842c4211a4015b28f6e12ab6ad9e8667b31c51233",
        ),
    ),
    "xchacha20": (
        (
            (1 << 32) - 1,
            "1034425cef06857a6955236d0185e82960e9a881b42c9f2c0a6b189d7b9ba1ccc63dea985051afa3109e491badef70cc"
            "0ce0bdde57b6fdc270e3e5664c917694f4a08144120b77b541aea44272459825",
        ),
        (
            (1 << 64) - 1,
            "08842ec6fd84811b589bd1c4fff896430ddfa0728a91705a41d3a531b0be95862866730a3b23ea2afbc27c30bda847e2"
            "c2cb35d03f64341edd1b5c130127d3ffc1070f754c1db7f67a22e335b9b4c50d",
        ),
        (
            (1 << 128) - 1,
            "b24c75dc682cc53d7770527f3385886fed2d21e1ddc4f4e7488fb45fae74d59c58d2a0023e8b25bc477987d322ed7046"
            "5ca04184f71b914a1ee328f2852cc55ac2a79b97e0e91bd7d08793c97c440716",
        ),
    ),
    "xchacha12": (
        (
            (1 << 32) - 1,
            "cc11e514f554d3be7a52296dc74d508c2a94c92a08b490325bf888a72a5420b16832fe0306eb7596640b71d53fffe3cd"
            "4eb9ad4bb9c7a07aca5e35a0c98bb7c70efc89771b26d3234d0fa9e5618d98ac",
        ),
        (
            (1 << 64) - 1,
            "01421cee4c82d8d1f82a395fe2bc9d548df51e26f7f9824303405939a7b4fde6438d65ef2361828e44ecc46ce5cf14a1"
            "8e95c640d1961a4b5d2014521c8472d299c9e581476db034e0e0b4f5a461eacb",
        ),
        (
            (1 << 128) - 1,
            "4fa6757fc9b420c060bc26717726d36600a4ee560e948f44da32be3ef9d902137b66cc9bda1e3e627e3c2d3bad36b6b5"
            "a49a74927669a62077fae0611bd581bbd3854b78c65896d35419532da6240f1a",
        ),
    ),
    "xchacha8": (
        (
            (1 << 32) - 1,
            "fdb70a471bc33ab03858e794d3dc1220bef86c9b62d1bda000b4bb237f6913177f9b6035730b47c4347932cc3f5e8b66"
            "a5918cd3ea012973b8f13ddfdbb98d4060c2b5dfe9f6e5087a66f8d9a2bb2238",
        ),
        (
            (1 << 64) - 1,
            "f083c12d3d30b0fc5896e45f48b3903db0baee4b51d4a96359b88864a5aef86a6144e2d6710e97f0769b79972ca715e0"
            "13c3e034f739fdb82747a1cee5ecc08423406b1c012b8e65f5c79b4c6aafbf22",
        ),
        (
            (1 << 128) - 1,
            "ce33bd4e866ae1ddc3ada2e4c7adf38e767b01a3cf95eef96184875f6887c3a37060049602ce5c5a3194009a3821a60d"
            "71f81fbc015e2448ff49d446d96e146cada7114879174bfba9e256f83472c245",
        ),
    ),
}

#: Generator -> (counter, bytes, SHA-256 of the keystream): long enough for the code that providers keep for long
#: calls, across a multiple of 2**32.
LONG_ANSWERS: Final = {
    "aes256-icm": ((1 << 32) - 3, 4200, "ae3109df726051a7d295445fa0a2e8cdca616e4d52832aaff851dc05eb850635"),
    "chacha20": ((1 << 32) - 3, 4200, "efef17228f42573cf9ad40b8d1186f96bb15eb328c720a18a18e11bc653c3c3a"),
    "chacha12": ((1 << 32) - 3, 4200, "4ef6e78a74e3a2e75625d54df9ac60ad3453127572973e298ef82ea555b55573"),
    "chacha8": ((1 << 32) - 3, 4200, "2e90b3976f3469010aa23eb6a34d7fa5dc84558a9edd0399c7dd36366967cec1"),
    "xchacha20": ((1 << 32) - 3, 4200, "5356767c37f403eb28de9d98ca8b9785bc96daf95fe380ddd7a444ec41c43e9d"),
    "xchacha12": ((1 << 32) - 3, 4200, "60446ddde11b5823bd280659861561e242004eeca8fa9548cfae2b05c926d217"),
    "xchacha8": ((1 << 32) - 3, 4200, "422d78944f6dd1a5e085259aac5c9cdb8ab566fb13f378e1197c64c23ceaa217"),
}


def check_known_answers(candidate: Choice) -> None:
    """Compute *candidate*'s known answers.

    Raises
    ------
    SelfTestError
        An answer differs, or computing it failed. The message names provider, generator and counter, and the layout of
        the counter where it is one that libraries are known to have.
    """
    # A plug-in brings its own; one of ours that the table lacks is a mistake of ours, and shows as one.
    answers = candidate.known_answers if candidate.distribution else KNOWN_ANSWERS[candidate.name]
    for counter, expected in answers:
        got = compute(candidate, counter, len(expected) // 2)
        if got != bytes.fromhex(expected):
            raise wrong_answer(candidate.provider, candidate.name, counter, got)
    if not candidate.distribution:
        counter, size, digest = LONG_ANSWERS[candidate.name]
        got = compute(candidate, counter, size)
        if sha256(got).hexdigest() != digest:
            raise wrong_answer(candidate.provider, candidate.name, counter, got)


def compute(candidate: Choice, counter: int, size: int) -> bytearray:
    """Return *size* bytes of *candidate*'s keystream from block *counter* on, under the second key of an instance."""
    got = bytearray(size)
    try:
        generator = candidate()
        # Every request brings a new key, so a library that goes on with its first is caught here.
        generator.set_key(FIRST_KEY)
        generator.keystream_into(counter, got)
        generator.set_key(KEY)
        generator.keystream_into(counter, got)
    except Exception as error:
        where = f"{candidate.provider}: {candidate.name} at counter {counter:#x}"
        raise SelfTestError(f"{where}: the known answer could not be computed: {error}") from error
    return got


def wrong_answer(who: str, generator: str, counter: int, got: Buffer) -> SelfTestError:
    """Return the error for a wrong answer, which names the layout of the counter that gives it, if one is known."""
    # Imported here because a provider that works has no need of a name for what is wrong.
    from .layouts import layout_of

    layout = layout_of(generator, KEY, counter, bytes(got))
    found = f" (it has {layout})" if layout else ""
    where = f"{who}: {generator} at counter {counter:#x}"
    return SelfTestError(f"{where}: known answer wrong{found}; this provider is not used, choose another")
