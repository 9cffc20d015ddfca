"""Forks with the native path: real processes never share a byte, whoever forks, when, and whatever notices it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from .native_support import BEST, RULES, lines_of, run_script

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="wipe-on-fork pages are a Linux feature")

#: Builds a native live generator with the detectors that the arguments leave armed.
BOOT: Final = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: what these tests are about
from child_support import Child, first_blocks, raw_fork
import fortuna._boot as boot_module
from fortuna.forks import ForkDetector
from fortuna.native import NativeFortuna
from fortuna.tunables import Tunables

armed, draws, cipher = sys.argv[1], int(sys.argv[3]), sys.argv[4]
fork = {"python": os.fork, "raw": raw_fork}[sys.argv[2]]
detector = {
    "all": lambda: ForkDetector(),
    "no hook": lambda: ForkDetector(use_hook=False),
    "no page": lambda: ForkDetector(use_page=False),
    "constant pid": lambda: ForkDetector(getpid=lambda: 1),
    "hook only": lambda: ForkDetector(use_page=False, getpid=lambda: 1),
    "page only": lambda: ForkDetector(use_hook=False, getpid=lambda: 1),
    "pid only": lambda: ForkDetector(use_hook=False, use_page=False),
}[armed]()
values = {"generator.cipher": cipher, "generator.provider": "native"}
values.update({"generator.construction": name for name in sys.argv[5:]})
live = boot_module.build(Tunables(values, {}), detector)
assert type(live) is NativeFortuna
for _ in range(draws):
    live.random_bytes(16)
draw = lambda: live.random_bytes(16)
"""
EIGHT: Final = """
def draw_with_grandchild():
    grandchild = Child(draw, fork)
    own = draw()
    return own + grandchild.answer() + draw()

for answer in first_blocks(8, draw_with_grandchild, fork):
    for start in range(0, len(answer), 16):
        print(answer[start : start + 16].hex())
"""
DETECTORS: Final = ["all", "no hook", "no page", "constant pid", "hook only", "page only", "pid only"]
#: A fork by C code is seen by the pages and by the process id, never by the hook.
CELLS: Final = [
    *((armed, "python") for armed in DETECTORS),
    *((armed, "raw") for armed in DETECTORS if armed != "hook only"),
]


def script(
    body: str,
    armed: str = "all",
    fork: str = "python",
    draws: int = 1,
    cipher: str = BEST[0][0],
    construction: str = "fsk2010",
) -> list[str]:
    """Run *body* after the boot above and return the lines it printed."""
    return lines_of(run_script(BOOT + body, armed, fork, str(draws), cipher, construction))


@pytest.mark.parametrize("draws", [0, 1])
@pytest.mark.parametrize(("armed", "fork"), CELLS)
def test_eight_children_at_once(armed: str, fork: str, draws: int) -> None:
    """Eight children at once, their parent and a child of each: 27 different blocks, whichever detector is left."""
    blocks = script(EIGHT, armed, fork, draws)
    assert 27 == len(blocks) == len(set(blocks))


@pytest.mark.parametrize("construction", RULES)
@pytest.mark.parametrize("cipher", [cell[0] for cell in BEST])
@pytest.mark.parametrize("fork", ["python", "raw"])
def test_eight_children_of_every_cipher(cipher: str, fork: str, construction: str) -> None:
    """The same for every cipher under every request rule, by ``os.fork`` and by C's."""
    blocks = script(EIGHT, "all", fork, 1, cipher, construction)
    assert 27 == len(blocks) == len(set(blocks))


@pytest.mark.parametrize("construction", RULES)
@pytest.mark.parametrize("size", [16384, 3 << 20])
@pytest.mark.parametrize("fork", ["python", "raw"])
def test_first_request_of_a_child_is_large(fork: str, size: int, construction: str) -> None:
    """Children whose first request is large share no MiB's beginning with anybody."""
    body = f"""
def draw_large():
    got = live.random_bytes({size})
    return b"".join(got[start : start + 16] for start in range(0, len(got), 1 << 20))
for answer in first_blocks(3, draw_large, fork):
    for start in range(0, len(answer), 16):
        print(answer[start : start + 16].hex())
"""
    blocks = script(body, "all", fork, construction=construction)
    assert 4 * -(-size // (1 << 20)) == len(blocks) == len(set(blocks))


@pytest.mark.parametrize("draws", [0, 1])
def test_constant_process_id(draws: int) -> None:
    """With ``os.getpid`` patched to a constant before everything else, all differ."""
    constant = "import os\nos.getpid = lambda: 4242\n"
    blocks = lines_of(run_script(constant + BOOT + EIGHT, "all", "python", str(draws), BEST[0][0]))
    assert 27 == len(blocks) == len(set(blocks))


@pytest.mark.parametrize(("armed", "fork"), [("all", "python"), ("all", "raw"), ("page only", "raw")])
def test_two_hundred_from_an_idle_parent(armed: str, fork: str) -> None:
    """200 times fork, draw, exit, from a parent that draws nothing in between: 200 different blocks."""
    blocks = script("\nfor _ in range(200):\n    print(Child(draw, fork).answer().hex())\n", armed, fork)
    assert 200 == len(blocks) == len(set(blocks))


@pytest.mark.parametrize("forks", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_forks_while_threads_draw(forks: int) -> None:
    """Forks while three threads draw, large requests among theirs: no block twice, in no process.

    By ``os.fork`` alone: after a bare C fork with threads, CPython itself may wait for one that is not there.
    """
    body = f"""
import threading
over = threading.Event()
drawn = []

def keep_drawing(size):
    while not over.is_set():
        drawn.append(live.random_bytes(size)[:16])

threads = [threading.Thread(target=keep_drawing, args=(size,)) for size in (32, 20_000, 2_000_000)]
for thread in threads:
    thread.start()
answers = [Child(lambda: draw() + draw(), fork).answer() for _ in range({forks})]
over.set()
for thread in threads:
    thread.join()
blocks = [answer[start : start + 16] for answer in answers for start in (0, 16)]
print(len(blocks), len(set(blocks)), len({{*blocks, *drawn}}) - len(blocks) - len(drawn), len(drawn) > 0)
"""
    assert [f"{2 * forks} {2 * forks} 0 True"] == script(body)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_child_has_no_key_of_the_parent(fork: str) -> None:
    """In a child the page reads zero before anything is drawn; afterwards K is another than the parent's."""
    body = """
def key():
    found = bytearray(32)
    live._export(found)
    return bytes(found)

before = key()
answer = Child(lambda: key() + draw() + key() + draw(), fork).answer()
print(answer[:32] == bytes(32), answer[48:80] not in (before, key(), bytes(32)), any(before))
print(answer[32:48] != answer[80:])
"""
    assert ["True True True", "True"] == script(body, "all", fork)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_fork_from_a_harvest(fork: str) -> None:
    """A source that forks while the request's own pull is under way: child and parent share nothing, and go on."""
    body = """
from fortuna.errors import SourceError
source = live._parts.sources[0]
children = []

class Forking:
    name, number, min_entropy = source.name, source.number, source.min_entropy
    is_forking = True

    def harvest(self):
        if self.is_forking:
            Forking.is_forking = False
            reader, writer = os.pipe()
            pid = fork()
            if pid == 0:
                global child_writer
                child_writer = writer
            else:
                os.close(writer)
                children.append((pid, reader))
        return source.harvest()

child_writer = None
live._life.monitors[0]._source = Forking()
live._disarm()
live._life._last_pull_ns -= 10**10
first = draw()
if child_writer is not None:
    os.write(child_writer, first + draw())
    os._exit(0)
(pid, reader), = children
theirs = b""
while piece := os.read(reader, 4096):
    theirs += piece
assert os.waitpid(pid, 0)[1] == 0
blocks = [first, draw(), draw(), theirs[:16], theirs[16:]]
print(len(blocks), len(set(blocks)), len(theirs))
"""
    assert ["5 5 32"] == script(body, "all", fork)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_fork_in_the_middle_of_a_new_life(fork: str) -> None:
    """A child that forks again while it is being seeded: grandchild, child and parent share nothing."""
    body = """
system = live._parts.system
original = type(system).read
writers = []

def act():
    def read(self, size):
        type(system).read = original
        before = original(self, size)
        reader, writer = os.pipe()
        pid = fork()
        if pid == 0:
            writers.append(writer)
        else:
            os.close(writer)
            readers.append((pid, reader))
        return before
    readers = []
    type(system).read = read
    first = draw()
    if writers:
        os.write(writers[0], first + draw())
        os._exit(0)
    (pid, reader), = readers
    theirs = os.read(reader, 4096)
    assert os.waitpid(pid, 0)[1] == 0
    return first + draw() + theirs

answer = Child(act, fork).answer()
blocks = [answer[start : start + 16] for start in range(0, len(answer), 16)] + [draw()]
print(len(blocks), len(set(blocks)))
"""
    assert ["5 5"] == script(body, "all", fork)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_signal_handler_that_forks_in_a_pull(fork: str) -> None:
    """A handler that forks while a pull is under way, twenty times: every process draws different blocks."""
    body = """
import signal
answers = []
is_nested = False

def handler(*_):
    global is_nested
    if not is_nested:
        is_nested = True
        answers.append(Child(lambda: draw() + draw(), fork).answer())
        is_nested = False

signal.signal(signal.SIGUSR1, handler)
source = live._parts.sources[0]

class Signalling:
    name, number, min_entropy = source.name, source.number, source.min_entropy

    def harvest(self):
        if len(answers) < 20:
            os.kill(os.getpid(), signal.SIGUSR1)
        return source.harvest()

live._life.monitors[0]._source = Signalling()
own = []
for _ in range(20):
    live._disarm()
    live._life._last_pull_ns -= 10**10
    own += [draw(), draw()]
blocks = own + [answer[start : start + 16] for answer in answers for start in (0, 16)]
print(len(answers), len(blocks), len(set(blocks)))
"""
    assert ["20 80 80"] == script(body, "all", fork)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_child_without_the_operating_system(fork: str) -> None:
    """A child whose system gives nothing refuses every request, gives no byte, and serves once it answers again."""
    body = """
from fortuna.errors import NotSeededError, SourceError
system = live._parts.system
original = type(system).read

def act():
    def fail(self, size):
        raise SourceError(5, "told to fail")
    type(system).read = fail
    said = b""
    for size in (1, 20_000, 3 << 20):
        out = bytearray(b"x" * size)
        try:
            live.readinto(out)
        except NotSeededError:
            said += b"n" if not any(out) else b"!"
    type(system).read = original
    return said + draw()

answer = Child(act, fork).answer()
print(answer[:3].decode(), len(answer), answer[3:] != draw())
"""
    assert ["nnn 19 True"] == script(body, "all", fork)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_children_of_children_objects(fork: str) -> None:
    """A child generator made before the fork is another one in each process."""
    body = """
child = live.child()
child.random_bytes(1)
blocks = first_blocks(4, lambda: child.random_bytes(16), fork)
print(len(blocks), len(set(blocks)))
"""
    assert ["5 5"] == script(body, "all", fork)


@pytest.mark.parametrize("fork", ["python", "raw"])
def test_closed_in_one_process(fork: str) -> None:
    """close() in a child that never drew closes it there alone."""
    body = """
from fortuna.errors import ClosedError
def act():
    live.close()
    try:
        draw()
    except ClosedError:
        return b"closed"
    return b"drew"
print(Child(act, fork).answer().decode(), len(draw()))
"""
    assert ["closed 16"] == script(body, "all", fork)


def test_forced_wipe_of_the_page_is_a_fork() -> None:
    """The plain generator in C is unseeded in a child, never the parent's twin, and can be seeded anew there."""
    body = """
from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.native_generator import NativeGenerator
from fortuna.errors import NotSeededError
plain = NativeGenerator(live._parts.make_keystream, CONSTRUCTIONS["fsk2010"])
plain.reseed(b"seed")
def act():
    try:
        return plain.random_bytes(16)
    except NotSeededError:
        plain.reseed(b"child")
        return b"unseeded" + plain.random_bytes(16)
answer = Child(act, fork).answer()
print(answer[:8].decode(), answer[8:] != plain.random_bytes(16), len(answer))
"""
    for fork in ("python", "raw"):
        assert ["unseeded True 24"] == script(body, "all", fork)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_multiprocessing(method: str, tmp_path: Path) -> None:
    """Processes of multiprocessing, by each start method, run the native generator and share nothing."""
    program = tmp_path / "program.py"
    program.write_text(
        """
import multiprocessing
import sys
import fortuna

def draw(_):
    return fortuna.random_bytes(16) + fortuna.stats().provider.encode()

if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    fortuna.boot(overrides={"generator.provider": "native", "generator.cipher": "chacha12"})
    own = draw(0)
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(3) as pool:
        answers = [own, *pool.map(draw, range(60), chunksize=1), draw(0)]
    print(len(answers), len({answer[:16] for answer in answers}), {answer[16:] for answer in answers})
""",
        encoding="ascii",
    )
    run = subprocess.run(
        [sys.executable, str(program), method], capture_output=True, text=True, timeout=120, check=False
    )
    assert ["62 62 {b'native'}"] == lines_of(run)
