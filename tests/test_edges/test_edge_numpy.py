"""`fortuna.numpy`: the numbers are those of the book's generator, and no K, error or lock is ever the wrong one."""

from __future__ import annotations

import copy
import ctypes
import inspect
import os
import pickle
import signal
import struct
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

import fortuna
from fortuna import numpy_bits
from fortuna.clones import GenerationFile
from fortuna.core.constructions import CONSTRUCTIONS
from fortuna.core.generator import Generator
from fortuna.errors import ClosedError, NotSeededError, ParameterError, ProviderUnavailableError
from fortuna.forks import ForkDetector
from fortuna.generators import available
from fortuna.generators.registry import resolve
from fortuna.generators.secret import Secret
from fortuna.testing import DeterministicFortuna

from .child_support import Child, answer_of, raw_fork
from .edge_doubles import (
    HANG_SECONDS,
    PROVIDERS,
    Bench,
    Interrupter,
    ScriptedSource,
    interruptions,
    lines_of,
    run_script,
    stream,
)
from .edge_paths import PATHS, RULES, needs_native
from .random_doubles import load_without_extension

pytest.importorskip("numpy")

import numpy as np

from fortuna.numpy import BitGenerator, random_double, random_u64
from fortuna.testing import DeterministicBitGenerator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Bytes of one refill.
RESERVE: Final = 8192
#: Each cipher that the extension runs here.
CIPHERS: Final = tuple(
    dict.fromkeys(row.generator for row in available() if row.provider == "native" and row.is_available)
)
SEED: Final = b"numbers"
each_rule = pytest.mark.parametrize("construction", RULES)


class Table(ctypes.Structure):
    """The C functions behind the capsule, called as a compiled caller would, without the lock."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
        ("next_uint32", ctypes.PYFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)),
        ("next_double", ctypes.PYFUNCTYPE(ctypes.c_double, ctypes.c_void_p)),
        ("next_raw", ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
    )


def table_of(bits: numpy_bits.NumPyBits) -> Table:
    """Return the functions of *bits*."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return Table.from_address(get_pointer(bits.capsule, b"BitGenerator"))


def expected_bytes(key: bytes, size: int, cipher: str = "aes256-icm", construction: str = "fsk2010") -> bytes:
    """Return the output for a K by the generator in Python on another implementation of the cipher."""
    keystream = resolve(cipher, "reference" if cipher.endswith(("7", "8", "12")) else "pycryptodome")
    assert keystream.provider != "native"
    generator = Generator(keystream, CONSTRUCTIONS[construction], key=key, counter=1)
    pieces = []
    for _ in range(-(-size // RESERVE)):
        piece = bytearray(RESERVE)
        with memoryview(piece) as view:
            generator.readinto(view)
        pieces.append(bytes(piece))
    return b"".join(pieces)[:size]


def numbers(data: bytes) -> list[int]:
    """Return the 64-bit numbers in *data*."""
    return [int.from_bytes(data[start : start + 8], "little") for start in range(0, len(data), 8)]


def raw(bits: numpy_bits.NumPyBits, count: int) -> list[int]:
    """Return *count* numbers, drawn through NumPy."""
    return [int(number) for number in bits.random_raw(count)]


@pytest.fixture
def bench(path: str) -> Bench:
    """Give a seeded live generator on doubles, on each path, with few places to interrupt."""
    return Bench(path, sources=[ScriptedSource(size=64)], min_pool_size=16).boot()


@pytest.fixture
def bits(bench: Bench) -> BitGenerator:
    """Give a bit generator on it."""
    return BitGenerator(bench.fortuna)


@pytest.fixture(scope="module")
def page() -> ForkDetector:
    """Give a real detector, made once."""
    return ForkDetector(use_hook=False)


def draws(bench: Bench) -> int:
    """Return how many requests the live generator has served: one for each K."""
    return bench.fortuna.stats().requests


@needs_native
@each_rule
@pytest.mark.parametrize("cipher", CIPHERS)
def test_edge_numpy_numbers_are_the_generators(cipher: str, construction: str) -> None:
    """Numbers of each width, over three refills, are the bytes that the generator in Python gives for the same K."""
    bits = DeterministicBitGenerator(SEED, cipher=cipher, construction=construction)
    key = DeterministicFortuna(SEED, cipher=cipher, construction=construction).random_bytes(32)
    expected = numbers(expected_bytes(key, 3 * RESERVE, cipher, construction))
    rng = np.random.Generator(bits)
    assert expected[:1500] == raw(bits, 1500)
    assert [(number >> 11) / 2**53 for number in expected[1500:2000]] == list(rng.random(500))
    table = table_of(bits)
    for number in expected[2000:2100]:
        assert [number % 2**32, number >> 32] == [table.next_uint32(table.state) for _ in range(2)]
    assert expected[2100] == table.next_uint64(table.state)
    assert expected[2101] == table.next_raw(table.state)
    assert (expected[2102] >> 11) / 2**53 == table.next_double(table.state)
    # Half a number is left before the end of the reserve, and dropped.
    assert expected[2103:3071] == raw(bits, 3071 - 2103)
    assert expected[3071] % 2**32 == table.next_uint32(table.state)
    more = numbers(expected_bytes(key, 4 * RESERVE, cipher, construction))
    assert more[3072] == table.next_uint64(table.state)


@needs_native
@pytest.mark.parametrize(
    ("cipher", "golden"),
    [("aes256-icm", [0x50C85C4D0DC902CA, 0x7ACBDEE669C430F0]), ("chacha20", [0x8668417F012B2B6D, 0xF224CAA0B770DDFC])],
)
def test_edge_numpy_golden_numbers(cipher: str, golden: list[int]) -> None:
    """The numbers of a seed never change; the pure core with another implementation of the cipher has made them too."""
    if cipher in CIPHERS:
        assert golden == raw(DeterministicBitGenerator(b"golden", cipher=cipher), 2)
    key = DeterministicFortuna(b"golden", cipher=cipher, provider="pycryptodome").random_bytes(32)
    assert golden == numbers(expected_bytes(key, 16, cipher))


@needs_native
@each_rule
@pytest.mark.parametrize("path", PATHS)
def test_edge_numpy_key_is_output_of_the_live_generator(path: str, construction: str) -> None:
    """K is the next 32 bytes that the live generator would have given anybody."""
    twins = [Bench(path, construction=construction).boot() for _ in range(2)]
    bits = BitGenerator(twins[0].fortuna)
    expected = expected_bytes(twins[1].fortuna.random_bytes(32), 80, construction=construction)
    # On the path in Python, each call has a new K: the first was for the constructor.
    if path == "python":
        expected = expected_bytes(twins[1].fortuna.random_bytes(32), 80, construction=construction)
    assert numbers(expected) == raw(bits, 10)


@needs_native
def test_edge_numpy_every_distribution_runs(bits: BitGenerator) -> None:
    """NumPy finds what it needs, whichever way it is given the object."""
    for rng in (np.random.Generator(bits), np.random.default_rng(bits)):
        assert rng.bit_generator is bits
        assert (5,) == rng.standard_normal(5).shape == rng.random(5, dtype=np.float32).shape
        assert set(range(20)) == set(rng.permutation(20).tolist())
        assert 0 <= rng.integers(1000) < 1000
        assert 16 == len(rng.bytes(16))
    legacy = np.random.RandomState(bits)
    assert (3,) == legacy.standard_normal(3).shape


@needs_native
@pytest.mark.parametrize("path", [pytest.param("native", marks=needs_native)])
def test_edge_numpy_keeps_k_while_nothing_is_due(bench: Bench, bits: BitGenerator) -> None:
    """Calls share one K and its reserve; a pull that is due, a reseed and a fork end it, before the next number."""
    rng = np.random.Generator(bits)
    rng.random()
    before = draws(bench)
    for _ in range(5):
        rng.random(3000)
    assert before == draws(bench)
    reseeds: list[Callable[[], object]] = [bench.pass_interval, bench.fortuna.reseed, bench.fortuna.pull_soon]
    for count, renew in enumerate(reseeds, start=1):
        renew()
        rng.random(10)
        rng.random(10)
        assert before + count == draws(bench)
    bench.fork()
    rng.random(10)
    assert 1 == draws(bench)


@needs_native
@pytest.mark.parametrize("path", ["python"])
def test_edge_numpy_other_providers_give_a_new_k_to_each_call(bench: Bench, bits: BitGenerator) -> None:
    """Where nobody can tell without Python whether a reseed is due, every call of NumPy's asks."""
    before = draws(bench)
    rng = np.random.Generator(bits)
    for _ in range(3):
        rng.random(2000)
    assert before + 3 == draws(bench)


@needs_native
@pytest.mark.parametrize("path", PATHS)
def test_edge_numpy_mixing_per_request_reaches_it(path: str) -> None:
    """Where fresh bytes are mixed in before each call, they are mixed in before each call of NumPy's."""
    mixed: list[int] = []

    def harvest() -> Secret:
        mixed.append(1)
        return Secret(32)

    bench = Bench(path, harvest_per_request=harvest).boot()
    rng = np.random.Generator(BitGenerator(bench.fortuna))
    before = len(mixed)
    rng.random(10)
    rng.random(10)
    assert before + 2 == len(mixed)


@needs_native
@pytest.mark.parametrize("path", [pytest.param("native", marks=needs_native)])
def test_edge_numpy_numbers_are_zeroed_as_they_are_given(bits: BitGenerator) -> None:
    """What was given is not in the object's memory any more; what comes next is, and is found there."""
    drawn = raw(bits, 4)
    following = expected_reserve(bits)
    assert RESERVE - 32 == len(following)
    assert not any(number in numbers(following[: len(following) // 8 * 8]) for number in drawn)
    assert numbers(following[:80]) == raw(bits, 10)


def expected_reserve(bits: numpy_bits.NumPyBits) -> bytes:
    """Return what is in reserve, read from where the next number will come from; zeros lie before it."""
    # The two words after the object's header: the next number, and the page, which begins with the end.
    start = id(bits) + object.__basicsize__
    following, page = (ctypes.c_uint64.from_address(start + offset).value for offset in (0, 8))
    end = ctypes.c_uint64.from_address(page).value
    begin = end - RESERVE
    assert bytes(following - begin) == ctypes.string_at(begin, following - begin)
    return ctypes.string_at(following, end - following)


@needs_native
def test_edge_numpy_errors_come_before_the_first_number(bench: Bench, bits: BitGenerator) -> None:
    """A generator that is closed, or may not answer after a fork, raises from NumPy's call; no lock stays taken."""
    rng = np.random.Generator(bits)
    array = np.zeros(4)
    bench.scripted.always = OSError(5, "no bytes")
    bench.fork()
    for _ in range(2):
        with pytest.raises(NotSeededError, match="not seeded after a fork"):
            rng.random(out=array)
    bench.scripted.always = None
    assert 4 == len(set(rng.random(4)))
    bench.fortuna.close()
    for _ in range(2):
        with pytest.raises(ClosedError):
            rng.shuffle(array)
    with pytest.raises(ClosedError):
        BitGenerator(bench.fortuna)
    assert [0.0] * 4 == list(array)


@needs_native
@pytest.mark.parametrize("path", PATHS)
def test_edge_numpy_unseeded_source(path: str) -> None:
    """There is no bit generator on a generator that is not seeded."""
    bench = Bench(path, pretend_unseeded=True)
    with pytest.raises(NotSeededError):
        BitGenerator(bench.fortuna)


@needs_native
@pytest.mark.parametrize("path", PATHS)
def test_edge_numpy_restored_machine(path: str, tmp_path: Path) -> None:
    """A generation number that changes gives a new K to the next call, and in C to the next number of a call."""
    file = tmp_path / "generation"
    file.write_bytes(bytes(8))
    bench = Bench(path, generation=GenerationFile(str(file))).boot()
    bits = BitGenerator(bench.fortuna)
    rng = np.random.Generator(bits)
    rng.random(10)
    before = bench.reseeds
    restore = partial(step, file)
    restore(1)
    rng.random(10)
    assert before + 1 == bench.reseeds
    if path == "native":
        table, kept = table_of(bits), numbers(expected_reserve(bits)[:80])
        assert kept[0] == table.next_uint64(table.state)
        restore(2)
        assert table.next_double(table.state) not in [(number >> 11) / 2**53 for number in kept]
        assert before + 2 == bench.reseeds
        restore(3)
        assert 2 == len({table.next_uint32(table.state) for _ in range(2)})
        assert before + 3 == bench.reseeds


def step(file: Path, number: int) -> None:
    """Write the generation number in place, as a system that restores a machine does."""
    with file.open("r+b") as opened:
        opened.write(number.to_bytes(8, sys.byteorder))


@needs_native
def test_edge_numpy_handler_draws_at_every_place(bench: Bench, bits: BitGenerator) -> None:
    """A signal handler that draws from the object whose call it interrupts gets numbers of its own."""
    rng = np.random.Generator(bits)
    seen: list[float] = []
    for interrupter in interruptions(lambda: seen.extend(rng.random(2))):
        bench.pass_interval()
        with interrupter:
            seen.extend(rng.random(2))
    assert 100 < len(seen) == len(set(seen))


@needs_native
def test_edge_numpy_handler_raises_at_every_place(bench: Bench, bits: BitGenerator) -> None:
    """What a handler raises ends the call, and neither the lock nor a K stays behind."""
    rng = np.random.Generator(bits)

    def stop() -> None:
        raise InterruptedError

    stopped, seen = 0, []
    for interrupter in interruptions(stop):
        bench.clock.now += 60_000_000_000
        with interrupter:
            try:
                seen.append(rng.random())
            except InterruptedError:
                stopped += 1
        seen.append(rng.random())
    assert 20 < stopped
    assert len(seen) == len(set(seen))


@needs_native
@pytest.mark.parametrize("fork", [os.fork, raw_fork], ids=["python", "raw"])
def test_edge_numpy_handler_forks_at_every_place(path: str, fork: Callable[[], int], page: ForkDetector) -> None:
    """A handler that forks in the middle of a call leaves two processes with different numbers and free locks."""
    parent, place, seen = os.getpid(), 0, []
    while True:
        ends: list[tuple[int, int]] = []

        def split(ends: list[tuple[int, int]] = ends) -> None:
            reader, writer = os.pipe()
            pid = fork()
            os.close(writer if pid else reader)
            ends.append((pid, reader if pid else writer))

        bench = Bench(path, sources=[ScriptedSource(size=64)], min_pool_size=16, forks=page).boot()
        bench.system._getrandom = os.getrandom  # which never answers alike in parent and child
        bench.fortuna.reseed()
        rng = np.random.Generator(BitGenerator(bench.fortuna))
        bench.pass_interval()
        interrupter = Interrupter(place, split)
        status = 1
        try:
            with interrupter:
                got = rng.random(2)
            if os.getpid() != parent:
                os.write(ends[0][1], got.tobytes() + rng.random(2).tobytes())
                status = 0
        finally:
            if os.getpid() != parent:
                os._exit(status)
        if not interrupter.has_fired:
            break
        answer = answer_of(*ends[0])
        assert 32 == len(answer)
        seen += [*got.tolist(), *np.frombuffer(answer).tolist(), *rng.random(2).tolist()]
        place += 1
    assert 30 < place
    assert len(seen) == 8 * place == len(set(seen))


@needs_native
@pytest.mark.parametrize("fork", [os.fork, raw_fork], ids=["python", "raw"])
def test_edge_numpy_forked_child(path: str, fork: Callable[[], int], page: ForkDetector) -> None:
    """A child has numbers of its own, through NumPy and through the bare functions, and so has its child."""
    bench = Bench(path, forks=page).boot()
    bench.system._getrandom = os.getrandom
    bits = BitGenerator(bench.fortuna)
    rng, table = np.random.Generator(bits), table_of(bits)
    rng.random()

    def draw() -> bytes:
        return rng.bytes(32) + Child(lambda: rng.bytes(32), fork).answer()

    def draw_bare() -> bytes:
        return struct.pack("=4Q", *(table.next_uint64(table.state) for _ in range(4))) + rng.bytes(32)

    answers = [Child(act, fork).answer() for act in (draw, draw_bare, draw)]
    blocks = [answer[start : start + 8] for answer in (*answers, draw()) for start in range(0, 64, 8)]
    assert 32 == len(blocks) == len(set(blocks))


@needs_native
def test_edge_numpy_fork_while_another_thread_draws(path: str) -> None:
    """A child forked while another thread holds the lock, in the middle of a long call, draws without waiting."""
    script = f"""
import os, threading, time
import numpy as np
import fortuna
from child_support import Child
from fortuna.numpy import BitGenerator

live = fortuna.boot(overrides={{"generator.provider": {PROVIDERS[path]!r}}})
bits = BitGenerator(live)
rng = np.random.Generator(bits)
stop, array = [], np.empty(1 << 20)

def draw_for_long():
    while not stop:
        rng.random(out=array)

threads = [threading.Thread(target=draw_for_long) for _ in range(2)]
for thread in threads:
    thread.start()
answers = [Child(lambda: rng.random(2).tobytes()).answer() for _ in range(20)]
stop.append(True)
for thread in threads:
    thread.join()
print(len({{*answers, rng.random(2).tobytes()}}))
"""
    assert ["21"] == lines_of(run_script(script))


@needs_native
def test_edge_numpy_threads_share_one(bits: BitGenerator) -> None:
    """Numbers that threads draw from one object, or from what it spawned, are given once."""
    spawned = [np.random.Generator(child) for child in np.random.Generator(bits).bit_generator.spawn(4)]
    rngs = [np.random.Generator(bits) for _ in range(4)] + spawned
    drawn: list[Any] = []

    def draw(rng: Any) -> None:
        for _ in range(20):
            drawn.append(rng.integers(0, 2**64, 700, dtype=np.uint64))

    threads = [threading.Thread(target=draw, args=(rng,)) for rng in rngs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = np.concatenate(drawn)
    assert 8 * 20 * 700 == every.size == np.unique(every).size


@needs_native
def test_edge_numpy_lock(bits: BitGenerator) -> None:
    """The lock keeps others out while it is held, as often as its holder takes it, and lets them in afterwards."""
    lock: object = bits.lock
    assert lock is bits
    drawn: list[float] = []
    thread = threading.Thread(target=lambda: drawn.append(np.random.Generator(bits).random()))
    with bits.lock:
        assert bits.lock.acquire()
        thread.start()
        thread.join(0.2)
        bits.lock.release()
        assert [] == drawn
        raw(bits, 1)
    thread.join(HANG_SECONDS)
    assert 1 == len(drawn)


@needs_native
def test_edge_numpy_waiting_for_the_lock_hears_signals(bits: BitGenerator) -> None:
    """Whoever waits for the lock can be interrupted, and does not have it then."""
    inside, leave = threading.Event(), threading.Event()

    def keep() -> None:
        with bits.lock:
            inside.set()
            leave.wait(HANG_SECONDS)

    def stop(*_: object) -> None:
        raise InterruptedError

    thread = threading.Thread(target=keep)
    thread.start()
    inside.wait(HANG_SECONDS)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(InterruptedError):
            raw(bits, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
        leave.set()
        thread.join(HANG_SECONDS)
    assert 1 == len(raw(bits, 1))


@needs_native
def test_edge_numpy_raw_numbers(bits: BitGenerator) -> None:
    """As of NumPy's own: one number is an ``int``, more are an array, and what is not wanted is drawn all the same."""
    one = bits.random_raw()
    assert int is type(one)
    assert (2, 3) == bits.random_raw((2, 3)).shape
    twins = [DeterministicBitGenerator(SEED) for _ in range(2)]
    assert None is twins[0].random_raw(5, output=False)
    assert raw(twins[0], 1) == raw(twins[1], 6)[5:]


@needs_native
def test_edge_numpy_spawn(bits: BitGenerator) -> None:
    """Spawning draws fresh keys, through NumPy as well; no number of children is refused but a negative one."""
    rng = np.random.Generator(bits)
    children = [*rng.spawn(3), *map(np.random.Generator, bits.spawn(2))]
    seen = [float(each.random()) for each in (*children, rng)]
    assert 6 == len(set(seen))
    assert [] == bits.spawn(0)
    with pytest.raises(ParameterError, match=r"n_children: got -1; allowed is 0 or more"):
        bits.spawn(-1)


@needs_native
def test_edge_numpy_deterministic_is_told_apart() -> None:
    """The one for tests repeats itself, also in what it spawns, says so, and is no live one nor a source of one."""
    first, second = (DeterministicBitGenerator(SEED) for _ in range(2))
    pairs = [(raw(one, 3), *(raw(child, 3) for child in one.spawn(2))) for one in (first, second)]
    assert pairs[0] == pairs[1]
    assert 3 == len({tuple(each) for each in pairs[0]})
    assert "DETERMINISTIC, NOT RANDOM" in repr(first)
    assert BitGenerator not in type(first).__mro__
    wrongs: list[Any] = [DeterministicFortuna(SEED), first, 1]
    for wrong in wrongs:
        with pytest.raises(TypeError, match=r"generator: got a \w+; pass what fortuna\.boot"):
            BitGenerator(wrong)
    assert raw(first, 2000) == np.frombuffer(Child(lambda: second.random_raw(2000).tobytes()).answer(), "<u8").tolist()
    with pytest.raises(ParameterError, match="seed: got 0 bytes"):
        DeterministicBitGenerator(b"")


@needs_native
def test_edge_numpy_no_copies(bits: BitGenerator) -> None:
    """No copy is made, by pickling either, of it or of what draws from it; nothing of K shows."""
    assert repr(bits).startswith("<fortuna.numpy.BitGenerator of <Fortuna aes256-icm/")
    for refused in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot copy or pickle BitGenerator"):
            refused(bits)
        with pytest.raises((TypeError, ValueError)):
            refused(np.random.Generator(bits))
    with pytest.raises(AttributeError):
        bits.state = {}


@needs_native
def test_edge_numpy_misuse_of_the_native_type() -> None:
    """What was not initialised, or twice, says so and does not crash."""
    from fortuna.generators._native import BitGenerator as NativeBits

    bare = NativeBits.__new__(NativeBits)
    uses: list[Callable[[], object]] = [lambda: bare.capsule, bare.acquire, bare.__enter__]
    for use in uses:
        with pytest.raises(RuntimeError, match="__init__ was not called"):
            use()
    bare.release()
    bits: Any = DeterministicBitGenerator(SEED)
    with pytest.raises(RuntimeError, match="__init__ was called already"):
        NativeBits.__init__(bits, DeterministicFortuna(SEED), "chacha20", "portable", False, False, False)
    with pytest.raises(ProviderUnavailableError, match="there is no kernel for"):
        NativeBits(DeterministicFortuna(SEED), "nonesuch", "kernel", False, False, False)
    for broken in (object(), None):
        with pytest.raises(AttributeError, match="readinto"):
            NativeBits(broken, "chacha20", "portable", False, False, False)  # type: ignore[arg-type]


def test_edge_numpy_without_the_extension() -> None:
    """Where the extension is missing, the refusal names what works without it."""
    module = load_without_extension(inspect.getfile(numpy_bits), "fortuna.numpy_bits_in_python")
    with pytest.raises(ProviderUnavailableError, match=r"needs the C extension.*random_u64 and random_double work"):
        module.NativeBits(object())


@needs_native
def test_edge_numpy_cipher_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cipher that the extension cannot run is refused; there is no quiet change to another."""
    bench = Bench("python").boot()

    def refuse(name: str, provider: str, kernel: str) -> Any:
        assert ("aes256-icm", "native", "auto") == (name, provider, kernel)
        raise ProviderUnavailableError("no such kernel")

    monkeypatch.setattr(numpy_bits, "resolve", refuse)
    with pytest.raises(ProviderUnavailableError, match="no such kernel"):
        BitGenerator(bench.fortuna)


@pytest.fixture
def scripted_readinto(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Have the functions read known bytes, and give them."""
    known = stream("numbers", 1 << 16)

    def readinto(buffer: Any) -> int:
        size = memoryview(buffer).nbytes
        if size:  # a view of nothing cannot be cast
            memoryview(buffer).cast("B")[:] = known[:size]
        return size

    monkeypatch.setattr("fortuna.numpy.readinto", readinto)
    return known


def test_edge_numpy_functions_make_numbers_of_the_bytes(scripted_readinto: bytes) -> None:
    """The arrays have the shape asked for, and the numbers that the bytes say."""
    expected = numbers(scripted_readinto)
    assert expected[:1000] == random_u64(1000).tolist()
    for shape in (7, (2, 3), (2, 0, 3), (), [3]):
        if isinstance(shape, list):
            with pytest.raises(TypeError):
                random_double(shape)  # type: ignore[arg-type]
            continue
        doubles = random_double(shape)
        assert np.empty(shape).shape == doubles.shape
        assert [(number >> 11) / 2**53 for number in expected[: doubles.size]] == doubles.ravel().tolist()
        assert np.dtype(np.float64) == doubles.dtype
    assert np.dtype(np.uint64) == random_u64(0).dtype


def test_edge_numpy_functions_draw_from_the_process() -> None:
    """Each array is drawn anew from the generator of the process, and what is no size is refused before that."""
    arrays = [random_u64(4), random_u64(4), random_double((2, 2)).view(np.uint64)]
    assert 3 == len({array.tobytes() for array in arrays})
    requests = fortuna.stats().requests
    for call, message in (
        (lambda: random_u64(-1), r"n: got -1; allowed is 0 or more"),
        (lambda: random_double(-1), r"shape: got \(-1,\); allowed is 0 or more in each dimension"),
        (lambda: random_double((3, -2)), r"shape: got \(3, -2\)"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()
    for wrong in (1.5, "3", None):
        with pytest.raises(TypeError):
            random_u64(wrong)  # type: ignore[arg-type]
    with pytest.raises(MemoryError):
        random_u64(1 << 56)
    assert requests == fortuna.stats().requests


@needs_native
def test_edge_numpy_default_is_the_generator_of_the_process() -> None:
    """Without an argument, K comes from what is booted."""
    assert fortuna.default() is BitGenerator()._source
