"""Presets: what each battery of statistical tests wants to be fed with, and the pipeline that feeds it.

One row for each battery and format, the usual format first. Every figure and every answer to a battery's questions is
from a run of it; docs/batteries.md has them. A battery gets raw words in the order of the machine it runs on, since
that is how it will read them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from shlex import join, quote

from ..batteries.units import RNGTEST_BLOCK, RNGTEST_PRIMING, STS_STREAM_BITS, TESTU01_SOURCE
from .status import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from typing import Final

#: The file between the two commands, for a battery that reads no pipe.
SAMPLE: Final = "sample.bin"


@dataclass(frozen=True, slots=True)
class Preset:
    """How one battery is fed.

    Attributes
    ----------
    name : str
        The value of ``--for``.
    form : str
        The value of ``-f``.
    word : int or None
        The value of ``--word``, in bits.
    size : int or None
        The value of ``-n``: bytes of the stream, ``None`` for no end.
    pipeline : str
        The shell's command line, in which ``{dump}`` is ours.
    data : str
        What a normal run reads.
    note : str
        What to know before it is run.
    """

    name: str
    form: str
    word: int | None
    size: int | None
    pipeline: str
    data: str
    note: str

    @property
    def endian(self) -> str | None:
        """Return the value of ``--endian``: words are for the machine they are read on."""
        return sys.byteorder if self.word else None

    @property
    def needs_file(self) -> bool:
        """Return whether the battery reads a file and no pipe."""
        return "{file}" in self.pipeline


PRESETS: Final = (
    Preset(
        "dieharder",
        "raw",
        32,
        None,
        "{dump} | dieharder -a -g 200",
        "246 GB for -a, 55 to 552 MB for one test",
        "its exit status is 0 whatever it finds; text or hexadecimal digits given to -g 200 fail every test",
    ),
    Preset(
        "dieharder",
        "dieharder",
        None,
        None,
        "{dump} && dieharder -a -g 202 -f {file}",
        "246 GB for -a, which reads a shorter file again from its start",
        "values that come again spoil the later tests; -f raw, the usual format of this preset, has no end",
    ),
    Preset(
        "practrand",
        "raw",
        32,
        None,
        "{dump} | RNG_test stdin{word}",
        "32 TB unless it is stopped; -tlmax 256GB stops it",
        "its exit status is 0 whatever it finds; a bare number after -tlmax is a power of two",
    ),
    Preset(
        "testu01",
        "raw",
        32,
        None,
        "cc -O2 -o testu01 {source} -ltestu01 -lprobdist -lmylib -lm && {dump} | ./testu01 smallcrush",
        "907 MB for SmallCrush, about 1 TB for BigCrush",
        "TestU01 is a library, and its own reader of files takes words for big-endian; this program reads the pipe",
    ),
    Preset(
        "sts",
        "raw",
        None,
        12_500_000,
        r"{dump} && printf '0\n%s\n1\n0\n{streams}\n1\n' {file} | ./assess 1000000",
        "100 streams of 10^6 bits, which are 12,500,000 bytes",
        "run it in the folder of assess, which needs its own folders templates and experiments",
    ),
    Preset(
        "sts",
        "bits",
        None,
        12_500_000,
        r"{dump} && printf '0\n%s\n1\n0\n{streams}\n0\n' {file} | ./assess 1000000",
        "100 streams of 10^6 bits, which are 10^8 digits",
        "run it in the folder of assess, which needs its own folders templates and experiments",
    ),
    Preset(
        "ent",
        "raw",
        None,
        64 << 20,
        "{dump} | ent",
        "all that there is, 1 MB or more",
        "its exit status is 0 whatever it finds",
    ),
    Preset(
        "rngtest",
        "raw",
        None,
        RNGTEST_PRIMING + 1000 * RNGTEST_BLOCK,
        "{dump} | rngtest{blocks}",
        "1000 blocks of 20,000 bits, after 4 bytes that start the continuous test",
        "a good generator fails about 8 blocks in 10,000, and one failure makes the exit status 1",
    ),
    Preset(
        "sp800-90b",
        "symbols",
        None,
        125_000,
        "{dump} && ea_non_iid {file} 1",
        "10^6 symbols, one in each byte",
        "it estimates the entropy of raw noise; of a generator's output it can say nothing about the sources",
    ),
    Preset(
        "sp800-90b",
        "raw",
        None,
        1_000_000,
        "{dump} && ea_non_iid {file} 8",
        "10^6 symbols, one in each byte",
        "it estimates the entropy of raw noise; of a generator's output it can say nothing about the sources",
    ),
)


def find_preset(name: str, form: str | None = None) -> Preset:
    """Return the preset of a battery, for the format *form* if one is named.

    Raises
    ------
    UsageError
        There is no such battery, or it does not read this format.
    """
    rows = [preset for preset in PRESETS if preset.name == name]
    if not rows:
        names = ", ".join(dict.fromkeys(preset.name for preset in PRESETS))
        raise UsageError(f"--for: got {name!r}; allowed is {names}")
    for preset in rows:
        if form in (None, preset.form):
            return preset
    forms = " and ".join(f"-f {preset.form}" for preset in rows)
    raise UsageError(f"--for {name}: got -f {form}, which {name} does not read; it reads {forms}")


def pipeline(preset: Preset, arguments: Sequence[str], options: Namespace, size: int | None) -> str:
    """Return the command line that feeds *preset*'s battery with what *arguments* ask for.

    Raises
    ------
    UsageError
        The bytes would not reach the battery, or are too few for it.
    """
    own = [argument for argument in arguments if argument != "--show-command"]
    file = options.output
    if not preset.needs_file and file not in (None, "-"):
        raise UsageError(f"--show-command: -o {file} takes the bytes that {preset.name} is to read from the pipe")
    if preset.needs_file:
        if file == "-":
            raise UsageError(f"--show-command: {preset.name} reads a file; name it with -o FILE")
        if size is None:
            raise UsageError(f"--show-command: {preset.name} reads a file, and -n inf would fill it without end")
        if file is None:
            file = SAMPLE
            own += ["-o", file]
    return preset.pipeline.format(
        dump=join(["fortuna-dump", *own]),
        file=quote(file or ""),
        source=quote(str(TESTU01_SOURCE)),
        word=options.word,
        streams=streams(preset, size),
        blocks=blocks(preset, size),
    )


def streams(preset: Preset, size: int | None) -> int:
    """Return how many streams of SP 800-22 *size* bytes are."""
    count = 0 if size is None else 8 * size // STS_STREAM_BITS
    if preset.name == "sts" and not count:
        raise UsageError(f"--for sts: got {size} bytes; a stream is 125,000 bytes, and 100 of them are usual")
    return count


def blocks(preset: Preset, size: int | None) -> str:
    """Return the option that names how many blocks of FIPS 140-2 *size* bytes are; without an end there is none."""
    if size is None:
        return ""
    count = (size - RNGTEST_PRIMING) // RNGTEST_BLOCK
    if preset.name == "rngtest" and count < 1:
        raise UsageError(f"--for rngtest: got {size} bytes; one block needs 2,504, and 1000 need 2,500,004")
    return f" -c {count}"
