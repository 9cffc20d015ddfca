"""Known answers of the generator: both editions of the book, FreeBSD's reads, the peers' published values."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from fortuna.core import CONSTRUCTIONS

from .core_support import (
    CELLS,
    PLAIN,
    REFERENCE_MAX,
    REQUEST_MAX,
    Cell,
    assert_output,
    little,
    load_vectors,
    make_generator,
    read,
    state,
)

BOOK = load_vectors("book_generator")
PEERS = {entry["id"]: entry for entry in load_vectors("peer_kats")["entries"]}
FREEBSD = {"aes256-icm": load_vectors("freebsd_aes_icm"), "chacha20": load_vectors("freebsd_chacha20")}
AES_CELLS = [cell for cell in CELLS if cell[0] == "aes256-icm"]
#: Blocks of a new key: what each rekey adds to C.
KEY_BLOCKS = {"aes256-icm": 2, "chacha20": 1}
BLOCK_SIZES = {"aes256-icm": 16, "chacha20": 64}

# The plain-Python provider takes several seconds for a MiB: it leaves out the rows above REFERENCE_MAX.
BOOK_ROWS = [
    (cell, edition, row)
    for cell in AES_CELLS
    for edition in ("2003", "2010")
    for row in BOOK[f"generator_{edition}"]
    if cell[1] != "reference" or row["n"] <= REFERENCE_MAX["aes256-icm"]
]
FREEBSD_ROWS = [
    (cell, row)
    for cell in CELLS
    if cell[0] in FREEBSD
    for row in FREEBSD[cell[0]]["read_concurrent"]
    if cell[1] != "reference" or row["n"] <= REFERENCE_MAX[cell[0]]
]


def label(value: object) -> str | None:
    """Name a row by its request, and a cell by its three names, in a test's id."""
    if isinstance(value, tuple):
        return "-".join(value)
    if isinstance(value, dict):
        return f"{value.get('ctr_le', 'C1')[:16]}-n{value['n']}" if "n" in value else str(value["id"])
    return None


@pytest.mark.parametrize("construction", ["fsk2003", "fsk2010"])
def test_double_hash(construction: str) -> None:
    """SHAd-256 of each edition is what the peers publish and the reference gives."""
    entries = [e for e in PEERS.values() if e["kind"] == "hash" and e["construction"][-4:] == construction[-4:]]
    assert 2 == len(entries)
    for entry in entries:
        message = bytes.fromhex(entry["input_hex"])
        assert entry["output"] == CONSTRUCTIONS[construction].key_hash(message).hex()


@pytest.mark.parametrize(("cell", "edition", "row"), BOOK_ROWS, ids=label)
def test_book_read(cell: Cell, edition: str, row: dict[str, Any]) -> None:
    """One read after one reseed gives the edition's output, next K and next C; n = 0 changes nothing here."""
    generator = make_generator(cell, f"fsk{edition}")
    generator.reseed(b"fortuna-kat")
    before = state(generator)
    assert_output(row, read(generator, row["n"]))
    ours = row["seehuhn_rule"] if edition == "2003" else row
    if row["n"] == 0:
        assert before == state(generator)
        assert 1 == before.counter
        # The 2003 row states our rule beside the other one; the 2010 row has the book's, which rekeys.
        assert ((ours["key_after"], ours["ctr_after"]) == before) == (edition == "2003")
    else:
        assert (ours["key_after"], ours["ctr_after"]) == state(generator)


@pytest.mark.parametrize("row", [r for r in BOOK["generator_2003"] if not r["rules_agree"]], ids=label)
def test_extra_rekeys_are_not_ours(row: dict[str, Any]) -> None:
    """At n = 0 and at exact multiples of 2**20 PyCrypto rekeys once more than we do."""
    generator = make_generator(PLAIN, "fsk2003")
    generator.reseed(b"fortuna-kat")
    assert_output(row, read(generator, row["n"]))
    theirs = row["pycrypto_rule"]
    assert theirs["key_after"] != state(generator).key
    assert theirs["ctr_after"] == state(generator).counter + 2
    assert row["n"] % REQUEST_MAX == 0


def test_editions_differ() -> None:
    """The two editions give different output from the same seed."""
    outputs = {e: BOOK[f"generator_{e}"][3]["out"] for e in ("2003", "2010")}
    assert outputs["2003"] != outputs["2010"]


@pytest.mark.parametrize("cell", AES_CELLS, ids="-".join)
@pytest.mark.parametrize("row", BOOK["counter_carries_2003"], ids=lambda row: str(row["ctr_le"]))
def test_book_counter_carries(cell: Cell, row: dict[str, Any]) -> None:
    """A read that starts on the last block before a full word carries into the next, as the Go peer does."""
    seeded = make_generator(cell, "fsk2003")
    seeded.reseed(b"fortuna-kat")
    key = bytes.fromhex(state(seeded).key)
    generator = make_generator(cell, "fsk2003", key=key, counter=little(row["ctr_le"]))
    assert_output(row, read(generator, row["n"]))
    assert (row["key_after"], little(row["ctr_after_le"])) == state(generator)


@pytest.mark.parametrize("cell", [cell for cell in AES_CELLS if cell[1] != "reference"], ids="-".join)
def test_peer_generator(cell: Cell) -> None:
    """The transcript of reseeds and reads that three peers publish comes out, each step after the one before."""
    entry = PEERS["seehuhn-generator"]
    generator = make_generator(cell, "fsk2003")
    done = 0
    for op in entry["ops"]:
        if op["op"] == "reseed":
            generator.reseed(bytes.fromhex(op["seed_hex"]))
            continue
        got = read(generator, op["n"])
        done += 1
        if "output" in op:
            assert op["output"] == got.hex()
        else:
            assert op["output_last100"] == got[-100:].hex()
    assert 3 == done


def test_peer_generator_first_steps_on_the_oracle() -> None:
    """The plain-Python provider gives the transcript's first read; the second is a MiB and too long for it."""
    reseed, first = PEERS["seehuhn-generator"]["ops"][:2]
    generator = make_generator(("aes256-icm", "reference", "python"), "fsk2003")
    generator.reseed(bytes.fromhex(reseed["seed_hex"]))
    assert first["output"] == read(generator, first["n"]).hex()


@pytest.mark.parametrize(("cell", "row"), FREEBSD_ROWS, ids=label)
def test_freebsd_read(cell: Cell, row: dict[str, Any]) -> None:
    """One read gives FreeBSD's output, K and C for 1..2**20 - 16 bytes, and differs exactly where its rule does."""
    name, n = cell[0], row["n"]
    generator = make_generator(cell, "freebsd", key=bytes.fromhex(row["key"]), counter=little(row["ctr_le"]))
    before = state(generator)
    got = read(generator, n)
    after = state(generator)
    theirs = (row["key_after"], little(row["ctr_after_le"]))
    if n == 0:
        # FreeBSD rekeys, we change nothing.
        assert b"" == got
        assert before == after
        assert theirs[0] != after.key
        assert theirs[1] == after.counter + KEY_BLOCKS[name]
    elif n <= REQUEST_MAX - 16 or (name == "chacha20" and n == REQUEST_MAX):
        assert_output(row, got)
        assert theirs == after
    elif name == "aes256-icm":
        # FreeBSD keys the rest of a long read from a local copy: the same bytes, but the key that stays is another.
        assert_output(row, got)
        assert theirs[0] != after.key
        # It also reserves two blocks for each full MiB; where nothing follows one, they are never used.
        assert theirs[1] == (after.counter + (2 if n == REQUEST_MAX else 0)) % 2**128
    else:
        # FreeBSD gives one straight stream, however long; we rekey after each MiB.
        assert row["first32"] == got[:32].hex()
        assert row["last32"] != got[-32:].hex()
        assert row["sha256"] != sha256(got).hexdigest()
        assert theirs[0] != after.key
        # Each of our requests costs its own blocks and a rekey; FreeBSD's whole read costs one rekey.
        ours = sum(-(-min(REQUEST_MAX, n - i) // 64) + 1 for i in range(0, n, REQUEST_MAX))
        assert (before.counter + ours) % 2**128 == after.counter
        assert theirs[1] == (before.counter + -(-n // 64) + 1) % 2**128


def test_freebsd_rows_reach_both_sides() -> None:
    """The rows hold requests under, at and over the limit, and n = 0, for both ciphers."""
    for name in FREEBSD:
        sizes = {row["n"] for cell, row in FREEBSD_ROWS if cell[0] == name}
        assert {0, 15, 65, 65536, REQUEST_MAX, REQUEST_MAX + 1} <= sizes
