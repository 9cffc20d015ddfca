"""`fortuna.Random` beside `random.SystemRandom`: ranges, limits, arguments, errors, and that it cannot be seeded."""

from __future__ import annotations

import copy
import math
import pickle
import random
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

import pytest

import fortuna
from fortuna.testing import DeterministicFortuna

from .random_doubles import CALLS, METHODS, Counted, on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Draws in which every bit varies and each of three values comes up, but for one run in 2**100.
MANY: Final = 200
#: What a seed may be; not all of it can be hashed.
SEEDS: Final = (None, 0, -1, 10**20, True, 3.14, 1 + 2j, "a", b"b", bytearray(b"c"), (), [1], {"one": 1}, {2}, object())


def all_bits_vary(draws: Sequence[int], bits: int) -> bool:
    """Return whether each of so many bits was 0 in one number and 1 in another, and no other bit was ever 1."""
    ones = zeros = 0
    for number in draws:
        ones |= number
        zeros |= ~number
    return ones == (1 << bits) - 1 == zeros & (1 << bits) - 1


def test_edge_random_each_of_53_bits_varies(kind: type[random.Random]) -> None:
    """A float has 53 bits, and uses all of them."""
    instance = kind()
    found = [instance.random() for _ in range(MANY)]
    assert all(type(one) is float and 0.0 <= one < 1.0 and (one * 2**53).is_integer() for one in found)
    assert all_bits_vary([int(one * 2**53) for one in found], 53)


@pytest.mark.parametrize(
    "k", [*range(1, 10), *range(31, 34), *range(52, 55), *range(63, 67), 119, *range(127, 130), 500]
)
def test_edge_random_each_bit_varies(k: int, kind: type[random.Random]) -> None:
    """So many bits are an int of so many, each of which varies, by getrandbits and as a limit of randrange."""
    instance = kind()
    draws: list[Callable[[], int]] = [lambda: instance.getrandbits(k), lambda: instance.randrange(2**k)]
    for draw in draws:
        found = [draw() for _ in range(MANY)]
        assert {int} == set(map(type, found))
        assert all_bits_vary(found, k)


def test_edge_random_no_bits_and_no_bytes(kind: type[random.Random]) -> None:
    """No bits are the int 0, no bytes are empty, and True counts as 1."""
    assert (0, int) == (kind().getrandbits(0), type(kind().getrandbits(0)))
    assert b"" == kind().randbytes(0)
    assert kind().getrandbits(True) in (0, 1)
    for n in (1, 2, 9, True):
        found = kind().randbytes(n)
        assert (bytes, n) == (type(found), len(found))


def test_edge_random_arguments_by_name(kind: type[random.Random]) -> None:
    """What SystemRandom takes by name is taken by name."""
    instances: list[Any] = [random.SystemRandom(), kind()]
    for instance in instances:
        assert 0 <= instance.getrandbits(k=10) < 1024
        assert 10 == len(instance.randbytes(n=10))


@pytest.mark.parametrize("exponent", [1, 2, 8, 16, 31, 32, 33, 53, 63, 64, 65, 500])
def test_edge_random_below_around_powers_of_two(exponent: int, kind: type[random.Random]) -> None:
    """Below a power of two, one less and one more, numbers are in range and fill both halves of it."""
    below = kind()._randbelow  # type: ignore[attr-defined]
    for n in (2**exponent - 1, 2**exponent, 2**exponent + 1):
        found = [below(n) for _ in range(MANY)]
        assert all(type(number) is int and 0 <= number < n for number in found)
        assert {number * 2 // n for number in found} == ({0, 1} if n > 1 else {0})


@pytest.mark.parametrize("n", [2**exponent for exponent in (1, 5, 16, 31, 32, 33, 64, 100)])
def test_edge_random_below_a_power_of_two_is_never_drawn_again(n: int, kind: type[random.Random]) -> None:
    """No limit of the quick way that divides 2**32 costs a second request; in the standard loop half the numbers do."""
    counted = Counted(DeterministicFortuna(b"powers of two"))
    instance = on(kind, counted)
    for _ in range(MANY):
        instance._randbelow(n)  # type: ignore[attr-defined]
    assert (len(counted.asked) == MANY) == (n < 2**32)


def test_edge_random_ranges(kind: type[random.Random]) -> None:
    """Each number of a short range comes up, wherever the range lies, and none that is outside."""
    draw = kind().randrange
    for start, stop in [(-2, 0), (0, 2), (-(2**60) - 2, -(2**60)), (2**60, 2**60 + 2), (2**600, 2**600 + 2)]:
        assert set(range(start, stop)) == {draw(start, stop) for _ in range(MANY)}
    for bits in (40, 80, 160, 250, 375, 550):
        start, width = draw(2**bits), 1 + draw(2**bits)
        assert all(start <= draw(start, start + width) < start + width for _ in range(20))
    assert {-3, -2} == {kind().randint(-3, -2) for _ in range(MANY)}


@pytest.mark.parametrize(
    "arguments", [(0, 10, 5), (0, 9, 5), (10, 0, -5), (9, 0, -5), (0, 2, 2), (3, -3, -4), (0, 2**70, 2**69)]
)
def test_edge_random_ranges_with_steps(arguments: tuple[int, int, int], kind: type[random.Random]) -> None:
    """With a step, the numbers are those of the range."""
    assert set(range(*arguments)) == {kind().randrange(*arguments) for _ in range(MANY)}


#: Calls that the standard class refuses.
REFUSED: Final[dict[str, Callable[[Any], object]]] = {
    "getrandbits()": lambda r: r.getrandbits(),
    "getrandbits(1, 2)": lambda r: r.getrandbits(1, 2),
    "getrandbits(n=1)": lambda r: r.getrandbits(n=1),
    "getrandbits(1, k=1)": lambda r: r.getrandbits(1, k=1),
    "getrandbits(-1)": lambda r: r.getrandbits(-1),
    "getrandbits(-(2**70))": lambda r: r.getrandbits(-(2**70)),
    "getrandbits(10.1)": lambda r: r.getrandbits(10.1),
    "getrandbits(8.0)": lambda r: r.getrandbits(8.0),
    "getrandbits(nan)": lambda r: r.getrandbits(math.nan),
    "getrandbits(inf)": lambda r: r.getrandbits(math.inf),
    "getrandbits('1')": lambda r: r.getrandbits("1"),
    "getrandbits(None)": lambda r: r.getrandbits(None),
    "getrandbits((8,))": lambda r: r.getrandbits((8,)),
    "getrandbits(2**63)": lambda r: r.getrandbits(2**63),
    "getrandbits(2**65)": lambda r: r.getrandbits(2**65),
    "getrandbits(2**66 + 8)": lambda r: r.getrandbits(2**66 + 8),
    "getrandbits(2**200)": lambda r: r.getrandbits(2**200),
    "randbytes()": lambda r: r.randbytes(),
    "randbytes(1, 2)": lambda r: r.randbytes(1, 2),
    "randbytes(k=1)": lambda r: r.randbytes(k=1),
    "randbytes(-1)": lambda r: r.randbytes(-1),
    "randbytes(1.0)": lambda r: r.randbytes(1.0),
    "randbytes(nan)": lambda r: r.randbytes(math.nan),
    "randbytes('1')": lambda r: r.randbytes("1"),
    "randbytes((8,))": lambda r: r.randbytes((8,)),
    "randbytes(2**62)": lambda r: r.randbytes(2**62),
    "random(1)": lambda r: r.random(1),
    "_randbelow(1.5)": lambda r: r._randbelow(1.5),
    "_randbelow(nan)": lambda r: r._randbelow(math.nan),
    "_randbelow('1')": lambda r: r._randbelow("1"),
    "_randbelow((5,))": lambda r: r._randbelow((5,)),
    "randrange(0)": lambda r: r.randrange(0),
    "randrange(3, 3)": lambda r: r.randrange(3, 3),
    "randrange(-721)": lambda r: r.randrange(-721),
    "randrange(0, 100, -12)": lambda r: r.randrange(0, 100, -12),
    "randrange(0, 42, 0)": lambda r: r.randrange(0, 42, 0),
    "randrange(3.14)": lambda r: r.randrange(3.14),
    "randrange('3')": lambda r: r.randrange("3"),
    "randrange(0, 2.72)": lambda r: r.randrange(0, 2.72),
    "randrange(0, '2')": lambda r: r.randrange(0, "2"),
    "randrange(2.72, 5)": lambda r: r.randrange(2.72, 5),
    "randrange(0, 42, 3.14)": lambda r: r.randrange(0, 42, 3.14),
    "randrange(1000, step=100)": lambda r: r.randrange(1000, step=100),
    "randint(2, 1)": lambda r: r.randint(2, 1),
    "choice([])": lambda r: r.choice([]),
    "choice({1})": lambda r: r.choice({1}),
    "choice(5)": lambda r: r.choice(5),
    "shuffle(tuple)": lambda r: r.shuffle((1, 2, 3)),
    "sample([1], 2)": lambda r: r.sample([1], 2),
    "sample([], -1)": lambda r: r.sample([], -1),
    "sample(dict)": lambda r: r.sample({1: 2, 3: 4}, 1),
    "sample, counts no sequence": lambda r: r.sample("abc", counts=10, k=10),
    "sample, counts negative": lambda r: r.sample("abc", counts=[-3, -7, -8], k=2),
    "sample, counts 0": lambda r: r.sample("abc", counts=[0, 0, 0], k=2),
    "sample, counts too small": lambda r: r.sample("ab", counts=[10, 10], k=21),
    "sample, counts too few": lambda r: r.sample("abc", counts=[1, 2], k=2),
    "sample, counts too many": lambda r: r.sample("abc", counts=[1, 2, 3, 4], k=2),
    "choices(2)": lambda r: r.choices(2),
    "choices(set)": lambda r: r.choices({1, 2}, k=2),
    "choices([])": lambda r: r.choices([]),
    "choices, k a float": lambda r: r.choices("ab", k=2.5),
    "choices, weights too few": lambda r: r.choices("abc", [1, 2], k=5),
    "choices, weights no sequence": lambda r: r.choices("abc", 10),
    "choices, weights no numbers": lambda r: r.choices("abc", [None] * 3),
    "choices, weights 0": lambda r: r.choices("ab", [0.0, 0.0]),
    "choices, weights negative": lambda r: r.choices("abc", [3, -5, 1]),
    "choices, weights infinite": lambda r: r.choices("ab", [0.0, math.inf]),
    "choices, weights nan": lambda r: r.choices("ab", [0.0, math.nan]),
    "choices, cum_weights too few": lambda r: r.choices("abc", cum_weights=[1, 2]),
    "choices, both weights": lambda r: r.choices("ab", [1, 2], cum_weights=[1, 3]),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange:DeprecationWarning")
def test_edge_random_refuses_what_the_standard_class_does(
    call: Callable[[Any], object], kind: type[random.Random]
) -> None:
    """What SystemRandom refuses is refused with the same built-in class of error."""
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - the class is what the next line asks for
        call(random.SystemRandom())
    with pytest.raises(theirs.type):
        call(kind())


@pytest.mark.parametrize("k", [-1.5, -math.inf])
def test_edge_random_refuses_negative_floats_as_floats(k: float, kind: type[random.Random]) -> None:
    """A float is no number of bits, negative or not, as for random.Random; SystemRandom looks at its sign first."""
    for instance in (random.Random(), kind()):  # noqa: S311 - for its errors
        with pytest.raises(TypeError):
            instance.getrandbits(k)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [2**63, 2**100])
def test_edge_random_too_many_bytes(n: int, kind: type[random.Random]) -> None:
    """More bytes than memory can hold are a MemoryError, as of fortuna.random_bytes, also where no size has so many."""
    with pytest.raises(MemoryError):
        kind().randbytes(n)


def test_edge_random_too_many_bits_draw_nothing(kind: type[random.Random]) -> None:
    """A number of bits that no bytes object holds leaves the generator as it was."""
    generator = DeterministicFortuna(b"too many")
    instance = on(kind, generator)
    for k, error in ((sys.maxsize, MemoryError), (8 * sys.maxsize + 8, OverflowError)):
        with pytest.raises(error):
            instance.getrandbits(k)
    assert DeterministicFortuna(b"too many").random_bytes(32) == generator.random_bytes(32)


def test_edge_random_choices(kind: type[random.Random]) -> None:
    """Weights are what the standard class takes; none are needed, and those of 0 never come up."""
    instance = kind()
    weights: list[list[Any]] = [[15, 10, 0], [0.5, 0.25, 0.0], [Fraction(1, 3), Fraction(2, 6), 0], [True, True, False]]
    for one in weights:
        assert {"a", "b"} == set(instance.choices("abc", one, k=MANY))
    assert {"c"} == set(instance.choices("abc", cum_weights=[0, 0, 4], k=MANY))
    assert {"a", "b", "c"} == set(instance.choices("abc", k=MANY))
    assert [] == instance.choices("abc", k=0) == instance.choices("abc", k=-1)
    # So small that a number times their sum rounds up to the sum.
    assert {1, 2} == set(instance.choices([1, 2], [1e-323, 1e-323], k=5 * MANY))


def test_edge_random_choice(kind: type[random.Random]) -> None:
    """One item is chosen of what has a length and numbered items, without asking whether it is true."""

    class Untrue(list[int]):
        def __bool__(self) -> bool:
            raise RuntimeError

    assert 50 == kind().choice([50])
    assert {25, 75} == {kind().choice([25, 75]) for _ in range(MANY)}
    assert set("ab") == {kind().choice("ab") for _ in range(MANY)}
    assert 10**30 + 5 > kind().choice(range(10**15, 10**18)) >= 10**15
    if sys.version_info >= (3, 11):
        assert 50 == kind().choice(Untrue([50]))


def test_edge_random_sample(kind: type[random.Random]) -> None:
    """A sample is so many items, none twice, of any sequence; a set is refused, or sampled where Python still does."""
    instance = kind()
    for k in range(101):
        found = instance.sample(range(100), k)
        assert (k, True) == (len(set(found)), set(found) <= set(range(100)))
    assert [] == instance.sample([], 0)
    for population in ("abcdefghij", tuple("abcdefghij"), list("abcdefghij")):
        assert set(instance.sample(population, 2)) <= set(population)
    assert set(permutations("abc", 2)) == {tuple(instance.sample("abc", 2)) for _ in range(5 * MANY)}
    if sys.version_info >= (3, 11):
        with pytest.raises(TypeError):
            instance.sample({1, 2, 3}, 2)  # type: ignore[arg-type]


def test_edge_random_sample_with_counts(kind: type[random.Random]) -> None:
    """With counts, an item may come up so often, and does where all are taken."""
    counts = {"red": 50, "green": 20, "blue": 5, "white": 0, "black": 1}
    found = Counter(kind().sample([*counts], 60, counts=[*counts.values()]))
    assert all(found[name] <= count for name, count in counts.items())
    assert 60 == found.total()
    assert Counter(counts) == Counter(kind().sample([*counts], 76, counts=[*counts.values()]))
    assert ["x"] * 8 == kind().sample(["x"], 8, counts=[10])


def test_edge_random_shuffle(kind: type[random.Random]) -> None:
    """A shuffled list has the same items, in any order."""
    instance = kind()
    for size in range(10):
        items = list(range(size))
        instance.shuffle(items)
        assert list(range(size)) == sorted(items)
    orders = set()
    for _ in range(5 * MANY):
        items = [1, 2, 3]
        instance.shuffle(items)
        orders.add(tuple(items))
    assert set(permutations((1, 2, 3))) == orders


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_edge_random_ignores_seeds(seed: Any, kind: type[random.Random]) -> None:
    """A seed of any kind is accepted, when one is made and afterwards, left as it is, and changes nothing."""
    before = copy.copy(seed)
    numbers = []
    for _ in range(2):
        instance = kind(seed)
        numbers.append(instance.random())
        calls: list[Callable[[Any], object]] = [
            lambda r: r.seed(seed),
            lambda r: r.seed(a=seed, version=1),
            lambda r: r.seed(1, 2, 3, 4),
            lambda r: r.seed(),
        ]
        for call in calls:
            assert call(instance) is None
            numbers.append(instance.random())
    numbers.append(kind(x=seed).random())
    assert len(numbers) == len(set(numbers))
    assert type(seed) is object or before == seed


@pytest.mark.parametrize("arguments", [((1, 2), {}), ((), {"seed": 1})])
def test_edge_random_refuses_other_arguments(arguments: Any, kind: type[random.Random]) -> None:
    """Making one takes what the standard class takes, and no more."""
    for one in (random.SystemRandom, kind):
        with pytest.raises(TypeError):
            one(*arguments[0], **arguments[1])


def test_edge_random_subclasses_take_arguments_of_their_own(kind: type[random.Random]) -> None:
    """A subclass's constructor may take anything."""

    class Named(kind):  # type: ignore[misc, valid-type]
        def __init__(self, name: str, *, colour: list[str]) -> None:
            super().__init__()
            self.name = name, colour

    assert ("dice", ["red"]) == Named("dice", colour=["red"]).name
    assert 0.0 <= Named("dice", colour=[]).random() < 1.0


def test_edge_random_is_neither_saved_nor_copied(kind: type[random.Random]) -> None:
    """No protocol pickles it, nothing copies it, and nothing that was saved of another is restored."""
    instance = kind()
    saved = random.Random(1).getstate()  # noqa: S311 - which nobody shall take
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(NotImplementedError):
            pickle.dumps(instance, protocol)
    refused: list[Callable[[], object]] = [
        instance.getstate,
        lambda: instance.setstate(saved),
        lambda: instance.setstate(None),  # type: ignore[arg-type]
        lambda: copy.copy(instance),
        lambda: copy.deepcopy(instance),
    ]
    for call in refused:
        with pytest.raises(NotImplementedError, match="no state of its own"):
            call()


def test_edge_random_distributions_without_spread(kind: type[random.Random]) -> None:
    """Where the parameters leave nothing to chance, a distribution gives its one value."""
    r: Any = kind()
    inf = math.inf
    for _ in range(20):
        assert 10.0 == r.uniform(10.0, 10.0) == r.triangular(10.0, 10.0) == r.gauss(10.0, 0.0)
        assert 10.0 == r.normalvariate(10.0, 0.0) == r.weibullvariate(10.0, inf)
        assert 1.0 == r.lognormvariate(0.0, 0.0) == r.paretovariate(inf)
        assert 0.0 == r.expovariate(inf) == r.lognormvariate(-inf, 0.0) == r.weibullvariate(0.0, 10.0)
        assert 3.0 == r.vonmisesvariate(3.0, inf)


def test_edge_random_every_method_gives_what_the_standard_class_gives(kind: type[random.Random]) -> None:
    """The result of each public method has the type of the standard class's."""
    for name in METHODS:
        assert type(CALLS[name](random.SystemRandom())) is type(CALLS[name](kind())), name
    assert isinstance(fortuna.Random(), random.Random)
