"""What is written: hex, raw and base64, their lengths, their ends and the seams between pieces."""

# ruff: noqa: SIM300 - asserts read expected == actual, a constant on the left included

from __future__ import annotations

import os
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.cli.formats import FORMATS
from fortuna.cli.main import PIECE
from fortuna.core import CONSTRUCTIONS
from fortuna.generators.registry import FACTORIES

from .cli_support import PIECE as MIB
from .cli_support import ScriptedFortuna, complaint, raiser, run_here, scripted

if TYPE_CHECKING:
    from pathlib import Path

#: Around nothing, around the three bytes of base64, around one piece, and past three.
SIZES: Final = (0, 1, 2, 3, 4, MIB - 2, MIB - 1, MIB, MIB + 1, MIB + 2, 3 * MIB + 1)
LONGEST: Final = scripted(max(SIZES))


def decode(form: str, out: bytes) -> bytes:
    """Return the bytes that *out* shows, after checking that a text is one line with a newline at its end."""
    if form == "raw":
        return out
    assert b"\n" == out[-1:]
    assert 1 == out.count(b"\n")
    return bytes.fromhex(out.decode("ascii")) if form == "hex" else b64decode(out[:-1], validate=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", FORMATS)
def test_stream_survives_the_format(script: list[ScriptedFortuna], form: str, size: int) -> None:
    """Every format shows the generator's bytes, all of them and no others, across the seams of the pieces."""
    status, out, err = run_here("-n", str(size), "-f", form)
    assert (0, "") == (status, err)
    assert LONGEST[:size] == decode(form, out)
    assert [True] == [fortuna.is_closed for fortuna in script]


@pytest.mark.parametrize("size", SIZES)
def test_lengths(script: list[ScriptedFortuna], size: int) -> None:
    """Hex takes two characters a byte, base64 four for three bytes begun, and each a newline."""
    assert 2 * size + 1 == len(run_here("-n", str(size)).out)
    assert 4 * ((size + 2) // 3) + 1 == len(run_here("-n", str(size), "-f", "base64").out)
    assert size == len(run_here("-n", str(size), "-f", "raw").out)


def test_hex_is_lower_case(script: list[ScriptedFortuna]) -> None:
    """Hex is written in lower case without separators."""
    assert re.fullmatch(rb"[0-9a-f]{512}\n", run_here("-n", "256").out)


@settings(deadline=None, max_examples=30)
@given(size=st.integers(0, 5000), form=st.sampled_from([*FORMATS]))
def test_small_pieces_have_no_seam(size: int, form: str) -> None:
    """Whatever the length of a piece, the output is the same."""
    from fortuna import _boot
    from fortuna.cli import main

    def build(*parts: object) -> ScriptedFortuna:
        return ScriptedFortuna()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_boot, "build", build)
        whole = run_here("-n", str(size), "-f", form)
        patch.setattr(main, "PIECE", 256)
        assert whole == run_here("-n", str(size), "-f", form)
    assert scripted(size) == decode(form, whole.out)


def test_requests_fit_one_generator_request(script: list[ScriptedFortuna]) -> None:
    """Pieces are as long as one request of the generator may be, the last as long as what is left."""
    assert 1 << 20 == PIECE
    run_here("-n", str(2 * MIB + 5), "-f", "raw")
    assert [MIB, MIB, 5] == script[0].requests


def test_inf_goes_on_until_the_target_is_full(script: list[ScriptedFortuna], monkeypatch: pytest.MonkeyPatch) -> None:
    """``inf`` is written piece by piece and ends when the output does."""
    taken: list[bytes] = []

    def write(descriptor: int, data: memoryview) -> int:
        if len(taken) == 3:
            raise OSError(28, "No space left on device")
        taken.append(bytes(data))
        return len(data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        outcome = run_here("-n", "inf", "-f", "raw")
    assert 1 == outcome.status
    assert f"standard output: No space left on device after {3 * MIB} bytes written" == complaint(outcome)
    assert LONGEST[: 3 * MIB] == b"".join(taken)


def test_default_is_32_bytes_of_hex() -> None:
    """Without options the command writes 32 bytes as one line of hex."""
    status, out, err = run_here()
    assert (0, 65, "") == (status, len(out), err)
    assert 32 == len(decode("hex", out))


def test_two_runs_differ() -> None:
    """Two runs of a real generator give different bytes, in every format."""
    for form in FORMATS:
        assert run_here("-f", form).out != run_here("-f", form).out


@pytest.mark.parametrize("cell", FACTORIES, ids="-".join)
def test_cipher_and_provider_are_booted(cell: tuple[str, str], booted: list[str]) -> None:
    """``--cipher`` and ``--provider`` boot the generator that they name, and it gives the bytes."""
    generator, provider = cell
    status, out, err = run_here("--cipher", generator, "--provider", provider, "-n", "100", "-f", "raw")
    assert (0, 100, "") == (status, len(out), err)
    assert 1 == len(booted)
    assert f"<Fortuna {generator}/{provider} fsk2010, seeded, 1 reseeds>" == booted[0]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_construction_is_booted(construction: str, booted: list[str]) -> None:
    """``--construction`` boots the edition that it names, and it gives the bytes."""
    status, out, err = run_here("--construction", construction, "-n", "100", "-f", "raw")
    assert (0, 100, "") == (status, len(out), err)
    assert f" {construction}, seeded" in booted[0]


def test_defaults_are_booted(booted: list[str]) -> None:
    """Without options and without a file the defaults are booted."""
    run_here()
    assert "<Fortuna aes256-icm/pycryptodome fsk2010, seeded, 1 reseeds>" == booted[0]


def test_raw_to_a_terminal_is_refused(script: list[ScriptedFortuna]) -> None:
    """Raw bytes are kept from a terminal, before anything is booted, and the message names three ways out."""
    outcome = run_here("-f", "raw", is_terminal=True)
    assert 2 == outcome.status
    message = complaint(outcome)
    for way_out in ("pipe", "-o FILE", "-f hex", "--force"):
        assert way_out in message
    assert [] == script


def test_raw_to_a_terminal_with_force(script: list[ScriptedFortuna]) -> None:
    """``--force`` writes raw bytes to a terminal."""
    assert (0, scripted(32), "") == run_here("-f", "raw", "--force", is_terminal=True)


@pytest.mark.parametrize("form", ["hex", "base64"])
def test_text_to_a_terminal(script: list[ScriptedFortuna], form: str) -> None:
    """Text goes to a terminal without more."""
    outcome = run_here("-f", form, is_terminal=True)
    assert (0, "") == (outcome.status, outcome.err)
    assert scripted(32) == decode(form, outcome.out)


def test_raw_to_a_file_from_a_terminal(script: list[ScriptedFortuna], tmp_path: Path) -> None:
    """With ``-o`` the terminal gets nothing, so raw is taken."""
    assert (0, b"", "") == run_here("-f", "raw", "-o", str(tmp_path / "new"), is_terminal=True)
    assert scripted(32) == (tmp_path / "new").read_bytes()


def test_failing_generator_writes_no_partial_piece(
    script: list[ScriptedFortuna], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the generator fails, nothing of the piece under way is written."""
    from fortuna.errors import SourceError

    monkeypatch.setattr(ScriptedFortuna, "readinto", raiser(SourceError(5, "source os: broken")))
    outcome = run_here("-f", "raw")
    assert 1 == outcome.status
    assert "source os: broken" in complaint(outcome)
    assert script[0].is_closed
