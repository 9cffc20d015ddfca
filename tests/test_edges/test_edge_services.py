"""Whole services in processes of their own: seed files over restarts and forks, every source, clones, what is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.sources.cpu import this_processor

if TYPE_CHECKING:
    from pathlib import Path

SEED_SIZE: Final = 64
#: Draws, says what there is, and ends as a service does.
DRAW: Final = """
import fortuna
print(fortuna.random_bytes(16).hex())
"""


def write(tmp_path: Path, text: str) -> Path:
    """Write a file of tunables and return its path."""
    path = tmp_path / "fortuna.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path


def run(config: Path, code: str, *, status: int = 0) -> str:
    """Run *code* in a new Python under *config* and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "FORTUNA_CONFIG": str(config)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (status, "" if not status else done.stderr) == (done.returncode, done.stderr)
    return done.stdout if not status else done.stderr


def dump(config: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "fortuna", "--config", str(config), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """Give the path of a seed file in a directory that does not exist yet."""
    return tmp_path / "state" / "seed"


@pytest.fixture
def config(tmp_path: Path, seed: Path) -> Path:
    """Give a file of tunables with a seed file."""
    return write(tmp_path, f'[seed_file]\npath = "{seed}"\n')


def test_edge_services_seed_file_over_restarts(config: Path, seed: Path) -> None:
    """Each process replaces the seed twice, at its boot and at its end, and no two give the same bytes."""
    code = f"""
import fortuna
first = fortuna.random_bytes(16).hex()
print(first, open({str(seed)!r}, "rb").read().hex())
"""
    drawn, seeds = set(), set()
    for _ in range(4):
        token, inside = run(config, code).split()
        drawn.add(token)
        seeds |= {inside, seed.read_bytes().hex()}
    assert (4, 8) == (len(drawn), len(seeds))
    assert {2 * SEED_SIZE} == {len(text) for text in seeds}
    assert (0o600, 0o700) == (seed.stat().st_mode & 0o777, seed.parent.stat().st_mode & 0o777)


def test_edge_services_backup_of_the_seed_restored(config: Path, seed: Path) -> None:
    """The same seed read twice does not give the same bytes twice: other sources take part."""
    run(config, DRAW)
    backup = seed.read_bytes()
    drawn = set()
    for _ in range(3):
        seed.write_bytes(backup)
        drawn.add(run(config, DRAW))
    assert 3 == len(drawn)


def test_edge_services_seed_file_alone_does_not_seed(tmp_path: Path, seed: Path) -> None:
    """A good seed and no source that answers: the boot refuses within its limit, and leaves the seed as it is."""
    ready = write(tmp_path, f'[seed_file]\npath = "{seed}"\n')
    run(ready, DRAW)
    before = seed.read_bytes()
    fifo = tmp_path / "device"
    os.mkfifo(fifo, 0o600)
    config = write(
        tmp_path,
        f'[seed_file]\npath = "{seed}"\n[entropy]\nsources = ["file"]\nfile = "{fifo}"\n'
        "[boot]\nallow_without_os = true\ntimeout = 0.5\n",
    )
    code = (
        "import fortuna\ntry:\n    fortuna.random_bytes(1)\nexcept fortuna.NotSeededError as error:\n    print(error)"
    )
    assert run(config, code).startswith("not seeded within boot.timeout = 0.5 s; failing sources: ")
    assert before == seed.read_bytes()
    assert 3 == dump(config, "-n", "1").returncode


def test_edge_services_seed_file_open_to_others_stops_the_boot(config: Path, seed: Path) -> None:
    """Exit code 78, nothing written, and the message has the command that mends it."""
    assert 0 == dump(config, "-n", "16").returncode
    seed.chmod(0o644)
    done = dump(config, "-n", "16")
    assert (78, "") == (done.returncode, done.stdout)
    assert "chmod" in done.stderr
    assert 0o644 == seed.stat().st_mode & 0o777
    seed.chmod(0o600)
    assert 0 == dump(config, "-n", "16").returncode


def test_edge_services_fork_with_seed_file_and_thread(config: Path, seed: Path) -> None:
    """Parent and children draw, have a harvester each, save by themselves, and leave no descriptor behind."""
    code = """
import os, sys, threading
import fortuna
def names():
    return sorted(thread.name for thread in threading.enumerate())
drawn = [fortuna.random_bytes(16).hex()]
assert names() == ["MainThread", "fortuna-harvester"], names()
before = len(os.listdir("/proc/self/fd"))
for _ in range(5):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        token = fortuna.random_bytes(16).hex()
        assert names() == ["MainThread", "fortuna-harvester"], names()
        fortuna.default().close()
        os.write(writer, token.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        drawn.append(file.read())
    assert os.waitpid(pid, 0)[1] == 0
    drawn.append(fortuna.random_bytes(16).hex())
assert before == len(os.listdir("/proc/self/fd"))
print(len(drawn), len(set(drawn)), {len(token) for token in drawn})
"""
    assert "11 11 {32}\n" == run(config, code)
    assert SEED_SIZE == len(seed.read_bytes())


def test_edge_services_spawned_processes_share_a_seed_file(config: Path, tmp_path: Path) -> None:
    """Children that multiprocessing starts boot with the same seed file, and all draw something else."""
    script = tmp_path / "service.py"
    script.write_text(
        "import multiprocessing\nimport fortuna\n"
        "def draw(_):\n    return fortuna.random_bytes(16).hex()\n"
        'if __name__ == "__main__":\n'
        "    mine = fortuna.random_bytes(16).hex()\n"
        '    with multiprocessing.get_context("spawn").Pool(2) as pool:\n'
        "        drawn = [mine, *pool.map(draw, range(8))]\n"
        "    print(len(drawn), len(set(drawn)), fortuna.stats().sticky_flags)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "FORTUNA_CONFIG": str(config)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ("9 9 ()\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("sources", "more"),
    [
        (["os"], ""),
        (["os", "cpu", "jitter", "proc"], ""),
        (["jitter"], "[boot]\nallow_without_os = true\n"),
        (["file", "os"], ""),
    ],
    ids="-".join,
)
def test_edge_services_every_source(sources: list[str], more: str, tmp_path: Path) -> None:
    """Real sources, together and alone, boot a service; the statistics name them in order."""
    names = ", ".join(f'"{name}"' for name in sources)
    config = write(tmp_path, f'[entropy]\nsources = [{names}]\nfile = "/dev/urandom"\n{more}')
    code = (
        "import fortuna\ntokens = {fortuna.random_bytes(16) for _ in range(100)}\n"
        "print(len(tokens), *(source.name for source in fortuna.stats().sources))"
    )
    assert f"100 {' '.join(sources)}\n" == run(config, code)


@pytest.mark.skipif(bool(this_processor().absence), reason=this_processor().absence or "it is here")
def test_edge_services_the_processor_alone(tmp_path: Path) -> None:
    """RDSEED or RDRAND alone seeds, where the file says that it may, and can be mixed into every call."""
    config = write(tmp_path, '[entropy]\nsources = ["cpu"]\nper_request = "cpu"\n[boot]\nallow_without_os = true\n')
    code = "import fortuna\nprint(len({fortuna.random_bytes(16) for _ in range(50)}), fortuna.stats().is_seeded)"
    assert "50 True\n" == run(config, code)


def test_edge_services_generation_file(tmp_path: Path) -> None:
    """A changed number reseeds the running service before its next byte, once."""
    number = tmp_path / "generation"
    number.write_bytes(bytes(8))
    config = write(tmp_path, f'[boot]\ngeneration_file = "{number}"\n[reseed]\ninterval = 3600\n')
    code = f"""
import fortuna
counts = []
for step in range(3):
    fortuna.random_bytes(16)
    counts.append(fortuna.stats().reseeds)
    with open({str(number)!r}, "r+b") as file:
        file.write(bytes([step + 1]) * 8)
fortuna.random_bytes(16)
fortuna.random_bytes(16)
print(counts, fortuna.stats().reseeds, fortuna.stats().clone_detectors[-1:])
"""
    assert "[1, 2, 3] 4 ('generation file',)\n" == run(config, code)
    number.write_bytes(bytes(5))
    done = dump(config, "-n", "1")
    assert (78, "") == (done.returncode, done.stdout)
    assert "boot.generation_file" in done.stderr


def test_edge_services_two_snapshots_of_one_process(tmp_path: Path) -> None:
    """Copies that only the runtime's hook tells apart: the same bytes without it, others with it."""
    config = write(tmp_path, '[generator]\nprovider = "pycryptodome"\n[reseed]\ninterval = 3600\n')
    code = """
import os, sys, types
hooks = []
runtime = types.ModuleType("snapshot_restore_py")
runtime.register_after_restore = hooks.append
sys.modules["snapshot_restore_py"] = runtime
from fortuna import _boot
from fortuna.forks import ForkDetector
# A snapshot is no fork, so the fork that plays its part is not to be noticed.
_boot.process.__init__(ForkDetector(use_hook=False, use_page=False, getpid=lambda: 1))
import fortuna
fortuna.random_bytes(16)
def copy(is_told):
    reader, writer = os.pipe()
    if os.fork() == 0:
        if is_told:
            hooks[0]()
        os.write(writer, fortuna.random_bytes(16))
        os._exit(0)
    os.close(writer)
    os.wait()
    return os.read(reader, 16)
same = {copy(False) for _ in range(3)}
told = {copy(True) for _ in range(3)}
print(len(same), len(told | same), fortuna.stats().clone_detectors)
"""
    assert "1 4 ('after-restore hook',)\n" == run(config, code)


def test_edge_services_fork_right_after_a_reseed(tmp_path: Path) -> None:
    """CVE-2013-1445: the pace must not keep a child from its own seed, however fresh the parent's is."""
    config = write(tmp_path, "[reseed]\ninterval = 3600\n")
    code = """
import os
import fortuna
drawn = []
for _ in range(20):
    fortuna.reseed()
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, fortuna.random_bytes(16))
        os._exit(0)
    os.close(writer)
    drawn.append(fortuna.random_bytes(16))
    os.wait()
    drawn.append(os.read(reader, 16))
    os.close(reader)
print(len(drawn), len(set(drawn)))
"""
    assert "40 40\n" == run(config, code)


def test_edge_services_statistics_on_the_command_line(config: Path) -> None:
    """The table and the JSON object show a boot of these tunables; the object has the names of `fortuna.Stats`."""
    table = dump(config, "--stats")
    assert (0, "") == (table.returncode, table.stderr)
    assert "sticky flags " in table.stdout
    assert "source os, state " in table.stdout
    shown = json.loads(dump(config, "--stats", "json").stdout)
    from fortuna import Stats

    assert list(Stats.__dataclass_fields__) == list(shown)
    assert [["os", "healthy"], ["cpu", shown["sources"][1]["state"]]] == [
        [source["name"], source["state"]] for source in shown["sources"]
    ]
    assert (True, 1, []) == (shown["is_seeded"], shown["reseeds"], shown["sticky_flags"])
    assert 2 == dump(config, "--stats", "--list").returncode
    assert 2 == dump(config, "--stats", "xml").returncode
