"""The Python and shell blocks of README and the pages run as they stand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from fortuna.tunables_file import ENVIRONMENT_VARIABLE

from .docs_support import DOCS, README, Block, blocks, pages

PAGES: Final = (README, *(page for page in pages() if page.is_relative_to(DOCS)))
PYTHON_BLOCKS: Final = [block for page in PAGES for block in blocks(page, "python")]
#: Without README's first block, which makes virtual environments: `.ci/run` runs that.
SHELL_BLOCKS: Final = [block for page in PAGES for block in blocks(page, "sh")][1:]


def run(command: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    """Run *command* in *where*, with this interpreter and its commands first on the path."""
    environ = {key: value for key, value in os.environ.items() if key != ENVIRONMENT_VARIABLE}
    environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), environ.get("PATH", os.defpath)))
    return subprocess.run(command, cwd=where, env=environ, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("block", PYTHON_BLOCKS, ids=str)
def test_python_block(block: Block, tmp_path: Path) -> None:
    """The block runs alone, without error and without warning."""
    (tmp_path / "snippet.py").write_text(block.body, encoding="utf-8")
    done = run([sys.executable, "-W", "error", "snippet.py"], tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("block", SHELL_BLOCKS, ids=str)
def test_shell_block(block: Block, tmp_path: Path) -> None:
    """Every command of the block succeeds and complains about nothing."""
    done = run(["/bin/sh", "-eu", "-c", block.body], tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout


def test_there_are_snippets() -> None:
    """README embeds, proves, samples and switches, and the tutorial does so at length."""
    assert len(blocks(README, "python")) == 2
    assert len(blocks(README, "sh")) == 4
    assert len(blocks(DOCS / "tutorial.md", "python")) >= 8
    assert len(blocks(DOCS / "tutorial.md", "sh")) >= 4


def test_the_file_switches(tmp_path: Path) -> None:
    """README's last shell block, which switches by a file, ends with a generator on the other cipher."""
    done = run(["/bin/sh", "-eu", "-c", blocks(README, "sh")[-1].body], tmp_path)
    assert 'generator.cipher = "chacha20"' in done.stdout
    assert done.stdout.splitlines()[-1].startswith("<Fortuna chacha20/")


def test_the_proof_proves(tmp_path: Path) -> None:
    """README's proof fails when the hand computation is changed in one place, so it compares something."""
    proof = blocks(README, "python")[-1].body
    broken = proof.replace("blocks(key, 6, 1)", "blocks(key, 7, 1)")
    assert proof != broken
    (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
    done = run([sys.executable, "broken.py"], tmp_path)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
