"""Both implementations of `fortuna.Random`, and generators for them that give known bytes and count what is asked."""

from __future__ import annotations

import importlib.util
import inspect
import random
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

import fortuna

from .edge_doubles import stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

#: What each number asks of its generator, on both paths.
DRAWN_SIZE: Final = 32


def load_without_extension(file: str, name: str) -> ModuleType:
    """Return a second copy of a module, under a *name* of its own, as where the C extension is not installed."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "fortuna.generators._native", None)
        spec.loader.exec_module(module)
    return module


PYTHON_RANDOM: Final[type[random.Random]] = load_without_extension(
    inspect.getfile(fortuna.Random), "fortuna._random_in_python"
).Random
#: Path of the requests -> the class with its primitives in that language.
KINDS: Final[dict[str, type[random.Random]]] = {"python": PYTHON_RANDOM, "native": fortuna.Random}


class Script:
    """A generator that gives known bytes, each answer filled up to what is asked, and remembers how many were."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []

    def random_bytes(self, n: int) -> bytes:
        """Return the next answer."""
        self.asked.append(n)
        begin = self.answers.pop(0) if self.answers else b""
        assert len(begin) <= n
        return begin + stream(f"random/{len(self.asked)}", n - len(begin))


class Counted:
    """A generator that passes requests on, and remembers how many bytes were asked for."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator
        self.asked: list[int] = []

    def random_bytes(self, n: int) -> bytes:
        """Pass a request on."""
        self.asked.append(n)
        given: bytes = self.generator.random_bytes(n)
        return given


def on(kind: type[random.Random], generator: Any) -> random.Random:
    """Return an instance that draws from *generator* instead of the process's."""

    class Bound(kind):  # type: ignore[misc, valid-type]
        def _generator(self) -> Any:
            return generator

    return Bound()


def shuffled(instance: random.Random, size: int = 1000) -> list[int]:
    """Return a shuffled list."""
    items = list(range(size))
    instance.shuffle(items)
    return items


#: Each public method that gives numbers, with arguments for which two equal results are no chance.
CALLS: Final[dict[str, Callable[[Any], object]]] = {
    "random": lambda r: r.random(),
    "getrandbits": lambda r: r.getrandbits(64),
    "randbytes": lambda r: r.randbytes(16),
    "randrange": lambda r: r.randrange(2**60),
    "randint": lambda r: r.randint(1, 2**60),
    "choice": lambda r: r.choice(range(2**60)),
    "choices": lambda r: r.choices(range(2**60)),
    "sample": lambda r: r.sample(range(2**60), 3),
    "shuffle": shuffled,
    "uniform": lambda r: r.uniform(0, 1),
    "triangular": lambda r: r.triangular(),
    "betavariate": lambda r: r.betavariate(2, 3),
    "expovariate": lambda r: r.expovariate(1.5),
    "gammavariate": lambda r: r.gammavariate(2, 3),
    "gauss": lambda r: r.gauss(0, 1),
    "lognormvariate": lambda r: r.lognormvariate(0, 1),
    "normalvariate": lambda r: r.normalvariate(0, 1),
    "vonmisesvariate": lambda r: r.vonmisesvariate(1, 2),
    "paretovariate": lambda r: r.paretovariate(2),
    "weibullvariate": lambda r: r.weibullvariate(2, 3),
    "binomialvariate": lambda r: r.binomialvariate(2**50, 0.3),
}
#: Those that this Python has.
METHODS: Final = {name: call for name, call in CALLS.items() if hasattr(random.Random, name)}
