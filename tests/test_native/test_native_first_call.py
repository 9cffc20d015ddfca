"""`fortuna.random_bytes` and `fortuna.readinto` as objects of the extension: they boot once and pass for functions."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from typing import Any

import pytest

import fortuna
from fortuna.generators import _native
from fortuna.generators._native import FirstCall

from .native_support import BEST, Stand, lines_of, run_script

NAMES = ["random_bytes", "readinto"]


def wrapped(n: int, /) -> bytes:
    """Return bytes; a stand-in for the function in Python."""
    raise AssertionError("never called: the generator's method is")


wrapped.__name__ = "random_bytes"


@pytest.mark.parametrize("name", NAMES)
def test_introspection(name: str) -> None:
    """Name, module, documentation, signature and text are those of a function of `fortuna`."""
    assert isinstance(getattr(fortuna, name), FirstCall)
    function: Any = getattr(fortuna, name)
    plain = function.__wrapped__
    assert (name, name, "fortuna") == (function.__name__, function.__qualname__, function.__module__)
    assert plain.__doc__ == function.__doc__ == inspect.getdoc(function)
    assert inspect.signature(plain) == inspect.signature(function)
    assert f"<function fortuna.{name}>" == repr(function)
    assert plain is inspect.unwrap(function)
    assert callable(function)
    assert plain.__annotations__ == function.__annotations__
    assert f"`Fortuna.{name}`" in pydoc.plain(pydoc.render_doc(function))
    with pytest.raises(AttributeError):
        _ = function.nonsense
    with pytest.raises(AttributeError):
        function.anything = 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_by_name(name: str, protocol: int) -> None:
    """Pickling and copying give the same object back, as for any function."""
    function = getattr(fortuna, name)
    assert function is pickle.loads(pickle.dumps(function, protocol))  # noqa: S301  # our own
    assert function is copy.copy(function)
    assert function is copy.deepcopy(function)


@pytest.mark.parametrize("name", NAMES)
def test_keywords_are_refused(name: str) -> None:
    """Arguments are positional and exactly one, before the boot and after it."""
    body = f"""
import fortuna
function = fortuna.{name}
good = 4 if {name!r} == "random_bytes" else bytearray(4)
for _ in range(2):
    for arguments, keywords in (((), {{}}), ((good, good), {{}}), ((), {{"n": good}}), ((good,), {{"x": 1}})):
        try:
            function(*arguments, **keywords)
            print("served")
        except TypeError:
            pass
    function(good)
print("done")
"""
    assert ["done"] == lines_of(run_script(body))


def test_importing_does_not_boot() -> None:
    """Binding and looking at the names boots nothing and imports no kernel's provider."""
    body = """
import sys
from fortuna import random_bytes, readinto
repr(random_bytes), random_bytes.__doc__, hash(readinto)
print([name for name in ("fortuna._boot", "fortuna.rng", "fortuna.native", "Crypto") if name in sys.modules])
random_bytes(1)
print("fortuna.native" in sys.modules, "Crypto" in sys.modules)
"""
    assert ["[]", "True False"] == lines_of(run_script(body))


def test_name_bound_before_the_boot_is_direct() -> None:
    """A name bound before the boot goes straight to the generator's method afterwards: no Python frame in between."""
    body = """
import sys
from fortuna import random_bytes, readinto
random_bytes(1), readinto(bytearray(1))
calls = []
sys.setprofile(lambda frame, event, argument: calls.append(event) if event == "call" else None)
random_bytes(32)
readinto(bytearray(32))
sys.setprofile(None)
print(calls)
"""
    assert ["[]"] == lines_of(run_script(body))


def test_closed_and_forked() -> None:
    """The function follows its generator: ClosedError after close(), and other bytes in a forked child."""
    body = """
import fortuna
from child_support import Child
from fortuna import random_bytes, readinto
own = random_bytes(16)
theirs = Child(lambda: random_bytes(16)).answer()
print(len({own, theirs, random_bytes(16)}))
fortuna.default().close()
for call in (lambda: random_bytes(0), lambda: random_bytes(1), lambda: readinto(bytearray(3))):
    try:
        call()
    except fortuna.ClosedError:
        print("closed")
"""
    assert ["3", "closed", "closed", "closed"] == lines_of(run_script(body))


def test_boot_that_fails_is_tried_again() -> None:
    """While the boot raises, so does the call; once it succeeds, it is not asked again."""
    stand = Stand(BEST[0])
    answers: list[object] = [OSError("not yet"), ZeroDivisionError("no"), stand.fortuna]

    def boot() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    function = FirstCall(wrapped, boot)
    with pytest.raises(OSError, match="not yet"):
        function(4)
    with pytest.raises(ZeroDivisionError):
        function(4)
    for _ in range(3):
        assert 4 == len(function(4))
    assert [] == answers


def test_generator_of_another_kind() -> None:
    """Where the booted generator is in Python, or anything with the method, that method is called."""
    python = Stand((BEST[0][0], "reference", "python"))
    function = FirstCall(wrapped, lambda: python.fortuna)
    assert 7 == len(function(7))
    assert 1 == python.fortuna.stats().requests
    with pytest.raises(TypeError):
        function(n=7)  # type: ignore[call-arg]

    class Double:
        def random_bytes(self, *arguments: Any, **keywords: Any) -> Any:
            return arguments, keywords

    double: Any = FirstCall(wrapped, Double)
    assert ((1, 2), {"x": 3}) == double(1, 2, x=3)
    nothing = FirstCall(wrapped, lambda: None)
    with pytest.raises(AttributeError):
        nothing(1)


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2, 3), (1, 2)])
def test_bad_construction(arguments: tuple[Any, ...]) -> None:
    """Anything but a named callable and a boot is refused, and nothing crashes."""
    with pytest.raises((TypeError, AttributeError)):
        FirstCall(*arguments)
    with pytest.raises(TypeError):
        FirstCall.__new__(FirstCall)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        type("Sub", (FirstCall,), {})
    with pytest.raises(TypeError):
        _native.FirstCall.anything = 1  # type: ignore[attr-defined]
