"""What the tests of the keystream generators share: vectors as rows, ways to ask for keystream, a reading of secrets.

The package has a module of its own rather than a root conftest, because pytest runs in importlib mode.
"""

# ruff: noqa: SIM300 - asserts read expected == actual, a constant on the left included

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from fortuna.generators import KeystreamGenerator, create
from fortuna.generators.registry import FACTORIES

VECTORS: Final = Path(__file__).resolve().parent.parent / "vectors"
CELLS: Final = tuple(FACTORIES)
COUNTER_END: Final = 1 << 128
#: 00 01 .. 1f, the key of many vectors.
KEY: Final = bytes(range(32))
#: Where a counter kept in 32-bit words, or in fewer bits, goes wrong.
EDGES: Final = tuple(((1 << power) + step) % COUNTER_END for power in (32, 64, 96, 128) for step in (-2, -1, 0, 1, 2))


class Row(NamedTuple):
    """One known answer: *keystream* starts at block *counter*."""

    label: str
    generator: str
    key: bytes
    counter: int
    keystream: bytes


def load_vectors(name: str) -> dict[str, Any]:
    """Return the parsed vector file *name*."""
    parsed: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text(encoding="ascii"))
    return parsed


def little(text: str) -> int:
    """Return the integer whose hex bytes stand least significant first."""
    return int.from_bytes(bytes.fromhex(text), "little")


def chacha_tests(name: str) -> list[dict[str, Any]]:
    """Return the entries of a ChaCha vector file that have 20 rounds."""
    return [test for test in load_vectors(name)["tests"] if test["rounds"] == 20]


def known_rows() -> list[Row]:
    """Return every known answer of every vector file, for the two generators."""
    rows = []
    for test in load_vectors("aes256_icm_le")["tests"]:
        key, keystream = bytes.fromhex(test["key"]), bytes.fromhex(test["keystream"])
        rows.append(Row(test["id"], "aes256-icm", key, int(test["counter"]), keystream))
    for name in (
        "chacha20_rfc8439",
        "chacha_strombergson_256",
        "chacha_google_random",
        "chacha_counter_boundaries",
    ):
        for test in chacha_tests(name):
            assert 0 == test.get("skip", 0), f"{name}: {test['id']} starts inside a block"
            key, keystream = bytes.fromhex(test["key"]), bytes.fromhex(test["keystream"])
            rows.append(Row(test["id"], "chacha20", key, little(test["iv"]), keystream))
    for name, generator in (("freebsd_aes_icm", "aes256-icm"), ("freebsd_chacha20", "chacha20")):
        for number, test in enumerate(load_vectors(name)["keystream"]):
            key, keystream = bytes.fromhex(test["key"]), bytes.fromhex(test["out"])
            rows.append(Row(f"{name}#{number}", generator, key, little(test["ctr_le"]), keystream))
    return rows


def keyed(generator: str, provider: str, key: bytes = KEY) -> KeystreamGenerator:
    """Return a new instance with *key* set."""
    made = create(generator, provider)
    made.set_key(key)
    return made


def stream(generator: KeystreamGenerator, counter: int, size: int) -> bytes:
    """Return *size* bytes of keystream at block *counter*."""
    out = bytearray(size)
    generator.keystream_into(counter, out)
    return bytes(out)


def assert_different_paths(one: KeystreamGenerator, other: KeystreamGenerator) -> None:
    """Assert that a comparison of two instances compares two implementations of one generator."""
    assert one.name == other.name
    assert one.provider != other.provider
    assert one.kernel != other.kernel
    assert type(one) is not type(other)
    assert type(one)._fill is not type(other)._fill


def spellings(secret: bytes) -> tuple[str, ...]:
    """Return the ways in which *secret* could show in a text: as hex, as a literal, as a list, as integers."""
    words = [int.from_bytes(secret[i : i + 4], "little") for i in range(0, len(secret), 4)]
    return (
        secret.hex(),
        secret[::-1].hex(),
        repr(secret)[2:-1],
        str(list(secret))[1:-1],
        str(int.from_bytes(secret, "little")),
        str(int.from_bytes(secret, "big")),
        str(words)[1:-1],
    )


def assert_hidden(secret: bytes, text: str) -> None:
    """Assert that *text* holds *secret* in none of its spellings."""
    for spelling in spellings(secret):
        assert spelling.lower() not in text.lower()
