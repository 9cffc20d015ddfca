"""Plug-ins are found by name in the metadata of installed distributions, and imported only when they are loaded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from fortuna.errors import ParameterError, ProviderUnavailableError
from fortuna.generators.plugins import Plugin, plugin_named, plugins

from .plugin_support import install

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "fortuna.tests"


def only(group: str = GROUP) -> Plugin:
    """Return the one plug-in of *group*."""
    (plugin,) = plugins(group)
    return plugin


def test_nothing_is_offered() -> None:
    """A group that nobody knows is empty, and no name is found in it."""
    assert () == plugins(GROUP)
    assert plugin_named(GROUP, "salsa") is None


def test_listing_reads_metadata_only(site: Path) -> None:
    """The list is sorted, says who offers what, keeps to its group and imports nothing."""
    modules = {"module_of_plugin_b": "raise AssertionError('imported')"}
    install(site, "dist-b", "2.5", entry_points=f"[{GROUP}]\nzeta = module_of_plugin_b:Z\n", modules=modules)
    install(site, "dist-a", entry_points=f"[{GROUP}]\nbeta = m:B\nalpha = m:A\n[{GROUP}.others]\ngamma = m:C\n")
    found = [(p.name, p.group, p.distribution, p.version, p.supplier) for p in plugins(GROUP)]
    assert [
        ("alpha", GROUP, "dist-a", "1.0", "dist-a 1.0"),
        ("beta", GROUP, "dist-a", "1.0", "dist-a 1.0"),
        ("zeta", GROUP, "dist-b", "2.5", "dist-b 2.5"),
    ] == found
    assert "module_of_plugin_b" not in sys.modules
    named = plugin_named(GROUP, "zeta")
    assert named is not None
    assert "dist-b" == named.distribution
    assert plugin_named(GROUP, "gamma") is None


@pytest.mark.parametrize(
    ("metadata", "entry_points"),
    [
        ("", f"[{GROUP}]\nbad = m:B\n"),
        ("Name: broken\n", f"[{GROUP}]\nbad = m:B\n"),
        ("Version: 1\n", f"[{GROUP}]\nbad = m:B\n"),
        (None, f"[{GROUP}]\nno equals sign\n"),
        (None, "bad = m:B\n"),
    ],
    ids=["empty metadata", "no version", "no name", "no value", "no group"],
)
def test_broken_metadata_offers_nothing(site: Path, metadata: str | None, entry_points: str) -> None:
    """A distribution whose metadata makes no sense is passed over, and the next one is found."""
    install(site, "broken", metadata=metadata, entry_points=entry_points)
    install(site, "sound", entry_points=f"[{GROUP}]\ngood = m:G\n")
    assert [("good", "sound")] == [(p.name, p.distribution) for p in plugins(GROUP)]


def test_metadata_that_is_no_text_offers_nothing(site: Path) -> None:
    """Bytes that are no UTF-8 in either file are passed over."""
    install(site, "one", entry_points=f"[{GROUP}]\nbad = m:B\n")
    install(site, "two", entry_points=f"[{GROUP}]\nbad = m:B\n")
    install(site, "sound", entry_points=f"[{GROUP}]\ngood = m:G\n")
    (site / "one-1.0.dist-info" / "METADATA").write_bytes(b"\xff\xfe\xfd")
    (site / "two-1.0.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe\xfd")
    assert ["good"] == [p.name for p in plugins(GROUP)]


def test_first_on_the_path_counts(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that is there twice, its name spelled in two ways, counts once: as the path has it first."""
    install(site, "Some.Dist", "1.0", entry_points=f"[{GROUP}]\nold = m:O\nboth = m:B\n")
    first = tmp_path / "first"
    first.mkdir()
    install(first, "some-dist", "2.0", entry_points=f"[{GROUP}]\nboth = m:B\n")
    monkeypatch.syspath_prepend(str(first))
    assert [("both", "2.0")] == [(p.name, p.version) for p in plugins(GROUP)]


def test_without_importlib_metadata(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the standard library's reader of metadata was left out, there are no plug-ins."""
    install(site, "sound", entry_points=f"[{GROUP}]\ngood = m:G\n")
    monkeypatch.setitem(sys.modules, "importlib.metadata", None)
    assert () == plugins(GROUP)


def test_one_name_offered_twice(site: Path) -> None:
    """A name that two distributions offer is an error that names both; the list shows both, other names work."""
    install(site, "dist-b", "2.0", entry_points=f"[{GROUP}]\nsame = m:S\nother = m:O\n")
    install(site, "dist-a", "1.0", entry_points=f"[{GROUP}]\nsame = m:S\n")
    assert ["other", "same", "same"] == [p.name for p in plugins(GROUP)]
    with pytest.raises(ParameterError, match=r"'same' for fortuna\.tests is offered by dist-a 1\.0 and by dist-b 2\.0"):
        plugin_named(GROUP, "same")
    assert plugin_named(GROUP, "other") is not None


def test_load_gives_the_object(site: Path) -> None:
    """Loading imports the module and returns what the entry point names."""
    modules = {"module_of_plugin_c": "class Outer:\n    inner = object()\n"}
    install(site, "dist-c", entry_points=f"[{GROUP}]\nname = module_of_plugin_c:Outer.inner\n", modules=modules)
    loaded = only().load()
    assert sys.modules["module_of_plugin_c"].Outer.inner is loaded
    assert only().load() is loaded


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import module_that_is_nowhere", "ModuleNotFoundError: No module named 'module_that_is_nowhere'"),
        ("1 / 0", "ZeroDivisionError"),
        ("def half a line", "SyntaxError"),
        ("there = 1", "AttributeError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_failing_load(site: Path, source: str, reason: str) -> None:
    """Whatever stops the import is told with the distribution and its version, as an error of ours."""
    entry_points = f"[{GROUP}]\nname = failing_module_of_plugin:Missing\n"
    install(site, "dist-d", "0.3", entry_points=entry_points, modules={"failing_module_of_plugin": source})
    with pytest.raises(ProviderUnavailableError, match=r"'name' of dist-d 0\.3 cannot be imported") as caught:
        only().load()
    assert reason in str(caught.value)
    assert caught.value.__cause__ is not None


def test_load_of_a_value_without_sense(site: Path) -> None:
    """An entry point whose value names no module is an error of ours as well."""
    install(site, "dist-e", entry_points=f"[{GROUP}]\nname = : : :\n")
    with pytest.raises(ProviderUnavailableError, match=r"of dist-e 1\.0"):
        only().load()


def test_a_plugin_is_frozen(site: Path) -> None:
    """Nothing can be set, added or deleted, and the text says what it is."""
    install(site, "dist-f", entry_points=f"[{GROUP}]\nname = m:M\n")
    plugin = only()
    for attribute in ("name", "anything"):
        with pytest.raises(AttributeError, match=f"cannot set '{attribute}'"):
            setattr(plugin, attribute, "x")
        with pytest.raises(AttributeError, match=f"cannot delete '{attribute}'"):
            delattr(plugin, attribute)
    assert "<plug-in 'name' for fortuna.tests, dist-f 1.0>" == repr(plugin)
