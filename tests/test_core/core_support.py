"""What the tests of the core share: vectors, states, and Fortuna once more, written from the book without our code.

The model keeps pools as plain byte strings and makes its keystream block by block; it shares with the product the hash
function of the standard library and one block function of ChaCha, nothing else.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from Crypto.Cipher import AES

from fortuna.core import CONSTRUCTIONS, Accumulator, Generator
from fortuna.generators import available
from fortuna.generators.providers.reference_chacha import chacha_block, hchacha
from fortuna.generators.registry import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

VECTORS: Final = Path(__file__).resolve().parent.parent / "vectors"
Cell = tuple[str, str, str]
#: Generator, provider and kernel of everything that runs on this machine.
CELLS: Final = tuple((row.generator, row.provider, row.kernel) for row in available() if row.is_available)
REQUEST_MAX: Final = 1 << 20
COUNTER_END: Final = 1 << 128
#: Bytes of one read up to which the plain-Python provider stays below two seconds; longer ones run on the other alone.
REFERENCE_MAX: Final = {"aes256-icm": 70_000, "chacha20": 1 << 20}
#: Where the two things that a test compares must not be the same code: a cell with a second kernel.
PLAIN: Final = ("aes256-icm", "pycryptodome", "library")
#: 00 01 .. 1f, the key of many vectors.
KEY: Final = bytes(range(32))


class State(NamedTuple):
    """K and C of a generator."""

    key: str
    counter: int


def load_vectors(name: str) -> dict[str, Any]:
    """Return the parsed vector file *name*."""
    parsed: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text(encoding="ascii"))
    return parsed


def little(text: str) -> int:
    """Return the integer whose hex bytes stand least significant first."""
    return int.from_bytes(bytes.fromhex(text), "little")


def make_generator(cell: Cell, construction: str = "fsk2010", *, key: bytes = bytes(32), counter: int = 0) -> Generator:
    """Return a generator on one cell of the registry."""
    return Generator(resolve(*cell), CONSTRUCTIONS[construction], key=key, counter=counter)


def make_accumulator(cell: Cell, construction: str = "fsk2010", **parameters: float) -> tuple[Accumulator, Generator]:
    """Return an unseeded accumulator and its generator."""
    generator = make_generator(cell, construction)
    return Accumulator(generator, CONSTRUCTIONS[construction], **parameters), generator  # type: ignore[arg-type]


def state(generator: Generator) -> State:
    """Return K and C. No public member shows them, so the tests look inside; only this function knows where."""
    return State(bytes(generator._key).hex(), generator._counter)


def cell_of(generator: Generator) -> Cell:
    """Return the cell whose keystream *generator* uses."""
    return generator._keystream.name, generator._keystream.provider, generator._keystream.kernel


def read(generator: Generator, n: int) -> bytes:
    """Return *n* bytes by requests of at most 2**20 bytes, as the book tells callers to split."""
    return b"".join(generator.random_bytes(min(REQUEST_MAX, n - i)) for i in range(0, n, REQUEST_MAX))


def assert_output(expected: dict[str, Any], got: bytes) -> None:
    """Compare *got* with a vector's output, given in full or as SHA-256 with its ends."""
    if "out" in expected:
        assert expected["out"] == got.hex()
    else:
        assert expected["first32"] == got[:32].hex()
        assert expected["last32"] == got[-32:].hex()
    if "sha256" in expected:
        assert expected["sha256"] == sha256(got).hexdigest()


def aes_block(key: bytes, counter: int) -> bytes:
    """E_K(C) of the book: one AES-256 block over the little-endian counter."""
    block: bytes = AES.new(key, AES.MODE_ECB).encrypt(counter.to_bytes(16, "little"))
    return block


def family_block(rounds: int, *, is_extended: bool) -> Callable[[bytes, int], bytes]:
    """Return a function that makes one block of a ChaCha or XChaCha, the counter in all four words."""

    def block(key: bytes, counter: int) -> bytes:
        return chacha_block(hchacha(key, bytes(16), rounds) if is_extended else key, counter, rounds)

    return block


BLOCKS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "aes256-icm": aes_block,
    **{f"chacha{rounds}": family_block(rounds, is_extended=False) for rounds in (20, 12, 8)},
    **{f"xchacha{rounds}": family_block(rounds, is_extended=True) for rounds in (20, 12, 8)},
}
#: Construction -> zero block before the key, zero block before a pool, is the first key hashed, are events FreeBSD's.
RULES: Final = {
    "fsk2010": (bytes(64), bytes(64), True, False),
    "fsk2003": (b"", b"", True, False),
    "freebsd": (bytes(64), b"", False, True),
    "fast-key-erasure": (bytes(64), bytes(64), True, False),
}


def double_hash(prefix: bytes, message: bytes) -> bytes:
    """SHAd-256: the hash of the hash of the prefixed message."""
    return sha256(sha256(prefix + message).digest()).digest()


class ModelGenerator:
    """Generator of Cryptography Engineering 9.4, in the book's words."""

    def __init__(self, cipher: str, construction: str, key: bytes = bytes(32), counter: int = 0) -> None:
        self.block = BLOCKS[cipher]
        self.rules = RULES[construction]
        self.erases_first = construction == "fast-key-erasure"
        self.key, self.counter = key, counter

    def generate_blocks(self, count: int) -> bytes:
        """GenerateBlocks: encrypt C, add one to C, *count* times."""
        made = b""
        for _ in range(count):
            made += self.block(self.key, self.counter)
            self.counter = (self.counter + 1) % COUNTER_END
        return made

    def reseed(self, seed: bytes) -> None:
        """Reseed: K = SHAd(K || s), C = C + 1; FreeBSD leaves K out while C = 0."""
        key_prefix, _, hashes_first, _ = self.rules
        old = self.key if self.counter or hashes_first else b""
        self.key = double_hash(key_prefix, old + seed)
        self.counter = (self.counter + 1) % COUNTER_END

    def read(self, n: int) -> bytes:
        """PseudoRandomData: n bytes, then a new K; nothing at all for n = 0. Or Bernstein's way, the new K first."""
        if n == 0:
            return b""
        size = len(self.block(bytes(32), 0))
        if self.erases_first:
            stream = b"".join(self.block(self.key, number) for number in range(-(-(32 + n) // size)))
            self.key = stream[:32]
            return stream[32 : 32 + n]
        out = self.generate_blocks((n + size - 1) // size)[:n]
        self.key = self.generate_blocks((32 + size - 1) // size)[:32]
        return out

    @property
    def state(self) -> State:
        """K and C in the form of `state`."""
        return State(self.key.hex(), self.counter)


class ModelAccumulator:
    """Accumulator of Cryptography Engineering 9.5: 32 strings, a count and a clock reading."""

    def __init__(self, cipher: str, construction: str, threshold: int = 64, interval: int = 100_000_000) -> None:
        self.generator = ModelGenerator(cipher, construction)
        self.rules, self.threshold, self.interval = RULES[construction], threshold, interval
        self.pools = [b""] * 32
        self.turns: dict[int, int] = {}
        self.count, self.last = 0, 0

    def event(self, source: int, data: bytes, pool: int | None, timestamp: int) -> None:
        """AddRandomEvent, with the source's own turn where no pool is named."""
        if self.rules[3]:
            stamp = (timestamp & 0xFFFFFFFF).to_bytes(4, "little")
            events = [stamp + data[i : i + 8] for i in range(0, max(len(data), 1), 8)]
        else:
            data = sha256(data).digest() if len(data) > 32 else data
            events = [bytes([source]) + bytes([len(data)]) + data]
        for number, event in enumerate(events):
            where = (self.turns.get(source, 0) if pool is None else pool + number) % 32
            self.pools[where] += event
            if pool is None:
                self.turns[source] = where + 1

    def reseed(self, now: int, fresh: bytes = b"") -> None:
        """Count, join the digests of the pools whose 2**i divides the count, empty them, reseed."""
        self.count, self.last = self.count + 1, now
        seed = fresh
        for i in range(32):
            if self.count % 2**i == 0:
                seed += double_hash(self.rules[1], self.pools[i])
                self.pools[i] = b""
        self.generator.reseed(seed)

    def read(self, n: int, now: int) -> bytes:
        """RandomData, longer requests split at 2**20 bytes."""
        if len(self.pools[0]) >= self.threshold and (self.count == 0 or now - self.last > self.interval):
            self.reseed(now)
        return b"".join(self.generator.read(min(REQUEST_MAX, n - i)) for i in range(0, n, REQUEST_MAX))


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
