"""The wheel and the source archive: what they hold, and that every way of building gives the same."""

from __future__ import annotations

import re
import sys
import sysconfig
import tarfile
import zipfile
from configparser import ConfigParser
from email import message_from_bytes
from typing import TYPE_CHECKING

import pytest

import fortuna

from .packaging_support import (
    EXTENSION,
    NO_COMPILER,
    PROJECT,
    SETTINGS,
    copy_checkout,
    need_compiler,
    python_files,
    run_unchecked,
    sdist_names,
    wheel_contents,
    why_no_compiler,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message
    from pathlib import Path

    from .conftest import Build


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    """Give the METADATA of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_files_of_the_wheel(clone: Path, any_wheel: Path, wheel: Path) -> None:
    """The wheel holds every Python file of the package, what type checkers read, the program for TestU01, the extension
    where it was compiled, and besides its records nothing.
    """
    names = set(wheel_contents(any_wheel))
    records = {name for name in names if ".dist-info/" in name}
    expected = python_files(clone / "fortuna") | {
        "fortuna/py.typed",
        "fortuna/generators/_native.pyi",
        "fortuna/batteries/testu01.c",
    }
    if any_wheel == wheel and not why_no_compiler():
        expected |= {EXTENSION}
    assert expected == names - records
    with zipfile.ZipFile(any_wheel) as archive:
        assert len(names) == len(archive.namelist())
    # In the right places, each once.
    assert {"fortuna/generators/registry.py", "fortuna/generators/providers/pycryptodome.py"} <= names


def test_python_files_do_not_depend_on_the_extension(wheel: Path, any_wheel: Path) -> None:
    """With the extension and without, all other files are the same, byte for byte."""
    expected, found = (
        {name: value for name, value in wheel_contents(path).items() if not re.search(r"/(WHEEL|RECORD)$", name)}
        for path in (wheel, any_wheel)
    )
    expected.pop(EXTENSION, None)
    found.pop(EXTENSION, None)
    assert expected == found


def test_no_other_top_level(any_wheel: Path) -> None:
    """The wheel puts one package into site-packages: no ``generators``, no ``tests``."""
    prefix = f"fortuna_rng-{fortuna.__version__}.dist-info"
    assert {"fortuna", prefix} == {name.partition("/")[0] for name in wheel_contents(any_wheel)}
    with zipfile.ZipFile(any_wheel) as archive:
        assert ["fortuna"] == archive.read(f"{prefix}/top_level.txt").decode().split()


def test_no_sources_of_other_languages(any_wheel: Path) -> None:
    """The wheel holds no library but the extension, nothing of the tests or of this machine, and one C source alone."""
    contents = set(wheel_contents(any_wheel))
    # Users of TestU01 compile it against that library.
    assert "fortuna/batteries/testu01.c" in contents
    for name in contents - {EXTENSION, "fortuna/batteries/testu01.c"}:
        assert not re.search(r"\.(c|h|cpp|s|S|pyx|o|so|pyc|toml|json)$|\btests?\b|/test_|__pycache__", name), name
        assert "_kernels" not in name
        assert "_extension" not in name


def platform_of(wheel: Path) -> tuple[str, str, str]:
    """Return the platform in the name of *wheel*, and what it says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        said = message_from_bytes(archive.read(f"fortuna_rng-{fortuna.__version__}.dist-info/WHEEL"))
    platform = wheel.name.removeprefix(f"fortuna_rng-{fortuna.__version__}-").removesuffix(".whl")
    return platform, said["Tag"], said["Root-Is-Purelib"]


def test_wheel_with_the_extension_is_for_this_platform(wheel: Path) -> None:
    """The wheel that holds the extension is for this Python on this system alone."""
    need_compiler()
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    system = re.sub("[-.]", "_", sysconfig.get_platform())
    assert (f"{version}-{version}-{system}", f"{version}-{version}-{system}", "false") == platform_of(wheel)


def test_wheel_without_the_extension_is_for_every_platform(pure_wheel: Path) -> None:
    """The wheel without the extension is pure Python, for any system."""
    assert ("py3-none-any", "py3-none-any", "true") == platform_of(pure_wheel)


def test_wheel_of_a_failed_compilation_is_for_every_platform(uncompiled_wheel: Path) -> None:
    """A wheel that has no extension, because it could not be compiled, does not pretend to have one."""
    assert ("py3-none-any", "py3-none-any", "true") == platform_of(uncompiled_wheel)


def test_extension_can_be_required(clone: Path, wheel: Path, build: Build, tmp_path: Path) -> None:
    """Required and compiled, the wheel is what it is by default."""
    need_compiler()
    made = build("wheel", copy_checkout(tmp_path / "clone", clone), {"FORTUNA_NATIVE": "require"})
    assert wheel_contents(wheel) == wheel_contents(made)


def fail_to_build(clone: Path, tmp_path: Path, variables: Mapping[str, str]) -> str:
    """Return what pip says where it must fail to build a wheel."""
    source = copy_checkout(tmp_path / "clone", clone)
    target = tmp_path / "dist"
    done = run_unchecked(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", target, source),
        cwd=tmp_path,
        variables=variables,
    )
    assert 1 == done.returncode
    assert not [*target.glob("*.whl")]
    return done.stdout + done.stderr


def test_required_extension_that_does_not_compile(clone: Path, tmp_path: Path) -> None:
    """Required and not compiled, there is no wheel, and the failing command is shown."""
    said = fail_to_build(clone, tmp_path, {"FORTUNA_NATIVE": "require", **NO_COMPILER})
    assert re.search(r"error: [Cc]ommand .*\bfalse\b.* exit (code|status) 1", said)


@pytest.mark.parametrize("wish", ["nonsense", "", "Require", "1"])
def test_unknown_wish(clone: Path, tmp_path: Path, wish: str) -> None:
    """Another value of FORTUNA_NATIVE is refused with what is allowed, and not taken for a default."""
    said = fail_to_build(clone, tmp_path, {"FORTUNA_NATIVE": wish})
    assert f"FORTUNA_NATIVE: got {wish!r}; allowed is auto, require, off" in said


def test_extensions_of_other_builds_are_not_taken(clone: Path, wheel: Path, build: Build, tmp_path: Path) -> None:
    """Libraries and objects that other builds left in the checkout come into no wheel and no source archive."""
    source = copy_checkout(tmp_path / "clone", clone)
    stale = ("_native.cpython-399-x86_64-linux-gnu.so", "_native.abi3.so", EXTENSION.rpartition("/")[2], "_kernels/a.o")
    for name in stale:
        (source / "generators" / name).write_bytes(b"stale")
    assert not [name for name in sdist_names(build("sdist", source)) if re.search(r"\.(so|o)$", name)]
    pure = build("wheel", source, {"FORTUNA_NATIVE": "off"})
    assert not [name for name in wheel_contents(pure) if re.search(r"\.(so|o)$", name)]
    assert wheel_contents(wheel) == wheel_contents(build("wheel", source))


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
    clone: Path, wheel: Path, pure_wheel: Path, build: Build, tmp_path: Path, link: str
) -> None:
    """A checkout without symbolic links, whether git left a text file or nothing, builds the same wheels."""
    made = build("wheel", copy_checkout(tmp_path / "clone", clone, link))
    assert wheel_contents(wheel) == wheel_contents(made)
    pure = build("wheel", copy_checkout(tmp_path / "pure", clone, link), {"FORTUNA_NATIVE": "off"})
    assert wheel_contents(pure_wheel) == wheel_contents(pure)


def test_sdist_builds_the_same_wheel(wheel: Path, sdist: Path, build: Build, tmp_path: Path) -> None:
    """The source archive, unpacked anywhere, builds the wheel that the checkout builds."""
    assert wheel_contents(wheel) == wheel_contents(build("wheel", unpack(sdist, tmp_path)))


def test_sdist_of_a_checkout_without_links(clone: Path, wheel: Path, build: Build, tmp_path: Path) -> None:
    """A source archive made where there are no symbolic links builds the same wheel too."""
    made = build("sdist", copy_checkout(tmp_path / "clone", clone, "text"))
    assert wheel_contents(wheel) == wheel_contents(build("wheel", unpack(made, tmp_path / "unpacked")))


def test_files_of_the_sdist(clone: Path, sdist: Path) -> None:
    """The source archive holds the sources, with them C and headers, the tests, the configurations, the documentation
    and the history, and nothing of this machine.
    """
    names = sdist_names(sdist)
    assert python_files(clone / "fortuna") <= names
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py", "fortuna/py.typed", "MANIFEST.in"} <= names
    assert {"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} <= names
    for folder in ("tests", "docs", "configs"):
        assert all_files(clone / folder) == {name for name in names if name.startswith(f"{folder}/")}
    not_python = {name for name in all_files(clone / "generators") if not name.endswith(".py")}
    assert not_python == {name for name in names if name.startswith("generators/")}
    assert {"generators/_kernels/cpu.c", "generators/_kernels/wipe.h", "generators/_extension/module.c"} <= not_python
    assert "generators/_native.pyi" in not_python
    assert not [name for name in names if re.search(r"__pycache__|\.pyc$|\.venv|_cache|\.coverage|\.(so|o)$", name)]


def all_files(folder: Path) -> set[str]:
    """Return all files below *folder*, relative to the folder above it."""
    return {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.is_file()}


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
