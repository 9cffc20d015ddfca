"""The door to an instance: names, the order of ``auto``, missing libraries, and the table of what there is."""

# ruff: noqa: SIM300 - asserts read expected == actual, a constant on the left included

from __future__ import annotations

import subprocess
import sys

import pytest

import fortuna.generators as package
from fortuna.errors import FortunaError, ParameterError, ProviderUnavailableError, SelfTestError
from fortuna.generators import Availability, available, create, registry
from fortuna.generators.providers.pycryptodome import PyCryptodomeAES256ICM, PyCryptodomeChaCha20
from fortuna.generators.providers.reference_aes import ReferenceAES256ICM
from fortuna.generators.providers.reference_chacha import ReferenceChaCha20

from .keystream_support import CELLS, KEY, stream


class BrokenChaCha20(ReferenceChaCha20):
    """A provider whose every block is zero."""

    __slots__ = ()
    provider = "broken"
    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1

    def _fill(self, counter: int, out: bytearray | memoryview) -> None:
        out[:] = bytes(len(out))


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], tuple[str, str]]:
    """Give a registry of the test's own: a copy of the table, no outcome yet, ``broken`` first in ``auto``."""
    factories = {
        ("chacha20", "broken"): ("broken_provider_of_a_test", "BrokenChaCha20"),
        ("chacha20", "absent"): ("absent_provider_of_a_test", "AbsentChaCha20"),
        **registry.FACTORIES,
    }
    monkeypatch.setitem(sys.modules, "fortuna.generators.broken_provider_of_a_test", sys.modules[__name__])
    monkeypatch.setattr(registry, "FACTORIES", factories)
    monkeypatch.setattr(registry, "PROVIDERS", ("broken", "absent", *registry.PROVIDERS))
    monkeypatch.setattr(registry, "AUTO_ORDER", ("broken", "absent", *registry.AUTO_ORDER))
    monkeypatch.setattr(registry, "_outcomes", {})
    monkeypatch.setattr(BrokenChaCha20, "made", 0)
    return factories


CLASSES = {
    ("aes256-icm", "pycryptodome"): PyCryptodomeAES256ICM,
    ("aes256-icm", "reference"): ReferenceAES256ICM,
    ("chacha20", "pycryptodome"): PyCryptodomeChaCha20,
    ("chacha20", "reference"): ReferenceChaCha20,
}


def test_create_gives_what_was_asked(cell: tuple[str, str]) -> None:
    """A forced provider gives its own class, and the instance says so."""
    made = create(*cell)
    assert CLASSES[cell] is type(made)
    assert cell == (made.name, made.provider)
    assert create(*cell) is not made


@pytest.mark.parametrize("name", registry.GENERATORS)
def test_auto_prefers_the_library(name: str) -> None:
    """``auto``, also by default, gives pycryptodome and never the slow oracle."""
    assert "pycryptodome" == create(name).provider
    assert "pycryptodome" == create(name, "auto").provider
    assert "reference" not in registry.AUTO_ORDER


def test_auto_skips_a_failing_provider(tables: object) -> None:
    """``auto`` goes past a wrong provider and a missing one to the first that works."""
    assert "pycryptodome" == create("chacha20").provider


def test_forced_broken_provider_is_refused(tables: object) -> None:
    """A forced provider whose answers are wrong raises, every time, after one self-test; no other steps in."""
    messages = set()
    for _ in range(3):
        with pytest.raises(SelfTestError, match=r"broken: chacha20 at counter 0xffffffff") as caught:
            create("chacha20", "broken")
        messages.add(str(caught.value))
    assert 1 == len(messages)
    assert 1 == BrokenChaCha20.made


def test_refusal_does_not_collect_tracebacks(tables: object) -> None:
    """Each refusal has a traceback as short as the one before."""
    lengths = set()
    for _ in range(4):
        with pytest.raises(SelfTestError) as caught:
            create("chacha20", "broken")
        lengths.add(len(caught.traceback))
    assert 1 == len(lengths)


def test_forced_missing_library(tables: object) -> None:
    """A provider whose module cannot be imported is unavailable, as an ImportError too, and says what is missing."""
    with pytest.raises(ProviderUnavailableError, match="absent_provider_of_a_test") as caught:
        create("chacha20", "absent")
    assert isinstance(caught.value, ImportError)
    assert "'absent'" in str(caught.value)


def test_forced_provider_without_the_generator(tables: object) -> None:
    """A provider that has other generators only is unavailable, and the message lists who has this one."""
    with pytest.raises(ProviderUnavailableError, match="'broken' has no generator 'aes256-icm'") as caught:
        create("aes256-icm", "broken")
    assert "pycryptodome, reference" in str(caught.value)


def test_auto_without_any(tables: dict[tuple[str, str], tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """When all fail, ``auto`` raises with the reason of each and the way out, and does not fall to the oracle."""
    monkeypatch.setattr(registry, "AUTO_ORDER", ("broken", "absent"))
    with pytest.raises(ProviderUnavailableError) as caught:
        create("chacha20")
    message = str(caught.value)
    assert "broken: broken: chacha20 at counter 0xffffffff" in message
    assert "absent: provider 'absent' cannot be imported" in message
    assert "provider 'reference'" in message


@pytest.mark.parametrize("name", ["aes256-ctr", "", "AES256-ICM", "chacha20 ", "auto"])
def test_unknown_generator(name: str) -> None:
    """An unknown generator is refused with the list of those there are."""
    with pytest.raises(ParameterError) as caught:
        create(name)
    assert repr(name) in str(caught.value)
    for known in registry.GENERATORS:
        assert known in str(caught.value)


@pytest.mark.parametrize("provider", ["openssh", "", "AUTO", "Reference", "pycryptodomex"])
def test_unknown_provider(provider: str) -> None:
    """An unknown provider is refused with the list of those there are, ``auto`` among them."""
    with pytest.raises(ParameterError) as caught:
        create("chacha20", provider)
    assert repr(provider) in str(caught.value)
    for known in ("auto", *registry.PROVIDERS):
        assert known in str(caught.value)


def test_available_rows() -> None:
    """The matrix has each generator on each provider: the library is chosen, the oracle says why not."""
    rows = available()
    assert [(g, p) for g in registry.GENERATORS for p in ("pycryptodome", "reference")] == [
        (row.generator, row.provider) for row in rows
    ]
    for row in rows:
        assert row.is_available
        assert (row.provider == "pycryptodome") == row.is_auto
        assert ("" if row.is_auto else "the slow oracle; auto never chooses it") == row.reason
        assert create(row.generator, row.provider).kernel == row.kernel


def test_available_tells_why_not(tables: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that cannot run stand in the matrix with their reason, and a second good provider names the first."""
    from fortuna.generators import availability

    class SecondChaCha20(ReferenceChaCha20):
        __slots__ = ()
        provider = "second"

    monkeypatch.setitem(registry._outcomes, ("chacha20", "second"), SecondChaCha20)
    monkeypatch.setattr(availability, "PROVIDERS", (*registry.PROVIDERS, "second"))
    monkeypatch.setattr(availability, "AUTO_ORDER", ("broken", "absent", "pycryptodome", "second"))
    monkeypatch.setattr(availability, "GENERATORS", ("chacha20",))
    broken, absent, library, second, oracle = available()
    assert ("broken", "", False, False) == (broken.provider, broken.kernel, broken.is_available, broken.is_auto)
    assert "known answer wrong" in broken.reason
    assert ("absent", False, False) == (absent.provider, absent.is_available, absent.is_auto)
    assert "cannot be imported" in absent.reason
    assert Availability("chacha20", "pycryptodome", "library", True, True, "") == library
    assert Availability("chacha20", "second", "python", True, False, "auto prefers pycryptodome") == second
    assert "reference" == oracle.provider


def test_availability_is_frozen() -> None:
    """A row of the matrix cannot be changed."""
    row = available()[0]
    with pytest.raises(AttributeError):
        row.is_auto = False  # type: ignore[misc]


ABSENT_LIBRARY = """
import sys
sys.modules["Crypto"] = None
from fortuna.errors import ProviderUnavailableError
from fortuna.generators import available, create
for provider in ("auto", "pycryptodome"):
    try:
        create("chacha20", provider)
    except ProviderUnavailableError as error:
        print(provider, "|", error)
for name in ("aes256-icm", "chacha20"):
    made = create(name, "reference")
    made.set_key(bytes(range(32)))
    out = bytearray(16)
    made.keystream_into(1, out)
    print(name, "|", out.hex())
print([(row.generator, row.provider) for row in available() if row.is_available])
print([row.is_auto for row in available()])
"""


def test_without_pycryptodome() -> None:
    """Without the library ``auto`` and the forced provider raise with the reason; the forced oracle goes on working."""
    run = subprocess.run([sys.executable, "-c", ABSENT_LIBRARY], capture_output=True, text=True, check=True)
    auto, forced, aes, chacha, rows, chosen = run.stdout.splitlines()
    assert auto.startswith("auto | no provider runs 'chacha20' here (pycryptodome: provider 'pycryptodome' cannot be")
    assert "Crypto" in auto
    assert forced.startswith("pycryptodome | provider 'pycryptodome' cannot be imported: ")
    assert "aes256-icm | c7b519846a11411cd6ac07cb03f801a8" == aes
    assert "chacha20 | 18b84231ade6a6d113615c61af434e27" == chacha
    assert "[('aes256-icm', 'reference'), ('chacha20', 'reference')]" == rows
    assert "[False, False, False, False]" == chosen


def test_names_are_loaded_lazily() -> None:
    """Importing the package imports no provider and no library; the door imports only what was asked for."""
    code = (
        "import sys, fortuna.generators as g; early = {m for m in sys.modules if 'Crypto' in m or 'providers' in m};"
        "g.create('chacha20', 'reference'); late = {m for m in sys.modules if 'Crypto' in m};"
        "print(sorted(early), sorted(late))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[] []\n" == run.stdout


def test_package_names() -> None:
    """The package has the names it promises, lists them, and refuses others as modules do."""
    for name in package.__all__:
        assert name in dir(package)
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense


def test_create_starts_without_a_key(cell: tuple[str, str]) -> None:
    """An instance has no key of its own, and two of them do not share one."""
    one, other = create(*cell), create(*cell)
    one.set_key(KEY)
    assert 16 == len(stream(one, 0, 16))
    with pytest.raises(ParameterError):
        stream(other, 0, 16)


def test_tables_agree() -> None:
    """The names of generators and providers are those of the table, and each cell is there once."""
    assert {generator for generator, _ in CELLS} == set(registry.GENERATORS)
    assert {provider for _, provider in CELLS} == set(registry.PROVIDERS)
    assert set(registry.AUTO_ORDER) < set(registry.PROVIDERS)
    assert set(CLASSES) == set(CELLS)
    assert issubclass(SelfTestError, FortunaError)
