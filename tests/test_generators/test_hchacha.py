"""HChaCha from a block of ChaCha: the published subkeys by every provider, kernel and number of rounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.generators.hchacha import hchacha
from fortuna.generators.providers import reference_chacha
from fortuna.generators.secret import Secret

from .keystream_support import CELLS, ROUNDS, Cell, keyed, little, load_vectors, stream

CHACHA = [cell for cell in CELLS if cell[0].startswith("chacha")]


@pytest.mark.parametrize("cell", CHACHA, ids="-".join)
def test_published_subkeys(cell: Cell) -> None:
    """The block that a kernel makes at the counter which the nonce spells gives the published subkey."""
    tests: list[dict[str, Any]] = [t for t in load_vectors("hchacha20")["tests"] if t["rounds"] == ROUNDS[cell[0]]]
    assert tests or "chacha20" != cell[0]
    for test in tests:
        nonce = bytes.fromhex(test["nonce16"])
        block = stream(keyed(*cell, key=bytes.fromhex(test["key"])), little(test["nonce16"]), 64)
        assert test["subkey"] == hchacha(block, nonce).hex()


@given(key=st.binary(min_size=32, max_size=32), nonce=st.binary(min_size=16, max_size=16))
@settings(deadline=None, max_examples=60)
def test_equals_the_definition(key: bytes, nonce: bytes) -> None:
    """A subkey from a block is that of the definition, for any key and nonce and all numbers of rounds."""
    for rounds in (20, 12, 8):
        block = reference_chacha.chacha_block(key, int.from_bytes(nonce, "little"), rounds)
        assert reference_chacha.hchacha(key, nonce, rounds) == hchacha(block, nonce)


@pytest.mark.parametrize("fill", [0, 1, 0x7F, 0x80, 0xFF])
def test_borrows_and_carries(fill: int) -> None:
    """Words that lie below, at and above what is taken off them are right modulo 2**32, each by itself."""
    block, nonce = bytes([fill]) * 64, bytes(range(240, 256))
    initial = b"expand 32-byte k" + nonce
    word = int.from_bytes(bytes([fill]) * 4, "little")
    expected = b"".join(
        ((word - int.from_bytes(initial[i : i + 4], "little")) % 2**32).to_bytes(4, "little") for i in range(0, 32, 4)
    )
    assert expected == bytes(hchacha(block, nonce))


def test_subkey_is_a_secret_and_scratch_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The subkey comes as a secret of 32 bytes, and nothing else that was made holds anything."""
    made: list[Secret] = []

    class RecordedSecret(Secret):
        __slots__ = ()

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr("fortuna.generators.hchacha.Secret", RecordedSecret)
    subkey = hchacha(bytes(range(64)), bytes(16))
    assert "<32 secret bytes>" == repr(subkey)
    assert 2 == len(made)
    assert [True, False] == sorted((any(secret) for secret in made), reverse=True)
    assert any(subkey)
