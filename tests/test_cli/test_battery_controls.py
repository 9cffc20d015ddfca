"""The known-bad generators are what they are called, the same in every run, and without end."""

from __future__ import annotations

import struct
from typing import Final

import pytest

from fortuna.batteries.controls import CONTROLS, MULTIPLIER, PERIOD
from fortuna.batteries.tails import binomial
from fortuna.generators import create

SIZE: Final = 3 << 20


def stream(name: str, size: int = SIZE) -> bytes:
    """Return the first *size* bytes of a control."""
    made = bytearray()
    for piece in CONTROLS[name].pieces():
        made += piece
        if len(made) >= size:
            break
    return bytes(made[:size])


@pytest.mark.parametrize("name", CONTROLS)
def test_repeatable(name: str) -> None:
    """Each run of a control gives the same bytes."""
    assert stream(name) == stream(name)


def test_all_differ() -> None:
    """No control is another one under a second name."""
    assert len(CONTROLS) == len({stream(name) for name in CONTROLS})


def test_counter() -> None:
    """The words are their own places, also past the 16 bits at which a piece ends."""
    words = struct.unpack(f"<{SIZE // 4}I", stream("counter"))
    assert tuple(range(SIZE // 4)) == words


def test_randu() -> None:
    """Each number is 65539 times the one before modulo 2**31, across pieces too, in the upper 31 bits of its word."""
    words = struct.unpack(f"<{SIZE // 4}I", stream("randu"))
    assert {0} == {word & 1 for word in words}
    numbers = [word >> 1 for word in words]
    assert 1 == numbers[0]
    assert numbers[1:] == [number * MULTIPLIER % 2**31 for number in numbers[:-1]]


def test_biased() -> None:
    """51 % of the bits are 1, within what chance allows, and 50 or 52 % is out of the question."""
    bits = 8 * SIZE
    ones = int.from_bytes(stream("biased"), "little").bit_count()
    assert min(binomial(ones, bits, 0.51001)) > 1e-6
    assert min(binomial(ones, bits, 0.509)) < 1e-12
    assert min(binomial(ones, bits, 0.511)) < 1e-12


def test_biased_has_no_other_fault() -> None:
    """Neighbouring bits are independent: the pairs are as frequent as the bias says."""
    data = stream("biased")
    number = int.from_bytes(data, "little")
    both = (number & number >> 1).bit_count()
    assert min(binomial(both, 8 * len(data) - 1, 0.51001**2)) > 1e-6


def test_short_counter() -> None:
    """The keystream is ChaCha20's up to the end of its counter, and then again and again."""
    generator = create("chacha20", "reference")
    generator.set_key(bytes(range(32)))
    block = bytearray(PERIOD)
    assert 256 == generator.keystream_into(0, block)
    assert bytes(block) * (SIZE // PERIOD) == stream("short-counter")


def test_stuck() -> None:
    """The stuck stream is zeros."""
    assert bytes(SIZE) == stream("stuck")
