"""Exit codes and messages: usage, configuration, not seeded, interrupted, and errors of our own."""

from __future__ import annotations

import errno
import os
import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from fortuna import _boot
from fortuna.cli.environment import Environment
from fortuna.cli.main import run
from fortuna.cli.status import Status
from fortuna.sources.os import OperatingSystem

from .cli_support import (
    AES_KERNELS,
    ALL_GENERATORS,
    CHACHA_KERNELS,
    ScriptedFortuna,
    complaint,
    launch,
    launch_code,
    raiser,
    run_here,
    spell,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def test_exit_codes() -> None:
    """The exit codes are the documented ones."""
    expected = {
        "OK": 0,
        "FAILURE": 1,
        "USAGE": 2,
        "NOT_SEEDED": 3,
        "REJECTED": 65,
        "NO_BATTERY": 69,
        "INVALID_RUN": 70,
        "CONFIGURATION": 78,
        "INTERRUPTED": 130,
    }
    assert expected == {status.name: status.value for status in Status}
    shown = run_here("--help").out.decode()
    for code in expected.values():
        assert f"{code} " in shown.partition("exit codes:")[2].partition("\n\n")[0]


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("--bogus",), "--bogus"),
        (("extra",), "extra"),
        (("-",), "-"),
        (("--", "extra"), "extra"),
        (("-n",), "-n"),
        (("-n", "x"), "'x'"),
        (("-n", ""), "''"),
        (("-n", "-5"), "'-5'"),
        (("-n", "1.5"), "write 1 or 2"),
        (("-n", "1mb"), "64k, 1.5G or 16GiB"),
        (("-f", "octal"), "octal"),
        (("-f", ""), "hex"),
        (("-o",), "-o"),
        (("--cipher", "rot13"), "rot13"),
        (("--cipher", ""), "aes256-icm"),
        (("--cipher",), "--cipher"),
        (("--provider", "openssh"), "openssh"),
        (("--kernel", "sse9"), "sse9"),
        (("--kernel", ""), "portable"),
        (("--kernel",), "--kernel"),
        (("--kern", "avx2"), "--kern"),
        (("--construction", "fsk2099"), "fsk2099"),
        (("--list", "--tunables"), "not allowed with"),
        (("--version", "--list"), "not allowed with"),
        (("--vers",), "--vers"),
        (("--cip", "chacha20"), "--cip"),
        (("-n", "1", "--bogus", "--force"), "--bogus"),
    ],
    ids=spell,
)
def test_usage_errors(arguments: tuple[str, ...], about: str, script: list[ScriptedFortuna]) -> None:
    """A command line that cannot be carried out is exit code 2 and one line that says why; nothing is booted."""
    outcome = run_here(*arguments)
    assert 2 == outcome.status
    message = complaint(outcome)
    assert about in message
    assert message.endswith("; fortuna-dump --help shows what is allowed")
    assert [] == script


def test_unknown_names_list_what_there_is() -> None:
    """An unknown cipher, provider or kernel is answered with the names of those there are."""
    for option, names in (
        ("--cipher", ALL_GENERATORS),
        ("--provider", ("auto", "native", "pycryptodome", "reference")),
        ("--kernel", ("auto", *AES_KERNELS, *CHACHA_KERNELS, "library", "python")),
    ):
        message = complaint(run_here(option, "rot13"))
        for name in names:
            assert re.search(rf"\b{name}\b", message)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[generator]\ncipher = chacha20\n",
            ":2: generator.cipher: got chacha20 without quotes; quote it: cipher = {q}",
        ),
        (
            "generator.cipher = chacha20\n",
            ":1: generator.cipher: got chacha20 without quotes; quote it: generator.cipher = {q}",
        ),
        (
            '# 1\n[generator]\ncipher = "chacha20" # 3\n\n[reseed]\n# 6\ninterval = "100"\n',
            ':7: reseed.interval: got "100"; allowed is a number in 0..3600 seconds',
        ),
        ("[generator]\ncypher = 'aes'\n", ":2: generator.cypher: no such tunable; the nearest is generator.cipher"),
        ("[generators]\ncipher = 'aes'\n", ":1: generators: no such tunable; the nearest is generator"),
        ("reseed.intervall = 1\n", ":1: reseed.intervall: no such tunable; the nearest is reseed.interval"),
        ('[generator]\ncipher = "rot13"\n', ':2: generator.cipher: got "rot13"; allowed is "aes256-icm", {q}'),
        (
            '[generator]\nkernel = "sse9"\n',
            ':2: generator.kernel: got "sse9"; allowed is "auto", "vaes512", "vaes", "aesni", "armv8", "avx512", '
            '"avx2", "ssse3", "neon", "portable", "library", "python"',
        ),
        ("reseed.min_pool_size = true\n", ":1: reseed.min_pool_size: got true; allowed is an integer in 16..1048576"),
        ("reseed.interval = nan\n", ":1: reseed.interval: got nan; allowed is a number in 0..3600 seconds"),
        ("[generator\n", ":1: "),
    ],
    ids=[
        "unquoted",
        "unquoted dotted",
        "line 7",
        "misspelt key",
        "misspelt table",
        "misspelt dotted",
        "cipher",
        "kernel",
        "bool",
        "nan",
        "syntax",
    ],
)
@pytest.mark.parametrize("way", ["--config", "FORTUNA_CONFIG"])
def test_configuration_errors(write_config: Callable[..., str], way: str, text: str, expected: str) -> None:
    """A refused file is exit code 78 and one line with path, line, tunable and remedy."""
    path = write_config(text)
    outcome = run_here("--config", path) if way == "--config" else run_here(variables={"FORTUNA_CONFIG": path})
    assert 78 == outcome.status
    assert complaint(outcome).startswith(path + expected.replace("{q}", '"chacha20"'))


def test_overrides_do_not_hide_a_mistake(write_config: Callable[..., str]) -> None:
    """A wrong value in the file is refused even where an option overrides it."""
    path = write_config('generator.cipher = "rot13"\n')
    assert 78 == run_here("--config", path, "--cipher", "chacha20").status


@pytest.mark.parametrize("way", ["--config", "FORTUNA_CONFIG"])
def test_missing_file(way: str) -> None:
    """A named file that is not there is an error and no reason to take the defaults."""
    path = "/nonexistent/fortuna.toml"
    outcome = run_here("--config", path) if way == "--config" else run_here(variables={"FORTUNA_CONFIG": path})
    assert 78 == outcome.status
    assert complaint(outcome).startswith(f"{path}: cannot be read: No such file or directory")


def test_empty_variable() -> None:
    """A variable that is set but empty is refused."""
    outcome = run_here(variables={"FORTUNA_CONFIG": ""})
    assert 78 == outcome.status
    assert complaint(outcome).startswith("FORTUNA_CONFIG: it is set but empty")


def test_group_writable_file(write_config: Callable[..., str]) -> None:
    """A file that its group may write is refused with the chmod that mends it, and that mends it."""
    path = write_config("", mode=0o664)
    outcome = run_here(variables={"FORTUNA_CONFIG": path})
    assert 78 == outcome.status
    assert f"{path}: its group may write it; chmod g-w {path}" == complaint(outcome)
    assert 0 == run_here("--config", path).status
    os.chmod(path, 0o644)  # noqa: PTH101
    assert 0 == run_here(variables={"FORTUNA_CONFIG": path}).status


def test_world_writable_file(write_config: Callable[..., str]) -> None:
    """A file that everybody may write is refused even where it is named on the command line."""
    path = write_config("", mode=0o666)
    for outcome in (run_here("--config", path), run_here(variables={"FORTUNA_CONFIG": path})):
        assert 78 == outcome.status
        assert f"{path}: everybody may write it; chmod go-w {path}" == complaint(outcome)


def test_pretend_unseeded(write_config: Callable[..., str]) -> None:
    """The tunable that pretends to be unseeded makes exit code 3, and no byte."""
    outcome = run_here("--config", write_config("boot.pretend_unseeded = true\n"))
    assert 3 == outcome.status
    assert "boot.pretend_unseeded" in complaint(outcome)


def test_failing_source(write_config: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no source answers within the time of the tunable the command ends with 3, and names the source."""

    def unready(*arguments: object) -> bytes:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    def make(*real: object) -> OperatingSystem:
        return OperatingSystem(unready, unready)

    monkeypatch.setattr(_boot, "OperatingSystem", make)
    outcome = run_here("--config", write_config("boot.timeout = 0\n"))
    assert 3 == outcome.status
    message = complaint(outcome)
    assert "boot.timeout = 0 s" in message
    assert "failing sources: source os" in message


def test_zeros_are_never_given(write_config: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that gives zeros gives no output."""

    def make(*real: object) -> OperatingSystem:
        return OperatingSystem(lambda n, flags: bytes(n), bytes)

    monkeypatch.setattr(_boot, "OperatingSystem", make)
    assert 3 == run_here("--config", write_config("boot.timeout = 0\n")).status


def test_broken_pipe_is_silent(script: list[ScriptedFortuna]) -> None:
    """Where a closed pipe makes an error instead of a signal, the command ends without a word."""
    reader, writer = os.pipe()
    os.close(reader)
    stderr = StringIO()
    try:
        environment = Environment(stdout=writer, is_terminal=False, stderr=stderr, variables={})
        assert Status.FAILURE == run(["-n", "inf", "-f", "raw"], environment)
    finally:
        os.close(writer)
    assert "" == stderr.getvalue()
    assert script[0].is_closed


def test_interrupt_is_silent(script: list[ScriptedFortuna], monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt from the keyboard is exit code 130, without a word."""
    monkeypatch.setattr(ScriptedFortuna, "readinto", raiser(KeyboardInterrupt()))
    assert (130, b"", "") == run_here("-n", "inf")
    assert script[0].is_closed


def test_error_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody foresaw is one line too, and points to ``--debug``."""
    monkeypatch.setattr(_boot, "build", raiser(ZeroDivisionError("a mistake")))
    outcome = run_here()
    assert 1 == outcome.status
    assert "internal error: ZeroDivisionError('a mistake'); --debug shows where" == complaint(outcome)


MISTAKE = """
import fortuna._boot
def build(*arguments):
    raise ZeroDivisionError("a mistake")
fortuna._boot.build = build
"""


@pytest.mark.parametrize(
    ("code", "arguments", "status", "about"),
    [
        (MISTAKE, (), 1, "ZeroDivisionError"),
        ("", ("--bogus",), 2, "UsageError"),
        ("", ("--config", "/nonexistent"), 78, "TunableError"),
        ("", ("-o", "/nonexistent/new"), 1, "OutputError"),
    ],
    ids=["mistake", "usage", "configuration", "output"],
)
def test_debug(code: str, arguments: tuple[str, ...], status: int, about: str) -> None:
    """``--debug`` shows where an error came from and keeps the exit code; without it there is no traceback."""
    plain = launch_code(code, *arguments)
    assert status == plain.status
    complaint(plain)
    assert "Traceback" not in plain.err
    for debug in (launch_code(code, "--debug", *arguments), launch_code(code, *arguments, "--debug")):
        assert (status, b"") == (debug.status, debug.out)
        assert "Traceback (most recent call last):" in debug.err
        assert "fortuna/cli/main.py" in debug.err
        assert about in debug.err


def test_debug_changes_nothing_else(script: list[ScriptedFortuna]) -> None:
    """Where nothing fails ``--debug`` shows nothing."""
    assert run_here() == run_here("--debug")


def test_traceback_hides_the_bytes(script: list[ScriptedFortuna], monkeypatch: pytest.MonkeyPatch) -> None:
    """No message of a failing output holds the bytes that it did not take."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", raiser(OSError(errno.EIO, "Input/output error")))
        outcome = run_here("--debug")
    assert 1 == outcome.status
    assert "Input/output error" in outcome.err
    drawn = ScriptedFortuna()
    block = bytearray(32)
    drawn.readinto(memoryview(block))
    assert block.hex() not in outcome.err


@pytest.mark.parametrize("stderr", [None, "full"])
def test_nobody_hears_the_complaint(stderr: str | None) -> None:
    """Where standard error is closed or full the exit code still tells, and standard output stays empty."""

    class Full(StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    reader, writer = os.pipe()
    stream: Any = None if stderr is None else Full()
    environment = Environment(stdout=writer, is_terminal=False, stderr=stream, variables={})
    assert Status.USAGE == run(["--bogus"], environment)
    assert Status.CONFIGURATION == run(["--config", "/nonexistent", "--debug"], environment)
    os.close(writer)
    assert b"" == os.read(reader, 1)
    os.close(reader)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(
    ("arguments", "status"), [("--bogus", 2), ("--config /nonexistent", 78), ("--config /nonexistent --debug", 78)]
)
def test_exit_code_without_standard_error(redirection: str, arguments: str, status: int) -> None:
    """The exit code of the process does not depend on whether its message could be written."""
    if "full" in redirection and not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("only Linux has /dev/full")
    shell = f'"$0" -m fortuna {arguments} {redirection}'
    assert (status, b"", "") == launch(command=("sh", "-c", shell, sys.executable))
