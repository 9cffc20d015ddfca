"""Web servers with two workers: no token twice over all workers and restarts, and none from another cipher."""

from __future__ import annotations

import os
import re
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from .example_load import CLIENTS, WORKERS, draw, draw_through_a_kill
from .example_servers import (
    COUNTS,
    LOSSES,
    SERVERS,
    UVICORN,
    Example,
    Server,
    check,
    command_of_the_page,
    environment,
    free_port,
    skip_without,
)

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from .example_load import Answer

pytestmark = pytest.mark.slow

every_server = pytest.mark.parametrize("example", SERVERS, ids=str)
#: Starts that may find their port taken by somebody who was quicker.
ATTEMPTS: Final = 3
PORT_TAKEN: Final = re.compile("(address already|connection) in use", re.IGNORECASE)


@contextmanager
def started(example: Example, config: Path, tmp_path: Path) -> Generator[Server]:
    """Start the server and end it."""
    skip_without(example.needs)
    for _ in range(ATTEMPTS):
        port = free_port()
        command = command_of_the_page(example.command, port)
        with Server(command, environment(config, tmp_path), tmp_path / f"{example}.log", port) as server:
            try:
                server.wait_until_ready(1 if example.boots_in_master else WORKERS)
            except AssertionError:
                if PORT_TAKEN.search(server.said()):
                    continue
                raise
            yield server
            return
    pytest.fail(f"{ATTEMPTS} ports were taken by others")


@every_server
def test_example_servers_over_restarts(example: Example, config: Path, tmp_path: Path) -> None:
    """Twenty clients draw 500 tokens each over both workers and two restarts: no error and no token twice."""
    answers: list[Answer] = []
    for count in COUNTS:
        with started(example, config, tmp_path) as server:
            drawn = draw(server.connect, count)
            workers = check(drawn, WORKERS)
            assert (workers if not example.boots_in_master else {server.process.pid}) == set(server.booted())
            server.stop()
        answers += drawn
    assert CLIENTS * 500 == len(answers)
    check(answers, len(COUNTS) * WORKERS)


@every_server
def test_example_servers_killed_worker(example: Example, config: Path, tmp_path: Path) -> None:
    """A worker killed under load is replaced by one that serves, on the same cipher, and repeats nothing.

    Where the master has booted, the file is needed no more.
    """
    with started(example, config, tmp_path) as server:
        if example.boots_in_master:
            config.unlink()
        answers, lost = draw_through_a_kill(server.connect, LOSSES)
        check(answers, WORKERS + 1)
        assert lost <= CLIENTS
        assert (1 if example.boots_in_master else WORKERS + 1) == len(server.booted())
        server.stop()


def test_example_servers_parent_hands_its_tunables_on(config: Path, tmp_path: Path) -> None:
    """Started by its own file, the parent boots too, and a replacement has its cipher though the file is gone."""
    example = UVICORN._replace(command="python fastapi_tokens.py")
    with started(example, config, tmp_path) as server:
        config.unlink()
        answers, lost = draw_through_a_kill(server.connect, LOSSES)
        check(answers, WORKERS + 1)
        assert lost <= CLIENTS
        server.stop()


@every_server
def test_example_servers_without_the_file(example: Example, config: Path, tmp_path: Path) -> None:
    """A server whose file is not there ends before it serves, and says which file it could not read."""
    skip_without(example.needs)
    config.unlink()
    port = free_port()
    command = command_of_the_page(example.command, port)
    with Server(command, environment(config, tmp_path), tmp_path / "log", port) as server:
        server.wait_for_its_end()
        assert f"TunableError: {config}: cannot be read: No such file or directory" in server.said()
        assert [] == server.booted()


def test_example_servers_replacement_without_the_file(config: Path, tmp_path: Path) -> None:
    """A worker that boots by itself and finds no file does not serve; uvicorn then ends, and says why."""
    with started(UVICORN, config, tmp_path) as server:
        config.unlink()
        with server.connect() as ask:
            answer = ask()
        os.kill(answer["pid"], signal.SIGKILL)
        server.wait_for_its_end()
        assert f"TunableError: {config}: cannot be read: No such file or directory" in server.said()
        assert WORKERS == len(server.booted())


@every_server
def test_example_servers_not_ready_before_the_seed(example: Example, config: Path, tmp_path: Path) -> None:
    """An unseeded generator: the readiness endpoint says 503, a request for a token fails, and the log says so."""
    skip_without(example.needs)
    config.write_text(f"{config.read_text()}[boot]\npretend_unseeded = true\n")
    port = free_port()
    command = command_of_the_page(example.command, port)
    with Server(command, environment(config, tmp_path), tmp_path / "log", port) as server:
        assert 503 == server.readiness()
        with server.client() as client:
            assert 500 == client.status("/token")
            assert "token" not in client.body
        assert " not seeded, " in server.said()
        server.stop()
