"""The C tests of the kernels, each target of tests/c/build.py in a build of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from .native_support import TESTS

if TYPE_CHECKING:
    from pathlib import Path

BUILD: Final = TESTS / "c" / "build.py"
COMPILER: Final = os.environ.get("CC", "gcc")

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"no C compiler {COMPILER!r}")


def compiles(folder: Path, *flags: str) -> bool:
    """Tell whether a program that includes a system header can be built with *flags* and run."""
    source, program = folder / "probe.c", folder / "probe"
    source.write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
    built = subprocess.run([COMPILER, *flags, str(source), "-o", str(program)], capture_output=True, check=False)
    return built.returncode == 0 and subprocess.run([str(program)], check=False).returncode == 0


def build_and_run(target: str) -> str:
    """Run one target and return what it printed, after making sure that it succeeded."""
    done = subprocess.run(
        [sys.executable, str(BUILD), target], capture_output=True, text=True, timeout=900, check=False
    )
    assert 0 == done.returncode, done.stdout[-4000:] + done.stderr[-4000:]
    assert f"== {target}" in done.stdout
    return done.stdout


@pytest.mark.slow
def test_native() -> None:
    """Every C test passes on every kernel of this processor, in the ordinary build."""
    assert "portable" in build_and_run("native")


@pytest.mark.slow
def test_sanitize(tmp_path: Path) -> None:
    """The same under AddressSanitizer and UndefinedBehaviorSanitizer."""
    if not compiles(tmp_path, "-fsanitize=address,undefined"):
        pytest.skip("the compiler has no sanitizer libraries")
    build_and_run("sanitize")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["m32", "scalar"])
def test_32_bit(target: str, tmp_path: Path) -> None:
    """The same as 32-bit programs, with and without vector registers."""
    if not compiles(tmp_path, "-m32"):
        pytest.skip("no 32-bit headers and libraries: gcc-multilib")
    build_and_run(target)


@pytest.mark.slow
def test_secrets_under_valgrind() -> None:
    """With key and state marked undefined, no branch and no address depends on them."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    build_and_run("valgrind")


@pytest.mark.slow
def test_broken_kernels_fail_their_self_test() -> None:
    """Kernels built with a fault in a carry fail their self-test, each of them."""
    build_and_run("broken")
