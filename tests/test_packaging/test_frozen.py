"""A program frozen by PyInstaller: ciphers, providers and sources are found by name, without any metadata."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from .packaging_support import SETTINGS, Venv, run, run_unchecked, why_no_compiler

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("objdump"), reason="PyInstaller needs objdump, of binutils"),
]

#: Boots what it is told, and shows what runs.
PROGRAM = """
import sys
import fortuna

cipher, provider, sources = sys.argv[1:]
overrides = {"generator.cipher": cipher, "generator.provider": provider, "entropy.sources": sources.split(",")}
try:
    with fortuna.boot(overrides=overrides) as live:
        stats = fortuna.stats()
        print(stats.generator, stats.provider, len(fortuna.random_bytes(32)), len(fortuna.generators.available()) > 9)
except fortuna.TunableError as error:
    print(type(error).__name__, "(installed: none)" in str(error))
"""


@pytest.fixture(scope="module")
def frozen(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the program, frozen from an environment of its own and carried away from it."""
    base = tmp_path_factory.mktemp("frozen")
    venv = Venv(base / "venv")
    venv.install(wheel, *SETTINGS["dependency-groups"]["frozen"])
    (base / "program.py").write_text(PROGRAM, encoding="ascii")
    # What it reports goes to standard error, also where all is well; at this level, errors only.
    command = ["pyinstaller", "--log-level", "ERROR", "--distpath", base / "dist", "--workpath", base / "work"]
    venv.run(*map(str, command), str(base / "program.py"), cwd=base)
    shutil.move(base / "dist" / "program", base / "carried")
    shutil.rmtree(venv.folder)
    return base / "carried" / "program"


@pytest.mark.parametrize("provider", ["native", "pycryptodome", "reference"])
@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20", "xchacha20"])
def test_frozen_programs_find_ciphers_and_providers(frozen: Path, cipher: str, provider: str, tmp_path: Path) -> None:
    """Each cipher runs on each provider that was installed, the C extension included."""
    if provider == "native" and why_no_compiler():
        pytest.skip(why_no_compiler())
    assert f"{cipher} {provider} 32 True\n" == run(frozen, cipher, provider, "os,cpu", cwd=tmp_path)


def test_frozen_programs_find_sources(frozen: Path, tmp_path: Path) -> None:
    """The sources that the tunables name are there as well."""
    assert run(frozen, "chacha20", "auto", "os,cpu,jitter,proc", cwd=tmp_path).endswith(" 32 True\n")


def test_frozen_programs_refuse_what_nobody_offers(frozen: Path, tmp_path: Path) -> None:
    """A name that is none of ours is looked up in the metadata, of which there is none, and refused in our words."""
    done = run_unchecked(frozen, "nonesuch", "auto", "os", cwd=tmp_path)
    assert ("TunableError True\n", "") == (done.stdout, done.stderr)
