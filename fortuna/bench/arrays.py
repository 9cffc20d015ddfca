"""Arrays that NumPy fills, from its own bit generators and from ours.

The time of one number is a few cycles, and a processor's guesses about branches and addresses decide over a third of it
for as long as a process lives. So the contenders run in blocks that alternate, in several processes, and the shortest
block of each process counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter_ns

import numpy as np

from ..errors import ProviderUnavailableError
from ..numpy import BitGenerator
from .measure import Timing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

#: Numbers of a call; calls of a block; blocks of a contender.
EXTENT: Final = (10**6, 30, 4)
PROCESSES: Final = 3


def comparisons() -> Iterator[tuple[str, tuple[Timing, ...]]]:
    """Yield titles and times of each call."""
    processes: list[dict[str, dict[str, float]]] = []
    for _ in range(PROCESSES):
        command = [sys.executable, "-m", __name__, *map(str, EXTENT)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        processes.append(json.loads(done.stdout))
    for method, times in processes[0].items():
        rows = tuple(Timing(name, tuple(found[method][name] for found in processes)) for name in times)
        yield f"Generator.{method}, for each of {EXTENT[0]} numbers, shortest blocks, against {rows[0].name}", rows


def contenders() -> dict[str, Any]:
    """Return the bit generators by name; the first is what NumPy takes unless it is told otherwise, and no cipher."""
    found: dict[str, Any] = {"numpy PCG64": np.random.PCG64()}
    try:
        import randomgen  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        pass
    else:
        found["randomgen ChaCha"] = randomgen.ChaCha()
    try:
        found["fortuna.numpy.BitGenerator"] = BitGenerator()
    except ProviderUnavailableError:
        pass  # an installation without the C extension
    return found


def shortest_blocks(size: int, calls: int, blocks: int) -> dict[str, dict[str, float]]:
    """Return the nanoseconds of one number, by method and contender, in this process."""
    methods = {
        "random(n)": ("random", (size,)),
        "standard_normal(n)": ("standard_normal", (size,)),
        "integers(1000, size=n)": ("integers", (0, 1000, size)),
        "shuffle(n)": ("shuffle", (np.arange(size),)),
    }
    generators = {name: np.random.Generator(bits) for name, bits in contenders().items()}
    found: dict[str, dict[str, float]] = {}
    for title, (method, arguments) in methods.items():
        best = dict.fromkeys(generators, float("inf"))
        for _ in range(blocks):
            for name, generator in generators.items():
                call = getattr(generator, method)
                start = perf_counter_ns()
                for _ in range(calls):
                    call(*arguments)
                best[name] = min(best[name], (perf_counter_ns() - start) / (calls * size))
        found[title] = best
    return found


if __name__ == "__main__":
    json.dump(shortest_blocks(*map(int, sys.argv[1:])), sys.stdout)
