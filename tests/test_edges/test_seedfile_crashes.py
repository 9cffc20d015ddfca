"""The seed file when the process is killed or the power goes, at every step: whole, and no output is given twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.seedfile import SEED_SIZE, SeedFile

from .edge_doubles import ManualClock, stream
from .seedfile_doubles import INTERVAL_NS, FaultyFiles, Killed, MemoryDisk, SeedBench, WorstGenerator, open_descriptors

if TYPE_CHECKING:
    from pathlib import Path

OLD: Final = stream("old seed", SEED_SIZE)
#: Calls of a save and of a boot on the disk in memory, which takes a seed in three pieces.
SAVE_STEPS: Final = 15
BOOT_STEPS: Final = 21


class Crashes:
    """One machine with a disk in memory, on which generators boot, save, give output and are cut off."""

    def __init__(self) -> None:
        self.disk = MemoryDisk(seed=OLD)
        self.outputs: list[bytes] = []

    def seed(self) -> bytes:
        """Return what the file holds."""
        return bytes(self.disk.names["seed"].content)

    def boot(self, stop_at: int | None = None, loss: str = "nothing") -> WorstGenerator | None:
        """Boot and give output; killed after *stop_at* calls, with what *loss* of power adds to that."""
        generator, files = WorstGenerator(), FaultyFiles(self.disk)
        files.stop_at = stop_at
        try:
            seed_file = SeedFile("/state/seed", files.files, ManualClock(), INTERVAL_NS)
            seed_file.restart(generator.reseed, generator.draw)
        except Killed:
            files.end()
            self.disk.lose_power(loss)
            return None
        assert () == seed_file.flags
        self.outputs.append(generator.output())
        return generator

    def save(self, generator: WorstGenerator, stop_at: int | None = None, loss: str = "nothing") -> bool:
        """Save; tell whether it came to its end."""
        files = FaultyFiles(self.disk)
        files.stop_at = stop_at
        try:
            seed_file = SeedFile("/state/seed", files.files, ManualClock(), INTERVAL_NS)
            seed_file.save(generator.draw)
        except Killed:
            files.end()
            self.disk.lose_power(loss)
            return False
        assert () == seed_file.flags
        return True


@pytest.mark.parametrize("loss", MemoryDisk.LOSSES)
def test_seedfile_killed_at_every_step_of_500_saves(loss: str) -> None:
    """Killed anywhere in a save, with power or without, the file is the whole old seed or the whole new one."""
    machine = Crashes()
    generator = machine.boot()
    assert generator is not None
    kept = {"old": 0, "new": 0}
    for _ in range(500):
        for step in range(SAVE_STEPS):
            before = machine.seed()
            assert not machine.save(generator, step, loss)
            after = machine.seed()
            assert SEED_SIZE == len(after)
            kept["old" if after == before else "new"] += 1
        before = machine.seed()
        assert machine.save(generator, SAVE_STEPS)
        assert before != machine.seed()
        assert ["seed"] == list(machine.disk.names)
    # The step that counts is the renaming, or the syncing of the directory where the power goes.
    assert {"nothing": 3, "all": 2, "contents": 3, "names": 2}[loss] * 500 == kept["new"]


@pytest.mark.parametrize("loss", MemoryDisk.LOSSES)
def test_seedfile_killed_at_every_step_of_a_boot(loss: str) -> None:
    """Boots that are killed gave out nothing, and those that are not never give the same twice, from the file alone."""
    machine = Crashes()
    for _ in range(10):
        for step in range(BOOT_STEPS):
            assert machine.boot(step, loss) is None
            assert SEED_SIZE == len(machine.seed())
            assert machine.boot() is not None
        assert machine.boot(BOOT_STEPS) is not None
        # The power may go at once after the boot, too.
        machine.disk.lose_power(loss)
    assert 10 * (BOOT_STEPS + 1) == len(machine.outputs) == len(set(machine.outputs))


@pytest.mark.parametrize("loss", MemoryDisk.LOSSES)
def test_seedfile_boots_and_saves_in_any_order(loss: str) -> None:
    """Boots, saves and crashes in any order: every output is given once."""
    machine, choice = Crashes(), Random(5)  # noqa: S311
    generator = None
    for _ in range(3000):
        stop_at = choice.choice([None, choice.randrange(BOOT_STEPS)])
        if generator is None:
            generator = machine.boot(stop_at, loss)
        elif not machine.save(generator, stop_at, loss):
            generator = None
        else:
            machine.outputs.append(generator.output())
            if choice.random() < 0.5:
                machine.disk.lose_power(loss)
                generator = None
    assert len(machine.outputs) > 1000
    assert len(machine.outputs) == len(set(machine.outputs))


def test_seedfile_the_crashes_find_a_missing_sync() -> None:
    """The same disk shows a torn file where the content is not brought to it before the renaming."""
    machine = Crashes()
    files = FaultyFiles(machine.disk)
    files.faults["fsync#1"] = lambda real, descriptor: None
    generator = WorstGenerator()
    SeedFile("/state/seed", files.files, ManualClock(), INTERVAL_NS).save(generator.draw)
    machine.disk.lose_power("contents")
    assert b"" == machine.seed()


def test_seedfile_killed_at_every_step_on_a_real_file_system(tmp_path: Path) -> None:
    """The same in a real directory, where the lock and the descriptors of the killed process go with it."""
    bench = SeedBench(tmp_path / "state")
    bench.restart()
    before_all = open_descriptors()
    steps = 0
    while True:
        before = bench.path.read_bytes()
        bench.files = FaultyFiles(bench.files.inner)
        bench.files.stop_at = steps
        seed_file = SeedFile(str(bench.path), bench.files.files, bench.clock, INTERVAL_NS)
        try:
            seed_file.save(bench.generator.draw)
            break
        except Killed:
            bench.files.end()
        assert SEED_SIZE == len(bench.path.read_bytes())
        assert set(bench.names) <= {"seed", "seed.new"}
        assert before_all == open_descriptors()
        steps += 1
    assert before != bench.path.read_bytes()
    assert ["seed"] == bench.names
    assert 13 == steps


#: Boots and saves again and again, telling each output when its boot is over.
CHILD: Final = """
import hashlib, os, sys, time
from fortuna.seedfile import SeedFile
from fortuna.seedfile_system import SystemFiles

class Clock:
    monotonic_ns = staticmethod(time.monotonic_ns)
    sleep = staticmethod(time.sleep)

def boot():
    key = [b"the same at each boot"]
    def reseed(seed):
        key[0] = hashlib.sha512(key[0] + seed).digest()
    def draw(out):
        out[:] = hashlib.sha512(b"out" + key[0]).digest()
        key[0] = hashlib.sha512(b"key" + key[0]).digest()
    seed_file = SeedFile(sys.argv[1], SystemFiles(), Clock(), 1)
    seed_file.restart(reseed, draw)
    assert seed_file.flags == ()
    out = bytearray(64)
    draw(out)
    os.write(1, out.hex().encode() + b"\\n")
    seed_file.save(draw)
    assert seed_file.flags == ()

while True:
    boot()
"""


def kill_boots(path: Path, rounds: int) -> list[str]:
    """Start a process that boots without end, kill it after some boots, *rounds* times; return all outputs."""
    outputs: list[str] = []
    choice = Random(7)  # noqa: S311
    for _ in range(rounds):
        process = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        # Each line ends a boot; the kill comes at any place of one of the next.
        for _ in range(choice.randrange(1, 12)):
            line = process.stdout.readline()
            assert line
            outputs.append(line.decode())
        for _ in range(choice.randrange(2000)):
            pass
        process.send_signal(signal.SIGKILL)
        outputs += process.stdout.read().decode().splitlines(keepends=True)
        process.stdout.close()
        assert -signal.SIGKILL == process.wait()
        assert SEED_SIZE == path.stat().st_size
        assert any(path.read_bytes())
        assert {file.name for file in path.parent.iterdir()} <= {"seed", "seed.new"}
    return outputs


@pytest.mark.parametrize("rounds", [5, pytest.param(150, marks=pytest.mark.slow)])
def test_seedfile_a_real_process_is_killed(rounds: int, tmp_path: Path) -> None:
    """A process killed in the middle of its boots leaves a whole seed, and no output is ever given twice."""
    bench = SeedBench(tmp_path / "state")
    bench.put(OLD)
    outputs = kill_boots(bench.path, rounds)
    assert len(outputs) > rounds
    assert len(outputs) == len(set(outputs))
