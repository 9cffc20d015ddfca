"""The checkout: the link, the folders, the settings of the tools, the imports of the generators."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

import pytest

import fortuna
from fortuna import _version

from .packaging_support import PROJECT, ROOT, SETTINGS, python_files, run

#: The standard library's modules, with the names that SHA-256 has in the oldest Python and in the newest.
STANDARD: Final = {*sys.stdlib_module_names, "_sha2", "_sha256"}
GENERATOR_FILES: Final = sorted((ROOT / "generators").rglob("*.py"))
in_git = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="these sources are no git checkout, so there is no index to look at"
)


@in_git
def test_link_is_committed() -> None:
    """Git keeps fortuna/generators as a link, and generators/ as files."""
    index = run("git", "ls-files", "-s", "fortuna/generators", "generators", cwd=ROOT).splitlines()
    modes = {line.partition("\t")[2]: line.split()[0] for line in index}
    assert "120000" == modes.pop("fortuna/generators")
    assert {"100644"} == set(modes.values())
    assert all(name.startswith("generators/") for name in modes)


@pytest.mark.skipif(
    not (ROOT / "fortuna" / "generators").is_symlink(), reason="this checkout was made without symbolic links"
)
def test_link_is_relative() -> None:
    """The link leads from one folder of the repository to the other, wherever the repository lies."""
    link = ROOT / "fortuna" / "generators"
    assert Path("../generators") == link.readlink()
    assert ROOT / "generators" == link.resolve()


@in_git
def test_top_level() -> None:
    """No folder stands at the top that is not in the design."""
    names = run("git", "ls-files", cwd=ROOT).splitlines()
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert folders <= {".ci", "configs", "docs", "fortuna", "generators", "tests"}
    assert {"fortuna", "generators", "tests"} <= folders


@in_git
def test_no_conftest_at_the_top() -> None:
    """No conftest.py puts the top of the repository, and with it ``generators``, on the path."""
    names = run("git", "ls-files", "*conftest.py", cwd=ROOT).splitlines()
    assert {"conftest.py", "tests/conftest.py"}.isdisjoint(names)
    assert not (ROOT / "conftest.py").exists()
    assert not (ROOT / "__init__.py").exists()


def test_packages_are_listed() -> None:
    """The packages are listed one by one, and are the folders that hold Python files, each with an __init__.py."""
    files = python_files(ROOT / "fortuna")
    folders = {os.path.dirname(name) for name in files}  # noqa: PTH120 - these are names, not paths of this system
    assert {folder.replace("/", ".") for folder in folders} == set(SETTINGS["tool"]["setuptools"]["packages"])
    assert len(folders) == len(SETTINGS["tool"]["setuptools"]["packages"])
    assert {f"{folder}/__init__.py" for folder in folders} <= files


def test_settings_of_type_checkers() -> None:
    """Mypy and pyright are given the true name of the generators and never the folder."""
    assert ["fortuna", "tests"] == SETTINGS["tool"]["mypy"]["files"]
    assert ["fortuna", "tests"] == SETTINGS["tool"]["pyright"]["include"]
    for tool in ("mypy", "pyright"):
        assert not re.search(r"(?<!fortuna[./])\bgenerators\b", repr(SETTINGS["tool"][tool]))


def test_settings_of_coverage() -> None:
    """Coverage is told both names of the generators, and measures branches."""
    assert {"fortuna", "generators"} == set(SETTINGS["tool"]["coverage"]["run"]["source"])
    assert SETTINGS["tool"]["coverage"]["run"]["branch"] is True


def test_settings_of_pytest(pytestconfig: pytest.Config) -> None:
    """Pytest imports by importlib, and is running so now: no folder of tests is on the path."""
    assert "--import-mode=importlib" in SETTINGS["tool"]["pytest"]["ini_options"]["addopts"]
    assert "importlib" == pytestconfig.getoption("importmode")
    here = Path(__file__).resolve()
    assert {str(here.parent), str(here.parents[1])}.isdisjoint(sys.path)


def test_names_of_test_modules_are_unique() -> None:
    """No two test modules have one name, so that reports and importlib never mix them up."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)


def test_python_versions_agree() -> None:
    """The oldest Python is the same for pip, mypy, pyright and ruff, and the classifiers start there."""
    assert ">=3.10" == PROJECT["requires-python"]
    assert "3.10" == SETTINGS["tool"]["mypy"]["python_version"]
    assert "3.10" == SETTINGS["tool"]["pyright"]["pythonVersion"]
    assert "py310" == SETTINGS["tool"]["ruff"]["target-version"]
    listed = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert [f"3.{minor}" for minor in range(10, 10 + len(listed))] == listed


def test_version_stands_in_one_place() -> None:
    """The version is written in one module; everything else reads it there."""
    assert _version.__version__ == fortuna.__version__
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert {"attr": "fortuna._version.__version__"} == SETTINGS["tool"]["setuptools"]["dynamic"]["version"]
    # Dependencies may have the same number, so it is looked for as a version of ours: quoted, alone.
    quoted = re.compile(rf"""["']{re.escape(fortuna.__version__)}["']""")
    candidates = [
        ROOT / "setup.py",
        ROOT / "docs" / "conf.py",
        *(ROOT / name for name in python_files(ROOT / "fortuna")),
    ]
    holding = {path.name for path in candidates if path.exists() and quoted.search(path.read_text(encoding="utf-8"))}
    assert {"_version.py"} == holding


def imported(tree: ast.AST) -> set[str]:
    """Return the names of modules that *tree* imports absolutely."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None
            names |= {node.module}
    return names


@pytest.mark.parametrize("path", GENERATOR_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_generators_import_themselves_by_their_true_name(path: Path) -> None:
    """Modules below generators/ import each other relatively or as fortuna.generators, so the folder's name is free."""
    names = imported(ast.parse(path.read_text(encoding="utf-8")))
    ours = {name for name in names if name.partition(".")[0] in ("fortuna", "generators")}
    assert {name for name in ours if name == "fortuna.generators" or name.startswith("fortuna.generators.")} == ours
    first_party = {entry.name.partition(".")[0] for entry in (ROOT / "generators").iterdir()}
    tops = {name.partition(".")[0] for name in names - ours}
    assert first_party.isdisjoint(tops - STANDARD)
    assert tops <= STANDARD | {"Crypto", "cryptography", "pytest", "typing_extensions"}


def test_sha256_is_of_the_standard_library() -> None:
    """The hash imports the standard library alone, so that nothing else decides what a key is."""
    names = imported(ast.parse((ROOT / "generators" / "sha256.py").read_text(encoding="utf-8")))
    assert {"_sha2", "_sha256", "hashlib"} == names - {"__future__"}
    assert names <= STANDARD


def test_native_provider_is_the_only_door_to_the_extension() -> None:
    """Below generators/, one module imports the extension, and its folder of C sources holds no Python."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in GENERATOR_FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and "_native" in {alias.name for alias in node.names}
    }
    assert {"generators/providers/native.py"} == users
    for folder in ("_kernels", "_extension"):
        assert {".c", ".h"} == {path.suffix for path in (ROOT / "generators" / folder).iterdir()} - {".o"}


def test_instruction_sets_are_named_for_kernels_alone() -> None:
    """Each file compiled for an instruction set is a kernel, and no other file is: the rest runs on any processor."""
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (flags,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ISA_FLAGS"
    )
    named = {stem for files in flags.values() for stem in files}
    kernels = {
        path.stem
        for path in (ROOT / "generators" / "_kernels").glob("*.c")
        if re.match(r"(aes256_icm|chacha)_", path.name)
    }
    # Plain C needs no flag, and every ARM processor of 64 bits has NEON.
    assert kernels - {"chacha_portable", "chacha_neon"} == named
    assert all(flag.startswith("-m") for files in flags.values() for given in files.values() for flag in given)


def test_nothing_imports_the_folder() -> None:
    """No module of fortuna or of the tests imports ``generators`` as a package of its own."""
    paths = [*(ROOT / "tests").rglob("*.py"), *(ROOT / name for name in python_files(ROOT / "fortuna"))]
    assert len(paths) > 50
    for path in paths:
        names = imported(ast.parse(path.read_text(encoding="utf-8")))
        assert not {name for name in names if name.partition(".")[0] == "generators"}, path


IMPORT: Final = """
import sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[1])
import fortuna
print(*sorted(set(sys.modules) - before))
for name in sys.argv[2:]:
    getattr(fortuna, name)
print(*sorted(set(sys.modules) - before))
"""


def test_import_loads_next_to_nothing() -> None:
    """``import fortuna`` loads four small modules of its own, where it is built the extension with the errors that this
    raises, and no library; using ``boot``'s name loads no more.
    """
    command = [sys.executable, "-I", "-S", "-c", IMPORT, str(ROOT), "boot", "random_bytes", "stats"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    at_import, after_use = (set(line.split()) for line in shown)
    ours = {"fortuna", "fortuna._version", "fortuna.generators", "fortuna.generators.undisturbed"}
    if any((ROOT / "generators" / f"_native{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
        ours |= {"fortuna.errors", "fortuna.generators._native"}
    assert ours == {name for name in at_import if name.partition(".")[0] == "fortuna"}
    heavy = {
        "Crypto",
        "threading",
        "dataclasses",
        "logging",
        "numpy",
        "typing",
        "hashlib",
        "tomli",
        "argparse",
        "multiprocessing",
        "weakref",
        "subprocess",
    }
    assert set() == heavy & at_import
    assert at_import == after_use
