"""Properties of the keystream: position is all there is, kernels agree everywhere, every input bit matters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .keystream_support import CELLS, COUNTER_END, EDGES, KEY, Cell, assert_different_paths, keyed, oracle, stream

if TYPE_CHECKING:
    from fortuna.generators import KeystreamGenerator

COUNTERS = st.one_of(st.integers(0, COUNTER_END - 1), st.sampled_from(EDGES))
KEYS = st.binary(min_size=32, max_size=32)
GUARD = b"\xa5" * 32
#: Everything but the oracle, to be compared with it.
FAST = [cell for cell in CELLS if cell[1] != "reference"]


@cache
def slow_stream(name: str, counter: int, size: int) -> bytes:
    """Return the oracle's keystream, computed once for all kernels."""
    return stream(keyed(name, "reference"), counter, size)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
@given(counter=COUNTERS, parts=st.lists(st.integers(0, 6), max_size=5), tail=st.integers(0, 150))
@settings(deadline=None, max_examples=40)
def test_one_call_equals_many(cell: Cell, counter: int, parts: list[int], tail: int) -> None:
    """One call gives what many give that start where the one before stopped."""
    generator = keyed(*cell)
    sizes = [blocks * generator.block_size for blocks in parts] + [tail]
    whole = bytearray(sum(sizes))
    end = generator.keystream_into(counter, whole)
    pieces = b""
    position = counter
    for size in sizes:
        piece = bytearray(size)
        position = generator.keystream_into(position, piece)
        pieces += piece
    assert bytes(whole) == pieces
    assert end == position


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
@given(counter=COUNTERS, size=st.integers(0, 200))
@settings(deadline=None, max_examples=30)
def test_next_counter_is_counted_in_blocks(cell: Cell, counter: int, size: int) -> None:
    """The counter moves by whole blocks, a partial last one included, modulo 2**128."""
    generator = keyed(*cell)
    expected = (counter + (size + generator.block_size - 1) // generator.block_size) % COUNTER_END
    assert expected == generator.keystream_into(counter, bytearray(size))


@pytest.mark.parametrize("cell", FAST, ids="-".join)
@given(key=KEYS, counter=COUNTERS, size=st.integers(0, 400))
@settings(deadline=None, max_examples=60)
def test_providers_agree(cell: Cell, key: bytes, counter: int, size: int) -> None:
    """A kernel and the oracle, which share no code, give the same bytes and the same next counter."""
    one, other = keyed(*cell, key=key), oracle(cell, key)
    assert_different_paths(one, other)
    first, second = bytearray(size), bytearray(size)
    assert one.keystream_into(counter, first) == other.keystream_into(counter, second)
    assert first == second


@pytest.mark.parametrize("cell", FAST, ids="-".join)
@pytest.mark.parametrize("counter", EDGES, ids=hex)
def test_providers_agree_over_every_edge(cell: Cell, counter: int) -> None:
    """Kernels agree on six and a half blocks that start at most two blocks from a full counter word."""
    one, other = keyed(*cell), oracle(cell)
    assert_different_paths(one, other)
    size = 6 * one.block_size + one.block_size // 2
    assert stream(one, counter, size) == stream(other, counter, size)


@pytest.mark.parametrize("cell", FAST, ids="-".join)
@pytest.mark.parametrize("edge", [1 << power for power in (16, 32, 64, 96, 128)], ids=hex)
def test_long_calls_agree_over_every_edge(cell: Cell, edge: int) -> None:
    """A call of more than 4 KiB, which takes another road through a library, crosses an edge as the oracle does."""
    one, other = keyed(*cell), oracle(cell)
    assert_different_paths(one, other)
    size = 3 * 4096 + 7
    counter = edge - 6000 // one.block_size
    assert slow_stream(cell[0], counter, size) == stream(one, counter, size)


@pytest.mark.parametrize("cell", FAST, ids="-".join)
def test_one_instance_goes_to_and_fro(cell: Cell) -> None:
    """An instance that has been at one edge is right at another: it keeps nothing of where it was."""
    one, other = keyed(*cell), oracle(cell)
    assert_different_paths(one, other)
    for counter in (*EDGES, *reversed(EDGES), 0, 1, 0):
        assert stream(other, counter, 70) == stream(one, counter, 70)


def test_blocks_counted_through_edges(generator: KeystreamGenerator) -> None:
    """Block i of a call at C is the first block of a call at C + i modulo 2**128, whatever the kernel."""
    size = generator.block_size
    for start in EDGES:
        whole = stream(generator, start, 5 * size)
        for i in range(5):
            assert whole[i * size : (i + 1) * size] == stream(generator, (start + i) % COUNTER_END, size)


@pytest.mark.parametrize("cell", FAST, ids="-".join)
def test_lengths_0_to_2000(cell: Cell) -> None:
    """Every length up to 2000 bytes is a prefix of the longest, and nothing beside the buffer is touched."""
    generator = keyed(*cell)
    assert_different_paths(generator, oracle(cell))
    longest = slow_stream(cell[0], 7, 2000)
    for size in range(2001):
        room = bytearray(GUARD + bytes(size) + GUARD)
        generator.keystream_into(7, memoryview(room)[32 : 32 + size])
        assert GUARD + longest[:size] + GUARD == room


def test_lengths_around_a_block(generator: KeystreamGenerator) -> None:
    """Lengths around one and two blocks are prefixes, for every provider, between guard bytes."""
    longest = stream(generator, 2**64 - 1, 3 * generator.block_size)
    for size in range(2 * generator.block_size + 2):
        room = bytearray(GUARD + bytes(size) + GUARD)
        generator.keystream_into(2**64 - 1, memoryview(room)[32 : 32 + size])
        assert GUARD + longest[:size] + GUARD == room


def test_lengths_around_library_limits() -> None:
    """Around 4 KiB and 1 MiB, where the roads part, output is a prefix of the longer and guards stay."""
    for name in ("aes256-icm", "chacha20"):
        generator = keyed(name, "pycryptodome")
        longest = stream(generator, 2**32 - 3, (1 << 20) + 80)
        for limit in (4096, 1 << 20):
            for size in range(limit - 17, limit + 18):
                room = bytearray(GUARD + bytes(size) + GUARD)
                generator.keystream_into(2**32 - 3, memoryview(room)[32 : 32 + size])
                assert GUARD + longest[:size] + GUARD == bytes(room)


def test_old_contents_do_not_matter(generator: KeystreamGenerator) -> None:
    """Output overwrites the buffer; it is not mixed with what was there."""
    dirty = bytearray(b"\xff" * 100)
    generator.keystream_into(3, dirty)
    assert stream(generator, 3, 100) == bytes(dirty)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_key_bit_matters(cell: Cell) -> None:
    """Flipping any of the 256 key bits gives another block, and no two of the 257 are alike."""
    blocks = {stream(keyed(*cell), 1, 16)}
    for bit in range(256):
        flipped = (int.from_bytes(KEY, "little") ^ 1 << bit).to_bytes(32, "little")
        blocks.add(stream(keyed(*cell, key=flipped), 1, 16))
    assert 257 == len(blocks)


def test_every_counter_bit_matters(generator: KeystreamGenerator) -> None:
    """Flipping any of the 128 counter bits gives another block, and no two of the 129 are alike."""
    blocks = {stream(generator, 0, 16)} | {stream(generator, 1 << bit, 16) for bit in range(128)}
    assert 129 == len(blocks)


def test_new_key_drops_the_old(generator: KeystreamGenerator) -> None:
    """After set_key an instance gives what a fresh one with that key gives, at the place where it last was too."""
    other = bytes(range(100, 132))
    old = stream(generator, 2**64 + 5, 1500)
    generator.set_key(other)
    fresh = keyed(generator.name, generator.provider, generator.kernel, key=other)
    assert stream(fresh, 2**64 + 5, 1500) == stream(generator, 2**64 + 5, 1500)
    assert old != stream(generator, 2**64 + 5, 1500)


def test_instances_share_nothing(cell: Cell) -> None:
    """Two instances with two keys, used in turn, do not disturb each other."""
    one, two = keyed(*cell), keyed(*cell, key=bytes(32))
    first, second = stream(one, 9, 64), stream(two, 9, 64)
    assert first != second
    assert first == stream(one, 9, 64)
    assert second == stream(two, 9, 64)


def test_key_is_copied(cell: Cell) -> None:
    """Changing the caller's buffer after set_key changes nothing, at the first use as well."""
    buffer = bytearray(KEY)
    generator = keyed(*cell)
    generator.set_key(buffer)
    buffer[:] = bytes(32)
    assert stream(keyed(*cell), 0, 1200) == stream(generator, 0, 1200)


def test_same_bytes_for_any_buffer_type(generator: KeystreamGenerator) -> None:
    """Keys and outputs may be bytes, bytearray, views and arrays of wider elements: the bytes are the same."""
    from array import array

    expected = stream(generator, 4, 96)
    keys = (KEY, bytearray(KEY), memoryview(KEY), array("I", KEY), memoryview(KEY).cast("B", (4, 8)))
    for key in keys:
        generator.set_key(key)  # type: ignore[arg-type]
        wide = array("Q", bytes(96))
        generator.keystream_into(4, wide)  # type: ignore[arg-type]
        assert expected == wide.tobytes()
        square = bytearray(96)
        generator.keystream_into(4, memoryview(square).cast("B", (8, 12)))
        assert expected == bytes(square)


def test_no_two_short_streams_repeat(generator: KeystreamGenerator) -> None:
    """Two hundred consecutive blocks are all different: no counter value is used twice."""
    size = generator.block_size
    whole = stream(generator, 2**32 - 100, 200 * size)
    assert 200 == len({whole[i : i + size] for i in range(0, len(whole), size)})
