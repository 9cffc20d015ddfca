"""The contract of the live generator's methods: arguments, buffers, closing, copies, and what never shows a secret."""

from __future__ import annotations

import array
import copy
import ctypes
import io
import math
import mmap
import pickle
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

import pytest

from fortuna.core.generator import REQUEST_MAX
from fortuna.errors import ClosedError, FortunaError, NotSeededError, ParameterError

from .child_support import key_of, key_reader
from .edge_doubles import PRODUCT_AND_LIBRARY, Bench, Interrupter, ScriptedSource, stream
from .edge_paths import needs_native

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fortuna.rng import Fortuna

MIB: Final = 1 << 20


class Index:
    """A number as numpy has them: not an int, with ``__index__``."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        """Return the number."""
        return self.value


class HandlerError(Exception):
    """What a signal handler raises."""


def test_edge_contract_sizes(bench: Bench) -> None:
    """Any integer is a size, True is 1, and the result is bytes of exactly that length."""
    for n, size in ((0, 0), (1, 1), (True, 1), (False, 0), (Index(7), 7), (MIB + 1, MIB + 1)):
        got = bench.fortuna.random_bytes(n)
        assert (bytes, size) == (type(got), len(got))


@pytest.mark.parametrize("n", [1.0, 1.5, "1", b"1", None, [], math.nan, 1j], ids=repr)
def test_edge_contract_sizes_that_are_no_integers(n: Any, bench: Bench, path: str) -> None:
    """What has no ``__index__`` is a ``TypeError``, and nothing is drawn."""
    twin = Bench(path).boot()
    with pytest.raises(TypeError):
        bench.fortuna.random_bytes(n)
    assert twin.fortuna.random_bytes(16) == bench.fortuna.random_bytes(16)


@pytest.mark.parametrize("n", [-1, -(2**20), -(2**62), -(2**70), Index(-1)])
def test_edge_contract_negative_sizes(n: int, bench: Bench, path: str) -> None:
    """A negative size is a `ParameterError` that says what was got, and nothing is drawn."""
    twin = Bench(path).boot()
    with pytest.raises(ParameterError, match=rf"n: got {n.__index__()} bytes; allowed is 0 or more"):
        bench.fortuna.random_bytes(n)
    assert twin.fortuna.random_bytes(16) == bench.fortuna.random_bytes(16)


@pytest.mark.parametrize("n", [2**62, sys.maxsize, sys.maxsize + 1, 2**70, Index(2**70)])
def test_edge_contract_sizes_beyond_memory(n: int, bench: Bench, path: str) -> None:
    """A size that no memory holds is a ``MemoryError`` before anything changes, the pull included."""
    twin = Bench(path).boot()
    bench.pass_interval()
    with pytest.raises(MemoryError):
        bench.fortuna.random_bytes(n)
    assert (1, 0) == (bench.source.harvests, bench.fortuna.stats().requests)
    bench.clock.now = twin.clock.now
    assert twin.fortuna.random_bytes(16) == bench.fortuna.random_bytes(16)


def test_edge_contract_results_are_nobodys_constants(bench: Bench) -> None:
    """Python shares its short bytes objects; drawing never writes into a shared one."""
    for _ in range(300):
        bench.fortuna.random_bytes(1)
        bench.fortuna.random_bytes(0)
    assert (b"", b"\0") == (bytes(0), bytes(1))
    assert [bytes((value,))[0] for value in range(256)] == list(range(256))
    assert 200 > len({bench.fortuna.random_bytes(1) for _ in range(300)} | {b"\0"}) > 100


def buffers() -> Iterator[Any]:
    """Yield writable buffers of every kind, with their length in bytes as id."""
    yield pytest.param(bytearray(0), 0, id="empty bytearray")
    yield pytest.param(bytearray(33), 33, id="bytearray")
    yield pytest.param(memoryview(bytearray(40))[4:36], 32, id="slice of a view")
    yield pytest.param(array.array("I", [0] * 9), 36, id="array of unsigned")
    yield pytest.param(array.array("d", [0.0] * 5), 40, id="array of double")
    yield pytest.param(array.array("I"), 0, id="empty array")
    yield pytest.param(memoryview(bytearray(64)).cast("Q"), 64, id="view of 64-bit words")
    yield pytest.param(memoryview(bytearray(64)).cast("B", (4, 16)), 64, id="view of two dimensions")
    yield pytest.param(memoryview(bytearray(32)).cast("c"), 32, id="view of characters")
    yield pytest.param(memoryview(bytearray(32)).cast("b"), 32, id="view of signed bytes")
    yield pytest.param((ctypes.c_ubyte * 32)(), 32, id="ctypes bytes")
    yield pytest.param((ctypes.c_uint64 * 5)(), 40, id="ctypes words")
    yield pytest.param((ctypes.c_uint32 * 3 * 4)(), 48, id="ctypes of two dimensions")
    yield pytest.param(ctypes.c_uint64(), 8, id="ctypes number")
    yield pytest.param((ctypes.c_ubyte * 0)(), 0, id="ctypes empty")
    yield pytest.param((ctypes.c_ubyte * 0 * 3)(), 0, id="ctypes empty of two dimensions")
    yield pytest.param(mmap.mmap(-1, 4096), 4096, id="mmap")
    yield pytest.param(io.BytesIO(bytes(48)).getbuffer(), 48, id="BytesIO")


@pytest.mark.parametrize(("buffer", "size"), list(buffers()))
def test_edge_contract_readinto_fills_every_kind_of_buffer(buffer: Any, size: int, path: str) -> None:
    """A buffer of any type and shape is filled to the last byte with what ``random_bytes`` would give."""
    bench, twin = Bench(path).boot(), Bench(path).boot()
    assert size == bench.fortuna.readinto(buffer)
    assert twin.fortuna.random_bytes(size) == memoryview(buffer).tobytes()


@pytest.mark.parametrize(
    "buffer",
    [
        b"\xaa" * 32,
        b"",
        memoryview(b"\xaa" * 32),
        memoryview(bytearray(b"\xaa" * 32)).toreadonly(),
        memoryview(bytearray(b"\xaa" * 64))[::2],
        memoryview(bytearray(b"\xaa" * 64))[::-1],
    ],
    ids=["bytes", "no bytes", "view of bytes", "read-only view", "every second", "backwards"],
)
def test_edge_contract_readinto_refuses_what_it_cannot_fill(buffer: Any, bench: Bench, path: str) -> None:
    """A read-only or non-contiguous buffer is a ``BufferError``, stays as it was, and nothing is drawn."""
    twin = Bench(path).boot()
    before = memoryview(buffer).tobytes()
    with pytest.raises(BufferError, match=r"read-only|not contiguous"):
        bench.fortuna.readinto(buffer)
    assert before == memoryview(buffer).tobytes()
    assert twin.fortuna.random_bytes(16) == bench.fortuna.random_bytes(16)


@pytest.mark.parametrize("buffer", ["text", 5, None, [0] * 8, io.BytesIO()], ids=repr)
def test_edge_contract_readinto_refuses_what_is_no_buffer(buffer: Any, bench: Bench) -> None:
    """What is no buffer is a ``TypeError``."""
    with pytest.raises(TypeError):
        bench.fortuna.readinto(buffer)


def test_edge_contract_readinto_touches_nothing_beside(bench: Bench) -> None:
    """The bytes before and behind the view stay, at sizes around each limit."""
    for size in (1, 31, 32, 33, 4095, 4096, 4097, MIB - 1, MIB, MIB + 1):
        buffer = bytearray(b"\xaa" * (size + 32))
        bench.fortuna.readinto(memoryview(buffer)[16 : 16 + size])
        assert b"\xaa" * 16 == buffer[:16] == buffer[-16:]


def test_edge_contract_an_exception_between_requests_wipes_what_was_filled(bench: Bench, path: str) -> None:
    """A handler that raises in the third 2**20 bytes of a long read leaves zeros, and later bytes are new."""
    buffer = bytearray(b"\xaa" * (4 * MIB))
    twin = Bench(path).boot()
    expected = twin.fortuna.random_bytes(4 * MIB)

    def raise_in_the_third() -> None:
        if bench.fortuna._life.generator.requests == 2:
            assert expected[: 2 * MIB] == buffer[: 2 * MIB]
            assert b"\xaa" * (2 * MIB) == buffer[2 * MIB :]
            raise HandlerError

    bench.clock.before_look = raise_in_the_third
    with pytest.raises(HandlerError):
        bench.fortuna.readinto(buffer)
    bench.clock.before_look = lambda: None
    assert not any(buffer)
    assert 2 == bench.fortuna.stats().requests
    assert expected[2 * MIB : 2 * MIB + 16] == bench.fortuna.random_bytes(16)


# Events.


@pytest.mark.parametrize("source", [128, 129, 254, 255, Index(200)])
def test_edge_contract_sources_of_applications(source: int, bench: Bench) -> None:
    """Numbers 128 to 255 are an application's."""
    bench.fortuna.add_event(source, b"x")
    assert 3 == bench.fortuna.stats().pool_lengths[0]


@pytest.mark.parametrize("source", [-1, 0, 31, 32, 127, 256, 2**70])
def test_edge_contract_sources_of_others(source: int, bench: Bench) -> None:
    """All other numbers are refused, and nothing is added."""
    with pytest.raises(ParameterError, match=rf"source: got {source}; applications use 128..255"):
        bench.fortuna.add_event(source, b"x")
    assert 0 == bench.fortuna.stats().pool_lengths[0]


@pytest.mark.parametrize(
    ("source", "data", "error"),
    [
        (128.0, b"x", TypeError),
        ("128", b"x", TypeError),
        (None, b"x", TypeError),
        (128, "x", TypeError),
        (128, 1, TypeError),
        (128, None, TypeError),
        (128, b"", ParameterError),
        (128, array.array("I"), ParameterError),
        (128, memoryview(b"abcdef")[::2], BufferError),
    ],
)
def test_edge_contract_events_of_wrong_types(source: Any, data: Any, error: type[Exception], bench: Bench) -> None:
    """Text, numbers, nothing and views with gaps are no events, and nothing is added."""
    with pytest.raises(error):
        bench.fortuna.add_event(source, data)
    assert 0 == bench.fortuna.stats().pool_lengths[0]


@pytest.mark.parametrize(
    ("data", "added"),
    [
        (b"x", 3),
        (bytes(32), 34),
        (bytes(33), 34),
        (bytes(MIB), 34),
        (bytearray(5), 7),
        (memoryview(b"abc"), 5),
        (array.array("I", [1, 2]), 10),
        ((ctypes.c_uint32 * 2)(), 10),
    ],
    ids=["1", "32", "33", "1 MiB", "bytearray", "view", "array", "ctypes"],
)
def test_edge_contract_event_lengths(data: Any, added: int, bench: Bench) -> None:
    """An event is source, length and data; what is longer than 32 bytes is hashed to 32."""
    bench.fortuna.add_event(128, data)
    assert added == bench.fortuna.stats().pool_lengths[0]


def test_edge_contract_events_change_the_bytes(path: str) -> None:
    """Two generators that differ in one bit of one event differ after the next reseed, and not before."""
    one, other = Bench(path).boot(), Bench(path).boot()
    one.fortuna.add_event(128, b"\x00")
    other.fortuna.add_event(128, b"\x01")
    assert one.fortuna.random_bytes(16) == other.fortuna.random_bytes(16)
    one.pass_interval()
    other.pass_interval()
    assert one.fortuna.random_bytes(16) != other.fortuna.random_bytes(16)


# Child generators.


def test_edge_contract_child_is_keyed_by_the_parents_output(path: str) -> None:
    """A child costs its parent 32 bytes of output, is independent of it, and does not repeat its sibling."""
    bench, twin = Bench(path).boot(), Bench(path).boot()
    child, sibling = bench.fortuna.child(), bench.fortuna.child()
    twin.fortuna.random_bytes(32)
    twin.fortuna.random_bytes(32)
    assert twin.fortuna.random_bytes(16) == bench.fortuna.random_bytes(16)
    blocks = [one.random_bytes(16) for one in (bench.fortuna, child, sibling, child, sibling)]
    assert 5 == len(set(blocks))
    grandchild = child.child()
    child.close()
    assert 16 == len(grandchild.random_bytes(16))
    assert 16 == len(bench.fortuna.random_bytes(16))
    assert ("aes256-icm", 1) == (grandchild.stats().generator, grandchild.stats().reseeds)


def test_edge_contract_closing_the_parent_leaves_the_child(path: str) -> None:
    """Closing either does nothing to the other."""
    bench = Bench(path).boot()
    child = bench.fortuna.child()
    bench.fortuna.close()
    assert bytes(16) != child.random_bytes(16)


# Closing.


CALLS: Final[dict[str, Callable[[Fortuna], object]]] = {
    "random_bytes": lambda live: live.random_bytes(1),
    "random_bytes(0)": lambda live: live.random_bytes(0),
    "readinto": lambda live: live.readinto(bytearray(1)),
    "readinto nothing": lambda live: live.readinto(bytearray(0)),
    "long read": lambda live: live.random_bytes(MIB + 1),
    "add_event": lambda live: live.add_event(128, b"x"),
    "reseed": lambda live: live.reseed(),
    "child": lambda live: live.child(),
}


@pytest.mark.parametrize("call", CALLS)
def test_edge_contract_closed(call: str, bench: Bench) -> None:
    """After `close`, however often, each call raises `ClosedError`; in a forked child too."""
    key = key_reader(bench.fortuna)
    assert any(key())
    bench.fortuna.close()
    bench.fortuna.close()
    assert not any(key())
    for _ in range(2):
        with pytest.raises(ClosedError, match="closed: the key of this generator is wiped"):
            CALLS[call](bench.fortuna)
        bench.fork()
    assert not bench.fortuna.stats().is_seeded


def test_edge_contract_context_manager(path: str) -> None:
    """`with` gives the generator itself and closes it, on an exception too."""
    bench = Bench(path).boot()
    with bench.fortuna as live:
        assert live is bench.fortuna
        live.random_bytes(1)
    with pytest.raises(ClosedError):
        live.random_bytes(1)
    other = Bench(path).boot().fortuna

    def fail_inside() -> None:
        with other:
            raise HandlerError

    with pytest.raises(HandlerError):
        fail_inside()
    with pytest.raises(ClosedError):
        other.random_bytes(1)


def test_edge_contract_close_while_a_request_starts_over(bench: Bench) -> None:
    """A buffer that a closed generator was to fill holds zeros."""
    buffer = bytearray(b"\xaa" * 16)
    bench.source.before_harvest = bench.fortuna.close
    bench.pass_interval()
    with pytest.raises(ClosedError):
        bench.fortuna.readinto(buffer)
    assert bytes(16) == buffer


# Copies and secrets.


#: Each object that holds or reaches secrets, by path.
OBJECTS: Final = {
    "python": ["Fortuna", "child", "Life", "SharedGenerator", "Generator", "Accumulator", "Parts"],
    "native": ["Fortuna", "child", "Life", "NativeShared", "Accumulator", "Parts"],
}


def objects(bench: Bench) -> dict[str, Any]:
    """Return each object that holds or reaches secrets, by name."""
    life = bench.fortuna._life
    found = {
        "Fortuna": bench.fortuna,
        "child": bench.fortuna.child(),
        "Life": life,
        type(life.generator).__name__: life.generator,
        "Accumulator": life.accumulator,
        "Parts": bench.parts,
    }
    return {**found, "Generator": bench.core} if "SharedGenerator" in found else found


def ways_to_copy() -> dict[str, Callable[[Any], object]]:
    """Return each way to copy an object."""
    ways: dict[str, Callable[[Any], object]] = {"copy": copy.copy, "deepcopy": copy.deepcopy}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        ways[f"pickle {protocol}"] = lambda one, protocol=protocol: pickle.dumps(one, protocol)  # type: ignore[misc]
    return ways


@pytest.mark.parametrize("way", ways_to_copy())
@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("python", name) for name in OBJECTS["python"]),
        *(pytest.param("native", name, marks=needs_native) for name in OBJECTS["native"]),
    ],
)
def test_edge_contract_no_copies(name: str, way: str, path: str) -> None:
    """Copying and pickling raise ``TypeError`` that says why, at every level."""
    found = objects(Bench(path).boot())
    assert set(OBJECTS[path]) == set(found)
    one = found[name]
    with pytest.raises(TypeError, match="a copy of its state would repeat the same bytes"):
        ways_to_copy()[way](one)


def spellings(secret: bytes) -> list[str]:
    """Return the texts in which *secret* would show itself, whole or its first half."""
    numbers = [int.from_bytes(secret, "little"), int.from_bytes(secret, "big")]
    half = secret[: len(secret) // 2]
    return [
        half.hex(),
        half.hex().upper(),
        half[::-1].hex(),
        repr(half)[2:-1],
        ", ".join(map(str, half)),
        *(str(number) for number in numbers),
        *(f"{number:x}" for number in numbers),
    ]


def shows(text: str, secrets: list[bytes]) -> bool:
    """Tell whether *text* holds one of *secrets* in any spelling."""
    return any(spelling in text for secret in secrets for spelling in spellings(secret))


def test_edge_contract_the_search_for_secrets_finds_them() -> None:
    """The search of the tests below finds a key however it is written."""
    key = stream("key", 32)
    for text in (repr(key), repr(bytearray(key)), key.hex(), repr(list(key)), str(int.from_bytes(key, "big"))):
        assert shows(text, [key]), text
    assert not shows("<32 secret bytes>", [key])


def test_edge_contract_representations_show_no_secret(bench: Bench) -> None:
    """No ``repr`` or ``str``, of any object down to the cipher, and no attribute's, shows K or C."""
    live: Any = bench.fortuna
    counter = stream("counter", 16)
    live.random_bytes(16)
    secrets = [key_of(live), counter]
    reached = [*objects(bench).values(), live.stats(), bench.parts.make_keystream, bench.forks, bench.system]
    secrets.append(key_of(live))
    if "Generator" in objects(bench):
        bench.core._counter = int.from_bytes(counter, "little")
        reached.append(bench.core._keystream)
    else:
        live._load(key_of(live), counter)
    secrets.append(key_of(live))
    for one in reached:
        names = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
        values = [getattr(one, name, None) for name in names if not name.startswith("__")]
        for value in (one, *values, *getattr(one, "__dict__", {}).values()):
            if isinstance(value, int):
                continue  # C itself, in the slot that holds it
            for text in (repr(value), str(value), f"{value}", f"{value!r:>5}"):
                assert not shows(text, secrets), (type(one), text)


def test_edge_contract_representations(bench: Bench, path: str, provider: str) -> None:
    """What they show instead: cipher, provider, kernel, construction, state and reseeds."""
    live = bench.fortuna
    unseeded = Bench(path, cipher="chacha20").fortuna
    kernels = [live.stats().kernel, unseeded.stats().kernel]
    assert (path == "python") == (["library", "library"] == kernels)
    word = {"python": "shared", "native": "native"}[path]
    assert f"<Fortuna aes256-icm/{provider}/{kernels[0]} fsk2010, seeded, 1 reseeds>" == repr(live)
    assert f"<{word} generator, seeded>" == repr(live._life.generator)
    assert f"<life {live._life.epoch} of <{word} generator, seeded>>" == repr(live._life)
    assert f"<Fortuna chacha20/{provider}/{kernels[1]} fsk2010, not seeded, 0 reseeds>" == repr(unseeded)
    assert f"<{word} generator, not seeded>" == repr(unseeded._life.generator)
    live.close()
    assert f"<Fortuna aes256-icm/{provider}/{kernels[0]} fsk2010, closed, 1 reseeds>" == repr(live)


# A finalizer of the library that the exception strikes is reported as ignored.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
@pytest.mark.parametrize("size", [16, 8192])
def test_edge_contract_tracebacks_show_no_key_and_no_output(size: int, cipher: str, path: str) -> None:
    """Error reporters print the locals of every frame: at no place where a draw can be interrupted do they show the K
    before, the K after, the seed between, or the output.
    """

    def interrupt() -> None:
        raise HandlerError

    def shown(value: object) -> str:
        try:
            return repr(value)
        except AttributeError:  # of an object whose constructor was interrupted
            return "<half made>"

    def locals_of(error: BaseException) -> str:
        texts = []
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename != __file__:
                texts += [f"{name}={shown(value)}" for name, value in frame.f_locals.items()]
        return "\n".join(texts)

    place = 0
    has_fired = True
    while has_fired:
        bench, twin = (
            Bench(path, cipher=cipher, sources=[ScriptedSource(size=64)], min_pool_size=16).boot() for _ in range(2)
        )
        secrets = [key_of(bench.fortuna)]
        for one in (bench, twin):
            one.pass_interval()
        place += 1
        expected = twin.fortuna.random_bytes(size)
        secrets += [expected[:32], key_of(twin.fortuna)]
        interrupter = Interrupter(place - 1, interrupt, inside=PRODUCT_AND_LIBRARY)
        try:
            with interrupter:
                bench.fortuna.random_bytes(size)
        except HandlerError as error:
            text = locals_of(error)
            assert "self=" in text
            assert not shows(text, secrets), text
        has_fired = interrupter.has_fired
    assert 40 < place


def test_edge_contract_messages_show_no_secret(bench: Bench, path: str) -> None:
    """No error that a caller can provoke holds K."""
    live: Any = bench.fortuna
    secrets = [key_of(live)]
    of_the_path: dict[str, list[Callable[[], object]]] = {
        "python": [lambda: bench.core.claim(REQUEST_MAX + 1)],
        "native": [lambda: live._export(bytearray(31)), lambda: live._load(key_of(live), b"")],
    }
    attempts: list[Callable[[], object]] = [
        lambda: live.random_bytes(-1),
        lambda: live.readinto(b"x"),
        lambda: live.add_event(0, b"x"),
        lambda: copy.copy(live),
        *of_the_path[path],
    ]
    for attempt in attempts:
        with pytest.raises((FortunaError, TypeError, BufferError, ValueError)) as caught:
            attempt()
        assert not shows(str(caught.value), secrets)


# The shared generator by itself.


def test_edge_contract_shared_generator_refuses_like_the_plain_one(python_bench: Bench) -> None:
    """A request that is too long, and one before the seed, change nothing and leave the generator in its place."""
    shared: Any = python_bench.fortuna._life.generator
    core = python_bench.core
    twin = Bench("python").boot()
    with pytest.raises(FortunaError, match="one request gives at most"):
        shared.readinto(bytearray(REQUEST_MAX + 1))
    assert [core] == shared._cell
    assert twin.fortuna.random_bytes(16) == python_bench.fortuna.random_bytes(16)
    unseeded: Any = Bench("python").fortuna._life.generator
    (before,) = unseeded._cell
    with pytest.raises(NotSeededError):
        unseeded.readinto(bytearray(1))
    assert [before] == unseeded._cell
    assert 0 == unseeded.requests


def test_edge_contract_shared_generator_fills_nothing_into_nothing(python_bench: Bench) -> None:
    """An empty buffer changes nothing."""
    shared = python_bench.fortuna._life.generator
    twin = Bench("python").boot()
    assert 0 == shared.readinto(bytearray(0))
    assert twin.fortuna.random_bytes(16) == python_bench.fortuna.random_bytes(16)
