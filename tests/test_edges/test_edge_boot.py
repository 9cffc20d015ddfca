"""Boot: once a process, frozen afterwards, lazy until a function is called, and nothing left behind when it fails."""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pytest

import fortuna
from fortuna import _boot
from fortuna.errors import (
    AlreadyBootedError,
    NotSeededError,
    ProviderUnavailableError,
    SelfTestError,
    TunableError,
)
from fortuna.generators import create, registry

from .edge_doubles import KINDS, ManualClock, ScriptedSystem, lines_of, run_script
from .edge_paths import WHY_NO_NATIVE, needs_native

if TYPE_CHECKING:
    from pathlib import Path

    from fortuna._boot import Process

#: What ``auto`` takes without the extension.
LIBRARY: Final = "openssl" if find_spec("cryptography") else "pycryptodome"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedSystem:
    """Give the calls of the operating system that a boot will pick, as doubles, with a clock that never waits."""
    scripted = ScriptedSystem()
    monkeypatch.setattr(os, "getrandom", scripted.getrandom, raising=False)
    monkeypatch.setattr(os, "urandom", scripted.urandom)
    monkeypatch.setattr(_boot, "SystemClock", ManualClock)
    return scripted


def write(path: Path, text: str) -> str:
    """Write a configuration file that the loader accepts and return its name."""
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def test_edge_boot_is_the_only_one(unbooted: Process, path: str, provider: str) -> None:
    """Booting again with the same effective values returns the same object, however they are said."""
    overrides = {"generator.cipher": "chacha20", "generator.provider": provider}
    first = unbooted.boot(None, overrides)
    assert KINDS[path] == type(first).__name__
    assert first is unbooted.default()
    assert first is unbooted.boot(None, {**overrides, "boot.timeout": 30})
    assert "chacha20" == first.stats().generator


@pytest.mark.parametrize(
    "overrides", [None, {}, {"generator.cipher": "aes256-icm"}, {"generator.cipher": "chacha20", "boot.timeout": 1}]
)
def test_edge_boot_with_other_values_is_an_error(overrides: dict[str, object] | None, unbooted: Process) -> None:
    """A second boot that asks for other values is refused by name, and the first goes on unchanged."""
    first = unbooted.boot(None, {"generator.cipher": "chacha20"})
    with pytest.raises(
        AlreadyBootedError, match=r"this process is booted already, with other tunables: .* is .*, asked"
    ):
        unbooted.boot(None, overrides)
    assert first is unbooted.default()
    assert "chacha20" == first.stats().generator
    assert 16 == len(first.random_bytes(16))


def test_edge_boot_names_what_differs(unbooted: Process) -> None:
    """The message lists each tunable that differs, with both values, and no other."""
    unbooted.boot(None, {"generator.cipher": "chacha20"})
    with pytest.raises(AlreadyBootedError) as caught:
        unbooted.boot(None, {"boot.timeout": 5})
    assert "generator.cipher is 'chacha20', asked for 'aes256-icm', boot.timeout is 30.0, asked for 5.0" in str(
        caught.value
    )
    assert "reseed" not in str(caught.value)


def test_edge_boot_auto_prefers_the_path_in_c(unbooted: Process) -> None:
    """Whoever asks for nothing gets the native path where the extension is built, and the one in Python elsewhere."""
    kind, provider = (KINDS["python"], LIBRARY) if WHY_NO_NATIVE else (KINDS["native"], "native")
    live = unbooted.default()
    assert (kind, provider) == (type(live).__name__, live.stats().provider)
    assert type(live) is type(live.child())


def test_edge_boot_is_not_undone_by_close(unbooted: Process) -> None:
    """A closed generator stays the process's: booting again returns it, closed."""
    first = unbooted.default()
    first.close()
    assert first is unbooted.boot(None, None)


def test_edge_boot_reads_the_file_once(unbooted: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an edited file, nor a removed one, nor another environment reaches what is booted."""
    path = tmp_path / "fortuna.toml"
    monkeypatch.setenv("FORTUNA_CONFIG", write(path, "generator.cipher = 'chacha20'\n"))
    live = unbooted.default()
    assert "chacha20" == live.stats().generator
    write(path, "generator.cipher = 'aes256-icm'\n")
    assert live is unbooted.default()
    with pytest.raises(AlreadyBootedError):
        unbooted.boot(None, None)
    path.unlink()
    assert live is unbooted.default()
    monkeypatch.setenv("FORTUNA_CONFIG", "")
    assert live is unbooted.default()
    assert "chacha20" == live.stats().generator
    assert live.random_bytes(16) != live.random_bytes(16)


def test_edge_boot_takes_its_own_copy_of_the_overrides(unbooted: Process) -> None:
    """Changing the mapping or the list that was passed changes nothing."""
    sources = ["os"]
    overrides: dict[str, object] = {"generator.cipher": "chacha20", "entropy.sources": sources}
    live = unbooted.boot(None, overrides)
    overrides["generator.cipher"] = "aes256-icm"
    sources.append("cpu")
    assert live is unbooted.boot(None, {"generator.cipher": "chacha20", "entropy.sources": ["os"]})


def test_edge_boot_choice_is_out_of_reach(
    unbooted: Process, path: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No assignment, no other user of the registry and no patched registry reaches the live cipher."""
    live = unbooted.boot(None, {"generator.cipher": "chacha20", "generator.provider": provider})
    assert KINDS[path] == type(live).__name__
    kernel = live.stats().kernel
    for name in ("cipher", "generator", "parts", "random_bytes", "make_keystream"):
        with pytest.raises(AttributeError):
            setattr(live, name, None)
    create("aes256-icm").set_key(bytes(32))
    create("aes256-icm", "reference").set_key(bytes(32))
    for factories in ({}, {("chacha20", provider): ("providers.reference_aes", "ReferenceAES256ICM")}):
        monkeypatch.setattr(registry, "FACTORIES", factories)
        monkeypatch.setattr(registry, "_outcomes", {})
        monkeypatch.setattr(registry, "AUTO_ORDER", ())
        assert 8192 == len(live.random_bytes(8192))
        live.reseed()
        child = live.child()
        stats = (live.stats(), child.stats())
        assert [("chacha20", provider, kernel)] * 2 == [(one.generator, one.provider, one.kernel) for one in stats]
        assert type(live) is type(child)


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        ({"generator.cipher": "rot13"}, TunableError),
        ({"nonsense": 1}, TunableError),
        ({"boot.timeout": -1}, TunableError),
    ],
)
def test_edge_boot_refused_boots_nothing(
    overrides: dict[str, object], error: type[Exception], unbooted: Process
) -> None:
    """A refused boot leaves the process as it was: the next one decides."""
    with pytest.raises(error):
        unbooted.boot(None, overrides)
    assert unbooted._booted is None
    assert "chacha20" == unbooted.boot(None, {"generator.cipher": "chacha20"}).stats().generator


def test_edge_boot_with_a_config_argument(unbooted: Process, tmp_path: Path) -> None:
    """A named file is read, and named again it is the same boot."""
    path = tmp_path / "fortuna.toml"
    write(path, "generator.construction = 'fsk2003'\n")
    live = unbooted.boot(path, None)
    assert "fsk2003" == live.stats().construction
    assert live is unbooted.boot(str(path), None)


@pytest.mark.parametrize("error", [ProviderUnavailableError("absent"), SelfTestError("wrong")])
def test_edge_boot_has_no_fallback_to_another_cipher(
    error: ProviderUnavailableError | SelfTestError, unbooted: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cipher that cannot run is an error, never a reason to run another."""
    outcomes = {("chacha20", provider, "auto"): error for provider in registry.AUTO_ORDER}
    monkeypatch.setattr(registry, "_outcomes", outcomes)
    for provider in registry.AUTO_ORDER:
        with pytest.raises(type(error)):
            unbooted.boot(None, {"generator.cipher": "chacha20", "generator.provider": provider})
    with pytest.raises(ProviderUnavailableError) as caught:
        unbooted.boot(None, {"generator.cipher": "chacha20"})
    assert all(f"{provider}: {error}" in str(caught.value) for provider in registry.AUTO_ORDER)
    assert unbooted._booted is None


@pytest.mark.parametrize("error", [ProviderUnavailableError("absent"), SelfTestError("wrong")])
def test_edge_boot_auto_goes_on_to_the_next_provider(
    error: ProviderUnavailableError | SelfTestError, unbooted: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing native can run, the same cipher runs on the path in Python, unless native was asked for."""
    monkeypatch.setattr(registry, "_outcomes", {("chacha20", "native", "auto"): error})
    with pytest.raises(type(error)):
        unbooted.boot(None, {"generator.cipher": "chacha20", "generator.provider": "native"})
    assert unbooted._booted is None
    live = unbooted.boot(None, {"generator.cipher": "chacha20"})
    assert ("chacha20", LIBRARY) == (live.stats().generator, live.stats().provider)
    assert "Fortuna" == type(live).__name__


@pytest.mark.parametrize("times", [1, 2, 50])
def test_edge_boot_waits_for_the_kernel(times: int, unbooted: Process, scripted: ScriptedSystem, provider: str) -> None:
    """A kernel that is not seeded yet is asked again until it is, without the device."""
    scripted.errors = [BlockingIOError(11, "not yet") for _ in range(times)]
    live = unbooted.boot(None, {"generator.provider": provider, "entropy.sources": ["os"]})
    assert live.stats().is_seeded
    assert (1, 0) == (scripted.reads, scripted.urandom_reads)


@pytest.mark.parametrize("timeout", [0, 0.5, 30])
def test_edge_boot_gives_up_after_its_timeout(
    timeout: float, unbooted: Process, scripted: ScriptedSystem, provider: str
) -> None:
    """After `boot.timeout` seconds nothing is booted and no generator stays behind; a later boot may succeed."""
    overrides = {"boot.timeout": timeout, "generator.provider": provider, "entropy.sources": ["os"]}
    scripted.always = BlockingIOError(11, "not yet")
    with pytest.raises(
        NotSeededError, match=rf"boot.timeout = {timeout:g} s; failing sources: source os: .*not seeded yet;"
    ):
        unbooted.boot(None, overrides)
    assert unbooted._booted is None
    scripted.always = None
    live = unbooted.boot(None, overrides)
    assert live.stats().is_seeded
    assert bytes(16) != live.random_bytes(16)


def test_edge_boot_pretend_unseeded(unbooted: Process, provider: str) -> None:
    """The tunable boots a generator that refuses every request."""
    live = unbooted.boot(None, {"boot.pretend_unseeded": True, "generator.provider": provider})
    with pytest.raises(NotSeededError, match=r"boot\.pretend_unseeded is on"):
        live.random_bytes(1)


@pytest.mark.parametrize(
    ("path", "kernel"), [("reference", "python"), pytest.param("native", "portable", marks=needs_native)]
)
def test_edge_boot_passes_every_tunable_on(path: str, kernel: str, unbooted: Process) -> None:
    """Each value reaches the part that it is for."""
    live = unbooted.boot(
        None,
        {
            "generator.cipher": "chacha20",
            "generator.provider": path,
            "generator.kernel": kernel,
            "generator.construction": "freebsd",
            "reseed.min_pool_size": 100,
            "reseed.interval": 0.123456789,
            "entropy.sources": ["jitter", "os"],
        },
    )
    stats = live.stats()
    parts: Any = live._parts
    choice = (stats.generator, stats.provider, stats.kernel, stats.construction)
    assert ("chacha20", path, kernel, "freebsd") == choice
    assert (100, 123_456_789) == (parts.min_pool_size, parts.interval_ns)
    assert ["jitter", "os"] == [source.name for source in parts.sources]
    assert not parts.pretend_unseeded
    live.close()


@pytest.mark.parametrize("size", [68, 69, 20_000])
def test_edge_boot_with_a_large_pool(size: int, unbooted: Process, provider: str) -> None:
    """`reseed.min_pool_size` beyond the 68 bytes that one pull puts into pool 0 is reached by several."""
    live = unbooted.boot(None, {"reseed.min_pool_size": size, "generator.provider": provider})
    assert 16 == len(live.random_bytes(16))


def test_edge_boot_interval_zero(unbooted: Process, path: str, provider: str) -> None:
    """With `reseed.interval` 0 requests reseed about each time."""
    live = unbooted.boot(None, {"reseed.interval": 0, "generator.provider": provider})
    assert KINDS[path] == type(live).__name__
    for _ in range(50):
        live.random_bytes(1)
    assert 1 < live.stats().reseeds <= 51


def test_edge_boot_wall_clock_set_back(unbooted: Process, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real clock is the monotonic one: a wall clock that stands or runs back stops nothing."""
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    live = unbooted.boot(None, {"reseed.interval": 0, "generator.provider": provider})
    for _ in range(20):
        live.random_bytes(1)
    assert 1 < live.stats().reseeds
    assert 0 <= live.stats().last_reseed_age_seconds


def test_edge_boot_without_getrandom(unbooted: Process, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system without the call the device serves."""
    monkeypatch.delattr(os, "getrandom", raising=False)
    assert unbooted.boot(None, {"generator.provider": provider}).stats().is_seeded


# What importing does not do.


def test_edge_boot_import_is_cheap() -> None:
    """Importing loads no cipher, no thread helpers and no other heavy module."""
    body = """
import sys
before = set(sys.modules)
import fortuna
heavy = {"Crypto", "threading", "dataclasses", "logging", "multiprocessing", "tomli", "inspect", "typing",
         "fortuna._boot", "fortuna.rng", "fortuna.core", "numpy", "cryptography"}
print(sorted(heavy & (set(sys.modules) - before)))
"""
    # Site packages may import anything by themselves (coverage does), so what is loaded before does not count.
    assert ["[]"] == lines_of(run_script(body))


def test_edge_boot_names_do_not_boot() -> None:
    """Touching every public name, listing them and asking for help boots nothing and reads no file."""
    body = """
import fortuna, pydoc
from fortuna import *
for name in fortuna.__all__:
    assert getattr(fortuna, name) is not None, name
dir(fortuna)
repr(fortuna.default)
pydoc.render_doc(fortuna)
fortuna.generators.available()
fortuna.generators.create("chacha20")
import sys
boot = sys.modules.get("fortuna._boot")
print(boot is None or boot.process._booted is None)
try:
    fortuna.random_bytes(1)
except fortuna.TunableError as error:
    print(error)
"""
    done = run_script(body, environment={"FORTUNA_CONFIG": "/nonexistent/fortuna.toml"})
    assert [
        "True",
        "/nonexistent/fortuna.toml: cannot be read: No such file or directory; mend it or name another file",
    ] == lines_of(done)


def test_edge_boot_functions_of_the_module(path: str, provider: str) -> None:
    """Each function of the module serves the one generator of the process."""
    body = """
import fortuna, sys
overrides = {"generator.cipher": "chacha20", "generator.provider": sys.argv[1]}
live = fortuna.boot(overrides=overrides)
assert live is fortuna.default() is fortuna.boot(overrides=overrides)
buffer = bytearray(16)
assert fortuna.readinto(buffer) == 16 and any(buffer)
assert len(fortuna.random_bytes(5)) == 5
fortuna.add_event(200, b"event")
before = fortuna.stats().reseeds
fortuna.reseed()
stats = fortuna.stats()
print(stats.reseeds - before, stats.generator, stats.requests, stats.kernel, type(live).__name__)
print(repr(live))
"""
    first, shown = lines_of(run_script(body, provider))
    _, _, _, kernel, _ = first.split()
    assert f"1 chacha20 2 {kernel} {KINDS[path]}" == first
    assert f"<Fortuna chacha20/{provider}/{kernel} fsk2010, seeded, 2 reseeds>" == shown


@pytest.mark.parametrize(
    "call",
    ["random_bytes(1)", "readinto(bytearray(1))", "add_event(200, b'x')", "reseed()", "stats()", "default()", "boot()"],
)
def test_edge_boot_each_function_boots_at_its_first_call(call: str, path: str, config: dict[str, str]) -> None:
    """Whichever function comes first boots with the configured tunables."""
    body = f"import fortuna\nfortuna.{call}\nprint(fortuna.stats().is_seeded, type(fortuna.default()).__name__)\n"
    assert [f"True {KINDS[path]}"] == lines_of(run_script(body, environment=config))


def test_edge_boot_environment_of_a_real_process(tmp_path: Path) -> None:
    """`FORTUNA_CONFIG` chooses the cipher of a process that says nothing itself."""
    path = write(tmp_path / "fortuna.toml", "[generator]\ncipher = 'chacha20'\n")
    body = "import fortuna\nprint(fortuna.stats().generator)\n"
    assert ["chacha20"] == lines_of(run_script(body, environment={"FORTUNA_CONFIG": path}))


def test_edge_boot_closes_at_exit(path: str, provider: str) -> None:
    """The key is wiped when the process ends, before handlers that were registered earlier run."""
    body = """
import atexit, sys
from child_support import key_reader
def look():
    print(repr(live), any(key()))
atexit.register(look)
import fortuna
live = fortuna.boot(overrides={"generator.provider": sys.argv[1]})
key = key_reader(live)
print(any(key()), type(live).__name__, live.stats().kernel)
"""
    first, last = lines_of(run_script(body, provider))
    _, _, kernel = first.split()
    assert f"True {KINDS[path]} {kernel}" == first
    assert f"<Fortuna aes256-icm/{provider}/{kernel} fsk2010, closed, 1 reseeds> False" == last


def test_edge_boot_unknown_names() -> None:
    """A name that there is not is an `AttributeError`, as for any module."""
    with pytest.raises(AttributeError, match="module 'fortuna' has no attribute 'nonsense'"):
        fortuna.nonsense  # noqa: B018
    assert set(fortuna.__all__) <= set(dir(fortuna))
    for name in fortuna.__all__:
        assert getattr(fortuna, name) is not None
    assert fortuna.errors is sys.modules["fortuna.errors"]
    assert fortuna.generators is sys.modules["fortuna.generators"]
    # What a first touch does, whatever this process has imported by now.
    assert fortuna.__getattr__("errors") is fortuna.errors


def test_edge_boot_module_functions_in_this_process(
    unbooted: Process, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The functions of the module find the process once and go on with it."""
    monkeypatch.setattr(fortuna, "_process", None)
    monkeypatch.setattr(_boot, "process", unbooted)
    live = fortuna.boot(overrides={"generator.cipher": "chacha20", "generator.provider": provider})
    assert live is fortuna.default() is fortuna.default()
    buffer = bytearray(16)
    assert 16 == fortuna.readinto(buffer)
    assert 3 == len(fortuna.random_bytes(3))
    fortuna.add_event(200, b"event")
    fortuna.reseed()
    assert 2 == fortuna.stats().reseeds
