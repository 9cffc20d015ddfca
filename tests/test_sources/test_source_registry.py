"""The registry: names to sources, what is absent and why, and plug-ins, which are checked and never trusted."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fortuna import generators
from fortuna.errors import ParameterError, ProviderUnavailableError, SourceError, TunableError
from fortuna.sources import proc, registry
from fortuna.sources.file import DeviceFile
from fortuna.sources.jitter import LibraryJitter, LoopJitter
from fortuna.sources.proc import LinuxCounters
from fortuna.sources.registry import BUILT_IN, choose, make
from fortuna.sources.third_party import HARVEST_MAX, ThirdPartySource
from fortuna.tunables import Tunables
from fortuna.tunables_file import load_tunables

from .source_doubles import GOOD_SOURCE, SteppingClock, install_source, no_system

if TYPE_CHECKING:
    from pathlib import Path

    from fortuna.typing import Source


def tunables(*sources: str, file: str = "") -> Tunables:
    """Return tunables that name *sources*, unchecked."""
    return Tunables({"entropy.sources": sources, "entropy.file": file}, {})


def chosen(*sources: str, file: str = "") -> tuple[tuple[Source, ...], dict[str, str]]:
    """Return what the registry chooses for *sources*."""
    return choose(tunables(*sources, file=file), no_system(), SteppingClock(5))


def test_registry_makes_what_is_named_in_that_order() -> None:
    """Each built-in name gives its source, in the order of the tunable, and ``os`` is the one passed in."""
    system = no_system()
    given = choose(tunables("file", "jitter", "os", file="/dev/urandom"), system, SteppingClock())
    sources, absent = given
    assert {} == absent
    assert isinstance(sources[0], DeviceFile)
    assert "/dev/urandom" == sources[0].path
    assert isinstance(sources[1], LoopJitter | LibraryJitter)
    assert system is sources[2]
    assert 3 == len(sources)


def test_registry_built_in_sources_have_numbers_of_their_own() -> None:
    """Name by name the numbers are 0, 1, 2, ..., whatever is absent here."""
    sources, absent = chosen(*BUILT_IN, file="/dev/urandom")
    found = {source.name: source.number for source in sources}
    assert found.keys() | absent.keys() == set(BUILT_IN)
    assert {name: BUILT_IN.index(name) for name in found} == found
    assert ("os", "cpu") == Tunables({}, {})["entropy.sources"]


def test_registry_says_what_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A source that this machine cannot have is left out and told with its reason; the others are there."""
    monkeypatch.setitem(sys.modules, f"{generators.__name__}._native", None)
    monkeypatch.delattr(generators, "_native", raising=False)
    monkeypatch.setattr(proc.LinuxCounters.__init__, "__defaults__", (str(tmp_path),))
    sources, absent = chosen("os", "cpu", "proc", "file")
    assert ["os"] == [source.name for source in sources]
    assert ["cpu", "proc", "file"] == list(absent)
    for name, reason in absent.items():
        assert reason.startswith(f"source {name}: absent; ")


def test_registry_has_the_counters_of_linux() -> None:
    """The source ``proc`` is there on Linux, and absent elsewhere."""
    if sys.platform == "linux":
        assert isinstance(make("proc", tunables("proc"), no_system(), SteppingClock()), LinuxCounters)
    else:
        assert "proc" in chosen("proc")[1]


def test_registry_imports_only_what_is_named() -> None:
    """A boot with the default sources loads no other source, no metadata and no ctypes."""
    program = (
        "import sys, fortuna; fortuna.random_bytes(1)\n"
        "print(*(m for m in sys.modules if m.startswith('fortuna.sources.')), 'ctypes' in sys.modules,"
        "'importlib.metadata' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert ["False", "False"] == out[-2:]
    assert {"fortuna.sources.registry", "fortuna.sources.os", "fortuna.sources.cpu"} == set(out[:-2])


def test_plugin_source(site: Path) -> None:
    """A plug-in is found by its name, keeps its claims, and runs as slow whatever it says."""
    install_source(site)
    sources, absent = chosen("os", "dice")
    dice = sources[1]
    assert {} == absent
    assert isinstance(dice, ThirdPartySource)
    assert ("dice", 40, "slow", 2.5) == (dice.name, dice.number, dice.cost, dice.min_entropy)
    assert "thrown by hand" == dice.assumption
    assert b"\x01\x02\x03" == bytes(dice.harvest())
    assert ("os", "dice") == load_tunables(None, {"entropy.sources": ["os", "dice"]}, environ={})["entropy.sources"]


def test_plugin_source_is_not_imported_before_it_is_named(site: Path) -> None:
    """A plug-in that fails at its import is no matter to who does not name it, nor to the check of the tunables."""
    install_source(site, text="raise RuntimeError('broken')\n")
    assert ["os"] == [source.name for source in chosen("os")[0]]
    load_tunables(None, {"entropy.sources": ["os", "dice"]}, environ={})
    with pytest.raises(
        ProviderUnavailableError, match=r"plug-in 'dice' of dice-plugin 1\.2 cannot be imported.*broken"
    ):
        chosen("os", "dice")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("number = 40", "number = 31", r"its number is 31; it must be an integer in 32\.\.127"),
        ("number = 40", "number = 128", "its number is 128"),
        ("number = 40", "number = 40.0", r"its number is 40\.0"),
        ("number = 40", "number = True", "its number is True"),
        ('name = "dice"', 'name = "die"', "its name is 'die'; it must be 'dice'"),
        ('"cheap"', '"free"', "its cost is 'free'; it must be 'cheap' or 'costly' or 'slow'"),
        ("2.5", "0", "its min_entropy is 0; it must be a number of bits above 0 and at most 8"),
        ("2.5", "8.001", r"its min_entropy is 8\.001"),
        ("2.5", "-1", "its min_entropy is -1"),
        ("2.5", "float('nan')", "its min_entropy is nan"),
        ("2.5", "True", "its min_entropy is True"),
        ('"thrown by hand"', '""', "its assumption is ''; it must be a sentence"),
        ('"thrown by hand"', "7", "its assumption is 7"),
        ("def harvest", "harvest = 3\n    def other", "its harvest is 3; it must be a method"),
        ("def harvest", "def other", "gives a Dice without harvest"),
        ("number = 40", "pass", "gives a Dice without number"),
        ("class Dice:", "Dice = lambda: 7\nclass Other:", "gives a int without name, number"),
        ("class Dice:", "Dice = 7\nclass Other:", "cannot make its source: TypeError"),
        ("def harvest", "def __init__(self):\n        1 / 0\n    def harvest", "make its source: ZeroDivisionError"),
    ],
)
def test_plugin_source_that_breaks_the_contract(right: str, wrong: str, message: str, site: Path) -> None:
    """Whatever is wrong with a plug-in is told with its supplier, and ends the boot."""
    assert right in GOOD_SOURCE
    install_source(site, text=GOOD_SOURCE.replace(right, wrong))
    with pytest.raises(ProviderUnavailableError, match=message) as caught:
        chosen("os", "dice")
    assert "plug-in 'dice' of dice-plugin 1.2" in str(caught.value)


@pytest.mark.parametrize(
    ("right", "taken"), [("40", "32"), ("40", "127"), ("2.5", "8"), ("2.5", "8.0"), ("2.5", "1e-9"), ("cheap", "slow")]
)
def test_plugin_source_at_the_limits(right: str, taken: str, site: Path) -> None:
    """The ends of each range are allowed."""
    install_source(site, text=GOOD_SOURCE.replace(right, taken))
    assert "dice" == chosen("dice")[0][0].name


def test_plugin_source_that_is_absent_itself(site: Path) -> None:
    """A plug-in that finds no hardware raises `SourceError`, and is absent like one of ours."""
    text = GOOD_SOURCE.replace("class", "from fortuna import SourceError\nclass").replace(
        "def harvest", "def __init__(self):\n        raise SourceError(19, 'no dice here')\n    def harvest"
    )
    install_source(site, text=text)
    sources, absent = chosen("os", "dice")
    assert (["os"], {"dice": "no dice here"}) == ([source.name for source in sources], absent)


def test_plugin_sources_with_one_number(site: Path) -> None:
    """Two sources with the same number are an error that names both."""
    install_source(site)
    install_source(site, "coin", GOOD_SOURCE.replace('"dice"', '"coin"'), distribution="coin-plugin")
    with pytest.raises(ProviderUnavailableError, match="sources 'dice' and 'coin' both have the number 40"):
        chosen("dice", "os", "coin")


def test_plugin_source_with_a_name_of_ours(site: Path) -> None:
    """Our names are ours; while a distribution offers one of them no plug-in is used."""
    install_source(site)
    install_source(site, "cpu", GOOD_SOURCE.replace('"dice"', '"cpu"'), distribution="evil")
    assert not isinstance(chosen("os", "cpu")[0][-1], ThirdPartySource)
    with pytest.raises(ProviderUnavailableError, match=r"is not used: evil 1\.2 offers 'cpu', the name of a built-in"):
        chosen("os", "dice")


def test_plugin_source_that_nobody_offers(site: Path) -> None:
    """An unknown name is refused with the tunable, and by the registry; the message lists what there is."""
    install_source(site)
    with pytest.raises(TunableError, match=r'got "gpu" in the list; .*plug-in \(installed: "dice"\)'):
        load_tunables(None, {"entropy.sources": ["os", "gpu"]}, environ={})
    with pytest.raises(ParameterError, match="source: got 'gpu'; there is os, cpu, jitter, proc, file"):
        chosen("gpu")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return b''", r"got 0 bytes; allowed is 1\.\.65536"),
        (f"return bytes({HARVEST_MAX + 1})", "got 65537 bytes"),
        ("return 'text'", "TypeError"),
        ("return None", "TypeError"),
        ("raise ValueError('boom')", "source dice: ValueError: boom"),
        ("raise OSError(5, 'io')", "source dice: OSError"),
    ],
)
def test_plugin_source_whose_harvest_fails(body: str, message: str, site: Path) -> None:
    """Whatever a plug-in raises or returns in place of bytes becomes a `SourceError`."""
    install_source(site, text=GOOD_SOURCE.replace('return b"\\x01\\x02\\x03"', body))
    dice = chosen("dice")[0][0]
    with pytest.raises(SourceError, match=message):
        dice.harvest()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return bytearray(b'a')", b"a"),
        (f"return b'a' * {HARVEST_MAX}", b"a" * HARVEST_MAX),
        ("import array; return array.array('H', [257, 257])", b"\x01\x01\x01\x01"),
    ],
)
def test_plugin_source_whose_harvest_is_taken(body: str, expected: bytes, site: Path) -> None:
    """Anything that offers a contiguous buffer is taken, byte for byte."""
    install_source(site, text=GOOD_SOURCE.replace('return b"\\x01\\x02\\x03"', body))
    assert expected == bytes(chosen("dice")[0][0].harvest())


def test_plugin_source_error_of_its_own_is_kept(site: Path) -> None:
    """A `SourceError` of the plug-in arrives as it is."""
    text = "from fortuna import SourceError\n" + GOOD_SOURCE.replace(
        'return b"\\x01\\x02\\x03"', "raise SourceError(11, 'dice under the table')"
    )
    install_source(site, text=text)
    dice: Any = chosen("dice")[0][0]
    with pytest.raises(SourceError, match="dice under the table"):
        dice.harvest()


def test_registry_names() -> None:
    """The names that are ours, in the order of their numbers."""
    assert ("os", "cpu", "jitter", "proc", "file") == registry.BUILT_IN
