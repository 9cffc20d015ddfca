"""The seed file shared by processes: racing boots, forks while it is in use, locks that outlive nobody."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.seedfile import SEED_SIZE

from .child_support import Child, raw_fork
from .edge_doubles import HANG_SECONDS, lines_of, run_script, stream
from .seedfile_doubles import SeedBench, open_descriptors

if TYPE_CHECKING:
    from pathlib import Path

    from fortuna.generators.secret import Secret

OLD: Final = stream("old seed", SEED_SIZE)
#: Boots as often as it is told, and tells the seed that each boot read and the one that it left.
RACER: Final = """
import os, sys, time
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles

class Clock:
    monotonic_ns = staticmethod(time.monotonic_ns)
    sleep = staticmethod(time.sleep)

sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    def draw(out):
        out[:] = os.urandom(64)
        print("left", out.hex())
    seed_file = SeedFile(sys.argv[1], SystemFiles(), Clock(), 1)
    seed_file.restart(lambda seed: print("read", seed.hex()), draw)
    assert seed_file.flags in ((), ("seed_file_locked",)), seed_file.flags
"""


@pytest.fixture
def bench(tmp_path: Path) -> SeedBench:
    """Give a seed file that holds a seed."""
    made = SeedBench(tmp_path / "state")
    made.put(OLD)
    return made


@pytest.mark.parametrize(("racers", "boots"), [(2, 50), pytest.param(8, 100, marks=pytest.mark.slow)])
def test_seedfile_processes_race(racers: int, boots: int, bench: SeedBench) -> None:
    """Processes that boot from one file at the same time never read the same seed, and lose none of them."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(bench.path), str(boots)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(racers)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said: list[str] = []
    for process in running:
        out, complaint = process.communicate(timeout=HANG_SECONDS)
        # A boot that waited in vain for the lock says so and goes on.
        assert all("other processes held its lock" in line for line in complaint.splitlines()), complaint
        assert 0 == process.returncode
        said += out.splitlines()
    read = [line.removeprefix("read ") for line in said if line.startswith("read ")]
    left = [line.removeprefix("left ") for line in said if line.startswith("left ")]
    assert len(read) == len(left) >= boots
    assert len(read) == len(set(read))
    # Each seed that was left was read by exactly one boot, but for the last, which lies there still.
    assert {*left, OLD.hex()} == {*read, bench.path.read_bytes().hex()}


def test_seedfile_processes_parent_and_child_save(bench: SeedBench) -> None:
    """A forked child saves by itself, as does its parent, and neither has anything of the other's open."""
    bench.restart()
    before = open_descriptors()

    def act() -> bytes:
        bench.generator.reseed(b"child")  # type: ignore[arg-type]  # as a live generator does after a fork
        child = bench.make()
        old = bench.path.read_bytes()
        child.save(bench.generator.draw)
        # The pipe to the parent is the one descriptor more.
        return repr((child.flags, old != bench.path.read_bytes(), open_descriptors() - before)).encode()

    assert repr(((), True, 1)).encode() == Child(act).answer()
    left = bench.path.read_bytes()
    bench.save()
    assert left != bench.path.read_bytes()
    assert () == bench.seed_file.flags


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork with threads: what this test is about
def test_seedfile_processes_a_fork_waits_for_the_lock_to_be_free(bench: SeedBench) -> None:
    """A fork in another thread waits until a boot is done with the file: the child has neither lock nor descriptor."""
    before = open_descriptors()
    children: list[Child] = []
    has_forked = threading.Event()

    def look() -> bytes:
        descriptor = os.open(bench.path.parent, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return str(open_descriptors() - before).encode()

    def fork() -> None:
        children.append(Child(look))
        has_forked.set()

    thread = threading.Thread(target=fork)

    def draw(out: Secret) -> None:
        thread.start()
        # It cannot come true: what is waited for waits for this. The time only gives a wrong implementation a chance.
        assert not has_forked.wait(0.2)
        bench.generator.draw(out)

    bench.seed_file.restart(bench.generator.reseed, draw)
    thread.join(HANG_SECONDS)
    # Its own descriptor of the directory and the pipe.
    assert [b"2"] == [child.answer() for child in children]
    assert () == bench.seed_file.flags


def test_seedfile_processes_a_child_of_c_code_keeps_no_lock(bench: SeedBench) -> None:
    """A child that C code forked in the middle holds a copy of the descriptor, and yet the lock is free again."""
    children: list[Child] = []
    reader, writer = os.pipe()

    def wait_for_the_end() -> bytes:
        os.close(writer)
        return os.read(reader, 1) + b"end"

    def draw(out: Secret) -> None:
        bench.generator.draw(out)
        children.append(Child(wait_for_the_end, raw_fork))

    bench.seed_file.restart(bench.generator.reseed, draw)
    left = bench.path.read_bytes()
    bench.save()
    assert left != bench.path.read_bytes()
    assert () == bench.seed_file.flags
    os.close(writer)
    assert [b"end"] == [child.answer() for child in children]
    os.close(reader)


def test_seedfile_processes_a_killed_holder_frees_the_lock(bench: SeedBench) -> None:
    """A process that ends in the middle of a boot takes its lock with it."""

    def die() -> bytes:
        bench.seed_file.restart(lambda seed: os._exit(0), bench.generator.draw)
        return b"survived"

    assert b"" == Child(die).answer()
    bench.restart()
    assert (([OLD], ()), []) == ((bench.generator.got, bench.seed_file.flags), bench.clock.slept)


def test_seedfile_processes_threads(bench: SeedBench) -> None:
    """Threads that save at the same time do so one after another, and all of them succeed."""
    bench.restart()

    def save_often() -> None:
        for _ in range(20):
            bench.save()

    threads = [threading.Thread(target=save_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert (81, ()) == (bench.files.calls.count("rename"), bench.seed_file.flags)
    assert (SEED_SIZE, ["seed"]) == (bench.path.stat().st_size, bench.names)


def test_seedfile_processes_signals_are_held_back(bench: SeedBench) -> None:
    """A signal in the middle of a boot is served after it, so a handler that draws and saves finds the lock free."""
    body = """
import os, signal, sys
from fortuna._boot import SystemClock
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles
order = []
seed_file = SeedFile(sys.argv[1], SystemFiles(), SystemClock(), 1)
def handle(number, frame):
    seed_file.save(lambda out: order.append("save"))
    order.append("handled")
def reseed(seed):
    os.kill(os.getpid(), signal.SIGUSR1)
    order.append("reseed")
def draw(out):
    out[:] = os.urandom(64)
    order.append("draw")
signal.signal(signal.SIGUSR1, handle)
seed_file.restart(reseed, draw)
print(*order, seed_file.flags)
"""
    assert ["reseed draw save handled ()"] == lines_of(run_script(body, str(bench.path)))


def test_seedfile_processes_a_file_size_limit(bench: SeedBench) -> None:
    """Under a real limit of 32 bytes a file, a save writes half a seed, and leaves the old one whole and alone."""
    body = """
import logging, os, resource, sys
from fortuna._boot import SystemClock
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles
logging.getLogger("fortuna").addHandler(logging.StreamHandler(sys.stdout))
seed_file = SeedFile(sys.argv[1], SystemFiles(), SystemClock(), 1)
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (32, limit[1]))
seed_file.save(lambda out: None)
resource.setrlimit(resource.RLIMIT_FSIZE, limit)
print(seed_file.flags, os.listdir(os.path.dirname(sys.argv[1])))
"""
    said = lines_of(run_script(body, str(bench.path)))
    assert "cannot be replaced: File too large" in said[0]
    assert "('seed_file_failed',) ['seed']" == said[1]
    assert OLD == bench.path.read_bytes()
