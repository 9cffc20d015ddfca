"""What the tests of the command share: ways to run it in this process and in one of its own, and a scripted generator.

Most tests call `fortuna.cli.main.run` with an `Environment` of their own. A process of its own is started where the
process itself is the matter: signals, descriptors, locale, memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from hashlib import sha256
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import pytest

from fortuna.cli.environment import Environment
from fortuna.cli.main import run

try:
    from fortuna.generators import _native
except ImportError as error:
    WHY_NOT_NATIVE = f"the C extension is not in this installation: {error}"
else:
    WHY_NOT_NATIVE = ""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from typing_extensions import Self

    from fortuna.cli.status import Status

#: The installed command and its other spelling.
SCRIPT: Final = str(Path(sysconfig.get_path("scripts")) / "fortuna-dump")
MODULE: Final = (sys.executable, "-m", "fortuna")
#: No process of a test needs longer; one that does hangs.
PATIENCE_SECONDS: Final = 60
PIECE: Final = 1 << 20
#: Every kernel of the C extension, best first, by what generators it is for.
AES_KERNELS: Final = ("vaes512", "vaes", "aesni", "armv8")
CHACHA_KERNELS: Final = ("avx512", "avx2", "ssse3", "neon", "portable")
ALL_GENERATORS: Final = ("aes256-icm", "chacha20", "chacha12", "chacha8", "xchacha20", "xchacha12", "xchacha8")
#: What the libraries offer.
LIBRARY_GENERATORS: Final = ("aes256-icm", "chacha20", "xchacha20")
#: The providers that are libraries, as ``auto`` tries them, each with what keeps it from running here.
LIBRARIES: Final = {
    "openssl": ""
    if find_spec("cryptography")
    else "provider 'openssl' cannot be imported: the library cryptography is not installed; "
    "pip install 'fortuna-rng[openssl]'",
    "pycryptodome": "",
}
#: The first that runs here.
LIBRARY: Final = next(provider for provider, why in LIBRARIES.items() if not why)
Cell = tuple[str, str, str]

needs_native = pytest.mark.skipif(WHY_NOT_NATIVE != "", reason=WHY_NOT_NATIVE or "the C extension is here")
#: A line of code after which the C extension cannot be imported.
NO_EXTENSION: Final = "sys.modules['fortuna.generators._native'] = None"


def native_kernels(generator: str) -> dict[str, str]:
    """Return our kernels for *generator*, best first, each with what keeps it from running here; none without them."""
    return {} if WHY_NOT_NATIVE else dict(_native.kernels(generator, _native.cpu_features()))


def cells() -> list[Cell]:
    """Return each generator, provider and kernel that must run here, for each provider the best kernel first."""
    found = []
    for generator in ALL_GENERATORS:
        found += [(generator, "native", kernel) for kernel, why in native_kernels(generator).items() if not why]
        if generator in LIBRARY_GENERATORS:
            found += [(generator, provider, "library") for provider, why in LIBRARIES.items() if not why]
        found.append((generator, "reference", "python"))
    return found


def expected_kernel(generator: str, provider: str = "auto") -> tuple[str, str]:
    """Return the provider and the kernel that must serve here; skip the test where the named provider has none."""
    for cell in cells():
        if cell[0] == generator and cell[1] == (cell[1] if provider == "auto" else provider):
            return cell[1:]
    return pytest.skip(
        LIBRARIES.get(provider) or WHY_NOT_NATIVE or f"no kernel of the C extension runs {generator} on this processor"
    )


class Outcome(NamedTuple):
    """What one run left behind."""

    status: int
    out: bytes
    err: str


def run_here(*arguments: str, is_terminal: bool = False, variables: Mapping[str, str] | None = None) -> Outcome:
    """Run the command in this process, its standard output a file."""
    stderr = StringIO()
    with tempfile.TemporaryFile() as stdout:
        environment = Environment(
            stdout=stdout.fileno(), is_terminal=is_terminal, stderr=stderr, variables=variables or {}
        )
        status: Status = run(arguments, environment)
        stdout.seek(0)
        return Outcome(status, stdout.read(), stderr.getvalue())


def clean_variables(**more: str) -> dict[str, str]:
    """Return this process's variables without those that would change a run, and with *more*.

    ``FORTUNA_CONFIG`` is kept: the fixtures let it name an empty file, so that the machine's own file is not read.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "LC_")) and name not in ("LANG", "LANGUAGE")
    }
    return {**kept, **more}


def launch(
    *arguments: str,
    command: tuple[str, ...] = MODULE,
    variables: Mapping[str, str] | None = None,
    stdout: int | BinaryIO = subprocess.PIPE,
    preexec_fn: Callable[[], object] | None = None,
) -> Outcome:
    """Run the command in a process of its own."""
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        [*command, *arguments],
        env=clean_variables() if variables is None else variables,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_SECONDS,
        check=False,
        preexec_fn=preexec_fn,
    )
    return Outcome(done.returncode, done.stdout or b"", done.stderr.decode(errors="replace"))


def launch_code(code: str, *arguments: str, variables: Mapping[str, str] | None = None) -> Outcome:
    """Run *code*, then the command's `main` on *arguments*, in a process of its own."""
    code = f"import sys\n{code}\nfrom fortuna.cli.main import main\nsys.argv[0] = 'fortuna-dump'\nsys.exit(main())"
    return launch(*arguments, command=(sys.executable, "-c", code), variables=variables)


def complaint(outcome: Outcome) -> str:
    """Return the one line of an error, without the command's name; nothing else may have been written."""
    assert outcome.out == b""
    assert outcome.err.endswith("\n")
    (line,) = outcome.err.splitlines()
    assert line.startswith("fortuna-dump: ")
    return line.removeprefix("fortuna-dump: ")


def scripted(size: int) -> bytes:
    """Return the first *size* bytes that every `ScriptedFortuna` gives."""
    blocks = (sha256(index.to_bytes(8, "big")).digest() for index in range(-(-size // 32)))
    return b"".join(blocks)[:size]


class ScriptedFortuna:
    """Stand in for a booted generator: the same bytes each time, and a count of what was asked for."""

    def __init__(self) -> None:
        self.requests: list[int] = []
        self.is_closed = False
        self._stream = bytearray()
        self._made = 0

    def readinto(self, buffer: memoryview) -> int:
        """Fill *buffer* with the next bytes of the script."""
        self.requests.append(len(buffer))
        while len(self._stream) < len(buffer):
            self._stream += sha256(self._made.to_bytes(8, "big")).digest()
            self._made += 1
        buffer[:] = self._stream[: len(buffer)]
        del self._stream[: len(buffer)]
        return len(buffer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.is_closed = True


def raiser(error: BaseException) -> Callable[..., Any]:
    """Return a function that raises *error*, whatever it is called with."""

    def fail(*arguments: object, **options: object) -> Any:
        raise error

    return fail


def spell(value: object) -> str:
    """Return the readable id of a test's arguments."""
    return " ".join(value) if isinstance(value, tuple) else str(value)
