"""``--for`` and ``--show-command``: what a battery is fed with, what wins over it, and pipelines that a shell runs."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from array import array
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.batteries.units import TESTU01_SOURCE
from fortuna.cli.presets import PRESETS, find_preset

from .cli_support import ScriptedFortuna, clean_variables, complaint, launch, run_here, scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES: Final = tuple(dict.fromkeys(preset.name for preset in PRESETS))
#: Battery -> bytes that come out, for those that end.
SIZES: Final = {"sts": 12_500_000, "ent": 64 << 20, "rngtest": 2_500_004, "sp800-90b": 1_000_000}
ENDLESS: Final = ("dieharder", "practrand", "testu01")
SCRIPTED: Final = scripted(4096)


def test_every_battery_is_here() -> None:
    """Each battery either ends with a known number of bytes or has no end."""
    assert {*SIZES, *ENDLESS} == set(NAMES)


@pytest.mark.parametrize("name", ["rngtest", "sts"])
def test_raw_sizes(script: list[ScriptedFortuna], name: str) -> None:
    """The bytes are raw, and as many as a normal run reads."""
    outcome = run_here("--for", name)
    assert (0, "") == (outcome.status, outcome.err)
    assert SIZES[name] == len(outcome.out)
    assert outcome.out.startswith(SCRIPTED)


def test_symbols_for_90b(script: list[ScriptedFortuna]) -> None:
    """SP 800-90B gets 10^6 symbols, each a byte 0 or 1, from the bits of the stream."""
    outcome = run_here("--for", "sp800-90b")
    assert SIZES["sp800-90b"] == len(outcome.out)
    assert "".join(f"{byte:08b}" for byte in SCRIPTED[:64]) == "".join(map(str, outcome.out[:512]))
    assert {0, 1} == set(outcome.out)


def test_symbols_of_bytes_for_90b(script: list[ScriptedFortuna]) -> None:
    """With ``-f raw``, SP 800-90B gets 10^6 symbols of eight bits: the size follows the format."""
    outcome = run_here("--for", "sp800-90b", "-f", "raw")
    assert 1_000_000 == len(outcome.out)
    assert outcome.out.startswith(SCRIPTED)


def test_ent_gets_64_mib() -> None:
    """The size for ent is that of the table; a process writes it, so that nothing here holds it."""
    assert 64 << 20 == find_preset("ent").size


@pytest.mark.parametrize("name", ENDLESS)
def test_endless(name: str) -> None:
    """The stream for a battery that stops by itself goes on until the reader closes the pipe, longer than 32 bytes."""
    wanted = 3 << 20
    writer = subprocess.Popen(
        [sys.executable, "-m", "fortuna", "--for", name],
        env=clean_variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    with writer, writer.stdout, writer.stderr:
        assert wanted == len(writer.stdout.read(wanted))
        writer.stdout.close()
        assert b"" == writer.stderr.read()
    assert -13 == writer.returncode


@pytest.mark.parametrize("name", ENDLESS)
def test_words_are_for_this_machine(script: list[ScriptedFortuna], name: str) -> None:
    """A battery that reads words of the machine finds the stream's little-endian words in them."""
    out = run_here("--for", name, "-n", "64").out
    expected = [int.from_bytes(SCRIPTED[start : start + 4], "little") for start in range(0, 64, 4)]
    assert expected == list(array("I", out))


def test_explicit_options_win(script: list[ScriptedFortuna]) -> None:
    """``-n``, ``--count``, ``--word`` and ``--endian`` win over the preset, on either side of it."""
    assert SCRIPTED[:40] == run_here("--for", "rngtest", "-n", "40").out
    assert SCRIPTED[:40] == run_here("-n", "40", "--for", "rngtest").out
    assert SCRIPTED[:40] == run_here("--for", "dieharder", "--count", "10").out
    assert SCRIPTED[:32] == run_here("--for", "rngtest", "-n", "32").out
    swapped = b"".join(SCRIPTED[start : start + 8][::-1] for start in range(0, 64, 8))
    assert swapped == run_here("--for", "practrand", "--word", "64", "--endian", "big", "-n", "64").out


def test_explicit_format_wins(script: list[ScriptedFortuna]) -> None:
    """Another format that the battery reads takes its place, without the words of the raw one."""
    text = run_here("--for", "dieharder", "-f", "dieharder", "--count", "2").out
    values = [int.from_bytes(SCRIPTED[start : start + 4], "little") for start in (0, 4)]
    assert b"type: d\ncount: 2\nnumbit: 32\n%d\n%d\n" % tuple(values) == text
    assert (
        b"".join(b"%08d" % int(f"{byte:b}") for byte in SCRIPTED[:2]) + b"\n"
        == run_here("--for", "sts", "-f", "bits", "-n", "2").out
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--for", "diehard"), "allowed is dieharder, practrand, testu01, sts, ent, rngtest, sp800-90b"),
        (("--for", "ent", "-f", "hex"), "--for ent: got -f hex, which ent does not read; it reads -f raw"),
        (("--for", "dieharder", "-f", "u32"), "it reads -f raw and -f dieharder"),
        (("--for", "dieharder", "-f", "dieharder"), "says at its head how many values come"),
        (("--for", "dieharder", "-n", "6"), "no whole number of 4-byte values"),
        (("--for", "sts", "--endian", "big"), "say of which words"),
        (("--for", "sts", "-f", "bits", "--word", "32"), "they are for -f raw"),
        (("--show-command",), "--show-command: say of which battery, with --for NAME"),
        (("--for", "sts", "-n", "124999", "--show-command"), "a stream is 125,000 bytes"),
        (("--for", "sts", "-n", "inf", "--show-command"), "-n inf would fill it without end"),
        (("--for", "sts", "-o", "-", "--show-command"), "name it with -o FILE"),
        (("--for", "rngtest", "-n", "2503", "--show-command"), "one block needs 2,504"),
        (("--for", "ent", "-o", "file", "--show-command"), "-o file takes the bytes"),
        (("--for", "ent", "-n", "8", "--count", "2"), "not allowed with"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refusals(script: list[ScriptedFortuna], arguments: tuple[str, ...], expected: str) -> None:
    """What does not go together is exit code 2 and one line; nothing is booted."""
    outcome = run_here(*arguments)
    assert 2 == outcome.status
    assert expected in complaint(outcome)
    assert [] == script


def test_raw_stays_off_a_terminal(script: list[ScriptedFortuna]) -> None:
    """A preset does not garble a terminal; its pipeline may be shown on one."""
    assert 2 == run_here("--for", "ent", is_terminal=True).status
    assert 0 == run_here("--for", "ent", "--show-command", is_terminal=True).status
    assert [] == script


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--for", "dieharder"), "fortuna-dump --for dieharder | dieharder -a -g 200"),
        (
            ("--for", "dieharder", "-f", "dieharder", "-n", "4M"),
            "fortuna-dump --for dieharder -f dieharder -n 4M -o sample.bin && dieharder -a -g 202 -f sample.bin",
        ),
        (("--for", "practrand"), "fortuna-dump --for practrand | RNG_test stdin32"),
        (("--for", "practrand", "--word", "64"), "fortuna-dump --for practrand --word 64 | RNG_test stdin64"),
        (
            ("--for", "testu01"),
            f"cc -O2 -o testu01 {shlex.quote(str(TESTU01_SOURCE))} -ltestu01 -lprobdist -lmylib -lm && "
            "fortuna-dump --for testu01 | ./testu01 smallcrush",
        ),
        (
            ("--for", "sts"),
            r"fortuna-dump --for sts -o sample.bin && printf '0\n%s\n1\n0\n100\n1\n' sample.bin | ./assess 1000000",
        ),
        (
            ("--for", "sts", "-f", "bits", "-n", "250000", "-o", "a b"),
            r"fortuna-dump --for sts -f bits -n 250000 -o 'a b' && "
            r"printf '0\n%s\n1\n0\n2\n0\n' 'a b' | ./assess 1000000",
        ),
        (("--for", "ent"), "fortuna-dump --for ent | ent"),
        (("--for", "rngtest"), "fortuna-dump --for rngtest | rngtest -c 1000"),
        (("--for", "rngtest", "-n", "2503004"), "fortuna-dump --for rngtest -n 2503004 | rngtest -c 1001"),
        (("--for", "rngtest", "-n", "inf"), "fortuna-dump --for rngtest -n inf | rngtest"),
        (("--for", "sp800-90b"), "fortuna-dump --for sp800-90b -o sample.bin && ea_non_iid sample.bin 1"),
        (
            ("--for", "sp800-90b", "-f", "raw"),
            "fortuna-dump --for sp800-90b -f raw -o sample.bin && ea_non_iid sample.bin 8",
        ),
        (
            ("--config", "it's $HOME", "--for", "ent", "--cipher", "chacha20", "--provider=reference"),
            """fortuna-dump --config 'it'"'"'s $HOME' --for ent --cipher chacha20 --provider=reference | ent""",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_pipelines(script: list[ScriptedFortuna], arguments: tuple[str, ...], expected: str) -> None:
    """The pipeline has every other option, quoted, and the battery's own; nothing is booted."""
    outcome = run_here(*arguments, "--show-command")
    assert (0, f"{expected}\n") == (outcome.status, outcome.out.decode())
    assert outcome.err.startswith(f"fortuna-dump: {arguments[arguments.index('--for') + 1]}: a normal run reads ")
    assert [] == script


def run_shown(folder: Path, arguments: tuple[str, ...], doubles: dict[str, str]) -> str:
    """Run the pipeline that is shown for *arguments* in *folder*, with *doubles* for the battery's commands."""
    for name, body in doubles.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
    dump = folder / "fortuna-dump"
    dump.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fortuna "$@"\n', encoding="utf-8")
    dump.chmod(0o755)
    shown = launch(*arguments, "--show-command").out.decode()
    done = subprocess.run(
        ["/bin/sh", "-c", shown],
        cwd=folder,
        env=clean_variables(PATH=f"{folder}:{os.environ['PATH']}"),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()


def test_shown_pipe_runs(tmp_path: Path, write_config: Callable[..., str]) -> None:
    """A shell runs the pipeline as it is shown, awkward names included, and the battery gets its bytes."""
    config = write_config("", name="it's $(a) file.toml")
    seen = run_shown(tmp_path, ("--for", "rngtest", "--config", config), {"rngtest": 'echo "$@"; wc -c'})
    assert ["-c", "1000", "2500004"] == seen.split()


def test_shown_answers_reach_sts(tmp_path: Path) -> None:
    """The answers to the questions of STS arrive one a line, and name a file that is there."""
    arguments = ("--for", "sts", "-n", "250000", "-o", "of two words")
    seen = run_shown(tmp_path, arguments, {"assess": 'echo "$@"; cat'})
    assert ["1000000", "0", "of two words", "1", "0", "2", "1"] == seen.splitlines()
    assert 250_000 == (tmp_path / "of two words").stat().st_size


def test_help_and_table_name_the_same() -> None:
    """The help lists the batteries of the table, in its order."""
    shown = run_here("--help").out.decode().partition("batteries, for --for:\n")[2].partition("\n\n")[0]
    assert list(NAMES) == shown.strip().split(", ")


def test_plain_dump_imports_no_preset() -> None:
    """A dump without ``--for`` does not pay for the presets."""
    code = "import fortuna.cli.main, sys; fortuna.cli.main.build_parser(); print('fortuna.cli.presets' in sys.modules)"
    assert b"False\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
