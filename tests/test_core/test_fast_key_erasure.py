"""Fast key erasure, from its definition by other code: a library's whole keystream and the standard library's hash."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

import pytest
from Crypto.Cipher import AES
from Crypto.Cipher import ChaCha20 as CryptoChaCha20

from fortuna.core.generator import ONE_CALL_MAX

from .core_support import CELLS, COUNTER_END, KEY, REQUEST_MAX, Cell, load_vectors, make_generator, state

if TYPE_CHECKING:
    from fortuna.core import Generator

NAME: Final = "fast-key-erasure"
#: Every way of working, a byte around its limits: one block of ChaCha, a pair, a batch, one call, a claim.
SIZES: Final = (
    1,
    31,
    32,
    33,
    95,
    96,
    97,
    500,
    ONE_CALL_MAX,
    ONE_CALL_MAX + 1,
    ONE_CALL_MAX + 32,
    ONE_CALL_MAX + 33,
    9000,
)
FAST: Final = tuple(cell for cell in CELLS if cell[0] in ("aes256-icm", "chacha20") and cell[1] != "reference")


def stream_of(cipher: str, key: bytes, size: int) -> bytes:
    """Return the keystream of *key* from block 0 on, made by a library in one call."""
    if cipher == "chacha20":
        return CryptoChaCha20.new(key=key, nonce=bytes(8)).encrypt(bytes(size))
    blocks = b"".join(number.to_bytes(16, "little") for number in range(-(-size // 16)))
    return AES.new(key, AES.MODE_ECB).encrypt(blocks)[:size]


def double_hash(message: bytes) -> bytes:
    """SHAd-256 with the zero block of the 2010 book."""
    return sha256(sha256(bytes(64) + message).digest()).digest()


@pytest.mark.parametrize("cell", FAST, ids="-".join)
def test_definition(cell: Cell) -> None:
    """K and output of each request are the two parts of one keystream, and of reseeds the double hash."""
    ours, key, reseeds = make_generator(cell, NAME), bytes(32), 0
    for size in (*SIZES, REQUEST_MAX):
        ours.reseed(b"seed %d" % size)
        key, reseeds = double_hash(key + b"seed %d" % size), reseeds + 1
        for _ in range(2):
            stream = stream_of(cell[0], key, 32 + size)
            key = stream[:32]
            assert stream[32:] == ours.random_bytes(size), size
            assert (key.hex(), reseeds) == state(ours)


@pytest.mark.parametrize("cell", FAST, ids="-".join)
@pytest.mark.parametrize("size", SIZES)
def test_claim_begins_within_a_block(cell: Cell, size: int) -> None:
    """A claim of any size gives the same output, which begins in the middle of a block of ChaCha."""
    ours = make_generator(cell, NAME, key=KEY, counter=1)
    claim, out = ours.claim(size), bytearray(size)
    stream = stream_of(cell[0], KEY, 32 + size)
    assert (stream[:32].hex(), 1) == state(ours)
    claim.fill(out)
    assert stream[32:] == out


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell[0] == "chacha20"], ids="-".join)
def test_published_block(cell: Cell) -> None:
    """RFC 8439 A.1 #1, the first block of a zero key, is such a request: its halves are next key and output."""
    (row,) = (row for row in load_vectors("chacha20_rfc8439")["tests"] if row["id"] == "A.1#1")
    assert bytes(32).hex() == row["key"]
    ours = make_generator(cell, NAME, counter=1)
    assert bytes.fromhex(row["keystream"])[32:] == ours.random_bytes(32)
    assert row["keystream"][:64] == state(ours).key


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_counter_counts_reseeds_alone(cell: Cell) -> None:
    """C is not in the output and no request moves it: it steps at a reseed, round the end to unseeded."""
    ours, far = (
        make_generator(cell, NAME, key=KEY, counter=1),
        make_generator(cell, NAME, key=KEY, counter=COUNTER_END - 1),
    )
    for size in (1, 32, 100):
        assert ours.random_bytes(size) == far.random_bytes(size)
    assert (1, COUNTER_END - 1) == (state(ours).counter, state(far).counter)
    for one in (ours, far):
        one.reseed(b"")
    assert (2, 0) == (state(ours).counter, state(far).counter)
    assert not far.is_seeded


@pytest.mark.parametrize("size", [16, 32, ONE_CALL_MAX + 1])
def test_it_is_not_the_rule_of_the_book(size: int) -> None:
    """The same K and C give other bytes and another next key under the other rule."""
    made: list[Generator] = [make_generator(FAST[0], name, key=KEY, counter=1) for name in (NAME, "fsk2010")]
    assert made[0].random_bytes(size) != made[1].random_bytes(size)
    assert state(made[0]).key != state(made[1]).key


@pytest.mark.parametrize(
    ("cipher", "expected"),
    [
        ("aes256-icm", "34fc020f42eb68755163ee3e084db724e53569c0cc5c108a10fbe114aff8d702"),
        ("chacha20", "b715e24a9e23cc6ed18be3807fb76b84b13b9469772482e56232b00acb657156"),
        ("chacha12", "55f4167dda3ef108e0b701cfb1490f620a422b1535463d2bf24128ced3baafa9"),
        ("chacha8", "56a0c4b8ebbb75ced81488d96ea7daf0e2868796eafb3fbfc7a231a23b7a0724"),
        ("xchacha20", "285f228149b2680f114f52b06e6448f7f48de0bdd788b391dd8235f2ffb0c26e"),
        ("xchacha12", "aad10471920f10b42a97637f76f4df510b591893533e1d7da04aa02a0d15a345"),
        ("xchacha8", "5c3a3e4c2f60f87b0734147603f9e09e6769dac5c09946f105c816a9f852cef5"),
    ],
)
def test_stream_is_frozen(cipher: str, expected: str) -> None:
    """The bytes of every cipher stay as they were first given; their SHA-256 is our own golden value."""
    for cell in (cell for cell in CELLS if cell[0] == cipher):
        ours = make_generator(cell, NAME)
        digest = sha256()
        for number, size in enumerate((1, 16, 32, 33, 64, 96, 97, 200, 5000)):
            ours.reseed(number.to_bytes(4, "little"))
            digest.update(ours.random_bytes(size) + ours.random_bytes(32))
        assert expected == digest.hexdigest(), cell
