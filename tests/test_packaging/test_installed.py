"""The wheel, installed out of reach of the checkout, on every Python and with the oldest libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_config_var
from typing import TYPE_CHECKING, Final

import pytest

import fortuna

from .packaging_support import (
    EXTENSION,
    PROJECT,
    ROOT,
    Venv,
    copy_checkout,
    need_compiler,
    run_unchecked,
    why_no_compiler,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHONS: Final = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]

FORK: Final = "import fortuna, os; fortuna.random_bytes(1); os.fork()"
#: What pycryptodome runs, which is always installed.
LIBRARY_GENERATORS: Final = ("aes256-icm", "chacha20", "xchacha20")
GENERATORS: Final = ("aes256-icm", "chacha20", "chacha12", "chacha8", "xchacha20", "xchacha12", "xchacha8")
#: Every cell passes its known answers, and all agree; the file is read; ciphers boot; a child differs.
SMOKE: Final = """
import os, sys
from pathlib import Path
import fortuna
from fortuna.generators import available, create
has_native = sys.argv[1] == "native"
rows = available()
generators = set(sys.argv[2:])
assert generators == {row.generator for row in rows}, rows
pairs = {(row.generator, row.provider) for row in rows if row.is_available}
expected = {(g, "reference") for g in generators} | {
    (g, "pycryptodome") for g in ("aes256-icm", "chacha20", "xchacha20")
}
if has_native:
    # AES takes a processor with instructions for it; ChaCha runs everywhere.
    expected |= {(g, "native") for g in generators - {"aes256-icm"}} | ({("aes256-icm", "native")} & pairs)
# The library of an extra may be there, as the tests bring it.
expected |= {pair for pair in pairs if pair[1] == "openssl"}
assert expected == pairs, (expected ^ pairs, rows)
assert all(row.reason for row in rows if not row.is_available), rows
streams = {}
for row in rows:
    if not row.is_available:
        continue
    generator = create(row.generator, row.provider, row.kernel)
    generator.set_key(bytes(range(32)))
    # The last block before each word of the counter is full, the wrap among them, and the blocks after it.
    for counter in (0, 2**32 - 1, 2**64 - 1, 2**96 - 1, 2**128 - 1):
        out = bytearray(1000)
        generator.keystream_into(counter, out)
        assert streams.setdefault((row.generator, counter), bytes(out)) == bytes(out), (row, counter)
assert len(set(streams.values())) == 5 * len(generators)
path = Path("smoke.toml")
path.write_text('[generator]\\ncipher = "chacha20"\\n[reseed]\\ninterval = 0.5\\n')
path.chmod(0o600)
live = fortuna.boot(path)
assert ("chacha20/native/" if has_native else "chacha20/pycryptodome/library") in repr(live), live
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.write(writer, fortuna.random_bytes(32))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert os.read(reader, 32) != fortuna.random_bytes(32)
assert len(fortuna.random_bytes(3 * 2**20)) == 3 * 2**20
print(fortuna.__version__, len(rows), fortuna.__file__)
"""


def check_smoke(venv: Venv, *, native: bool) -> None:
    """Run what every installation must be able to do, with the extension and without."""
    wanted = "native" if native else "pure"
    shown = venv.run("python", "-W", "error", "-c", SMOKE, wanted, *GENERATORS).strip()
    version, rows, place = shown.split(" ", 2)
    assert fortuna.__version__ == version
    assert str(venv.folder) in place
    for arguments in (
        [],
        *(["--cipher", generator] for generator in GENERATORS if native or generator in LIBRARY_GENERATORS),
        ["--construction", "freebsd"],
        ["--provider", "pycryptodome"],
        ["--provider", "reference"],
        ["--cipher", "xchacha8", "--provider", "reference"],
        ["--cipher", "chacha20", "--kernel", "portable" if native else "library"],
    ):
        assert re.fullmatch(r"[0-9a-f]{64}\n", venv.run("fortuna-dump", "-n", "32", *arguments))
    assert f"fortuna-dump {fortuna.__version__}\n" == venv.run("python", "-m", "fortuna", "--version")
    generators, sources = venv.run("fortuna-dump", "--list").split("\n\n")
    listed = generators.splitlines()
    assert int(rows) == len(listed) - 1
    assert ["os", "cpu", "jitter", "proc", "file"] == [line.split()[0] for line in sources.splitlines()[1:]]
    reasons = [line for line in listed if " native " in line and "the C extension is not in this installation" in line]
    assert len(reasons) == (0 if native else len(GENERATORS))
    assert all("reinstall with a C compiler" in line and "FORTUNA_NATIVE=require" in line for line in reasons)


def test_smoke(installed: Venv) -> None:
    """The installed wheel boots, reads its file, forks and runs its command."""
    check_smoke(installed, native=not why_no_compiler())


def test_smoke_without_compiler(installed_without_compiler: Venv) -> None:
    """Where there is no compiler the package is installed without a word, does the same, and its list says why."""
    check_smoke(installed_without_compiler, native=False)
    (packages,) = installed_without_compiler.folder.glob("lib/python*/site-packages/fortuna")
    assert not [*packages.rglob("*.so")]
    code = "import fortuna.generators._native"
    done = run_unchecked(installed_without_compiler.python, "-c", code, cwd=installed_without_compiler.away)
    assert 1 == done.returncode
    assert "ModuleNotFoundError" in done.stderr


def test_smoke_without_the_extension(pure_wheel: Path, tmp_path: Path) -> None:
    """The wheel that is built with the extension switched off does the same as one without a compiler."""
    venv = Venv(tmp_path / "venv")
    venv.install(pure_wheel)
    check_smoke(venv, native=False)


#: Refuses the flags of one instruction set, as an older compiler does.
OLD_COMPILER: Final = """#!/bin/sh
case "$*" in *-mvaes*|*-mavx512*|*-march=armv8-a+crypto*) echo "unknown option" >&2; exit 1 ;; esac
exec {compiler} "$@"
"""


def test_compiler_without_an_instruction_set(clone: Path, tmp_path: Path) -> None:
    """A compiler that does not know an instruction set builds the extension without its kernels; the list says so."""
    need_compiler()
    compiler = tmp_path / "cc"
    compiler.write_text(OLD_COMPILER.format(compiler=os.environ.get("CC") or get_config_var("CC")), encoding="ascii")
    compiler.chmod(0o700)
    venv = Venv(tmp_path / "venv")
    variables = {"CC": str(compiler), "FORTUNA_NATIVE": "require"}
    venv.install(copy_checkout(tmp_path / "clone", clone), variables=variables)
    generators, _ = venv.run("fortuna-dump", "--list").split("\n\n")
    rows = [line.split(None, 4) for line in generators.splitlines()[1:]]
    left_out = {"vaes512", "vaes", "avx512", "armv8"}
    for row in rows:
        if row[2] in left_out:
            assert "absent" == row[3]
            assert row[4].startswith("not in this build: not compiled for ")
    assert left_out == {row[2] for row in rows} & left_out
    assert "available" in [row[3] for row in rows if row[2] == "portable"]
    check_smoke(venv, native=True)


def test_extension_shows_one_name(installed: Venv) -> None:
    """The installed extension exports what Python calls, and nothing that could meet a name of another library."""
    need_compiler()
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm here to look into a library with")
    (library,) = installed.folder.glob("lib/python*/site-packages/fortuna/generators/_native*.so")
    options = ("-gU",) if sys.platform == "darwin" else ("-D", "--defined-only")
    shown = subprocess.run([nm, *options, library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].removeprefix("_") for line in shown.splitlines() if line.strip()}
    assert {"PyInit__native"} == names - {"init", "fini", "_bss_start", "edata", "end", "_edata", "_end"}


def test_checkout_is_out_of_reach(installed: Venv) -> None:
    """Nothing of the checkout is on the path of the environment, so the other tests here see the wheel."""
    code = "import sys, fortuna, fortuna.generators as g; print(*sys.path, fortuna.__file__, g.__file__, sep='\\n')"
    shown = installed.run("python", "-c", code).splitlines()
    assert not [path for path in shown if path and Path(path).resolve().is_relative_to(ROOT)]
    assert shown[-1].endswith(os.path.join("fortuna", "generators", "__init__.py"))  # noqa: PTH118


#: Of the extension, and what cannot be imported where that is missing.
NATIVE_MODULES: Final = {"fortuna.native", "fortuna.core.native_generator", "fortuna.generators.providers.native"}
#: Prints a line of the modules that can be imported, each on its own, and one of those that raise ImportError.
IMPORT_ALL: Final = """
import importlib, pkgutil, fortuna
fine, missing = [], []
for module in pkgutil.walk_packages(fortuna.__path__, "fortuna."):
    try:
        importlib.import_module(module.name)
    except ImportError:
        missing.append(module.name)
    else:
        fine.append(module.name)
print(*fine)
print(*missing)
"""


def check_imports(venv: Venv, *, native: bool) -> None:
    """Import each module of the package; those that stand for an extra or for an absent extension cannot be.

    Nor can the kit for the authors of generators, which is for pytest.
    """
    fine, missing = (set(line.split()) for line in venv.run("python", "-W", "error", "-c", IMPORT_ALL).split("\n")[:2])
    assert {"fortuna.cli.main", "fortuna.generators.providers.pycryptodome", "fortuna.sources.os"} <= fine
    # The venvs hold what the package needs and none of its extras.
    extras = {
        "fortuna.generators.providers.openssl",
        "fortuna.generators.conformance",
        "fortuna.metrics.opentelemetry",
        "fortuna.metrics.prometheus",
        "fortuna.bench.arrays",
        "fortuna.numpy",
        "fortuna.numpy_bits",
        "fortuna.testing.deterministic_numpy",
    }
    assert missing == extras | (set() if native else NATIVE_MODULES)
    assert fine & {*NATIVE_MODULES, "fortuna.generators._native"} == (
        {*NATIVE_MODULES, "fortuna.generators._native"} if native else set()
    )


def test_every_module_can_be_imported(installed: Venv) -> None:
    """Each module of the wheel can be imported on its own."""
    check_imports(installed, native=not why_no_compiler())


def test_every_module_can_be_imported_without_compiler(installed_without_compiler: Venv) -> None:
    """Without the extension each module can be imported but the three that stand for it."""
    check_imports(installed_without_compiler, native=False)


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
    # The extension lies beside the modules that it belongs to, and is used from there.
    built = [path.name for path in (source / "generators").glob("_native.*") if path.suffix != ".pyi"]
    assert built == ([] if why_no_compiler() else [EXTENSION.rpartition("/")[2]])
    if not why_no_compiler():
        code = "import fortuna.generators._native as n; print(n.__file__)"
        assert str(folder / built[0]) == venv.run("python", "-c", code).strip()


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
    names = set(installed.run("python", "-I", "-S", "-c", with_site(installed, code)).split())
    loaded = {name.partition(".")[0] for name in names}
    heavy = {"Crypto", "threading", "dataclasses", "logging", "numpy", "tomli", "typing", "hashlib", "_hashlib"}
    assert set() == heavy & loaded
    light = {"fortuna", "fortuna._version", "fortuna.generators", "fortuna.generators.undisturbed"}
    if not why_no_compiler():
        light |= {"fortuna.errors", "fortuna.generators._native"}
    assert light == {name for name in names if name.partition(".")[0] == "fortuna"}


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
@pytest.mark.parametrize("native", ["require", "off"])
def test_every_python(clone: Path, pure_wheel: Path, tmp_path: Path, version: str, native: str) -> None:
    """On every Python that the metadata name the package installs, with the extension, which that Python builds, and
    without; it works and forks without a warning.
    """
    if native == "require":
        need_compiler()
    interpreter = find_python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} with venv and ensurepip is installed on this machine")
    venv = Venv(tmp_path / "venv", interpreter)
    if native == "require":
        venv.install(copy_checkout(tmp_path / "clone", clone), variables={"FORTUNA_NATIVE": native})
    else:
        venv.install(pure_wheel)
    assert version == venv.run("python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    assert "" == venv.run("python", "-W", "error", "-c", FORK)
    check_smoke(venv, native=native == "require")


@pytest.mark.slow
def test_oldest_libraries(wheel: Path, tmp_path: Path) -> None:
    """With the libraries at their lower bounds everything works, and the keystreams equal every vector."""
    oldest = [requirement.replace(">=", "==") for requirement in PROJECT["dependencies"]]
    venv = Venv(tmp_path / "venv")
    venv.install(wheel, *oldest, *PROJECT["optional-dependencies"]["test"])
    code = "import sys; from importlib.metadata import version; print(*(f'{n}=={version(n)}' for n in sys.argv[1:]))"
    names = [requirement.partition("==")[0] for requirement in oldest]
    assert oldest == venv.run("python", "-c", code, *names).split()
    check_smoke(venv, native=not why_no_compiler())
    for folder in ("vectors", "test_generators"):
        shutil.copytree(ROOT / "tests" / folder, venv.away / "tests" / folder)
    shutil.copy(ROOT / "pyproject.toml", venv.away)
    shown = venv.run(
        "python", "-m", "pytest", "-q", "-m", "not slow", "-k", "vector", "-p", "no:cacheprovider", "tests"
    )
    assert re.search(r"[1-9][0-9]* passed", shown)
    assert "failed" not in shown
