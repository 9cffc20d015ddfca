"""Restored snapshots: the generation file and the after-restore hook; and `entropy.per_request`."""

from __future__ import annotations

import errno
import os
import struct
import types
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from fortuna import clones
from fortuna._boot import Process
from fortuna.clones import NO_GENERATION, GenerationFile, register_after_restore
from fortuna.errors import NotSeededError, SourceError, TunableError
from fortuna.generators.secret import Secret
from fortuna.life import NOT_RESEEDED

from .edge_doubles import Bench, Model, ScriptedSource, stream

if TYPE_CHECKING:
    from collections.abc import Callable

MIB: Final = 1 << 20
FDS: Final = Path("/proc/self/fd")
FORMATS: Final = {4: "=I", 8: "=Q"}


class Counter:
    """A generation file on disk that can be stepped."""

    def __init__(self, path: Path, size: int = 8) -> None:
        self.path = path
        self.size = size
        self.number = 0
        path.write_bytes(bytes(size))
        self.generation = GenerationFile(str(path))

    def step(self) -> None:
        """Say that the machine was restored, in place as the system would."""
        self.number += 1
        with self.path.open("r+b") as file:
            file.write(struct.pack(FORMATS[self.size], self.number))


@pytest.fixture(params=[4, 8])
def counter(request: pytest.FixtureRequest, tmp_path: Path) -> Counter:
    """Give a generation file of each size."""
    return Counter(tmp_path / "generation", request.param)


def test_edge_clones_generation_file_is_read_as_it_is_now(counter: Counter) -> None:
    """The mapped number follows the file, whatever its size."""
    assert 0 == counter.generation.read()
    for number in (1, 2):
        counter.step()
        assert number == counter.generation.read()
    assert counter.size == counter.generation.view.nbytes
    assert (0, None) == (NO_GENERATION.read(), NO_GENERATION.view)


@pytest.mark.parametrize("size", [0, 3, 5, 7, 9, 16, 4096])
def test_edge_clones_generation_file_of_another_size_is_refused(size: int, tmp_path: Path) -> None:
    """Only 4 and 8 bytes are a number; the message names the key, the path and what is allowed."""
    path = tmp_path / "generation"
    path.write_bytes(bytes(size))
    with pytest.raises(TunableError, match=rf"boot\.generation_file: .*generation.*has {size} bytes.*4 or 8 bytes"):
        GenerationFile(str(path))


def test_edge_clones_generation_file_that_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    """A missing path, a folder, a FIFO that nobody writes to and a device that cannot be mapped: an error, no hang."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    before = sorted(FDS.iterdir())
    for path in (tmp_path / "absent", tmp_path, fifo, "/dev/null"):
        with pytest.raises(TunableError, match=r"boot\.generation_file"):
            GenerationFile(str(path))
    assert before == sorted(FDS.iterdir())


def test_edge_clones_a_restored_copy_differs(path: str, counter: Counter) -> None:
    """Two copies of one state give the same bytes while nothing tells, and others once the number has changed."""
    one, other = (Bench(path, generation=counter.generation).boot() for _ in range(2))
    assert one.fortuna.random_bytes(32) == other.fortuna.random_bytes(32)
    other.scripted.reads = 1000  # the operating system knows better than to repeat itself
    reads, reseeds = other.scripted.reads, other.reseeds
    counter.step()
    assert one.fortuna.random_bytes(32) != other.fortuna.random_bytes(32)
    assert (reads + 1, reseeds + 1) == (other.scripted.reads, other.reseeds)
    # Once for each change.
    other.fortuna.random_bytes(32)
    assert reseeds + 1 == other.reseeds


def test_edge_clones_a_change_before_the_first_byte_counts(path: str, counter: Counter) -> None:
    """What was booted before a snapshot and first drawn from after it has replaced its K."""
    bench = Bench(path, generation=counter.generation).boot()
    control = Bench(path, generation=counter.generation).boot().fortuna.random_bytes(32)
    counter.step()
    assert control != bench.fortuna.random_bytes(32)
    assert 2 == bench.reseeds


def test_edge_clones_a_change_between_two_pieces_makes_all_anew(path: str, counter: Counter) -> None:
    """A restore inside a long read: nothing of what was filled before it is given out, for copies have that too."""
    bench, control = (Bench(path, generation=counter.generation).boot() for _ in range(2))
    expected = control.fortuna.random_bytes(3 * MIB)
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            counter.step()

    bench.clock.before_look = look
    got = bench.fortuna.random_bytes(3 * MIB)
    assert looks >= 3
    for start in range(0, 3 * MIB, MIB):
        assert expected[start : start + MIB] != got[start : start + MIB]


def test_edge_clones_the_hook_between_two_pieces_makes_all_anew(path: str) -> None:
    """The runtime's hook inside a long read does the same as a changed number."""
    bench, control = (Bench(path).boot() for _ in range(2))
    expected = control.fortuna.random_bytes(3 * MIB)
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            restore(bench)

    bench.clock.before_look = look
    got = bench.fortuna.random_bytes(3 * MIB)
    assert looks >= 3
    assert 2 == bench.reseeds
    for start in range(0, 3 * MIB, MIB):
        assert expected[start : start + MIB] != got[start : start + MIB]


def test_edge_clones_a_restore_during_a_reseed_is_not_forgotten(path: str) -> None:
    """A reseed whose bytes were read before the restore does not count for it."""
    bench = Bench(path).boot()
    source_read = bench.scripted.getrandom

    def read(size: int, flags: int = 0) -> bytes:
        bench.system._getrandom = source_read
        bench.fortuna.mark_restored()
        return source_read(size, flags)

    bench.system._getrandom = read
    bench.fortuna.reseed()
    assert 2 == bench.reseeds
    bench.fortuna.random_bytes(1)
    assert 3 == bench.reseeds


def test_edge_clones_a_change_while_bytes_are_made_discards_them(counter: Counter) -> None:
    """The number is compared again when the bytes are there."""
    bench = Bench("python", generation=counter.generation).boot()
    control = Bench("python", generation=counter.generation).boot()
    expected = control.fortuna.random_bytes(32)
    shared = bench.fortuna._life.generator
    fill = type(shared).readinto
    made = []

    class Restored(type(shared)):  # type: ignore[misc]  # the class is known at run time only
        __slots__ = ()

        def readinto(self, out: memoryview) -> int:
            size = fill(self, out)
            made.append(bytes(out))
            if len(made) == 1:
                counter.step()
            return size

    shared.__class__ = Restored
    got = bench.fortuna.random_bytes(32)
    assert expected == made[0] != got
    assert 2 == len(made)


def test_edge_clones_restore_whose_reseed_fails_gives_no_byte(
    path: str, counter: Counter, caplog: pytest.LogCaptureFixture
) -> None:
    """Without fresh bytes no request is answered; it is said once, and a flag remembers it after the recovery."""
    bench = Bench(path, generation=counter.generation).boot()
    bench.scripted.always = OSError(errno.EIO, "told to fail")
    counter.step()
    buffer = bytearray(b"\xff" * 32)
    for _ in range(2):
        with pytest.raises(NotSeededError, match="not seeded after a restore"):
            bench.fortuna.readinto(buffer)
    assert bytes(32) == buffer
    bench.scripted.always = None
    bench.fortuna.random_bytes(32)
    assert ["no reseed after a restore, answering nothing until there is one: source os: [Errno 5] told to fail"] == [
        record.getMessage() for record in caplog.records
    ]
    assert (NOT_RESEEDED,) == bench.fortuna.stats().sticky_flags


def restore(bench: Bench) -> None:
    """Do what the runtime's hook does."""
    Process(bench.forks).after_restore()


def test_edge_clones_the_hook_makes_a_copy_differ(path: str) -> None:
    """With every other detector silent, the after-restore hook alone drops the K that copies share."""
    one, other = (Bench(path).boot() for _ in range(2))
    assert one.fortuna.random_bytes(32) == other.fortuna.random_bytes(32)
    other.scripted.reads = 1000
    restore(other)
    assert one.fortuna.random_bytes(32) != other.fortuna.random_bytes(32)


def test_edge_clones_the_hook_raises_and_requests_wait_for_the_reseed(path: str) -> None:
    """A restore whose reseed fails raises, shows in the statistics, and keeps every request from the old K."""
    bench = Bench(path).boot()
    control = Bench(path).boot().fortuna.random_bytes(32)
    bench.scripted.always = OSError(errno.EIO, "told to fail")
    with pytest.raises(NotSeededError):
        restore(bench)
    with pytest.raises(NotSeededError):
        bench.fortuna.random_bytes(32)
    assert (NOT_RESEEDED,) == bench.fortuna.stats().sticky_flags
    bench.scripted.always = None
    assert control != bench.fortuna.random_bytes(32)


def test_edge_clones_the_hook_leaves_a_closed_generator_closed(path: str) -> None:
    """A restore after close() is none of its business."""
    bench = Bench(path).boot()
    bench.fortuna.close()
    restore(bench)
    assert not bench.fortuna.stats().is_seeded


def test_edge_clones_the_runtime_is_asked_for_its_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook goes to the runtime's library where it can be imported."""
    hooks: list[Callable[[], None]] = []
    library = types.ModuleType("snapshot_restore_py")
    library.register_after_restore = hooks.append  # type: ignore[attr-defined]
    monkeypatch.setattr(clones, "runtime", library)
    assert register_after_restore(print)
    assert [print] == hooks
    monkeypatch.setattr(clones, "runtime", None)
    assert not register_after_restore(print)


def test_edge_clones_an_asked_reseed_uses_a_costly_source_at_once(path: str) -> None:
    """The one event of a costly source goes to pool 0, which every reseed uses."""
    costly = ScriptedSource("costly", number=8, size=32)
    costly.cost = "costly"
    one, other = (Bench(path, sources=[ScriptedSource(), source]).boot() for source in (costly, costly))
    one.fortuna.reseed()
    other.fortuna.reseed()
    # The shared script has moved on between the two, and nothing else differs.
    assert one.fortuna.random_bytes(32) != other.fortuna.random_bytes(32)


class Fresh:
    """What `entropy.per_request` reads, counted."""

    def __init__(self) -> None:
        self.reads = 0
        self.is_failing = False

    def __call__(self) -> Secret:
        """Return the next fresh bytes of the script."""
        self.reads += 1
        if self.is_failing:
            raise SourceError(errno.EIO, "told to fail")
        return Secret(stream(f"fresh/{self.reads}", 32))


def mixing(path: str) -> tuple[Bench, Fresh]:
    """Return a booted bench that mixes fresh bytes into K before every call."""
    fresh = Fresh()
    return Bench(path, harvest_per_request=fresh).boot(), fresh


def test_edge_clones_per_request_equals_the_model(path: str) -> None:
    """Each call is preceded by K = key_hash(K || 32 fresh bytes), once, uncounted, whatever its length."""
    bench, fresh = mixing(path)
    model = Model(bench)
    assert model.pull()
    for call, size in enumerate((1, 32, 5000, MIB + 1, 3 * MIB), 1):
        model.accumulator.generator.reseed(stream(f"fresh/{call}", 32))
        assert model.random_data(size) == bench.fortuna.random_bytes(size)
        assert (call, 1) == (fresh.reads, bench.reseeds)
    assert b"" == bench.fortuna.random_bytes(0)
    assert 5 == fresh.reads


def test_edge_clones_per_request_source_that_fails_refuses_the_call(path: str) -> None:
    """A call without its fresh bytes raises and changes nothing; the next one is answered."""
    bench, fresh = mixing(path)
    other, _ = mixing(path)
    fresh.is_failing = True
    buffer = bytearray(b"\xff" * 32)
    with pytest.raises(SourceError):
        bench.fortuna.readinto(buffer)
    assert bytes(32) == buffer
    fresh.is_failing, fresh.reads = False, 0
    assert other.fortuna.random_bytes(32) == bench.fortuna.random_bytes(32)


def test_edge_clones_per_request_does_not_seed(path: str) -> None:
    """Fresh bytes before a call are no first seed: that takes credited sources."""
    fresh = Fresh()
    bench = Bench(path, sources=[], harvest_per_request=fresh)
    with pytest.raises(NotSeededError):
        bench.fortuna.random_bytes(1)
    assert 0 == fresh.reads
