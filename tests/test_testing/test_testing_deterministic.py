"""The deterministic generator: the same bytes everywhere, from the definition, and never taken for a live one."""

from __future__ import annotations

import copy
import os
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
from Crypto.Cipher import AES

import fortuna
from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.errors import ParameterError
from fortuna.generators import available
from fortuna.generators.registry import GENERATORS
from fortuna.testing import DeterministicFortuna, ManualClock, Transcript

HERE: Final = Path(__file__).parent / "transcripts"
#: Set to 1, the golden transcripts are written anew. They are frozen: see docs/compatibility.md before.
UPDATE: Final = os.environ.get("FORTUNA_UPDATE_GOLDEN") == "1"
CELLS: Final = [(row.generator, row.provider, row.kernel) for row in available() if row.is_available]


def play(live: DeterministicFortuna) -> list[bytes]:
    """Do a bit of everything with a generator, and return what it gave."""
    given = [live.random_bytes(1), live.random_bytes(32)]
    for step in range(70):
        live.add_event(step % 3, b"event number %d" % step, pool=0 if step % 2 else None)
        if step % 7 == 0:
            live.advance(0.05 + step / 1000)
            given.append(live.random_bytes(step))
    live.add_event(200, bytes(100), pool=0)
    live.reseed(b"fresh bytes of the system")
    live.advance(3600)
    given += [live.random_bytes(0), live.random_bytes(5000), live.random_bytes((1 << 20) + 1)]
    return given


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_testing_golden_transcript(cipher: str, construction: str) -> None:
    """Recorded once, the same steps give the same bytes in every release, on every machine."""
    path = HERE / f"{cipher}-{construction}.jsonl"
    if UPDATE:
        live = DeterministicFortuna(b"golden", cipher=cipher, construction=construction)
        transcript = Transcript.record(live)
        play(live)
        transcript.save(path)
    replayed = Transcript.load(path).replay()
    assert replayed.reseeds > 5
    again = DeterministicFortuna(b"golden", cipher=cipher, construction=construction)
    play(again)
    assert again.random_bytes(16) == replayed.random_bytes(16)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize(("cipher", "provider", "kernel"), CELLS, ids="-".join)
def test_testing_every_provider_gives_the_same(cipher: str, provider: str, kernel: str, construction: str) -> None:
    """Provider and kernel make no difference to the bytes of any construction, and another construction does."""

    def short(construction: str, provider: str, kernel: str) -> list[bytes]:
        live = DeterministicFortuna(b"seed", cipher=cipher, provider=provider, kernel=kernel, construction=construction)
        assert f"{provider}/{kernel}" in repr(live)
        live.add_event(1, bytes(100), pool=0)
        live.add_event(1, bytes(100), pool=0)
        live.advance(1)
        return [live.random_bytes(100), live.random_bytes(1000)]

    expected = short(construction, "reference", "python")
    assert expected == short(construction, provider, kernel)
    for other in CONSTRUCTIONS.keys() - {construction}:
        assert expected != short(other, provider, kernel)


def test_testing_equals_the_book_from_its_definition() -> None:
    """The bytes of a seed, one event and one reseed, computed by hashlib and AES alone (9.4 and 9.5 of the book)."""

    def hash_d(message: bytes) -> bytes:
        return sha256(sha256(bytes(64) + message).digest()).digest()

    def blocks(key: bytes, counter: int, count: int) -> bytes:
        cipher = AES.new(key, AES.MODE_ECB)
        return b"".join(cipher.encrypt((counter + i).to_bytes(16, "little")) for i in range(count))

    # Reseed 1: K = 32 zero bytes, C = 0; the seed and the digest of the empty P_0.
    key = hash_d(bytes(32) + b"seed" + hash_d(b""))
    expected = [blocks(key, 1, 2)[:20]]
    key = blocks(key, 3, 2)
    # Reseed 2 uses P_0 and P_1. The source's events go to P_0, P_1 and so on; two of 34 bytes make P_0 long enough.
    event = bytes((9, 32)) + b"e" * 32
    key = hash_d(key + hash_d(event + event) + hash_d(event))
    expected.append(blocks(key, 6, 1)[:16])

    live = DeterministicFortuna(b"seed", provider="reference")
    got = [live.random_bytes(20)]
    live.add_event(9, b"e" * 32)
    live.add_event(9, b"e" * 32)
    live.add_event(9, b"e" * 32, pool=0)
    live.advance(0.2)
    got.append(live.random_bytes(16))
    assert expected == got
    assert 2 == live.reseeds


def test_testing_pace_is_the_clock_s() -> None:
    """A full P_0 reseeds when strictly more than the interval has passed, and not before."""
    clock = ManualClock(10)
    live = DeterministicFortuna(b"seed", clock=clock, min_pool_size=64, interval_ns=1000)
    for _ in range(2):
        live.add_event(1, bytes(32), pool=0)
    clock.advance_ns(1000)
    live.random_bytes(1)
    assert 1 == live.reseeds
    clock.advance_ns(1)
    live.random_bytes(1)
    assert 2 == live.reseeds


def test_testing_readinto_and_children() -> None:
    """A buffer is filled with what random_bytes gives; a child follows from its parent."""
    one, other = DeterministicFortuna(b"seed"), DeterministicFortuna(b"seed")
    buffer = bytearray(5000)
    assert 5000 == one.readinto(buffer)
    assert other.random_bytes(5000) == buffer
    assert one.child().random_bytes(32) == other.child().random_bytes(32) != one.random_bytes(32)
    with pytest.raises(BufferError):
        one.readinto(bytes(5))  # type: ignore[arg-type]


def test_testing_refusals_change_nothing() -> None:
    """What is refused leaves the bytes that follow as they were."""
    live, control = DeterministicFortuna(b"seed"), DeterministicFortuna(b"seed")
    for call in (
        lambda: live.random_bytes(-1),
        lambda: live.add_event(256, b"x"),
        lambda: live.add_event(1, b""),
        lambda: live.add_event(1, b"x", pool=32),
        lambda: live.advance(-1),
    ):
        with pytest.raises(ParameterError):
            call()
    with pytest.raises(MemoryError, match=r"n: got \d+ bytes, more than memory can hold"):
        live.random_bytes(2**63)
    assert control.random_bytes(32) == live.random_bytes(32)
    with pytest.raises(ParameterError, match="min_pool_size: got -1 bytes; allowed is 0 or more"):
        DeterministicFortuna(b"seed", min_pool_size=-1)
    with pytest.raises(ParameterError, match="interval_ns: got -1 ns; allowed is 0 or more"):
        DeterministicFortuna(b"seed", interval_ns=-1)
    with pytest.raises(ParameterError, match="seed: got 0 bytes"):
        DeterministicFortuna(b"")
    with pytest.raises(ParameterError, match="there is aes256-icm"):
        DeterministicFortuna(b"seed", cipher="rot13")
    with pytest.raises(ParameterError, match="there is fsk2010"):
        DeterministicFortuna(b"seed", construction="rot13")


def test_testing_is_no_live_generator() -> None:
    """It is not a Fortuna, says so loudly, cannot be copied, and nothing of `fortuna` takes one."""
    live: Any = DeterministicFortuna(b"seed")
    assert not isinstance(live, fortuna.Fortuna)
    assert "DETERMINISTIC, NOT RANDOM" in repr(live)
    assert b"seed".hex() not in repr(live)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle"):
            copied(live)
    for call in (
        lambda: fortuna.boot(live),
        lambda: fortuna.boot(overrides={"entropy.sources": [live]}),
        lambda: fortuna.boot(overrides={"generator.cipher": live}),
        lambda: fortuna.random_bytes(live),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    with pytest.raises(TypeError, match="parts: got a DeterministicFortuna; fortuna.boot and fortuna.default make"):
        fortuna.Fortuna(live)


def test_testing_golden_transcripts_are_complete() -> None:
    """A transcript for each construction and both base ciphers, and none for what does not exist."""
    assert {"aes256-icm", "chacha20"} <= set(GENERATORS)
    assert {f"{cipher}-{construction}" for cipher in ("aes256-icm", "chacha20") for construction in CONSTRUCTIONS} == {
        path.stem for path in HERE.glob("*.jsonl")
    }
