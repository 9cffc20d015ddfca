"""Record what is done to a deterministic generator, keep it in a file, and do it again.

The file is JSON Lines: an object a line, in ASCII. Line 1 says what the generator starts from, each further line is one
step; docs/testing.md lists the fields. Nothing is optional and nothing is ignored, so that a slip of a hand-written
file is an error with its line and not a different test.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..errors import ParameterError
from ..generators.registry import check_provider
from .clock import ManualClock
from .deterministic import DeterministicFortuna
from .errors import ReplayError, TranscriptError
from .steps import Advance, Event, LongRead, Read, Reseed, Start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from .steps import Step

Made = TypeVar("Made")

#: The version of the form that the field ``fortuna_transcript`` of line 1 gives.
VERSION: Final = 1
#: What `bytes.hex` writes; `bytes.fromhex` would take spaces and capitals as well.
HEXADECIMAL: Final = re.compile("([0-9a-f]{2})*")
STEPS: Final[dict[str, type[Step]]] = {step.kind: step for step in (Advance, Event, Reseed, Read, LongRead)}


class Transcript:
    """The steps of a `DeterministicFortuna`: events, times and reads, with what the reads gave.

    `record` and `load` make one.

    Attributes
    ----------
    place : str
        What its errors call it: the path that it was loaded from, else ``transcript``.

    Notes
    -----
    Not secret: a transcript holds seed, events and output of a generator that is for tests only.
    """

    __slots__ = ("_now_ns", "_start", "_steps", "place")

    def __init__(self, start: Start, steps: Iterable[Step] = (), place: str = "transcript") -> None:
        self._start = start
        self._steps = list(steps)
        self._now_ns = start.now_ns
        self.place = place

    @classmethod
    def record(cls, fortuna: DeterministicFortuna) -> Transcript:
        """Return a transcript that grows by every step made with *fortuna*.

        Parameters
        ----------
        fortuna : DeterministicFortuna
            A new one: recording starts where it does.

        Raises
        ------
        ParameterError
            A step was made with it already, or it is recorded already.

        Notes
        -----
        A step that is refused is not recorded. Time that passes is noted with the step that comes after it. A child's
        steps belong to a transcript of its own.
        """
        transcript = cls(fortuna._start)
        fortuna._record_to(transcript)
        return transcript

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Transcript:
        """Return what `save` has written.

        Raises
        ------
        TranscriptError
            A line is not what docs/testing.md says; the message has its number.
        OSError
            The file cannot be read.
        """
        place = str(path)
        lines = Path(path).read_bytes().splitlines()
        if not lines:
            raise TranscriptError(f"{place}:1: got an empty file; line 1 must say what the generator starts from")
        start = parse_line(f"{place}:1", lines[0], start_of)
        return cls(
            start, [parse_line(f"{place}:{number}", line, step_of) for number, line in enumerate(lines[1:], 2)], place
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the transcript to *path*, over what is there."""
        lines = [
            {"fortuna_transcript": VERSION, **asdict(self._start)},
            *({"step": step.kind, **asdict(step)} for step in self._steps),
        ]
        text = "".join(f"{json.dumps(line, default=bytes.hex)}\n" for line in lines)
        Path(path).write_text(text, encoding="ascii", newline="\n")

    def replay(self, *, provider: str = "auto", kernel: str = "auto") -> DeterministicFortuna:
        """Do every step again, with a new generator, and compare what the reads give.

        Parameters
        ----------
        provider, kernel : str
            What executes the cipher this time.

        Returns
        -------
        DeterministicFortuna
            In the state after the last step, to go on from.

        Raises
        ------
        ParameterError
            The provider is unknown; the message lists what there is.
        ReplayError
            A read gave other bytes; the message has the line of the first and says where it differs.
        TranscriptError
            A step is refused, such as an event of a source that cannot be; the message has its line.
        ProviderUnavailableError, SelfTestError
            The provider cannot run the cipher here.
        """
        check_provider(provider)
        start = self._start
        line = 1
        try:
            fortuna = DeterministicFortuna(
                start.seed,
                cipher=start.cipher,
                provider=provider,
                kernel=kernel,
                construction=start.construction,
                min_pool_size=start.min_pool_size,
                interval_ns=start.interval_ns,
                clock=ManualClock(start.now_ns),
            )
            for step in self._steps:
                line += 1
                step.run(fortuna)
        except ReplayError as error:
            raise ReplayError(f"{self.place}:{line}: {error}") from None
        except ParameterError as error:
            raise TranscriptError(f"{self.place}:{line}: {error}") from error
        return fortuna

    def _append(self, now_ns: int, step: Step) -> None:
        """Take down *step* and the time that passed before it; called by the generator under its lock."""
        if now_ns != self._now_ns:
            self._steps.append(Advance(now_ns - self._now_ns))
            self._now_ns = now_ns
        self._steps.append(step)

    def __repr__(self) -> str:
        return f"<{self.place}: {len(self._steps)} steps from {self._start!r}>"


def parse_line(place: str, line: bytes, make: Callable[[dict[str, Any]], Made]) -> Made:
    """Return what *make* makes of the JSON object on a *line*, with *place* in front of every complaint."""
    try:
        found = json.loads(line, object_pairs_hook=without_repetition)
        if not isinstance(found, dict):
            raise TranscriptError("got no JSON object; each line is one")
        return make(found)
    except (TranscriptError, ValueError, RecursionError) as error:
        # What json says of bytes that are no text or no JSON is a ValueError, with the column; of a thousand open
        # brackets, a RecursionError.
        raise TranscriptError(f"{place}: {error}") from error


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of an object, of which json would keep the last where one stands twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise TranscriptError(f"{name}: got the field twice; need it once")
        found[name] = value
    return found


def start_of(found: dict[str, Any]) -> Start:
    """Return what line 1 says."""
    version = found.pop("fortuna_transcript", None)
    if type(version) is not int or version != VERSION:
        raise TranscriptError(f"fortuna_transcript: got {version!r}; this release reads version {VERSION}")
    return build(Start, found)


def step_of(found: dict[str, Any]) -> Step:
    """Return what a further line says."""
    kind = found.pop("step", None)
    if not isinstance(kind, str) or kind not in STEPS:
        raise TranscriptError(f"step: got {kind!r}; there is {', '.join(STEPS)}")
    made: type[Any] = STEPS[kind]
    step: Step = build(made, found)
    return step


def build(kind: Callable[..., Made], found: dict[str, Any]) -> Made:
    """Return a *kind* of dataclass from the fields of a line, all of them and no other."""
    types = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]  # it is a dataclass
    if types.keys() != found.keys():
        raise TranscriptError(f"fields: got {', '.join(found) or 'none'}; need {', '.join(types)}")
    return kind(**{name: value_of(name, types[name], found[name]) for name in types})


def value_of(name: str, kind: str, value: Any) -> Any:
    """Return one field in its type: bytes from hexadecimal digits, integers and text as they stand."""
    if kind == "bytes" and isinstance(value, str):
        if HEXADECIMAL.fullmatch(value) is None:
            raise TranscriptError(f"{name}: got text that is not hexadecimal digits, two for each byte, in lower case")
        return bytes.fromhex(value)
    if kind == "str" and isinstance(value, str):
        return value
    if kind.startswith("int") and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if kind == "int | None" and value is None:
        return None
    allowed = {"bytes": "hexadecimal digits", "str": "text", "int": "an integer of at least 0"}
    raise TranscriptError(f"{name}: got {value!r}; need {allowed.get(kind, 'an integer of at least 0, or null')}")
