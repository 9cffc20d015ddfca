"""Known answers of the accumulator: FreeBSD's reseeds and scripts, the book's rounds, the peer's transcript."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from fortuna.core import CONSTRUCTIONS, Accumulator
from fortuna.core.pool import Pool
from fortuna.core.scheduler import pools_used

from .core_support import (
    CELLS,
    Cell,
    assert_output,
    little,
    load_vectors,
    make_accumulator,
    make_generator,
    state,
)

RESEEDS = load_vectors("freebsd_reseed")["cases"]
BOOK = load_vectors("book_generator")
PEERS = {entry["id"]: entry for entry in load_vectors("peer_kats")["entries"]}
SCRIPTS = {
    "aes256-icm": load_vectors("freebsd_aes_icm")["script_concurrent"],
    "chacha20": load_vectors("freebsd_chacha20")["script_concurrent"],
}
AES_CELLS = [cell for cell in CELLS if cell[0] == "aes256-icm"]
FREEBSD_CELLS = [cell for cell in CELLS if cell[0] in SCRIPTS]
#: FreeBSD's name of each cipher.
MODES = {"aes256-icm": "aes", "chacha20": "chacha"}
RESEED_ROWS = [(cell, case) for cell in FREEBSD_CELLS for case in RESEEDS if case["mode"] == MODES[cell[0]]]


@pytest.mark.parametrize(
    ("cell", "case"),
    RESEED_ROWS,
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else value["description"],
)
def test_freebsd_reseed(cell: Cell, case: dict[str, Any]) -> None:
    """One scripted reseed gives FreeBSD's pool digests, decision, count, K and C."""
    freebsd = CONSTRUCTIONS["freebsd"]
    key = bytes.fromhex(case["key_before"] or "00" * 32)
    generator = make_generator(cell, "freebsd", key=key, counter=little(case["ctr_before_le"]))
    accumulator = Accumulator(
        generator, freebsd, min_pool_size=case["minpoolsize"], reseed_count=case["reseed_count_before"]
    )
    twins = [Pool(freebsd.pool_prefix) for _ in range(32)]
    for event in case["events"]:
        assert not event["vmgenid"]
        data, pool = bytes.fromhex(event["data"]), event["destination"] % 32
        accumulator.add(0, data, pool=pool, timestamp=event["counter"])
        twins[pool].add(freebsd.encode(0, event["counter"], data)[0])
    assert case["pool0_length"] == accumulator.pool_lengths[0]
    for number, digest in case["pool_digest_H_of_H"].items():
        assert digest == twins[int(number)].take_digest().hex()
    before = state(generator)
    assert case["reseeded"] == accumulator.reseed_if_due(0)
    assert case["reseed_count_after"] == accumulator.reseed_count
    assert little(case["ctr_after_le"]) == state(generator).counter
    assert (case["key_after"] if case["reseeded"] else before.key) == state(generator).key
    assert generator.is_seeded == (little(case["ctr_after_le"]) != 0)
    used = range(pools_used(case["reseed_count_after"]) if case["reseeded"] else 0)
    assert all(accumulator.pool_lengths[i] == 0 for i in used)


@pytest.mark.parametrize("cell", FREEBSD_CELLS, ids="-".join)
def test_freebsd_script(cell: Cell) -> None:
    """Eighteen rounds of events, reseed and read give FreeBSD's keys, counters and outputs, not only the first."""
    accumulator, generator = make_accumulator(cell, "freebsd", min_pool_size=64, interval_ns=0)
    c = 0x01020304
    assert 18 == len(SCRIPTS[cell[0]]["steps"])
    for number, step in enumerate(SCRIPTS[cell[0]]["steps"], 1):
        for e, size in enumerate((8, 4, 1, 7, 8, 2, 8)):
            for d in range(32):
                data = sha256(f"{number},{e},{d}".encode("ascii")).digest()[:size]
                accumulator.add(0, data, pool=(d + 32 * e & 255) % 32, timestamp=c)
                c = (c * 1664525 + 1013904223) % 2**32
        assert step["reseeded"] == accumulator.reseed_if_due(number)
        assert step["reseed_count"] == accumulator.reseed_count
        assert (step["key_after_reseed"], little(step["ctr_after_reseed_le"])) == state(generator)
        n = step["read"]["n"]
        assert [33, 64, 100, 1, 4097, 16][number % 6] == n
        assert_output(step["read"], generator.random_bytes(n))
        assert (step["key_after_read"], little(step["ctr_after_read_le"])) == state(generator)


@pytest.mark.parametrize("cell", FREEBSD_CELLS, ids="-".join)
def test_freebsd_script_by_turns(cell: Cell) -> None:
    """The script's destinations are a round-robin, so without naming pools the same keys come out."""
    accumulator, generator = make_accumulator(cell, "freebsd", interval_ns=0)
    c = 0x01020304
    for number, step in enumerate(SCRIPTS[cell[0]]["steps"], 1):
        for e, size in enumerate((8, 4, 1, 7, 8, 2, 8)):
            for d in range(32):
                accumulator.add(77, sha256(f"{number},{e},{d}".encode("ascii")).digest()[:size], timestamp=c)
                c = (c * 1664525 + 1013904223) % 2**32
        assert_output(step["read"], accumulator.random_data(step["read"]["n"], number))
        assert (step["key_after_read"], little(step["ctr_after_read_le"])) == state(generator)


@pytest.mark.parametrize("cell", AES_CELLS, ids="-".join)
def test_book_accumulator(cell: Cell) -> None:
    """Nine rounds of events and reads give the Go peer's outputs, keys, counters and counts."""
    accumulator, generator = make_accumulator(cell, "fsk2003")
    now = 0
    for r, step in enumerate(BOOK["accumulator_2003"]):
        for p in range(32):
            accumulator.add(r, bytes([32 * r + p & 255]) * 32, pool=p)
            accumulator.add(r, bytes([r]) * 32, pool=p)
        now += 100_000_001
        assert step["out"] == accumulator.random_data(40, now).hex()
        assert (step["key_after"], step["ctr_after"]) == state(generator)
        assert step["reseed_count"] == accumulator.reseed_count


@pytest.mark.parametrize("cell", AES_CELLS, ids="-".join)
def test_peer_accumulator(cell: Cell) -> None:
    """The peer's published transcript, with a read too early for a reseed, comes out."""
    accumulator, _ = make_accumulator(cell, "fsk2003")
    now = 0
    reads = 0
    for op in PEERS["seehuhn-accumulator"]["ops"]:
        if op["op"] == "event":
            for _ in range(op["repeat"]):
                accumulator.add(op["source"], bytes.fromhex(op["data_hex"]), pool=op["pool"])
        elif op["op"] == "events":
            for i in range(1000):
                accumulator.add(1, b"\x01\x02", pool=i % 32)
        elif op["op"] == "advance_clock":
            now += op["ms"] * 1_000_000
        else:
            count = accumulator.reseed_count
            assert op["output"] == accumulator.random_data(op["n"], now).hex()
            assert op["reseeds"] == (accumulator.reseed_count > count)
            reads += 1
    assert 3 == reads
