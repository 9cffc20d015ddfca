"""Known answers: every vector for every provider, and every wrong stream refused."""

from __future__ import annotations

from typing import Any

import pytest

from fortuna.generators.registry import FACTORIES, GENERATORS
from fortuna.generators.selftest import KEY, KNOWN_ANSWERS

from .keystream_support import CELLS, Row, chacha_tests, keyed, known_rows, little, load_vectors, stream

ROWS = known_rows()
PLACED = [(provider, row) for generator, provider in CELLS for row in ROWS if row.generator == generator]
NEGATIVE = [
    (provider, test, field)
    for generator, provider in CELLS
    if generator == "chacha20"
    for test in chacha_tests("chacha_counter_boundaries")
    for field in ("keystream_if_64bit_counter", "keystream_if_32bit_counter")
    if field in test
]


def label(value: object) -> str | None:
    """Name a vector in a test's id."""
    if isinstance(value, Row):
        return f"{value.generator}:{value.label}"
    return str(value["id"]) if isinstance(value, dict) else None


@pytest.mark.parametrize(("provider", "row"), PLACED, ids=label)
def test_known_answer(provider: str, row: Row) -> None:
    """A provider gives the published keystream and the counter that follows it."""
    generator = keyed(row.generator, provider, row.key)
    out = bytearray(len(row.keystream))
    after = generator.keystream_into(row.counter, out)
    blocks = -(-len(row.keystream) // generator.block_size)
    assert row.keystream == bytes(out)
    assert (row.counter + blocks) % 2**128 == after


@pytest.mark.parametrize(("provider", "test", "field"), NEGATIVE, ids=label)
def test_narrow_counter_does_not_come_out(provider: str, test: dict[str, Any], field: str) -> None:
    """The stream of a 32-bit or 64-bit counter comes out only where it is the same as that of 128 bits."""
    wrong, right = bytes.fromhex(test[field]), bytes.fromhex(test["keystream"])
    got = stream(keyed("chacha20", provider, bytes.fromhex(test["key"])), little(test["iv"]), len(right))
    assert len(right) == len(wrong)
    assert right == got
    assert (wrong == right) == (wrong == got)


def test_negative_vectors_bite() -> None:
    """The boundary file does hold streams that differ from the right one, of both widths."""
    for field in ("keystream_if_64bit_counter", "keystream_if_32bit_counter"):
        tests = [test for test in chacha_tests("chacha_counter_boundaries") if field in test]
        assert any(test[field] != test["keystream"] for test in tests)


@pytest.mark.parametrize("provider", [provider for generator, provider in CELLS if generator == "chacha20"])
def test_matching_widths_are_told_apart(provider: str) -> None:
    """Where only some counter widths match a boundary vector, 128 bits is among them."""
    for test in chacha_tests("chacha_counter_boundaries"):
        widths = test.get("counter_bits_that_match", [128])
        assert 128 in widths
        generator = keyed("chacha20", provider, bytes.fromhex(test["key"]))
        right = bytes.fromhex(test["keystream"])
        assert right == stream(generator, little(test["iv"]), len(right))


@pytest.mark.parametrize("provider", [provider for generator, provider in CELLS if generator == "chacha20"])
def test_rfc8439_encryption(provider: str) -> None:
    """The plaintexts of RFC 8439 become its ciphertexts under our keystream."""
    tests = [test for test in chacha_tests("chacha20_rfc8439") if "plaintext" in test]
    assert tests
    for test in tests:
        plain = bytes.fromhex(test["plaintext"])
        keystream = stream(keyed("chacha20", provider, bytes.fromhex(test["key"])), little(test["iv"]), len(plain))
        assert test["ciphertext"] == bytes(p ^ k for p, k in zip(plain, keystream, strict=True)).hex()


def test_counter_is_not_big_endian() -> None:
    """AES-256-ICM at counter 1 is not the big-endian counter mode of SP 800-38A at counter 1."""
    from Crypto.Cipher import AES

    big_endian = AES.new(KEY, AES.MODE_ECB).encrypt((1).to_bytes(16, "big"))
    for generator, provider in CELLS:
        if generator == "aes256-icm":
            assert big_endian != stream(keyed(generator, provider), 1, 16)


def test_freebsd_counter_after() -> None:
    """The counters after a call are those that FreeBSD's code leaves."""
    for name, generator in (("freebsd_aes_icm", "aes256-icm"), ("freebsd_chacha20", "chacha20")):
        for provider in (p for g, p in CELLS if g == generator):
            for test in load_vectors(name)["keystream"]:
                out = bytearray(test["nbytes"])
                made = keyed(generator, provider, bytes.fromhex(test["key"]))
                assert little(test["ctr_after_le"]) == made.keystream_into(little(test["ctr_le"]), out)


def test_every_cell_has_vectors() -> None:
    """Completeness: each registered (generator, provider) runs published vectors, a positive and a boundary one."""
    covered = {(row.generator, provider) for provider, row in PLACED}
    assert set(FACTORIES) == covered
    for generator in GENERATORS:
        counters = {row.counter for row in ROWS if row.generator == generator}
        for power in (32, 64, 96, 128):
            assert (1 << power) - 1 in counters, f"{generator}: no vector starts at 2**{power} - 1"


def test_self_test_covers_every_generator() -> None:
    """Each registered generator has known answers at boot that start on the last block before a boundary."""
    assert set(GENERATORS) == set(KNOWN_ANSWERS)
    for answers in KNOWN_ANSWERS.values():
        assert {2**32 - 1, 2**64 - 1, 2**128 - 1} == {counter for counter, _ in answers}


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_self_test_answers_by_every_provider(cell: tuple[str, str]) -> None:
    """The table of the self-test is what each provider computes."""
    generator, provider = cell
    for counter, expected in KNOWN_ANSWERS[generator]:
        assert expected == stream(keyed(generator, provider, KEY), counter, len(expected) // 2).hex()


@pytest.mark.parametrize("generator", GENERATORS)
def test_self_test_answers_are_published(generator: str) -> None:
    """The table of the self-test begins as the vector files say, as far as one of them starts at that counter."""
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
