"""Abuse: whatever the extension is handed, it raises and goes on with its state as it was; nothing crashes or hangs."""

from __future__ import annotations

import gc
import threading
import weakref
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fortuna.errors import FortunaError, NotSeededError, ProviderUnavailableError
from fortuna.generators import _native
from fortuna.generators._native import Generator, Keystream
from fortuna.native import NativeFortuna
from fortuna.rng import Fortuna

from .native_support import BEST, HANG_SECONDS, KEY, Cell, Stand, key_of, lines_of, native_generator, run_script

if TYPE_CHECKING:
    from collections.abc import Callable

ERRORS = (FortunaError, TypeError, ValueError, OverflowError, BufferError, MemoryError, RuntimeError, AttributeError)
ANY: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 40),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["chacha20", "aes256-icm", "portable", "avx2", "aesni", "coarse", "fine", "chacha20\0"]),
    st.binary(max_size=40),
    st.sampled_from([bytes(16), bytes(32)]),
    st.builds(bytearray, st.integers(0, 40)),
    st.builds(lambda n: memoryview(bytearray(2 * n))[::2], st.integers(0, 20)),
    st.builds(lambda n: array("d", [0.0] * n), st.integers(0, 5)),
)
METHODS = (
    "random_bytes", "readinto", "_begin_life", "_export", "_install", "_arm", "_disarm", "_wipe", "_load", "_report",
    "__init__", "__repr__", "__reduce__", "__sizeof__",
)  # fmt: skip


@given(calls=st.lists(st.tuples(st.sampled_from(METHODS), st.lists(ANY, max_size=4)), max_size=12))
@settings(deadline=None, max_examples=300)
def test_any_calls_of_a_generator(calls: list[tuple[str, list[Any]]]) -> None:
    """Any methods with any arguments, without __init__ too, raise or return, and the object can be dropped."""
    for made in (Generator.__new__(Generator), Generator(BEST[0][0], BEST[0][2])):
        for name, arguments in calls:
            with suppress(*ERRORS, ProviderUnavailableError):
                getattr(made, name)(*arguments)


@given(
    makings=st.lists(ANY, max_size=3),
    calls=st.lists(st.tuples(st.sampled_from(["set_key", "fill", "wipe"]), st.lists(ANY, max_size=3)), max_size=8),
)
@settings(deadline=None, max_examples=200)
def test_any_calls_of_a_keystream(makings: list[Any], calls: list[tuple[str, list[Any]]]) -> None:
    """Any construction and any calls of a keystream raise or return."""
    with pytest.raises((*ERRORS, ImportError)):
        Keystream(*makings, None)  # type: ignore[call-arg]
    made = Keystream(BEST[0][0], BEST[0][2])
    for name, arguments in calls:
        with suppress(*ERRORS):
            getattr(made, name)(*arguments)


@pytest.mark.parametrize("function", ["kernels", "self_test", "cpu_features"])
@given(arguments=st.lists(ANY, max_size=3))
@settings(deadline=None, max_examples=100)
def test_any_calls_of_functions(function: str, arguments: list[Any]) -> None:
    """The module's functions raise or return, whatever they get."""
    with suppress(*ERRORS, ProviderUnavailableError):
        getattr(_native, function)(*arguments)


def test_request_rule_without_a_truth_value(best: Cell) -> None:
    """A fourth argument that is neither true nor false is refused with its own error; one that is true is taken."""

    class Neither:
        def __bool__(self) -> bool:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Generator(best[0], best[2], None, Neither())  # type: ignore[arg-type]
    outputs = []
    for rule in (False, True):
        made = Generator(best[0], best[2], None, rule)
        made._load(KEY, (1).to_bytes(16, "little"))
        outputs.append(made.random_bytes(32))
    assert 2 == len(set(outputs))


def test_without_init() -> None:
    """An instance without __init__ gives no byte and no crash; a live one without its own neither."""
    bare = Generator.__new__(Generator)
    for call in (lambda: bare.random_bytes(1), lambda: bare.readinto(bytearray(3))):
        with pytest.raises(RuntimeError, match="__init__ was not called"):
            call()
    assert not bare._report()[0]
    live = NativeFortuna.__new__(NativeFortuna)  # type: ignore[call-arg]
    with pytest.raises(RuntimeError, match="__init__ was not called"):
        live.random_bytes(1)
    assert isinstance(live, Fortuna)


@pytest.mark.parametrize("step", [-1, 1])
def test_buffers_of_another_size(best: Cell, step: int) -> None:
    """A key that is not of 32 bytes and a counter that is not of 16 are refused with both sizes, and are let go of."""
    generator, keystream = native_generator(best, key=KEY, counter=9), Keystream(best[0], best[2])
    key, counter = bytearray(32 + step), bytearray(16 + step)
    good_key, good_counter = bytearray(32), bytearray(16)
    before = generator._report()
    of_key: list[Callable[[], object]] = [
        lambda: generator._export(key),
        lambda: generator._install(1, 0, key),
        lambda: generator._load(key, good_counter),
        lambda: keystream.set_key(key),
    ]
    of_counter: list[Callable[[], object]] = [
        lambda: generator._load(good_key, counter),
        lambda: keystream.fill(counter, bytearray(1)),
    ]
    for call in of_key:
        with pytest.raises(ValueError, match=f"^key: got {32 + step} bytes, need exactly 32 bytes$"):
            call()
    for call in of_counter:
        with pytest.raises(ValueError, match=f"^counter: got {16 + step} bytes, need exactly 16 bytes$"):
            call()
    assert before == generator._report()
    assert KEY == key_of(generator)
    for buffer in (key, counter, good_key, good_counter):
        buffer.append(0)  # nobody holds it


@pytest.mark.parametrize("arguments", [(), ("chacha20",), ("chacha20", "portable", "x"), (1, 2), ("chacha20", b"x")])
def test_keystream_arguments(arguments: tuple[Any, ...]) -> None:
    """A keystream takes two strings."""
    with pytest.raises(TypeError):
        Keystream(*arguments)


@pytest.mark.parametrize(
    "names", [("chacha20", "vaes"), ("aes256-icm", "portable"), ("", ""), ("chacha20", ""), ("x" * 10_000, "avx2")]
)
def test_unknown_kernels(names: tuple[str, str]) -> None:
    """A kernel that the cipher does not have is a ProviderUnavailableError for every door."""
    for door in (Keystream, Generator, _native.self_test):
        with pytest.raises(ProviderUnavailableError, match="there is no"):
            door(*names)


def test_second_init(best: Cell) -> None:
    """Calling __init__ again, with another cipher or a bad one, leaves an object that works and repeats nothing."""
    generator = native_generator(best, key=KEY, counter=7)
    first = generator.random_bytes(16)
    for _ in range(3):
        Generator.__init__(generator, "chacha8", "portable")
        second = generator.random_bytes(16)
        with pytest.raises(ProviderUnavailableError):
            Generator.__init__(generator, "chacha8", "none")
        Generator.__init__(generator, best[0], best[2], lambda: 5)
        Generator.__init__(generator, best[0], best[2])
        assert first != second != generator.random_bytes(16)


def test_types_are_closed() -> None:
    """The types cannot be changed, and those not made for it cannot be derived from."""
    for kind in (Generator, Keystream, _native.FirstCall):
        with pytest.raises(TypeError):
            kind.random_bytes = None  # type: ignore[union-attr,method-assign]
        with pytest.raises(TypeError):
            del kind.__doc__
    for kind in (Keystream, _native.FirstCall):
        with pytest.raises(TypeError):
            type("Derived", (kind,), {})


@pytest.mark.parametrize("size", [1, 16384])
def test_live_page_without_attend(best: Cell, size: int) -> None:
    """A page with a clock and no ``_attend`` raises AttributeError, and gives nothing."""
    page = Generator(best[0], best[2], lambda: 1)
    page._load(KEY, bytes(15) + b"\1")
    out = bytearray(b"\x21" * size)
    with pytest.raises(AttributeError, match="_attend"):
        page.readinto(out)
    assert bytes(size) == bytes(out)


def test_attend_that_is_deleted(best: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its ``_attend`` a live generator serves until a pull is due, then raises, and serves again with it."""
    stand = Stand(best)
    stand.fortuna.random_bytes(1)
    with monkeypatch.context() as patch:
        patch.delattr(NativeFortuna, "_attend")
        assert 5 == len(stand.fortuna.random_bytes(5))
        stand.pass_interval()
        with pytest.raises(AttributeError):
            stand.fortuna.random_bytes(5)
    assert 5 == len(stand.fortuna.random_bytes(5))


@pytest.mark.parametrize("answer", ["None", "True", "1 // 0"])
def test_attend_that_does_not_arm(answer: str) -> None:
    """An ``_attend`` that returns without arming never gives a byte; signals, at least, end the request."""
    body = f"""
import os, signal, sys
from fortuna.generators._native import Generator
class Idle(Generator):
    calls = 0
    def _attend(self):
        Idle.calls += 1
        if Idle.calls == 10_000:
            os.kill(os.getpid(), signal.SIGINT)
        return {answer}
idle = Idle("chacha20", "portable", lambda: 1)
idle._load(bytes(32), bytes(15) + b"x")
out = bytearray(b"x" * 40)
try:
    idle.readinto(out)
    print("served")
except (KeyboardInterrupt, ZeroDivisionError, RuntimeError) as error:
    print("refused", out.count(0))
"""
    assert ["refused 40"] == lines_of(run_script(body, timeout=HANG_SECONDS))


def test_attend_that_closes_arms_or_wipes(best: Cell) -> None:
    """An ``_attend`` that arms without a seed, arms the past, or wipes, is asked again or refused; no byte of zeros."""

    class Page(Generator):
        def __init__(self, acts: list[Callable[[Page], object]]) -> None:
            super().__init__(best[0], best[2], lambda: 100)
            self._begin_life(1)
            self.acts = acts

        def _attend(self) -> None:
            if not self.acts:
                raise NotSeededError("nothing left to do")
            self.acts.pop(0)(self)

    seed: Callable[[Page], object] = lambda page: page._load(KEY, bytes(15) + b"\1")  # noqa: E731
    for acts in (
        [lambda page: page._arm(1, 1000, 0, 0)],
        [lambda page: page._arm(2, 1000, 0, 0), seed],
        [seed, lambda page: page._wipe(1), lambda page: page._arm(1, 1000, 0, 0)],
        [seed, lambda page: page._arm(1, 1000, 0, 0) or page._disarm()],
    ):
        with pytest.raises(NotSeededError, match="nothing left"):
            Page(list(acts)).random_bytes(8)
    served = Page([seed, lambda page: page._arm(1, 50, 0, 0)])
    assert 8 == len(served.random_bytes(8))


def test_buffer_that_shrinks_is_held(best: Cell) -> None:
    """A bytearray that is being filled cannot be resized, from ``_attend`` or from another thread."""
    stand = Stand(best)
    out = bytearray(64)
    seen: list[object] = []

    def shrink() -> None:
        try:
            out.clear()
        except BufferError as error:
            seen.append(error)

    stand.source.before_harvest = shrink
    stand.pass_interval()
    assert 64 == stand.fortuna.readinto(out)
    assert 1 == len(seen)
    large = bytearray(8 << 20)
    over = threading.Event()

    def keep_shrinking() -> None:
        while not over.is_set():
            try:
                large.clear()
            except BufferError as error:
                seen.append(error)

    thread = threading.Thread(target=keep_shrinking)
    stand.source.before_harvest = thread.start
    stand.pass_interval()
    assert 8 << 20 == stand.fortuna.readinto(large)
    over.set()
    thread.join()


def test_dropped_within_its_own_request(best: Cell) -> None:
    """A live generator whose last reference goes while it attends to a request lives until the request ends."""
    stands = [Stand(best)]

    def forget() -> None:
        stands.clear()
        gc.collect()

    live = weakref.ref(stands[0].fortuna)
    stands[0].pass_interval()
    source = stands[0].source
    method = stands[0].fortuna.random_bytes
    source.before_harvest = forget
    assert 16 == len(method(16))
    assert [] == stands
    del method
    gc.collect()
    assert live() is None


def test_cycles_are_collected(best: Cell) -> None:
    """Generators in cycles, through their clock or their own attributes, are collected."""

    class Clock:
        page: Any = None

        def __call__(self) -> int:
            return 1

    class Derived(Generator):
        pass

    clock = Clock()
    clock.page = Derived(best[0], best[2], clock)
    seen = [weakref.ref(clock), weakref.ref(clock.page)]
    function = _native.FirstCall(lambda: None, Clock)
    function_cell = [function]
    function_cell.append(function_cell)  # type: ignore[arg-type]
    del clock, function, function_cell
    gc.collect()
    assert [None, None] == [reference() for reference in seen]


def test_wiped_while_another_thread_fills(best: Cell) -> None:
    """close() during another thread's large request: that one ends, with its bytes or with ClosedError."""
    for _ in range(5):
        stand = Stand(best)
        stand.fortuna.random_bytes(1)
        results: list[object] = []

        def draw(stand: Stand = stand, results: list[object] = results) -> None:
            try:
                for _ in range(50):
                    results.append(len(stand.fortuna.random_bytes(3 << 20)))
            except FortunaError as error:
                results.append(type(error).__name__)

        threads = [threading.Thread(target=draw) for _ in range(2)]
        for thread in threads:
            thread.start()
        stand.fortuna.close()
        for thread in threads:
            thread.join()
        assert set(results) <= {3 << 20, "ClosedError"}
        assert "ClosedError" in results
