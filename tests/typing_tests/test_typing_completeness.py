"""Nothing public is left out of what the type checkers read here."""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).resolve().parent
#: The page that lists what is public.
PAGE: Final = HERE.parents[1] / "docs" / "api.md"
needs_page = pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not here")

#: Modules all of whose classes and aliases are public, though they have no ``__all__``.
LEAVES: Final = ("fortuna.errors", "fortuna.typing")
#: Syntax trees of the users.
USERS: Final = tuple(ast.parse(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("use_*.py")))


def documented_modules() -> list[str]:
    """Return the public modules, in the order of the page."""
    return re.findall(r"^\.\. (?:py:module|automodule):: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def documented_names() -> set[tuple[str, str]]:
    """Return module and name of everything that the page describes; of a class, the members that it lists as well."""
    module = ""
    found: set[tuple[str, str]] = set()
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\.\. (?:py:module|currentmodule):: (\S+)$", line):
            module = match[1]
        elif match := re.match(r"\.\. (?:data|auto(?:function|class|exception)):: (\w+)$", line):
            found.add((module, match[1]))
        elif match := re.match(r" +:members: (.+)$", line):
            found |= {("", member) for member in match[1].split(", ")}
    return found


def declared_names(module: str) -> set[str]:
    """Return the names that a module says are public, or the classes and aliases of a leaf that says nothing."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    defined: set[str] = set()
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
        if isinstance(node, ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    return {name for name in defined if module in LEAVES and not name.startswith("_")}


def used_names() -> set[tuple[str, str]]:
    """Return what the users import, by module, what they write after a dot, and what they override."""
    used: set[tuple[str, str]] = set()
    for tree in USERS:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                used |= {(node.module or "", alias.name) for alias in node.names}
            elif isinstance(node, ast.Attribute):
                used.add(("", node.attr))
                if isinstance(node.value, ast.Name):
                    used.add((node.value.id, node.attr))
            elif isinstance(node, ast.FunctionDef):
                used.add(("", node.name))
    return used


@needs_page
def test_typing_every_public_name_is_used() -> None:
    """What is in an ``__all__``, or is described on the page of the interface, is used; so is each listed member."""
    public = {(module, name) for module in documented_modules() for name in declared_names(module)}
    assert set() == {f"{module}.{name}" for module, name in (public | documented_names()) - used_names()}


@needs_page
def test_typing_every_declared_name_is_described() -> None:
    """Whatever is in the ``__all__`` of the package itself is on the page, as a name or as a module."""
    described = {name for _, name in documented_names()} | {
        module.rpartition(".")[2] for module in documented_modules()
    }
    assert set() == declared_names("fortuna") - described


@needs_page
def test_typing_the_search_sees_what_it_looks_for() -> None:
    """A name that nobody uses would be noticed."""
    assert ("fortuna", "random_bytes") in used_names()
    assert ("fortuna", "nonesuch") not in used_names()
    assert {("fortuna", "boot"), ("fortuna.testing", "live"), ("", "harvest")} <= documented_names()
    assert {"fortuna", "fortuna.errors", "fortuna.typing", "fortuna.core.health"} <= set(documented_modules())
    assert {"Source", "Clock", "Size"} <= declared_names("fortuna.typing")


@pytest.mark.parametrize("tree", USERS)
def test_typing_users_are_outsiders(tree: ast.Module) -> None:
    """No user imports anything private."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            assert not any(part.startswith("_") for part in node.module.split(".") if part != "__future__")
            assert not any(alias.name.startswith("_") for alias in node.names)
