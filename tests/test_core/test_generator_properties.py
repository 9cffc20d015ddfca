"""Properties of the generator: the model's transcripts, refusals, claims, and every bit of the input."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.core import CONSTRUCTIONS, Generator
from fortuna.core.generator import ONE_CALL_MAX
from fortuna.errors import NotSeededError, ParameterError, RequestTooLargeError
from fortuna.generators.registry import resolve

from .core_support import (
    CELLS,
    COUNTER_END,
    KEY,
    REQUEST_MAX,
    Cell,
    ModelGenerator,
    cell_of,
    make_generator,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna.generators import KeystreamGenerator

NAMES = list(CONSTRUCTIONS)
#: A construction of each request rule.
RULES = ["fsk2010", "fast-key-erasure"]
GUARD = b"\x5a" * 32
EDGES = [((1 << power) + step) % COUNTER_END for power in (32, 64, 96, 128) for step in (-3, -2, -1, 0, 1)]
COUNTERS = st.one_of(st.integers(1, COUNTER_END - 1), st.sampled_from([edge for edge in EDGES if edge]))
#: A read of so many bytes, or a reseed from so many.
STEPS = st.lists(st.one_of(st.integers(0, 300), st.binary(max_size=80)), max_size=8)


@pytest.fixture(
    params=[(cell, rule) for cell in CELLS for rule in RULES], ids=lambda param: "-".join((*param[0], param[1]))
)
def seeded(request: pytest.FixtureRequest) -> Generator:
    """Give a generator of each cell under each request rule, seeded with a fixed text."""
    made = make_generator(*request.param)
    made.reseed(b"a fixed seed")
    return made


@pytest.mark.parametrize("construction", NAMES)
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
@given(key=st.binary(min_size=32, max_size=32), counter=COUNTERS, steps=STEPS)
@settings(deadline=None, max_examples=25)
def test_transcript_equals_the_model(
    cell: Cell, construction: str, key: bytes, counter: int, steps: list[int | bytes]
) -> None:
    """Any sequence of reads and reseeds gives the model's output, K and C after each step."""
    ours = make_generator(cell, construction, key=key, counter=counter)
    model = ModelGenerator(cell[0], construction, key, counter)
    assert not isinstance(model, Generator)
    for step in steps:
        if isinstance(step, bytes):
            ours.reseed(step)
            model.reseed(step)
        elif model.counter:
            assert model.read(step) == ours.random_bytes(step)
        assert model.state == state(ours)
        assert (model.counter != 0) == ours.is_seeded


@pytest.mark.parametrize("construction", NAMES)
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_from_zero(cell: Cell, construction: str) -> None:
    """From the zeroed state, the first seed and what follows are the model's."""
    ours, model = make_generator(cell, construction), ModelGenerator(cell[0], construction)
    for seed in (b"first", b"", b"third" * 50):
        ours.reseed(seed)
        model.reseed(seed)
        assert model.read(100) == ours.random_bytes(100)
        assert model.state == state(ours)


@pytest.mark.parametrize("construction", RULES)
@pytest.mark.parametrize("name", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize("n", [ONE_CALL_MAX - 1, ONE_CALL_MAX, ONE_CALL_MAX + 1, ONE_CALL_MAX + 17, 65536 + 5])
@pytest.mark.parametrize("start", [1, 2**32 - 5, 2**64 - 5, 2**128 - 5])
def test_long_reads_equal_the_model(name: str, n: int, start: int, construction: str) -> None:
    """Reads around the size where the way of working changes give the model's output, K and C, over an edge too."""
    ours = make_generator((name, "pycryptodome", "library"), construction, key=KEY, counter=start)
    model = ModelGenerator(name, construction, KEY, start)
    assert model.read(n) == ours.random_bytes(n)
    assert model.state == state(ours)


@pytest.mark.parametrize("construction", RULES)
@pytest.mark.parametrize("name", ["aes256-icm", "chacha20"])
@given(counter=COUNTERS, n=st.one_of(st.integers(1, 9000), st.integers(1, REQUEST_MAX), st.just(REQUEST_MAX)))
@settings(deadline=None, max_examples=40)
def test_claim_equals_readinto(name: str, construction: str, counter: int, n: int) -> None:
    """To claim, move on and fill later gives what reading at once gives, K and C included."""
    one = make_generator((name, "pycryptodome", "library"), construction, key=KEY, counter=counter)
    other = make_generator((name, "pycryptodome", "library"), construction, key=KEY, counter=counter)
    claim = one.claim(n)
    after_claim = state(one)
    direct, claimed = bytearray(n), bytearray(n)
    assert n == other.readinto(direct)
    assert state(other) == after_claim
    if one.is_seeded:
        one.random_bytes(64)  # the stretch is fixed: a later request does not disturb it
    claim.fill(claimed)
    assert direct == claimed


def test_the_two_ways_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short reads make no claim and long ones do, so comparing a claim with a read compares two ways."""
    claims: list[int] = []
    real = Generator.claim

    def counting(self: Generator, n: int) -> object:
        claims.append(n)
        return real(self, n)

    monkeypatch.setattr(Generator, "claim", counting)
    generator = make_generator(CELLS[0], counter=1)
    generator.random_bytes(ONE_CALL_MAX)
    assert [] == claims
    generator.random_bytes(ONE_CALL_MAX + 1)
    assert [ONE_CALL_MAX + 1] == claims


def test_overlapping_claims(seeded: Generator) -> None:
    """Claims that live at the same time, filled in another order, each give what their request would have given."""
    twin = make_generator(cell_of(seeded), seeded.construction.name)
    twin.reseed(b"a fixed seed")
    expected = [twin.random_bytes(n) for n in (70, 1, 130, 16, 64)]
    claims = [seeded.claim(n) for n in (70, 1, 130, 16, 64)]
    got: dict[int, bytearray] = {}
    for number in (3, 0, 4, 2, 1):
        got[number] = bytearray(len(expected[number]))
        claims[number].fill(got[number])
    assert expected == [bytes(got[i]) for i in range(5)]
    assert state(twin) == state(seeded)
    assert twin.random_bytes(40) == seeded.random_bytes(40)


def test_a_claim_is_filled_once(seeded: Generator) -> None:
    """A claim that was filled is refused a second time and leaves the buffer alone."""
    claim = seeded.claim(10)
    claim.fill(bytearray(10))
    again = bytearray(b"\x77" * 10)
    with pytest.raises(ParameterError):
        claim.fill(again)
    assert b"\x77" * 10 == bytes(again)


def refused_calls() -> list[tuple[str, Callable[[Generator], object], type[Exception]]]:
    """Return calls that are refused in every state, and the error each gives."""
    big = memoryview(bytearray(b"\x44" * 200))
    return [
        ("negative", lambda g: g.random_bytes(-1), ParameterError),
        ("float", lambda g: g.random_bytes(1.0), TypeError),
        ("text", lambda g: g.random_bytes("1"), TypeError),
        ("none", lambda g: g.random_bytes(None), TypeError),
        ("one more", lambda g: g.random_bytes(REQUEST_MAX + 1), RequestTooLargeError),
        ("enormous", lambda g: g.random_bytes(1 << 80), RequestTooLargeError),
        ("long buffer", lambda g: g.readinto(bytearray(REQUEST_MAX + 1)), RequestTooLargeError),
        ("long claim", lambda g: g.claim(REQUEST_MAX + 1), RequestTooLargeError),
        ("read-only", lambda g: g.readinto(bytes(10)), BufferError),
        ("read-only view", lambda g: g.readinto(big.toreadonly()), BufferError),
        ("not contiguous", lambda g: g.readinto(big[::2]), BufferError),
        ("no buffer", lambda g: g.readinto(10), TypeError),
        ("seed of text", lambda g: g.reseed("seed"), TypeError),
        ("no seed", lambda g: g.reseed(None), TypeError),
        ("seed not contiguous", lambda g: g.reseed(big[::2]), BufferError),
    ]


@pytest.mark.parametrize(("label", "call", "error"), refused_calls())
def test_refused_call_changes_nothing(
    seeded: Generator, label: str, call: Callable[[Generator], object], error: type[Exception]
) -> None:
    """A refused call leaves K, C and the next output as if it had not been made."""
    before = state(seeded)
    with pytest.raises(error):
        call(seeded)
    assert before == state(seeded)
    model = ModelGenerator(seeded._keystream.name, seeded.construction.name, bytes.fromhex(before.key), before.counter)
    assert model.read(50) == seeded.random_bytes(50)


def test_request_limit(seeded: Generator) -> None:
    """2**20 bytes are given and 2**20 + 1 are not; the message says both and what to do."""
    if seeded._keystream.provider == "pycryptodome":
        assert REQUEST_MAX == len(seeded.random_bytes(REQUEST_MAX))
        assert REQUEST_MAX - 1 == len(seeded.random_bytes(REQUEST_MAX - 1))
    with pytest.raises(RequestTooLargeError, match=r"1048577 bytes.*1048576 bytes; split") as caught:
        seeded.random_bytes(REQUEST_MAX + 1)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("construction", NAMES)
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_unseeded_gives_nothing(cell: Cell, construction: str) -> None:
    """With C = 0 no byte is given, whatever K is; buffer and state stay."""
    generator = make_generator(cell, construction, key=KEY)
    before = state(generator)
    for size in (1, 32, ONE_CALL_MAX + 1):
        out = bytearray(b"\x66" * size)
        with pytest.raises(NotSeededError, match="not seeded"):
            generator.readinto(out)
        assert b"\x66" * size == bytes(out)
        with pytest.raises(NotSeededError):
            generator.random_bytes(size)
        with pytest.raises(NotSeededError):
            generator.claim(size)
    assert before == state(generator)
    assert not generator.is_seeded


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64])
def test_initial_key_size(size: int) -> None:
    """An initial key that is not 32 bytes is refused with both sizes."""
    with pytest.raises(ParameterError, match=f"got {size} bytes, need exactly 32 bytes"):
        make_generator(CELLS[0], key=bytes(size))


@pytest.mark.parametrize("counter", [-1, COUNTER_END, 1 << 300])
def test_initial_counter_range(counter: int) -> None:
    """An initial counter outside 0..2**128 - 1 is refused without being told."""
    with pytest.raises(ParameterError, match=r"0\.\.2\*\*128 - 1") as caught:
        make_generator(CELLS[0], counter=counter)
    assert counter == -1 or str(counter) not in str(caught.value)


def test_nothing_asked_nothing_changed(seeded: Generator) -> None:
    """A request for no bytes gives none and changes neither K nor C."""
    before = state(seeded)
    assert b"" == seeded.random_bytes(0)
    assert 0 == seeded.readinto(bytearray())
    assert before == state(seeded)


def test_true_counts_as_one(seeded: Generator) -> None:
    """Whatever has ``__index__`` is a size; ``True`` is 1, as in the standard library."""
    assert 1 == len(seeded.random_bytes(True))


def test_readinto_wider_elements(seeded: Generator) -> None:
    """A buffer of wider elements is filled byte by byte and its size is told in bytes."""
    from array import array

    model = ModelGenerator(seeded._keystream.name, seeded.construction.name, bytes.fromhex(state(seeded).key), 1)
    wide = array("Q", bytes(80))
    assert 80 == seeded.readinto(wide)  # type: ignore[arg-type]
    assert model.read(80) == wide.tobytes()


@pytest.mark.parametrize("size", [*range(130), 1000, ONE_CALL_MAX - 1, ONE_CALL_MAX, ONE_CALL_MAX + 1, 5000])
def test_guard_bytes(size: int) -> None:
    """Nothing beside the buffer is written, whatever its size, and all of it is."""
    for name, construction in product(("aes256-icm", "chacha20"), RULES):
        cell = (name, "pycryptodome", "library")
        generator = make_generator(cell, construction, key=KEY, counter=7)
        room = bytearray(GUARD + bytes(size) + GUARD)
        assert size == generator.readinto(memoryview(room)[32 : 32 + size])
        expected = make_generator(cell, construction, key=KEY, counter=7).random_bytes(size)
        assert GUARD + expected + GUARD == bytes(room)


@pytest.mark.parametrize("construction", NAMES)
def test_every_seed_bit_matters(construction: str) -> None:
    """Flipping any bit of a 48-byte seed, or leaving off its last byte, gives another key."""
    seed = bytes(range(48))
    keys = set()
    for flip in (None, *range(8 * 48)):
        changed = seed if flip is None else (int.from_bytes(seed, "little") ^ 1 << flip).to_bytes(48, "little")
        generator = make_generator(CELLS[0], construction)
        generator.reseed(changed)
        keys.add(state(generator).key)
    generator = make_generator(CELLS[0], construction)
    generator.reseed(seed[:-1])
    keys.add(state(generator).key)
    assert 8 * 48 + 2 == len(keys)


@pytest.mark.parametrize("construction", NAMES)
def test_every_bit_of_the_old_key_matters(construction: str) -> None:
    """The old key goes into the new one bit for bit, but for FreeBSD's first reseed, which leaves it out."""
    for counter in (0, 1):
        keys = set()
        for bit in range(256):
            key = (1 << bit).to_bytes(32, "little")
            generator = make_generator(CELLS[0], construction, key=key, counter=counter)
            generator.reseed(b"seed")
            keys.add(state(generator).key)
        assert (1 if construction == "freebsd" and counter == 0 else 256) == len(keys)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_bit_of_key_and_counter_matters(cell: Cell) -> None:
    """Flipping any bit of K or C changes the output and the next key."""
    outputs, keys = set(), set()
    states = [(1 << bit, 1) for bit in range(256)] + [(0, 1 << bit) for bit in range(128)]
    for key, counter in states:
        generator = make_generator(cell, key=key.to_bytes(32, "little"), counter=counter)
        outputs.add(generator.random_bytes(16))
        keys.add(state(generator).key)
    assert len(states) == len(outputs)
    assert len(states) == len(keys)


def test_reads_do_not_repeat(seeded: Generator) -> None:
    """Two hundred reads give two hundred different outputs and keys."""
    outputs, keys = set(), set()
    for _ in range(200):
        outputs.add(seeded.random_bytes(16))
        keys.add(state(seeded).key)
    assert (200, 200) == (len(outputs), len(keys))


def test_cipher_has_the_key_of_the_state(seeded: Generator) -> None:
    """After every reseed and read the cipher runs under K: a fresh one with that key gives the same blocks."""
    for step in (b"seed", 1, 40, b"", ONE_CALL_MAX + 1, 2):
        if isinstance(step, bytes):
            seeded.reseed(step)
        else:
            seeded.random_bytes(step)
        fresh: KeystreamGenerator = resolve(*cell_of(seeded))()
        fresh.set_key(bytes.fromhex(state(seeded).key))
        one, other = bytearray(48), bytearray(48)
        fresh.keystream_into(9, one)
        seeded._keystream.keystream_into(9, other)
        assert one == other


def test_counter_wraps_to_unseeded() -> None:
    """A reseed at C = 2**128 - 1 leaves C = 0, which is unseeded and nothing else, as FreeBSD's code does."""
    generator = make_generator(CELLS[0], counter=COUNTER_END - 1)
    seeded = [generator.is_seeded]
    for _ in range(2):
        generator.reseed(b"")
        seeded.append(generator.is_seeded)
    assert [True, False, True] == seeded


@pytest.mark.parametrize("step", [-1, 1, 32])
def test_claim_gives_exactly_what_was_claimed(seeded: Generator, step: int) -> None:
    """A buffer of another size is refused, since behind the claim stands the next key; the claim stays good."""
    size = seeded._keystream.block_size
    twin = make_generator(cell_of(seeded), seeded.construction.name)
    twin.reseed(b"a fixed seed")
    claim = seeded.claim(size)
    assert size == claim.size
    out = bytearray(b"\x99" * (size + step))
    with pytest.raises(ParameterError, match=f"{size + step} bytes, the claim is for {size} bytes"):
        claim.fill(out)
    with pytest.raises(BufferError):
        claim.fill(memoryview(bytes(size)))
    assert b"\x99" * (size + step) == bytes(out)
    right = bytearray(size)
    claim.fill(right)
    assert twin.random_bytes(size) == bytes(right)
    assert state(twin) == state(seeded)


@pytest.mark.parametrize("n", [0, -1, -1000])
def test_claim_of_nothing_is_refused(seeded: Generator, n: int) -> None:
    """A claim is for 1 byte or more; less is refused and K and C stay."""
    before = state(seeded)
    with pytest.raises(ParameterError):
        seeded.claim(n)
    assert before == state(seeded)
