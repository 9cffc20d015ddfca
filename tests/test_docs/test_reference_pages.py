"""Pages that list what the code has: the Python interface, the command, the design table."""

from __future__ import annotations

import ast
import re
from math import comb, log2
from pkgutil import resolve_name

import pytest

import fortuna
import fortuna.core
import fortuna.generators
from fortuna.cli import battery, plan
from fortuna.cli.options import build_parser
from fortuna.cli.status import Status
from fortuna.core.cutoffs import ALPHA_BITS, WINDOW, ceil_div
from fortuna.core.health import AdaptiveProportion, HealthTests, RepetitionCount
from fortuna.generators.registry import FACTORIES, GENERATORS, KERNELS

from .docs_support import DOCS, HAS_EXTENSION, ROOT

API = (DOCS / "api.md").read_text(encoding="utf-8")
MANUAL = (DOCS / "man" / "fortuna-dump.md").read_text(encoding="utf-8")
DESIGN_ROWS = re.findall(
    r"^\| .* \| `(fortuna\.[\w.]+)` \| `(test_[\w/]+\.py)::(\w+)` \|$",
    (DOCS / "design.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize("name", fortuna.__all__)
def test_name_of_the_package(name: str) -> None:
    """Every public name of the package has an entry of its own on the page of the interface."""
    assert re.search(rf"^\.\. (?:auto\w+|data):: {name}$|^\.\. py:module:: fortuna\.{name}$", API, re.MULTILINE)


@pytest.mark.parametrize("module", [fortuna.generators, fortuna.core], ids=["generators", "core"])
def test_names_of_a_module(module: object) -> None:
    """Every public name of the module stands below the module's heading."""
    _, _, below = API.partition(f".. currentmodule:: {vars(module)['__name__']}\n")
    section = below.partition(".. currentmodule::")[0]
    names = set(re.findall(r"^\.\. (?:autofunction|autoclass|data):: (\w+)$", section, re.MULTILINE))
    assert set(vars(module)["__all__"]) == names


def test_options_of_the_command() -> None:
    """The manual has the options that the command has, and no other."""
    shown = build_parser().format_help().partition("formats:")[0] + plan.build_parser().format_help()
    shown += battery.build_parser().format_help()
    actual = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown))
    documented = set(re.findall(r"\*\*(--?[a-z-]+)\*\*", MANUAL))
    assert documented == actual - {"-dump"}


def test_exit_codes_of_the_command() -> None:
    """The manual has the exit codes that the command has, in order, and no other."""
    codes = [int(code) for code in re.findall(r"^\*\*(\d+)\*\*\n: ", MANUAL, re.MULTILINE)]
    assert sorted(Status) == codes


def test_design_table_has_rows() -> None:
    """Both tables, of procedures and of properties, are found by the pattern that the next test relies on."""
    assert len(DESIGN_ROWS) == 17 + 33


@pytest.mark.parametrize(("function", "path", "test"), DESIGN_ROWS, ids=[f"{row[0]}-{row[2]}" for row in DESIGN_ROWS])
def test_design_row(function: str, path: str, test: str) -> None:
    """The function and the test of the row exist."""
    if "native" not in function or HAS_EXTENSION:
        found = resolve_name(function)
        assert callable(found)
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("generator", GENERATORS)
def test_page_of_a_generator(generator: str) -> None:
    """Each cipher is defined on the page of its family, with the kernels of every provider that runs it."""
    family = "aes256-icm" if generator == "aes256-icm" else "chacha"
    page = (DOCS / "generators" / f"{family}.md").read_text(encoding="utf-8")
    assert generator in page.lower()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.MULTILINE)
    assert {provider for cipher, provider in FACTORIES if cipher == generator} <= {provider for provider, _ in rows}
    assert {kernel for _, kernel in rows} <= set(KERNELS)


def test_every_kernel_is_explained() -> None:
    """The pages of the families have a row for every kernel there is, and no other."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "generators").glob("*.md"))
    assert set(KERNELS) == {kernel for _, kernel in re.findall(r"^\| `(\w+)` \| `(\w+)` \|", pages, re.MULTILINE)}


def test_targets_of_the_c_tests() -> None:
    """The page of the kernels names the targets and the programs that the C tests have."""
    page = (DOCS / "kernels.md").read_text(encoding="utf-8")
    script = (ROOT / "tests" / "c" / "build.py").read_text(encoding="utf-8")
    targets = set(re.findall(r"^    (\w+)  +\S", script.partition('"""')[2].partition('"""')[0], re.MULTILINE))
    table = page.partition("| target |")[2].partition("\n\n")[0]
    cells = "".join(re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE))
    assert targets == set(re.findall(r"`(\w+)`", cells))
    programs = {path.stem for path in (ROOT / "tests" / "c").glob("test_*.c")}
    assert programs == set(re.findall(r"^\| `(test_\w+)` \|", page, re.MULTILINE))


def test_kernel_of_the_example() -> None:
    """The file that the page of the kernels shows is that file."""
    page = (DOCS / "kernels.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [(ROOT / "generators" / "_kernels" / "chacha_avx2.c").read_text(encoding="utf-8")] == shown


def test_cutoffs_of_the_health_page() -> None:
    """The page's tables of cut-offs are what the tests use."""
    page = (DOCS / "health.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \| (\w+) \| (\S+) \| (\S+)(?: %)? \| (\d+) \|$", page, re.MULTILINE)
    assert 8 == len(rows)
    for claim, *cells in rows:
        tests = HealthTests("page", float(claim))
        cutoff = tests.proportion.cutoff
        shown = ["none"] * 3
        if cutoff <= WINDOW:
            p = 2.0 ** -float(claim)
            excess = sum(comb(WINDOW - 1, k) * p**k * (1 - p) ** (WINDOW - 1 - k) for k in range(cutoff - 1, WINDOW))
            shown = [str(cutoff), f"2^{log2(excess):.1f}", f"{100 * cutoff / WINDOW:.2g}"]
        harvests = 1 + ceil_div(ALPHA_BITS, 32 * float(claim))
        assert [str(tests.repetition.cutoff), *shown, str(harvests)] == cells
    alphas = re.findall(r"^\| 2\^-(\d+) \| .* \(C = (\d+)\) \| .* \(C = (\d+)\) \|$", page, re.MULTILINE)
    assert 4 == len(alphas)
    for alpha_bits, repetition, proportion in alphas:
        assert int(repetition) == RepetitionCount(8.0, int(alpha_bits)).cutoff
        assert int(proportion) == AdaptiveProportion(8.0, int(alpha_bits)).cutoff
