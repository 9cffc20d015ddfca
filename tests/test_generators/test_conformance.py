"""Every generator of ours, on each provider and kernel, through the kit that plug-ins are tested with."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.generators import create
from fortuna.generators.conformance import KeystreamConformance
from fortuna.generators.trials import SECRET, buffers, held_by, hidden, same

from . import broken_generators
from .keystream_support import CELLS, Cell, known_rows, spellings

if TYPE_CHECKING:
    from fortuna.generators import KeystreamGenerator

VECTORS = {
    cell[0]: [(row.key, row.counter, row.keystream) for row in known_rows() if row.generator == cell[0]]
    for cell in CELLS
}


class TestOurGenerators(KeystreamConformance):
    """What runs here, by generator, provider and kernel."""

    cell: Cell

    @pytest.fixture(autouse=True, params=CELLS, ids="-".join)
    def choose(self, request: pytest.FixtureRequest) -> None:
        """Make each cell the one under test."""
        self.cell = request.param
        self.block_size = 16 if self.cell[0] == "aes256-icm" else 64
        self.vectors = VECTORS[self.cell[0]]
        self.long_size = 12_000 if self.cell[1] == "reference" else 1 << 20

    def make(self) -> KeystreamGenerator:
        """Return an instance of the cell."""
        return create(*self.cell)


#: The tests of the kit that each broken generator must fail, and no others.
CAUGHT_BY: Final = {
    "Sound": "",
    "WrapsAt32": "vectors carry one_call_equals_many long_call",
    "WrapsAt64": "carry one_call_equals_many",
    "StopsAt128": "carry one_call_equals_many",
    "HalfCounter": "every_counter_bit_matters",
    "BigEndian": "vectors",
    "Repeating": "vectors carry every_counter_bit_matters nothing_repeats one_call_equals_many",
    "MiscountsParts": "next_counter",
    "DropsParts": "long_call partial_blocks",
    "Overruns": "partial_blocks output_types",
    "Buffers": (
        "carry one_call_equals_many long_call partial_blocks position_is_all_there_is output_types "
        "new_key_replaces_the_old instances_are_independent fork"
    ),
    "Mixes": "position_is_all_there_is",
    "WrongWhenLong": "long_call",
    "WritesBeforeItChecks": "refused_counter nothing_without_a_key",
    "TakesAnyOutput": "partial_blocks output_types refused_output",
    "TakesAnyCounter": "refused_counter",
    "TakesAnyKey": "refused_key",
    "ShowsRefusedKeys": "refused_key",
    "DropsKeyOnRefusal": "refused_key",
    "IgnoresKeyByte": "vectors known_answers every_key_byte_matters",
    "KeepsFirstKey": "new_key_replaces_the_old",
    "BorrowsKey": "key_types wipe_overwrites_the_key no_text_shows_the_key",
    "ShowsKey": "no_text_shows_the_key",
    "PlainKey": "no_text_shows_the_key",
    "ImmutableKey": "wipe_overwrites_the_key",
    "KeepsKeyOnWipe": "wipe_overwrites_the_key",
    "WorksAfterWipe": "nothing_without_a_key",
    "Copyable": "no_copies",
    "Shared": "instances_are_independent",
    "BoundToProcess": "fork",
    "BoundToThread": "threads",
    "BytearraysOnly": "output_types refused_output",
    "WithoutAnswers": "contract known_answers",
    "WrongAnswers": "known_answers",
    "PretendsToBeNative": "contract",
    "OtherBlocks": "contract next_counter one_call_equals_many",
    "NoGenerator": "contract",
}
OUTCOME: Final = re.compile(r"^FAILED .*::test_(\w+)\[(\S+)\]", re.MULTILINE)


@pytest.fixture(scope="module")
def failures() -> set[tuple[str, str, str]]:
    """Give what fails in a run of the kit on all broken generators: generator, test, and the test's own case."""
    options = ("-q", "-rf", "--tb=no", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *options, broken_generators.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 1 == done.returncode, done.stdout + done.stderr
    found = set()
    for test, case in OUTCOME.findall(done.stdout):
        (double,) = set(case.split("-")) & set(CAUGHT_BY)
        found.add((double, test, case.replace(double, "").strip("-")))
    return found


@pytest.mark.parametrize("double", CAUGHT_BY)
def test_broken_generator_is_caught(double: str, failures: set[tuple[str, str, str]]) -> None:
    """A generator with one fault fails the tests that are there for it, and no others; a sound one fails none."""
    assert set(CAUGHT_BY[double].split()) == {test for name, test, _ in failures if name == double}


@pytest.mark.parametrize(
    ("double", "powers"), [("WrapsAt32", "32 64 96 128"), ("WrapsAt64", "64 96 128"), ("StopsAt128", "128")]
)
def test_carries_are_told_apart(double: str, powers: str, failures: set[tuple[str, str, str]]) -> None:
    """A wrong carry fails at the boundaries where it is wrong, and at no other."""
    assert set(powers.split()) == {case for name, test, case in failures if (name, test) == (double, "carry")}


def test_every_test_of_the_kit_can_fail() -> None:
    """Each test of the kit has a broken generator that it catches, and each broken generator has its line."""
    tests = {name.removeprefix("test_") for name in dir(KeystreamConformance) if name.startswith("test_")}
    assert tests == set(" ".join(CAUGHT_BY.values()).split())
    doubles = {double.__name__ for double in (broken_generators.Sound, *broken_generators.BROKEN)}
    assert doubles == set(CAUGHT_BY)


def test_a_kit_without_make() -> None:
    """A subclass that does not say how to make an instance is told so."""
    with pytest.raises(NotImplementedError, match=r"KeystreamConformance\.make must return a new keystream generator"):
        KeystreamConformance().keyed()


def test_the_kit_without_pytest() -> None:
    """Where pytest is missing, importing the kit says so, and nothing else of the package needs it."""
    code = (
        "import sys; sys.modules['pytest'] = None\n"
        "import fortuna; fortuna.random_bytes(1)\n"
        "from fortuna.generators import available; available()\n"
        "try:\n    import fortuna.generators.conformance\n"
        "except ImportError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fortuna.generators.conformance is made of pytest tests; install pytest to run them\n" == run.stdout


def test_a_difference_is_placed() -> None:
    """A message about two streams says what was compared, and which byte differs first."""
    same(b"abcd", b"abcd", "nothing")
    with pytest.raises(AssertionError, match=r"^here: byte 2 of 4 is 78, expected 63$"):
        same(b"abcd", b"abxx", "here")


def test_the_kit_sees_what_an_instance_holds() -> None:
    """Attributes are seen in slots and without, of base classes too, and in containers; an empty slot is none."""

    class Slotted(broken_generators.Sound):
        __slots__ = ("_empty", "_full")

    made = Slotted()
    made._full = {"a": [bytearray(b"1"), (b"2",)], "b": {3}}  # type: ignore[attr-defined]
    made.other = memoryview(b"4")  # type: ignore[attr-defined]
    held = list(held_by(made))
    assert 3 in held
    assert made._is_keyed in held
    assert {b"1", b"2", b"4", bytes(32)} == {bytes(buffer) for buffer in buffers(made)}


@pytest.mark.parametrize("size", [16, 32])
def test_a_shown_key_is_seen(size: int) -> None:
    """A key, or its first half, is found in each spelling; other texts pass."""
    hidden(repr(bytes(32)))
    for spelling in spellings(SECRET[:size]):
        for text in (spelling, spelling.upper()):
            with pytest.raises(AssertionError, match="a text shows the key"):
                hidden(f"key={text}.")
