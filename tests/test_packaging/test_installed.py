"""The wheel, installed out of reach of the checkout, on every Python and with the oldest libraries."""

# ruff: noqa: SIM300 - asserts read expected == actual, a constant on the left included

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import fortuna

from .packaging_support import PROJECT, ROOT, Venv, copy_checkout

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHONS: Final = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]

FORK: Final = "import fortuna, os; fortuna.random_bytes(1); os.fork()"
#: Every cell passes its known answers; the file is read; both ciphers boot; a child differs.
SMOKE: Final = """
import os, sys
from pathlib import Path
import fortuna
from fortuna.generators import available, create
rows = available()
assert [row.is_available for row in rows] == [True] * 4, rows
streams = {}
for row in rows:
    generator = create(row.generator, row.provider)
    generator.set_key(bytes(range(32)))
    # The last block before each word of the counter is full, the wrap among them, and the blocks after it.
    for counter in (0, 2**32 - 1, 2**64 - 1, 2**96 - 1, 2**128 - 1):
        out = bytearray(1000)
        generator.keystream_into(counter, out)
        assert streams.setdefault((row.generator, counter), bytes(out)) == bytes(out), (row, counter)
assert len(set(streams.values())) == 10
path = Path("smoke.toml")
path.write_text('[generator]\\ncipher = "chacha20"\\n[reseed]\\ninterval = 0.5\\n')
path.chmod(0o600)
live = fortuna.boot(path)
assert "chacha20/pycryptodome" in repr(live), live
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.write(writer, fortuna.random_bytes(32))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert os.read(reader, 32) != fortuna.random_bytes(32)
assert len(fortuna.random_bytes(3 * 2**20)) == 3 * 2**20
print(fortuna.__version__, fortuna.__file__)
"""


def check_smoke(venv: Venv) -> None:
    """Run what every installation must be able to do."""
    version, _, place = venv.run("python", "-W", "error", "-c", SMOKE).strip().partition(" ")
    assert fortuna.__version__ == version
    assert str(venv.folder) in place
    for arguments in ([], ["--cipher", "chacha20"], ["--construction", "freebsd"], ["--provider", "reference"]):
        assert re.fullmatch(r"[0-9a-f]{64}\n", venv.run("fortuna-dump", "-n", "32", *arguments))
    assert f"fortuna-dump {fortuna.__version__}\n" == venv.run("python", "-m", "fortuna", "--version")
    assert 5 == len(venv.run("fortuna-dump", "--list").splitlines())


def test_smoke(installed: Venv) -> None:
    """The installed wheel boots, reads its file, forks and runs its command."""
    check_smoke(installed)


def test_checkout_is_out_of_reach(installed: Venv) -> None:
    """Nothing of the checkout is on the path of the environment, so the other tests here see the wheel."""
    code = "import sys, fortuna, fortuna.generators as g; print(*sys.path, fortuna.__file__, g.__file__, sep='\\n')"
    shown = installed.run("python", "-c", code).splitlines()
    assert not [path for path in shown if path and Path(path).resolve().is_relative_to(ROOT)]
    assert shown[-1].endswith(os.path.join("fortuna", "generators", "__init__.py"))  # noqa: PTH118


def test_every_module_can_be_imported(installed: Venv) -> None:
    """Each module of the wheel can be imported on its own."""
    code = """
import importlib, pkgutil, fortuna
names = [module.name for module in pkgutil.walk_packages(fortuna.__path__, "fortuna.")]
for name in names:
    importlib.import_module(name)
print(*sorted(names))
"""
    names = installed.run("python", "-W", "error", "-c", code).split()
    assert {"fortuna.cli.main", "fortuna.generators.providers.pycryptodome", "fortuna.sources.os"} <= set(names)


@pytest.mark.parametrize("link", ["link", "text"])
def test_editable_installation(clone: Path, tmp_path: Path, link: str) -> None:
    """An editable installation runs from the checkout, with the link and without."""
    source = copy_checkout(tmp_path / "clone", clone, link)
    venv = Venv(tmp_path / "venv")
    venv.install("--editable", source)
    code = "import fortuna.generators.registry as r; print(r.__file__)"
    folder = source / "fortuna" / "generators" if link == "link" else source / "generators"
    assert str(folder / "registry.py") == venv.run("python", "-c", code).strip()
    assert 65 == len(venv.run("fortuna-dump"))


@pytest.fixture(params=["module", "package"])
def decoys(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give a folder in which a service keeps generators, providers and errors of its own."""
    for name in ("generators", "providers", "errors", "registry"):
        path = tmp_path / f"{name}.py" if request.param == "module" else tmp_path / name / "__init__.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine = True\n", encoding="ascii")
    return tmp_path


def test_decoys_do_not_shadow(installed: Venv, decoys: Path) -> None:
    """A service's own ``generators`` hides nothing of ours, and ours hides nothing of it."""
    code = """
import generators, providers, errors, registry
import fortuna.generators
assert generators.mine and providers.mine and errors.mine and registry.mine
assert fortuna.generators.create("chacha20").name == "chacha20"
assert len(fortuna.random_bytes(32)) == 32
"""
    for variables in ({}, {"PYTHONPATH": str(decoys)}):
        assert "" == installed.run("python", "-W", "error", "-c", code, cwd=decoys, variables=variables)
        assert 65 == len(installed.run("fortuna-dump", "-n", "32", cwd=decoys, variables=variables))
        assert 65 == len(installed.run("python", "-m", "fortuna", cwd=decoys, variables=variables))


def test_fork_is_silent(installed: Venv) -> None:
    """Forking after a draw makes no warning: no thread was started."""
    assert "" == installed.run("python", "-W", "error", "-c", FORK)


def test_import_is_light(installed: Venv) -> None:
    """``import fortuna`` of the installed package loads no library and nothing heavy."""
    code = "import sys, fortuna; print(*sys.modules)"
    loaded = {
        name.partition(".")[0] for name in installed.run("python", "-I", "-S", "-c", with_site(installed, code)).split()
    }
    assert set() == {"Crypto", "threading", "dataclasses", "logging", "numpy", "tomli", "typing"} & loaded


def with_site(venv: Venv, code: str) -> str:
    """Return *code* after a line that adds the environment's packages without what ``site`` loads."""
    (packages,) = venv.folder.glob("lib/python*/site-packages")
    return f"import sys; sys.path.append({str(packages)!r}); {code}"


def interpreters(version: str) -> Iterator[str]:
    """Yield commands that may be that version of Python: on the path, and pyenv's."""
    found = shutil.which(f"python{version}")
    if found:
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))


def find_python(version: str) -> str | None:
    """Return an interpreter of *version* that really runs, since pyenv's shims may not."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for command in interpreters(version):
        shown = subprocess.run([command, "-c", code], capture_output=True, text=True, check=False)
        if shown.stdout.strip() == version:
            return command
    return None


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_every_python(wheel: Path, tmp_path: Path, version: str) -> None:
    """On every Python that the metadata name the wheel installs, works and forks without a warning."""
    interpreter = find_python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} with venv and ensurepip is installed on this machine")
    venv = Venv(tmp_path / "venv", interpreter)
    venv.install(wheel)
    assert version == venv.run("python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    assert "" == venv.run("python", "-W", "error", "-c", FORK)
    check_smoke(venv)


@pytest.mark.slow
def test_oldest_libraries(wheel: Path, tmp_path: Path) -> None:
    """With the libraries at their lower bounds everything works, and the keystreams equal every vector."""
    oldest = [requirement.replace(">=", "==") for requirement in PROJECT["dependencies"]]
    venv = Venv(tmp_path / "venv")
    venv.install(wheel, *oldest, *PROJECT["optional-dependencies"]["test"])
    code = "import sys; from importlib.metadata import version; print(*(f'{n}=={version(n)}' for n in sys.argv[1:]))"
    names = [requirement.partition("==")[0] for requirement in oldest]
    assert oldest == venv.run("python", "-c", code, *names).split()
    check_smoke(venv)
    for folder in ("vectors", "test_generators"):
        shutil.copytree(ROOT / "tests" / folder, venv.away / "tests" / folder)
    shutil.copy(ROOT / "pyproject.toml", venv.away)
    shown = venv.run(
        "python", "-m", "pytest", "-q", "-m", "not slow", "-k", "vector", "-p", "no:cacheprovider", "tests"
    )
    assert re.search(r"[1-9][0-9]* passed", shown)
    assert "failed" not in shown
