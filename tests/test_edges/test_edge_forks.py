"""Forks: real processes never share a byte, whichever detector notices, and the detector's own rules on doubles."""

from __future__ import annotations

import errno
import gc
import mmap
import os
import sys
import threading
from typing import Any, Final

import pytest

from fortuna.errors import ClosedError, NotSeededError
from fortuna.forks import BOGUS_ADVICE, MADV_WIPEONFORK, ForkDetector, arm_page
from fortuna.shared import free_lock

from .child_support import key_reader
from .edge_doubles import (
    HANG_SECONDS,
    KINDS,
    PROVIDERS,
    Bench,
    Interrupter,
    ScriptedSource,
    lines_of,
    run_script,
)
from .edge_paths import needs_native

ON_LINUX: Final = sys.platform == "linux"
needs_page = pytest.mark.skipif(not ON_LINUX, reason="wipe-on-fork pages are a Linux feature")

#: Boots a live generator on real parts, with the detectors that the arguments leave armed.
BOOT: Final = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: what these tests are about
from child_support import Child, first_blocks, key_reader, raw_fork
import fortuna._boot as boot_module
from fortuna.forks import ForkDetector
from fortuna.tunables import Tunables

armed, fork, draws = sys.argv[1], {"python": os.fork, "raw": raw_fork}[sys.argv[2]], int(sys.argv[3])
provider, kind = sys.argv[4:]
detector = {
    "all": lambda: ForkDetector(),
    "no hook": lambda: ForkDetector(use_hook=False),
    "no page": lambda: ForkDetector(use_page=False),
    "no pid": lambda: ForkDetector(getpid=lambda: 1),
    "hook only": lambda: ForkDetector(use_page=False, getpid=lambda: 1),
    "page only": lambda: ForkDetector(use_hook=False, getpid=lambda: 1),
    "pid only": lambda: ForkDetector(use_hook=False, use_page=False),
    "none": lambda: ForkDetector(use_hook=False, use_page=False, getpid=lambda: 1),
}[armed]()
live = boot_module.build(Tunables({"generator.provider": provider}, {}), detector)
assert kind == type(live).__name__
for _ in range(draws):
    live.random_bytes(16)
draw = lambda: live.random_bytes(16)
"""

DETECTORS: Final = ["all", "no hook", "no page", "no pid", "hook only", "page only", "pid only"]
#: A fork by C code is seen by the page and by the process id, never by the hook. The page on which the native path has
#: its K is not the detector's; the kernel wipes it in any case.
CELLS: Final = [
    *((armed, "python") for armed in DETECTORS),
    *((armed, "raw") for armed in ("all", "no hook", "no page", "no pid", "page only", "pid only")),
]


#: The locks that a child may find taken. The path in C has none around K.
LOCKS: Final = [
    *(("python", lock) for lock in ("_pool_lock", "_pull_lock", "generator._lock")),
    *(pytest.param("native", lock, marks=needs_native) for lock in ("_pool_lock", "_pull_lock")),
]


def script(
    body: str, path: str, armed: str = "all", fork: str = "python", draws: int = 1, before: str = ""
) -> list[str]:
    """Run *body* after the boot above, on *path*, and return the lines it printed."""
    return lines_of(run_script(before + BOOT + body, armed, fork, str(draws), PROVIDERS[path], KINDS[path]))


@needs_page
@pytest.mark.parametrize("draws", [0, 1])
@pytest.mark.parametrize(("armed", "fork"), CELLS)
def test_edge_forks_eight_children_at_once(armed: str, fork: str, draws: int, path: str) -> None:
    """Eight children forked at once, without the 100 ms that a paced reseed would ask for, and their parent: nine
    different first blocks, and eight more from a child of each of them.
    """
    body = """
def draw_with_grandchild():
    grandchild = Child(draw, fork)
    own = draw()
    return own + grandchild.answer() + draw()

answers = first_blocks(8, draw_with_grandchild, fork)
for answer in answers:
    for start in range(0, len(answer), 16):
        print(answer[start : start + 16].hex())
"""
    blocks = script(body, path, armed, fork, draws)
    assert 27 == len(blocks) == len(set(blocks))


@needs_page
@needs_native
@pytest.mark.parametrize("draws", [0, 1])
@pytest.mark.parametrize("fork", ["python", "raw"])
def test_edge_forks_page_of_the_path_in_c_needs_no_detector(fork: str, draws: int) -> None:
    """Were every detector blind, a child on the path in C would still have no K of its parent's, and give no byte."""
    body = """
from fortuna.errors import NotSeededError

def refuse():
    try:
        return draw()
    except NotSeededError as error:
        return b"refused" + key_reader(live)()

answer = Child(refuse, fork).answer()
print(answer == b"refused" + bytes(32), any(draw()))
"""
    assert ["True True"] == script(body, "native", "none", fork, draws)


@pytest.mark.parametrize("draws", [0, 1])
def test_edge_forks_with_a_constant_process_id(draws: int, path: str) -> None:
    """With ``os.getpid`` patched to a constant before everything else, as in a pid that came round, all differ."""
    constant = "import os\nos.getpid = lambda: 4242\n"
    body = "\nprint(*(block.hex() for block in first_blocks(8, draw, fork)), sep='\\n')\n"
    blocks = script(body, path, draws=draws, before=constant)
    assert 9 == len(blocks) == len(set(blocks))


@pytest.mark.parametrize(("armed", "fork"), [("all", "python"), ("hook only", "python"), ("pid only", "python")])
def test_edge_forks_two_hundred_from_an_idle_parent(armed: str, fork: str, path: str) -> None:
    """200 times fork, draw, exit, from a parent that draws nothing in between: 200 different blocks."""
    body = "\nfor _ in range(200):\n    print(Child(draw, fork).answer().hex())\n"
    blocks = script(body, path, armed, fork)
    assert 200 == len(blocks) == len(set(blocks))


@needs_page
def test_edge_forks_two_hundred_raw(path: str) -> None:
    """The same through C's ``fork``."""
    blocks = script("\nfor _ in range(200):\n    print(Child(draw, fork).answer().hex())\n", path, "all", "raw")
    assert 200 == len(blocks) == len(set(blocks))


@pytest.mark.parametrize("fork", ["python", pytest.param("raw", marks=needs_page)])
@pytest.mark.parametrize(("path", "lock"), LOCKS)
def test_edge_forks_while_another_thread_holds_a_lock(fork: str, lock: str, path: str) -> None:
    """A child draws, reseeds, adds events and closes although a thread that it does not have holds a lock."""
    body = f"""
import threading
held, over = threading.Event(), threading.Event()

def hold():
    with live._life.{lock}:
        held.set()
        over.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()

def act():
    first = draw()
    live.add_event(200, b"event")
    live.reseed()
    kept = first + live.child().random_bytes(16)
    live.close()
    return kept

def close_at_once():
    live.close()
    return b"closed"

answer = Child(act, fork).answer()
print(answer[:16].hex())
print(answer[16:].hex())
print(Child(close_at_once, fork).answer().decode())
over.set()
thread.join()
print(draw().hex())
"""
    lines = script(body, path, fork=fork)
    assert "closed" == lines.pop(2)
    assert 3 == len(lines) == len(set(lines))


@pytest.mark.parametrize("fork", ["python", pytest.param("raw", marks=needs_page)])
def test_edge_forks_of_a_child_generator(fork: str, path: str) -> None:
    """A generator made by ``child()`` is protected like its parent, in each direction."""
    body = """
other = live.child()
both = lambda: live.random_bytes(16) + other.random_bytes(16) + live.child().random_bytes(16)
for answer in first_blocks(4, both, fork):
    print(answer[:16].hex(), answer[16:32].hex(), answer[32:].hex(), sep="\\n")
"""
    blocks = script(body, path, fork=fork)
    assert 15 == len(blocks) == len(set(blocks))


def test_edge_forks_key_is_gone_from_the_child_that_never_draws(path: str) -> None:
    """After the hook, neither K nor C nor any copy that the live object reaches is in the child."""
    body = """
child = live.child()
readers = [key_reader(live), key_reader(child)]
keys = [read() for read in readers]
assert all(map(any, keys))

def look():
    seen = [read() for read in readers]
    if kind == "Fortuna":
        core = live._life.generator._cell[0]
        seen += [bytes(core._keystream._key), (core._counter).to_bytes(16, "little")]
    seen += [b"C"] * (live._life.generator.is_seeded or child._life.generator.is_seeded)
    assert not any(map(any, seen)), seen
    return b"gone"

print(Child(look).answer().decode())
assert keys == [read() for read in readers]
"""
    assert ["gone"] == script(body, path)


def test_edge_forks_child_that_never_draws_exits_though_a_thread_held_the_lock(
    path: str, config: dict[str, str]
) -> None:
    """The exit handler of a child, which closes the generator, waits for no thread of the parent's."""
    body = """
import contextlib, fortuna, os, signal, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
fortuna.random_bytes(1)
assert sys.argv[1] == type(fortuna.default()).__name__
held, over = threading.Event(), threading.Event()

def hold():
    life = fortuna.default()._life
    # The path in C has no lock around K.
    of_the_key = life.generator._lock if sys.argv[1] == "Fortuna" else contextlib.nullcontext()
    with of_the_key, life._pool_lock, life._pull_lock:
        held.set()
        over.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
pid = os.fork()
if not pid:
    signal.alarm(20)
    sys.exit(0)  # runs the exit handlers
print(os.waitpid(pid, 0)[1])
over.set()
thread.join()
"""
    assert ["0"] == lines_of(run_script(body, KINDS[path], environment=config))


@pytest.mark.parametrize("fork", ["fork", pytest.param("raw_fork", marks=needs_page)])
def test_edge_forks_while_another_thread_boots(fork: str, path: str, config: dict[str, str]) -> None:
    """A child forked while a thread of the parent holds the boot lock boots by itself and differs."""
    body = """
import fortuna, os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from child_support import Child, raw_fork
import fortuna._boot as boot_module

inside, go_on = threading.Event(), threading.Event()
build = boot_module.build

def slow_build(*arguments):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        go_on.wait()
    return build(*arguments)

boot_module.build = slow_build
thread = threading.Thread(target=fortuna.default)
thread.start()
inside.wait()
print(Child(lambda: fortuna.random_bytes(16), {"fork": os.fork, "raw_fork": raw_fork}[sys.argv[1]]).answer().hex())
go_on.set()
thread.join()
print(fortuna.random_bytes(16).hex())
assert sys.argv[2] == type(fortuna.default()).__name__
"""
    blocks = lines_of(run_script(body, fork, KINDS[path], environment=config))
    assert 2 == len(set(blocks))


@pytest.mark.parametrize(("path", "lock"), [cell for cell in LOCKS if "_pull_lock" not in str(cell)])
def test_edge_forks_in_a_handler_while_the_call_waits_for_a_lock(lock: str, path: str) -> None:
    """A handler forks while the interrupted call waits for a lock that another thread holds: the child, which does not
    have that thread, finishes the call.
    """
    body = f"""
import signal, threading, time
held, over = threading.Event(), threading.Event()

def hold():
    with live._life.{lock}:
        held.set()
        over.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
ends = []

def handler(number, frame):
    reader, writer = os.pipe()
    pid = os.fork()
    ends.append((pid, reader if pid else writer))
    os.close(writer if pid else reader)
    if not pid:
        signal.alarm(5)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    over.set()

live._life._pulled_after_forks = -1  # a pull is due, so that the pool's lock is asked for as well
live.pull_soon()  # where the path in C must be told
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
got = draw()
pid, end = ends[0]
if not pid:
    os.write(end, got)
    os._exit(0)
print(got.hex())
print(os.fdopen(end, "rb").read().hex() or "the child hangs")
print(os.waitpid(pid, 0)[1])
"""
    parent, child, status = script(body, path)
    assert "0" == status
    assert 32 == len(child)
    assert parent != child


def test_edge_forks_in_a_handler_while_the_first_call_waits_for_the_boot(path: str, config: dict[str, str]) -> None:
    """A handler forks while the first call waits for another thread's boot: the child boots by itself."""
    body = """
import fortuna, os, signal, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import fortuna._boot as boot_module

inside, go_on = threading.Event(), threading.Event()
build = boot_module.build
ends = []

def slow_build(*arguments):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        go_on.wait()
    return build(*arguments)

def handler(number, frame):
    reader, writer = os.pipe()
    pid = os.fork()
    ends.append((pid, reader if pid else writer))
    os.close(writer if pid else reader)
    if not pid:
        signal.alarm(5)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    go_on.set()

boot_module.build = slow_build
thread = threading.Thread(target=fortuna.default, daemon=True)
thread.start()
inside.wait()
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
got = fortuna.random_bytes(16)
assert sys.argv[1] == type(fortuna.default()).__name__
pid, end = ends[0]
if not pid:
    os.write(end, got)
    os._exit(0)
print(got.hex())
print(os.fdopen(end, "rb").read().hex() or "the child hangs")
print(os.waitpid(pid, 0)[1])
"""
    parent, child, status = lines_of(run_script(body, KINDS[path], environment=config))
    assert "0" == status
    assert 32 == len(child)
    assert parent != child


def test_edge_forks_locks_are_freed_in_the_name_of_others() -> None:
    """The lock of a thread that a child does not have is freed, the caller's own is not, and a free one stays free."""
    lock = threading.RLock()
    free_lock(lock)
    with lock:
        free_lock(lock)
        assert lock._is_owned()  # type: ignore[attr-defined]
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        lock.acquire()
        lock.acquire()
        held.set()
        over.wait(HANG_SECONDS)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert held.wait(HANG_SECONDS)
    assert not lock.acquire(blocking=False)
    free_lock(lock)
    assert lock.acquire(blocking=False)
    lock.release()
    over.set()
    thread.join(HANG_SECONDS)


def test_edge_forks_two_threads_of_a_child_drop_the_old_life_once(bench: Bench) -> None:
    """When two calls clear away the same old lives, the second finds them gone."""

    class Racing:
        """A life whose dropping lets another call drop the rest first."""

        @property
        def generator(self) -> Racing:
            """Stand for its own generator."""
            return self

        def abandon(self) -> None:
            """Be the other call."""
            bench.fortuna._lives.pop(0)

    lives: dict[int, Any] = {-1: Racing(), **bench.fortuna._lives}
    bench.fortuna._lives = lives
    bench.fork()
    assert bytes(16) != bench.fortuna.random_bytes(16)
    assert [1] == list(bench.fortuna._lives)


def test_edge_forks_while_threads_draw(path: str) -> None:
    """Threads draw while the main thread forks 200 times: no hang, and no block comes twice."""
    body = """
import threading, time
over = threading.Event()
blocks = []

def keep_drawing():
    mine = []
    while not over.is_set():
        mine.append(live.random_bytes(16))
        mine.append(live.random_bytes(20_000)[:16])  # large enough for the path in C to let go of the GIL
        if len(mine) % 200 == 0:
            time.sleep(0.001)  # or a fork would copy millions of blocks
    blocks.extend(mine)

threads = [threading.Thread(target=keep_drawing) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(200):
    blocks.append(Child(draw).answer())
    blocks.append(draw())
over.set()
for thread in threads:
    thread.join()
print(len(blocks) > 600, len(blocks) - len(set(blocks)))
"""
    assert ["True 0"] == script(body, path)


# The detector and the life after a fork, on doubles.


def test_edge_forks_child_without_the_system_gives_no_byte(bench: Bench) -> None:
    """A child whose system does not answer raises `NotSeededError` for every draw, and works once it answers again."""
    bench.fork()
    bench.scripted.always = OSError(errno.EIO, "told to fail")
    for _ in range(2):
        buffer = bytearray(b"\xaa" * 16)
        with pytest.raises(NotSeededError, match=r"not seeded after a fork: .*told to fail; no byte was given out"):
            bench.fortuna.readinto(buffer)
        assert bytes(16) == buffer
        with pytest.raises(NotSeededError):
            bench.fortuna.child()
    bench.scripted.always = None
    assert bytes(16) != bench.fortuna.random_bytes(16)
    assert 1 == bench.reseeds


def test_edge_forks_child_reseeds_from_the_system_whatever_the_sources_are(path: str) -> None:
    """A child of a generator without sources is keyed by the system, at once and unpaced."""
    bench = Bench(path, sources=[])
    bench.fortuna._life.seed_from(b"s" * 32)
    bench.fortuna.random_bytes(16)
    bench.fork()
    bench.fortuna.random_bytes(16)
    assert 1 == bench.scripted.reads
    bench.fork()
    bench.fortuna.random_bytes(16)
    assert 2 == bench.scripted.reads


def test_edge_forks_parent_is_due_for_a_pull(bench: Bench) -> None:
    """The first request of a parent after a fork pulls although the interval has not passed, and only that one."""
    bench.fortuna.random_bytes(1)
    assert 1 == bench.source.harvests
    bench.forks._in_parent()
    bench.fortuna.random_bytes(1)
    bench.fortuna.random_bytes(1)
    assert 2 == bench.source.harvests
    assert 1 == bench.reseeds  # the pace of reseeds holds; the events are there


def test_edge_forks_hook_drops_the_key_at_once(bench: Bench) -> None:
    """What is watched is abandoned by the hook in the child, and its epoch differs."""
    before, key = bench.forks.epoch(), key_reader(bench.fortuna)
    assert any(key())
    bench.forks._in_child()
    assert before != bench.forks.epoch()
    assert not any(key())
    assert not bench.fortuna._life.generator.is_seeded


def test_edge_forks_hook_keeps_nothing_alive(path: str) -> None:
    """The detector, which lives as long as the process, does not keep generators alive."""
    detector = ForkDetector(use_hook=False, use_page=False)
    bench = Bench(path, forks=detector).boot()
    child = bench.fortuna.child()
    assert 2 == len(list(detector._inheritors))
    del bench, child
    gc.collect()
    detector._in_child()
    assert 0 == len(list(detector._inheritors))


def test_edge_forks_abandoned_life_is_never_looked_at_again(bench: Bench, path: str) -> None:
    """A request of a child uses the new life only, and wipes the old one where no hook has done so."""
    old, key = bench.fortuna._life, key_reader(bench.fortuna)
    of_the_parent = key()
    bench.fork()
    bench.fortuna.random_bytes(16)
    assert old is not bench.fortuna._life
    # The page is that of the new life by now; the object in Python is the old one's still.
    assert of_the_parent != key()
    assert any(key()) == (path == "native")
    assert [bench.fortuna._life] == list(bench.fortuna._lives.values())


def test_edge_forks_two_threads_of_a_child_agree_on_one_life(bench: Bench) -> None:
    """When two calls notice one fork, the second takes the life of the first."""
    bench.fork()
    raced: list[Any] = []
    getrandom = bench.scripted.getrandom

    def answer_late(size: int, flags: int) -> bytes:
        if not raced:
            raced.append(None)
            raced[0] = bench.fortuna.random_bytes(16)
        return getrandom(size, flags)

    bench.system._getrandom = answer_late
    late = bench.fortuna.random_bytes(16)
    assert 1 == len(bench.fortuna._lives)
    assert 2 == len({late, raced[0]})
    assert 2 == bench.fortuna.stats().requests


def test_edge_forks_at_every_place_of_making_a_child_generator(path: str) -> None:
    """A fork between drawing the key of a child generator and returning it, at any place, leads to another key."""
    place = 0
    has_fired = True
    while has_fired:
        bench, twin = (Bench(path, sources=[ScriptedSource(size=64)], min_pool_size=16).boot() for _ in range(2))
        interrupter = Interrupter(place, bench.fork)
        with interrupter:
            child = bench.fortuna.child()
        has_fired = interrupter.has_fired
        assert has_fired == (twin.fortuna.child().random_bytes(16) != child.random_bytes(16)), place
        place += 1
    assert 60 < place


def test_edge_forks_in_the_middle_of_a_reseed(bench: Bench) -> None:
    """A reseed that the fork overtakes is done again in the child's life."""
    reads: list[int] = []
    getrandom = bench.scripted.getrandom

    def fork_while_reading(size: int, flags: int) -> bytes:
        reads.append(size)
        if len(reads) == 1:
            bench.fork()
        return getrandom(size, flags)

    bench.system._getrandom = fork_while_reading
    bench.fortuna.reseed()
    assert [32, 32, 32] == reads
    assert 2 == bench.reseeds


def test_edge_forks_refused_request_of_the_old_life_starts_over(bench: Bench) -> None:
    """A request that meets a wiped generator because of a fork goes on with the new life."""
    life = bench.fortuna._life
    harvest_once = [True]

    def fork_in_harvest() -> None:
        if harvest_once.pop() if harvest_once else False:
            bench.fork()
            life.generator.abandon()

    bench.source.before_harvest = fork_in_harvest
    bench.pass_interval()
    bench.source.is_failing = True
    assert bytes(16) != bench.fortuna.random_bytes(16)
    assert life is not bench.fortuna._life


def test_edge_forks_statistics_of_a_child_that_never_drew(bench: Bench) -> None:
    """They are the child's own and say that a request would be answered, as a probe of a fresh worker must know."""
    bench.fortuna.random_bytes(16)
    bench.fork()
    stats = bench.fortuna.stats()
    assert (True, 0, 0, 1) == (stats.is_seeded, stats.requests, stats.bytes_given, stats.reseeds)
    life = bench.fortuna._life
    bench.fortuna.random_bytes(16)
    assert (life, 1) == (bench.fortuna._life, bench.fortuna.stats().requests)


def test_edge_forks_statistics_of_a_child_without_the_system(bench: Bench) -> None:
    """They say that no request would be answered, without an error, until the system answers."""
    bench.fork()
    bench.scripted.always = OSError(errno.EIO, "told to fail")
    assert not bench.fortuna.stats().is_seeded
    bench.scripted.always = None
    assert bench.fortuna.stats().is_seeded


def test_edge_forks_statistics_of_a_closed_child(bench: Bench) -> None:
    """They begin no life in a child of a closed generator."""
    bench.fortuna.close()
    life = bench.fortuna._life
    bench.fork()
    assert not bench.fortuna.stats().is_seeded
    assert life is bench.fortuna._life


def test_edge_forks_closed_child_stays_closed(bench: Bench) -> None:
    """Closing before the fork holds in the child, and closing a child that never drew wipes what it inherited."""
    key = key_reader(bench.fortuna)
    bench.fork()
    bench.fortuna.close()
    assert not any(key())
    with pytest.raises(ClosedError):
        bench.fortuna.random_bytes(1)


def test_edge_forks_epoch_by_process_id() -> None:
    """Without a page the process id is asked, and each change of it is one epoch."""
    pid = [10]
    detector = ForkDetector(use_hook=False, use_page=False, getpid=lambda: pid[0])
    assert [0, 0] == [detector.epoch(), detector.epoch()]
    pid[0] = 11
    assert [1, 1] == [detector.epoch(), detector.epoch()]
    pid[0] = 10
    assert 2 == detector.epoch()


@needs_page
def test_edge_forks_epoch_by_page() -> None:
    """A wiped page is one epoch, and is armed again at once; the process id is not asked then."""

    def getpid() -> int:
        asked.append(1)
        return len(asked)

    asked: list[int] = []
    detector = ForkDetector(use_hook=False, getpid=getpid)
    assert detector._page is not None
    assert [0, 0] == [detector.epoch(), detector.epoch()]
    detector._page[0] = 0
    assert [1, 1] == [detector.epoch(), detector.epoch()]
    assert 1 == len(asked)


@needs_page
def test_edge_forks_names_of_live_detectors(path: str) -> None:
    """Each detector is named while it is armed, in the statistics too."""
    assert ("process id",) == ForkDetector(use_hook=False, use_page=False).detectors
    assert ("wipe-on-fork page",) == ForkDetector(use_hook=False).detectors
    assert ("at-fork hook", "wipe-on-fork page") == ForkDetector().detectors
    assert ("process id",) == Bench(path).fortuna.stats().fork_detectors


def test_edge_forks_hook_is_absent_where_python_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system without ``os.register_at_fork`` the other detectors do."""
    monkeypatch.delattr(os, "register_at_fork")
    assert not ForkDetector(use_page=False).hook_armed


class FakePage(bytearray):
    """A page whose kernel takes some advice and refuses other."""

    accepted: frozenset[int] = frozenset()

    def madvise(self, advice: int) -> None:
        """Accept or refuse."""
        if advice not in self.accepted:
            raise OSError(errno.EINVAL, "told to refuse")


@pytest.mark.parametrize(
    ("accepted", "is_armed"),
    [
        ({MADV_WIPEONFORK}, True),
        ({MADV_WIPEONFORK, BOGUS_ADVICE}, False),
        ({BOGUS_ADVICE}, False),
        (set(), False),
    ],
    ids=["kernel", "emulator accepts everything", "emulator accepts nonsense", "old kernel"],
)
def test_edge_forks_page_is_armed_only_where_it_proves_something(
    accepted: set[int], is_armed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An emulator that takes bogus advice wipes nothing, so no page is armed there and the process id serves."""

    def make_page(number: int, size: int, flags: int = 0) -> FakePage:
        page = FakePage(size)
        page.accepted = frozenset(accepted)
        return page

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(mmap, "mmap", make_page)
    monkeypatch.setattr(mmap, "MAP_PRIVATE", 2, raising=False)
    monkeypatch.setattr(mmap, "MAP_ANONYMOUS", 32, raising=False)
    page = arm_page()
    assert is_armed == (page is not None)
    assert page is None or page[0] == 1
    expected = "wipe-on-fork page" if is_armed else "process id"
    assert (expected,) == ForkDetector(use_hook=False).detectors


def test_edge_forks_no_page_on_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Advice number 18 means something else outside Linux, so it is not given there."""
    monkeypatch.setattr(sys, "platform", "freebsd14")
    monkeypatch.setattr(mmap, "mmap", lambda *_, **__: pytest.fail("mapped"))
    assert arm_page() is None


@needs_page
def test_edge_forks_page_is_private_memory() -> None:
    """The real page reads 1 and is one page long."""
    page = arm_page()
    assert page is not None
    assert (1, mmap.PAGESIZE) == (page[0], len(page))


def test_edge_forks_silent_with_every_warning_an_error(config: dict[str, str]) -> None:
    """Forking after a draw warns of nothing."""
    body = "import fortuna, os; fortuna.random_bytes(1); os.fork()"
    done = run_script(body, options=("-W", "error"), environment=config)
    assert [] == lines_of(done)


def test_edge_forks_source_numbers_do_not_matter_to_a_child(path: str) -> None:
    """The pools of the parent are not in the child: its first pull starts with empty ones."""
    bench = Bench(path, sources=[ScriptedSource(size=32)], min_pool_size=16).boot()
    bench.fortuna.add_event(200, b"parent")
    assert any(bench.fortuna.stats().pool_lengths)
    bench.fork()
    bench.fortuna.random_bytes(1)
    assert not any(bench.fortuna.stats().pool_lengths)
