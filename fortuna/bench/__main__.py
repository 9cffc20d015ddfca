"""Run the comparisons and print them as tables or as JSON."""

from __future__ import annotations

import json
import platform
import sys
from argparse import ArgumentParser
from importlib.metadata import version
from pathlib import Path

from .measure import Timing, measure
from .tables import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def machine() -> dict[str, str]:
    """Return what the numbers depend on."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {
        "cpu": model,
        "system": platform.platform(),
        "python": platform.python_version(),
        "fortuna-rng": version("fortuna-rng"),
        "pycryptodome": version("pycryptodome"),
    }


def show(title: str, timings: Sequence[Timing]) -> str:
    """Return one table as text: median time, and how many times the first contender's that is."""
    lines = [title]
    for timing in timings:
        ratio = timing.times(timings[0])
        lines.append(
            f"  {timing.name:<34}{timing.median_ns / 1000:>12.3f} us{ratio:>10.3f} x{1 / ratio:>10.3f} x speed"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run ``python -m fortuna.bench``."""
    parser = ArgumentParser(
        prog="python -m fortuna.bench", description="Measure fortuna against its peers, in one run."
    )
    parser.add_argument("--rounds", type=int, default=31, metavar="N", help="rounds of each table (default 31)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds: got {options.rounds}; allowed is 1 or more")
    results = [(table.title, measure(table.contenders, options.rounds)) for table in tables()]
    if options.json:
        report = {
            "machine": machine(),
            "tables": [
                {
                    "title": title,
                    "rows": [{"name": t.name, "median_ns": t.median_ns, "times": t.times(timings[0])} for t in timings],
                }
                for title, timings in results
            ],
        }
        json.dump(report, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{key}: {value}\n" for key, value in machine().items()) + "\n")
        sys.stdout.write("\n".join(show(title, timings) for title, timings in results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
