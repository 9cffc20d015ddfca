"""The files of configs/: complete, equal to the declarations, and accepted by the loader."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.tunables import TUNABLES, Tunables, as_toml
from fortuna.tunables_file import load_tunables

from .docs_support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CONFIGS: Final = sorted((ROOT / "configs").glob("*.toml"))
DEFAULT: Final = ROOT / "configs" / "default.toml"


def load(path: Path, tmp_path: Path) -> Tunables:
    """Load a copy of *path*: the checkout may belong to somebody whose files are refused."""
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)
    copy.chmod(0o600)
    return load_tunables(copy, None, environ={})


def entries() -> dict[str, tuple[str, str]]:
    """Return dotted name -> (comment above it, value as written) of the default file."""
    table, comment, found = "", "", {}
    for line in DEFAULT.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            table = line.strip("[]")
        elif line.startswith("#"):
            comment += line[1:]
        elif line:
            key, _, value = line.partition(" = ")
            found[f"{table}.{key}"] = (" ".join(comment.split()), value)
        if not line.startswith("#"):
            comment = ""
    return found


def test_default_file_has_every_tunable() -> None:
    """The default file sets every tunable, in the order of their declaration, and no other."""
    assert list(TUNABLES) == list(entries())


def test_default_file_changes_nothing(tmp_path: Path) -> None:
    """Booting with the default file is booting without a file, and each value does come from the file."""
    loaded = load(DEFAULT, tmp_path)
    assert Tunables({}, {}) == loaded
    assert all(re.fullmatch(r".*default\.toml:\d+", loaded.origin(key)) for key in TUNABLES)


@pytest.mark.parametrize("key", TUNABLES)
def test_default_file_explains(key: str) -> None:
    """The comment above a tunable has its meaning, the values allowed with their unit, and the default."""
    tunable = TUNABLES[key]
    comment, value = entries()[key]
    assert comment.startswith(tunable.meaning)
    assert comment.endswith(f"Allowed: {tunable.allowed}. Default: {as_toml(tunable.default)}.")
    assert as_toml(tunable.default) == value


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_config_is_accepted(path: Path, tmp_path: Path) -> None:
    """The loader takes every file that we offer."""
    load(path, tmp_path)


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_config_of_a_cipher(cipher: str, tmp_path: Path) -> None:
    """The file that is named after a cipher chooses it and changes nothing else."""
    assert Tunables({"generator.cipher": cipher}, {}) == load(ROOT / "configs" / f"{cipher}.toml", tmp_path)


def test_four_files() -> None:
    """The files are those that README and the tests know."""
    assert [path.stem for path in CONFIGS] == ["aes256-icm", "chacha20", "default", "service"]
