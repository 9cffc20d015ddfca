"""``--list`` and ``--tunables``: what they say, and that what they say is true."""

# ruff: noqa: SIM300 - asserts read expected == actual, a constant on the left included

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
import tomli

from fortuna.errors import ProviderUnavailableError, SelfTestError
from fortuna.generators import registry
from fortuna.tunables import TUNABLES

from .cli_support import clean_variables, complaint, launch, run_here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

#: Values that differ from every default.
OTHERS: Final[dict[str, Any]] = {
    "generator.cipher": "chacha20",
    "generator.provider": "reference",
    "generator.construction": "fsk2003",
    "reseed.min_pool_size": 128,
    "reseed.interval": 1e-5,
    "entropy.sources": ["os"],
    "boot.timeout": 3600,
    "boot.pretend_unseeded": True,
}
FULL_FILE: Final = """\
boot.timeout = 3600
boot.pretend_unseeded = true

[generator] # the cipher
cipher = "chacha20"
  provider = 'reference'
"construction" = "fsk2003"
[ reseed ]
min_pool_size = 0x80
interval = 1e-5
[entropy]
sources = [
  "os",
]
"""
FULL_FILE_LINES: Final = {
    "generator.cipher": 5,
    "generator.provider": 6,
    "generator.construction": 7,
    "reseed.min_pool_size": 9,
    "reseed.interval": 10,
    "entropy.sources": 12,
    "boot.timeout": 1,
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
    head, *rows = out.decode("ascii").splitlines()
    assert ["GENERATOR", "PROVIDER", "KERNEL", "STATE", "NOTE"] == head.split()
    cells = [[*row.split(None, 4), ""][:5] for row in rows]
    # Each column starts below its title.
    for row, cell in zip(rows, cells, strict=True):
        starts = [head.index(title) for title in head.split()]
        assert cell == [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return cells


def test_every_tunable_is_set_to_another_value() -> None:
    """The file of this test sets all tunables, and all that can differ from the default do."""
    assert set(TUNABLES) == set(OTHERS) == set(FULL_FILE_LINES)
    same = {key for key, value in OTHERS.items() if value in (TUNABLES[key].default, [*map(str, ("os",))])}
    assert {"entropy.sources"} == same


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
    arguments = ("--cipher", "aes256-icm", "--provider", "pycryptodome", "--construction", "freebsd")
    values, origins = show_tunables("--config", path, *arguments)
    changed = {
        "generator.cipher": "aes256-icm",
        "generator.provider": "pycryptodome",
        "generator.construction": "freebsd",
    }
    assert {**OTHERS, **changed} == values
    from_options = {
        "generator.cipher": "--cipher",
        "generator.provider": "--provider",
        "generator.construction": "--construction",
    }
    from_file = {key: f"{path}:{line}" for key, line in FULL_FILE_LINES.items()}
    assert {**from_file, **from_options} == origins


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


def test_list_by_default() -> None:
    """All generators on all providers are listed; what the defaults boot is active, the oracle says why it is not."""
    assert [
        ["aes256-icm", "pycryptodome", "library", "active", ""],
        ["aes256-icm", "reference", "python", "available", ORACLE],
        ["chacha20", "pycryptodome", "library", "available", ""],
        ["chacha20", "reference", "python", "available", ORACLE],
    ] == show_list()
    assert len(registry.FACTORIES) == len(show_list())


@pytest.mark.parametrize("cell", registry.FACTORIES, ids="-".join)
def test_list_shows_what_is_active(cell: tuple[str, str], write_config: Callable[..., str]) -> None:
    """What options or file name is the active one, and the only one."""
    generator, provider = cell
    path = write_config(f'[generator]\ncipher = "{generator}"\nprovider = "{provider}"\n')
    for arguments in (("--cipher", generator, "--provider", provider), ("--config", path)):
        assert [[generator, provider]] == [row[:2] for row in show_list(*arguments) if row[3] == "active"]


def test_list_with_a_wrong_known_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that failed its self-test is absent, the note says why, and nothing is active by default."""
    error = SelfTestError("pycryptodome: aes256-icm at counter 0x0: known answer wrong")
    monkeypatch.setitem(registry._outcomes, ("aes256-icm", "pycryptodome"), error)
    rows = show_list()
    assert ["aes256-icm", "pycryptodome", "-", "absent", str(error)] == rows[0]
    assert ["absent", "available", "available", "available"] == [row[3] for row in rows]
    assert "active" == show_list("--cipher", "chacha20")[2][3]


def test_provider_that_fails_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the named cipher cannot run the command ends with 78; no other cipher steps in."""
    for error in (SelfTestError("known answer wrong"), ProviderUnavailableError("cannot be imported")):
        monkeypatch.setitem(registry._outcomes, ("aes256-icm", "pycryptodome"), error)
        for provider in ("auto", "pycryptodome"):
            outcome = run_here("--provider", provider)
            assert 78 == outcome.status
            assert str(error) in complaint(outcome)


@pytest.fixture
def without_library(tmp_path: Path) -> dict[str, str]:
    """Give variables under which pycryptodome cannot be imported."""
    package = tmp_path / "stub" / "Crypto"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('raise ImportError("no such library: broken wheel")\n', encoding="ascii")
    return clean_variables(PYTHONPATH=str(package.parent))


def test_list_without_the_library(without_library: dict[str, str]) -> None:
    """Without pycryptodome the list still comes, with the reason in its notes and nothing active."""
    status, out, err = launch("--list", variables=without_library)
    assert (0, "") == (status, err)
    rows = [line.split(None, 4) for line in out.decode("ascii").splitlines()[1:]]
    assert ["absent", "available"] * 2 == [row[3] for row in rows]
    for row in rows[::2]:
        assert "provider 'pycryptodome' cannot be imported: no such library: broken wheel" == row[4]


def test_dump_without_the_library(without_library: dict[str, str]) -> None:
    """Without pycryptodome no other provider steps in; the message names the reason and what may be forced."""
    outcome = launch(variables=without_library)
    assert 78 == outcome.status
    message = complaint(outcome)
    assert "broken wheel" in message
    assert "provider 'reference'" in message
    forced = launch("--provider", "reference", variables=without_library)
    assert (0, 65, "") == (forced.status, len(forced.out), forced.err)


@pytest.mark.parametrize("option", ["--help", "--version", "--tunables"])
def test_tables_need_no_library(without_library: dict[str, str], option: str) -> None:
    """Help, version and tunables come without pycryptodome."""
    assert (0, "") == (launch(option, variables=without_library))[::2]
