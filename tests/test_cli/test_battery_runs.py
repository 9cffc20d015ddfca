"""``fortuna-dump battery``: whole runs, against doubles of the batteries and against those that are installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from fortuna.batteries.adapter import Settings
from fortuna.batteries.controls import CONTROLS
from fortuna.batteries.dieharder import ALL, DETECTED, USUAL, chosen
from fortuna.batteries.registry import BATTERIES, battery_class, make
from fortuna.batteries.units import TESTU01_SOURCE
from fortuna.cli import battery
from fortuna.cli.environment import Environment
from fortuna.cli.progress import Progress
from fortuna.testing import ManualClock

from .battery_doubles import DISHONEST, build_testu01, write_honest, write_program
from .cli_support import Outcome, ScriptedFortuna, complaint, launch, run_here

if TYPE_CHECKING:
    from collections.abc import Callable

#: Battery -> its program, for those that are one.
PROGRAMS: Final = {
    "dieharder": "dieharder",
    "rngtest": "rngtest",
    "ent": "ent",
    "practrand": "RNG_test",
    "sts": "assess",
}
#: The good and the bad answer of each.
ANSWERS: Final = {"practrand": "practrand", "dieharder": "dieharder", "ent": "ent"}
PASSED, FAILED, MISSING, INVALID = 0, 65, 69, 70


def run_on(folder: Path, *arguments: str, **variables: str) -> Outcome:
    """Run the subcommand with *folder* as the only place where programs are."""
    return run_here("battery", *arguments, variables={"PATH": str(folder), **variables})


def parsed(outcome: Outcome) -> dict[str, Any]:
    """Return the JSON report of a run."""
    report: dict[str, Any] = json.loads(outcome.out)
    return report


@pytest.mark.parametrize("name", PROGRAMS)
def test_good_stream_passes(tmp_path: Path, name: str, booted: list[str]) -> None:
    """A battery that rejects every control and nothing of our stream passes it, with exit code 0."""
    write_honest(tmp_path / "bin", PROGRAMS[name])
    outcome = run_on(tmp_path / "bin", name, "--json", "--cipher", "chacha20")
    report = parsed(outcome)
    assert (PASSED, "passed") == (outcome.status, report["verdict"])
    assert set(make(name, Settings(None, None, None, {})).detects) == set(report["controls"])
    assert all(control["is_rejected"] for control in report["controls"].values())
    assert "chacha20" == report["stream"]["generator"]
    assert 1 == len(booted)
    assert report["bytes"] > 0
    assert 1e-4 == report["budget"]
    assert len(report["p_values"]) == report["count"] > 0
    assert not any(value["is_rejected"] for value in report["p_values"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_bad_stream_fails(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that is rejected as the controls are has exit code 65."""
    write_honest(tmp_path / "bin", PROGRAMS[name])
    monkeypatch.setattr(battery, "pieces", lambda *arguments, **options: CONTROLS["biased"].pieces())
    outcome = run_on(tmp_path / "bin", name, "--json")
    report = parsed(outcome)
    assert (FAILED, "failed") == (outcome.status, report["verdict"])
    assert any(value["is_rejected"] for value in report["p_values"])


@pytest.mark.parametrize("fault", DISHONEST)
@pytest.mark.parametrize("name", ANSWERS)
def test_battery_that_does_not_look_is_invalid(tmp_path: Path, name: str, fault: str, booted: list[str]) -> None:
    """A control that passes, or has no result, ends the run as invalid, with exit code 70, whatever follows."""
    body = DISHONEST[fault].format(good=f"show('{ANSWERS[name]}-good.txt')")
    write_program(tmp_path / "bin", PROGRAMS[name], body)
    outcome = run_on(tmp_path / "bin", name, "--json")
    report = parsed(outcome)
    assert (INVALID, "invalid") == (outcome.status, report["verdict"])
    (control,) = report["controls"].values()
    assert not control["is_rejected"]
    assert f"did not reject the control {next(iter(report['controls']))}" in report["reason"]
    assert "p_values" not in report
    assert 0 == report["bytes"]


def test_battery_that_rejects_everything_alike_is_invalid(tmp_path: Path) -> None:
    """A battery that gives one p-value to everything has rejected the controls, and yet has said nothing."""
    body = "print('p-value')\nfor test in 'ab': print(f'{test}|0|100|100|0.00000000|FAILED')"
    write_program(tmp_path / "bin", "dieharder", body)
    report = parsed(run_on(tmp_path / "bin", "dieharder", "--json"))
    assert all(control["is_rejected"] for control in report["controls"].values())
    assert "invalid" == report["verdict"]
    assert "all 12 p-values are equal" in report["reason"]


def test_stream_without_result_is_invalid(tmp_path: Path) -> None:
    """Results that break off for our stream alone are no verdict either."""
    write_program(
        tmp_path / "bin", "ent", "show('ent-bad.txt') if is_bad(all_of_it()[: 1 << 20]) else print('0,File-bytes')"
    )
    outcome = run_on(tmp_path / "bin", "ent", "--json")
    report = parsed(outcome)
    assert (INVALID, "invalid") == (outcome.status, report["verdict"])
    assert "ent printed no line of figures" in report["reason"]
    assert 5 == len(report["controls"])


def test_dieharder_at_the_end_of_its_input(tmp_path: Path) -> None:
    """That dieharder ran out of data is invalid, though it prints a table and ends with status 0."""
    write_program(tmp_path / "bin", "dieharder", "show('dieharder-bad.txt')\nshow('dieharder-eof.txt', sys.stderr)")
    outcome = run_on(tmp_path / "bin", "dieharder", "--json")
    assert INVALID == outcome.status
    assert "the stream ended before the test did" in parsed(outcome)["reason"]


def test_no_controls_is_said_loudly(tmp_path: Path) -> None:
    """Without controls there is a verdict, and three places say what it is worth."""
    write_honest(tmp_path / "bin", "ent")
    outcome = run_on(tmp_path / "bin", "ent", "--no-controls")
    assert PASSED == outcome.status
    assert "--no-controls: nothing shows that ent would notice a bad generator here\n" in outcome.err
    shown = outcome.out.decode()
    assert "NONE was tested, so nothing shows that the battery would notice a bad generator" in shown
    assert "passed: none of 4 p-values rejected, and no control was tested\n" in shown
    assert {} == parsed(run_on(tmp_path / "bin", "ent", "--no-controls", "--json"))["controls"]


def test_table(tmp_path: Path) -> None:
    """The table has the run, the stream, the controls, the budget, the p-values furthest out, and the verdict."""
    write_honest(tmp_path / "bin", "dieharder")
    outcome = run_on(tmp_path / "bin", "dieharder", "-d", "100,3", "--provider", "pycryptodome", "--budget", "0.001")
    lines = outcome.out.decode().splitlines()
    assert PASSED == outcome.status
    assert "battery:   dieharder -g 200, -d 100, 3" == lines[0]
    assert lines[1].startswith("stream:    aes256-icm/pycryptodome/library fsk2010, ")
    assert "controls:  counter, randu, biased, short-counter, stuck rejected" == lines[2]
    assert "budget:    a perfect generator fails one run in 1,000; 60 p-values share that" == lines[3]
    assert ["TEST", "P", "TWO-SIDED", "ADJUSTED"] == lines[5].split()
    assert ["sts_serial", "14", "0.0119", "0.0238", "1"] == lines[6].split()
    assert 10 == sum(line.startswith("sts_serial") for line in lines)
    assert "50 more are less far out; --json has those that the battery lists" in lines
    assert "verdict:  passed: none of 60 p-values rejected" == lines[-1]


def test_table_shows_every_rejection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of a failed run has all that is rejected, near 1 as its distance from it."""
    write_honest(tmp_path / "bin", "RNG_test")
    monkeypatch.setattr(battery, "pieces", lambda *arguments, **options: CONTROLS["counter"].pieces())
    outcome = run_on(tmp_path / "bin", "practrand")
    shown = outcome.out.decode()
    assert FAILED == outcome.status
    assert 7 == shown.count("REJECTED")
    assert "1 - 6.1e-110" in shown
    assert "verdict:  failed: 7 of 8 p-values rejected" in shown


def test_progress_lines(tmp_path: Path) -> None:
    """Standard error has a line for each control and one for the stream, with what was taken and what came of it."""
    write_honest(tmp_path / "bin", "ent")
    lines = run_on(tmp_path / "bin", "ent").err.splitlines()
    assert [f"ent, control {name}" for name in CONTROLS] + ["ent, stream"] == [line.split(":")[0] for line in lines]
    assert all(": 67.1 MB, " in line for line in lines)
    assert lines[0].endswith("3 of 4 p-values rejected")
    assert lines[-1].endswith("none of 4 p-values rejected")


class Terminal(StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_progress_on_a_terminal() -> None:
    """On a terminal, a task tells how far it is twice a second, on one line that its result then takes."""
    stream, clock = Terminal(), ManualClock()
    progress = Progress(stream, clock)
    with progress.task("ent, stream") as task:
        for step in range(1, 21):
            clock.advance(0.1)
            task.advance(step * 1_000_000)
        task.end("done")
    told = stream.getvalue()
    assert 4 == told.count("\r")
    assert "ent, stream: 5.0 MB, 0.5 s" == told.split("\r")[0].rstrip()
    assert "ent, stream: 20.0 MB, 2.0 s: done\n" == told.split("\r")[-1].replace("   ", "").replace(" \n", "\n")


def test_progress_nobody_can_hear() -> None:
    """A closed or missing standard error is not the run's end."""
    closed = StringIO()
    progress = Progress(closed, ManualClock())
    closed.close()
    progress.say("anything")
    Progress(None, ManualClock()).say("anything")


def test_interrupted_task_ends_its_line() -> None:
    """What is said after an interrupted task starts on a line of its own."""
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress(stream, ManualClock()).task("ent"):
        raise KeyboardInterrupt
    assert "\n" == stream.getvalue()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "NAME"),
        (("sp800-90b",), "'sp800-90b'"),
        (("ent", "--budget", "0"), "a probability between 0 and 1"),
        (("ent", "--budget", "1"), "a probability between 0 and 1"),
        (("ent", "--budget", "nan"), "a probability between 0 and 1"),
        (("ent", "-n", "inf"), "a run that gives a verdict has an end"),
        (("ent", "-n", "1048575"), "1048576 or more"),
        (("ent", "-d", "1"), "-d: ent has no choice of tests"),
        (("dieharder", "-n", "5"), "-n: dieharder decides itself how much it reads"),
        (("dieharder", "-d", "100,99"), "got '99'"),
        (("dieharder", "-d", ""), "got ''"),
        (("rngtest", "-n", "2500003"), "2500004 or more"),
        (("practrand", "-n", "100M"), "a power of two from 16MiB to 32TiB"),
        (("practrand", "-n", "8MiB"), "a power of two from 16MiB to 32TiB"),
        (("practrand", "-n", "0"), "a power of two from 16MiB to 32TiB"),
        (("testu01", "-d", "mediumcrush"), "smallcrush, crush, bigcrush, rabbit, alphabit"),
        (("sts", "-n", "12500001"), "a multiple of 125000"),
        (("sts", "-n", "6750000"), "from 6875000 on"),
        (("ent", "-f", "raw"), "fortuna-dump battery --help shows what is allowed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refusals(tmp_path: Path, script: list[ScriptedFortuna], arguments: tuple[str, ...], expected: str) -> None:
    """What cannot be run is exit code 2 and one line; nothing is booted."""
    outcome = run_on(tmp_path, *arguments)
    assert 2 == outcome.status
    assert expected in complaint(outcome)
    assert [] == script


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dieharder", "found no program dieharder; apt-get install dieharder"),
        ("rngtest", "found no program rngtest; apt-get install rng-tools5"),
        ("ent", "found no program ent; apt-get install ent"),
        ("practrand", "found no program RNG_test; Debian has no package; build it from the source at https://"),
        ("sts", "found no program assess; Debian has no package; build it from the source at https://"),
        ("testu01", "found no compiler"),
    ],
)
def test_missing_battery(tmp_path: Path, script: list[ScriptedFortuna], name: str, expected: str) -> None:
    """A battery that is not there is exit code 69 and how to get it, and nothing is booted."""
    outcome = run_on(tmp_path, name, CC=str(tmp_path / "cc"))
    assert MISSING == outcome.status
    assert complaint(outcome).startswith(f"{name}: {expected}")
    assert [] == script


def test_missing_templates(tmp_path: Path) -> None:
    """STS without its templates would leave out a test, so it counts as missing."""
    shutil.rmtree(write_honest(tmp_path / "bin", "assess").parent / "templates")
    outcome = run_on(tmp_path / "bin", "sts")
    assert MISSING == outcome.status
    assert f"found no folder {tmp_path}/bin/templates" in complaint(outcome)


def test_named_program(tmp_path: Path) -> None:
    """``--program`` names a battery that lies elsewhere or is called something else."""
    program = write_honest(tmp_path / "bin", "RNG_test").rename(tmp_path / "bin" / "my RNG_test")
    assert PASSED == run_on(tmp_path / "empty", "practrand", "--program", str(program)).status
    assert MISSING == run_on(tmp_path / "empty", "practrand", "--program", f"{program}x").status


def test_sample_of_sts_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample that STS reads is secret and is gone after the run, whatever came of it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    write_program(tmp_path / "bin", "assess", "assert Path('sample').is_file()")
    (tmp_path / "bin" / "templates").mkdir()
    outcome = run_on(tmp_path / "bin", "sts")
    assert INVALID == outcome.status
    assert "assess wrote no final report" in outcome.out.decode()
    assert [] == list((tmp_path / "temporary").iterdir())


def test_testu01_compiles_and_runs(tmp_path: Path) -> None:
    """Our program is compiled against the library without a warning, and every p-value arrives; what it left out does
    not.
    """
    variables = {"PATH": os.environ["PATH"], **build_testu01(tmp_path)}
    for suite in ("smallcrush", "alphabit"):
        outcome = run_here("battery", "testu01", "-d", suite, "--json", variables=variables)
        report = parsed(outcome)
        assert (PASSED, "passed") == (outcome.status, report["verdict"])
        assert ["counter", "randu", "biased", "short-counter"] == list(report["controls"])
        assert ["ones", "byte values, r = 0"] == [value["name"] for value in report["p_values"]]


def test_testu01_compiled_already(tmp_path: Path) -> None:
    """``--program`` names our program where somebody else has compiled it; one that ends too early is invalid."""
    write_program(
        tmp_path / "bin",
        "testu01",
        """
assert ["smallcrush"] == sys.argv[1:]
show("testu01-bad.txt" if is_bad(sys.stdin.buffer.read(1 << 20)) else "testu01-good.txt")
""",
    )
    assert PASSED == run_on(tmp_path / "bin", "testu01", "--program", "testu01").status
    write_program(tmp_path / "bin", "testu01", "sys.stderr.write('standard input ended')\nsys.exit(3)")
    outcome = run_on(tmp_path / "bin", "testu01", "--program", "testu01")
    assert INVALID == outcome.status
    assert "testu01 ended with status 3: standard input ended" in outcome.out.decode()


def test_help(script: list[ScriptedFortuna]) -> None:
    """``battery --help`` needs no name, and has every battery and exit code."""
    outcome = run_here("battery", "--help")
    assert (0, "") == (outcome.status, outcome.err)
    shown = outcome.out.decode()
    assert all(name in shown for name in BATTERIES)
    assert all(f"{code} " in shown.partition("exit codes:")[2] for code in (PASSED, FAILED, MISSING, INVALID))
    assert [] == script


def test_testu01_without_the_library(tmp_path: Path) -> None:
    """Where the library is absent, the compiler's complaint and where to get it are told."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler that could fail")
    outcome = run_here("battery", "testu01", variables={"PATH": os.environ["PATH"], "CFLAGS": "-I/nowhere"})
    if outcome.status == PASSED:
        pytest.skip("TestU01 is installed")
    assert MISSING == outcome.status
    assert "does not compile" in complaint(outcome)
    assert "libtestu01-0-dev" in complaint(outcome)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Give our program for TestU01, compiled against the double of the library."""
    variables = {"PATH": os.environ["PATH"], **build_testu01(tmp_path)}
    adapter = make("testu01", Settings(None, None, None, variables))
    adapter.prepare(str(tmp_path))
    return Path(adapter.program)


def run_program(program: Path, data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run our program for TestU01 on *data*."""
    return subprocess.run([program, *arguments], input=data, capture_output=True, check=False, timeout=60)


def test_testu01_reads_little_endian_words(program: Path) -> None:
    """The first four bytes are the first word, the least significant first."""
    done = run_program(program, bytes([1, 2, 3, 4]) + os.urandom(1 << 22), "rabbit", "3200")
    assert (0, b"") == (done.returncode, done.stderr)
    assert b"first word: 04030201\n" in done.stdout
    assert done.stdout.endswith(b"\nend 2 100\n")


def test_testu01_says_that_its_input_ended(program: Path) -> None:
    """An input that ends too early is status 3, the words that there were, and no line that ends the results."""
    done = run_program(program, bytes(4 * 1000 + 3), "smallcrush")
    assert (3, b"testu01: standard input ended after 1000 words\n") == (done.returncode, done.stderr)
    assert b"end " not in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [(), ("tinycrush",), ("smallcrush", "1000"), ("rabbit", "499"), ("rabbit", "many"), ("rabbit", "1000", "x")],
    ids=" ".join,
)
def test_testu01_usage(program: Path, arguments: tuple[str, ...]) -> None:
    """A wrong command line is status 2, before a word is read."""
    done = run_program(program, b"", *arguments)
    assert 2 == done.returncode
    assert done.stderr.startswith(b"usage: testu01 ")


def test_source_of_testu01_is_installed() -> None:
    """The program's source comes with the package."""
    assert TESTU01_SOURCE.is_file()


def test_every_control_is_for_somebody() -> None:
    """Each control is one that a battery is known to detect, and no battery claims one that does not exist."""
    claims = {name: set(make(name, Settings(None, None, None, {})).detects) for name in BATTERIES}
    assert all(claims.values())
    assert set(CONTROLS) == set.union(*claims.values())


@pytest.mark.parametrize("test", DETECTED)
def test_dieharders_tests_detect_something(test: int) -> None:
    """No test of dieharder can be chosen alone that is known to detect no control."""
    assert make("dieharder", Settings(None, None, str(test), {})).detects


def test_dieharder_gives_a_control_to_tests_that_end(tmp_path: Path) -> None:
    """A control is given to the tests that detect it and to no other, which might not end; the stream to all."""
    body = f"""
with open({str(tmp_path / "calls")!r}, "a") as file:
    print(sys.argv[2], end=" ", file=file)
show("dieharder-bad.txt" if is_bad(sys.stdin.buffer.read(1 << 20)) else "dieharder-good.txt")
"""
    write_program(tmp_path / "bin", "dieharder", body)
    assert PASSED == run_on(tmp_path / "bin", "dieharder", "-d", "0,17,10").status
    calls = (tmp_path / "calls").read_text().split()
    expected = [test for control in ALL for test in (0, 17, 10) if control in DETECTED[test]] + [0, 17, 10]
    assert expected == [int(test) for test in calls]
    assert len(ALL) * 3 > len(calls) - 3


def test_controls_follow_dieharders_tests() -> None:
    """Only controls that one of the chosen tests detects are asked for, and the usual tests detect all."""
    assert set(CONTROLS) == set(ALL)
    assert ALL == make("dieharder", Settings(None, None, None, {})).detects
    assert ("counter", "short-counter", "stuck") == make("dieharder", Settings(None, None, "10", {})).detects
    assert set(USUAL) <= set(DETECTED)
    assert tuple(DETECTED) == chosen("all")
    assert not set(chosen("all")) & {5, 6, 7, 14}
    assert (3, 0) == chosen("3,0,3")


@pytest.mark.parametrize("name", BATTERIES)
def test_adapter_has_the_name_of_its_preset(name: str) -> None:
    """An adapter, its preset and its name on the command line are one."""
    assert name == battery_class(name).name


def test_interrupt_ends_the_battery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt is exit code 130, and the battery does not go on alone."""
    pid = tmp_path / "pid"
    write_program(tmp_path / "bin", "ent", f"Path({str(pid)!r}).write_text(str(os.getpid()))\nall_of_it()")

    def interrupt(self: object, size: int) -> None:
        if size > 1 << 22:
            raise KeyboardInterrupt

    monkeypatch.setattr("fortuna.cli.progress.Task.advance", interrupt)
    assert 130 == run_on(tmp_path / "bin", "ent").status
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_pipe_signal_is_as_it_was(tmp_path: Path) -> None:
    """A battery that closes its pipe ends neither the command nor the rule for the command's own output."""
    write_honest(tmp_path / "bin", "dieharder")
    before = signal.getsignal(signal.SIGPIPE)
    assert PASSED == run_on(tmp_path / "bin", "dieharder", "-d", "100").status
    assert before == signal.getsignal(signal.SIGPIPE)
    in_process = launch("battery", "dieharder", "-d", "100", variables={**os.environ, "PATH": str(tmp_path / "bin")})
    assert PASSED == in_process.status


def test_boot_that_fails_comes_first(tmp_path: Path, write_config: Callable[..., str]) -> None:
    """A boot that is refused is reported before a control has been tested."""
    write_honest(tmp_path / "bin", "ent")
    config = write_config("[boot]\npretend_unseeded = true\n")
    outcome = run_on(tmp_path / "bin", "ent", "--config", config)
    assert 3 == outcome.status
    assert "control" not in outcome.err


def test_clock_is_an_argument(tmp_path: Path) -> None:
    """The seconds of the report are those of the clock that was given."""
    write_honest(tmp_path / "bin", "ent")
    with tempfile.TemporaryFile() as stdout:
        environment = Environment(
            stdout=stdout.fileno(), is_terminal=False, stderr=StringIO(), variables={"PATH": str(tmp_path / "bin")}
        )
        assert 0 == battery.run_battery(("ent", "--json"), environment, ManualClock())
        stdout.seek(0)
        assert 0.0 == json.loads(stdout.read())["seconds"]


needs = {
    name: pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")
    for name, program in PROGRAMS.items()
}


@pytest.mark.slow
@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("dieharder", "-d", "0,100"), marks=needs["dieharder"]),
        pytest.param(("dieharder",), marks=needs["dieharder"]),
        pytest.param(("rngtest", "-n", "25000004"), marks=needs["rngtest"]),
        pytest.param(("ent", "-n", "64MiB"), marks=needs["ent"]),
    ],
    ids=" ".join,
)
def test_installed_battery(arguments: tuple[str, ...], cipher: str) -> None:
    """The real battery rejects every control that it is said to detect, and passes our stream within the budget.

    The budget makes the stream fail one run in a million for no reason.
    """
    outcome = run_here(
        "battery", *arguments, "--cipher", cipher, "--json", "--budget", "1e-6", variables={"PATH": os.environ["PATH"]}
    )
    report = parsed(outcome)
    assert (PASSED, "passed") == (outcome.status, report["verdict"]), report["reason"]
    assert report["controls"]
    assert all(control["is_rejected"] for control in report["controls"].values())
    assert cipher == report["stream"]["generator"]


@pytest.mark.slow
@needs["rngtest"]
@pytest.mark.parametrize("name", ["counter", "randu", "biased", "stuck"])
def test_installed_battery_fails_a_bad_stream(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In the place of our stream, a bad one fails the real rngtest."""
    monkeypatch.setattr(battery, "pieces", lambda *arguments, **options: CONTROLS[name].pieces())
    assert FAILED == run_here("battery", "rngtest", variables={"PATH": os.environ["PATH"]}).status


@pytest.mark.slow
@needs["rngtest"]
def test_installed_rngtest_cannot_see_a_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keystream that repeats passes rngtest, which is why it is no control of it."""
    monkeypatch.setattr(battery, "pieces", lambda *arguments, **options: CONTROLS["short-counter"].pieces())
    assert PASSED == run_here("battery", "rngtest", variables={"PATH": os.environ["PATH"]}).status
