"""`fortuna.Random`: every primitive is ours, the numbers are what the bytes make of them, and nothing is kept."""

from __future__ import annotations

import inspect
import math
import random
import threading
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fortuna
from fortuna.errors import ClosedError, ParameterError

from .child_support import Child
from .edge_doubles import Bench, lines_of, run_script
from .edge_paths import WHY_NO_NATIVE, needs_native
from .random_doubles import CALLS, DRAWN_SIZE, KINDS, METHODS, PYTHON_RANDOM, Script, on

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the standard library's class has of its own: what it gives out comes from these alone.
PRIMITIVES: Final = ("random", "getrandbits", "randbytes", "seed", "getstate", "setstate")


class Twister(random.Random):
    """What must never be heard."""


def test_edge_random_paths_are_two(kind: type[random.Random]) -> None:
    """The two classes of these tests really have their primitives in different languages."""
    native = inspect.isbuiltin(kind().random)
    assert native == (kind is fortuna.Random and not WHY_NO_NATIVE)
    assert not inspect.isbuiltin(PYTHON_RANDOM().random)


def test_edge_random_overrides_every_primitive(kind: type[random.Random]) -> None:
    """What the standard class defines in C, and what keeps state, is found in ours before it."""
    before = kind.__mro__[: kind.__mro__.index(random.Random)]
    ours = set().union(*(vars(one) for one in before))
    primitives = {name for name in vars(random.Random.__mro__[1]) if not name.startswith("__")}
    assert {"random", "getrandbits", "seed", "getstate", "setstate"} <= primitives
    assert primitives | set(PRIMITIVES) | {"gauss", "_randbelow"} <= ours


def test_edge_random_methods_of_the_standard_class(kind: type[random.Random]) -> None:
    """Each public method of the standard class is there and takes the same arguments by the same names."""
    for name, method in inspect.getmembers(random.SystemRandom, callable):
        if name.startswith("_"):
            continue
        mine = getattr(kind, name)
        # `random` has none, the state's two take whatever is refused, and `gauss` has defaults on every Python.
        if inspect.isfunction(method) and name not in ("random", "getstate", "setstate", "gauss"):
            assert list(inspect.signature(method).parameters) == list(inspect.signature(mine).parameters), name
    assert ["self", "mu", "sigma"] == list(inspect.signature(kind.gauss).parameters)


def test_edge_random_never_serves_the_twister(kind: type[random.Random]) -> None:
    """With the hidden twister seeded to 1, no public method gives what random.Random(1) does, nor twice the same."""
    public = {name for name, _ in inspect.getmembers(random.Random, callable) if not name.startswith("_")}
    assert public - {"seed", "getstate", "setstate"} == METHODS.keys()
    for name in METHODS:
        # One method at a time, each from the twister's start.
        instance = kind()
        random.Random.__mro__[1].seed(instance, 1)  # type: ignore[attr-defined]
        mine = CALLS[name](instance)
        assert mine != CALLS[name](Twister(1)), name
        assert mine != CALLS[name](kind()), name


@given(answer=st.binary(min_size=DRAWN_SIZE, max_size=DRAWN_SIZE))
def test_edge_random_is_53_bits_of_seven_bytes(answer: bytes) -> None:
    """A float is the number that SystemRandom makes of the first seven bytes, on both paths."""
    expected = (int.from_bytes(answer[:7], "big") >> 3) * 2.0**-53
    for kind in KINDS.values():
        script = Script(answer)
        assert expected == on(kind, script).random()
        assert [DRAWN_SIZE] == script.asked
        assert 0.0 <= expected < 1.0


def test_edge_random_largest_and_smallest(kind: type[random.Random]) -> None:
    """All bits 0 give 0.0, all bits 1 the largest double below 1."""
    assert 0.0 == on(kind, Script(bytes(7))).random()
    assert 1 - 2.0**-53 == on(kind, Script(b"\xff" * 7)).random()


@given(k=st.integers(0, 300), data=st.data())
def test_edge_random_getrandbits(k: int, data: st.DataObject) -> None:
    """So many bits of as few bytes as hold them, as SystemRandom takes them, on both paths; none for no bits."""
    size = (k + 7) // 8
    drawn = 0 if k == 0 else DRAWN_SIZE if k <= 64 else size
    answer = data.draw(st.binary(min_size=size, max_size=drawn))
    for kind in KINDS.values():
        script = Script(answer)
        assert int.from_bytes(answer[:size], "big") >> (8 * size - k) == on(kind, script).getrandbits(k)
        assert [drawn] * (k > 0) == script.asked


@given(n=st.integers(1, 2**32 - 1), data=st.data())
def test_edge_random_below(n: int, data: st.DataObject) -> None:
    """An integer below a limit is what the definition gives from the same bytes, on both paths."""
    answers = data.draw(st.lists(st.binary(min_size=4, max_size=4), min_size=1, max_size=3))
    results = []
    for kind in KINDS.values():
        script = Script(*answers)
        results.append((on(kind, script)._randbelow(n), script.asked))  # type: ignore[attr-defined]
        assert 0 <= results[-1][0] < n
    assert results[0] == results[1]
    products = [int.from_bytes(answer, "big") * n for answer in answers]
    taken = [product >> 32 for product in products if product % 2**32 >= 2**32 % n]
    assert taken[:1] in ([], [results[0][0]])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 2**31, 2**31 + 1, 2**32 - 1])
def test_edge_random_below_is_exactly_uniform(n: int, kind: type[random.Random]) -> None:
    """The least of the 2**32 numbers that gives a result is accepted exactly if all results have as many as others."""
    excess = 2**32 % n
    for result in {0, n // 2, n - 1}:
        # The numbers x with x * n >> 32 == result are consecutive; the first one's lower half decides.
        first = -(-(result << 32) // n)
        last = -(-((result + 1) << 32) // n) - 1
        is_taken = (first * n) % 2**32 >= excess
        script = Script(*(x.to_bytes(4, "big") for x in (first, last)))
        assert result == on(kind, script)._randbelow(n)  # type: ignore[attr-defined]
        assert [DRAWN_SIZE] * (1 if is_taken else 2) == script.asked
        assert 2**32 // n == last - first + is_taken


@pytest.mark.parametrize("n", [2**32, 2**64 + 1, 10**100])
def test_edge_random_below_large_limits(n: int, kind: type[random.Random]) -> None:
    """Limits of more than 32 bits go the standard library's way, on our bits."""
    for _ in range(20):
        assert 0 <= kind()._randbelow(n) < n  # type: ignore[attr-defined]


def test_edge_random_gauss(kind: type[random.Random]) -> None:
    """A normal deviate is made from two numbers, and a pair's second half is never kept."""
    script = Script(*(byte * 7 for byte in (b"\x20", b"\x80", b"\x30", b"\x90")))
    instance = on(kind, script)
    instance.gauss(0, 1)
    assert [DRAWN_SIZE] * 2 == script.asked
    instance.gauss(mu=0.0, sigma=1.0)
    assert [DRAWN_SIZE] * 4 == script.asked
    assert instance.gauss_next is None  # type: ignore[attr-defined]


def test_edge_random_gauss_equals_the_standard_library_s(kind: type[random.Random]) -> None:
    """From the same two numbers, the first deviate is the one that the standard class gives."""

    class Theirs(random.SystemRandom):
        def random(self) -> float:
            return next(self.numbers)

        numbers: Iterator[float]

    theirs, instance = Theirs(), on(kind, Script(b"\x20" * 7, b"\x80" * 7))
    theirs.numbers = iter([on(kind, Script(b"\x20" * 7)).random(), on(kind, Script(b"\x80" * 7)).random()])
    assert math.isclose(theirs.gauss(1.0, 2.0), instance.gauss(1.0, 2.0), rel_tol=1e-15)


def test_edge_random_is_made_of_the_generator_s_requests(path: str, kind: type[random.Random]) -> None:
    """Each number is a request of the live generator: it counts, rekeys, and ends with it."""
    bench = Bench(path).boot()
    instance = on(kind, bench.fortuna)
    before = bench.fortuna.stats()
    numbers = {instance.random() for _ in range(50)} | {instance.getrandbits(64) for _ in range(50)}
    assert 100 == len(numbers)
    after = bench.fortuna.stats()
    assert 100 == after.requests - before.requests
    assert after.reseeds == before.reseeds
    bench.pass_interval()
    instance.random()
    assert after.reseeds + 1 == bench.fortuna.stats().reseeds
    bench.fortuna.close()
    for name in ("random", "getrandbits", "randbytes", "shuffle", "gauss"):
        with pytest.raises(ClosedError):
            CALLS[name](instance)
    with pytest.raises(ClosedError):
        instance.getrandbits(80)
    with pytest.raises(ParameterError):
        instance.randbytes(-1)


def test_edge_random_asks_for_its_generator_once(kind: type[random.Random]) -> None:
    """An error of the boot reaches the caller and the next call asks again; what was got is kept in C."""
    asked = []

    class Late(kind):  # type: ignore[misc, valid-type]
        def _generator(self) -> Any:
            asked.append(1)
            if len(asked) == 1:
                raise KeyboardInterrupt
            return Script()

    instance = Late()
    assert [] == asked
    with pytest.raises(KeyboardInterrupt):
        instance.random()
    instance.random()
    assert 2 == len(asked)


def test_edge_random_children_differ(kind: type[random.Random]) -> None:
    """Parent and children of a fork get different numbers, normal deviates included."""
    instance = kind()
    instance.gauss(0, 1)

    def draw() -> bytes:
        return repr([instance.gauss(0, 1), instance.random(), instance.getrandbits(64)]).encode()

    children = [Child(draw) for _ in range(4)]
    seen = {draw(), *(child.answer() for child in children)}
    assert 5 == len(seen)


def test_edge_random_threads(kind: type[random.Random]) -> None:
    """One instance may be used by many threads: no number comes twice."""
    instance = kind()
    found: list[list[int]] = [[] for _ in range(8)]

    def draw(mine: list[int]) -> None:
        mine.extend(instance.getrandbits(64) for _ in range(500))

    threads = [threading.Thread(target=draw, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 4000 == len({number for mine in found for number in mine})


def test_edge_random_does_not_boot_before_a_number() -> None:
    """Importing, making one and naming the functions boot nothing; drawing does."""
    body = """
import fortuna, fortuna.secrets
from fortuna import Random, uuid4
r = Random(5)
fortuna.secrets.choice, fortuna.secrets.randbits
assert fortuna._process is None
r.random()
assert fortuna._process is not None
print(fortuna.stats().requests)
"""
    assert ["1"] == lines_of(run_script(body))


def test_edge_random_without_the_extension() -> None:
    """Where the extension is not in the installation, the whole module works in Python."""
    body = """
import sys
sys.modules["fortuna.generators._native"] = None
import fortuna
r = fortuna.Random()
assert type(r).__mro__[1].__name__ == "PythonPrimitives"
print(r.random() != r.random(), len(fortuna.secrets.token_bytes()), fortuna.uuid4().version)
"""
    assert ["True 32 4"] == lines_of(run_script(body))


@needs_native
def test_edge_random_type_is_collected() -> None:
    """An instance that refers to itself through its generator is collected, with its type."""
    import gc
    import weakref

    class Ring:
        owner: Any = None

        def random_bytes(self, n: int) -> bytes:
            return bytes(n)

    ring = Ring()
    instance = on(fortuna.Random, ring)
    instance.random()
    ring.owner = instance
    gone = weakref.ref(ring)
    del ring, instance
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_edge_random_huge(kind: type[random.Random]) -> None:
    """300 MiB of bytes, and 2**31 bits, whole."""
    instance = kind()
    assert 300 << 20 == len(instance.randbytes(300 << 20))
    bits = instance.getrandbits(1 << 31)
    assert (1 << 31) - 100 < bits.bit_length() <= 1 << 31
