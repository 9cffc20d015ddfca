"""The counter's rule: no library call crosses a multiple of 2**32 blocks or is longer than the cap."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest
from Crypto.Cipher import AES, ChaCha20
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.generators.counter import (
    LIBRARY_CALL_MAX,
    LIBRARY_SPAN_BLOCKS,
    CounterTemplate,
    counter_block,
    counter_blocks,
    fits_one_call,
    library_calls,
)
from fortuna.generators.providers import pycryptodome

from .keystream_support import COUNTER_END, EDGES, KEY, keyed, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

REAL_AES: Any = AES
REAL_CHACHA: Any = ChaCha20
COUNTERS = st.one_of(st.integers(0, COUNTER_END - 1), st.sampled_from(EDGES))
SIZES = st.one_of(st.integers(0, 5000), st.integers(0, 5 << 20), st.sampled_from([1 << 20, (1 << 20) + 1, 3 << 30]))


@given(counter=COUNTERS, size=SIZES, block_size=st.sampled_from([16, 64]))
@settings(deadline=None, max_examples=300)
def test_library_calls(counter: int, size: int, block_size: int) -> None:
    """The calls are contiguous and complete, start on blocks, stay below the cap and within one span of 2**32."""
    calls = list(library_calls(counter, size, block_size))
    assert size == sum(stop - start for _, start, stop in calls)
    assert not calls or (counter, 0, size) == (calls[0][0], calls[0][1], calls[-1][2])
    for entry, start, stop in calls:
        assert 0 <= start < stop
        assert stop - start <= LIBRARY_CALL_MAX
        assert start % block_size == 0
        assert (counter + start // block_size) % COUNTER_END == entry
        last = entry + -(-(stop - start) // block_size) - 1
        assert entry // LIBRARY_SPAN_BLOCKS == last // LIBRARY_SPAN_BLOCKS
    for (_, _, stop), (_, start, _) in pairwise(calls):
        assert stop == start
        assert stop % block_size == 0


@given(counter=COUNTERS, size=SIZES, block_size=st.sampled_from([16, 64]))
@settings(deadline=None, max_examples=300)
def test_fits_one_call(counter: int, size: int, block_size: int) -> None:
    """A request fits one call exactly when cutting it gives no more than one."""
    assert (len(list(library_calls(counter, size, block_size))) <= 1) == fits_one_call(counter, size, block_size)


@pytest.mark.parametrize("block_size", [16, 64])
@pytest.mark.parametrize("edge", [1 << 32, 1 << 64, 1 << 96, 1 << 128, 3 << 32], ids=hex)
def test_edge_of_a_span(edge: int, block_size: int) -> None:
    """Blocks up to a multiple of 2**32 are one call; one byte more is two, the second at the multiple itself."""
    upto = 3 * block_size
    assert [(edge - 3, 0, upto)] == list(library_calls(edge - 3, upto, block_size))
    cut = [(edge - 3, 0, upto), (edge % COUNTER_END, upto, upto + 1)]
    assert cut == list(library_calls(edge - 3, upto + 1, block_size))
    assert fits_one_call(edge - 3, upto, block_size)
    assert not fits_one_call(edge - 3, upto + 1, block_size)


@pytest.mark.parametrize("block_size", [16, 64])
def test_cap(block_size: int) -> None:
    """The cap itself is one call, a byte more is two, and nothing is none."""
    assert LIBRARY_CALL_MAX <= 1 << 30
    assert [] == list(library_calls(5, 0, block_size))
    assert [(5, 0, LIBRARY_CALL_MAX)] == list(library_calls(5, LIBRARY_CALL_MAX, block_size))
    assert 2 == len(list(library_calls(5, LIBRARY_CALL_MAX + 1, block_size)))


@given(counter=COUNTERS, blocks=st.integers(0, 70))
@settings(deadline=None, max_examples=100)
def test_counter_blocks(counter: int, blocks: int) -> None:
    """The counter blocks are LE128(C), LE128(C + 1), ... modulo 2**128."""
    expected = b"".join(((counter + i) % COUNTER_END).to_bytes(16, "little") for i in range(blocks))
    assert expected == counter_blocks(counter, blocks)


def test_counter_block_order() -> None:
    """A counter block has its least significant byte first."""
    assert bytes.fromhex("0201000000000000000000000000ff7f") == counter_block(0x7FFF << 112 ^ 0x0102)


class Call(NamedTuple):
    """What a library object was asked for: the first block it stood on, and how many bytes."""

    position: int
    size: int
    block_size: int


class LibraryStream(Protocol):
    """What the provider uses of a ChaCha20 object."""

    def seek(self, position: int) -> None:
        """Go to a byte position."""

    def encrypt(self, data: bytes, output: bytearray | memoryview) -> object:
        """Fill *output* with the encryption of *data*."""


class Recorder:
    """Doubles of pycryptodome's factories: they do the work, and write down where each call starts and its length."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def chacha_new(self, *, key: bytearray, nonce: bytes) -> RecordingStream:
        """Stand in for ``ChaCha20.new``."""
        return RecordingStream(self, REAL_CHACHA.new(key=key, nonce=nonce), int.from_bytes(nonce, "little") << 64)

    def aes_new(self, key: bytearray, mode: int) -> RecordingBlocks:
        """Stand in for ``AES.new``: block by block, since no counter mode of a library counts as we do."""
        assert mode == REAL_AES.MODE_ECB
        return RecordingBlocks(self, REAL_AES.new(key, mode))


class RecordingStream:
    """A ChaCha20 object that knows the block on which it stands."""

    def __init__(self, recorder: Recorder, inner: LibraryStream, first: int) -> None:
        self.recorder, self.inner, self.first = recorder, inner, first
        self.offset = 0

    def seek(self, position: int) -> None:
        """Go to a byte position."""
        assert 0 <= position < 64 << 64
        assert position % 64 == 0
        self.offset = position
        self.inner.seek(position)

    def encrypt(self, data: bytes, output: bytearray | memoryview) -> None:
        """Write the call down, then do it."""
        self.recorder.calls.append(Call(self.first + self.offset // 64, len(data), 64))
        assert len(data) == len(output)
        self.inner.encrypt(data, output=output)
        self.offset += len(data)


class RecordingBlocks:
    """An AES object that reads the counters it is given: they count by one, modulo 2**128."""

    def __init__(self, recorder: Recorder, inner: LibraryStream) -> None:
        self.recorder, self.inner = recorder, inner

    def encrypt(self, data: bytes, output: bytearray | memoryview) -> None:
        """Check the counter blocks, write the call down, then do it."""
        assert len(data) == len(output)
        assert len(data) % 16 == 0
        plain = bytes(data)
        first = int.from_bytes(plain[:16], "little")
        # Every block of short calls, a few of long ones: the output is compared elsewhere.
        for i in range(0, len(plain) // 16, 1 if len(plain) < 5000 else 1001):
            assert (first + i) % COUNTER_END == int.from_bytes(plain[16 * i : 16 * i + 16], "little")
        self.recorder.calls.append(Call(first, len(plain), 16))
        self.inner.encrypt(data, output=output)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Put the doubles in the provider's place of the library; at the end, hold every call to the rule."""
    doubles = Recorder()

    class AESDouble:
        MODE_ECB = REAL_AES.MODE_ECB
        new = staticmethod(doubles.aes_new)

    class ChaChaDouble:
        new = staticmethod(doubles.chacha_new)

    monkeypatch.setattr(pycryptodome, "AES", AESDouble)
    monkeypatch.setattr(pycryptodome, "CryptoChaCha20", ChaChaDouble)
    yield doubles
    assert doubles.calls
    for call in doubles.calls:
        last = call.position + max(-(-call.size // call.block_size), 1) - 1
        # A block cipher keeps no counter, so only a stream cipher's calls can cross.
        if call.block_size == 64:
            assert call.position // 2**32 == last // 2**32, f"crossed a multiple of 2**32 blocks: {call}"
        assert call.size <= LIBRARY_CALL_MAX


@pytest.mark.parametrize("name", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize("size", [1, 100, 1024, 4095, 4096, 4097, (1 << 20) + 4096])
def test_library_is_never_asked_to_cross(recorder: Recorder, name: str, size: int) -> None:
    """Around every edge no object of the library is asked to cross it, and the bytes are those of two calls."""
    made = keyed(name, "pycryptodome", key=KEY)
    block = made.block_size
    for power in (32, 64, 96, 128):
        for back in (1, 2, 3, 8):
            start = (1 << power) - back
            got = stream(made, start, size)
            first = stream(made, start, min(size, back * block))
            rest = stream(made, (1 << power) % COUNTER_END, max(size - back * block, 0))
            assert first + rest == got
    positions = {call.position for call in recorder.calls}
    assert {(1 << power) - 1 for power in (32, 64, 96, 128)} <= positions


HIGHS = st.one_of(st.integers(0, 2**112 - 1), st.sampled_from([0, 255, 256, 2**16 - 1, 2**16, 2**80, 2**112 - 1]))


@given(visits=st.lists(st.tuples(HIGHS, st.integers(0, 2**16 - 1), st.integers(1, 3000)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_counter_template(visits: list[tuple[int, int, int]]) -> None:
    """A template that goes from one stretch of 2**16 counters to any other holds the blocks of where it is."""
    template = CounterTemplate()
    for high, low, blocks in visits:
        count = min(blocks, CounterTemplate.SPAN - low)
        counter = high * CounterTemplate.SPAN + low
        got = template.blocks(counter, count)
        assert counter_blocks(counter, count) == bytes(got)
        assert type(got) is memoryview
        assert type(counter_blocks(counter, count)) is bytes


def test_counter_template_is_whole() -> None:
    """All 2**16 blocks of a template are right, before and after it moved."""
    template = CounterTemplate()
    for high in (0, 1, 2**112 - 1, 0x0123456789ABCDEF):
        whole = bytes(template.blocks(high << 16, 1 << 16))
        assert counter_blocks(high << 16, 1 << 16) == whole


@given(counter=COUNTERS, size=st.integers(0, 3 << 20))
@settings(deadline=None, max_examples=100)
def test_library_calls_within_a_template(counter: int, size: int) -> None:
    """Cut for a template, no call goes past a multiple of 2**16 blocks, and the calls are complete."""
    calls = list(library_calls(counter, 16 * (size // 16), 16, CounterTemplate.SPAN))
    assert 16 * (size // 16) == sum(stop - start for _, start, stop in calls)
    for entry, start, stop in calls:
        assert (counter + start // 16) % COUNTER_END == entry
        assert entry % CounterTemplate.SPAN + (stop - start) // 16 <= CounterTemplate.SPAN


@given(counter=st.integers(0, 2**20), tail=st.integers(0, 15), sizes=st.lists(st.integers(250, 70000), max_size=3))
@settings(deadline=None, max_examples=40)
def test_template_keeps_no_place(counter: int, tail: int, sizes: list[int]) -> None:
    """Long AES calls at any places, one after another, give what an instance made for each alone gives."""
    used = keyed("aes256-icm", "pycryptodome", key=KEY)
    for number, blocks in enumerate(sizes):
        place = counter * (number + 1) << 17 * number
        fresh = keyed("aes256-icm", "pycryptodome", key=KEY)
        assert stream(fresh, place, 16 * blocks + tail) == stream(used, place, 16 * blocks + tail)


def test_recorder_sees_a_crossing() -> None:
    """The double is no rubber stamp: a crossing call is written down as one."""
    doubles = Recorder()
    cipher = doubles.chacha_new(key=bytearray(KEY), nonce=bytes(8))
    cipher.seek((2**32 - 1) * 64)
    cipher.encrypt(bytes(65), output=bytearray(65))
    assert [Call(2**32 - 1, 65, 64)] == doubles.calls
