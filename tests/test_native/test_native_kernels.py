"""Kernels: each equals the oracle and every other one, at every lane, length and alignment, and writes nowhere else."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.errors import ProviderUnavailableError
from fortuna.generators import _native, create

from .native_support import COUNTER_END, KEY, NATIVE, Cell, other_cell

#: Blocks in the widest batch: 512-bit VAES on eight registers.
WIDEST: Final = 32
#: Bytes of every kernel's batch, and of sizes where other paths begin.
BATCHES: Final = (64, 128, 256, 512, 1024, 2048, 4096, 16384)
EDGES: Final = tuple(1 << power for power in (32, 64, 96, 128))
GUARD: Final = b"\xc3" * 80
COUNTERS = st.one_of(
    st.integers(0, COUNTER_END - 1),
    st.builds(lambda edge, back: (edge - back) % COUNTER_END, st.sampled_from(EDGES), st.integers(0, 2 * WIDEST)),
)


@cache
def slow(name: str, counter: int, size: int) -> bytes:
    """Return the oracle's keystream under `KEY`."""
    oracle = create(name, "reference")
    assert "python" == oracle.kernel
    oracle.set_key(KEY)
    out = bytearray(size)
    oracle.keystream_into(counter % COUNTER_END, out)
    return bytes(out)


def filled(cell: Cell, counter: int, size: int, *, key: bytes = KEY, shift: int = 0) -> bytes:
    """Return keystream written *shift* bytes off alignment, after looking at the guard bytes on both sides."""
    made = create(*cell)
    assert cell == (made.name, made.provider, made.kernel)
    made.set_key(key)
    room = bytearray(GUARD + bytes(shift + size) + GUARD)
    with memoryview(room) as view:
        made.keystream_into(counter % COUNTER_END, view[len(GUARD) + shift : len(GUARD) + shift + size])
    assert GUARD + bytes(shift) == bytes(room[: len(GUARD) + shift])
    assert GUARD == bytes(room[len(GUARD) + shift + size :])
    return bytes(room[len(GUARD) + shift : len(GUARD) + shift + size])


@pytest.mark.parametrize("edge", EDGES, ids=[f"2^{power}" for power in (32, 64, 96, 128)])
def test_every_lane_carries(cell: Cell, edge: int) -> None:
    """A full counter word is crossed in every lane of the widest batch, and in the batch after it."""
    size = create(*cell).block_size
    before, after = 2 * WIDEST + 2, WIDEST + 3
    expected = slow(cell[0], edge - before, (before + after) * size)
    for back in range(before + 1):
        start = (before - back) * size
        got = filled(cell, edge - back, (back + after) * size - 1)
        assert expected[start:-1] == got, f"starts {back} blocks before the edge"


@pytest.mark.parametrize("edge", EDGES, ids=[f"2^{power}" for power in (32, 64, 96, 128)])
def test_single_blocks_at_an_edge(cell: Cell, edge: int) -> None:
    """One, two and three blocks, which have paths of their own, are right from three blocks before an edge on."""
    size = create(*cell).block_size
    expected = slow(cell[0], edge - 3, 8 * size)
    for back in range(4):
        for blocks in (1, 2, 3):
            start = (3 - back) * size
            assert expected[start : start + blocks * size] == filled(cell, edge - back, blocks * size)


@pytest.mark.parametrize("batch", BATCHES)
def test_lengths_around_a_batch(cell: Cell, batch: int) -> None:
    """Lengths around each batch size are prefixes of what other code makes, between guard bytes."""
    other = other_cell(cell)
    assert cell[2] != other[2]
    counter = 2**64 - batch // 100
    longest = filled(other, counter, batch + 70)
    for size in range(max(0, batch - 70), batch + 70):
        assert longest[:size] == filled(cell, counter, size)


def test_every_alignment(cell: Cell) -> None:
    """Output at each of 64 alignments is the same, for lengths of one block, of a batch and of several."""
    other = other_cell(cell)
    assert cell[2] != other[2]
    for size in (16, 64, 65, 1000, 5003):
        expected = filled(other, 77, size)
        for shift in range(64):
            assert expected == filled(cell, 77, size, shift=shift)


@pytest.mark.parametrize("cell", NATIVE, ids="-".join)
@given(key=st.binary(min_size=32, max_size=32), counter=COUNTERS, size=st.integers(0, 2000), shift=st.integers(0, 63))
@settings(deadline=None, max_examples=25)
def test_equals_other_code(cell: Cell, key: bytes, counter: int, size: int, shift: int) -> None:
    """Any key, counter, length and alignment give what other code gives, and the oracle at the ends."""
    other = other_cell(cell)
    assert cell[2] != other[2]
    got = filled(cell, counter, size, key=key, shift=shift)
    assert filled(other, counter, size, key=key) == got
    oracle = create(cell[0], "reference")
    assert cell[2] != oracle.kernel
    oracle.set_key(key)
    head = bytearray(min(size, 200))
    oracle.keystream_into(counter, head)
    assert bytes(head) == got[: len(head)]
    last = max(size - 1, 0) // oracle.block_size
    tail = bytearray(size - last * oracle.block_size)
    oracle.keystream_into((counter + last) % COUNTER_END, tail)
    assert bytes(tail) == got[last * oracle.block_size :]


def test_key_at_any_address(cell: Cell) -> None:
    """A key is read from any address, and a counter may lie in the output buffer itself."""
    expected = slow(cell[0], 5, 100)
    for shift in range(17):
        made = _native.Keystream(cell[0], cell[2])
        made.set_key(memoryview(bytes(shift) + KEY)[shift:])
        out = bytearray(shift) + (5).to_bytes(16, "little") + bytes(84)
        made.fill(memoryview(out)[shift : shift + 16], memoryview(out)[shift:])
        assert expected == bytes(out[shift:])


def test_bulk_equals_other_code(cell: Cell) -> None:
    """Five MiB and a bit, across 2**32 blocks, equal what other code makes."""
    other = other_cell(cell)
    assert cell[2] != other[2]
    counter, size = 2**32 - 40_000, (5 << 20) + 13
    assert filled(other, counter, size) == filled(cell, counter, size)


def test_kernels_of_a_generator_are_different_code(cell: Cell) -> None:
    """A forced kernel is the one that the instance reports, and the table has each once."""
    names = [name for name, _ in _native.kernels(cell[0], _native.cpu_features())]
    assert len(names) == len(set(names))
    assert cell[2] in names
    with pytest.raises(ProviderUnavailableError):
        _native.Keystream(cell[0], cell[2] + "x")
