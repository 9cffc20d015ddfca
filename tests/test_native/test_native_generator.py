"""The generator in C equals the one in Python, byte for byte: transcripts, sizes, limits, refusals and threads."""

from __future__ import annotations

import copy
import pickle
import threading
from operator import index
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.core import Generator
from fortuna.errors import NotSeededError, ParameterError, RequestTooLargeError
from fortuna.generators.secret import Secret

from .native_support import (
    COUNTER_END,
    EDITIONS,
    KEY,
    NATIVE,
    REQUEST_MAX,
    RULES,
    Cell,
    assert_other_code,
    choice_of,
    key_of,
    native_generator,
    oracle_cell,
    other_cell,
    python_generator,
    scripted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna.core.native_generator import NativeGenerator

COUNTERS = st.one_of(
    st.integers(0, COUNTER_END - 1),
    st.builds(
        lambda power, back: ((1 << power) - back) % COUNTER_END, st.sampled_from([32, 64, 96, 128]), st.integers(0, 40)
    ),
)
SMALL = st.lists(st.one_of(st.integers(0, 200), st.binary(max_size=80)), max_size=6)
LARGE = st.lists(
    st.one_of(
        st.integers(0, 5000),
        st.integers(16384 - 80, 16384 + 80),
        st.integers(65500, 66000),
        st.binary(max_size=80),
    ),
    max_size=6,
)


def play(native: NativeGenerator, python: Generator, steps: list[int | bytes]) -> None:
    """Take the same steps on both: a request of so many bytes, or a reseed from so many."""
    assert_other_code(native, python)
    for step in steps:
        if isinstance(step, bytes):
            native.reseed(step)
            python.reseed(step)
        elif python.is_seeded or step == 0:
            assert python.random_bytes(step) == native.random_bytes(step)
        else:
            for one in (python, native):
                with pytest.raises(NotSeededError, match=r"not seeded yet \(C = 0\)"):
                    one.random_bytes(step)
        assert bytes(python._key) == key_of(native)
        assert python.is_seeded == native.is_seeded


@pytest.mark.parametrize("construction", EDITIONS)
@pytest.mark.parametrize("cell", NATIVE, ids="-".join)
@given(key=st.binary(min_size=32, max_size=32), counter=COUNTERS, steps=SMALL)
@settings(deadline=None, max_examples=15)
def test_transcript_equals_the_oracle(
    cell: Cell, construction: str, key: bytes, counter: int, steps: list[int | bytes]
) -> None:
    """Any short transcript of reseeds and requests is that of the plain-Python generator."""
    native = native_generator(cell, construction, key=key, counter=counter)
    play(native, python_generator(oracle_cell(cell), construction, key=key, counter=counter), steps)


@pytest.mark.parametrize("construction", EDITIONS)
@pytest.mark.parametrize("cell", NATIVE, ids="-".join)
@given(counter=COUNTERS, steps=LARGE)
@settings(deadline=None, max_examples=15)
def test_long_transcript_equals_other_code(
    cell: Cell, construction: str, counter: int, steps: list[int | bytes]
) -> None:
    """Any transcript with long requests is that of the Python generator on other code."""
    native = native_generator(cell, construction, key=KEY, counter=counter)
    play(native, python_generator(other_cell(cell), construction, key=KEY, counter=counter), steps)


@pytest.mark.parametrize("construction", RULES)
def test_every_length(cell: Cell, construction: str) -> None:
    """Requests of 1..2100 bytes, one after another, give the bytes and the keys of other code."""
    native, python = (
        native_generator(cell, construction, counter=2**32 - 9000),
        python_generator(other_cell(cell), construction, counter=2**32 - 9000),
    )
    assert_other_code(native, python)
    for size in range(1, 2101):
        assert python.random_bytes(size) == native.random_bytes(size)
        assert bytes(python._key) == key_of(native)


@pytest.mark.parametrize("power", [32, 64, 96, 128])
def test_requests_across_an_edge(cell: Cell, power: int) -> None:
    """A request that starts at most 36 blocks before a full counter word is right in output, next K and next C."""
    for back in range(1, 37):
        for size in (1, 32, 64, 65, 300, 1025, 2000):
            counter = (1 << power) - back
            native = native_generator(cell, key=KEY, counter=counter)
            python = python_generator(other_cell(cell), key=KEY, counter=counter)
            assert_other_code(native, python)
            assert python.random_bytes(size) == native.random_bytes(size)
            assert bytes(python._key) == key_of(native)
            if python.is_seeded:
                assert python.random_bytes(16) == native.random_bytes(16)


@pytest.mark.parametrize("size", [16383, 16384, 16385, REQUEST_MAX - 17, REQUEST_MAX - 1, REQUEST_MAX])
@pytest.mark.parametrize("construction", RULES)
def test_sizes_around_the_limits(cell: Cell, size: int, construction: str) -> None:
    """Around 16 KiB, where the lock is given up, and around 1 MiB, output and state are those of other code."""
    native = native_generator(cell, construction, key=KEY, counter=3)
    python = python_generator(other_cell(cell), construction, key=KEY, counter=3)
    play(native, python, [size, 7, b"seed", size])


def test_request_limit(cell: Cell) -> None:
    """One byte over 2**20 is refused with the two numbers, by both methods, and changes neither state nor buffer."""
    native, python = native_generator(cell, key=KEY, counter=3), python_generator(other_cell(cell), key=KEY, counter=3)
    out = bytearray(b"\x77" * (REQUEST_MAX + 1))
    for one in (native, python):
        with pytest.raises(RequestTooLargeError, match=r"1048577 bytes.*1048576 bytes; split"):
            one.random_bytes(REQUEST_MAX + 1)
        with pytest.raises(RequestTooLargeError, match=r"1048577 bytes.*1048576 bytes; split"):
            one.readinto(out)
    assert b"\x77" * (REQUEST_MAX + 1) == bytes(out)
    assert KEY == key_of(native)
    play(native, python, [REQUEST_MAX, 1])


REFUSED: list[tuple[str, Callable[[Any], object], type[Exception]]] = [
    ("negative", lambda g: g.random_bytes(-1), ParameterError),
    ("very negative", lambda g: g.random_bytes(-(1 << 80)), ParameterError),
    ("float", lambda g: g.random_bytes(1.0), TypeError),
    ("text", lambda g: g.random_bytes("1"), TypeError),
    ("none", lambda g: g.random_bytes(None), TypeError),
    ("bytes", lambda g: g.random_bytes(b"\x01"), TypeError),
    ("read-only", lambda g: g.readinto(bytes(8)), BufferError),
    ("read-only view", lambda g: g.readinto(memoryview(bytearray(8)).toreadonly()), BufferError),
    ("not contiguous", lambda g: g.readinto(memoryview(bytearray(16))[::2]), BufferError),
    ("backwards", lambda g: g.readinto(memoryview(bytearray(16))[::-1]), BufferError),
    ("no buffer", lambda g: g.readinto(8), TypeError),
    ("seed of text", lambda g: g.reseed("seed"), TypeError),
    ("no seed", lambda g: g.reseed(None), TypeError),
    ("too large", lambda g: g.random_bytes(REQUEST_MAX + 1), RequestTooLargeError),
    ("no argument", lambda g: g.random_bytes(), TypeError),
    ("two arguments", lambda g: g.random_bytes(1, 2), TypeError),
]


@pytest.mark.parametrize("construction", RULES)
@pytest.mark.parametrize(("label", "call", "error"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_call_changes_nothing(
    best: Cell, construction: str, label: str, call: Callable[[Any], object], error: type[Exception]
) -> None:
    """A refused call raises what the Python generator raises, and leaves K, C, counts and the next output alone."""
    native = native_generator(best, construction, key=KEY, counter=9)
    python = python_generator(other_cell(best), construction, key=KEY, counter=9)
    before = native._report()
    for one in (native, python):
        with pytest.raises(error):
            call(one)
    assert KEY == key_of(native)
    assert before == native._report()
    play(native, python, [40])


@pytest.mark.parametrize("size", [0, True, False, 5])
def test_index_counts_as_size(best: Cell, size: int) -> None:
    """Whatever has ``__index__`` is a size: booleans, and objects of one's own."""

    class Size:
        def __index__(self) -> int:
            return int(size)

    one, other = native_generator(best, counter=1), native_generator(best, counter=1)
    assert index(size) == len(one.random_bytes(Size()))
    assert index(size) == len(other.random_bytes(size))
    assert key_of(one) == key_of(other)


def test_an_index_that_raises(best: Cell) -> None:
    """An exception of ``__index__`` comes out, and nothing has changed."""

    class Broken:
        def __index__(self) -> int:
            raise ZeroDivisionError

    native = native_generator(best, key=KEY, counter=1)
    with pytest.raises(ZeroDivisionError):
        native.random_bytes(Broken())
    assert KEY == key_of(native)


@pytest.mark.parametrize("size", [1 << 62, (1 << 63) - 1, 1 << 64, 1 << 200])
def test_more_than_memory(best: Cell, size: int) -> None:
    """A request that memory cannot hold is a MemoryError or over the limit, and changes nothing."""
    native = native_generator(best, key=KEY, counter=1)
    with pytest.raises((MemoryError, RequestTooLargeError)):
        native.random_bytes(size)
    assert KEY == key_of(native)


@pytest.mark.parametrize("construction", RULES)
def test_nothing_is_nothing(best: Cell, construction: str) -> None:
    """A request for no bytes changes nothing, on an unseeded generator too."""
    for counter in (0, 5):
        native = native_generator(best, construction, key=KEY, counter=counter)
        before = native._report()
        assert b"" == native.random_bytes(0)
        assert 0 == native.readinto(bytearray())
        assert before == native._report()
        assert KEY == key_of(native)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_initial_state_is_checked(best: Cell, size: int) -> None:
    """An initial key of another size, or a counter out of range, is refused as the Python generator refuses it."""
    for make in (native_generator, python_generator):
        with pytest.raises(ParameterError, match=f"got {size} bytes, need exactly 32"):
            make(best, key=bytes(size))
        for counter in (-1, COUNTER_END):
            with pytest.raises(ParameterError, match=r"0\.\.2\*\*128 - 1"):
                make(best, counter=counter)


def test_wipe_leaves_it_unseeded(best: Cell) -> None:
    """After wipe() it is as a new one: unseeded, zero K, and a reseed starts over."""
    native = native_generator(best, key=KEY, counter=9)
    native.wipe()
    assert bytes(32) == key_of(native)
    assert not native.is_seeded
    with pytest.raises(NotSeededError):
        native.random_bytes(1)
    play(native, python_generator(other_cell(best)), [b"anew", 100])


@pytest.mark.parametrize("construction", EDITIONS)
def test_any_seed_buffer(best: Cell, construction: str) -> None:
    """Seeds may be bytes, bytearrays, views and secrets; the key is the same."""
    seed = scripted("seed", 70)
    keys = set()
    for buffer in (seed, bytearray(seed), memoryview(seed), Secret(seed)):
        native = native_generator(best, construction)
        native.reseed(buffer)
        keys.add(key_of(native))
    assert 1 == len(keys)


def test_text_and_copies(best: Cell) -> None:
    """The text names choice, construction and state and shows no key; copying and pickling are refused."""
    native = native_generator(best, key=KEY, counter=9)
    assert f"<native generator {choice_of(best)!r} fsk2010, seeded>" == repr(native)
    assert KEY.hex() not in repr(native)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle NativeGenerator"):
            duplicate(native)
    native.wipe()
    assert f"<native generator {choice_of(best)!r} fsk2010, not seeded>" == repr(native)


def test_reseed_starts_over_where_k_moved(best: Cell) -> None:
    """A request that comes between the two halves of a reseed is not undone: the hash is made again from the new K."""
    native, python = native_generator(best, key=KEY, counter=9), python_generator(other_cell(best), key=KEY, counter=9)
    hashes = []

    construction = native.construction
    original = construction.reseed_key

    class Interrupted:
        """The construction, with a request between export and install."""

        name = construction.name

        def reseed_key(self, key: bytearray, seed: bytes, *, is_seeded: bool) -> Secret:
            hashes.append(bytes(key))
            made = original(key, seed, is_seeded=is_seeded)
            if len(hashes) == 1:
                assert python.random_bytes(20) == native.random_bytes(20)
            return made

    native.construction = Interrupted()  # type: ignore[assignment]
    native.reseed(b"seed")
    native.construction = construction
    python.reseed(b"seed")
    assert 2 == len(hashes) == len(set(hashes))
    play(native, python, [100])


def order_of(outputs: list[list[bytes]], python: Generator) -> list[int]:
    """Match the outputs of threads against one sequential stream; return whose turn it was each time.

    What stands at (K, C) does not depend on the size asked for, so its first bytes tell whose output comes next.
    """
    left = [list(reversed(mine)) for mine in outputs]
    order: list[int] = []
    while any(left):
        peek = Generator(python._make_keystream, python.construction, key=python._key, counter=python._counter)
        head = peek.random_bytes(16)
        turns = [i for i, mine in enumerate(left) if mine and mine[-1].startswith(head)]
        assert 1 == len(turns), f"step {len(order)}: nobody, or more than one, has the next output of the stream"
        output = left[turns[0]].pop()
        assert python.random_bytes(len(output)) == output
        order.append(turns[0])
    return order


@pytest.mark.parametrize("construction", RULES)
def test_four_threads_equal_the_sequential_stream(best: Cell, construction: str) -> None:
    """Four threads with requests around 16 KiB: put in the order of the lock, their outputs are one stream."""
    native = native_generator(best, construction, key=KEY, counter=5)
    python = python_generator(other_cell(best), construction, key=KEY, counter=5)
    assert_other_code(native, python)
    sizes = [1 << 20, 16384, 100, 16383, 300_000, 32, 70_000, 16385] * 3
    outputs: list[list[bytes]] = [[] for _ in range(4)]
    ready = threading.Barrier(4)

    def draw(mine: list[bytes], first: int) -> None:
        ready.wait()
        for size in sizes[first:] + sizes[:first]:
            if size % 2:
                mine.append(native.random_bytes(size))
            else:
                out = bytearray(size)
                native.readinto(out)
                mine.append(bytes(out))

    threads = [threading.Thread(target=draw, args=(mine, i)) for i, mine in enumerate(outputs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    order = order_of(outputs, python)
    assert 4 * len(sizes) == len(order)
    assert {0, 1, 2, 3} == set(order)
    assert bytes(python._key) == key_of(native)


def test_threads_and_reseeds(best: Cell) -> None:
    """Requests in three threads while a fourth reseeds: no output is given twice, and every reseed steps C once."""
    native = native_generator(best, key=KEY, counter=5)
    outputs: list[bytes] = []

    def draw() -> None:
        for number in range(200):
            outputs.append(native.random_bytes(16384 if number % 10 == 0 else 32)[:32])

    def reseed() -> None:
        for number in range(200):
            native.reseed(b"%d" % number)

    threads = [threading.Thread(target=target) for target in (draw, draw, draw, reseed)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 600 == len(outputs) == len(set(outputs))
    assert (600, 3 * (20 * 16384 + 180 * 32)) == native._report()[1:3]
