"""Celery's worker with two forked processes: no token twice over both and over restarts, none from another cipher."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .example_load import CLIENTS, WORKERS
from .example_servers import COUNTS, Server, check, command_of_the_page, environment, run_driver, skip_without

if TYPE_CHECKING:
    from pathlib import Path

    from .example_load import Answer

pytestmark = pytest.mark.slow


@pytest.fixture
def variables(config: Path, tmp_path: Path) -> dict[str, str]:
    """Give the environment of a worker whose broker is in memory and whose results are files."""
    skip_without(["celery"])
    results = tmp_path / "results"
    results.mkdir()
    return environment(config, tmp_path, {"CELERY_BROKER_URL": "memory://", "CELERY_RESULT_BACKEND": results.as_uri()})


def test_example_celery_over_restarts(variables: dict[str, str], tmp_path: Path) -> None:
    """Twenty clients draw 500 tokens each over both processes and two restarts: no error and no token twice."""
    answers: list[Answer] = []
    for count in COUNTS:
        drawn, _ = run_driver("celery_driver.py", str(count), variables=variables, folder=tmp_path)
        check(drawn, WORKERS)
        answers += drawn
    assert CLIENTS * 500 == len(answers)
    check(answers, len(COUNTS) * WORKERS)


def test_example_celery_killed_process(variables: dict[str, str], tmp_path: Path) -> None:
    """A process killed under load is replaced by one that serves, on the same cipher, and repeats nothing."""
    answers, lost = run_driver("celery_driver.py", "kill", variables=variables, folder=tmp_path)
    check(answers, WORKERS + 1)
    assert 0 == lost


def test_example_celery_by_hand(variables: dict[str, str], tmp_path: Path) -> None:
    """The page's command is ready after it has booted, and not before."""
    with Server(command_of_the_page("celery"), variables, tmp_path / "log") as worker:
        worker.wait_for(lambda: " ready." in worker.said())
        assert [worker.process.pid] == worker.booted()
        assert worker.said().index(" booted <") < worker.said().index(" ready.")


def test_example_celery_without_the_file(variables: dict[str, str], config: Path, tmp_path: Path) -> None:
    """The page's command ends where the file is not there, before it takes a task, and says which file it was."""
    config.unlink()
    with Server(command_of_the_page("celery"), variables, tmp_path / "log") as worker:
        assert 1 == worker.wait_for_its_end()
        assert f"no tokens without a generator: {config}: cannot be read" in worker.said()
        assert " ready." not in worker.said()
