"""The wheel and the source archive: what they hold, and that every way of building gives the same."""

# ruff: noqa: SIM300 - asserts read expected == actual, a constant on the left included

from __future__ import annotations

import re
import tarfile
import zipfile
from configparser import ConfigParser
from email import message_from_bytes
from typing import TYPE_CHECKING

import pytest

import fortuna

from .packaging_support import PROJECT, SETTINGS, copy_checkout, python_files, sdist_names, wheel_contents

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message
    from pathlib import Path


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    """Give the METADATA of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_files_of_the_wheel(clone: Path, wheel: Path) -> None:
    """The wheel holds every Python file of the package and the typing marker, and besides its records nothing."""
    names = set(wheel_contents(wheel))
    records = {name for name in names if ".dist-info/" in name}
    assert python_files(clone / "fortuna") | {"fortuna/py.typed"} == names - records
    # In the right places, each once.
    assert {"fortuna/generators/registry.py", "fortuna/generators/providers/pycryptodome.py"} <= names


def test_no_other_top_level(wheel: Path) -> None:
    """The wheel puts one package into site-packages: no ``generators``, no ``tests``."""
    prefix = f"fortuna_rng-{fortuna.__version__}.dist-info"
    assert {"fortuna", prefix} == {name.partition("/")[0] for name in wheel_contents(wheel)}
    with zipfile.ZipFile(wheel) as archive:
        assert ["fortuna"] == archive.read(f"{prefix}/top_level.txt").decode().split()


def test_no_sources_of_other_languages(wheel: Path) -> None:
    """The wheel holds no C sources and nothing of the tests or of this machine."""
    for name in wheel_contents(wheel):
        assert not re.search(r"\.(c|h|cpp|s|S|pyx|o|so|pyc|toml|json)$|\btests?\b|/test_|__pycache__", name), name


def test_wheel_is_for_every_platform(wheel: Path) -> None:
    """The wheel is pure Python, for any system."""
    assert f"fortuna_rng-{fortuna.__version__}-py3-none-any.whl" == wheel.name


def test_licence(clone: Path, wheel: Path) -> None:
    """The wheel holds the licence's text, byte for byte."""
    with zipfile.ZipFile(wheel) as archive:
        held = archive.read(f"fortuna_rng-{fortuna.__version__}.dist-info/licenses/LICENSE")
    assert (clone / "LICENSE").read_bytes() == held


def test_command(wheel: Path) -> None:
    """The wheel installs one command."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"fortuna_rng-{fortuna.__version__}.dist-info/entry_points.txt").decode()
    parser = ConfigParser()
    parser.read_string(text)
    assert {"fortuna-dump": "fortuna.cli.main:main"} == dict(parser["console_scripts"])


def test_metadata(clone: Path, metadata: Message) -> None:
    """Name, version, Python and licence are those of the project; the licence is an SPDX expression."""
    assert "fortuna-rng" == metadata["Name"]
    assert fortuna.__version__ == metadata["Version"]
    assert ">=3.10" == metadata["Requires-Python"]
    assert "BSD-2-Clause" == metadata["License-Expression"]
    assert ["LICENSE"] == metadata.get_all("License-File")
    assert not [c for c in metadata.get_all("Classifier", []) if c.startswith("License ::")]
    assert "text/markdown" == metadata["Description-Content-Type"]
    assert (clone / "README.md").read_text(encoding="utf-8").strip() == str(metadata.get_payload()).strip()


def test_requirements(metadata: Message) -> None:
    """Outside the extras exactly pycryptodome and tomli are needed, each with a lower bound alone."""
    needed = [text for text in metadata.get_all("Requires-Dist", []) if "extra ==" not in text]
    assert {"pycryptodome", "tomli"} == {re.split(r"[^\w-]", text)[0] for text in needed}
    assert len(needed) == 2
    for text in needed:
        assert re.fullmatch(r"[\w-]+>=[0-9.]+", text)
    assert sorted(PROJECT["dependencies"]) == sorted(needed)


def test_extras(metadata: Message) -> None:
    """The extras are those of the project."""
    assert sorted(PROJECT["optional-dependencies"]) == sorted(metadata.get_all("Provides-Extra", []))
    assert "test" in PROJECT["optional-dependencies"]


@pytest.mark.parametrize("link", ["link", "text", "missing"])
def test_wheel_of_any_checkout(
    clone: Path, wheel: Path, build: Callable[[str, Path], Path], tmp_path: Path, link: str
) -> None:
    """A checkout without symbolic links, whether git left a text file or nothing, builds the same wheel."""
    made = build("wheel", copy_checkout(tmp_path / "clone", clone, link))
    assert wheel_contents(wheel) == wheel_contents(made)


def test_sdist_builds_the_same_wheel(
    wheel: Path, sdist: Path, build: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    """The source archive, unpacked anywhere, builds the wheel that the checkout builds."""
    assert wheel_contents(wheel) == wheel_contents(build("wheel", unpack(sdist, tmp_path)))


def test_sdist_of_a_checkout_without_links(
    clone: Path, wheel: Path, build: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    """A source archive made where there are no symbolic links builds the same wheel too."""
    made = build("sdist", copy_checkout(tmp_path / "clone", clone, "text"))
    assert wheel_contents(wheel) == wheel_contents(build("wheel", unpack(made, tmp_path / "unpacked")))


def test_files_of_the_sdist(clone: Path, sdist: Path) -> None:
    """The source archive holds what the wheel is built of, and nothing of this machine."""
    names = sdist_names(sdist)
    assert python_files(clone / "fortuna") <= names
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py", "fortuna/py.typed"} <= names
    assert not [name for name in names if re.search(r"__pycache__|\.pyc$|\.venv|_cache|\.coverage", name)]


def unpack(sdist: Path, target: Path) -> Path:
    """Unpack *sdist* and return its one folder."""
    target.mkdir(exist_ok=True)
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            if not member.isdir():
                stream = archive.extractfile(member)
                assert member.isfile()
                assert stream is not None
                path = target / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(stream.read())
    (folder,) = target.iterdir()
    return folder


def test_build_requirements() -> None:
    """The build needs setuptools alone, of a release that knows SPDX licence expressions."""
    assert ["setuptools>=77"] == SETTINGS["build-system"]["requires"]
