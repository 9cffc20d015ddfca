"""Run the comparisons and print them as tables or as JSON."""

from __future__ import annotations

import json
import platform
import sys
from argparse import ArgumentParser
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .measure import measure
from .tables import GROUPS, Bench

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .measure import Timing


def machine() -> dict[str, str]:
    """Return what the numbers depend on."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    described = {"cpu": model, "system": platform.platform(), "python": platform.python_version()}
    for distribution in ("fortuna-rng", "pycryptodome", "cryptography", "numpy", "randomgen"):
        try:
            described[distribution] = version(distribution)
        except PackageNotFoundError:
            described[distribution] = "not installed"
    return described


def show(title: str, timings: Sequence[Timing]) -> str:
    """Return one table as text: time, and how many times the first contender's that is, and its inverse."""
    width = max(len(timing.name) for timing in timings) + 2
    lines = [title, f"  {'':<{width}}{'median ns':>14}{'best ns':>14}{'x time':>10}{'x speed':>10}"]
    for timing in timings:
        ratio = timing.times(timings[0])
        numbers = f"{timing.median_ns:>14.3f}{timing.best_ns:>14.3f}{ratio:>10.3f}{1 / ratio:>10.3f}"
        lines.append(f"  {timing.name:<{width}}{numbers}")
    return "\n".join(lines) + "\n"


def results(groups: Sequence[str], rounds: int) -> Iterator[tuple[str, tuple[Timing, ...]]]:
    """Yield each table's title and timings."""
    bench = Bench()
    for group in groups:
        for table in GROUPS[group](bench):
            yield table.title, table.timings or measure(table.contenders, rounds)


def main() -> int:
    """Run ``python -m fortuna.bench``."""
    parser = ArgumentParser(
        prog="python -m fortuna.bench", description="Measure fortuna against its peers, in one run, as ratios."
    )
    parser.add_argument("--rounds", type=int, default=31, metavar="N", help="rounds of each table (default 31)")
    parser.add_argument("--only", choices=GROUPS, action="append", help="run this group of tables; may be repeated")
    parser.add_argument(
        "--family",
        dest="only",
        action="append_const",
        const="family",
        help="rounds against speed, beside published figures, and the request rules: the same as --only family",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds: got {options.rounds}; allowed is 1 or more")
    found = results(options.only or tuple(GROUPS), options.rounds)
    if options.json:
        tables = [
            {
                "title": title,
                "rows": [
                    {"name": t.name, "median_ns": t.median_ns, "best_ns": t.best_ns, "times": t.times(timings[0])}
                    for t in timings
                ],
            }
            for title, timings in found
        ]
        json.dump({"machine": machine(), "tables": tables}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{key}: {value}\n" for key, value in machine().items()))
        for title, timings in found:
            sys.stdout.write(f"\n{show(title, timings)}")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
