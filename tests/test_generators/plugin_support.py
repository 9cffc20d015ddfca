"""Distributions as an installer leaves them: a module and a folder of metadata beside it, made for one test."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

GROUP: Final = "fortuna.generators"
PATIENCE_SECONDS: Final = 60
#: A generator that works: blocks of 32 bytes, SHA-256(key || LE128(C)).
SHA_GENERATOR: Final = """
from hashlib import sha256
from fortuna.generators import KeystreamGenerator
from fortuna.generators.secret import Secret

class SHA(KeystreamGenerator):
    name = "sha-ctr"
    block_size = 32
    provider = "plug-in"
    kernel = "hashlib"
    _known_answers = (
        (2**32 - 1, "a179d4f12e2042e5285d08119c20e779bd59adeb2ab44f551259246d3b211fa03ecbbdaec94c8a6a"),
        (2**128 - 1, "05DB1742 f4023495acbb696b966d77c60dd9c557a04b54a7e340176aaa2ced17efb030fb5f0f1981"),
    )

    def _rekey(self, key):
        self._key = Secret(key)

    def _fill(self, counter, out):
        for start in range(0, len(out), 32):
            block = sha256(bytes(self._key) + (counter % 2**128).to_bytes(16, "little")).digest()
            out[start : start + 32] = block[: len(out) - start]
            counter += 1

    def _erase(self):
        if hasattr(self, "_key"):
            self._key.wipe()
"""


def install(
    site: Path,
    distribution: str,
    version: str = "1.0",
    *,
    entry_points: str = "",
    modules: dict[str, str] | None = None,
    metadata: str | None = None,
) -> None:
    """Put a distribution into the folder *site*; *metadata* stands in for a well-formed METADATA file."""
    info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    if metadata is None:
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for name, source in (modules or {}).items():
        (site / f"{name}.py").write_text(source, encoding="utf-8")


def install_generator(
    site: Path, name: str = "sha-ctr", source: str = SHA_GENERATOR, *, distribution: str = "sha-plugin"
) -> None:
    """Put a distribution into *site* that offers *source*'s class ``SHA`` as generator *name*."""
    module = f"module_of_{distribution.replace('-', '_')}"
    entry_points = f"[{GROUP}]\n{name} = {module}:SHA\n"
    install(site, distribution, "1.2", entry_points=entry_points, modules={module: source})


def run_python(site: Path, *arguments: str, program: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with *site* on its path, on a file of its own where *program* is given, and without tunables."""
    config, file = site.parent / "empty.toml", site.parent / "program.py"
    config.touch(mode=0o600)
    if program is not None:
        file.write_text(program, encoding="utf-8")
        arguments = (str(file), *arguments)
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(site), "FORTUNA_CONFIG": str(config)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def output_of(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a process wrote, after making sure that it ended well and complained of nothing."""
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout
