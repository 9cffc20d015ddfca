"""What the packaging tests share: copies of the checkout, virtual environments, and a look into archives.

Building and installing takes a package index, as installing the tests themselves did.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import tomli

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).resolve().parents[2]
#: Of pyproject.toml.
SETTINGS: Final[dict[str, Any]] = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: Final[dict[str, Any]] = SETTINGS["project"]
#: What a fresh clone does not have.
NOT_IN_A_CLONE: Final = shutil.ignore_patterns(
    *(
        ".git",
        ".venv*",
        "build",
        "dist",
        "_build",
        "*.egg-info",
        "__pycache__",
        ".*_cache",
        ".hypothesis",
        ".coverage*",
    ),
    *("*.o", "*.so", "*.pyd"),
)
#: The extension in a wheel that this Python builds.
EXTENSION: Final = f"fortuna/generators/_native{sysconfig.get_config_var('EXT_SUFFIX')}"
#: Variables under which there is no compiler; `false` always fails.
NO_COMPILER: Final = {"CC": "false"}
PATIENCE_SECONDS: Final = 600


def run(*command: str | Path, cwd: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run *command*, which must succeed without a word on standard error, and return its output."""
    done = run_unchecked(*command, cwd=cwd, variables=variables)
    assert (done.returncode, done.stderr) == (0, ""), f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_unchecked(
    *command: str | Path, cwd: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run *command* with this process's variables less those that would let the checkout in."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "COVERAGE", "FORTUNA", "VIRTUAL_ENV", "SOURCE_DATE_EPOCH"))
    }
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={**kept, **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@cache
def why_no_compiler() -> str:
    """Return why no extension can be compiled on this machine, or an empty string."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "try.c"
        source.write_text("#include <Python.h>\nint zero(void) { return 0; }\n", encoding="ascii")
        command = [*compiler, "-c", f"-I{sysconfig.get_path('include')}", str(source), "-o", f"{folder}/try.o"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except OSError as error:
            return f"there is no C compiler here: {error}"
        except subprocess.CalledProcessError as error:
            return f"the C compiler cannot compile for Python: {error.stderr.strip() or error}"
    return ""


def need_compiler() -> None:
    """Skip the test where no extension can be compiled."""
    if why_no_compiler():
        pytest.skip(why_no_compiler())


def pip(
    *arguments: str | Path,
    cwd: Path,
    python: str | Path = sys.executable,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run the pip of *python*; by default the one that installed the tests."""
    done = run_unchecked(python, "-m", "pip", "--disable-pip-version-check", *arguments, cwd=cwd, variables=variables)
    assert 0 == done.returncode, f"pip {arguments}:\n{done.stdout}\n{done.stderr}"


class Venv:
    """A virtual environment into which the tests' own pip installs, or, made by another Python, that one's pip."""

    def __init__(self, folder: Path, interpreter: str | Path | None = None) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.python = self.bin / "python"
        self.away = folder / "away"
        self.has_own_pip = interpreter is not None
        options = () if self.has_own_pip else ("--without-pip",)
        run(interpreter or sys.executable, "-m", "venv", *options, folder, cwd=folder.parent)
        self.away.mkdir()

    def install(self, *requirements: str | Path, variables: Mapping[str, str] | None = None) -> None:
        """Install *requirements* and what they need."""
        if self.has_own_pip:
            pip("install", "--quiet", *requirements, cwd=self.away, python=self.python, variables=variables)
        else:
            pip("--python", self.python, "install", "--quiet", *requirements, cwd=self.away, variables=variables)

    def run(self, *command: str, cwd: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
        """Run a command of the environment in a folder from which the checkout cannot be seen."""
        name, *arguments = command
        return run(self.bin / name, *arguments, cwd=cwd or self.away, variables=variables)


def copy_checkout(target: Path, source: Path = ROOT, link: str = "link") -> Path:
    """Copy the checkout, or an earlier copy, as a fresh clone would have it.

    *link* says what becomes of fortuna/generators: it stays a ``link``, or is the ``text`` file that git makes where it
    cannot link, or is ``missing``.
    """
    shutil.copytree(source, target, symlinks=True, ignore=NOT_IN_A_CLONE)
    place = target / "fortuna" / "generators"
    assert place.is_symlink()
    if link != "link":
        destination = place.readlink()
        place.unlink()
        if link == "text":
            place.write_text(str(destination), encoding="ascii")
    return target


def wheel_contents(wheel: Path) -> dict[str, str]:
    """Return name and hash of each file in *wheel*."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def sdist_names(sdist: Path) -> set[str]:
    """Return the names of the files in *sdist*, below its one folder."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()}


def python_files(folder: Path) -> set[str]:
    """Return the Python files below *folder*, links followed, relative to the folder above it."""
    return {
        (Path(where) / name).relative_to(folder.parent).as_posix()
        for where, _, names in os.walk(folder, followlinks=True)
        for name in names
        if name.endswith(".py")
    }
