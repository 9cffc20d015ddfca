"""Sub-interpreters: each has its own module, types and generator, and they draw side by side."""

from __future__ import annotations

import sys
from typing import Final

import pytest

from .native_support import LIBRARY, lines_of, run_script

#: Finds the module that makes interpreters, under the name that each version of Python gives it.
MODULE: Final = """
import sys, threading
for name in ("_interpreters", "_xxsubinterpreters"):
    try:
        interpreters = __import__(name)
        break
    except ImportError:
        pass
else:
    print("absent")
    raise SystemExit

def run(where, code):
    failure = (getattr(interpreters, "run_string"))(where, code)
    if failure is not None:
        raise RuntimeError(failure.formatted)
"""


def script(body: str) -> list[str]:
    """Run *body* where interpreters can be made, or skip."""
    # A coverage measurement would start in each interpreter, where its own extension fails.
    bare = dict.fromkeys(("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"), "")
    lines = lines_of(run_script(MODULE + body, environment=bare))
    if lines == ["absent"]:
        pytest.skip("this Python has no module that makes interpreters")
    return lines


def test_each_has_its_own_module() -> None:
    """Three interpreters import the extension: types differ, errors are their own, kernels serve in each."""
    body = '''
from fortuna.generators import _native
code = """
from fortuna.errors import NotSeededError, ProviderUnavailableError
from fortuna.generators import _native
made = _native.Keystream("chacha20", "portable")
made.set_key(bytes(range(32)))
out = bytearray(32)
made.fill((1).to_bytes(16, "little"), out)
for call, error in ((_native.Generator("chacha20", "portable").random_bytes, NotSeededError),
                    (lambda n: _native.Keystream("chacha20", "nothing"), ProviderUnavailableError)):
    try:
        call(1)
    except error:
        pass
print(out.hex()[:16], id(_native.Generator), flush=True)
"""
exec(code)
for _ in range(3):
    where = interpreters.create()
    run(where, code)
    run(where, code)
    interpreters.destroy(where)
exec(code)
'''
    rows = [line.split() for line in script(body)]
    assert 8 == len(rows)
    assert 1 == len({keystream for keystream, _ in rows})
    assert rows[0] == rows[-1]
    assert rows[1] == rows[2]
    assert rows[0][1] != rows[1][1]


def test_each_has_its_own_generator() -> None:
    """Each interpreter boots its own live generator, natively; no block is drawn twice."""
    body = '''
code = """
import fortuna
fortuna.random_bytes(1)
for size in (16, 20_000, 3 << 20):
    print(fortuna.random_bytes(size)[:16].hex(), fortuna.stats().provider, fortuna.stats().requests, flush=True)
"""
exec(code)
for _ in range(4):
    where = interpreters.create()
    run(where, code)
    interpreters.destroy(where)
exec(code)
'''
    rows = [line.split() for line in script(body)]
    assert 18 == len(rows) == len({block for block, _, _ in rows})
    assert {"native"} == {provider for _, provider, _ in rows}
    assert ["2", "3", "6"] == [requests for _, _, requests in rows[3:6]]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="up to Python 3.12, interpreters in threads hang by themselves")
def test_side_by_side() -> None:
    """Interpreters in threads of their own, with large requests that give up the lock, draw different blocks."""
    body = '''
code = """
import fortuna
for number in range(50):
    print(fortuna.random_bytes(20_000 if number % 2 else 32)[:16].hex() + chr(10), end="", flush=True)
"""
places = [interpreters.create() for _ in range(4)]
threads = [threading.Thread(target=run, args=(where, code)) for where in places]
for thread in threads:
    thread.start()
exec(code)
for thread in threads:
    thread.join()
'''
    blocks = [line for line in script(body) if line]
    assert 250 == len(blocks) == len(set(blocks))


@pytest.mark.skipif(sys.version_info < (3, 13), reason="interpreters with a lock of their own cannot be asked for here")
def test_with_a_lock_of_its_own() -> None:
    """An interpreter with its own lock imports the extension, which declares that it can be."""
    body = """
where = interpreters.create("isolated")
run(where, "from fortuna.generators import _native; print(_native.self_test('chacha20', 'portable') == '', flush=True)")
interpreters.destroy(where)
"""
    assert ["True"] == script(body)


def test_module_is_collected() -> None:
    """A module that is imported again and dropped again is collected, with its types and its state."""
    body = """
import gc, importlib, weakref
import fortuna.errors
seen = []
for _ in range(5):
    sys.modules.pop("fortuna.generators._native", None)
    native = importlib.import_module("fortuna.generators._native")
    generator = native.Generator("chacha20", "portable")
    native.Keystream("chacha20", "portable").set_key(bytes(32))
    seen.append(weakref.ref(native.Generator))
    import fortuna.generators
    if hasattr(fortuna.generators, "_native"):
        del fortuna.generators._native
    del native, generator
sys.modules.pop("fortuna.generators._native", None)
gc.collect()
print(sum(reference() is not None for reference in seen))
"""
    assert ["0"] == script(body)


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="in Python 3.12, ctypes, which pycryptodome needs, refuses")
def test_openssl_in_an_interpreter() -> None:
    """Where ``cryptography`` refuses an interpreter, the message says what to do, and ``auto`` goes on to another.

    The library is loaded in the main interpreter first, and the C extension is kept out of the others.
    """
    body = '''
from fortuna.generators import create
print(create("chacha20", "openssl").provider)
code = """
import sys
sys.modules["fortuna.generators._native"] = None
from fortuna.errors import ProviderUnavailableError
from fortuna.generators import available, create
print(create("chacha20").provider)
try:
    print(create("chacha20", "openssl").provider)
except ProviderUnavailableError as error:
    print(error)
print(*[row.reason for row in available() if (row.generator, row.provider) == ("chacha20", "openssl")], flush=True)
"""
where = interpreters.create()
run(where, code)
interpreters.destroy(where)
'''
    if LIBRARY != "openssl":
        pytest.skip("the library cryptography is not installed")
    outside, served, message, reason = script(body)
    assert ["openssl", "pycryptodome"] == [outside, served]
    assert message == reason
    assert message.startswith(
        "provider 'openssl' cannot be imported: the library cryptography refuses sub-interpreters ("
    )
    assert message.endswith("; use native or pycryptodome in them")
