"""Servers that fork: an application booted in the master, workers that C code or Python forks, no block twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import pytest

from .native_support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from typing_extensions import Self

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="wipe-on-fork pages are a Linux feature"),
    pytest.mark.skipif(not (ROOT / "setup.py").is_file(), reason="the sources are not here to be installed"),
]

#: Boots in the process that loads it, and answers with its process id, the provider and 16 bytes.
APPLICATION: Final = """
import os
import fortuna
first = fortuna.random_bytes(16)
loaded_in = os.getpid()

def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    text = f"{os.getpid()} {loaded_in} {fortuna.stats().provider} {fortuna.random_bytes(16).hex()} {first.hex()}"
    return [text.encode()]
"""
DRAWS: Final = 300
PATIENCE_SECONDS: Final = 60.0


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an environment with fortuna and both servers, or skip where one cannot be installed."""
    base = tmp_path_factory.mktemp("servers")
    folder = base / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, str(ROOT)],
        env={**os.environ, "FORTUNA_NATIVE": "require"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    for server in ("uwsgi", "gunicorn"):
        done = subprocess.run([*pip, server], capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            # Where the extension is required, so is the proof that it survives these servers.
            give_up = pytest.fail if os.environ.get("FORTUNA_NATIVE") == "require" else pytest.skip
            give_up(f"{server} cannot be installed here: {done.stderr[-200:]}")
    (base / "application_of_a_test.py").write_text(APPLICATION, encoding="ascii")
    return folder


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A server of the application, killed with its workers at the end."""

    def __init__(self, venv: Path, command: list[str], port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/"
        self.log = (venv.parent / f"{command[0]}.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(venv / "bin" / command[0]), *command[1:]],
            cwd=venv.parent,
            env={key: value for key, value in os.environ.items() if key != "FORTUNA_CONFIG"},
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def get(self, _: object = None) -> list[str]:
        """Return the words of one answer, waiting for the server to start."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with urllib.request.urlopen(self.url, timeout=10) as answer:  # noqa: S310  # our own address
                    text: str = answer.read().decode("ascii")
                    return text.split()
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    self.log.seek(0)
                    raise AssertionError(self.log.read()) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()


def check_draws(server: AbstractContextManager[Server]) -> None:
    """Draw from all workers and see that no two blocks are alike, and that the master had booted."""
    with server as running:
        running.get()
        with ThreadPoolExecutor(6) as pool:
            rows: Iterator[list[str]] = pool.map(running.get, range(DRAWS))
            answers = list(rows)
    workers = {row[0] for row in answers}
    assert 2 <= len(workers) <= 3, "the draws came from one worker alone"
    assert 1 == len({row[1] for row in answers}), "the application was loaded by each worker"
    assert {row[1] for row in answers}.isdisjoint(workers)
    assert {"native"} == {row[2] for row in answers}
    assert 1 == len({row[4] for row in answers})
    blocks = {row[3] for row in answers} | {row[4] for row in answers}
    assert DRAWS + 1 == len(blocks)


def test_uwsgi_default_master(venv: Path) -> None:
    """The uWSGI server in its default master mode, which runs none of Python's fork hooks: 300 different blocks."""
    port = free_port()
    options = ["--master", "--processes", "3", "--module", "application_of_a_test", "--need-app"]
    check_draws(Server(venv, ["uwsgi", "--http-socket", f"127.0.0.1:{port}", *options], port))


def test_gunicorn_preload(venv: Path) -> None:
    """The gunicorn server with the application preloaded in the master: 300 different blocks."""
    port = free_port()
    options = ["--preload", "--workers", "3", "application_of_a_test"]
    check_draws(Server(venv, ["gunicorn", "--bind", f"127.0.0.1:{port}", *options], port))
