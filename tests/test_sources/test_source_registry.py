"""The registry: names to sources, what is absent and why, and plug-ins, which are checked and never trusted."""

from __future__ import annotations

import errno
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fortuna import generators
from fortuna._boot import build
from fortuna.errors import ParameterError, ProviderUnavailableError, SourceError, TunableError
from fortuna.forks import ForkDetector
from fortuna.sources import cpu, proc, registry
from fortuna.sources.file import DeviceFile
from fortuna.sources.jitter import LibraryJitter, LoopJitter
from fortuna.sources.registry import BUILT_IN, choose
from fortuna.sources.third_party import ThirdPartySource
from fortuna.tunables import Tunables
from fortuna.tunables_file import load_tunables

from .source_doubles import GOOD_SOURCE, SteppingClock, install_source, no_system

if TYPE_CHECKING:
    from pathlib import Path

    from fortuna.typing import Source


def tunables(*sources: str, file: str = "") -> Tunables:
    """Return tunables that name *sources*, unchecked."""
    return Tunables({"entropy.sources": sources, "entropy.file": file}, {})


def chosen(*sources: str, file: str = "") -> tuple[Source, ...]:
    """Return what the registry chooses for *sources*."""
    return choose(tunables(*sources, file=file), no_system(), SteppingClock(5))


def test_registry_makes_what_is_named_in_that_order() -> None:
    """Each built-in name gives its source, in the order of the tunable, and ``os`` is the one passed in."""
    system = no_system()
    sources = choose(tunables("file", "jitter", "os", file="/dev/urandom"), system, SteppingClock())
    assert isinstance(sources[0], DeviceFile)
    assert "/dev/urandom" == sources[0].path
    assert isinstance(sources[1], LoopJitter | LibraryJitter)
    assert system is sources[2]
    assert 3 == len(sources)


def test_registry_built_in_sources_have_numbers_of_their_own() -> None:
    """Name by name the numbers are 0, 1, 2, ..., and the default is the first two."""
    found = [(source.number, source.name) for source in chosen(*BUILT_IN)]
    assert list(enumerate(BUILT_IN)) == found
    assert ("os", "cpu") == Tunables({}, {})["entropy.sources"]


def test_registry_makes_what_is_absent_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A source that this machine cannot have is made, says why it is absent, and fails with ENODEV when harvested."""
    monkeypatch.setitem(sys.modules, f"{generators.__name__}._native", None)
    monkeypatch.delattr(generators, "_native", raising=False)
    monkeypatch.setattr(proc.LinuxCounters.__init__, "__defaults__", (str(tmp_path),))
    for source in chosen("cpu", "proc", "file"):
        with pytest.raises(SourceError, match=f"source {source.name}: absent; ") as caught:
            source.harvest()
        assert errno.ENODEV == caught.value.errno


def test_registry_absent_source_is_no_hindrance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A boot with the default sources goes on where the processor has nothing to give, and the statistics say so."""
    monkeypatch.setattr(cpu, "this_processor", lambda: cpu.Processor((), lambda instruction, out: False, "no"))
    with build(Tunables({"generator.provider": "pycryptodome"}, {}), ForkDetector(use_hook=False)) as live:
        assert 16 == len(live.random_bytes(16))
        states = {report.name: (report.state, report.last_error) for report in live.stats().sources}
    assert {"os": ("healthy", ""), "cpu": ("absent", "source cpu: absent; no")} == states


def test_registry_imports_only_what_is_named() -> None:
    """A boot with the default sources loads no other source, no metadata and no ctypes."""
    program = (
        "import sys\n"
        "from fortuna._boot import SystemClock, operating_system\n"
        "from fortuna.sources.registry import choose\n"
        "from fortuna.tunables_file import load_tunables\n"
        "choose(load_tunables(None, {'reseed.interval': 1}, environ={}), operating_system(), SystemClock())\n"
        "print(*(m for m in sys.modules if m.startswith('fortuna.sources.')), 'ctypes' in sys.modules,"
        "'importlib.metadata' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert ["False", "False"] == out[-2:]
    assert {"fortuna.sources.registry", "fortuna.sources.os", "fortuna.sources.cpu"} == set(out[:-2])


def test_plugin_source(site: Path) -> None:
    """A plug-in is found by its name, keeps its claims, and runs as slow whatever it says."""
    install_source(site)
    _, dice = chosen("os", "dice")
    assert isinstance(dice, ThirdPartySource)
    assert ("dice", 40, "slow", 2.5) == (dice.name, dice.number, dice.cost, dice.min_entropy)
    assert "thrown by hand" == dice.assumption
    assert b"\x01\x02\x03" == bytes(dice.harvest())
    assert ("os", "dice") == load_tunables(None, {"entropy.sources": ["os", "dice"]}, environ={})["entropy.sources"]


def test_plugin_source_is_not_imported_before_it_is_named(site: Path) -> None:
    """A plug-in that fails at its import is no matter to who does not name it, nor to the check of the tunables."""
    install_source(site, text="raise RuntimeError('broken')\n")
    assert ["os"] == [source.name for source in chosen("os")]
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
        (
            "def harvest",
            "def __init__(self):\n        raise SystemExit(3)\n    def harvest",
            "its source: SystemExit: 3",
        ),
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
    assert "dice" == chosen("dice")[0].name


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
    assert not isinstance(chosen("os", "cpu")[-1], ThirdPartySource)
    with pytest.raises(ProviderUnavailableError, match=r"is not used: evil 1\.2 offers 'cpu', the name of a built-in"):
        chosen("os", "dice")


def test_plugin_source_that_nobody_offers(site: Path) -> None:
    """An unknown name is refused with the tunable, and by the registry; the message lists what there is."""
    install_source(site)
    with pytest.raises(TunableError, match=r'got "gpu" in the list; .*plug-in \(installed: "dice"\)'):
        load_tunables(None, {"entropy.sources": ["os", "gpu"]}, environ={})
    with pytest.raises(ParameterError, match="source: got 'gpu'; there is os, cpu, jitter, proc, file"):
        chosen("gpu")


def test_plugin_source_error_is_its_own(site: Path) -> None:
    """What a plug-in raises arrives as it is: what every harvest may raise is judged in one place."""
    install_source(site, text=GOOD_SOURCE.replace('return b"\\x01\\x02\\x03"', "raise KeyError"))
    with pytest.raises(KeyError):
        chosen("dice")[0].harvest()


def test_registry_names() -> None:
    """The names that are ours, in the order of their numbers."""
    assert ("os", "cpu", "jitter", "proc", "file") == registry.BUILT_IN
