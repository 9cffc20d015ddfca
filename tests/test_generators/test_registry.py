"""The door to an instance: names, the order of ``auto``, missing libraries, and the table of what there is."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fortuna.generators as package
from fortuna.errors import FortunaError, ParameterError, ProviderUnavailableError, SelfTestError
from fortuna.generators import Availability, available, create, registry
from fortuna.generators.providers.reference_chacha import ReferenceChaCha20

from .keystream_support import CELLS, KEY, Cell, stream


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


class SecondChaCha20(ReferenceChaCha20):
    """A provider that works, after another."""

    __slots__ = ()
    provider = "second"


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


#: Whether the C extension is in this installation.
HAS_NATIVE = any(provider == "native" for _, provider, _ in CELLS)
HAS_CRYPTOGRAPHY = any(provider == "openssl" for _, provider, _ in CELLS)
LIBRARY = ("aes256-icm", "chacha20", "xchacha20")


def test_create_gives_what_was_asked(cell: Cell) -> None:
    """A forced provider and kernel give the class of the table, and the instance says so."""
    made = create(*cell)
    assert registry.FACTORIES[cell[:2]][1] == type(made).__name__
    assert cell == (made.name, made.provider, made.kernel)
    assert create(*cell) is not made


@pytest.mark.parametrize("name", registry.GENERATORS)
def test_auto_prefers_the_first_cell(name: str) -> None:
    """``auto``, also by default, gives the best kernel of the first provider, and never the slow oracle."""
    first = next((cell for cell in CELLS if cell[0] == name and cell[1] != "reference"), None)
    for arguments in ((name,), (name, "auto"), (name, "auto", "auto")):
        if first is None:
            with pytest.raises(ProviderUnavailableError, match="the slow oracle"):
                create(*arguments)
        else:
            made = create(*arguments)
            assert first == (made.name, made.provider, made.kernel)
    assert "reference" not in registry.AUTO_ORDER
    assert ("native", "openssl", "pycryptodome") == registry.AUTO_ORDER


def test_forced_kernel_under_auto(cell: Cell) -> None:
    """``auto`` with a named kernel gives the first provider that has it, and no other kernel."""
    if cell[1] == "reference":
        with pytest.raises(ProviderUnavailableError, match=f"no provider runs '{cell[0]}' here"):
            create(cell[0], "auto", cell[2])
    else:
        made = create(cell[0], "auto", cell[2])
        assert next(c for c in CELLS if (c[0], c[2]) == (cell[0], cell[2])) == (made.name, made.provider, made.kernel)


@pytest.mark.parametrize("provider", ["auto", *registry.PROVIDERS])
@pytest.mark.parametrize("kernel", ["", "sse9", "AVX2", "auto ", "portable\0"])
def test_unknown_kernel(provider: str, kernel: str) -> None:
    """A kernel that nobody has is refused with its name and with those there are; no other steps in."""
    with pytest.raises(ProviderUnavailableError, match="it has no such kernel|cannot be imported") as caught:
        create("chacha20", provider, kernel)
    if provider == "reference":
        assert f"kernel {kernel!r} of provider 'reference' for 'chacha20'" in str(caught.value)
        assert str(caught.value).endswith("there is python")


def test_a_choice_says_what_it_is(cell: Cell) -> None:
    """A choice has the attributes of the instances it makes, and its text names all three."""
    choice = registry.resolve(*cell)
    made = choice()
    assert cell == (choice.name, choice.provider, choice.kernel)
    assert (made.name, made.provider, made.kernel, made.block_size) == (*cell, choice.block_size)
    assert f"<{cell[0]} by {cell[1]}, kernel {cell[2]}>" == repr(choice)
    assert choice() is not made
    assert registry.resolve(*cell) is choice


def test_kernels_are_named(cell: Cell) -> None:
    """Every kernel that runs is in the table of names, which the tunable is checked against."""
    assert cell[2] in registry.KERNELS


def test_auto_skips_a_failing_provider(tables: object) -> None:
    """``auto`` goes past a wrong provider and a missing one to the first that works."""
    assert next(c for c in CELLS if c[0] == "chacha20")[1] == create("chacha20").provider


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
    """The matrix has every kernel of every provider: the first that runs is chosen, the others say why not."""
    rows = available()
    every = {(generator, provider) for generator in registry.GENERATORS for provider in registry.PROVIDERS}
    assert every == {(row.generator, row.provider) for row in rows}
    assert list(CELLS) == [(row.generator, row.provider, row.kernel) for row in rows if row.is_available]
    for name in registry.GENERATORS:
        mine = [row for row in rows if row.generator == name]
        chosen = next((row for row in mine if row.is_available and row.provider != "reference"), None)
        assert [row for row in mine if row.is_auto] == [row for row in (chosen,) if row]
        for row in mine:
            if row is chosen:
                assert "" == row.reason
            elif row.is_available and row.provider == "reference":
                assert "the slow oracle; auto never chooses it" == row.reason
            elif row.is_available:
                assert chosen is not None
                assert f"auto prefers {chosen.provider} {chosen.kernel}" == row.reason
            else:
                assert row.reason
                with pytest.raises(FortunaError):
                    create(row.generator, row.provider, row.kernel or "auto")


def test_available_tells_why_not(tables: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that cannot run stand in the matrix with their reason, and a second good provider names the first."""
    from fortuna.generators import availability

    monkeypatch.setattr(availability, "PROVIDERS", registry.PROVIDERS)
    monkeypatch.setattr(availability, "AUTO_ORDER", ("broken", "absent", "pycryptodome", "second"))
    monkeypatch.setattr(availability, "GENERATORS", ("chacha20",))
    monkeypatch.setitem(registry.FACTORIES, ("chacha20", "second"), ("broken_provider_of_a_test", "SecondChaCha20"))
    rows = {row.provider: row for row in available() if row.provider not in ("native", "openssl")}
    assert Availability("chacha20", "broken", "python", False, False, rows["broken"].reason) == rows["broken"]
    assert "known answer wrong" in rows["broken"].reason
    assert ("", False, False) == (rows["absent"].kernel, rows["absent"].is_available, rows["absent"].is_auto)
    assert "cannot be imported" in rows["absent"].reason
    assert Availability("chacha20", "pycryptodome", "library", True, True, "") == rows["pycryptodome"]
    expected = Availability("chacha20", "second", "python", True, False, "auto prefers pycryptodome library")
    assert expected == rows["second"]
    assert ["broken", "absent", "pycryptodome", "second", "reference"] == list(rows)


def test_availability_is_frozen() -> None:
    """A row of the matrix cannot be changed."""
    row = available()[0]
    with pytest.raises(AttributeError):
        row.is_auto = False  # type: ignore[misc]


ABSENT = """
import sys
sys.modules["Crypto"] = sys.modules["cryptography"] = None
sys.modules["fortuna.generators._native"] = None
from fortuna.errors import ProviderUnavailableError
from fortuna.generators import available, create
for provider in ("auto", "native", "openssl", "pycryptodome"):
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
print({row.provider for row in available() if row.is_available})
print({row.is_auto for row in available()})
"""


def test_without_extension_and_library() -> None:
    """Without both, ``auto`` and the forced providers raise with the reasons; the forced oracle goes on working."""
    run = subprocess.run([sys.executable, "-c", ABSENT], capture_output=True, text=True, check=True)
    auto, native, openssl, library, aes, chacha, providers, chosen = run.stdout.splitlines()
    assert auto.startswith("auto | no provider runs 'chacha20' here (native: provider 'native' cannot be imported: ")
    assert "pycryptodome: provider 'pycryptodome' cannot be imported: " in auto
    assert native.startswith(
        "native | provider 'native' cannot be imported: the C extension is not in this installation; "
    )
    assert "FORTUNA_NATIVE=require" in native
    assert openssl.startswith("openssl | provider 'openssl' cannot be imported: the library cryptography ")
    assert library.startswith("pycryptodome | provider 'pycryptodome' cannot be imported: ")
    assert "Crypto" in library
    assert "aes256-icm | c7b519846a11411cd6ac07cb03f801a8" == aes
    assert "chacha20 | 18b84231ade6a6d113615c61af434e27" == chacha
    assert "{'reference'}" == providers
    assert "{False}" == chosen


def test_names_are_loaded_lazily() -> None:
    """Importing the package imports no provider and no library; the door imports only what was asked for."""
    code = (
        "import sys, fortuna.generators as g; seen = lambda *names: [m for m in sys.modules for n in names if n in m];"
        "print(seen('Crypto', 'cryptography', 'providers')); g.create('chacha20', 'reference');"
        "print(seen('Crypto', 'cryptography'))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n[]\n" == run.stdout


def test_package_names() -> None:
    """The package has the names it promises, lists them, and refuses others as modules do."""
    for name in package.__all__:
        assert name in dir(package)
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = package.nonsense


def test_create_starts_without_a_key(cell: Cell) -> None:
    """An instance has no key of its own, and two of them do not share one."""
    one, other = create(*cell), create(*cell)
    one.set_key(KEY)
    assert 16 == len(stream(one, 0, 16))
    with pytest.raises(ParameterError):
        stream(other, 0, 16)


def test_tables_agree() -> None:
    """The names of generators and providers are those of the table, and each cell is there once."""
    assert {generator for generator, _, _ in CELLS} == set(registry.GENERATORS)
    absent = {name for name, here in (("native", HAS_NATIVE), ("openssl", HAS_CRYPTOGRAPHY)) if not here}
    assert {provider for _, provider, _ in CELLS} == set(registry.PROVIDERS) - absent
    assert set(registry.AUTO_ORDER) < set(registry.PROVIDERS)
    for name in registry.GENERATORS:
        assert {"native", "reference"} <= {provider for generator, provider in registry.FACTORIES if generator == name}
        for provider in ("openssl", "pycryptodome"):
            assert ((name, provider) in registry.FACTORIES) == (name in LIBRARY)
    assert issubclass(SelfTestError, FortunaError)
