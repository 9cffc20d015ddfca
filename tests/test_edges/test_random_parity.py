"""`fortuna.Random` in Python and in C: of the same generator, the same numbers, and the same state afterwards.

What draws and what is drawn from are each there in both languages, so there are four ways to a number.
"""

from __future__ import annotations

import inspect
import weakref
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fortuna
from fortuna.testing import DeterministicFortuna

from .edge_doubles import Bench
from .edge_paths import needs_native
from .random_doubles import CALLS, DRAWN_SIZE, KINDS, METHODS, Counted, Script, on, shuffled

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

#: A step of a sequence: the name of a method, and its argument.
Step = tuple[str, Any]
#: Limits of all ways to an integer below one, crowded where one way ends.
LIMITS: Final = st.one_of(
    st.integers(1, 2**32 - 1),
    st.integers(2**32 - 3, 2**32 + 3),
    st.integers(2**63 - 3, 2**64 + 3),
    st.integers(1, 10**60),
)
STEPS: Final = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(sorted(METHODS)), st.none()),
        st.tuples(st.just("getrandbits"), st.one_of(st.integers(0, 72), st.integers(0, 1000))),
        st.tuples(st.just("randbytes"), st.integers(0, 200)),
        st.tuples(st.just("_randbelow"), LIMITS),
        st.tuples(st.just("randrange"), LIMITS),
        st.tuples(st.just("shuffle"), st.integers(0, 20)),
    ),
    max_size=30,
)


def take(instance: random.Random, step: Step) -> object:
    """Make one step, and return what it gives."""
    name, argument = step
    if argument is None:
        return CALLS[name](instance)
    return shuffled(instance, argument) if name == "shuffle" else getattr(instance, name)(argument)


def assert_differ() -> None:
    """Fail where a comparison of the two paths would be one of a path with itself."""
    assert inspect.isbuiltin(KINDS["native"]().random)
    assert not inspect.isbuiltin(KINDS["python"]().random)


@needs_native
@settings(deadline=None)
@given(steps=STEPS)
def test_edge_random_parity_of_numbers_and_requests(steps: list[Step]) -> None:
    """Any sequence gives the same numbers by the same requests of equal generators, and leaves them equal."""
    assert_differ()
    counted = {path: Counted(DeterministicFortuna(b"parity")) for path in KINDS}
    instances = {path: on(kind, counted[path]) for path, kind in KINDS.items()}
    for step in steps:
        python, native = (take(instance, step) for instance in instances.values())
        assert python == native
        assert counted["python"].asked == counted["native"].asked
    assert counted["python"].random_bytes(48) == counted["native"].random_bytes(48)


@needs_native
@settings(deadline=None, max_examples=25)
@given(steps=STEPS)
@pytest.mark.parametrize("construction", ["fsk2010", "fast-key-erasure"])
@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_edge_random_parity_of_live_generators(cipher: str, construction: str, steps: list[Step]) -> None:
    """The same on live generators, which C draws from without a call: all four ways give and leave the same."""
    assert_differ()
    benches = [Bench(path, cipher=cipher, construction=construction).boot() for path in KINDS for _ in KINDS]
    instances = [on(kind, bench.fortuna) for kind, bench in zip([*KINDS.values()] * 2, benches, strict=True)]
    assert ["Fortuna"] * 2 + ["NativeFortuna"] * 2 == [type(bench.fortuna).__name__ for bench in benches]
    for step in steps:
        first, *others = (take(instance, step) for instance in instances)
        assert [first] * 3 == others
    stats = [bench.fortuna.stats() for bench in benches]
    assert 1 == len({(one.requests, one.bytes_given) for one in stats})
    assert 1 == len({bench.fortuna.random_bytes(48) for bench in benches})


@pytest.mark.parametrize(
    ("call", "sizes"),
    [
        (lambda r: r.random(), [DRAWN_SIZE]),
        (lambda r: r.getrandbits(0), []),
        (lambda r: r.getrandbits(1), [DRAWN_SIZE]),
        (lambda r: r.getrandbits(64), [DRAWN_SIZE]),
        (lambda r: r.getrandbits(65), [9]),
        (lambda r: r.getrandbits(256), [32]),
        (lambda r: r.getrandbits(1000), [125]),
        (lambda r: r.randbytes(0), [0]),
        (lambda r: r.randbytes(7), [7]),
        (lambda r: r._randbelow(1), [DRAWN_SIZE]),
        (lambda r: r._randbelow(2**31), [DRAWN_SIZE]),
        (lambda r: r.gauss(), [DRAWN_SIZE] * 2),
        (lambda r: shuffled(r, 5), [DRAWN_SIZE] * 4),
    ],
)
def test_edge_random_sizes_of_requests(
    call: Callable[[Any], object], sizes: list[int], kind: type[random.Random]
) -> None:
    """A number is one request of one size, whatever it is; of more than 64 bits, and of bytes, so many as it has."""
    script = Script()
    call(on(kind, script))
    assert sizes == script.asked


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.random(),
        lambda r: r.getrandbits(1),
        lambda r: r.getrandbits(64),
        lambda r: r.getrandbits(100),
        lambda r: r._randbelow(5),
        lambda r: r.gauss(),
    ],
)
@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda n: b"", ValueError, "got 0 bytes"),
        (lambda n: bytes(n - 1), ValueError, "need exactly"),
        (lambda n: bytes(n + 1), ValueError, "need exactly"),
        (bytearray, TypeError, "got a bytearray"),
        (lambda n: memoryview(bytes(n)), TypeError, "got a memoryview"),
        (lambda n: "x" * n, TypeError, "got a str"),
        (lambda n: None, TypeError, "got a NoneType"),
    ],
)
def test_edge_random_looks_at_a_foreign_generator_s_answers(
    call: Callable[[Any], object],
    make: Callable[[int], object],
    error: type[Exception],
    match: str,
    kind: type[random.Random],
) -> None:
    """What a subclass's generator returns is used only if it is bytes, so many as were asked for."""

    class Wrong:
        def random_bytes(self, n: int) -> Any:
            return make(n)

    with pytest.raises(error, match=match):
        call(on(kind, Wrong()))


def test_edge_random_foreign_generator_s_errors_pass(kind: type[random.Random]) -> None:
    """What the generator raises reaches the caller, and the next call draws again."""

    class Late(Script):
        def random_bytes(self, n: int) -> bytes:
            if not self.asked:
                self.asked.append(0)
                raise KeyboardInterrupt
            return super().random_bytes(n)

    for name in ("random", "getrandbits", "_randbelow"):
        instance = on(kind, Late())
        arguments = () if name == "random" else (80,)
        with pytest.raises(KeyboardInterrupt):
            getattr(instance, name)(*arguments)
        getattr(instance, name)(*arguments)


@needs_native
@pytest.mark.parametrize("name", ["random", "getrandbits", "randbytes", "_randbelow"])
def test_edge_random_keeps_the_generator_that_was_there_first(name: str) -> None:
    """A draw that comes between a first one's look for a generator and its answer settles which it is, for both."""
    found = {"inner": Script(), "outer": Script()}
    arguments = () if name == "random" else (80,)

    class Interrupted(fortuna.Random):
        looks = 0

        def _generator(self) -> Any:
            self.looks += 1
            if self.looks == 1:
                getattr(self, name)(*arguments)
                return found["outer"]
            return found["inner"]

    instance = Interrupted()
    getattr(instance, name)(*arguments)
    getattr(instance, name)(*arguments)
    assert 2 == instance.looks
    assert {"inner": 3, "outer": 0} == {which: len(one.asked) for which, one in found.items()}
    # It is kept for whoever is drawing from it, and the other is let go.
    left = {which: weakref.ref(one) for which, one in found.items()}
    found.clear()
    assert left["inner"]() is not None
    assert left["outer"]() is None
