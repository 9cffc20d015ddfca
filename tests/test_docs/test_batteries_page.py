"""The page on batteries: its tables are what the code does."""

from __future__ import annotations

import re

from fortuna.batteries.adapter import Settings
from fortuna.batteries.controls import CONTROLS
from fortuna.batteries.dieharder import DETECTED
from fortuna.batteries.judge import DEFAULT_BUDGET
from fortuna.batteries.registry import BATTERIES, make
from fortuna.batteries.workloads import WORKLOADS
from fortuna.cli.presets import PRESETS
from fortuna.cli.status import Status

from .docs_support import DOCS

PAGE = (DOCS / "batteries.md").read_text(encoding="utf-8")
MANUAL = (DOCS / "man" / "fortuna-dump.md").read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """Return the cells of a table's rows, its head too if it is in *text*."""
    lines = re.findall(r"^ *\| (.*)\|$", text, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def marked(name: str) -> list[list[str]]:
    """Return the rows of the table between two marks."""
    (inside,) = re.findall(rf"<!-- {name}: begin -->(.*)<!-- {name}: end -->", PAGE, re.DOTALL)
    return rows(inside)[1:]


def test_controls_of_the_page() -> None:
    """The page has each control with its fault."""
    section = PAGE.partition("| control | fault |")[2].partition("\n\n")[0]
    assert [[f"`{control.name}`", control.fault] for control in CONTROLS.values()] == rows(section)


def test_detections_of_the_page() -> None:
    """The page says which controls each battery must reject."""
    expected = {name: list(make(name, Settings(None, None, None, {})).detects) for name in BATTERIES}
    assert expected == {row[0]: row[1].split(", ") for row in marked("detects")}


def test_dieharders_tests_of_the_page() -> None:
    """The page has each of dieharder's tests once, with what it detects."""
    found = [(int(test), tuple(row[1].split(", "))) for row in marked("dieharder") for test in row[0].split(", ")]
    assert len(found) == len(DETECTED)
    assert dict(found) == DETECTED


def test_workloads_of_the_page() -> None:
    """The page has the runs that estimates are made from."""
    expected = [
        [each.battery, each.run, f"{each.size:,}", "unknown" if each.seconds is None else f"{each.seconds:g}"]
        for each in WORKLOADS
    ]
    assert expected == marked("workloads")


def test_exit_codes_of_the_page() -> None:
    """The page has the exit codes of verdicts."""
    section = PAGE.partition("| exit status | verdict |")[2].partition("\n\n")[0]
    expected = [Status.OK, Status.REJECTED, Status.NO_BATTERY, Status.INVALID_RUN]
    assert expected == [int(row[0]) for row in rows(section)]


def test_budget_of_the_page() -> None:
    """The page and the manual name the usual budget."""
    assert 1e-4 == DEFAULT_BUDGET
    assert "1 in 10,000 unless `--budget` says otherwise" in PAGE
    assert "1e-4 without this option" in MANUAL


def test_presets_of_the_manual() -> None:
    """The manual has each preset with its formats and its words."""
    section = MANUAL.partition("| battery | format | words | size |")[2].partition("\n\n")[0]
    found = {}
    for battery, form, words, _ in rows(section):
        name = re.findall(r"\*\*(.*?)\*\*", battery)[0]
        found[name] = (re.findall(r"\*\*(.*?)\*\*", form), words)
    expected: dict[str, tuple[list[str], str]] = {}
    for preset in PRESETS:
        forms, _ = expected.setdefault(preset.name, ([], "32 bits" if preset.word else ""))
        forms.append(preset.form)
    assert expected == found
