"""The command as a process: both spellings, pipes, signals, terminal, locale, memory."""

from __future__ import annotations

import importlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tty
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

from fortuna import __version__
from fortuna.cli import main as main_module
from fortuna.cli.environment import Environment

from .cli_support import (
    LIBRARY,
    MODULE,
    NO_EXTENSION,
    PATIENCE_SECONDS,
    PIECE,
    SCRIPT,
    clean_variables,
    complaint,
    expected_kernel,
    launch,
    launch_code,
    needs_native,
    run_here,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: Both spellings of the command.
COMMANDS = {"fortuna-dump": (SCRIPT,), "python -m fortuna": MODULE}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, signals and shells here are those of POSIX")


def start(*arguments: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Start the command and return its process."""
    return subprocess.Popen(
        [*MODULE, *arguments],
        env=clean_variables(),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def bash(script: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run *script* in bash with the folder of the command in front of its path."""
    path = f"{Path(SCRIPT).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script],  # noqa: S607
        env={**(variables or clean_variables()), "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_both_spellings(command: tuple[str, ...]) -> None:
    """The installed command and ``python -m fortuna`` are the same: bytes, version, help and errors."""
    drawn = launch(command=command)
    assert (0, "") == (drawn.status, drawn.err)
    assert re.fullmatch(rb"[0-9a-f]{64}\n", drawn.out)
    assert (0, f"fortuna-dump {__version__}\n".encode(), "") == launch("--version", command=command)
    assert run_here("--help") == launch("--help", command=command)
    assert run_here("--bogus") == launch("--bogus", command=command)
    assert run_here("--list") == launch("--list", command=command)


def test_importing_the_module_runs_nothing() -> None:
    """Whoever imports ``fortuna.__main__``, as documentation tools do, does not run the command."""
    module = importlib.import_module("fortuna.__main__")
    assert main_module.main is module.main


def test_version_is_that_of_the_distribution() -> None:
    """``--version`` says what the installed metadata say."""
    assert (0, f"fortuna-dump {version('fortuna-rng')}\n".encode(), "") == run_here("--version")


def test_entry_point() -> None:
    """The installed command is `main`."""
    (entry,) = entry_points(group="console_scripts", name="fortuna-dump")
    assert main_module.main is entry.load()


def test_help() -> None:
    """The help is ASCII, names every option and fits 120 columns."""
    status, out, err = run_here("--help")
    assert (0, "") == (status, err)
    text = out.decode("ascii")
    options = "-n -f -o --force --config --cipher --provider --kernel --construction --list --tunables --version --help"
    for option in (*options.split(), "--debug"):
        assert re.search(rf"(^|\s){option}\b", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 120
    assert run_here("-h").out == out


def test_main_in_this_process(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """`main` reads the arguments of the process, gives SIGPIPE its usual meaning, and returns the exit code."""
    before = signal.getsignal(signal.SIGPIPE)
    try:
        monkeypatch.setattr(sys, "argv", ["fortuna-dump", "--version"])
        assert 0 == main_module.main()
        assert signal.SIG_DFL == signal.getsignal(signal.SIGPIPE)
    finally:
        signal.signal(signal.SIGPIPE, before)
    assert (f"fortuna-dump {__version__}\n", "") == capfd.readouterr()


def test_main_without_sigpipe(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """`main` works on a system without that signal."""
    before = signal.getsignal(signal.SIGPIPE)
    monkeypatch.setattr(sys, "argv", ["fortuna-dump", "--bogus"])
    with monkeypatch.context() as patch:
        patch.delattr(signal, "SIGPIPE")
        assert 2 == main_module.main()
    assert before == signal.getsignal(signal.SIGPIPE)
    out, err = capfd.readouterr()
    assert "" == out
    assert err.startswith("fortuna-dump: ")


def test_environment_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real environment is descriptor 1, what the system says about it, standard error and the variables."""
    asked: list[int] = []

    def isatty(descriptor: int) -> bool:
        asked.append(descriptor)
        return True

    with monkeypatch.context() as patch:
        patch.setattr(os, "isatty", isatty)
        environment = Environment.of_this_process()
    assert [1] == asked
    assert (1, True) == (environment.stdout, environment.is_terminal)
    assert environment.stderr is sys.stderr
    assert environment.variables is os.environ


@pytest.mark.parametrize("form", ["raw", "hex", "base64"])
def test_closed_pipe_ends_by_signal(form: str) -> None:
    """When the reader goes, the command ends by SIGPIPE without a word."""
    with start("-n", "inf", "-f", form) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert 10 == len(process.stdout.read(10))
        process.stdout.close()
        assert b"" == process.stderr.read()
    assert -signal.SIGPIPE == process.returncode


def test_closed_pipe_of_a_short_output() -> None:
    """A reader that went before anything was written is no error worth a word either."""
    reader, writer = os.pipe()
    os.close(reader)
    outcome = launch(stdout=writer)
    os.close(writer)
    assert (-signal.SIGPIPE, b"", "") == outcome


def test_pipeline() -> None:
    """In a shell, ``head`` gets its bytes and the command counts as ended by SIGPIPE, as other filters do."""
    run = bash("fortuna-dump -n inf -f raw | head -c 10 | wc -c; echo ${PIPESTATUS[@]}")
    assert ["10", "141 0 0"] == [line.strip() for line in run.stdout.splitlines()]
    assert "" == run.stderr


def test_pipeline_below_a_parent_that_ignores_the_signal() -> None:
    """A parent that ignores SIGPIPE does not make the command run on or complain."""
    run = bash("trap '' PIPE; fortuna-dump -n inf -f raw | head -c 10 >/dev/null; echo ${PIPESTATUS[0]}")
    assert run.stdout.strip() in ("1", "141")
    assert "" == run.stderr


def test_blocked_signal_is_silent() -> None:
    """Where SIGPIPE is blocked the command meets the error instead, and ends with 1 and without a word."""
    reader, writer = os.pipe()
    os.close(reader)
    outcome = launch(
        *("-n", "inf", "-f", "raw"),
        stdout=writer,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE]),
    )
    os.close(writer)
    assert (1, b"", "") == outcome


def test_pipe_of_a_file_reader(tmp_path: Path) -> None:
    """``-o`` to a FIFO whose reader goes ends by SIGPIPE as well."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with start("-n", "inf", "-f", "raw", "-o", str(fifo)) as process:
        with fifo.open("rb") as reader:
            assert 10 == len(reader.read(10))
        assert process.stderr is not None
        assert b"" == process.stderr.read()
    assert -signal.SIGPIPE == process.returncode


def test_pipe_that_does_not_block() -> None:
    """A pipe set not to block, read in small pieces, gets all bytes."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with start("-n", str(PIECE + 7), "-f", "raw", stdout=writer) as process:
        os.close(writer)
        size = 0
        while piece := os.read(reader, 1000):
            size += len(piece)
        os.close(reader)
        assert process.stderr is not None
        assert b"" == process.stderr.read()
    assert (0, PIECE + 7) == (process.returncode, size)


@pytest.mark.parametrize("form", ["raw", "hex"])
def test_interrupt_in_the_middle(form: str) -> None:
    """An interrupt while the output runs is exit code 130, without a traceback."""
    with start("-n", "inf", "-f", form) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(2 * PIECE)
        process.send_signal(signal.SIGINT)
        while process.stdout.read(PIECE):
            pass
        assert b"" == process.stderr.read()
    assert 130 == process.returncode


def test_closed_standard_output() -> None:
    """Without a standard output the command says so, and an ``-o`` file is written all the same."""
    outcome = launch(command=("sh", "-c", '"$0" -m fortuna >&-', sys.executable))
    assert 1 == outcome.status
    assert "standard output: Bad file descriptor after 0 bytes written" == complaint(outcome)


def test_file_without_standard_output(tmp_path: Path) -> None:
    """``-o`` needs no standard output, and the file holds the bytes alone."""
    command = ("sh", "-c", f'"$0" -m fortuna -o {tmp_path / "new"} >&- 2>&-', sys.executable)
    assert (0, b"", "") == launch(command=command)
    assert re.fullmatch(rb"[0-9a-f]{64}\n", (tmp_path / "new").read_bytes())


def on_a_terminal(*arguments: str, expected: int) -> tuple[int, bytes, str]:
    """Run the command on a terminal and return its exit code, *expected* bytes of output, and its errors."""
    ours, theirs = pty.openpty()
    try:
        tty.setraw(theirs)
        with start(*arguments, stdout=theirs) as process:
            out = b""
            while len(out) < expected:
                out += os.read(ours, expected - len(out))
            assert process.stderr is not None
            err = process.stderr.read().decode()
        return process.returncode, out, err
    finally:
        os.close(ours)
        os.close(theirs)


def test_terminal() -> None:
    """A terminal is kept from raw bytes unless forced, and gets text."""
    status, out, err = on_a_terminal("-f", "raw", expected=0)
    assert (2, b"") == (status, out)
    for way_out in ("pipe", "-o FILE", "-f hex", "--force"):
        assert way_out in err
    status, out, err = on_a_terminal("-f", "raw", "--force", "-n", "100", expected=100)
    assert (0, 100, "") == (status, len(out), err)
    status, out, err = on_a_terminal(expected=65)
    assert (0, "") == (status, err)
    assert re.fullmatch(rb"[0-9a-f]{64}\n", out)


POOR = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, POOR], ids=["LC_ALL=C", "ASCII only"])
def test_poor_locale(variables: dict[str, str], tmp_path: Path) -> None:
    """In the poorest locale a path that it cannot show is escaped; nothing fails because of it."""
    path = tmp_path / "fürtüna-€.toml"
    outcome = launch("--config", str(path), variables=clean_variables(**variables))
    assert 78 == outcome.status
    assert "cannot be read: No such file or directory" in complaint(outcome)
    path.write_text("[reseed]\ninterval = 3\n", encoding="ascii")
    path.chmod(0o600)
    shown = launch("--config", str(path), "--tunables", variables=clean_variables(**variables))
    assert (0, "") == (shown.status, shown.err)
    assert 3.0 == tomli.loads(shown.out.decode())["reseed"]["interval"]
    target = tmp_path / "öutput"
    assert (0, b"", "") == launch("-o", str(target), variables=clean_variables(**variables))
    refused = launch("-o", str(target), variables=clean_variables(**variables))
    assert 2 == refused.status
    assert "the file exists" in complaint(refused)


def test_path_that_is_no_text(tmp_path: Path) -> None:
    """A path whose bytes are no UTF-8 is named in the message, escaped."""
    outcome = launch("--config", os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    assert 78 == outcome.status
    assert "cannot be read: No such file or directory" in complaint(outcome)
    assert "ff" in complaint(outcome)


def test_processes_differ() -> None:
    """Two processes give different bytes."""
    first, second = launch(), launch()
    assert (0, 0) == (first.status, second.status)
    assert first.out != second.out


def test_file_of_the_environment(write_config: Callable[..., str]) -> None:
    """The process reads the file that its environment names."""
    path = write_config('generator.cipher = "rot13"\n')
    outcome = launch(variables=clean_variables(FORTUNA_CONFIG=path))
    assert 78 == outcome.status
    assert complaint(outcome).startswith(f"{path}:1: generator.cipher: ")


def test_output_never_goes_to_standard_error() -> None:
    """With its output gone to a file and its errors to another, each holds only its own."""
    outcome = launch("-n", "1000", "-f", "raw")
    assert (0, 1000, "") == (outcome.status, len(outcome.out), outcome.err)


LIGHT = """
import json, sys
from fortuna.cli.main import run
from fortuna.cli.environment import Environment
import os
status = run(sys.argv[1:], Environment(stdout=os.open(os.devnull, os.O_WRONLY), is_terminal=False, stderr=sys.stderr,
    variables=os.environ))
print(json.dumps([status, sorted(sys.modules)]))
"""


def modules_of_the_library() -> set[str]:
    """Return what the library that serves without the extension loads for itself, which may be much."""
    code = {
        "openssl": "from cryptography.hazmat.primitives.ciphers import algorithms, modes",
        "pycryptodome": "from Crypto.Cipher import AES, ChaCha20",
    }[LIBRARY]
    code = f"import sys; {code}; print(*sys.modules)"
    return set(launch(command=(sys.executable, "-c", code)).out.decode().split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("-n", "x"), ()], ids=" ".join)
def test_cheap_to_start(arguments: tuple[str, ...]) -> None:
    """The command loads no cipher for help, version and mistakes, and never what it does not use."""
    plain = {name: value for name, value in clean_variables().items() if not name.startswith("COVERAGE")}
    outcome = launch(*arguments, command=(sys.executable, "-c", LIGHT), variables=plain)
    status, modules = json.loads(outcome.out)
    assert (2 if "x" in arguments else 0) == status
    unused = {"dataclasses", "logging", "traceback", "numpy", "multiprocessing", "difflib"}
    if "Crypto" in modules:
        # What pycryptodome imports for itself is its own affair.
        unused -= modules_of_the_library()
    if arguments:
        unused |= {"typing", "threading", "subprocess", "select", "tempfile", "Crypto", "fortuna._boot", "tomli"}
    assert set() == unused & set(modules)


#: What a dump needs nothing of where our kernels serve and no file is read: the library, OpenSSL, a TOML parser.
NOT_FOR_NATIVE = {
    "Crypto",
    "hashlib",
    "_hashlib",
    "tomli",
    "tomllib",
    "dataclasses",
    "logging",
    "subprocess",
    "tempfile",
}
AT_EXIT = """
import atexit
def show():
    print(*sorted(name for name in sys.modules if sys.modules[name] is not None), file=sys.stderr)
atexit.register(show)
from fortuna.tunables_file import load_tunables
load_tunables.__kwdefaults__["system_file"] = "/nonexistent/fortuna.toml"
"""


def modules_at_exit(code: str, *arguments: str) -> set[str]:
    """Return what a dump of 32 bytes has loaded at its end, without a file of tunables."""
    plain = {
        name: value
        for name, value in clean_variables().items()
        if name != "FORTUNA_CONFIG" and not name.startswith("COVERAGE")
    }
    status, out, err = launch_code(f"{code}\n{AT_EXIT}", "-n", "32", *arguments, variables=plain)
    assert (0, 65) == (status, len(out))
    modules = set(err.split())
    assert {"fortuna._boot", "fortuna.cli.main"} <= modules
    return modules


@needs_native
@pytest.mark.parametrize("generator", ["aes256-icm", "chacha20", "xchacha8"])
def test_dump_by_our_kernels_is_light(generator: str) -> None:
    """Where our kernels serve, a dump loads no library of ciphers, no OpenSSL, no TOML parser and no dataclasses."""
    expected_kernel(generator, "native")
    modules = modules_at_exit("", "--cipher", generator)
    assert set() == NOT_FOR_NATIVE & modules
    assert {"fortuna.native", "fortuna.generators._native"} <= modules
    assert {"fortuna.generators.providers.native"} == {
        name for name in modules if name.startswith("fortuna.generators.providers.")
    }


def test_dump_without_the_extension_loads_one_provider() -> None:
    """Without the C extension a dump loads one library and what that loads, and nothing else that is heavy."""
    modules = modules_at_exit(NO_EXTENSION)
    assert {f"fortuna.generators.providers.{LIBRARY}"} == {
        name for name in modules if name.startswith("fortuna.generators.providers.")
    }
    assert set() == {"fortuna.native", "fortuna.generators._native"} & modules
    unused = {"dataclasses", "tomli", "tomllib", "numpy", "logging", "multiprocessing"} - modules_of_the_library()
    assert set() == unused & modules


MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["raw", "hex"])
def test_memory(form: str) -> None:
    """Two gigabytes pass through 40 MiB of memory at most."""
    # Through a small process between: a child's peak counts from that of the process that started it.
    plain = {name: value for name, value in clean_variables().items() if not name.startswith("COVERAGE")}
    command = (sys.executable, "-c", MEASURE, *MODULE)
    status, out, err = launch("-n", "2G", "-f", form, command=command, variables=plain)
    assert (0, "") == (status, err)
    ended, peak = map(int, out.split())
    assert 0 == ended
    peak_bytes = peak * (1 if sys.platform == "darwin" else 1024)
    assert peak_bytes < 40 * PIECE
