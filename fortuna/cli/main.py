"""The way into ``fortuna-dump``: `main` is the process, `run` turns errors into exit codes, `program` does the work."""

from __future__ import annotations

import signal
import sys

from .._version import __version__
from ..errors import (
    FortunaError,
    NotSeededError,
    ProviderUnavailableError,
    SeedFilePermissionError,
    SelfTestError,
    TunableError,
)
from .environment import Environment
from .formats import choose, size_of
from .options import OVERRIDES, build_parser, parse, show_help
from .sink import Sink, create_file
from .status import OutputError, Status, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import Final

    from ..rng import Fortuna
    from ..tunables import Tunables
    from ..typing import Buffer
    from .formats import Format

#: Bytes drawn and written at a time: the longest single request.
PIECE: Final = 1 << 20
#: Bytes that any pipe takes at once.
LONG: Final = 1 << 16


def main() -> int:
    """Run the command for this process and return its exit code."""
    # A reader that has seen enough closes the pipe; like other filters, this one then ends without a word.
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    environment = Environment.of_this_process()
    status = run(sys.argv[1:], environment)
    # Python flushes this stream once more at its end, and would put a failure in the place of our exit code.
    sys.stderr = environment.stderr
    return status


def run(arguments: Sequence[str], environment: Environment) -> Status:
    """Do what *arguments* ask for; report an error as one line and an exit code, with ``--debug`` as a traceback."""
    try:
        return program(arguments, environment)
    except BrokenPipeError:
        return Status.FAILURE  # only where SIGPIPE does not exist or is ignored; nobody reads, so nothing is said
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the one place where everything becomes an exit code
        known = isinstance(error, FortunaError | UsageError | OutputError)
        environment.complain(str(error) if known else f"internal error: {error!r}; --debug shows where")
        if "--debug" in arguments:
            from traceback import format_exc  # here, because only a developer asks for it

            environment.complain(format_exc())
        return status_of(error)


def status_of(error: Exception) -> Status:
    """Return the exit code for *error*."""
    if isinstance(error, UsageError):
        return Status.USAGE
    if isinstance(error, NotSeededError):
        return Status.NOT_SEEDED
    if isinstance(error, TunableError | ProviderUnavailableError | SelfTestError | SeedFilePermissionError):
        return Status.CONFIGURATION
    return Status.FAILURE


def program(arguments: Sequence[str], environment: Environment) -> Status:
    """Do the work, without handling errors."""
    # Looked at before a parser is built, so that a plain dump does not pay for the parsers of the others.
    if arguments and arguments[0] == "plan":
        from .plan import run_plan

        return run_plan(arguments[1:], environment)
    if arguments and arguments[0] == "battery":
        from .battery import run_battery

        return run_battery(arguments[1:], environment)
    parser = build_parser()
    options = parse(parser, arguments)
    stdout = Sink(environment.stdout, "standard output", owns=False)
    if options.help:
        stdout.write(show_help(parser).encode())
    elif options.version:
        stdout.write(f"fortuna-dump {__version__}\n".encode())
    elif options.show_command:
        stdout.write(show_command(arguments, options, environment).encode(errors="surrogateescape"))
    elif options.stats:
        from .statistics import show_stats

        with boot(options, environment) as fortuna:
            shown = show_stats(fortuna.stats(), options.stats)
        stdout.write(shown.encode())
    elif options.list or options.tunables:
        from .tables import list_generators, list_sources, list_tunables

        tunables = effective_tunables(options, environment)
        tables = (list_generators, list_sources) if options.list else (list_tunables,)
        stdout.write("\n".join(table(tunables) for table in tables).encode(errors="backslashreplace"))
    else:
        dump(options, environment, stdout)
    return Status.OK


def shape(options: Namespace) -> tuple[Format, int | None]:
    """Return the format and the size of the output, where the options for them go together."""
    form = choose(options.format, options.word, options.endian)
    size = size_of(form, options.size, options.count)
    if not (form.is_text or options.newline is None):
        raise UsageError(f"--newline and --no-newline: got one with -f {form.name}; they are for text")
    return form, size


def show_command(arguments: Sequence[str], options: Namespace, environment: Environment) -> str:
    """Return the pipeline for the battery of ``--for``, after what to know about it on standard error."""
    if not options.preset:
        raise UsageError("--show-command: say of which battery, with --for NAME")
    from .presets import find_preset, pipeline

    _, size = shape(options)
    preset = find_preset(options.preset, options.format)
    shown = pipeline(preset, arguments, options, size)
    environment.complain(f"{preset.name}: a normal run reads {preset.data}; {preset.note}")
    return f"{shown}\n"


def dump(options: Namespace, environment: Environment, stdout: Sink) -> None:
    """Boot, and write random bytes to the output."""
    form, size = shape(options)
    to_stdout = options.output in (None, "-")
    if to_stdout and environment.is_terminal and not (form.is_text or options.force):
        raise UsageError(
            "raw bytes garble a terminal; pipe them into a program, write them to a file with -o FILE, or show them "
            "with -f hex (--force writes them all the same)"
        )
    with boot(options, environment) as fortuna:
        output = pieces(fortuna, size, form, with_newline=options.newline is not False)
        # Drawn before a file is created, so that a refusal leaves none behind.
        first = next(output)
        sink = stdout if to_stdout else create_file(options.output, force=options.force)
        with sink:
            if len(first) > LONG:
                sink.widen()
            sink.write(first)
            for piece in output:
                sink.write(piece)


def boot(options: Namespace, environment: Environment) -> Fortuna:
    """Boot a generator of the command's own."""
    # Imported here, because neither --help nor a mistake in the command line needs a cipher.
    from .._boot import build, process

    return build(effective_tunables(options, environment), process.forks)


def effective_tunables(options: Namespace, environment: Environment) -> Tunables:
    """Return the tunables of the file and of the options that override them."""
    from ..tunables_file import load_tunables

    overrides = {key: getattr(options, option) for option, key in OVERRIDES.items() if getattr(options, option)}
    return load_tunables(
        options.config,
        overrides,
        environ=environment.variables,
        override_origins={key: f"--{option}" for option, key in OVERRIDES.items()},
    )


def pieces(fortuna: Fortuna, size: int | None, form: Format, *, with_newline: bool) -> Iterator[Buffer]:
    """Yield *size* random bytes, or without end, as *form* shows them; a piece is valid until the next is asked for."""
    longest = PIECE - PIECE % form.unit
    head = b"" if size is None else form.head(size)
    done = 0
    with memoryview(bytearray(longest if size is None else min(longest, size))) as buffer:
        while size is None or done < size:
            view = buffer if size is None else buffer[: size - done]
            fortuna.readinto(view)
            shown = form.encode(view, done)
            yield head + shown if head else shown
            head = b""
            done += len(view)
        buffer[:] = bytes(len(buffer))
    yield head + form.tail(done) + (form.newline(done) if with_newline else b"")
