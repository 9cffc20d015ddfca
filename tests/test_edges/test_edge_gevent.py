"""Under gevent, patched before and after fortuna; and everything at once: workers, a signal handler and forks."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

import pytest

from .edge_doubles import lines_of, run_script

needs_gevent = pytest.mark.skipif(not find_spec("gevent"), reason="gevent is not installed (group embed)")
#: When gevent replaces locks and threads: before fortuna is imported, after that, after a first draw.
ORDERS: Final = {
    "before": "from gevent import monkey; monkey.patch_all()\nimport fortuna",
    "after": "import fortuna._boot\nfrom gevent import monkey; monkey.patch_all()",
    "booted": "import fortuna; fortuna.random_bytes(1)\nfrom gevent import monkey; monkey.patch_all()",
}
in_each_order = pytest.mark.parametrize("order", ORDERS)
#: No such script may take longer.
HANG_SECONDS: Final = 60.0


@needs_gevent
@in_each_order
def test_edge_gevent_greenlets_and_forks_never_repeat(order: str, config: dict[str, str]) -> None:
    """Greenlets of a parent and of forked children, and threads of gevent's pool, draw side by side."""
    code = f"""
{ORDERS[order]}
import os
import gevent
from child_support import Child

def draw():
    blocks = []
    for i in range(50):
        blocks.append(fortuna.random_bytes((16, 20_000)[i % 2])[:16])
        gevent.sleep(0)
    return blocks

def drawn():
    tasks = [gevent.spawn(draw) for _ in range(10)]
    tasks += [gevent.get_hub().threadpool.spawn(fortuna.random_bytes, 1 << 20) for _ in range(4)]
    gevent.joinall(tasks[:10])
    return b"".join(b"".join(task.get()) for task in tasks[:10]) + b"".join(task.get()[:16] for task in tasks[10:])

parts = [drawn()]
children = [Child(drawn) for _ in range(2)]
parts += [drawn(), *(child.answer() for child in children)]
blocks = [part[start : start + 16] for part in parts for start in range(0, len(part), 16)]
print(len(blocks), len(set(blocks)))
"""
    assert ["2016 2016"] == lines_of(run_script(code, environment=config, timeout=HANG_SECONDS))


@needs_gevent
@pytest.mark.parametrize("order", ["before", "after"])
def test_edge_gevent_a_slow_source_stops_no_greenlet(order: str, config: dict[str, str]) -> None:
    """A source that blocks until greenlets have run is harvested on a real thread, which also ends; so it is in a
    child.
    """
    code = f"""
{ORDERS[order]}
import errno, logging, os, sys
import gevent
from gevent import monkey
from child_support import Child
from fortuna.errors import SourceError
from fortuna.sources.jitter import LibraryJitter, LoopJitter

gate = monkey.get_original("_thread", "allocate_lock")()
gate.acquire()
identify = monkey.get_original("_thread", "get_ident")
threads, said = [], []

def harvest(self):
    threads.append(identify())
    if len(threads) > 1:
        raise SourceError(errno.EIO, "broken")
    gate.acquire()
    return os.urandom(2048)

class Handler(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())

LibraryJitter.harvest = LoopJitter.harvest = harvest
logging.getLogger("fortuna").addHandler(Handler())
logging.getLogger("fortuna").propagate = False
live = fortuna.boot(overrides={{"entropy.sources": ["os", "jitter"], "entropy.harvest_interval": 0.01}})

def use():
    live.random_bytes(16)
    ticks = 0
    while not threads or ticks < 100:
        gevent.sleep(0.001)
        ticks += 1
    gate.release()
    while not said:
        live.random_bytes(16)
        gevent.sleep(0.001)
    return bytes([len(set(threads)), identify() in threads, len(said)])

def use_anew():
    threads.clear(), said.clear()
    return use()

print(list(use()), said)
print(list(Child(use_anew).answer()))
live.close()
while len(sys._current_frames()) > 1:
    gevent.sleep(0.001)
"""
    expected = ["[1, 0, 1] ['entropy source fails, going on without it: broken']", "[1, 0, 1]"]
    assert expected == lines_of(run_script(code, environment=config, timeout=HANG_SECONDS))


@needs_gevent
@pytest.mark.parametrize("order", ["before", "after"])
def test_edge_gevent_a_waiting_boot_lets_others_run(order: str, config: dict[str, str]) -> None:
    """While the operating system is not ready, other greenlets run, and those that draw meanwhile end at one
    generator.
    """
    code = f"""
{ORDERS[order]}
import errno, os
import gevent

getrandom, is_ready = os.getrandom, []

def reluctant(size, flags=0):
    if not is_ready:
        raise BlockingIOError(errno.EAGAIN, "not yet")
    return getrandom(size, flags)

os.getrandom = reluctant
def draw():
    return fortuna.boot(overrides={{"entropy.sources": ["os"]}}).random_bytes(16)

tasks = [gevent.spawn(draw) for _ in range(3)]
gevent.sleep(0.05)
print([task.ready() for task in tasks])
is_ready.append(True)
print(len({{task.get() for task in tasks}}), len(fortuna.stats().sources))
"""
    assert ["[False, False, False]", "3 1"] == lines_of(run_script(code, environment=config, timeout=HANG_SECONDS))


@pytest.mark.parametrize("order", ["threads", *(pytest.param(order, marks=needs_gevent) for order in ORDERS)])
def test_edge_gevent_workers_a_signal_handler_and_forks_at_once(order: str, config: dict[str, str]) -> None:
    """Eight workers draw, a timer's handler draws in between, and the process forks meanwhile: no hang, no repeat."""
    patched = ORDERS.get(order, "import fortuna")
    code = f"""
{patched}
import os, signal, sys, threading, time, warnings
from child_support import Child, read_all

warnings.simplefilter("ignore", DeprecationWarning)  # forks of a process with threads are what this is about
sys.setswitchinterval(0.0002)
IS_GREEN = {order != "threads"}
blocks, handled, is_over = [], [], []

def arm():
    # Once: a timer that goes on would leave a busy machine no time for anything but handlers.
    signal.setitimer(signal.ITIMER_REAL, 0.002)

def handle(number, frame):
    handled.append(fortuna.random_bytes(16))
    if not is_over:
        arm()

def work(pause=time.sleep):
    while not is_over:
        for size in (16, 3, 20_000, 16):
            block = fortuna.random_bytes(size)
            if size > 3:
                blocks.append(block[:16])
        # Long enough for others to get the lock of the path in Python, which CPython gives to who asks again at once.
        pause(0.0005)

def child():
    handled.clear()
    arm()
    drawn = [fortuna.random_bytes(16) for _ in range(200)]
    while not handled:
        drawn.append(fortuna.random_bytes(16))
    is_over.append(True)
    return b"".join(drawn + handled)

fortuna.random_bytes(1)  # a first call is not for handlers of signals that other threads receive (docs/limitations.md)
signal.signal(signal.SIGALRM, handle)
if IS_GREEN:
    import gevent
    workers = [gevent.spawn(work) for _ in range(4)]
    real_sleep = monkey.get_original("time", "sleep")
    pool = [gevent.get_hub().threadpool.spawn(work, real_sleep) for _ in range(4)]
else:
    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
arm()
answers = []
for _ in range(3):
    blocks.append(fortuna.random_bytes(16))
    # A child answers while the workers go on; the pipe is read in small steps, so that greenlets run, too.
    started = Child(child)
    for _ in range(5):
        time.sleep(0.001)
    # Not waited for: on a busy machine gevent's waitpid misses the end of a child, whatever the program draws from.
    answers.append(read_all(started.pid, started.reader))
    assert len(answers[-1]) > 200 * 16
while len(handled) < 10 or len(blocks) < 500:
    time.sleep(0.001)
is_over.append(True)
signal.setitimer(signal.ITIMER_REAL, 0)
for worker in workers:
    worker.join()
if IS_GREEN:
    for worker in pool:
        worker.get()
found = blocks + handled + [answer[start : start + 16] for answer in answers for start in range(0, len(answer), 16)]
print(len(found) > 1100, len(found) - len(set(found)))
"""
    assert ["True 0"] == lines_of(run_script(code, environment=config, timeout=HANG_SECONDS))
