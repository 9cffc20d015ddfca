"""What is written: hex, raw and base64, their lengths, their ends and the seams between pieces."""

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

from .cli_support import (
    LIBRARIES,
    LIBRARY,
    ScriptedFortuna,
    cells,
    complaint,
    expected_kernel,
    native_kernels,
    needs_native,
    raiser,
    run_here,
    scripted,
)
from .cli_support import PIECE as MIB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .cli_support import Cell

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
    """``--cipher`` and ``--provider`` boot the generator that they name, by its best kernel, and it gives the bytes."""
    generator, provider = cell
    _, kernel = expected_kernel(generator, provider)
    status, out, err = run_here("--cipher", generator, "--provider", provider, "-n", "100", "-f", "raw")
    assert (0, 100, "") == (status, len(out), err)
    assert 1 == len(booted)
    assert f"<Fortuna {generator}/{provider}/{kernel} fsk2010, seeded, 1 reseeds>" == booted[0]


@pytest.mark.parametrize("cell", cells(), ids="-".join)
def test_kernel_is_booted(cell: Cell, booted: list[str], write_config: Callable[..., str]) -> None:
    """``--kernel``, and its tunable, force the kernel, and it gives the bytes."""
    generator, provider, kernel = cell
    arguments = ("--cipher", generator, "--provider", provider, "--kernel", kernel, "-n", "100", "-f", "raw")
    status, out, err = run_here(*arguments)
    assert (0, 100, "") == (status, len(out), err)
    path = write_config(f'[generator]\ncipher = "{generator}"\nprovider = "{provider}"\nkernel = "{kernel}"\n')
    assert 0 == run_here("--config", path).status
    assert [f"<Fortuna {generator}/{provider}/{kernel} fsk2010, seeded, 1 reseeds>"] * 2 == booted


@pytest.mark.parametrize("cell", [c for c in cells() if c[1] != "reference"], ids="-".join)
def test_kernel_finds_its_provider(cell: Cell, booted: list[str]) -> None:
    """With the provider left to ``auto``, the first that has the kernel is taken."""
    generator, _, kernel = cell
    provider = LIBRARY if kernel == "library" else "native"
    assert 0 == run_here("--cipher", generator, "--kernel", kernel).status
    assert [f"<Fortuna {generator}/{provider}/{kernel} fsk2010, seeded, 1 reseeds>"] == booted


@pytest.mark.parametrize("generator", ["aes256-icm", "chacha20"])
def test_option_beats_the_kernel_of_the_file(
    generator: str, booted: list[str], write_config: Callable[..., str]
) -> None:
    """``--kernel auto`` takes back what the file forces."""
    path = write_config(f'[generator]\ncipher = "{generator}"\nkernel = "python"\n')
    assert 78 == run_here("--config", path).status
    assert 0 == run_here("--config", path, "--kernel", "auto").status
    assert f"<Fortuna {generator}/{'/'.join(expected_kernel(generator))} " in booted[0]


def refuse_kernel(*arguments: str) -> str:
    """Return what the command says to a kernel that cannot run; nothing is booted in its place."""
    outcome = run_here(*arguments)
    assert 78 == outcome.status
    return complaint(outcome)


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (
            ("--provider", "pycryptodome", "--kernel", "avx2"),
            "kernel 'avx2' of provider 'pycryptodome' for 'aes256-icm': it has no such kernel; there is library",
        ),
        (
            ("--provider", "reference", "--cipher", "xchacha8", "--kernel", "portable"),
            "kernel 'portable' of provider 'reference' for 'xchacha8': it has no such kernel; there is python",
        ),
        (
            ("--kernel", "python"),
            "kernel 'python' of provider 'pycryptodome' for 'aes256-icm': it has no such kernel; there is library",
        ),
        (
            ("--cipher", "chacha12", "--kernel", "library"),
            "openssl: provider 'openssl' has no generator 'chacha12'; it runs on: native, reference; "
            "pycryptodome: provider 'pycryptodome' has no generator 'chacha12'; it runs on: native, reference",
        ),
    ],
    ids=["library", "oracle", "oracle by auto", "no such cipher"],
)
def test_kernel_of_another_provider(arguments: tuple[str, ...], about: str, booted: list[str]) -> None:
    """A kernel that the provider does not have is a configuration error that says what there is."""
    assert about in refuse_kernel(*arguments)
    assert [] == booted


@needs_native
@pytest.mark.parametrize(
    ("generator", "kernel"), [("aes256-icm", "avx2"), ("chacha20", "aesni"), ("chacha20", "armv8")]
)
def test_kernel_of_another_generator(generator: str, kernel: str, booted: list[str]) -> None:
    """A kernel of another cipher is a configuration error that says what there is for this one."""
    message = refuse_kernel("--cipher", generator, "--provider", "native", "--kernel", kernel)
    runs = ", ".join(name for name, why in native_kernels(generator).items() if not why) or "none here"
    assert (
        message == f"kernel {kernel!r} of provider 'native' for {generator!r}: it has no such kernel; there is {runs}"
    )
    assert [] == booted


@needs_native
@pytest.mark.parametrize("generator", ["aes256-icm", "chacha20"])
def test_kernel_that_this_machine_lacks(generator: str, booted: list[str]) -> None:
    """A kernel for another processor is a configuration error with the reason; no other kernel steps in."""
    absent = {name: why for name, why in native_kernels(generator).items() if why}
    # No processor is both of x86 and of ARM.
    assert {"neon", "avx2", "armv8", "aesni"} & set(absent)
    for kernel, why in absent.items():
        message = refuse_kernel("--cipher", generator, "--provider", "native", "--kernel", kernel)
        assert message.startswith(f"kernel {kernel!r} of provider 'native' for {generator!r}: {why}; there is ")
        assert f"native: kernel {kernel!r}" in refuse_kernel("--cipher", generator, "--kernel", kernel)
    assert [] == booted


def test_kernel_without_the_extension(no_extension: None, booted: list[str]) -> None:
    """Without the C extension its kernels are a configuration error that says so and how to mend it."""
    message = refuse_kernel("--cipher", "chacha20", "--kernel", "portable")
    assert message.startswith(
        "no provider runs 'chacha20' here (native: provider 'native' cannot be imported: the C extension is not in "
        "this installation; reinstall with a C compiler, FORTUNA_NATIVE=require shows what fails; openssl: "
    )
    for provider in (provider for provider, why in LIBRARIES.items() if not why):
        what = f"{provider}: kernel 'portable' of provider {provider!r} for 'chacha20': it has no such kernel"
        assert what in message
    assert 78 == run_here("--provider", "native").status
    assert [] == booted
    assert 0 == run_here("--cipher", "chacha20", "--kernel", "library").status
    assert [f"<Fortuna chacha20/{LIBRARY}/library fsk2010, seeded, 1 reseeds>"] == booted


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_construction_is_booted(construction: str, booted: list[str]) -> None:
    """``--construction`` boots the edition that it names, and it gives the bytes."""
    status, out, err = run_here("--construction", construction, "-n", "100", "-f", "raw")
    assert (0, 100, "") == (status, len(out), err)
    assert f" {construction}, seeded" in booted[0]


def test_defaults_are_booted(booted: list[str]) -> None:
    """Without options and without a file the defaults are booted."""
    run_here()
    assert f"<Fortuna aes256-icm/{'/'.join(expected_kernel('aes256-icm'))} fsk2010, seeded, 1 reseeds>" == booted[0]


def test_defaults_without_the_extension(no_extension: None, booted: list[str]) -> None:
    """Without the C extension the default cipher is booted all the same, by the library."""
    assert (0, 65, "") == ((outcome := run_here()).status, len(outcome.out), outcome.err)
    assert [f"<Fortuna aes256-icm/{LIBRARY}/library fsk2010, seeded, 1 reseeds>"] == booted


@pytest.mark.parametrize("generator", ["chacha12", "chacha8", "xchacha12", "xchacha8"])
def test_generators_of_the_extension_alone(generator: str, no_extension: None, booted: list[str]) -> None:
    """What the libraries do not have is refused without the extension; the oracle serves where it is named."""
    message = refuse_kernel("--cipher", generator)
    assert "the C extension is not in this installation" in message
    for provider in LIBRARIES:
        assert f"{provider}: provider {provider!r} has no generator {generator!r}" in message
    assert "provider 'reference'" in message
    assert [] == booted
    assert 0 == run_here("--cipher", generator, "--provider", "reference").status
    assert [f"<Fortuna {generator}/reference/python fsk2010, seeded, 1 reseeds>"] == booted


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
