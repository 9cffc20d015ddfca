"""Builds of the extension for tests alone: with broken kernels, under ThreadSanitizer, by other Pythons."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from .native_support import LIBRARY, NATIVE, ROOT, TESTS, lines_of, run_script

IS_CHECKOUT: Final = (ROOT / "generators" / "_kernels").is_dir() and (ROOT / "setup.py").is_file()
COMPILER: Final = os.environ.get("CC", "cc")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not IS_CHECKOUT, reason="the sources of the extension are not here"),
    pytest.mark.skipif(shutil.which(COMPILER.split()[0]) is None, reason=f"no C compiler {COMPILER!r}"),
]

IGNORED: Final = shutil.ignore_patterns("*.so", "*.o", "build", "__pycache__", "*.egg-info")
#: Kernels of chacha20 that this machine can run, best first.
CHACHA: Final = [cell[2] for cell in NATIVE if cell[0] == "chacha20"]
PYENV: Final = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
OTHERS: Final = ["3.10", "3.12", "3.13"]


def copy_tree(target: Path) -> Path:
    """Copy what a build needs, so that a test may change it."""
    target.mkdir()
    for name in ("fortuna", "generators"):
        shutil.copytree(ROOT / name, target / name, symlinks=True, ignore=IGNORED)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    return target


def install(tree: Path, target: Path, python: str = sys.executable, **variables: str) -> Path:
    """Build *tree*, require its extension, and install it into a folder."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]
    done = subprocess.run(
        [*command, str(target), str(tree)],
        env={**os.environ, "FORTUNA_NATIVE": "require", **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    assert list(target.glob("fortuna/generators/_native*"))
    return target


def break_kernels(tree: Path, kernels: list[str]) -> None:
    """Make some ChaCha kernels forget the carry into the counter's high half."""
    fault = (TESTS / "c" / "broken_carry.h").read_text(encoding="ascii")
    for kernel in kernels:
        path = tree / "generators" / "_kernels" / f"chacha_{kernel}.c"
        path.write_text(fault + path.read_text(encoding="ascii"), encoding="ascii")


@pytest.mark.parametrize("count", sorted({1, len(CHACHA)}))
def test_broken_kernels(count: int, tmp_path: Path) -> None:
    """Kernels that compute wrongly are logged and passed over; where all do, the next provider serves, or none."""
    broken, good = CHACHA[:count], CHACHA[count:]
    tree = copy_tree(tmp_path / "tree")
    break_kernels(tree, broken)
    site = install(tree, tmp_path / "site")
    body = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="log %(name)s %(message)s")
import fortuna
from fortuna.errors import FortunaError
from fortuna.generators import _native, create
print(_native.__file__.startswith(sys.argv[1]))
for cipher in ("chacha20", "chacha8", "xchacha12"):
    try:
        made = create(cipher)
        print(cipher, made.provider, made.kernel)
    except FortunaError as error:
        print(cipher, type(error).__name__)
for kernel in sys.argv[2].split(","):
    try:
        create("chacha20", "native", kernel)
    except FortunaError as error:
        print(type(error).__name__, error)
live = fortuna.boot(overrides={"generator.cipher": "chacha20"})
print(type(live).__name__, live.stats().provider, live.stats().kernel, len(live.random_bytes(100)))
"""
    lines = lines_of(run_script(body, str(site), ",".join(broken), environment={"PYTHONPATH": str(site)}, cwd=site))
    assert "True" == lines[0]
    wrong = "its keystream is wrong; it is not used"
    logged = [
        f"log fortuna native: kernel {k} for {c}: {wrong}" for c in ("chacha20", "chacha8", "xchacha12") for k in broken
    ]
    # Forcing one tests it by itself, and logs again.
    assert logged == list(dict.fromkeys(line for line in lines if line.startswith("log")))
    said = [line for line in lines[1:] if not line.startswith("log")]
    choice = ["native", good[0]] if good else [LIBRARY, "library"]
    assert f"chacha20 {choice[0]} {choice[1]}" == said[0]
    for line, cipher in zip(said[1:3], ("chacha8", "xchacha12"), strict=True):
        assert (f"{cipher} native {good[0]}" if good else f"{cipher} ProviderUnavailableError") == line
    assert [f"SelfTestError native: kernel {k} for chacha20: {wrong}" for k in broken] == said[3:-1]
    assert f"{'NativeFortuna' if good else 'Fortuna'} {choice[0]} {choice[1]} 100" == said[-1]


def test_broken_kernel_in_the_listing(tmp_path: Path) -> None:
    """``fortuna-dump --list`` says of a broken kernel that it failed, and of the next that auto chose it."""
    tree = copy_tree(tmp_path / "tree")
    break_kernels(tree, CHACHA[:1])
    site = install(tree, tmp_path / "site")
    done = run_script(
        "import sys; sys.argv = ['fortuna-dump', '--list']; from fortuna.cli.main import main; sys.exit(main())",
        environment={"PYTHONPATH": str(site)},
        cwd=site,
    )
    assert 0 == done.returncode, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.split()[:2] == ["chacha20", "native"]]
    assert any(CHACHA[0] in row and "its keystream is wrong" in row for row in rows), done.stdout


#: Eight threads on the plain generator and on the live one: small and large requests, reseeds, children, closing.
EIGHT_THREADS: Final = """
import sys, threading
import fortuna
from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.native_generator import NativeGenerator
from fortuna.generators import _native
from fortuna.generators.registry import resolve

cipher = sys.argv[1]
choice = resolve(cipher, "native")
plain = NativeGenerator(choice, CONSTRUCTIONS["fsk2010"])
plain.reseed(b"seed")
live = fortuna.boot(overrides={"generator.cipher": cipher, "generator.provider": "native", "reseed.interval": 0.0})
stream = _native.Keystream(cipher, choice.kernel)
stream.set_key(bytes(32))
ready = threading.Barrier(8)
drawn = []

def draw(number):
    ready.wait()
    out = bytearray(40_000)
    for step in range(int(sys.argv[2])):
        drawn.append(plain.random_bytes(32))
        drawn.append(plain.random_bytes(20_000)[:32])
        live.readinto(out)
        drawn.append(bytes(out[:32]))
        drawn.append(fortuna.random_bytes(32))
        if step % 8 == number:
            plain.reseed(b"more")
            live.reseed()
            drawn.append(live.child().random_bytes(32))
            stream.set_key(bytes([step % 256]) * 32)
        stream.fill(bytes(16), out)
        plain._report(), live.stats()

threads = [threading.Thread(target=draw, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
live.close()
print(len(drawn) == len(set(drawn)), plain._report()[1] == 16 * int(sys.argv[2]))
"""


#: Eight threads that draw from one bit generator through NumPy, and now and then have its K replaced.
EIGHT_ARRAYS: Final = """
import sys, threading
import numpy as np
import fortuna
from fortuna.numpy import BitGenerator

cipher, steps = sys.argv[1], int(sys.argv[2])
live = fortuna.boot(overrides={"generator.cipher": cipher, "generator.provider": "native"})
rng = np.random.Generator(BitGenerator(live))
drawn = []

def draw():
    for step in range(steps):
        drawn.append(rng.integers(0, 2**64, 1500, dtype=np.uint64))
        if step % 20 == 0:
            live.reseed()

threads = [threading.Thread(target=draw) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
every = np.concatenate(drawn)
print(8 * steps * 1500 == every.size, every.size == np.unique(every).size)
"""
#: In front of the C library's: a kernel that knows nothing of wiping a page in a forked child.
NO_WIPING: Final = """
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
int madvise(void *memory, size_t size, int advice)
{
    if (advice == 18) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, memory, size, advice);
}
"""
#: Draws in a parent and in children forked in either way, and once more in each.
FORKS: Final = """
import os
import numpy as np
import fortuna
from child_support import Child, raw_fork
from fortuna.numpy import BitGenerator

live = fortuna.boot(overrides={"generator.provider": "native"})
rng = np.random.Generator(BitGenerator(live))
print(live._report()[3], *fortuna.stats().fork_detectors)

def draw():
    return b"".join((rng.bytes(16), live.random_bytes(16), rng.bytes(16)))

draw()
answers = [Child(draw, fork).answer() for fork in (os.fork, raw_fork, os.fork, raw_fork)]
blocks = [answer[start : start + 16] for answer in (*answers, draw()) for start in (0, 16, 32)]
print(len(blocks), len(set(blocks)))
"""


def sanitizer_library() -> str:
    """Return the path of the ThreadSanitizer library, or an empty string."""
    done = subprocess.run([COMPILER, "-print-file-name=libtsan.so"], capture_output=True, text=True, check=False)
    path = done.stdout.strip()
    return str(Path(path).resolve()) if Path(path).is_absolute() else ""


def under_thread_sanitizer(
    site: Path, cipher: str, steps: int, script: str = EIGHT_THREADS
) -> subprocess.CompletedProcess[str]:
    """Run the eight threads with a build for ThreadSanitizer, which needs its library loaded first."""
    environment = {
        "PYTHONPATH": str(site),
        "LD_PRELOAD": sanitizer_library(),
        # The interpreter itself is not built for it, so only what the extension does is seen; the locks of pthread are.
        "TSAN_OPTIONS": "exitcode=66 halt_on_error=0 report_signal_unsafe=0",
    }
    return run_script(script, cipher, str(steps), environment=environment, timeout=600, cwd=site)


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an installation whose extension is built for ThreadSanitizer."""
    if platform.system() != "Linux" or not sanitizer_library():
        pytest.skip("the compiler has no ThreadSanitizer library")
    base = tmp_path_factory.mktemp("tsan")
    flags = {"CFLAGS": "-fsanitize=thread -g", "LDFLAGS": "-fsanitize=thread"}
    return install(copy_tree(base / "tree"), base / "site", **flags)


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20", "xchacha8"])
def test_thread_sanitizer(sanitized: Path, cipher: str) -> None:
    """Eight threads on shared generators: ThreadSanitizer sees no race in the extension, and no block comes twice."""
    done = under_thread_sanitizer(sanitized, cipher, 60)
    assert "ThreadSanitizer" not in done.stderr, done.stderr[:6000]
    assert ["True True"] == lines_of(done)


def test_thread_sanitizer_on_arrays(sanitized: Path) -> None:
    """The same for eight threads that share one bit generator for NumPy."""
    pytest.importorskip("numpy")
    done = under_thread_sanitizer(sanitized, "chacha20", 60, EIGHT_ARRAYS)
    assert "ThreadSanitizer" not in done.stderr, done.stderr[:6000]
    assert ["True True"] == lines_of(done)


@pytest.mark.skipif(platform.system() != "Linux", reason="replaces a call of Linux")
def test_kernel_that_wipes_nothing(tmp_path: Path) -> None:
    """Where no page is wiped in a child, the process id tells of forks: for each request and each number."""
    pytest.importorskip("numpy")
    source, library = tmp_path / "no_wiping.c", tmp_path / "no_wiping.so"
    source.write_text(NO_WIPING, encoding="ascii")
    subprocess.run([*COMPILER.split(), "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    detectors = ["at-fork hook wipe-on-fork page", "at-fork hook process id"]
    for environment, does_wipe in (({}, True), ({"LD_PRELOAD": str(library)}, False)):
        found, blocks = lines_of(run_script(FORKS, environment=environment))
        assert f"{does_wipe} {detectors[not does_wipe]}" == found
        assert "15 15" == blocks


def test_thread_sanitizer_bites(tmp_path: Path) -> None:
    """With a write to the page outside of the lock, ThreadSanitizer reports a race: the test above would see one."""
    if platform.system() != "Linux" or not sanitizer_library():
        pytest.skip("the compiler has no ThreadSanitizer library")
    tree = copy_tree(tmp_path / "tree")
    source = tree / "generators" / "_extension" / "generator.c"
    text = source.read_text(encoding="ascii")
    right = "    Py_BEGIN_ALLOW_THREADS\n    kernel->keystream(schedule, counter, out + done, n - done);\n"
    assert 1 == text.count(right)
    source.write_text(text.replace(right, right + "    page->key[0] ^= 1;\n"), encoding="ascii")
    flags = {"CFLAGS": "-fsanitize=thread -g", "LDFLAGS": "-fsanitize=thread"}
    site = install(tree, tmp_path / "site", **flags)
    done = under_thread_sanitizer(site, "chacha20", 60)
    assert "ThreadSanitizer: data race" in done.stderr, done.stdout + done.stderr[:2000]


def pythons() -> list[str]:
    """Return the interpreters of other versions that pyenv has."""
    return [str(path) for version in OTHERS for path in sorted(PYENV.glob(f"{version}.*/bin/python"))[-1:]]


@pytest.mark.parametrize("version", OTHERS)
def test_other_pythons(version: str, tmp_path: Path) -> None:
    """Other versions of Python build the extension and pass the native tests that are not slow."""
    found = [python for python in pythons() if f"/{version}." in python]
    if not found:
        pytest.skip(f"pyenv has no Python {version}")
    if sys.version_info[:2] == tuple(int(part) for part in version.split(".")):
        pytest.skip("that is the version which runs these tests")
    tree = copy_tree(tmp_path / "tree")
    venv = tmp_path / "venv"
    subprocess.run([found[0], "-m", "venv", str(venv)], check=True)
    python = str(venv / "bin" / "python")
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{tree}[test]"],
        env={**os.environ, "FORTUNA_NATIVE": "require"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    away = tmp_path / "away"
    shutil.copytree(TESTS, away / "tests", ignore=IGNORED)
    shutil.copy(ROOT / "pyproject.toml", away)
    selected = ["tests/test_native", "tests/test_generators", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [python, "-m", "pytest", *selected],
        cwd=away,
        env={key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COVERAGE"))},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert 0 == run.returncode, run.stdout[-6000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
    probe = subprocess.run(
        [
            python,
            "-c",
            "import sys, fortuna; fortuna.random_bytes(1); print(sys.version_info[:2], fortuna.stats().provider)",
        ],
        cwd=away,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"({version.replace('.', ', ')}) native" == probe.stdout.strip()
