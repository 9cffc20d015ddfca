"""Without docs/examples, as where a wheel is tested, everything here is skipped; with it, tests get its file."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from .example_servers import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Give a copy of the examples' file, since the checkout may belong to somebody whose files are refused.

    It has one line more: reseeds from the pools an hour apart. Workers that shared a key would repeat each other's
    tokens until the next of those, which by default comes too soon to be sure that somebody sees it.
    """
    if not EXAMPLES.is_dir():
        pytest.skip("docs/examples is not here")
    copy = tmp_path / "fortuna.toml"
    shutil.copyfile(EXAMPLES / "fortuna.toml", copy)
    copy.chmod(0o600)
    with copy.open("a", encoding="ascii") as file:
        file.write("[reseed]\ninterval = 3600\n")
    return copy
