"""The accumulator against the model, and the rules of events, turns, credit and limits one by one."""

from __future__ import annotations

from array import array
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.core import CONSTRUCTIONS, Accumulator
from fortuna.core.constructions import construction_named
from fortuna.core.scheduler import INTERVAL_NS
from fortuna.errors import NotSeededError, ParameterError

from .core_support import (
    CELLS,
    REQUEST_MAX,
    Cell,
    ModelAccumulator,
    double_hash,
    make_accumulator,
    make_generator,
    state,
)

NAMES = list(CONSTRUCTIONS)
FSK = ["fsk2010", "fsk2003", "fast-key-erasure"]
EVENTS = st.tuples(
    st.integers(0, 255),
    st.binary(min_size=1, max_size=90),
    st.one_of(st.none(), st.integers(0, 31)),
    st.integers(-(2**33), 2**65),
)
READS = st.tuples(st.integers(0, 100), st.sampled_from([-1, 0, INTERVAL_NS, INTERVAL_NS + 1, 10**10]))
FRESH = st.binary(max_size=40)
TRANSCRIPTS = st.lists(st.one_of(EVENTS, EVENTS, EVENTS, READS, FRESH), max_size=40)


@pytest.mark.parametrize("construction", NAMES)
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
@given(transcript=TRANSCRIPTS)
@settings(deadline=None, max_examples=25)
def test_transcript_equals_the_model(cell: Cell, construction: str, transcript: list[Any]) -> None:
    """Any transcript of events, reads and forced reseeds gives the model's pools, counts, outputs, K and C."""
    ours, generator = make_accumulator(cell, construction)
    model = ModelAccumulator(cell[0], construction)
    now = 10**12
    for step in transcript:
        if isinstance(step, bytes):
            ours.reseed(now, step)
            model.reseed(now, step)
        elif len(step) == 4:
            source, data, pool, timestamp = step
            ours.add(source, data, pool=pool, timestamp=timestamp)
            model.event(source, data, pool, timestamp)
        else:
            n, gap = step
            now = model.last + gap if model.count else now
            if model.count or len(model.pools[0]) >= 64:
                assert model.read(n, now) == ours.random_data(n, now)
            else:
                with pytest.raises(NotSeededError):
                    ours.random_data(n + 1, now)
        assert model.count == ours.reseed_count
        assert tuple(map(len, model.pools)) == ours.pool_lengths
        assert model.generator.state == state(generator)


@pytest.mark.parametrize("construction", NAMES)
def test_eighty_reseeds_equal_the_model(construction: str) -> None:
    """Eighty paced reseeds, events by turns between them, stay equal to the model: not only the first."""
    ours, generator = make_accumulator(("chacha20", "pycryptodome", "library"), construction)
    model = ModelAccumulator("chacha20", construction)
    for r in range(1, 81):
        for e in range(224):
            data = sha256(f"{r}/{e}".encode()).digest()[: 16 + e % 17]
            ours.add(e % 3, data, timestamp=e)
            model.event(e % 3, data, None, e)
        assert model.read(33, r * (INTERVAL_NS + 1)) == ours.random_data(33, r * (INTERVAL_NS + 1))
        assert (r, r) == (model.count, ours.reseed_count)
        assert model.generator.state == state(generator)


@pytest.mark.parametrize("construction", FSK)
@pytest.mark.parametrize("size", [1, 2, 31, 32])
def test_book_event(construction: str, size: int) -> None:
    """The book's event is source, length, data: 3 to 34 bytes."""
    data = bytes(range(1, size + 1))
    assert (bytes([200, size]) + data,) == CONSTRUCTIONS[construction].encode(200, 99, data)


@pytest.mark.parametrize("construction", FSK)
@pytest.mark.parametrize("size", [33, 64, 5000])
def test_long_data_is_hashed(construction: str, size: int) -> None:
    """Data of more than 32 bytes is replaced by its SHA-256, all of it counting."""
    data = bytes(size)
    assert (bytes([3, 32]) + sha256(data).digest(),) == CONSTRUCTIONS[construction].encode(3, 0, data)
    changed = data[:-1] + b"\x01"
    assert CONSTRUCTIONS[construction].encode(3, 0, data) != CONSTRUCTIONS[construction].encode(3, 0, changed)


@pytest.mark.parametrize("construction", FSK)
def test_empty_data_is_refused(construction: str) -> None:
    """The book has no empty event; refusing it moves neither pool nor turn."""
    accumulator, _ = make_accumulator(CELLS[0], construction)
    with pytest.raises(ParameterError, match="got 0 bytes"):
        accumulator.add(1, b"")
    assert (0,) * 32 == accumulator.pool_lengths
    accumulator.add(1, b"x")
    assert (3,) + (0,) * 31 == accumulator.pool_lengths


@pytest.mark.parametrize(
    ("timestamp", "stamp"),
    [
        (0, "00000000"),
        (1, "01000000"),
        (2**32 - 1, "ffffffff"),
        (2**32, "00000000"),
        (2**40 + 5, "05000000"),
        (-1, "ffffffff"),
    ],
)
def test_freebsd_event(timestamp: int, stamp: str) -> None:
    """FreeBSD's event is a 32-bit little-endian timestamp and the data; the source is not in it."""
    encode = CONSTRUCTIONS["freebsd"].encode
    assert (bytes.fromhex(stamp) + b"abc",) == encode(1, timestamp, b"abc")
    assert encode(1, timestamp, b"abc") == encode(2, timestamp, b"abc")
    assert (bytes.fromhex(stamp),) == encode(0, timestamp, b"")


@pytest.mark.parametrize(("size", "pieces"), [(0, [0]), (1, [1]), (8, [8]), (9, [8, 1]), (16, [8, 8]), (20, [8, 8, 4])])
def test_freebsd_splits(size: int, pieces: list[int]) -> None:
    """FreeBSD's longer data becomes events of 8 bytes over consecutive pools, each with the timestamp."""
    data = bytes(range(size))
    accumulator, _ = make_accumulator(CELLS[0], "freebsd")
    accumulator.add(9, data, pool=30, timestamp=7)
    expected = [0] * 32
    for i, piece in enumerate(pieces):
        expected[(30 + i) % 32] += 4 + piece
    assert tuple(expected) == accumulator.pool_lengths
    events = CONSTRUCTIONS["freebsd"].encode(9, 7, data)
    assert data == b"".join(event[4:] for event in events)
    assert all(event[:4] == b"\x07\0\0\0" for event in events)


def test_freebsd_empty_events_reach_the_threshold() -> None:
    """Sixteen empty events of FreeBSD are 64 bytes and seed; fifteen are not enough."""
    accumulator, generator = make_accumulator(CELLS[0], "freebsd")
    for _ in range(15):
        accumulator.add(0, b"", pool=0)
    assert not accumulator.reseed_if_due(0)
    accumulator.add(0, b"", pool=0)
    assert accumulator.reseed_if_due(0)
    assert generator.is_seeded


def test_ambiguity_of_freebsd_is_not_the_book_s() -> None:
    """Two different sequences fill one of FreeBSD's pools alike; in the book's they do not."""
    digests: dict[str, list[str]] = {}
    for construction in NAMES:
        for events in ([(1, b"abcdefgh")], [(1, b"abcd"), (int.from_bytes(b"efgh", "little"), b"")]):
            accumulator, generator = make_accumulator(CELLS[0], construction)
            for timestamp, data in events:
                accumulator.add(0, data if construction == "freebsd" else data or b"\0", pool=0, timestamp=timestamp)
            accumulator.reseed(0)
            digests.setdefault(construction, []).append(state(generator).key)
    assert digests["freebsd"][0] == digests["freebsd"][1]
    for construction in FSK:
        assert digests[construction][0] != digests[construction][1]


@pytest.mark.parametrize("construction", NAMES)
def test_round_robin_of_each_source(construction: str) -> None:
    """Each source walks the pools in turn on its own, from P_0, and begins again after P_31."""
    accumulator, _ = make_accumulator(CELLS[0], construction)
    header = 4 if construction == "freebsd" else 2
    expected = [0] * 32
    for number in range(70):
        accumulator.add(5, b"x")
        expected[number % 32] += header + 1
        assert tuple(expected) == accumulator.pool_lengths
    for number in range(3):
        accumulator.add(6, b"yz")
        expected[number] += header + 2
        assert tuple(expected) == accumulator.pool_lengths


@pytest.mark.parametrize("construction", NAMES)
def test_named_pool_does_not_move_the_turn(construction: str) -> None:
    """An event for a named pool goes there and leaves its source's turn where it was."""
    accumulator, _ = make_accumulator(CELLS[0], construction)
    header = 4 if construction == "freebsd" else 2
    for pool in (31, 0, 7, 31):
        accumulator.add(5, b"x", pool=pool)
    accumulator.add(5, b"xx")
    accumulator.add(5, b"xx", pool=20)
    accumulator.add(5, b"xx")
    expected = [0] * 32
    for pool, size in ((31, 1), (0, 1), (7, 1), (31, 1), (0, 2), (20, 2), (1, 2)):
        expected[pool] += header + size
    assert tuple(expected) == accumulator.pool_lengths


@pytest.mark.parametrize("bad", [{"source": -1}, {"source": 256}, {"pool": -1}, {"pool": 32}])
@pytest.mark.parametrize("construction", NAMES)
def test_refused_event(construction: str, bad: dict[str, int]) -> None:
    """A source or pool out of range is refused with its range, and nothing was added or moved."""
    accumulator, _ = make_accumulator(CELLS[0], construction)
    accumulator.add(1, b"x")
    before = accumulator.pool_lengths
    ((field, value),) = bad.items()
    with pytest.raises(ParameterError, match=rf"{field}: got {value}; allowed is 0\.\.") as caught:
        accumulator.add(bad.get("source", 1), b"secret data", pool=bad.get("pool"))
    assert "secret" not in str(caught.value)
    assert before == accumulator.pool_lengths
    accumulator.add(1, b"x")
    assert accumulator.pool_lengths[1] == accumulator.pool_lengths[0]


@pytest.mark.parametrize("data", ["text", 5, None])
@pytest.mark.parametrize("construction", NAMES)
def test_event_must_be_bytes(construction: str, data: Any) -> None:
    """Data that is not bytes-like is a TypeError and nothing was added."""
    accumulator, _ = make_accumulator(CELLS[0], construction)
    with pytest.raises(TypeError):
        accumulator.add(1, data)
    assert (0,) * 32 == accumulator.pool_lengths


@pytest.mark.parametrize("construction", NAMES)
@pytest.mark.parametrize(
    "data", [b"abcdef", bytearray(b"abcdef"), memoryview(b"abcdef")], ids=lambda d: type(d).__name__
)
def test_event_of_any_bytes_type(construction: str, data: bytes) -> None:
    """bytes, bytearray and views of bytes give one and the same event."""
    encode = CONSTRUCTIONS[construction].encode
    assert encode(1, 2, b"abcdef") == encode(1, 2, data)


@pytest.mark.parametrize("construction", NAMES)
def test_every_event_bit_matters(construction: str) -> None:
    """Flipping any bit of an event's data changes the key that follows."""
    keys = set()
    for bit in range(64):
        accumulator, generator = make_accumulator(CELLS[0], construction)
        accumulator.add(0, (1 << bit).to_bytes(8, "little"), pool=0)
        accumulator.reseed(0)
        keys.add(state(generator).key)
    assert 64 == len(keys)


@pytest.mark.parametrize("construction", NAMES)
def test_first_key_knows_pool_0_alone(construction: str) -> None:
    """What is in P_1 .. P_31 neither enters the first key nor is lost by it."""
    keys = []
    for filled in (False, True):
        accumulator, generator = make_accumulator(CELLS[0], construction)
        for pool in range(1, 32):
            for _ in range(filled):
                accumulator.add(0, b"x", pool=pool)
        for _ in range(20):
            accumulator.add(0, b"same", pool=0)
        before = accumulator.pool_lengths
        assert accumulator.reseed_if_due(0)
        keys.append(state(generator).key)
        assert (0, *before[1:]) == accumulator.pool_lengths
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("before", "pools"), [(0, 1), (1, 2), (3, 3), (2**31 - 2, 1), (2**31 - 1, 32), (2**32 - 1, 32)]
)
@pytest.mark.parametrize("construction", NAMES)
def test_reseed_takes_the_pools_in_order(construction: str, before: int, pools: int) -> None:
    """The seed is what was passed, then the digests of the used pools in order; those restart, the others stay."""
    generator = make_generator(CELLS[0], construction, counter=1)
    accumulator = Accumulator(generator, CONSTRUCTIONS[construction], reseed_count=before)
    events = [CONSTRUCTIONS[construction].encode(1, 0, bytes([pool]))[0] for pool in range(32)]
    for pool in range(32):
        accumulator.add(1, bytes([pool]), pool=pool)
    accumulator.reseed(5, b"fresh")
    prefix = CONSTRUCTIONS[construction].pool_prefix
    seed = b"fresh" + b"".join(double_hash(prefix, event) for event in events[:pools])
    assert double_hash(CONSTRUCTIONS[construction].key_prefix, bytes(32) + seed).hex() == state(generator).key
    assert (0,) * pools + (len(events[0]),) * (32 - pools) == accumulator.pool_lengths
    assert (before + 1, 5) == (accumulator.reseed_count, accumulator.last_reseed_ns)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_forced_reseed_of_empty_pools(cell: Cell) -> None:
    """A forced reseed works with empty pools, counts, and paces the one that follows."""
    accumulator, generator = make_accumulator(cell)
    accumulator.reseed(1000)
    assert generator.is_seeded
    assert 1 == accumulator.reseed_count
    accumulator.add(0, bytes(32), pool=0)
    accumulator.add(0, bytes(32), pool=0)
    assert not accumulator.reseed_if_due(1000 + INTERVAL_NS)
    assert accumulator.reseed_if_due(1001 + INTERVAL_NS)


def test_unseeded_accumulator_raises() -> None:
    """Before the first reseed random data is refused; events below the threshold do not change that."""
    accumulator, _ = make_accumulator(CELLS[0])
    for _ in range(2):
        with pytest.raises(NotSeededError):
            accumulator.random_data(1, 0)
        accumulator.add(0, bytes(29), pool=0)
    assert 0 == accumulator.reseed_count


@pytest.mark.parametrize("n", [REQUEST_MAX - 1, REQUEST_MAX, REQUEST_MAX + 1, 2 * REQUEST_MAX, 2 * REQUEST_MAX + 5])
def test_long_requests_are_split(n: int) -> None:
    """More than 2**20 bytes are given by several requests, each with its own rekey, after one reseed."""
    accumulator, generator = make_accumulator(("chacha20", "pycryptodome", "library"))
    twin = make_generator(("chacha20", "pycryptodome", "library"))
    accumulator.reseed(0, b"s")
    twin.reseed(b"s" + double_hash(bytes(64), b""))
    expected = b"".join(twin.random_bytes(min(REQUEST_MAX, n - i)) for i in range(0, n, REQUEST_MAX))
    assert expected == accumulator.random_data(n, 1)
    assert state(twin) == state(generator)
    assert 1 == accumulator.reseed_count


@pytest.mark.parametrize(("bits", "events"), [(256.0, 8), (255.0, 8), (0.0, 2), (257.0, 9)])
def test_first_seed_waits_for_credit(bits: float, events: int) -> None:
    """With first_seed_bits the first reseed waits until P_0 has that much credit as well, to the bit."""
    accumulator, _ = make_accumulator(CELLS[0], first_seed_bits=bits)
    needed = 0
    while not accumulator.reseed_if_due(needed):
        accumulator.add(1, bytes(32), pool=0, min_entropy=1.0)
        needed += 1
    assert events == needed


def test_uncredited_events_do_not_seed() -> None:
    """Events without credit, and credit in other pools, never allow the first seed; later reseeds ask for none."""
    accumulator, _ = make_accumulator(CELLS[0], first_seed_bits=1.0)
    for _ in range(50):
        accumulator.add(200, bytes(32), pool=0)
        accumulator.add(1, bytes(32), pool=1, min_entropy=8.0)
    assert not accumulator.reseed_if_due(0)
    with pytest.raises(NotSeededError):
        accumulator.random_data(1, 10**12)
    accumulator.add(1, b"x", pool=0, min_entropy=8.0)
    assert accumulator.reseed_if_due(0)
    for _ in range(2):
        accumulator.add(200, bytes(32), pool=0)
    assert accumulator.reseed_if_due(INTERVAL_NS + 1)


def test_credit_is_dropped_with_the_pool() -> None:
    """A pool that was used restarts without credit."""
    accumulator, _ = make_accumulator(CELLS[0])
    accumulator.add(1, bytes(32), pool=0, min_entropy=8.0)
    assert 256.0 == accumulator._pools[0].credited_bits
    accumulator.reseed(0)
    assert 0.0 == accumulator._pools[0].credited_bits


def test_credit_is_spread_over_freebsd_s_events() -> None:
    """The credit of data that makes several events is shared among their pools and not multiplied."""
    accumulator, _ = make_accumulator(CELLS[0], "freebsd")
    accumulator.add(1, bytes(32), min_entropy=4.0)
    assert [32.0] * 4 == [pool.credited_bits for pool in accumulator._pools[:4]]
    assert 128.0 == sum(pool.credited_bits for pool in accumulator._pools)


@pytest.mark.parametrize("name", ["fsk", "FSK2010", "", "fsk2010 "])
def test_unknown_construction(name: str) -> None:
    """An unknown construction is refused with the list of those there are."""
    with pytest.raises(ParameterError) as caught:
        construction_named(name)
    assert repr(name) in str(caught.value)
    for known in CONSTRUCTIONS:
        assert known in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_construction_is_frozen(name: str) -> None:
    """A construction is found by name, shows it, and cannot be changed."""
    construction = construction_named(name)
    assert CONSTRUCTIONS[name] is construction
    assert f"<construction {name}>" == repr(construction)
    with pytest.raises(AttributeError, match="frozen"):
        construction.key_prefix = b""
    with pytest.raises(AttributeError, match="frozen"):
        del construction.key_prefix
    assert (b"" if name == "fsk2003" else bytes(64)) == construction.key_prefix


@pytest.mark.parametrize(
    ("n", "error"), [(-1, ParameterError), (1.5, TypeError), (b"ab", TypeError), (1 << 62, MemoryError)], ids=repr
)
def test_refused_request_changes_nothing(n: Any, error: type[Exception]) -> None:
    """A number of bytes that is negative, no integer, or more than memory is refused before a reseed that is due."""
    accumulator, generator = make_accumulator(CELLS[0])
    for _ in range(2):
        accumulator.add(0, bytes(32), pool=0)
    before = state(generator)
    with pytest.raises(error):
        accumulator.random_data(n, 0)
    assert before == state(generator)
    assert 0 == accumulator.reseed_count


@pytest.mark.parametrize("construction", NAMES)
def test_event_of_wider_elements(construction: str) -> None:
    """A buffer of wider elements, or of several dimensions, is the event of its bytes: lengths count bytes."""
    data = bytes(range(12))
    keys = []
    for form in (data, memoryview(data).cast("I"), memoryview(data).cast("B", (3, 4)), array("H", data)):
        accumulator, generator = make_accumulator(CELLS[0], construction)
        accumulator.add(1, form, pool=0)  # type: ignore[arg-type]
        accumulator.reseed(0)
        keys.append(state(generator).key)
    assert [keys[0]] * 4 == keys


@pytest.mark.parametrize(("size", "credit"), [(1, 8.0), (31, 248.0), (32, 256.0), (33, 256.0), (1000, 256.0)])
def test_credit_is_no_more_than_the_data_holds(size: int, credit: float) -> None:
    """No event is credited more than eight bits for each byte of data that it carries; hashed data carries 32."""
    accumulator, _ = make_accumulator(CELLS[0])
    accumulator.add(1, bytes(size), pool=0, min_entropy=8.0)
    assert credit == accumulator._pools[0].credited_bits


@pytest.mark.parametrize("bits", [-0.001, 8.001, float("nan"), float("inf"), -8.0])
def test_credit_out_of_range(bits: float) -> None:
    """A min-entropy outside 0..8 bits a byte, or no number, is refused and nothing was added."""
    accumulator, _ = make_accumulator(CELLS[0], first_seed_bits=256.0)
    with pytest.raises(ParameterError, match=r"min_entropy: got .* allowed is 0\.0\.\.8\.0 bits"):
        accumulator.add(1, bytes(32), min_entropy=bits)
    assert (0,) * 32 == accumulator.pool_lengths
    assert not accumulator.reseed_if_due(0)
