"""The layers, read from the source: who may import whom, who may touch the real machine; nothing is forgotten."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

import fortuna

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(fortuna.__file__).resolve().parent
#: The front serves the generator of the process, and may use the package's own functions.
LEAF, GENERATORS, CORE, EDGES, FRONT = "leaf", "generators", "core", "edges", "front"
#: What each layer may import: itself and what lies below.
BELOW: Final = {
    LEAF: {LEAF},
    GENERATORS: {LEAF, GENERATORS},
    CORE: {LEAF, GENERATORS, CORE},
    EDGES: {LEAF, GENERATORS, CORE, EDGES},
    FRONT: {LEAF, GENERATORS, CORE, EDGES, FRONT},
}
#: Folders whose every file belongs to one layer.
FOLDERS: Final = {
    "generators": GENERATORS,
    "core": CORE,
    "sources": EDGES,
    "cli": EDGES,
    "batteries": EDGES,
    "bench": FRONT,
    "metrics": EDGES,
    "__pyinstaller": FRONT,
    "testing": EDGES,
}
#: Files that stand in the package itself. A new one fails until it has its place here.
FILES: Final = {
    "__init__": FRONT,
    "__main__": EDGES,
    "_version": LEAF,
    "errors": LEAF,
    "typing": LEAF,
    "_boot": EDGES,
    "_random": FRONT,
    "_uuid": FRONT,
    "_source_report": EDGES,
    "_stats": EDGES,
    "aio": FRONT,
    "clones": EDGES,
    "forks": EDGES,
    "harvester": EDGES,
    "life": EDGES,
    "monitor": EDGES,
    "multiprocess": EDGES,
    "native": EDGES,
    "numpy": FRONT,
    "numpy_bits": EDGES,
    "parts": EDGES,
    "rng": EDGES,
    "secrets": FRONT,
    "seedfile": EDGES,
    "seedfile_directory": EDGES,
    "seedfile_system": EDGES,
    "shared": EDGES,
    "tunables": EDGES,
    "tunables_file": EDGES,
    "unpatched": EDGES,
}
#: The one file that adapts each library, by the reason in its name.
THIRD_PARTY: Final = {
    "fortuna.clones": {"snapshot_restore_py"},
    "fortuna.generators.providers.openssl": {"cryptography"},
    "fortuna.generators.providers.pycryptodome": {"Crypto"},
    "fortuna.generators.conformance": {"pytest"},
    "fortuna.metrics.opentelemetry": {"opentelemetry"},
    "fortuna.metrics.prometheus": {"prometheus_client"},
    "fortuna.numpy": {"numpy"},
    "fortuna.numpy_bits": {"numpy"},
    "fortuna.tunables_file": {"tomli"},
    # Measures the libraries by themselves, beside our use of them.
    "fortuna.bench.arrays": {"numpy", "randomgen"},
    "fortuna.bench.peers": {"Crypto", "cryptography", "numpy", "randomgen"},
}
#: Where the standard library has SHA-256, by version; each Python knows the name of one of them only.
SHA256_MODULES: Final = {"_sha256", "_sha2"}
#: What a file below the edges may import beyond arithmetic, hashes and its own kind, and why.
REASONS_BELOW: Final = {
    "fortuna.generators.undisturbed": {
        "sys": "finds the module signal, to hold signals back in imports",
        "os": "has forks wait for imports",
        "_thread": "the lock that they wait for",
    },
    "fortuna.generators.plugins": {
        "importlib": "reads what is installed, when a plug-in is asked for",
        "re": "compares names of distributions",
    },
    # Tests, which the authors of generators run. Nothing of the product imports them.
    "fortuna.generators.conformance": {
        "array": "buffers of wider elements",
        "concurrent": "instances side by side in threads",
        "os": "forks a child",
        "signal": "ends a child that hangs",
    },
    "fortuna.generators.trials": {
        "array": "buffers of wider elements",
        "copy": "tries to copy an instance",
        "functools": "a pickling for each protocol",
        "pickle": "tries to pickle an instance",
    },
    "fortuna.generators.log": {
        "logging": "the one logger, which says what fails",
        "sys": "sees whether this is the command, which prints what is logged",
    },
    "fortuna.generators.sha256": dict.fromkeys(SHA256_MODULES, "the hash, without the library that hashlib loads"),
}
#: Names of the real machine, and who may pick them.
MACHINE: Final = {
    "time": {
        "fortuna._boot": "the system's clock",
        "fortuna.bench.arrays": "a stop watch",
        "fortuna.bench.events": "a stop watch, which measures threads",
        "fortuna.bench.measure": "a stop watch, which measures the machine and decides nothing",
    },
    "os.getrandom": {"fortuna._boot": "the source's calls"},
    "os.urandom": {
        "fortuna._boot": "the source's calls",
        "fortuna.bench.peers": "a contender in the tables",
    },
    "os.environ": {
        "fortuna._boot": "the environment that names the file",
        "fortuna.cli.environment": "the command's description of its process",
    },
    "os.getenv": {},
    "random": {
        "fortuna._random": "the class whose methods it gives",
        "fortuna.bench.numbers": "a contender in the tables",
    },
    "secrets": {
        "fortuna.bench.numbers": "a contender in the tables",
        "fortuna.bench.peers": "a contender in the tables",
    },
    "datetime": {},
    "sys.argv": {
        "fortuna.cli.main": "the command's arguments",
        "fortuna.bench.arrays": "how much a process of its own is to measure",
    },
}


class Module(NamedTuple):
    """A module of the product and its syntax tree."""

    name: str
    is_package: bool
    tree: ast.Module


class Import(NamedTuple):
    """One imported module, and whether only type checkers see it."""

    name: str
    is_for_checkers: bool


@cache
def modules() -> tuple[Module, ...]:
    """Return every module of the package, the linked folder `generators` included."""
    found = []
    for folder in (ROOT, ROOT / "generators"):
        # The link is followed by hand: whether a pattern follows it depends on the version of Python.
        for path in sorted(folder.rglob("*.py")):
            relative = path.relative_to(folder)
            if folder == ROOT and relative.parts[0] == "generators":
                continue
            inside = ("generators",) if folder != ROOT else ()
            parts = ("fortuna", *inside, *relative.with_suffix("").parts)
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            found.append(Module(name, is_package, ast.parse(path.read_text(encoding="utf-8"))))
    return tuple(found)


def layer(name: str) -> str:
    """Return the layer of a module of ours."""
    _, _, rest = name.partition(".")
    first, _, _ = rest.partition(".")
    return FOLDERS[first] if first in FOLDERS else FILES[first or "__init__"]


def imports(module: Module) -> Iterator[Import]:
    """Yield what *module* imports, relative names made absolute."""
    checked: set[int] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            checked |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
    names = {other.name for other in modules()}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, id(node) in checked)
        elif isinstance(node, ast.ImportFrom):
            package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
            base = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{home}.{alias.name}"
                yield Import(inner if inner in names else home, id(node) in checked)


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_edge_architecture_every_module_has_its_layer(module: Module) -> None:
    """A new file in the package or a new folder fails here until its layer is said."""
    assert layer(module.name) in BELOW


def test_edge_architecture_the_classification_is_not_stale() -> None:
    """Every file and folder that has a layer exists."""
    names = {module.name for module in modules()}
    assert set() == {name for name in FILES if name != "__init__" and f"fortuna.{name}" not in names}
    assert set() == {name for name in FOLDERS if f"fortuna.{name}" not in names}
    assert set() == {name for name in THIRD_PARTY if name not in names}
    assert set() == {name for name in REASONS_BELOW if name not in names}


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_edge_architecture_arrows_point_downwards(module: Module) -> None:
    """Edges import core, core imports generators, all may import the leaves; no other arrow, not even for checkers."""
    allowed = BELOW[layer(module.name)]
    wrong = [
        found.name
        for found in imports(module)
        if found.name.partition(".")[0] == "fortuna" and layer(found.name) not in allowed
    ]
    assert [] == wrong


def test_edge_architecture_leaves_import_nothing_of_ours() -> None:
    """`errors` imports nothing at all, `typing` the standard library only."""
    leaves = {module.name: module for module in modules() if layer(module.name) == LEAF}
    assert {"fortuna.errors", "fortuna.typing", "fortuna._version"} == set(leaves)
    assert [] == list(imports(leaves["fortuna.errors"]))
    for module in leaves.values():
        assert not any(found.name.startswith("fortuna") for found in imports(module))


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_edge_architecture_third_party_only_in_its_adapter(module: Module) -> None:
    """A library is imported by the one file that adapts it; `generators` names itself relatively or in full."""
    standard = set(sys.stdlib_module_names) | {"__future__"} | SHA256_MODULES
    foreign = {
        found.name.partition(".")[0]
        for found in imports(module)
        if not found.is_for_checkers and found.name.partition(".")[0] not in {*standard, "fortuna"}
    }
    assert foreign <= THIRD_PARTY.get(module.name, set())


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_edge_architecture_the_core_and_the_generators_know_no_machine(module: Module) -> None:
    """No file, thread, process or clock below the edges: what they import is arithmetic, hashes and their own kind.

    The exceptions have a stated reason.
    """
    if layer(module.name) not in (CORE, GENERATORS):
        return
    pure = {
        "__future__",
        "abc",
        "collections",
        "dataclasses",
        "enum",
        "hashlib",
        "importlib",
        "itertools",
        "operator",
        "struct",
        "typing",
        "types",
        "fortuna",
        "warnings",
    }
    reasons = set(REASONS_BELOW.get(module.name, ()))
    tops = {found.name.partition(".")[0] for found in imports(module) if not found.is_for_checkers}
    assert reasons <= tops
    assert set() == tops - pure - reasons - THIRD_PARTY.get(module.name, set())


def machine_names(module: Module) -> set[str]:
    """Return the names of `MACHINE` that *module* uses."""
    used = {found.name for found in imports(module) if not found.is_for_checkers}
    used = {name.partition(".")[0] for name in used}
    found = {name for name in MACHINE if "." not in name and name in used}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{node.value.id}.{node.attr}"} & set(MACHINE)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            target, name = node.args[:2]
            if isinstance(target, ast.Name) and isinstance(name, ast.Constant):
                found |= {f"{target.id}.{name.value!s}"} & set(MACHINE)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & set(MACHINE)
    return found


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_edge_architecture_only_the_boot_picks_the_machine(module: Module) -> None:
    """Clock, random calls and environment are picked by the boot; others have a stated reason."""
    assert set() == {name for name in machine_names(module) if module.name not in MACHINE[name]}


def test_edge_architecture_the_search_sees_what_it_looks_for() -> None:
    """The boot itself is seen to use each, so that the rule above cannot pass by blindness."""
    by_name = {module.name: module for module in modules()}
    assert {"time", "os.getrandom", "os.urandom", "os.environ"} <= machine_names(by_name["fortuna._boot"])
    for text, name in (("from os import environ", "os.environ"), ("import time as t", "time")):
        assert name in machine_names(Module("fortuna.x", False, ast.parse(text)))


def test_edge_architecture_generators_are_the_linked_folder() -> None:
    """The rules above read the generators as well."""
    names = {module.name for module in modules()}
    assert {"fortuna.generators", "fortuna.generators.base", "fortuna.generators.providers.pycryptodome"} <= names
