"""Pools of processes, started in each way: every process runs on its parent's cipher and repeats nobody's tokens."""

from __future__ import annotations

import json
import multiprocessing
import sys
from typing import TYPE_CHECKING, Final

import pytest

from .example_load import CLIENTS, TASKS, TASKS_OF_A_PROCESS, WORKERS
from .example_servers import (
    COUNTS,
    HERE,
    Server,
    check,
    command_of_the_page,
    environment,
    run_driver,
)

if TYPE_CHECKING:
    from pathlib import Path

    from .example_load import Answer

METHODS: Final = [name for name in ("fork", "forkserver", "spawn") if name in multiprocessing.get_all_start_methods()]
every_method = pytest.mark.parametrize("method", METHODS)


@every_method
def test_example_pools_by_hand(method: str, config: Path, tmp_path: Path) -> None:
    """The page's command with any method prints as many tokens as it is asked for, of at most two processes."""
    program, script, _, count = command_of_the_page("python pool_tokens.py")
    with Server([program, script, method, count], environment(config, tmp_path), tmp_path / "log") as pool:
        assert 0 == pool.wait_for_its_end()
        (parent,) = pool.booted()
        answers = [json.loads(line) for line in pool.said().splitlines()[1:]]
    assert int(count) == len(answers)
    assert parent not in check(answers, len({answer["pid"] for answer in answers}))


@every_method
def test_example_pools_killed_process(method: str, config: Path, tmp_path: Path) -> None:
    """A process killed under load breaks its pool, which says so to all who wait; the next one repeats nothing."""
    answers, lost = run_driver(
        "pool_driver.py", method, "kill", variables=environment(config, tmp_path), folder=tmp_path
    )
    processes = check(answers, len({answer["pid"] for answer in answers}))
    assert WORKERS < len(processes) <= 2 * WORKERS
    assert 0 < lost <= CLIENTS


@every_method
def test_example_pools_without_the_file(method: str, config: Path, tmp_path: Path) -> None:
    """A child that has to boot by itself and finds no file raises in the parent, with the name of the file."""
    config.unlink()
    script = [sys.executable, str(HERE / "pool_driver.py"), method, "unbooted", str(tmp_path / "answers.json")]
    with Server(script, environment(config, tmp_path), tmp_path / "log") as driver:
        assert 1 == driver.wait_for_its_end()
        assert f"TunableError: {config}: cannot be read: No such file or directory" in driver.said()
    assert not (tmp_path / "answers.json").exists()


@pytest.mark.slow
@every_method
def test_example_pools_over_restarts(method: str, config: Path, tmp_path: Path) -> None:
    """Twenty threads draw 500 tokens each over both processes and two restarts: no error and no token twice."""
    answers: list[Answer] = []
    for count in COUNTS:
        drawn, _ = run_driver(
            "pool_driver.py", method, str(count), variables=environment(config, tmp_path), folder=tmp_path
        )
        check(drawn, WORKERS)
        answers += drawn
    assert CLIENTS * 500 == len(answers)
    check(answers, len(COUNTS) * WORKERS)


@pytest.mark.slow
@every_method
def test_example_pools_processes_replaced_on_the_way(method: str, config: Path, tmp_path: Path) -> None:
    """A pool of multiprocessing that replaces its processes after ten tasks each gives no token twice."""
    answers, _ = run_driver(
        "pool_driver.py", method, "replace", variables=environment(config, tmp_path), folder=tmp_path
    )
    processes = check(answers, len({answer["pid"] for answer in answers}))
    assert TASKS == len(answers)
    assert TASKS // TASKS_OF_A_PROCESS <= len(processes)
