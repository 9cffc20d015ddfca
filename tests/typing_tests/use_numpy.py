"""Uses of `fortuna.numpy`, and of its counterpart for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

from fortuna import Fortuna
from fortuna.numpy import BitGenerator, random_double, random_u64
from fortuna.testing import DeterministicBitGenerator


def use(live: Fortuna) -> None:
    """Feed NumPy in each way."""
    rng = np.random.Generator(BitGenerator())
    assert_type(rng.random(3), NDArray[np.float64])
    assert_type(np.random.default_rng(BitGenerator(live)), np.random.Generator)
    assert_type(BitGenerator().spawn(2), list[BitGenerator])
    numbers: NDArray[np.uint64] = BitGenerator().random_raw((2, 3))
    with BitGenerator().lock:
        numbers.sort()


def use_arrays() -> None:
    """Fill arrays at once."""
    assert_type(random_u64(10), NDArray[np.uint64])
    assert_type(random_double(10), NDArray[np.float64])
    assert_type(random_double((2, 3)), NDArray[np.float64])


def use_in_tests() -> None:
    """Take the one that repeats itself."""
    bits = DeterministicBitGenerator(b"seed", cipher="chacha20", construction="fast-key-erasure")
    assert_type(bits.spawn(1), list[DeterministicBitGenerator])
    np.random.Generator(bits).shuffle([1, 2, 3])


def misuse() -> None:
    """Do what the types forbid."""
    BitGenerator(1)  # type: ignore[arg-type]
    random_double([2, 3])  # type: ignore[arg-type]
    DeterministicBitGenerator("seed")  # type: ignore[arg-type]
