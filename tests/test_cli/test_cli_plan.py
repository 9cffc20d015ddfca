"""``fortuna-dump plan``: the measured rate, the stated assumption, and the estimate that follows from both."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from typing import Any, Final

import pytest

from fortuna.batteries.workloads import ORIGIN, WORKLOADS, scaled
from fortuna.cli import plan
from fortuna.cli.environment import Environment
from fortuna.cli.plan import duration, estimate, run_plan
from fortuna.cli.presets import PRESETS, find_preset

from .cli_support import Outcome, ScriptedFortuna, complaint, run_here

NAMES: Final = tuple(dict.fromkeys(preset.name for preset in PRESETS))


class Ticking:
    """A clock that moves on at each look."""

    def __init__(self, seconds: float) -> None:
        self._step = round(seconds * 1e9)
        self._now = 0

    def monotonic_ns(self) -> int:
        """Return the time, later at each call."""
        self._now += self._step
        return self._now

    def sleep(self, seconds: float, /) -> None:
        """Stand still: a plan does not wait."""
        raise AssertionError(seconds)


def plan_with(*arguments: str, seconds: float = 0.1) -> Outcome:
    """Run the subcommand on a clock of ours."""
    with tempfile.TemporaryFile() as stdout:
        environment = Environment(stdout=stdout.fileno(), is_terminal=False, stderr=StringIO(), variables={})
        status = run_plan(arguments, environment, Ticking(seconds))
        stdout.seek(0)
        return Outcome(status, stdout.read(), "")


def as_json(*arguments: str, seconds: float = 0.1) -> dict[str, Any]:
    """Return the JSON of a plan."""
    parsed: dict[str, Any] = json.loads(plan_with(*arguments, "--json", seconds=seconds).out)
    return parsed


@pytest.fixture(params=[1, 2], ids=["one-processor", "two-processors"])
def processors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Give a machine with so many processors."""
    number: int = request.param
    monkeypatch.setattr(plan, "processors", lambda: number)
    return number


def test_rate_is_measured() -> None:
    """Three pieces of 2^20 bytes in three ticks of 0.1 s are 10 MiB/s; the measurement ends after a quarter second."""
    assert 10 << 20 == as_json("ent")["measured_bytes_per_second"]


def test_rate_of_symbols_is_that_of_the_stream() -> None:
    """Where a byte of the stream is eight of output, the rate counts the stream, as the sizes do."""
    assert 10 << 20 == as_json("sp800-90b")["measured_bytes_per_second"]


def test_pipe_takes_the_longer_time(processors: int) -> None:
    """Through a pipe both work at the same time, so the slower one decides; one processor has to do both."""
    found = as_json("practrand")
    (run,) = found["runs"]
    ours = 268_500_992 / (10 << 20)
    assert ("pipe", processors) == (found["through"], found["processors"])
    assert pytest.approx(ours) == run["fortuna_seconds"]
    assert 6.8 == run["battery_seconds"]
    assert pytest.approx(ours if processors == 2 else ours + 6.8) == run["wall_seconds"]
    assert "fortuna" == run["bottleneck"]


def test_file_takes_both_times(processors: int) -> None:
    """A battery that reads a file starts when the file is there."""
    found = as_json("sts")
    (run,) = found["runs"]
    assert "file" == found["through"]
    assert pytest.approx(12_500_000 / (10 << 20) + 795) == run["wall_seconds"]
    assert "battery" == run["bottleneck"]


def test_unknown_time_is_no_number() -> None:
    """A battery that nobody has timed gets no estimate, and nobody is called the bottleneck."""
    (run,) = as_json("sp800-90b")["runs"]
    assert (None, None, "unknown") == (run["battery_seconds"], run["wall_seconds"], run["bottleneck"])
    assert "unknown" in plan_with("sp800-90b").out.decode()


def test_size_scales_the_time() -> None:
    """``-n`` plans for another amount, in proportion, and the bytes are those that were asked for."""
    (run,) = as_json("practrand", "-n", "256GiB")["runs"]
    assert 256 << 30 == run["bytes"]
    assert pytest.approx(6.8 * (256 << 30) / 268_500_992) == run["battery_seconds"]


def test_the_slower_one_is_the_bottleneck() -> None:
    """The bottleneck is whoever takes longer."""
    workload = scaled(WORKLOADS[-2], 1 << 20)
    assert workload.seconds is not None
    rate = workload.size / workload.seconds
    assert "battery" == estimate(workload, rate * 1.01, is_alone=False).bottleneck
    assert "fortuna" == estimate(workload, rate * 0.99, is_alone=False).bottleneck


@pytest.mark.parametrize("name", NAMES)
def test_table(name: str) -> None:
    """The table says what was measured, what is assumed and what a normal run reads, with a row for each known run."""
    lines = plan_with(name, "--cipher", "chacha20", "--provider", "pycryptodome").out.decode().splitlines()
    assert lines[0].startswith("measured: 10 MB/s of chacha20/pycryptodome/library fsk2010 as ")
    assert f"assumed:  the batteries' times: {ORIGIN}" == lines[1]
    assert f"data:     a normal run reads {find_preset(name).data}" == lines[3]
    known = [workload for workload in WORKLOADS if workload.battery == name]
    assert known
    assert [(each.run, f"{each.size:,}") for each in known] == [tuple(re.split(r"  +", line)[:2]) for line in lines[6:]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "NAME"),
        (("diehard",), "'diehard'"),
        (("dieharder", "-n", "5"), "dieharder decides itself what it reads"),
        (("ent", "-n", "inf"), "got inf; a plan needs a number of bytes"),
        (("ent", "-n", "0"), "got 0; a plan needs a number of bytes"),
        (("ent", "-f", "raw"), "fortuna-dump plan --help shows what is allowed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refusals(script: list[ScriptedFortuna], arguments: tuple[str, ...], expected: str) -> None:
    """What cannot be planned is exit code 2 and one line; nothing is booted."""
    outcome = run_here("plan", *arguments)
    assert 2 == outcome.status
    assert expected in complaint(outcome)
    assert [] == script


def test_help(script: list[ScriptedFortuna]) -> None:
    """``plan --help`` needs no name, and names every battery."""
    outcome = run_here("plan", "--help")
    assert (0, "") == (outcome.status, outcome.err)
    assert set(NAMES) <= set(re.findall(r"[\w-]+", outcome.out.decode()))


def test_on_the_real_clock() -> None:
    """On this machine's clock the rate is that of a cipher, not of a counter gone astray."""
    outcome = run_here("plan", "rngtest", "--json")
    assert (0, "") == (outcome.status, outcome.err)
    assert 1e6 < json.loads(outcome.out)["measured_bytes_per_second"] < 1e12


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "unknown"),
        (0.0123, "0.012 s"),
        (9.94, "9.9 s"),
        (119, "119 s"),
        (120, "2.0 min"),
        (1331, "22 min"),
        (7200, "2.0 h"),
        (43_200, "12 h"),
        (172_800, "2.0 d"),
        (1_000_000, "12 d"),
    ],
)
def test_durations(seconds: float | None, expected: str) -> None:
    """A time is shown in the unit that people would use."""
    assert expected == duration(seconds)


def test_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the processors that this process may use are counted, where the system tells; else all, or one."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 5, 7}, raising=False)
    assert 3 == plan.processors()
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert 6 == plan.processors()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert 1 == plan.processors()


def test_plain_dump_imports_no_plan() -> None:
    """A dump does not pay for the subcommand."""
    # What is there before, such as a measurer of coverage, may have imported anything.
    code = "import sys; before = {*sys.modules}; import fortuna.cli.main; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "fortuna.cli.main" in done.stdout.split()
    assert {"fortuna.cli.plan", "dataclasses"}.isdisjoint(done.stdout.split())
