"""``--list`` and ``--tunables``: what they say, and that what they say is true."""

from __future__ import annotations

import itertools
import json
import platform
import re
from typing import TYPE_CHECKING, Any, Final

import pytest
import tomli

from fortuna.errors import ProviderUnavailableError, SelfTestError
from fortuna.generators import registry, selftest
from fortuna.sources.cpu import Processor
from fortuna.sources.file import DeviceFile
from fortuna.sources.os import OperatingSystem
from fortuna.tunables import TUNABLES

from .cli_support import (
    AES_KERNELS,
    ALL_GENERATORS,
    CHACHA_KERNELS,
    LIBRARIES,
    LIBRARY,
    LIBRARY_GENERATORS,
    NO_EXTENSION,
    cells,
    clean_variables,
    complaint,
    expected_kernel,
    launch,
    launch_code,
    native_kernels,
    needs_native,
    run_here,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from fortuna.generators.choice import Choice

    from .cli_support import Cell, Outcome

#: Values that differ from every default.
OTHERS: Final[dict[str, Any]] = {
    "generator.cipher": "chacha20",
    "generator.provider": "reference",
    "generator.kernel": "python",
    "generator.construction": "fsk2003",
    "reseed.min_pool_size": 128,
    "reseed.interval": 1e-5,
    "entropy.sources": ["os", "file"],
    "entropy.file": "/dev/hwrng",
    "entropy.harvest_interval": 0.5,
    "entropy.per_request": "os",
    "seed_file.path": "/var/lib/service/seed",
    "seed_file.save_interval": 60,
    "entropy.health_tests": False,
    "boot.timeout": 3600,
    "boot.allow_without_os": True,
    "boot.generation_file": "/run/generation",
    "boot.pretend_unseeded": True,
}
FULL_FILE: Final = """\
boot.timeout = 3600
boot.pretend_unseeded = true
boot.allow_without_os = true
boot.generation_file = "/run/generation"

[generator] # the cipher
cipher = "chacha20"
  provider = 'reference'
"construction" = "fsk2003"
kernel = 'python' # the oracle's
[ reseed ]
min_pool_size = 0x80
interval = 1e-5
[entropy]
sources = [
  "os", "file",
]
file = "/dev/hwrng"
health_tests = false
harvest_interval = 0.5
per_request = "os"
[seed_file]
path = "/var/lib/service/seed"
save_interval = 60
"""
FULL_FILE_LINES: Final = {
    "generator.cipher": 7,
    "generator.provider": 8,
    "generator.kernel": 10,
    "generator.construction": 9,
    "reseed.min_pool_size": 12,
    "reseed.interval": 13,
    "entropy.sources": 15,
    "entropy.file": 18,
    "entropy.health_tests": 19,
    "entropy.harvest_interval": 20,
    "entropy.per_request": 21,
    "seed_file.path": 23,
    "seed_file.save_interval": 24,
    "boot.generation_file": 4,
    "boot.timeout": 1,
    "boot.allow_without_os": 3,
    "boot.pretend_unseeded": 2,
}


def show_tunables(*arguments: str, variables: Mapping[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values and the origins that ``--tunables`` shows, by dotted name."""
    status, out, err = run_here("--tunables", *arguments, variables=variables)
    assert (0, "") == (status, err)
    text = out.decode("ascii")
    values = {f"{table}.{key}": value for table, body in tomli.loads(text).items() for key, value in body.items()}
    origins = dict(re.findall(r"^(\S+) = .*?  # (.*)$", text, re.MULTILINE))
    assert [*values] == [*origins]
    return values, origins


def show_list(*arguments: str) -> list[list[str]]:
    """Return the rows of ``--list`` without the head, each as name, provider, kernel, state and note."""
    status, out, err = run_here("--list", *arguments)
    assert (0, "") == (status, err)
    head, *rows = out.decode("ascii").partition("\n\n")[0].splitlines()
    assert ["GENERATOR", "PROVIDER", "KERNEL", "STATE", "NOTE"] == head.split()
    cells = [[*row.split(None, 4), ""][:5] for row in rows]
    # Each column starts below its title.
    for row, cell in zip(rows, cells, strict=True):
        starts = [head.index(title) for title in head.split()]
        assert cell == [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return cells


def show_sources(*arguments: str) -> dict[str, list[str]]:
    """Return the rows of the second table of ``--list`` by name: number, cost, bits, state and note."""
    status, out, err = run_here("--list", *arguments)
    assert (0, "") == (status, err)
    head, *rows = out.decode("ascii").partition("\n\n")[2].splitlines()
    assert ["SOURCE", "NUMBER", "COST", "BITS/BYTE", "STATE", "NOTE"] == head.split()
    cells = [row.split(None, 5) for row in rows]
    return {name: rest for name, *rest in cells}


def test_every_tunable_is_set_to_another_value() -> None:
    """The file of this test sets all tunables, and each differs from the default."""
    assert set(TUNABLES) == set(OTHERS) == set(FULL_FILE_LINES)
    defaults = {key: list(t.default) if isinstance(t.default, tuple) else t.default for key, t in TUNABLES.items()}
    assert set() == {key for key, value in OTHERS.items() if value == defaults[key]}


def test_tunables_by_default() -> None:
    """Without file and options all values are the defaults, and their origin says so."""
    values, origins = show_tunables()
    expected = {key: tunable.default for key, tunable in TUNABLES.items()}
    assert expected == {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    assert dict.fromkeys(TUNABLES, "default") == origins


@pytest.mark.parametrize("way", ["--config", "FORTUNA_CONFIG"])
def test_tunables_of_a_file(write_config: Callable[..., str], way: str) -> None:
    """The values of the file are shown as TOML of the same meaning, each with path and line."""
    path = write_config(FULL_FILE)
    if way == "--config":
        values, origins = show_tunables("--config", path)
    else:
        values, origins = show_tunables(variables={"FORTUNA_CONFIG": path})
    assert OTHERS == values
    assert {key: f"{path}:{line}" for key, line in FULL_FILE_LINES.items()} == origins


def test_output_is_a_file_of_tunables(write_config: Callable[..., str]) -> None:
    """What ``--tunables`` shows can be given back as a file, and means the same."""
    path = write_config(FULL_FILE)
    again = write_config(run_here("--tunables", "--config", path).out.decode(), name="again.toml")
    assert OTHERS == show_tunables("--config", again)[0]


def test_named_file_beats_the_environment(write_config: Callable[..., str]) -> None:
    """``--config`` is stronger than ``FORTUNA_CONFIG``, which is then not even read."""
    path = write_config("reseed.interval = 2\n")
    values, _ = show_tunables("--config", path, variables={"FORTUNA_CONFIG": "/nonexistent"})
    assert 2.0 == values["reseed.interval"]


def test_options_override_the_file(write_config: Callable[..., str]) -> None:
    """An option beats the file, its origin is the option, and the other values keep theirs."""
    path = write_config(FULL_FILE)
    arguments = ("--cipher", "aes256-icm", "--provider", "pycryptodome", "--kernel", "library")
    values, origins = show_tunables("--config", path, *arguments, "--construction", "freebsd")
    changed = {
        "generator.cipher": "aes256-icm",
        "generator.provider": "pycryptodome",
        "generator.kernel": "library",
        "generator.construction": "freebsd",
    }
    assert {**OTHERS, **changed} == values
    from_options = {
        "generator.cipher": "--cipher",
        "generator.provider": "--provider",
        "generator.kernel": "--kernel",
        "generator.construction": "--construction",
    }
    from_file = {key: f"{path}:{line}" for key, line in FULL_FILE_LINES.items()}
    assert {**from_file, **from_options} == origins


def test_awkward_value(write_config: Callable[..., str]) -> None:
    """A path with any letters, longer than what a message shows of it, is shown in full, in ASCII, as valid TOML."""
    value = '/srv/"é" it\'s a \\ name\twith/' + "x" * 100
    values, _ = show_tunables("--config", write_config(f"seed_file.path = {json.dumps(value)}\n"))
    assert value == values["seed_file.path"]


@pytest.mark.parametrize(
    "name", ["a b.toml", "ä€.toml", "a\nb = 1\n.toml", "a\tb\x1b[31m.toml", "a#'\".toml"], ids=ascii
)
def test_awkward_path(write_config: Callable[..., str], name: str) -> None:
    """Whatever the name of the file, the output is ASCII and TOML of the same meaning."""
    values, origins = show_tunables("--config", write_config("[reseed]\ninterval = 7\n", name=name))
    assert 7.0 == values["reseed.interval"]
    assert origins["reseed.interval"].endswith(".toml:2")
    assert "\x1b" not in origins["reseed.interval"]


def test_tunables_boot_nothing(write_config: Callable[..., str], booted: list[str]) -> None:
    """Showing tables boots nothing, so it works where a boot would fail."""
    path = write_config("boot.pretend_unseeded = true\n")
    for table in ("--tunables", "--list"):
        assert 0 == run_here(table, "--config", path).status
    assert [] == booted


@pytest.mark.parametrize("table", ["--tunables", "--list"])
def test_refused_file(write_config: Callable[..., str], table: str) -> None:
    """A refused file is a configuration error here too."""
    outcome = run_here(table, "--config", write_config("[reseed]\ninterval = -1\n"))
    assert 78 == outcome.status
    assert ":2: reseed.interval: got -1; allowed is" in complaint(outcome)


ORACLE: Final = "the slow oracle; auto never chooses it"
NOT_IN_THE_LIBRARY: Final = "provider {!r} has no generator {!r}; it runs on: native, reference"
NOT_BUILT: Final = (
    "provider 'native' cannot be imported: the C extension is not in this installation; reinstall with a C compiler, "
    "FORTUNA_NATIVE=require shows what fails"
)


def expected_list(*, native: bool, libraries: dict[str, str] = LIBRARIES) -> list[list[str]]:
    """Return the rows of ``--list`` by default, with the extension or not; *libraries* says why one is absent."""
    rows = []
    for generator in ALL_GENERATORS:
        tried = [("native", kernel, why) for kernel, why in native_kernels(generator).items()] if native else []
        tried = tried or [("native", "-", NOT_BUILT)]
        for provider, why in libraries.items():
            if generator not in LIBRARY_GENERATORS:
                tried.append((provider, "-", NOT_IN_THE_LIBRARY.format(provider, generator)))
            else:
                tried.append((provider, "-" if why else "library", why))
        chosen = ""
        for provider, kernel, note in tried:
            state = "absent"
            if not note:
                note = f"auto prefers {chosen}" if chosen else ""
                state = "available" if chosen or generator != "aes256-icm" else "active"
                chosen = chosen or f"{provider} {kernel}"
            rows.append([generator, provider, kernel, state, note])
        rows.append([generator, "reference", "python", "available", ORACLE])
    return rows


@needs_native
def test_list_by_default() -> None:
    """All kernels of all generators on all providers are listed, the best first; what the defaults boot is active,
    and the others say why they are not.
    """
    rows = show_list()
    assert expected_list(native=True) == rows
    assert 1 == [row[3] for row in rows].count("active")
    for generator in ALL_GENERATORS:
        ours = AES_KERNELS if generator == "aes256-icm" else CHACHA_KERNELS
        theirs = ["library" if generator in LIBRARY_GENERATORS and not why else "-" for why in LIBRARIES.values()]
        assert [*ours, *theirs, "python"] == [row[2] for row in rows if row[0] == generator]
    assert set(registry.FACTORIES) == {(g, p) for g, p, _, _, note in rows if "has no generator" not in note}


@needs_native
def test_list_says_what_the_processor_lacks() -> None:
    """The kernels for another processor are absent, and their notes name the instruction set; plain C never is."""
    rows = show_list()
    states = {(row[0], row[2]): row[3] for row in rows}
    notes = {(row[0], row[2]): row[4] for row in rows}
    assert {"available"} == {states[generator, "portable"] for generator in ALL_GENERATORS[1:]}
    if platform.machine() in ("x86_64", "AMD64", "i686"):
        assert notes["aes256-icm", "armv8"] == ("not in this build: not compiled for the ARMv8 cryptographic extension")
        for generator in ALL_GENERATORS[1:]:
            assert "not in this build: not compiled for NEON" == notes[generator, "neon"]
    for row in rows:
        if row[1] == "native" and row[3] == "absent":
            assert re.match("not in this build: |this processor ", row[4])


def test_list_without_the_extension(no_extension: None) -> None:
    """Without the C extension each generator has one native row, absent, that says why and how to mend it."""
    rows = show_list()
    assert expected_list(native=False) == rows
    native = [row for row in rows if row[1] == "native"]
    assert [*ALL_GENERATORS] == [row[0] for row in native]
    assert {"absent"} == {row[3] for row in native}
    assert ["aes256-icm", LIBRARY, "library", "active", ""] in rows


@pytest.mark.parametrize("cell", registry.FACTORIES, ids="-".join)
def test_list_shows_what_is_active(cell: tuple[str, str], write_config: Callable[..., str]) -> None:
    """What options or file name is the active one, by its best kernel, and the only one."""
    generator, provider = cell
    expected = [[generator, *expected_kernel(generator, provider)]]
    path = write_config(f'[generator]\ncipher = "{generator}"\nprovider = "{provider}"\n')
    for arguments in (("--cipher", generator, "--provider", provider), ("--config", path)):
        assert expected == [row[:3] for row in show_list(*arguments) if row[3] == "active"]


@pytest.mark.parametrize("cell", cells(), ids="-".join)
def test_list_shows_the_kernel_that_is_forced(cell: Cell, write_config: Callable[..., str]) -> None:
    """The kernel that options or file force is the active one, and the only one; the notes stay what they are."""
    generator, provider, kernel = cell
    path = write_config(f'[generator]\ncipher = "{generator}"\nprovider = "{provider}"\nkernel = "{kernel}"\n')
    notes = [[*row[:3], row[4]] for row in show_list()]
    for arguments in (("--cipher", generator, "--provider", provider, "--kernel", kernel), ("--config", path)):
        rows = show_list(*arguments)
        assert [[generator, provider, kernel]] == [row[:3] for row in rows if row[3] == "active"]
        assert notes == [[*row[:3], row[4]] for row in rows]


def test_list_with_a_kernel_that_nothing_has() -> None:
    """Where a forced kernel cannot run, the list still comes, and nothing is active."""
    rows = show_list("--cipher", "chacha20", "--kernel", "aesni")
    assert "active" not in [row[3] for row in rows]
    assert [row[:3] for row in show_list()] == [row[:3] for row in rows]


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, nothing_tried: None) -> set[tuple[str, str]]:
    """Give a set; the default cipher's known answer comes out wrong by each provider and kernel put into it."""
    broken: set[tuple[str, str]] = set()
    real = selftest.check_known_answers

    def check(candidate: Choice) -> None:
        if candidate.name == "aes256-icm" and (candidate.provider, candidate.kernel) in broken:
            raise SelfTestError(f"{candidate.provider} {candidate.kernel}: known answer wrong")
        real(candidate)

    monkeypatch.setattr(registry, "check_known_answers", check)
    return broken


def test_list_with_a_wrong_known_answer(wrong: set[tuple[str, str]], no_extension: None) -> None:
    """A provider that failed its self-test is absent, the note says why, and nothing is active by default."""
    wrong |= {(provider, "library") for provider, why in LIBRARIES.items() if not why}
    rows = show_list()
    for provider, _ in wrong:
        note = f"{provider} library: known answer wrong"
        assert ["aes256-icm", provider, "library", "absent", note] in rows
    assert ["absent", "absent", "absent", "available"] == [row[3] for row in rows if row[0] == "aes256-icm"]
    assert "active" not in [row[3] for row in rows]
    assert ["chacha20", LIBRARY, "library", "active", ""] in show_list("--cipher", "chacha20")


@needs_native
def test_list_with_a_wrong_kernel(wrong: set[tuple[str, str]], caplog: pytest.LogCaptureFixture) -> None:
    """A kernel that failed its self-test is absent, its note and the log say why, and the next best is active."""
    expected_kernel("aes256-icm", "native")
    usable = [cell[1:] for cell in cells() if cell[0] == "aes256-icm" and cell[1] != "reference"]
    for kernel, successor in itertools.pairwise(usable):
        wrong.add(kernel)
        registry._outcomes.clear()
        caplog.clear()
        rows = show_list()
        for failed in wrong:
            note = f"{' '.join(failed)}: known answer wrong"
            assert ["aes256-icm", *failed, "absent", note] in rows
            assert note in caplog.messages
        assert ["aes256-icm", *successor, "active", ""] in rows
        assert 1 == [row[3] for row in rows].count("active")


def test_provider_that_fails_is_a_configuration_error(
    wrong: set[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the named cipher cannot run the command ends with 78; no other cipher steps in."""
    for error in (SelfTestError("known answer wrong"), ProviderUnavailableError("cannot be imported")):
        for provider in ("native", *LIBRARIES):
            monkeypatch.setitem(registry._outcomes, ("aes256-icm", provider, "auto"), error)
        for provider in ("auto", "native", *LIBRARIES):
            outcome = run_here("--provider", provider)
            assert 78 == outcome.status
            assert str(error) in complaint(outcome)


@needs_native
def test_kernel_that_fails_is_a_configuration_error(wrong: set[tuple[str, str]], booted: list[str]) -> None:
    """A kernel that is forced and fails its self-test ends the command with 78; by default the next best serves."""
    expected_kernel("aes256-icm", "native")
    first, second, *_ = [cell[1:] for cell in cells() if cell[0] == "aes256-icm" and cell[1] != "reference"]
    wrong.add(first)
    outcome = run_here("--kernel", first[1])
    assert 78 == outcome.status
    assert f"{' '.join(first)}: known answer wrong" in complaint(outcome)
    assert [] == booted
    assert 0 == run_here().status
    assert f"<Fortuna aes256-icm/{'/'.join(second)} " in booted[0]


@pytest.fixture
def without_library(tmp_path: Path) -> dict[str, str]:
    """Give variables under which no library can be imported."""
    for name in ("Crypto", "cryptography"):
        package = tmp_path / "stub" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text('raise ImportError("no such library: broken wheel")\n', encoding="ascii")
    return clean_variables(PYTHONPATH=str(tmp_path / "stub"))


BROKEN: Final = {
    "openssl": "provider 'openssl' cannot be imported: the library cryptography cannot be loaded "
    "(ImportError: no such library: broken wheel); reinstall it",
    "pycryptodome": "provider 'pycryptodome' cannot be imported: no such library: broken wheel",
}


def rows_of(outcome: Outcome) -> list[list[str]]:
    """Return the rows of a list that a process of its own has shown."""
    assert (0, "") == (outcome.status, outcome.err)
    lines = outcome.out.decode("ascii").partition("\n\n")[0].splitlines()[1:]
    return [[*line.split(None, 4), ""][:5] for line in lines]


@needs_native
def test_list_without_the_library(without_library: dict[str, str]) -> None:
    """Without the libraries their rows are absent with the reason, and our kernels are what they are."""
    rows = rows_of(launch("--list", variables=without_library))
    assert expected_list(native=True, libraries=BROKEN) == rows
    for provider, why in BROKEN.items():
        assert ["chacha20", provider, "-", "absent", why] in rows
    assert ["aes256-icm", *expected_kernel("aes256-icm", "native"), "active", ""] in rows


@pytest.mark.parametrize("error", ["OSError", "RuntimeError"])
def test_list_where_the_library_fails_otherwise(error: str, tmp_path: Path) -> None:
    """Whatever a library's import raises is the reason in its rows, as pycryptodome's for a file that does not load."""
    package = tmp_path / "Crypto" / "Cipher"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("", encoding="ascii")
    (package / "__init__.py").write_text(f'raise {error}("cannot load native module")\n', encoding="ascii")
    rows = rows_of(launch("--list", variables=clean_variables(PYTHONPATH=str(tmp_path))))
    why = "provider 'pycryptodome' cannot be imported: cannot load native module"
    assert ["aes256-icm", "pycryptodome", "-", "absent", why] in rows


@needs_native
def test_dump_without_the_library(without_library: dict[str, str]) -> None:
    """Without the libraries our kernels serve every cipher; where one is named, it is an error all the same."""
    for generator in ALL_GENERATORS:
        expected_kernel(generator, "native")
        served = launch("--cipher", generator, variables=without_library)
        assert (0, 65, "") == (served.status, len(served.out), served.err)
    for provider, why in BROKEN.items():
        named = launch("--provider", provider, variables=without_library)
        assert 78 == named.status
        assert why == complaint(named)


def test_list_without_library_and_extension(without_library: dict[str, str]) -> None:
    """With neither the list still comes, with the reasons in its notes and nothing active."""
    rows = rows_of(launch_code(NO_EXTENSION, "--list", variables=without_library))
    assert expected_list(native=False, libraries=BROKEN) == rows
    assert ["absent", "absent", "absent", "available"] * len(ALL_GENERATORS) == [row[3] for row in rows]


def test_dump_without_library_and_extension(without_library: dict[str, str]) -> None:
    """With neither no other provider steps in; the message names the reasons and what may be forced."""
    outcome = launch_code(NO_EXTENSION, variables=without_library)
    assert 78 == outcome.status
    message = complaint(outcome)
    assert "broken wheel" in message
    assert "the C extension is not in this installation" in message
    assert "provider 'reference'" in message
    forced = launch_code(NO_EXTENSION, "--provider", "reference", variables=without_library)
    assert (0, 65, "") == (forced.status, len(forced.out), forced.err)


@pytest.mark.parametrize("option", ["--help", "--version", "--tunables"])
def test_tables_need_no_library(without_library: dict[str, str], option: str) -> None:
    """Help, version and tunables come without the libraries and without the C extension."""
    for outcome in (
        launch(option, variables=without_library),
        launch_code(NO_EXTENSION, option, variables=without_library),
    ):
        assert (0, "") == (outcome.status, outcome.err)
        assert outcome.out


def test_list_shows_the_sources(write_config: Callable[..., str], no_extension: None) -> None:
    """Each source has its number, cost, credit and reason, is active where it is named, and absent with the reason."""
    rows = show_sources()
    assert ["os", "cpu", "jitter", "proc", "file"] == list(rows)
    assert ["0", "cheap", "8", "active", OperatingSystem.assumption] == rows["os"]
    lacks = "it needs the C extension, which is not here or cannot be loaded"
    assert ["1", "costly", "4", "absent", lacks] == rows["cpu"]
    assert ["2", "slow", "available"] == [*rows["jitter"][:2], rows["jitter"][3]]
    assert ["4", "slow", "1", "absent", "entropy.file names no device or FIFO"] == rows["file"]
    path = write_config('[entropy]\nsources = ["os", "file"]\nfile = "/nonexistent/device"\n')
    assert ["4", "slow", "1", "active", DeviceFile.assumption] == show_sources("--config", path)["file"]


@needs_native
def test_list_shows_the_processor() -> None:
    """The source ``cpu`` is active where the processor has its instructions."""
    from fortuna.generators import _native

    expected = ["1", "costly", "4", "active", Processor.assumption]
    if not _native.cpu_random_instructions():
        expected[3:] = ["absent", "this processor has neither RDSEED nor RDRAND"]
    assert expected == show_sources()["cpu"]


def test_list_shows_sources_of_plug_ins(
    tmp_path: Path, write_config: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plug-in is shown with its supplier and is not imported; one that takes a name of ours is absent."""
    info = tmp_path / "dice_plugin-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dice-plugin\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[fortuna.sources]\ndice = no_such_module:Dice\nproc = no_such_module:P\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ["-", "slow", "-", "untried", "dice-plugin 1.2"] == show_sources()["dice"]
    path = write_config('entropy.sources = ["os", "dice"]\n')
    assert "active" == show_sources("--config", path)["dice"][3]
    out = run_here("--list").out.decode("ascii")
    assert "absent     dice-plugin 1.2 offers 'proc', the name of a built-in source; uninstall it\n" in out
