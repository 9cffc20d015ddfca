"""Pages that list what the code has: the Python interface, the command, the design table."""

from __future__ import annotations

import ast
import re
from pkgutil import resolve_name

import pytest

import fortuna
import fortuna.core
import fortuna.generators
from fortuna.cli.options import build_parser
from fortuna.cli.status import Status

from .docs_support import DOCS, ROOT

API = (DOCS / "api.md").read_text(encoding="utf-8")
MANUAL = (DOCS / "man" / "fortuna-dump.md").read_text(encoding="utf-8")
DESIGN_ROWS = re.findall(
    r"^\| .* \| `(fortuna\.[\w.]+)` \| `(test_[\w/]+\.py)::(\w+)` \|$",
    (DOCS / "design.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize("name", fortuna.__all__)
def test_name_of_the_package(name: str) -> None:
    """Every public name of the package has an entry of its own on the page of the interface."""
    assert re.search(rf"^\.\. (?:auto\w+|data):: {name}$|^\.\. py:module:: fortuna\.{name}$", API, re.MULTILINE)


@pytest.mark.parametrize("module", [fortuna.generators, fortuna.core], ids=["generators", "core"])
def test_names_of_a_module(module: object) -> None:
    """Every public name of the module stands below the module's heading."""
    _, _, below = API.partition(f".. currentmodule:: {vars(module)['__name__']}\n")
    section = below.partition(".. currentmodule::")[0]
    names = set(re.findall(r"^\.\. (?:autofunction|autoclass|data):: (\w+)$", section, re.MULTILINE))
    assert set(vars(module)["__all__"]) == names


def test_options_of_the_command() -> None:
    """The manual has the options that the command has, and no other."""
    actual = set(re.findall(r"(?<![\w-])--?[a-z][a-z]*", build_parser().format_help().partition("sizes:")[0]))
    documented = set(re.findall(r"\*\*(--?[a-z]+)\*\*", MANUAL))
    assert documented == actual - {"-dump"}


def test_exit_codes_of_the_command() -> None:
    """The manual has the exit codes that the command has, in order, and no other."""
    codes = [int(code) for code in re.findall(r"^\*\*(\d+)\*\*\n: ", MANUAL, re.MULTILINE)]
    assert sorted(Status) == codes


def test_design_table_has_rows() -> None:
    """Both tables, of procedures and of properties, are found by the pattern that the next test relies on."""
    assert len(DESIGN_ROWS) == 13 + 9


@pytest.mark.parametrize(("function", "path", "test"), DESIGN_ROWS, ids=[f"{row[0]}-{row[2]}" for row in DESIGN_ROWS])
def test_design_row(function: str, path: str, test: str) -> None:
    """The function and the test of the row exist."""
    found = resolve_name(function)
    assert callable(found)
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
