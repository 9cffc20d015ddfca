"""Without the extension every module here is skipped, with the reason; with it, tests get our kernels by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Skipped(pytest.Module):
    """A test module that is not imported, since what it imports is missing."""

    def collect(self) -> Iterable[pytest.Item]:
        """Skip, and say why."""
        pytest.skip(f"the C extension is not in this installation: {why_no_extension()}", allow_module_level=True)


def why_no_extension() -> str:
    """Return why the extension cannot be imported, or an empty string."""
    try:
        from fortuna.generators import _native as _native
    except ImportError as error:
        return str(error) or "no reason given"
    return ""


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Make a module that skips where there is no extension."""
    if not why_no_extension():
        return None
    made: Skipped = Skipped.from_parent(parent, path=module_path)
    return made


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each kernel of each generator to ``cell``, and the best kernel of each to ``best``."""
    given = {name for mark in metafunc.definition.iter_markers("parametrize") for name in names_in(mark.args[0])}
    for argument in ("cell", "best"):
        if argument in metafunc.fixturenames and argument not in given:
            from .native_support import BEST, NATIVE

            metafunc.parametrize(argument, NATIVE if argument == "cell" else BEST, ids="-".join)


def names_in(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the argument names of a parametrize mark."""
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
