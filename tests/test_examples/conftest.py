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
    """Give a copy of the examples' file, since the checkout may belong to somebody whose files are refused."""
    if not EXAMPLES.is_dir():
        pytest.skip("docs/examples is not here")
    copy = tmp_path / "fortuna.toml"
    shutil.copyfile(EXAMPLES / "fortuna.toml", copy)
    copy.chmod(0o600)
    return copy
