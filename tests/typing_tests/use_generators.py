"""Uses of `fortuna.generators`, `fortuna.generators.counter` and `fortuna.generators.conformance`."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_type

import fortuna
from fortuna.generators import Availability, KeystreamGenerator, Secret, available, create
from fortuna.generators.conformance import KeystreamConformance
from fortuna.generators.counter import library_calls

assert_type(fortuna.generators.create("chacha20"), KeystreamGenerator)


def use_a_generator() -> None:
    """Make one in each way, and use each member."""
    made = create("aes256-icm", provider="native", kernel="auto")
    assert_type(made, KeystreamGenerator)
    assert_type([made.name, made.provider, made.kernel], list[str])
    assert_type([made.block_size, made.key_size, made.counter_bits], list[int])
    made.set_key(bytes(32))
    assert_type(made.keystream_into(0, bytearray(16)), int)
    made.wipe()


def use_what_there_is() -> None:
    """Read each attribute of a row."""
    assert_type(available(), tuple[Availability, ...])
    for row in available():
        assert_type([row.generator, row.provider, row.kernel, row.reason, row.distribution], list[str])
        assert_type(row.is_available, bool | None)
        assert_type(row.is_auto, bool)


def use_a_secret() -> None:
    """Wipe one; it is a bytearray."""
    secret = Secret(b"key")
    plain: bytearray = secret
    assert_type(plain[0], int)
    secret.wipe()


class Ours(KeystreamGenerator):
    """A plug-in."""

    name = "ours"
    block_size = 16
    provider = "plug-in"

    def _rekey(self, key: bytes | bytearray | memoryview) -> None:
        """Take the key."""

    def _fill(self, counter: int, out: bytearray | memoryview) -> None:
        """Fill *out*."""
        calls = library_calls(counter, len(out), self.block_size, 1 << 32)
        assert_type(calls, Iterator[tuple[int, int, int]])

    def _erase(self) -> None:
        """Forget the key."""


class TestOurs(KeystreamConformance):
    """The tests of that plug-in."""

    block_size = 16
    vectors = ((bytes(32), 0, bytes(16)),)

    def make(self) -> KeystreamGenerator:
        """Make one."""
        return Ours()

    def more(self) -> None:
        """Use what the kit offers."""
        assert_type(self.keyed(bytes(32)), KeystreamGenerator)


def misuse(made: KeystreamGenerator) -> None:
    """Do what the types forbid."""
    made.keystream_into(1.5, bytearray(16))  # type: ignore[arg-type]
    made.keystream_into(0, bytes(16))  # type: ignore[arg-type]
    made.set_key("key")  # type: ignore[arg-type]
