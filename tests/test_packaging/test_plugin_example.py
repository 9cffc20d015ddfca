"""The example of a plug-in in docs/: its own tests pass, and installed beside fortuna it serves by its name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest
import tomli

from .packaging_support import NOT_IN_A_CLONE, ROOT, Venv

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE: Final = ROOT / "docs" / "plugin-example"
SETTINGS: Final[dict[str, Any]] = tomli.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))
NAME: Final = "aes256-ctr"
SUPPLIER: Final = f"{SETTINGS['project']['name']} {SETTINGS['project']['version']}"
STATS: Final = f"""
import fortuna
stats = fortuna.boot(overrides={{"generator.cipher": "{NAME}"}}).stats()
print(stats.generator, stats.provider, stats.kernel, stats.distribution)
"""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Give a copy of the example that may be built in."""
    return shutil.copytree(EXAMPLE, tmp_path / "example", ignore=NOT_IN_A_CLONE)


def test_its_own_tests(example: Path) -> None:
    """The tests of the example pass on this installation, beside metadata as an installer would write them."""
    source = example / "src"
    info = source / "example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {SETTINGS['project']['name']}\nVersion: 1.0\n", encoding="utf-8")
    (point,) = SETTINGS["project"]["entry-points"]["fortuna.generators"].items()
    assert NAME == point[0]
    (info / "entry_points.txt").write_text(f"[fortuna.generators]\n{' = '.join(point)}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=example,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"^[4-9]\d passed in ", done.stdout, re.MULTILINE), done.stdout + done.stderr


def generators(listed: str) -> list[str]:
    """Return the lines of the first of the list's two tables."""
    return listed.partition("\n\n")[0].splitlines()


@pytest.mark.slow
def test_installed_beside_fortuna(wheel: Path, example: Path, tmp_path: Path) -> None:
    """Installed into an environment of its own, the example passes its tests and boots by its name."""
    venv = Venv(tmp_path / "venv")
    venv.install(wheel, f"{example}[test]")
    assert re.search(r"^[4-9]\d passed in ", venv.run("python", "-m", "pytest", "-q", cwd=example), re.MULTILINE)
    for provider in ("auto", "plug-in"):
        dumped = venv.run("fortuna-dump", "--cipher", NAME, "--provider", provider, "-n", "64")
        assert re.fullmatch(r"[0-9a-f]{128}\n", dumped)
    untried = f"{NAME} plug-in - untried {SUPPLIER}; imported when its name is asked for"
    assert untried == " ".join(generators(venv.run("fortuna-dump", "--list"))[-1].split())
    active = f"{NAME} plug-in pycryptodome active {SUPPLIER}"
    assert active == " ".join(generators(venv.run("fortuna-dump", "--list", "--cipher", NAME))[-1].split())
    assert f"{NAME} plug-in pycryptodome {SUPPLIER}\n" == venv.run("python", "-W", "error", "-c", STATS)
