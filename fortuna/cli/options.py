"""The command line of ``fortuna-dump``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace, RawDescriptionHelpFormatter
from functools import partial

from ..core.constructions import CONSTRUCTIONS
from ..errors import TunableError
from ..generators.registry import KERNELS, PLUGIN, PROVIDERS
from ..tunables import TUNABLES
from .formats import FORMATS
from .sizes import DIGITS_MAX, parse_size
from .status import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NoReturn

DEFAULT_SIZE: Final = 32

#: Option -> the tunable it overrides at this boot.
OVERRIDES: Final = {
    "cipher": "generator.cipher",
    "provider": "generator.provider",
    "kernel": "generator.kernel",
    "construction": "generator.construction",
}

DESCRIPTION: Final = """\
Write random bytes of a freshly booted Fortuna generator to standard output."""

EPILOG: Final = """\
formats:
  hex, base64         one line
  raw                 the bytes; with --word and --endian as words
  bits, symbols       a digit 0 or 1, or a byte 0 or 1, for each bit, most significant first
  u8, u16, u32, u64   little-endian integers in decimal, one a line
  f64                 doubles in [0, 1) from 53 bits of 8 bytes, one a line
  uuid                version 4, one a line, from 16 bytes
  dieharder           the text for dieharder -g 202: a head, then as u32
  hexdump             as hexdump -C shows it

sizes:
  32, 64k, 1.5G, 16GiB, inf; K, M, G, T, P, E are powers of 1024, KB, MB, ... of 1000

batteries, for --for:
  dieharder, practrand, testu01, sts, ent, rngtest, sp800-90b

subcommands, each with a --help of its own:
  plan NAME           how much a battery reads, and how long that takes here
  battery NAME        run a battery on the stream, and judge it

exit codes:
  0 done, 1 output failed, 2 usage, 3 not seeded, 78 configuration, 130 interrupted;
  of battery: 65 failed, 69 not installed, 70 invalid

examples:
  fortuna-dump                              32 bytes as one line of hex
  fortuna-dump --for practrand | RNG_test stdin32
  fortuna-dump --for sts --show-command     the pipeline for a battery, as the shell wants it
  fortuna-dump --cipher chacha20 -n 1M -f raw -o sample.bin"""


class Parser(ArgumentParser):
    """An argument parser that raises instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError`."""
        raise UsageError(f"{message}; {self.prog} --help shows what is allowed")


def size(text: str) -> int | None:
    """Return `parse_size` of *text* with the error that argparse shows."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def count(text: str) -> int:
    """Return *text* as a number of values."""
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX):
        raise ArgumentTypeError(f"got {text[:DIGITS_MAX]!r}; allowed is a whole number, 0 or more")
    return int(text)


def cipher(text: str) -> str:
    """Return *text* where it names a generator, of ours or of a plug-in."""
    try:
        TUNABLES["generator.cipher"].check(text)
    except TunableError as error:
        raise ArgumentTypeError(str(error)) from error
    return text


def preset(text: str) -> str:
    """Return *text* where it names a preset."""
    from .presets import find_preset  # here, because few command lines have one

    try:
        return find_preset(text).name
    except UsageError as error:
        raise ArgumentTypeError(str(error).removeprefix("--for: ")) from error


def parse(parser: ArgumentParser, arguments: Sequence[str]) -> Namespace:
    """Return the options of *arguments*, those that they leave out from the preset, if they name one."""
    options = parser.parse_args(arguments)
    if options.preset:
        from .presets import find_preset

        # What the command line names wins over defaults, whatever the defaults are; so they are changed.
        given = parser.parse_args(arguments, Namespace(format=None)).format
        chosen = find_preset(options.preset, given)
        parser.set_defaults(format=chosen.form, word=chosen.word, endian=chosen.endian, size=chosen.size)
        options = parser.parse_args(arguments)
    return options


def build_parser() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="fortuna-dump",
        description=DESCRIPTION,
        epilog=EPILOG,
        # Finding out the terminal's width costs as much as a short dump, and argparse makes a formatter for every
        # option; `show_help` sets the real one.
        formatter_class=partial(RawDescriptionHelpFormatter, width=80),
        allow_abbrev=False,
        add_help=False,
    )
    output = parser.add_argument_group("output")
    amount = output.add_mutually_exclusive_group()
    amount.add_argument(
        "-n", dest="size", metavar="SIZE", type=size, default=DEFAULT_SIZE, help="how many bytes (default 32), or inf"
    )
    amount.add_argument(
        "--count", metavar="N", type=count, help="how many values instead, where the format shows values of one size"
    )
    output.add_argument("-f", dest="format", choices=FORMATS, default="hex", help="how to show them (default hex)")
    output.add_argument(
        "--word", type=int, choices=(8, 16, 32, 64), help="raw: write whole words of so many bits, and no part of one"
    )
    output.add_argument("--endian", choices=("little", "big"), help="raw: the byte order of the words (default little)")
    output.add_argument(
        "--for", dest="preset", metavar="NAME", type=preset, help="format, words and size as a battery wants them"
    )
    output.add_argument(
        "--newline", action=BooleanOptionalAction, help="end a text with a newline, or not (default: end it)"
    )
    output.add_argument(
        "-o", dest="output", metavar="FILE", help="write to FILE, created with mode 0600; - is standard output"
    )
    output.add_argument(
        "--force", action="store_true", help="overwrite an existing FILE; write raw bytes to a terminal"
    )
    add_boot_options(parser)
    instead = parser.add_argument_group("instead of random bytes").add_mutually_exclusive_group()
    instead.add_argument(
        "--list", action="store_true", help="show generators, providers, kernels and sources, and which are active"
    )
    instead.add_argument(
        "--stats",
        nargs="?",
        const="table",
        choices=("table", "json"),
        help="boot, and show the generator's statistics as a table or as JSON",
    )
    instead.add_argument("--tunables", action="store_true", help="show the effective tunables and their origins")
    instead.add_argument(
        "--show-command", action="store_true", help="show the pipeline that feeds the battery of --for"
    )
    instead.add_argument("--version", action="store_true", help="show the version")
    instead.add_argument("-h", "--help", action="store_true", help="show this help")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_boot_options(parser: ArgumentParser) -> None:
    """Add the options that say how the generator is booted."""
    boot = parser.add_argument_group("boot")
    boot.add_argument("--config", metavar="FILE", help="the TOML file of the tunables")
    boot.add_argument("--cipher", metavar="NAME", type=cipher, help="generator.cipher, at this boot only; see --list")
    boot.add_argument("--provider", choices=("auto", *PROVIDERS, PLUGIN), help="generator.provider, at this boot only")
    boot.add_argument(
        "--kernel", choices=("auto", *KERNELS), metavar="NAME", help="generator.kernel, at this boot only; see --list"
    )
    boot.add_argument("--construction", choices=CONSTRUCTIONS, help="generator.construction, at this boot only")


def finish_subcommand(parser: ArgumentParser) -> None:
    """Add what every subcommand takes."""
    add_boot_options(parser)
    parser.add_argument("-h", "--help", action="store_true", help="show this help")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def show_help(parser: ArgumentParser) -> str:
    """Return the help text, as wide as the terminal."""
    parser.formatter_class = RawDescriptionHelpFormatter
    return parser.format_help()
