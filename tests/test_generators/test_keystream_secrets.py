"""Secrets of the generators: hidden from every text, not copied, not pickled, and gone after a wipe."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from fortuna.errors import ParameterError
from fortuna.generators import KeystreamGenerator, create
from fortuna.generators.providers.reference_aes import ReferenceAES256ICM
from fortuna.generators.secret import Secret, Uncopyable

from .keystream_support import Cell, assert_hidden, keyed, spellings, stream

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes that are unlikely to stand in any text by chance, in no spelling.
PRECIOUS = bytes((7 * i + 129) % 256 for i in range(32))
COPIES: list[Callable[[Any], object]] = [
    copy.copy,
    copy.deepcopy,
    lambda value: copy.deepcopy([{"nested": value}]),
    *[
        lambda value, protocol=protocol: pickle.dumps(value, protocol)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ],
]


@pytest.mark.parametrize("text", [repr, str, ascii, "{}".format, "{!r}".format, "{:}".format])
def test_secret_shows_its_length_alone(text: Callable[[object], str]) -> None:
    """However a secret is made a text of, the text tells how long it is and nothing else."""
    assert "<32 secret bytes>" == text(Secret(PRECIOUS))
    assert_hidden(PRECIOUS, text([Secret(PRECIOUS)]))


def test_spellings_bite() -> None:
    """The texts that the tests look for are those that a plain bytearray shows."""
    assert any(spelling in repr(bytearray(PRECIOUS)) for spelling in spellings(PRECIOUS))
    assert any(spelling in repr(list(PRECIOUS)) for spelling in spellings(PRECIOUS))
    with pytest.raises(AssertionError):
        assert_hidden(PRECIOUS, f"key={PRECIOUS.hex()}")


@pytest.mark.parametrize("duplicate", COPIES)
def test_secret_is_not_copied(duplicate: Callable[[object], object]) -> None:
    """Copying or pickling a secret is a TypeError that names the class and nothing of the contents."""
    with pytest.raises(TypeError, match="cannot copy or pickle Secret") as caught:
        duplicate(Secret(PRECIOUS))
    assert_hidden(PRECIOUS, str(caught.value))


def test_secret_is_a_buffer() -> None:
    """A secret is used like the bytes it holds: length, comparison, growth in place, views."""
    secret = Secret(PRECIOUS)
    assert PRECIOUS == bytes(secret)
    assert 32 == len(secret)
    secret += b"more"
    assert isinstance(secret, Secret)
    assert PRECIOUS + b"more" == bytes(secret)
    assert PRECIOUS[:4] == memoryview(secret)[:4]
    assert isinstance(secret, Uncopyable)


@pytest.mark.parametrize("size", [0, 1, 32, 1000])
def test_secret_wipe(size: int) -> None:
    """Wiping overwrites every byte in place: a view of before sees zeros, and the length stays."""
    secret = Secret(b"\xff" * size)
    with memoryview(secret) as view:
        secret.wipe()
        assert bytes(size) == bytes(view)
    assert size == len(secret)


def test_generator_shows_no_key(cell: Cell) -> None:
    """A keystream generator's text tells name, provider, kernel and whether it has a key; never the key."""
    generator = create(*cell)
    assert f"<{cell[0]} by {cell[1]}, kernel {cell[2]}, no key>" == repr(generator)
    generator.set_key(PRECIOUS)
    stream(generator, int.from_bytes(PRECIOUS[:16], "little"), 5000)
    for text in (repr(generator), str(generator), f"{generator}", repr([generator])):
        assert f"<{cell[0]} by {cell[1]}, kernel {cell[2]}, keyed>" in text
        assert_hidden(PRECIOUS, text)
        assert_hidden(PRECIOUS[:16], text)


@pytest.mark.parametrize("duplicate", COPIES)
def test_generator_is_not_copied(cell: Cell, duplicate: Callable[[object], object]) -> None:
    """Copying or pickling a keystream generator is a TypeError that says why, and it goes on working."""
    generator = keyed(*cell, key=PRECIOUS)
    expected = stream(generator, 1, 50)
    with pytest.raises(TypeError, match="would repeat the same bytes") as caught:
        duplicate(generator)
    assert type(generator).__name__ in str(caught.value)
    assert_hidden(PRECIOUS, str(caught.value))
    assert expected == stream(generator, 1, 50)


def secrets_in(generator: KeystreamGenerator) -> list[Secret]:
    """Return the secrets that an instance holds, those in lists included."""
    found: list[Secret] = []
    for cls in type(generator).__mro__:
        for slot in cls.__dict__.get("__slots__", ()):
            value = getattr(generator, slot, None)
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Secret):
                    found.append(item)
    return found


def test_instance_keeps_the_key_in_secrets_alone(generator: KeystreamGenerator) -> None:
    """No attribute of an instance shows the key, used or not, and there is no ``__dict__`` to put one in."""
    generator.set_key(PRECIOUS)
    stream(generator, 1, 5000)
    # The native one keeps it outside of Python's objects; tests/test_native/test_native_memory.py looks for it there.
    assert bool(secrets_in(generator)) == (generator.provider != "native")
    for cls in type(generator).__mro__:
        for slot in cls.__dict__.get("__slots__", ()):
            assert_hidden(PRECIOUS, repr(getattr(generator, slot)))
    assert not hasattr(generator, "__dict__")


def test_wipe_zeroes_the_key(generator: KeystreamGenerator) -> None:
    """After wipe() every secret that held key bytes is zero, and no library object is kept."""
    generator.set_key(PRECIOUS)
    stream(generator, 1, 100)
    held = secrets_in(generator)
    assert any(any(secret) for secret in held) == (generator.provider != "native")
    generator.wipe()
    for secret in held:
        assert bytes(len(secret)) == bytes(secret)
    assert getattr(generator, "_cipher", None) is None
    assert "no key" in repr(generator)


@pytest.mark.parametrize("size", [0, 1, 16, 5000])
def test_wiped_generator_gives_nothing(generator: KeystreamGenerator, size: int) -> None:
    """After wipe() keystream is refused and the buffer stays; wiping again is allowed."""
    for _ in range(2):
        generator.wipe()
        out = bytearray(b"\x88" * size)
        with pytest.raises(ParameterError, match="no key is set"):
            generator.keystream_into(1, out)
        assert b"\x88" * size == bytes(out)


def test_set_key_after_wipe(generator: KeystreamGenerator) -> None:
    """set_key makes a wiped instance usable again, as good as new, and the old key plays no part."""
    expected = stream(keyed(generator.name, generator.provider, generator.kernel, key=PRECIOUS), 2**64 - 1, 5000)
    old = stream(generator, 2**64 - 1, 5000)
    generator.wipe()
    generator.set_key(PRECIOUS)
    assert expected == stream(generator, 2**64 - 1, 5000)
    assert old != expected


def test_wipe_of_an_unused_instance(cell: Cell) -> None:
    """An instance that never had a key can be wiped."""
    generator = create(*cell)
    generator.wipe()
    assert "no key" in repr(generator)


def test_rekey_wipes_the_old_round_keys() -> None:
    """The oracle's AES overwrites the old round keys when a new key comes."""
    generator = ReferenceAES256ICM()
    generator.set_key(PRECIOUS)
    old = list(generator._round_keys)
    generator.set_key(bytes(32))
    assert 15 == len(old)
    for round_key in old:
        assert bytes(16) == bytes(round_key)
