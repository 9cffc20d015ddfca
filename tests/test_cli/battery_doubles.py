"""Doubles of batteries for the tests of ``fortuna-dump battery``: called and answering as the true ones.

A double looks at what it is given, as roughly as the controls are bad, and prints a recorded answer. Some doubles do
not look, in the ways in which a battery can fail to.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE: Final = Path(__file__).parent
RECORDED: Final = HERE / "recorded"

#: What is common to all: reads a part of its input, and whether that is bad.
LOOKING: Final = """\
import os, sys, zlib
from pathlib import Path
RECORDED = Path({recorded!r})
def show(name, stream=sys.stdout):
    stream.write((RECORDED / name).read_text())
def is_bad(data):
    ones = int.from_bytes(data, "little").bit_count()
    return len(zlib.compress(data)) < len(data) or abs(ones - 4 * len(data)) > 5 * (2 * len(data)) ** 0.5
def all_of_it():
    return sys.stdin.buffer.read()
"""
#: Name -> how a double behaves that looks.
HONEST: Final = {
    "dieharder": """
assert ["-d", "-g", "200"] == [sys.argv[1], *sys.argv[3:]]
show("dieharder-bad.txt" if is_bad(sys.stdin.buffer.read(1 << 20)) else "dieharder-good.txt")
""",
    "rngtest": """
assert ["-c", "10000"] == sys.argv[1:]
data = all_of_it()
assert 25_000_004 == len(data)
show("rngtest-bad.txt" if is_bad(data[: 1 << 20]) else "rngtest-good.txt", sys.stderr)
sys.exit(1)
""",
    "ent": """
assert ["-t"] == sys.argv[1:]
show("ent-bad.txt" if is_bad(all_of_it()[: 1 << 20]) else "ent-good.txt")
""",
    "RNG_test": """
assert ["stdin32", "-a", "-tlmax", "28"] == sys.argv[1:]
show("practrand-bad.txt" if is_bad(sys.stdin.buffer.read(1 << 20)) else "practrand-good.txt")
""",
    "assess": """
assert ["1000000"] == sys.argv[1:]
assert "0\\nsample\\n1\\n0\\n100\\n1\\n" == sys.stdin.read()
assert Path("templates/template9").is_file()
assert 0o600 == os.stat("sample").st_mode & 0o777
data = Path("sample").read_bytes()
assert 12_500_000 == len(data)
report = Path("experiments/AlgorithmTesting/finalAnalysisReport.txt")
assert (report.parent / "LinearComplexity").is_dir()
with report.open("x") as file:
    show("sts-bad.txt" if is_bad(data[: 1 << 20]) else "sts-good.txt", file)
""",
}
#: How a double behaves that does not look, by what is wrong with it; ``{good}`` prints a good answer.
DISHONEST: Final = {
    "blind": "{good}",
    "reads-nothing": "os.close(0)\n{good}",
    "silent": "sys.stdin.buffer.read(1000)",
    "killed": "{good}\nsys.stdout.flush()\nos.kill(os.getpid(), 9)",
}


def write_program(folder: Path, name: str, body: str) -> Path:
    """Write a double that a shell would find in *folder*."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!{sys.executable} -S\n{LOOKING.format(recorded=str(RECORDED))}{body}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def write_honest(folder: Path, name: str) -> Path:
    """Write a double that looks at its input."""
    if name == "assess":
        (folder / "templates").mkdir(parents=True)
        (folder / "templates" / "template9").touch()
    return write_program(folder, name, HONEST[name])


def build_testu01(folder: Path) -> dict[str, str]:
    """Compile the double of the library TestU01, and return the variables that say where it is."""
    compiler = shutil.which("cc")
    archiver = shutil.which("ar")
    if compiler is None or archiver is None:
        pytest.skip("no C compiler to build the double of TestU01 with")
    source = HERE / "doubles" / "testu01"
    run([compiler, "-O2", "-Wall", "-Werror", "-I", str(source), "-c", str(source / "double.c")], folder)
    run([archiver, "rcs", "libtestu01.a", "double.o"], folder)
    for empty in ("libprobdist.a", "libmylib.a"):
        run([archiver, "rcs", empty], folder)
    return {"CFLAGS": f"-Wall -Wextra -Werror -I{source}", "LDFLAGS": f"-L{folder}"}


def run(command: Sequence[str], folder: Path) -> None:
    """Run a compiler's command."""
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
