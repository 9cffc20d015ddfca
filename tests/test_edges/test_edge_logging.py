"""The logger ``fortuna``: silent until the application listens, and never used inside a fork."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from .edge_doubles import lines_of, run_script

if TYPE_CHECKING:
    from pathlib import Path

#: Boots with a source that fails at once, and says so.
FAILING = """
fortuna.boot(overrides={"entropy.sources": ["os", "file"], "entropy.file": FILE, "entropy.harvest_interval": 0.01})
fortuna.random_bytes(1)
deadline = time.monotonic() + 20
while not [source for source in fortuna.stats().sources if source.failures]:
    assert time.monotonic() < deadline
    time.sleep(0.001)
"""


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ["['NullHandler']"]),
        ("logging.getLogger('fortuna').addHandler(logging.StreamHandler(sys.stdout))", None),
        ("logging.basicConfig(stream=sys.stdout)", None),
    ],
)
def test_edge_logging_drops_lines_until_somebody_listens(
    before: str, expected: list[str] | None, config: dict[str, str], tmp_path: Path
) -> None:
    """Nothing goes to standard error by itself; handlers of the application, also of its root logger, get the line."""
    code = f"""
import logging, sys, time
import fortuna
{before}
FILE = {str(tmp_path / "device")!r}
{FAILING}
fortuna.default().close()
print([type(handler).__name__ for handler in logging.getLogger("fortuna").handlers])
"""
    (tmp_path / "device").write_bytes(b"")
    lines = lines_of(run_script(code, environment=config))
    if expected is None:
        assert ["entropy source fails, going on without it: " in lines[0], len(lines)] == [True, 2]
    else:
        assert expected == lines


def test_edge_logging_of_the_command_goes_to_standard_error() -> None:
    """The command is an application: without a handler that drops it, Python prints a warning."""
    code = """
import sys
import fortuna.cli.main
from fortuna.monitor import log
sys.stderr = sys.stdout
log("the line")
"""
    assert ["the line"] == lines_of(run_script(code))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_edge_logging_is_not_used_by_the_hooks_of_a_fork(config: dict[str, str], tmp_path: Path) -> None:
    """With a source that fails, neither side of a fork logs, or imports logging, before it draws again."""
    code = """
import sys, time
import fortuna
from child_support import Child

fortuna.random_bytes(1)

def is_imported():
    return bytes(["logging" in sys.modules])

print(Child(is_imported).answer() + is_imported())

import logging

said = []

class Handler(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())

logging.getLogger("fortuna").addHandler(Handler())
source = fortuna.default()._life.monitors[0]
source._fail("failing", "broken", (1, 1))
before = len(said)
print(before, Child(lambda: bytes([len(said) - before])).answer(), len(said) - before)
"""
    assert ["b'\\x00\\x00'", "1 b'\\x00' 0"] == lines_of(run_script(code, environment=config))
