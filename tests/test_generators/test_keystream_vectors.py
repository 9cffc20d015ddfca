"""Known answers: every vector for every provider, and every wrong stream refused."""

from __future__ import annotations

from hashlib import sha256
from struct import pack, unpack
from typing import Any

import pytest

from fortuna.generators.availability import kernels_of
from fortuna.generators.providers.reference_chacha import hchacha as product_hchacha
from fortuna.generators.registry import FACTORIES, GENERATORS
from fortuna.generators.selftest import KEY, KNOWN_ANSWERS, LONG_ANSWERS

from .keystream_support import (
    CELLS,
    ROUNDS,
    Cell,
    Row,
    chacha,
    chacha_tests,
    hchacha,
    keyed,
    known_rows,
    little,
    load_vectors,
    published_rows,
    start,
    stream,
)

ROWS = known_rows()
PLACED = [(cell, row) for cell in CELLS for row in ROWS if row.generator == cell[0]]
CHACHA = [cell for cell in CELLS if cell[0].startswith("chacha")]
XCHACHA = [cell for cell in CELLS if cell[0].startswith("xchacha")]
NEGATIVE = [
    (cell, test, field)
    for cell in CHACHA
    for test in chacha_tests("chacha_counter_boundaries", ROUNDS[cell[0]])
    for field in ("keystream_if_64bit_counter", "keystream_if_32bit_counter")
    if field in test
]


def label(value: object) -> str | None:
    """Name a vector in a test's id."""
    if isinstance(value, tuple) and not isinstance(value, Row):
        return "-".join(value)
    if isinstance(value, Row):
        return value.label
    return str(value["id"]) if isinstance(value, dict) else None


@pytest.mark.parametrize(("cell", "row"), PLACED, ids=label)
def test_known_answer(cell: Cell, row: Row) -> None:
    """A kernel gives the known keystream and the counter that follows it."""
    generator = keyed(*cell, key=row.key)
    out = bytearray(len(row.keystream))
    after = generator.keystream_into(row.counter, out)
    blocks = -(-len(row.keystream) // generator.block_size)
    assert row.keystream == bytes(out)
    assert (row.counter + blocks) % 2**128 == after


@pytest.mark.parametrize(("cell", "test", "field"), NEGATIVE, ids=label)
def test_narrow_counter_does_not_come_out(cell: Cell, test: dict[str, Any], field: str) -> None:
    """The stream of a 32-bit or 64-bit counter comes out only where it is the same as that of 128 bits."""
    wrong, right = bytes.fromhex(test[field]), bytes.fromhex(test["keystream"])
    got = stream(keyed(*cell, key=bytes.fromhex(test["key"])), little(test["iv"]), len(right))
    assert len(right) == len(wrong)
    assert right == got
    assert (wrong == right) == (wrong == got)


def test_negative_vectors_bite() -> None:
    """The boundary file does hold streams that differ from the right one, of both widths."""
    for field in ("keystream_if_64bit_counter", "keystream_if_32bit_counter"):
        tests = [test for test in chacha_tests("chacha_counter_boundaries") if field in test]
        assert any(test[field] != test["keystream"] for test in tests)


@pytest.mark.parametrize("cell", CHACHA, ids="-".join)
def test_matching_widths_are_told_apart(cell: Cell) -> None:
    """Where only some counter widths match a boundary vector, 128 bits is among them."""
    for test in chacha_tests("chacha_counter_boundaries", ROUNDS[cell[0]]):
        widths = test.get("counter_bits_that_match", [128])
        assert 128 in widths
        generator = keyed(*cell, key=bytes.fromhex(test["key"]))
        right = bytes.fromhex(test["keystream"])
        assert right == stream(generator, little(test["iv"]), len(right))


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell[0] == "chacha20"], ids="-".join)
def test_rfc8439_encryption(cell: Cell) -> None:
    """The plaintexts of RFC 8439 become its ciphertexts under our keystream."""
    tests = [test for test in chacha_tests("chacha20_rfc8439") if "plaintext" in test]
    assert tests
    for test in tests:
        plain = bytes.fromhex(test["plaintext"])
        keystream = stream(keyed(*cell, key=bytes.fromhex(test["key"])), little(test["iv"]), len(plain))
        assert test["ciphertext"] == bytes(p ^ k for p, k in zip(plain, keystream, strict=True)).hex()


def test_counter_is_not_big_endian() -> None:
    """AES-256-ICM at counter 1 is not the big-endian counter mode of SP 800-38A at counter 1."""
    from Crypto.Cipher import AES

    big_endian = AES.new(KEY, AES.MODE_ECB).encrypt((1).to_bytes(16, "big"))
    for cell in CELLS:
        if cell[0] == "aes256-icm":
            assert big_endian != stream(keyed(*cell), 1, 16)


def test_freebsd_counter_after() -> None:
    """The counters after a call are those that FreeBSD's code leaves."""
    for name, generator in (("freebsd_aes_icm", "aes256-icm"), ("freebsd_chacha20", "chacha20")):
        for cell in (cell for cell in CELLS if cell[0] == generator):
            for test in load_vectors(name)["keystream"]:
                out = bytearray(test["nbytes"])
                made = keyed(*cell, key=bytes.fromhex(test["key"]))
                assert little(test["ctr_after_le"]) == made.keystream_into(little(test["ctr_le"]), out)


def test_every_cell_has_vectors() -> None:
    """Completeness: each generator, provider and kernel that can run here has known answers at every word's end.

    What can run is asked of each provider anew, so that a kernel which the fixtures leave out is missed here.
    """
    running = {
        (generator, provider, kernel)
        for generator, provider in FACTORIES
        for kernel, reason in kernels_of(generator, provider)
        if not reason
    }
    assert running == {cell for cell, _ in PLACED} == set(CELLS)
    for generator in GENERATORS:
        counters = {row.counter for row in ROWS if row.generator == generator}
        for power in (32, 64, 96, 128):
            assert (1 << power) - 1 in counters, f"{generator}: no vector starts at 2**{power} - 1"


@pytest.mark.parametrize("row", published_rows(), ids=label)
def test_derivation_is_held_to_the_published_values(row: Row) -> None:
    """The ChaCha that makes the derived rows gives every published keystream of the family."""
    if row.generator in ROUNDS:
        assert row.keystream == chacha(row.key, row.counter, len(row.keystream), ROUNDS[row.generator])
    else:
        assert "aes256-icm" == row.generator


@pytest.mark.parametrize("test", load_vectors("hchacha20")["tests"], ids=label)
def test_hchacha(test: dict[str, Any]) -> None:
    """The subkey of the oracle and that of the derived rows, which share no code, are the published one."""
    key, nonce = bytes.fromhex(test["key"]), bytes.fromhex(test["nonce16"])
    assert product_hchacha.__module__ != hchacha.__module__
    assert test["subkey"] == product_hchacha(key, nonce, test["rounds"]).hex()
    assert test["subkey"] == hchacha(key, nonce, test["rounds"]).hex()


@pytest.mark.parametrize("cell", CHACHA, ids="-".join)
def test_published_xchacha(cell: Cell) -> None:
    """Every published XChaCha keystream comes from a kernel's ChaCha under the subkey, from both derivations of it."""
    tests = [test for test in load_vectors("xchacha")["tests"] if test["rounds"] == ROUNDS[cell[0]]]
    assert tests
    for test in tests:
        key, nonce = bytes.fromhex(test["key"]), bytes.fromhex(test["nonce24"])
        counter = test["block"] + (little(nonce[16:].hex()) << 64)
        subkey = hchacha(key, nonce[:16], test["rounds"])
        assert subkey == bytes(product_hchacha(key, nonce[:16], test["rounds"]))
        assert test["keystream"] == stream(keyed(*cell, key=subkey), counter, len(test["keystream"]) // 2).hex()


@pytest.mark.parametrize("cell", XCHACHA, ids="-".join)
def test_xchacha_from_published_blocks(cell: Cell) -> None:
    """XChaCha under a key whose ChaCha block 0 is published: that block less the initial state holds the subkey.

    The other path is HChaCha itself; the keystream under the subkey is made by the tests' own ChaCha and by another
    kernel's.
    """
    rounds = ROUNDS[cell[0]]
    blocks = [
        row for row in published_rows() if (row.generator, row.counter) == (cell[0][1:], 0) and len(row.keystream) >= 64
    ]
    assert blocks
    for row in blocks:
        words, before = (
            unpack("<16I", row.keystream[:64]),
            [word for four in start(row.key, bytes(16)) for word in four],
        )
        after = [(word - summand) % 2**32 for word, summand in zip(words, before, strict=True)]
        subkey = pack("<8I", *after[:4], *after[12:])
        assert hchacha(row.key, bytes(16), rounds) == subkey
        one = keyed(*cell, key=row.key)
        others = [c for c in CHACHA if c[0] == cell[0][1:] and c[2] != cell[2]]
        for counter in (0, 1, 2**32 - 1, 2**64 - 1, 2**96 - 1, 2**128 - 1):
            got = stream(one, counter, 300)
            assert chacha(subkey, counter, 300, rounds) == got
            for other in others[-1:]:
                assert cell[2] != other[2]
                assert stream(keyed(*other, key=subkey), counter, 300) == got


@pytest.mark.parametrize("cell", [cell for cell in XCHACHA if cell[0] == "xchacha20"], ids="-".join)
def test_xchacha20_by_a_library(cell: Cell) -> None:
    """XChaCha20 with 64 counter bits is what pycryptodome gives for a nonce of 16 zero bytes and C's high half."""
    from Crypto.Cipher import ChaCha20

    one = keyed(*cell)
    for high in (0, 1, 2**63, 2**64 - 1):
        library = ChaCha20.new(key=KEY, nonce=bytes(16) + high.to_bytes(8, "little"))
        library.seek(64 * 5)
        assert library.encrypt(bytes(400)) == stream(one, (high << 64) + 5, 400)


def test_self_test_covers_every_generator() -> None:
    """Each registered generator has known answers at boot that start on the last block before a boundary."""
    assert set(GENERATORS) == set(KNOWN_ANSWERS)
    for answers in KNOWN_ANSWERS.values():
        assert {2**32 - 1, 2**64 - 1, 2**128 - 1} == {counter for counter, _ in answers}


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_self_test_answers_by_every_kernel(cell: Cell) -> None:
    """The table of the self-test is what each kernel computes."""
    for counter, expected in KNOWN_ANSWERS[cell[0]]:
        assert expected == stream(keyed(*cell), counter, len(expected) // 2).hex()


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_long_self_test_answers_by_every_kernel(cell: Cell) -> None:
    """The long answers of the self-test are what each kernel computes."""
    counter, size, expected = LONG_ANSWERS[cell[0]]
    assert expected == sha256(stream(keyed(*cell), counter, size)).hexdigest()


@pytest.mark.parametrize("generator", GENERATORS)
def test_self_test_answers_are_published(generator: str) -> None:
    """The table of the self-test begins as the known rows say, published ones where there are any."""
    for counter, expected in KNOWN_ANSWERS[generator]:
        published = [
            row.keystream for row in ROWS if (row.generator, row.key, row.counter) == (generator, KEY, counter)
        ]
        assert published, f"no vector for {generator} at {counter:#x}"
        longest = max(published, key=len)
        shared = min(len(longest), len(expected) // 2)
        assert shared > 0
        assert longest[:shared].hex() == expected[: 2 * shared]
        # At least one published stream reaches beyond the first block, where a narrow counter shows.
        block_size = 16 if generator == "aes256-icm" else 64
        assert shared > block_size
