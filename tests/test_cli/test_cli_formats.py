"""What is written: every format, its lengths, its ends and the seams between pieces."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Final
from uuid import RFC_4122, UUID

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
#: The same in values of 16 bytes, which are whole values of every format that has any.
VALUE_SIZES: Final = (0, 16, 32, MIB - 16, MIB, MIB + 16)
LONGEST: Final = scripted(max(SIZES))
#: The formats without values of a fixed size: any number of bytes is one of theirs.
ANY_SIZE: Final = [name for name, form in FORMATS.items() if not form.value_size]
VALUED: Final = [name for name, form in FORMATS.items() if form.value_size]
INTEGERS: Final = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


def one_line(out: bytes) -> str:
    """Return the text of *out*, after checking that it is one line with a newline at its end."""
    assert b"\n" == out[-1:]
    assert 1 == out.count(b"\n")
    return out[:-1].decode("ascii")


def lines(out: bytes) -> list[str]:
    """Return the lines of *out*, after checking that each has an end."""
    assert out[-1:] in (b"", b"\n")
    return out.decode("ascii").splitlines()


def from_bits(digits: str) -> bytes:
    """Return the bytes whose bits are *digits*, the most significant first."""
    assert 0 == len(digits) % 8
    return bytes(int(digits[start : start + 8], 2) for start in range(0, len(digits), 8))


def from_integers(values: list[str], size: int) -> bytes:
    """Return little-endian integers as bytes."""
    return b"".join(int(value).to_bytes(size, "little") for value in values)


def from_hexdump(out: bytes) -> bytes:
    """Return the bytes of a hexdump, after checking its offsets and what it shows as ASCII."""
    *shown, end = lines(out) or [""]
    found = b""
    for line in shown:
        assert f"{len(found):08x}" == line[:8]
        columns, text = line[8:].split("|", 1)
        data = bytes.fromhex(columns)
        assert "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data) + "|" == text
        assert 60 == line.index("|")
        found += data
    assert (f"{len(found):08x}" if found else "") == end
    return found


def from_dieharder(out: bytes) -> bytes:
    """Return the bytes of dieharder's text, after checking its head."""
    kind, count, bits, *values = lines(out)
    assert ("type: d", f"count: {len(values)}", "numbit: 32") == (kind, count, bits)
    return from_integers(values, 4)


#: Format -> what turns its output into the bytes shown, by other means than the product's.
DECODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "hex": lambda out: bytes.fromhex(one_line(out)),
    "raw": lambda out: out,
    "base64": lambda out: b64decode(one_line(out), validate=True),
    "bits": lambda out: from_bits(one_line(out)),
    "symbols": lambda out: from_bits("".join(str(symbol) for symbol in out)),
    "hexdump": from_hexdump,
    "dieharder": from_dieharder,
    "u8": lambda out: from_integers(lines(out), 1),
    "u16": lambda out: from_integers(lines(out), 2),
    "u32": lambda out: from_integers(lines(out), 4),
    "u64": lambda out: from_integers(lines(out), 8),
    # These two show a part of the bits; the rest is taken from the script.
    "f64": lambda out: b"".join(
        (int(float(line) * 2**53) << 11 | int.from_bytes(LONGEST[8 * i : 8 * i + 8], "little") % 2**11).to_bytes(
            8, "little"
        )
        for i, line in enumerate(lines(out))
    ),
    "uuid": lambda out: b"".join(from_uuid(line, LONGEST[16 * i : 16 * i + 16]) for i, line in enumerate(lines(out))),
}


def from_uuid(line: str, drawn: bytes) -> bytes:
    """Return the bytes of one UUID, with the bits that its version and variant have replaced, after checking those."""
    found = UUID(line)
    assert line == str(found)
    assert (4, RFC_4122) == (found.version, found.variant)
    shown = bytearray(found.bytes)
    shown[6] = drawn[6] & 0xF0 | shown[6] & 0x0F
    shown[8] = drawn[8] & 0xC0 | shown[8] & 0x3F
    return bytes(shown)


def decode(form: str, out: bytes) -> bytes:
    """Return the bytes that *out* shows."""
    return DECODERS[form](out)


def test_every_format_has_a_decoder() -> None:
    """No format goes without the tests of this file."""
    assert FORMATS.keys() == DECODERS.keys()


@pytest.mark.parametrize(
    ("form", "size"),
    [(form, size) for form in ANY_SIZE for size in SIZES] + [(form, size) for form in VALUED for size in VALUE_SIZES],
)
def test_stream_survives_the_format(script: list[ScriptedFortuna], form: str, size: int) -> None:
    """Every format shows the generator's bytes, all of them and no others, across the seams of the pieces."""
    status, out, err = run_here("-n", str(size), "-f", form, "--force")
    assert (0, "") == (status, err)
    assert LONGEST[:size] == decode(form, out)
    assert [True] == [fortuna.is_closed for fortuna in script]


@pytest.mark.parametrize("form", [*INTEGERS, "f64", "uuid", "dieharder"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_values_are_counted(script: list[ScriptedFortuna], form: str, count: int) -> None:
    """``--count`` asks for values; ``-n`` for the same bytes gives the same, and one byte more or less is refused."""
    value_size = FORMATS[form].value_size
    status, out, err = run_here("--count", str(count), "-f", form)
    assert (0, "") == (status, err)
    assert LONGEST[: count * value_size] == decode(form, out)
    assert out == run_here("-n", str(count * value_size), "-f", form).out
    if value_size > 1:
        for size in {count * value_size + 1, abs(count * value_size - 1)}:
            outcome = run_here("-n", str(size), "-f", form)
            assert (2, b"") == (outcome.status, outcome.out)
            assert f"-n: got {size} bytes, which are no whole number of {value_size}-byte values" in complaint(outcome)


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (
            ("--count", "3"),
            "--count: -f hex shows no values; it is for u8, u16, u32, u64, f64, uuid, dieharder, and raw",
        ),
        (("--count", "3", "-f", "raw"), "--count: -f raw shows no values"),
        (("--count", "-1", "-f", "u8"), "argument --count: got '-1'; allowed is a whole number, 0 or more"),
        (("--count", "1k", "-f", "u8"), "argument --count: got '1k'"),
        (("--count", "3", "-n", "3", "-f", "u8"), "not allowed with argument"),
        (("-n", "inf", "-f", "dieharder"), "-n inf: dieharder's text says at its head how many values come"),
        (("--word", "32"), "--word and --endian: got them with -f hex; they are for -f raw"),
        (("--endian", "big", "-f", "u32"), "--word and --endian: got them with -f u32"),
        (("--endian", "big", "-f", "raw"), "--endian big: say of which words, with --word 16, 32 or 64"),
        (("--word", "24", "-f", "raw"), "argument --word: invalid choice"),
        (("--word", "32", "-f", "raw", "-n", "6"), "no whole number of 4-byte values; allowed is a multiple of 4"),
        (("--newline", "-f", "raw"), "--newline and --no-newline: got one with -f raw; they are for text"),
        (("--no-newline", "-f", "symbols"), "got one with -f symbols"),
    ],
)
def test_options_that_do_not_go_together(script: list[ScriptedFortuna], arguments: tuple[str, ...], about: str) -> None:
    """They are a usage error before anything is booted."""
    outcome = run_here(*arguments)
    assert (2, b"") == (outcome.status, outcome.out)
    assert about in complaint(outcome)
    assert [] == script


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("size", [0, 8, MIB + 8])
def test_words(script: list[ScriptedFortuna], bits: int, size: int) -> None:
    """Little-endian words are the stream as it is; big-endian ones are the same words turned over."""
    arguments = ("-f", "raw", "--word", str(bits), "-n", str(size))
    assert LONGEST[:size] == run_here(*arguments).out
    assert LONGEST[:size] == run_here(*arguments, "--endian", "little").out
    turned = run_here(*arguments, "--endian", "big").out
    word = bits // 8
    assert b"".join(LONGEST[start : start + word][::-1] for start in range(0, size, word)) == turned
    assert turned == run_here("-f", "raw", "--word", str(bits), "--count", str(size // word), "--endian", "big").out


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.is_text])
@pytest.mark.parametrize("size", [0, 16, 32])
def test_newline_at_the_end_is_a_choice(script: list[ScriptedFortuna], form: str, size: int) -> None:
    """A text ends with a newline, and with ``--no-newline`` it is the same text without."""
    out = run_here("-f", form, "-n", str(size)).out
    assert out == run_here("-f", form, "-n", str(size), "--newline").out
    bare = run_here("-f", form, "-n", str(size), "--no-newline").out
    # Nothing but the head of dieharder's text ends its lines by itself.
    assert bare + (b"" if bare == out else b"\n") == out
    assert bare != out or not size


def test_doubles_are_what_they_say(script: list[ScriptedFortuna]) -> None:
    """A double is the upper 53 bits of 8 bytes, in [0, 1), and 17 digits say exactly which one."""
    shown = lines(run_here("--count", "1000", "-f", "f64").out)
    expected = [(int.from_bytes(LONGEST[8 * i : 8 * i + 8], "little") >> 11) / 2**53 for i in range(1000)]
    assert expected == [float(line) for line in shown]
    assert 0 <= min(expected) < 0.01
    assert 0.99 < max(expected) < 1
    assert 17 == max(len(line.split("e")[0].replace("0.", "").lstrip("0").replace(".", "")) for line in shown)


def test_a_double_s_ends() -> None:
    """All bits 0 are 0, all bits 1 the largest double below 1."""
    encode = FORMATS["f64"].encode
    assert b"0" == bytes(encode(memoryview(bytes(8)), 0))
    assert 1 - 2.0**-53 == float(bytes(encode(memoryview(b"\xff" * 8), 0)))


def test_lengths(script: list[ScriptedFortuna]) -> None:
    """Hex takes two characters a byte, base64 four for three bytes begun, bits eight, and each a newline."""
    for size in SIZES:
        assert 2 * size + 1 == len(run_here("-n", str(size)).out)
        assert 4 * ((size + 2) // 3) + 1 == len(run_here("-n", str(size), "-f", "base64").out)
        assert size == len(run_here("-n", str(size), "-f", "raw").out)
    assert 8 * 33 + 1 == len(run_here("-n", "33", "-f", "bits").out)
    assert 8 * 33 == len(run_here("-n", "33", "-f", "symbols").out)


def test_hex_is_lower_case(script: list[ScriptedFortuna]) -> None:
    """Hex is written in lower case without separators."""
    assert re.fullmatch(rb"[0-9a-f]{512}\n", run_here("-n", "256").out)


@settings(deadline=None, max_examples=60)
@given(values=st.integers(0, 300), rest=st.integers(0, 15), form=st.sampled_from([*FORMATS]))
def test_small_pieces_have_no_seam(values: int, rest: int, form: str) -> None:
    """Whatever the length of a piece, the output is the same."""
    from fortuna import _boot
    from fortuna.cli import main

    def build(*parts: object) -> ScriptedFortuna:
        return ScriptedFortuna()

    size = 16 * values + (0 if FORMATS[form].value_size else rest)
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
