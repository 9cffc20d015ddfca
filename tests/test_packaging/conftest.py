"""Fixtures of the packaging tests; each archive and environment is made once for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .packaging_support import NO_COMPILER, SETTINGS, Venv, copy_checkout, pip, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Build = Callable[..., Path]


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the checkout that nobody changes: everything here is built of it and compared with it."""
    return copy_checkout(tmp_path_factory.mktemp("checkout") / "clone")


@pytest.fixture(scope="session")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the wheel that pip builds of a fresh clone, with the build tools that pyproject.toml names.

    It holds the extension where this machine can compile it.
    """
    base = tmp_path_factory.mktemp("wheel")
    source = copy_checkout(base / "clone", clone)
    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", base / "dist", source, cwd=base)
    (made,) = (base / "dist").iterdir()
    return made


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Give a function that builds a ``wheel`` or an ``sdist`` of a folder, under more variables."""
    builder = Venv(tmp_path_factory.mktemp("builder") / "venv")
    builder.install(*SETTINGS["build-system"]["requires"])

    def build(kind: str, source: Path, variables: Mapping[str, str] | None = None) -> Path:
        target = tmp_path_factory.mktemp(kind)
        backend = SETTINGS["build-system"]["build-backend"]
        code = f"import sys, {backend} as backend; backend.build_{kind}(sys.argv[1])"
        # A log of the files goes to standard output, and remarks on what is missing to standard error.
        run("sh", "-c", '"$0" "$@" 2>&1', builder.python, "-c", code, target, cwd=source, variables=variables)
        (made,) = target.iterdir()
        return made

    return build


@pytest.fixture(scope="session")
def pure_wheel(clone: Path, build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the wheel without the extension, as it is built where that is switched off."""
    source = copy_checkout(tmp_path_factory.mktemp("pure-source") / "clone", clone)
    # Switched off, it is not even tried, so there need not be a compiler.
    return build("wheel", source, {"FORTUNA_NATIVE": "off", **NO_COMPILER})


@pytest.fixture(scope="session")
def uncompiled_wheel(clone: Path, build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the wheel that is built where there is no compiler."""
    return build("wheel", copy_checkout(tmp_path_factory.mktemp("uncompiled-source") / "clone", clone), NO_COMPILER)


@pytest.fixture(params=["wheel", "pure_wheel", "uncompiled_wheel"])
def any_wheel(request: pytest.FixtureRequest) -> Path:
    """Give the wheel of this machine, of a build without the extension, and of one without a compiler."""
    made: Path = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="session")
def sdist(clone: Path, build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the source archive of a fresh clone."""
    return build("sdist", copy_checkout(tmp_path_factory.mktemp("sdist-source") / "clone", clone))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """Give an environment with the wheel and what it needs, and nothing else."""
    venv = Venv(tmp_path_factory.mktemp("installed") / "venv")
    venv.install(wheel)
    return venv


@pytest.fixture(scope="session")
def installed_without_compiler(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """Give an environment into which the checkout was installed where there is no compiler."""
    base = tmp_path_factory.mktemp("uncompiled")
    source = copy_checkout(base / "clone", clone)
    venv = Venv(base / "venv")
    venv.install(source, variables=NO_COMPILER)
    return venv
