"""An independent oracle: randomgen's ChaCha, which keeps a true counter of several words, against the whole family.

Its counter has 128 bits and counts words of four bytes, so it reaches block 2**124 - 1. It comes from NumPy's world and
shares no code with any provider.
"""

from __future__ import annotations

from typing import Any

import pytest

from .keystream_support import CELLS, KEY, ROUNDS, Cell, hchacha, keyed, stream

pytest.importorskip("numpy", reason="NumPy is not installed")
randomgen: Any = pytest.importorskip("randomgen", reason="randomgen is not installed")

FAMILY = [cell for cell in CELLS if cell[0] in ROUNDS]
EDGES = [(1 << power) + step for power in (32, 64, 96) for step in (-5, -1, 0, 1)]
#: Six and a half blocks: across the edge in every start, and long enough for kernels that make four at once.
SIZE = 6 * 64 + 32


def oracle(name: str, counter: int, size: int, key: bytes = KEY) -> bytes:
    """Return *size* bytes, a multiple of 8, of randomgen's keystream from block *counter* on."""
    assert counter + size // 64 < 2**124
    cipher_key = hchacha(key, bytes(16), ROUNDS[name]) if name.startswith("x") else key
    made = randomgen.ChaCha(key=int.from_bytes(cipher_key, "little"), counter=16 * counter, rounds=ROUNDS[name])
    return bytes(made.random_raw(size // 8).astype("<u8").tobytes())


@pytest.mark.parametrize("cell", FAMILY, ids="-".join)
@pytest.mark.parametrize("counter", [0, 1, 0x0123456789ABCDEF << 60, *EDGES], ids=hex)
def test_family_equals_randomgen(cell: Cell, counter: int) -> None:
    """Every kernel gives randomgen's bytes across 2**32, 2**64 and 2**96."""
    assert oracle(cell[0], counter, SIZE) == stream(keyed(*cell), counter, SIZE)


@pytest.mark.parametrize("cell", FAMILY, ids="-".join)
@pytest.mark.parametrize("back", [1, 2, 5])
def test_wrap_goes_on_at_the_start(cell: Cell, back: int) -> None:
    """After block 2**128 - 1 come randomgen's blocks from 0 on."""
    assert oracle(cell[0], 0, SIZE) == stream(keyed(*cell), 2**128 - back, 64 * back + SIZE)[64 * back :]


@pytest.mark.parametrize("cell", FAMILY, ids="-".join)
def test_other_keys(cell: Cell) -> None:
    """The key's bytes stand where randomgen has them."""
    for key in (bytes(32), b"\xff" * 32, bytes(range(255, 223, -1))):
        assert oracle(cell[0], 7, 192, key) == stream(keyed(*cell, key=key), 7, 192)


def test_oracle_tells_rounds_apart() -> None:
    """The oracle's streams differ for each name, so that an equality says which cipher it is."""
    assert len(ROUNDS) == len({oracle(name, 1, 64) for name in ROUNDS})
