"""What the tests of the keystream generators share: vectors as rows, ways to ask for keystream, a reading of secrets.

The package has a module of its own rather than a root conftest, because pytest runs in importlib mode.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from struct import pack, unpack
from typing import Any, Final, NamedTuple

from fortuna.generators import KeystreamGenerator, available, create

VECTORS: Final = Path(__file__).resolve().parent.parent / "vectors"
#: Generator, provider and kernel of everything that runs on this machine.
CELLS: Final = tuple((row.generator, row.provider, row.kernel) for row in available() if row.is_available)
Cell = tuple[str, str, str]
#: The rounds of each generator of the ChaCha family.
ROUNDS: Final = {f"{prefix}chacha{rounds}": rounds for prefix in ("", "x") for rounds in (20, 12, 8)}
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


def chacha_tests(name: str, rounds: int = 0) -> list[dict[str, Any]]:
    """Return the entries of a ChaCha vector file: those of so many rounds, or all."""
    return [test for test in load_vectors(name)["tests"] if rounds in (0, test["rounds"])]


def published_rows() -> list[Row]:
    """Return every known answer of every vector file that is keystream of one of our generators."""
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
            rows.append(Row(test["id"], f"chacha{test['rounds']}", key, little(test["iv"]), keystream))
    for name, generator in (("freebsd_aes_icm", "aes256-icm"), ("freebsd_chacha20", "chacha20")):
        for number, test in enumerate(load_vectors(name)["keystream"]):
            key, keystream = bytes.fromhex(test["key"]), bytes.fromhex(test["out"])
            rows.append(Row(f"{name}#{number}", generator, key, little(test["ctr_le"]), keystream))
    return rows


def derived_rows() -> list[Row]:
    """Return answers that nobody publishes, made by `chacha` and `hchacha` below: the crossings of every word.

    Those two are held to all published values, and share no line with the product.
    """
    rows = []
    for generator, rounds in ROUNDS.items():
        key = hchacha(KEY, bytes(16), rounds) if generator.startswith("x") else KEY
        for power in (32, 64, 96, 128):
            counter = (1 << power) - 1
            rows.append(Row(f"derived 2^{power}-1", generator, KEY, counter, chacha(key, counter, 160, rounds)))
    return rows


def known_rows() -> list[Row]:
    """Return every known answer, published or derived."""
    return [*published_rows(), *derived_rows()]


MASK: Final = 0xFFFFFFFF


def core(rows: list[list[int]], rounds: int) -> list[list[int]]:
    """Return the four rows of a ChaCha state after the rounds, written with whole rows and their rotations."""
    a, b, c, d = ([*row] for row in rows)

    def mix(target: list[int], summand: list[int], turned: list[int], bits: int) -> None:
        for i in range(4):
            target[i] = (target[i] + summand[i]) & MASK
            x = turned[i] ^ target[i]
            turned[i] = (x << bits & MASK) | x >> (32 - bits)

    for half in range(rounds):
        mix(a, b, d, 16)
        mix(c, d, b, 12)
        mix(a, b, d, 8)
        mix(c, d, b, 7)
        # Columns become diagonals by turning rows 1, 2, 3, and diagonals columns by turning them back.
        step = 1 if half % 2 == 0 else 3
        b, c, d = b[step:] + b[:step], c[2:] + c[:2], d[-step:] + d[:-step]
    return [a, b, c, d]


def start(key: bytes, last: bytes) -> list[list[int]]:
    """Return the four rows of the state before the rounds."""
    return [list(unpack("<4I", part)) for part in (b"expand 32-byte k", key[:16], key[16:], last)]


@cache
def chacha(key: bytes, counter: int, size: int, rounds: int) -> bytes:
    """Return *size* bytes of keystream from block *counter* on, RFC 8439 2.3 with a counter of 128 bits."""
    made = b""
    while len(made) < size:
        rows = start(key, (counter % COUNTER_END).to_bytes(16, "little"))
        for before, after in zip(rows, core(rows, rounds), strict=True):
            made += pack("<4I", *((x + y) & MASK for x, y in zip(before, after, strict=True)))
        counter += 1
    return made[:size]


def hchacha(key: bytes, nonce: bytes, rounds: int) -> bytes:
    """Return the subkey: first and last row after the rounds, without the addition."""
    rows = core(start(key, nonce), rounds)
    return pack("<8I", *rows[0], *rows[3])


def keyed(generator: str, provider: str, kernel: str = "auto", *, key: bytes = KEY) -> KeystreamGenerator:
    """Return a new instance with *key* set."""
    made = create(generator, provider, kernel)
    assert (generator, provider) == (made.name, made.provider)
    assert kernel in ("auto", made.kernel)
    made.set_key(key)
    return made


def oracle(cell: Cell, key: bytes = KEY) -> KeystreamGenerator:
    """Return the plain-Python instance that a cell is compared with."""
    return keyed(cell[0], "reference", key=key)


def stream(generator: KeystreamGenerator, counter: int, size: int) -> bytes:
    """Return *size* bytes of keystream at block *counter*."""
    out = bytearray(size)
    generator.keystream_into(counter, out)
    return bytes(out)


def assert_different_paths(one: KeystreamGenerator, other: KeystreamGenerator) -> None:
    """Assert that a comparison of two instances compares two implementations of one generator."""
    assert one.name == other.name
    assert one.kernel != other.kernel
    if one.provider != other.provider:
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
