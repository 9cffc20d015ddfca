"""The comparisons: each a table whose first contender is what the others are held against."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from .._boot import build
from ..forks import ForkDetector
from ..generators import available
from ..tunables import Tunables
from . import events, numbers
from .measure import Contender, Timing
from .peers import MIB, aes_peers, chacha_peers, process_peers, request_peers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    from ..rng import Fortuna

#: Sizes of requests, in bytes.
SIZES: Final = (1, 16, 32, 256, 4096, 65536, MIB)
#: Generators of the request tables, by the provider that auto takes.
REQUESTED: Final = ("aes256-icm", "chacha20", "chacha8")
#: The ciphers of the family's tables, most rounds first.
FAMILY: Final = ("chacha20", "chacha12", "chacha8", "xchacha20", "xchacha12", "xchacha8")
#: What fewer rounds gave the Linux kernel's generator, in 10**6 bytes a second, as published: a factor of 1.77.
PUBLISHED_MB_PER_SECOND: Final = {"Linux ChaCha20": 492, "Linux ChaCha8": 873}
#: Bytes that the commands of the dump table write.
DUMPED: Final = 256 * MIB
#: Requests of 1 MiB that each thread makes in one call.
THREAD_REQUESTS: Final = 32


@dataclass(frozen=True, slots=True)
class Table:
    """One comparison: what it is about, and its contenders, of which the first is the yardstick.

    Figures that others have published, and those that are no times of calls in turn, stand in place of contenders.
    """

    title: str
    contenders: tuple[Contender, ...] = ()
    timings: tuple[Timing, ...] = ()


class Bench:
    """All comparisons, with generators of their own that the process's default one does not notice."""

    def __init__(self) -> None:
        self._forks = ForkDetector()

    def boot(self, cipher: str, provider: str = "auto", kernel: str = "auto", construction: str = "fsk2010") -> Fortuna:
        """Return a live generator."""
        values = {
            "generator.cipher": cipher,
            "generator.provider": provider,
            "generator.kernel": kernel,
            "generator.construction": construction,
        }
        return build(Tunables(values, {}), self._forks)

    def requests(self) -> Iterator[Table]:
        """Yield a table for each size of request."""
        cells = [cell for cell in available() if cell.is_auto and cell.generator in REQUESTED]
        cells += [cell for cell in available() if cell.kernel == "library" and cell.generator in REQUESTED]
        cells = [cell for cell in cells if cell.is_available]
        # A generator that auto runs by a library would be there twice.
        names = dict.fromkeys((cell.generator, cell.provider, cell.kernel) for cell in cells)
        generators = [self.boot(*name) for name in names]
        generators.append(self.boot("chacha20", construction="fast-key-erasure"))
        for n in SIZES:
            ours = (named(generator, generator.random_bytes, 1, n) for generator in generators)
            yield Table(f"random_bytes({n}), against os.urandom({n})", (*request_peers(n), *ours))

    def bulk(self) -> Iterator[Table]:
        """Yield tables of 1 MiB requests, for each kernel of each provider that is not the slow oracle."""
        for title, peers, is_aes in (
            ("AES-256", tuple(aes_peers()), True),
            ("ChaCha", tuple(chacha_peers()), False),
        ):
            ours = [
                self.readinto(cell.generator, cell.provider, cell.kernel)
                for cell in available()
                if cell.is_available and cell.provider != "reference" and cell.generator.startswith("aes") == is_aes
            ]
            yield Table(f"{title}, readinto(1 MiB), for each byte, against {peers[0].name}", (*peers, *ours))

    def readinto(self, cipher: str, provider: str, kernel: str) -> Contender:
        """Return the contender that fills 1 MiB."""
        generator, buffer = self.boot(cipher, provider, kernel), bytearray(MIB)
        return named(generator, generator.readinto, MIB, buffer)

    def family(self) -> Iterator[Table]:
        """Yield ChaCha by its rounds, the same as published, and the two request rules at 32 bytes."""
        runs_here = [cell.generator for cell in available() if cell.is_auto and cell.generator in FAMILY]
        ours = tuple(self.readinto(cipher, "auto", "auto") for cipher in FAMILY if cipher in runs_here)
        yield Table(f"rounds against speed, readinto(1 MiB), for each byte, against {ours[0].name}", ours)
        published = tuple(Timing(name, (1000 / speed,)) for name, speed in PUBLISHED_MB_PER_SECOND.items())
        yield Table("rounds against speed, as published, for each byte, against Linux ChaCha20", timings=published)
        for cipher in ("chacha20", "aes256-icm"):
            rules = tuple(
                Contender(construction, self.boot(cipher, construction=construction).random_bytes, arguments=(32,))
                for construction in ("fsk2010", "fast-key-erasure")
            )
            yield Table(f"random_bytes(32) of {cipher}, by construction, against fsk2010", rules)

    def library(self) -> Iterator[Table]:
        """Yield tables that hold the provider pycryptodome against its library encrypting 1 MiB of zeros."""
        for cipher, peers in (("aes256-icm", aes_peers()), ("chacha20", chacha_peers())):
            generator = self.boot(cipher, "pycryptodome")
            yardstick = next(peer for peer in peers if peer.name.startswith("pycryptodome"))
            ours = named(generator, generator.random_bytes, MIB, MIB)
            yield Table(f"random_bytes(1 MiB) of {cipher}, for each byte, against its library", (yardstick, ours))

    def threads(self) -> Iterator[Table]:
        """Yield tables of threads that share one generator, each making requests of 1 MiB."""
        for cipher in ("aes256-icm", "chacha20"):
            generator = self.boot(cipher)
            yield Table(
                f"threads on one {cipher}, requests of 1 MiB, time for each request",
                tuple(Contender(f"threads: {n}", in_threads, n * THREAD_REQUESTS, (generator, n)) for n in (1, 2, 4)),
            )

    def numbers(self) -> Iterator[Table]:
        """Yield a table for each kind of number or token, from the generator of the process, as programs draw them."""
        for title, contenders in numbers.comparisons():
            yield Table(title, contenders)

    def arrays(self) -> Iterator[Table]:
        """Yield a table for each way that NumPy fills an array, where NumPy is installed and can be served."""
        try:
            from . import arrays
        except ImportError:
            return
        for title, timings in arrays.comparisons():
            yield Table(title, timings=timings)

    def events(self) -> Iterator[Table]:
        """Yield what events of an application cost, what they cost its readers, and the pace of reseeds meanwhile."""
        generator = self.boot("aes256-icm")
        yield Table("events, processor time of each", timings=events.cost(generator))
        yield Table("99th percentile of random_bytes(32)", timings=events.delays(generator))
        yield Table("time from one reseed to the next", timings=events.pace(generator))

    def start(self) -> Iterator[Table]:
        """Yield tables of whole processes, from start to end, and of what the sources add to a boot."""
        yield Table(
            "start, whole processes, against python -c pass",
            (
                Contender("python -c pass", process("-c", "pass")),
                Contender("python -c 'import fortuna'", process("-c", "import fortuna")),
                Contender("fortuna-dump -n 32", process(dump_command(), "-n", "32")),
            ),
        )
        yield Table(
            "a boot by its sources, once the modules are there",
            tuple(
                Contender(f"entropy.sources = {', '.join(sources)}", self.boot_from, arguments=(sources,))
                for sources in (("os",), ("os", "cpu"))
            ),
        )

    def boot_from(self, sources: tuple[str, ...]) -> None:
        """Boot a generator on *sources*, and close it."""
        build(Tunables({"entropy.sources": sources}, {}), self._forks).close()

    def dump(self) -> Iterator[Table]:
        """Yield a table of commands that write much."""
        arguments = (dump_command(), "-n", str(DUMPED), "-f", "raw")
        ours = Contender("fortuna-dump -f raw", process(*arguments), DUMPED)
        peers = tuple(process_peers(DUMPED))
        yield Table(f"256 MiB to /dev/null, for each byte, against {peers[0].name}", (*peers, ours))


#: The tables by the name that ``--only`` takes.
GROUPS: Final[dict[str, Callable[[Bench], Iterator[Table]]]] = {
    "requests": Bench.requests,
    "bulk": Bench.bulk,
    "family": Bench.family,
    "library": Bench.library,
    "threads": Bench.threads,
    "events": Bench.events,
    "numbers": Bench.numbers,
    "arrays": Bench.arrays,
    "start": Bench.start,
    "dump": Bench.dump,
}


def named(generator: Fortuna, call: Callable[..., object], amount: int, *arguments: object) -> Contender:
    """Return a contender named for what *generator* runs on, and for its construction if that is not the default."""
    facts = generator.stats()
    name = f"fortuna {facts.generator} {facts.provider}/{facts.kernel}"
    if facts.construction != "fsk2010":
        name += f" {facts.construction}"
    return Contender(name, call, amount, arguments)


def in_threads(generator: Fortuna, count: int) -> None:
    """Make requests of 1 MiB from *count* threads at once, into buffers of their own."""

    def work() -> None:
        buffer = bytearray(MIB)
        for _ in range(THREAD_REQUESTS):
            generator.readinto(buffer)

    threads = [Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def dump_command() -> str:
    """Return the path of fortuna-dump beside this Python."""
    return str(Path(sys.executable).with_name("fortuna-dump"))


def process(*arguments: str) -> Callable[[], object]:
    """Return a call that runs Python with *arguments*, its output dropped."""
    command = (sys.executable, *arguments)
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
