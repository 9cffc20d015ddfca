"""Signals with the native path: handlers draw, raise, close and boot in the middle of requests, and nothing repeats."""

from __future__ import annotations

import sys
from typing import Final

import pytest

from .native_support import lines_of, run_script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no interval timers")

BOOT: Final = """
import collections, os, signal, sys, threading, time
import fortuna
cipher = sys.argv[1]
live = fortuna.boot(overrides={"generator.cipher": cipher, "generator.provider": "native"})
"""


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize("seconds", [1.0, pytest.param(20.0, marks=pytest.mark.slow)])
def test_handler_that_draws_each_millisecond(cipher: str, seconds: float) -> None:
    """A handler draws while the main thread draws small and large requests: no block twice, and neither waits."""
    body = """
drawn, handled = [], []
signal.signal(signal.SIGALRM, lambda *_: handled.append(fortuna.random_bytes(16)))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    for size in (16, 32, 100, 20_000, 16):
        drawn.append(fortuna.random_bytes(size)[:16])
    drawn.append(fortuna.random_bytes(3 << 20)[:16])
    live.reseed()
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(handled) > 20, len(drawn) > 20, len({*drawn, *handled}) == len(drawn) + len(handled))
"""
    assert ["True True True"] == lines_of(run_script(BOOT + body, cipher, str(seconds)))


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_handler_that_raises_in_large_requests(cipher: str) -> None:
    """Exceptions of a handler end 5 MiB requests between two MiB; what the call had filled is zero, or all is there."""
    body = """
class Stop(Exception):
    pass

def handler(*_):
    raise Stop

signal.signal(signal.SIGALRM, handler)
interrupted = finished = 0
out = bytearray(5 << 20)
for number in range(400):
    out[:] = b"\\xee" * len(out)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + number % 40 * 0.0001)
        got = live.readinto(out)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Stop:
        signal.setitimer(signal.ITIMER_REAL, 0)
        # Raised before the call began, in it, or after it ended.
        if out.count(0) == len(out):
            interrupted += 1
        else:
            finished += 1
            assert out.count(b"\\xee" * 64) in (0, len(out) // 64)
    if interrupted >= 10:
        break
a, b = live.random_bytes(16), live.random_bytes(16)
print(interrupted >= 3, a != b)
"""
    assert ["True True"] == lines_of(run_script(BOOT + body, cipher))


def test_handler_that_closes() -> None:
    """A handler that closes the generator within a large request ends it with ClosedError, its buffer zero."""
    body = """
signal.signal(signal.SIGALRM, lambda *_: live.close())
out = bytearray(b"\\xee" * (300 << 20))
signal.setitimer(signal.ITIMER_REAL, 0.001)
try:
    live.readinto(out)
    print("finished")
except fortuna.ClosedError as error:
    print("closed", out.count(0) == len(out))
"""
    assert ["closed True"] == lines_of(run_script(BOOT + body, "chacha20"))


def test_keyboard_interrupt_in_a_huge_request() -> None:
    """Ctrl-C ends a request of many MiB; the bytes object that it was for never comes out."""
    body = """
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        live.random_bytes(300 << 20)
except KeyboardInterrupt:
    print("interrupted", len(live.random_bytes(5)))
"""
    assert ["interrupted 5"] == lines_of(run_script(BOOT + body, "aes256-icm"))


def test_threads_and_a_handler() -> None:
    """Three threads and a handler draw at once through the module's function: all blocks differ."""
    body = """
drawn = collections.deque()
signal.signal(signal.SIGALRM, lambda *_: drawn.append(fortuna.random_bytes(16)))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

def draw():
    for number in range(4000):
        drawn.append(fortuna.random_bytes(20_000 if number % 50 == 0 else 16)[:16])

threads = [threading.Thread(target=draw) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(drawn) > 12_000, len(drawn) == len(set(drawn)))
"""
    assert ["True True"] == lines_of(run_script(BOOT + body, "aes256-icm"))


#: Draws for the first time, with a signal while the module named by the argument is looked for; its handler draws too.
IMPORTS: Final = """
import os, signal, sys
from fortuna import random_bytes
import fortuna
drawn, seen = [], []

class Finder:
    def find_spec(self, name, path=None, target=None):
        seen.append(name)
        if name == sys.argv[1] and seen.count(name) == 1:
            os.kill(os.getpid(), signal.SIGUSR1)
        return None

signal.signal(signal.SIGUSR1, lambda *_: drawn.append(random_bytes(16)))
sys.meta_path.insert(0, Finder())
drawn.append(random_bytes(16))
sys.meta_path.pop(0)
print(len(drawn), len({*drawn, random_bytes(16)}), fortuna.default() is fortuna.boot(), fortuna.stats().provider)
print(*seen)
"""


def test_first_call_interrupted_in_an_import() -> None:
    """A handler draws while the first call imports, at each of its imports in turn: one generator, different blocks."""
    first, names = lines_of(run_script(IMPORTS, "none"))
    assert "1 2 True native" == first
    assert "fortuna.native" in names.split()
    failed = []
    for name in names.split():
        done = run_script(IMPORTS, name)
        if done.returncode or not done.stdout.startswith("2 3 True native"):
            failed.append((name, done.stdout, done.stderr[-300:]))
    assert [] == failed


@pytest.mark.parametrize("delay", [0.0005, 0.002, 0.005, 0.01, 0.02, 0.04])
def test_first_call_interrupted_again_and_again(delay: float) -> None:
    """A handler that draws every few milliseconds of the first boot: one generator in the end, and all blocks differ.

    A handler boots as well until there is a generator, so the pause must be longer than a boot on a busy machine.
    """
    body = """
import signal, sys, time
from fortuna import random_bytes
import fortuna
drawn = []
end = time.monotonic() + 0.3
signal.signal(signal.SIGALRM, lambda *_: drawn.append(random_bytes(16)))
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]), 0.03)
while time.monotonic() < end:
    drawn.append(random_bytes(16))
    time.sleep(0.001)
signal.setitimer(signal.ITIMER_REAL, 0)
drawn.append(random_bytes(16))
print(len(drawn) == len(set(drawn)), fortuna.default() is fortuna.boot(), fortuna.stats().provider)
"""
    assert ["True True native"] == lines_of(run_script(body, str(delay)))


def test_first_calls_of_many_threads() -> None:
    """Twenty threads whose first calls come at once boot one generator, and all blocks differ."""
    body = """
import threading
import fortuna
ready = threading.Barrier(20)
drawn = []

def draw():
    ready.wait()
    drawn.append(fortuna.random_bytes(16))
    out = bytearray(16)
    fortuna.readinto(out)
    drawn.append(bytes(out))

threads = [threading.Thread(target=draw) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(drawn), len(set(drawn)), fortuna.stats().requests)
"""
    assert ["40 40 40"] == lines_of(run_script(body))


def test_finalizer_that_draws() -> None:
    """Finalizers draw whenever the collector runs, in the middle of requests too: no block twice."""
    body = """
import gc
drawn = []

class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        drawn.append(fortuna.random_bytes(16))

gc.set_threshold(5, 1, 1)
for _ in range(3000):
    Cycle()
    drawn.append(fortuna.random_bytes(16))
    out = bytearray(32)
    fortuna.readinto(out)
    drawn.append(bytes(out[:16]))
    live.child().random_bytes(1)
gc.collect()
print(len(drawn) >= 8900, len(drawn) == len(set(drawn)))
"""
    assert ["True True"] == lines_of(run_script(BOOT + body, "chacha8"))
