"""Positive controls: generators of ours that are known to be bad.

A battery that passes one of them has not looked at the stream, so nothing that it says about another one counts. Each
control has one plain fault, has no end, and is the same in every run, so that whether a battery detects it is a fact
and not a matter of luck. All are written as 32-bit words, the least significant byte first.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..generators import create

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    from ..typing import Buffer

#: Bytes in a piece of the controls that are made from a keystream.
PIECE: Final = 1 << 18
#: Any key serves; a fixed one makes the controls the same in every run.
KEY: Final = bytes(range(32))
#: RANDU: x = 65539 x mod 2**31, which falls into 15 planes in three dimensions (Marsaglia 1968).
MULTIPLIER: Final = 65539
MODULUS_BITS: Final = 31
#: Words of RANDU computed side by side.
LANES: Final = 1 << 15
#: Bits that are turned on in addition, of each 2**11: 0.5 + 0.5 * 41 / 2048 is 51.001 %.
EXCESS: Final = 41
EXCESS_BITS: Final = 11
#: The width of the counter that is too short, and the bytes after which its keystream repeats.
COUNTER_BITS: Final = 8
PERIOD: Final = 64 << COUNTER_BITS


@dataclass(frozen=True, slots=True)
class Control:
    """One known-bad generator.

    Attributes
    ----------
    name : str
        Its name in reports.
    fault : str
        What is wrong with it.
    pieces : callable
        Returns its stream from the start, piece by piece, without end.
    """

    name: str
    fault: str
    pieces: Callable[[], Iterator[Buffer]]


def counter() -> Iterator[Buffer]:
    """Yield the words 0, 1, 2, ... modulo 2**32."""
    block = bytearray(4 << 16)
    block[0::4] = bytes(range(256)) * 256
    block[1::4] = b"".join(bytes([high]) * 256 for high in range(256))
    while True:
        for upper in range(1 << 16):
            block[2::4] = bytes([upper & 255]) * (1 << 16)
            block[3::4] = bytes([upper >> 8]) * (1 << 16)
            yield block


def randu() -> Iterator[Buffer]:
    """Yield RANDU from seed 1, each number shifted to the top of its word.

    A whole block is one integer with a number in every 64 bits, so that one multiplication moves all of them on.
    """
    mask = (1 << MODULUS_BITS) - 1
    numbers = [1]
    while len(numbers) < LANES:
        numbers.append(numbers[-1] * MULTIPLIER & mask)
    block = int.from_bytes(b"".join(number.to_bytes(8, "little") for number in numbers), "little")
    masks = int.from_bytes(mask.to_bytes(8, "little") * LANES, "little")
    step = pow(MULTIPLIER, LANES, 1 << MODULUS_BITS)
    while True:
        words = memoryview((block << 1).to_bytes(8 * LANES, "little")).cast("I")
        yield words[::2].tobytes()
        block = block * step & masks


def keystream() -> Iterator[bytes]:
    """Yield good bits for those that spoil them: ChaCha20 under a fixed key."""
    generator = create("chacha20")
    generator.set_key(KEY)
    position = 0
    while True:
        piece = bytearray(PIECE)
        position = generator.keystream_into(position, piece)
        yield bytes(piece)


def biased() -> Iterator[Buffer]:
    """Yield bits that are independent and 1 in 51 % of the cases."""
    good = (int.from_bytes(piece, "little") for piece in keystream())
    while True:
        # Each step halves the density of ones, or halves the density of zeros: EXCESS in binary, from its end.
        excess = 0
        for place in range(EXCESS_BITS):
            excess = excess | next(good) if EXCESS >> place & 1 else excess & next(good)
        yield (next(good) | excess).to_bytes(PIECE, "little")


def short_counter() -> Iterator[Buffer]:
    """Yield ChaCha20's keystream with a block counter that wraps after 8 bits, as one of 32 does after 256 GiB."""
    piece = next(keystream())[:PERIOD] * (PIECE // PERIOD)
    while True:
        yield piece


def stuck() -> Iterator[Buffer]:
    """Yield zeros."""
    while True:
        yield bytes(PIECE)


CONTROLS: Final[dict[str, Control]] = {
    control.name: control
    for control in (
        Control("counter", "counts upwards in 32-bit words", counter),
        Control("randu", "RANDU, x = 65539 x mod 2^31", randu),
        Control("biased", "independent bits, 51 % of them 1", biased),
        Control("short-counter", "ChaCha20 with an 8-bit block counter: repeats after 16 KiB", short_counter),
        Control("stuck", "zeros", stuck),
    )
}
