"""Refused calls: the error says what is wrong, and neither the state nor the buffer has changed."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.errors import FortunaError, ParameterError
from fortuna.generators import KeystreamGenerator, create
from fortuna.generators.base import writable_view

from .keystream_support import CELLS, COUNTER_END, Cell, assert_hidden, keyed, stream

if TYPE_CHECKING:
    from collections.abc import Callable


def bad_counters() -> list[tuple[Any, type[Exception]]]:
    """Return counters that are refused, with the error that says so."""
    return [
        (-1, ParameterError),
        (COUNTER_END, ParameterError),
        (-COUNTER_END, ParameterError),
        (1 << 200, ParameterError),
        (1.0, TypeError),
        ("1", TypeError),
        (None, TypeError),
        (b"\x01", TypeError),
    ]


def bad_buffers() -> list[tuple[Any, type[Exception]]]:
    """Return outputs that are refused, with the error that says so."""
    return [
        (bytes(64), BufferError),
        (memoryview(bytes(64)), BufferError),
        (memoryview(bytearray(b"\x11" * 64)).toreadonly(), BufferError),
        (memoryview(bytearray(b"\x11" * 64))[::2], BufferError),
        (memoryview(bytearray(b"\x11" * 64))[::-1], BufferError),
        ("text", TypeError),
        (64, TypeError),
        (None, TypeError),
        ([0] * 64, TypeError),
    ]


def bad_keys() -> list[tuple[Any, type[Exception]]]:
    """Return keys that are refused, with the error that says so."""
    return [
        (b"", ParameterError),
        (bytes(16), ParameterError),
        (bytes(31), ParameterError),
        (bytes(33), ParameterError),
        (bytes(64), ParameterError),
        (array("I", [7] * 32), ParameterError),
        (memoryview(bytes(64))[::2], BufferError),
        ("k" * 32, TypeError),
        (32, TypeError),
        (None, TypeError),
    ]


@pytest.mark.parametrize(("counter", "error"), bad_counters(), ids=repr)
def test_bad_counter(generator: KeystreamGenerator, counter: object, error: type[Exception]) -> None:
    """A counter outside 0..2**128 - 1, or no integer, is refused; buffer and next output are as if never asked."""
    expected = stream(generator, 5, 100)
    out = bytearray(b"\x22" * 100)
    with pytest.raises(error) as caught:
        generator.keystream_into(counter, out)  # type: ignore[arg-type]
    assert isinstance(caught.value, FortunaError) == (error is ParameterError)
    assert b"\x22" * 100 == bytes(out)
    assert expected == stream(generator, 5, 100)


@pytest.mark.parametrize("number", range(len(bad_buffers())))
def test_bad_buffer(generator: KeystreamGenerator, number: int) -> None:
    """A read-only, non-contiguous or foreign buffer is refused; buffer and next output are as if never asked."""
    buffer, error = bad_buffers()[number]
    before = bytes(buffer) if isinstance(buffer, bytes | memoryview) else buffer
    expected = stream(generator, 5, 100)
    with pytest.raises(error):
        generator.keystream_into(5, buffer)
    assert before == (bytes(buffer) if isinstance(buffer, bytes | memoryview) else buffer)
    assert expected == stream(generator, 5, 100)


@pytest.mark.parametrize("number", range(len(bad_keys())))
def test_bad_key(generator: KeystreamGenerator, number: int) -> None:
    """A key that is not 32 contiguous bytes is refused and the old one stays."""
    key, error = bad_keys()[number]
    expected = stream(generator, 5, 1100)
    with pytest.raises(error):
        generator.set_key(key)
    assert expected == stream(generator, 5, 1100)


def test_key_size_is_told_without_the_key(generator: KeystreamGenerator) -> None:
    """The message about a wrong key gives both sizes and nothing of the key."""
    secret = bytes(range(200, 231))
    with pytest.raises(ParameterError) as caught:
        generator.set_key(secret)
    assert "31 bytes" in str(caught.value)
    assert "32 bytes" in str(caught.value)
    assert_hidden(secret, str(caught.value))


def test_counter_is_not_told(generator: KeystreamGenerator) -> None:
    """The message about a counter out of range gives the range and not the counter."""
    with pytest.raises(ParameterError) as caught:
        generator.keystream_into(COUNTER_END + 12345, bytearray(1))
    assert "0..2**128 - 1" in str(caught.value)
    assert str(COUNTER_END + 12345) not in str(caught.value)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
@pytest.mark.parametrize("size", [0, 1, 2000])
def test_without_a_key(cell: Cell, size: int) -> None:
    """An instance without a key gives no byte, not even of an all-zero key."""
    generator = create(*cell)
    out = bytearray(b"\x33" * size)
    with pytest.raises(ParameterError, match="set_key"):
        generator.keystream_into(0, out)
    assert b"\x33" * size == bytes(out)


@pytest.mark.parametrize("counter", [True, array("B", [1])[0]])
def test_index_counts_as_counter(generator: KeystreamGenerator, counter: int) -> None:
    """Whatever has ``__index__`` is a counter; ``True`` counts as 1, as in the standard library."""
    assert stream(generator, 1, 40) == stream(generator, counter, 40)


REFUSALS: list[Callable[[KeystreamGenerator], object]] = [
    *[lambda g, c=c: g.keystream_into(c, bytearray(3)) for c, _ in bad_counters()],
    *[lambda g, n=n: g.keystream_into(5, bad_buffers()[n][0]) for n in range(len(bad_buffers()))],
    *[lambda g, n=n: g.set_key(bad_keys()[n][0]) for n in range(len(bad_keys()))],
]


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
@given(
    calls=st.lists(st.sampled_from(REFUSALS), max_size=6),
    counter=st.integers(0, COUNTER_END - 1),
    size=st.integers(0, 100),
)
@settings(deadline=None, max_examples=40)
def test_refused_calls_change_nothing(
    cell: Cell, calls: list[Callable[[KeystreamGenerator], object]], counter: int, size: int
) -> None:
    """Any sequence of refused calls leaves an instance that gives what a fresh one gives."""
    generator = keyed(*cell)
    for call in calls:
        with pytest.raises((ParameterError, TypeError, BufferError)):
            call(generator)
    assert stream(keyed(*cell), counter, size) == stream(generator, counter, size)


def test_writable_view_flattens() -> None:
    """A buffer of wider elements is seen as single bytes, and writing to the view writes to the buffer."""
    wide = array("H", [0, 0])
    view = writable_view(wide)  # type: ignore[arg-type]
    assert ("B", 1, 4) == (view.format, view.ndim, len(view))
    view[3] = 1
    assert b"\x00\x00\x00\x01" == wide.tobytes()


def test_contract_is_abstract() -> None:
    """The contract alone makes no instance: a provider has to give its three methods."""
    with pytest.raises(TypeError, match="abstract"):
        KeystreamGenerator()  # type: ignore[abstract]


def test_nine_public_members(generator: KeystreamGenerator) -> None:
    """The contract has nine public members, and every instance has them with the promised types and sizes."""
    public = {name for name in dir(KeystreamGenerator) if not name.startswith("_")}
    public |= {name for name in KeystreamGenerator.__annotations__ if not name.startswith("_")}
    names = {
        "name", "block_size", "key_size", "counter_bits", "provider", "kernel", "set_key", "keystream_into", "wipe"
    }  # fmt: skip
    assert names == public
    assert (32, 128) == (generator.key_size, generator.counter_bits)
    assert (16 if generator.name == "aes256-icm" else 64) == generator.block_size
    assert isinstance(generator.kernel, str)
    assert generator.kernel
