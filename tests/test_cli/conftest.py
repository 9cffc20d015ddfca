"""Fixtures of the command's tests."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from fortuna import _boot, generators
from fortuna.generators import registry
from fortuna.tunables_file import load_tunables

from .cli_support import ScriptedFortuna

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fortuna.forks import ForkDetector
    from fortuna.rng import Fortuna
    from fortuna.tunables import Tunables


@pytest.fixture(scope="session")
def empty_config(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give a file of tunables that sets none."""
    path = tmp_path_factory.mktemp("config") / "empty.toml"
    path.touch(mode=0o600)
    return str(path)


@pytest.fixture(autouse=True)
def no_machine_file(monkeypatch: pytest.MonkeyPatch, empty_config: str) -> None:
    """Keep the machine's own file of tunables out of every run, in this process and in others."""
    defaults = load_tunables.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "system_file", f"{empty_config}.absent")
    monkeypatch.setenv("FORTUNA_CONFIG", empty_config)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedFortuna]:
    """Make every boot of this process give a scripted generator; they are collected in the list."""
    booted: list[ScriptedFortuna] = []

    def build(tunables: Tunables, forks: ForkDetector) -> ScriptedFortuna:
        booted.append(ScriptedFortuna())
        return booted[-1]

    monkeypatch.setattr(_boot, "build", build)
    return booted


@pytest.fixture
def booted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the ``repr`` of each generator that is really booted in this process."""
    seen: list[str] = []
    real = _boot.build

    def build(tunables: Tunables, forks: ForkDetector) -> Fortuna:
        made = real(tunables, forks)
        seen.append(repr(made))
        return made

    monkeypatch.setattr(_boot, "build", build)
    return seen


@pytest.fixture
def nothing_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every provider and kernel be tried anew, as in a process that has just started."""
    monkeypatch.setattr(registry, "_outcomes", {})


@pytest.fixture
def no_extension(monkeypatch: pytest.MonkeyPatch, nothing_tried: None) -> None:
    """Take the C extension away from this process, as where it was not built."""
    monkeypatch.setitem(sys.modules, f"{generators.__name__}._native", None)
    monkeypatch.delitem(sys.modules, f"{generators.__name__}.providers.native", raising=False)
    monkeypatch.delattr(generators, "_native", raising=False)


@pytest.fixture
def write_config(tmp_path: Path) -> Callable[..., str]:
    """Give a function that writes a file of tunables and returns its path."""

    def write(text: str, *, name: str = "fortuna.toml", mode: int = 0o600) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    return write


@pytest.fixture(params=[0, 0o077], ids=["umask-000", "umask-077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set the umask of this process, the widest and the narrowest usual one in turn."""
    mask: int = request.param
    before = os.umask(mask)
    yield mask
    os.umask(before)
