"""Start an example as docs/servers.md says, on a free port, ask it for tokens, and end it with all that it started."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import pytest

from fortuna.generators.registry import resolve

from .example_load import ANSWER_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from typing_extensions import Self

    from .example_load import Answer, Ask

Found = TypeVar("Found")

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
EXAMPLES: Final = ROOT / "docs" / "examples"
PAGE: Final = ROOT / "docs" / "servers.md"
#: What docs/examples/fortuna.toml chooses, and the provider that runs it here.
CIPHER: Final = "chacha20"
PROVIDER: Final = resolve(CIPHER, "auto").provider
#: Tokens for each client, 500 in all, over the first start and two restarts.
COUNTS: Final = (166, 167, 167)
#: The port of the page, in whose place a free one is put.
PORT: Final = "8000"
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 20.0
#: How long to wait before looking again at what tells nobody that it has changed.
LOOK_SECONDS: Final = 0.05
#: Questions on one connection; then the next worker that is free gets the client.
PER_CONNECTION: Final = 25
#: What a client gets whose connection was to a killed worker.
LOSSES: Final = (ConnectionResetError, BrokenPipeError, HTTPException)


class Example(NamedTuple):
    """A server of the page.

    Attributes
    ----------
    command : str
        How its line on the page begins.
    needs : tuple of str
        The modules without which it cannot be started.
    boots_in_master : bool
        Whether the master boots and forks its workers, or each worker boots by itself.
    """

    command: str
    needs: tuple[str, ...]
    boots_in_master: bool

    def __str__(self) -> str:
        return self.command.partition(" ")[0]


UVICORN: Final = Example("uvicorn", ("fastapi", "uvicorn"), boots_in_master=False)
GUNICORN: Final = Example("gunicorn", ("django", "gunicorn"), boots_in_master=True)
UWSGI: Final = Example("uwsgi", ("flask", "uwsgidecorators"), boots_in_master=True)
SERVERS: Final = (UVICORN, GUNICORN, UWSGI)


def skip_without(modules: Iterable[str]) -> None:
    """Skip the test where one of *modules* is not installed."""
    for name in modules:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed; the dependency group `examples` brings it")


def command_of_the_page(start: str, port: int | str = PORT) -> list[str]:
    """Return the words of the line of the page that starts with *start*, with another port and this environment."""
    (line,) = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"{start} "))
    program, *arguments = shlex.split(line)
    return [
        sys.executable if program == "python" else str(Path(sys.executable).parent / program),
        *(argument.replace(PORT, str(port)) for argument in arguments),
    ]


def free_port() -> int:
    """Return a port that nobody listens on; somebody else may take it, and then the start is tried again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(config: Path, home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of a program that boots from *config* and has *home* to itself."""
    return {
        **os.environ,
        "FORTUNA_CONFIG": str(config),
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "PYTHONPATH": os.pathsep.join((str(EXAMPLES), str(HERE.parent))),
        **(more or {}),
    }


class Server:
    """A program in a session of its own, with a log; leaving its context ends all of the session.

    Parameters
    ----------
    command : list of str
        The program and its arguments.
    variables : mapping
        Its environment.
    log : Path
        A file for what it says. It is printed in the end, and pytest shows that where a test fails.
    port : int
        Where it listens.
    """

    def __init__(self, command: list[str], variables: Mapping[str, str], log: Path, port: int = 0) -> None:
        self.port = port
        self.log = log
        with log.open("w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                command,
                cwd=EXAMPLES,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        """Return the log."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def booted(self) -> list[int]:
        """Return the processes that have said that they booted, each of them on the cipher of the file and seeded."""
        lines = [line for line in self.said().splitlines() if " booted <" in line]
        kind = f"<Fortuna {CIPHER}/{PROVIDER}/"
        assert all(kind in line and " seeded, " in line for line in lines), lines
        return [int(line.partition("process ")[2].partition(" ")[0]) for line in lines]

    def wait_for(self, look: Callable[[], Found | None]) -> Found:
        """Look again and again until something is found; it must be before the program ends."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            found = look()
            if found:
                return found
            time.sleep(LOOK_SECONDS)
        raise AssertionError(f"not found, status {self.process.poll()}: {self.said()}")

    def readiness(self) -> int:
        """Return the status of the readiness endpoint, when the server listens."""

        def ask() -> int | None:
            with self.client() as client:
                try:
                    return client.status("/ready")
                except OSError:
                    return None

        return self.wait_for(ask)

    def wait_until_ready(self, processes: int) -> None:
        """Wait until *processes* have booted and the readiness endpoint answers."""
        self.wait_for(lambda: len(self.booted()) == processes)
        assert 200 == self.readiness()

    @contextmanager
    def client(self) -> Generator[Client]:
        """Connect a client."""
        client = Client(self.port)
        try:
            yield client
        finally:
            client.close()

    @contextmanager
    def connect(self) -> Generator[Ask]:
        """Connect a client that asks for tokens."""
        with self.client() as client:
            yield client.token

    def wait_for_its_end(self) -> int:
        """Return the status with which it ends by itself."""
        return self.process.wait(START_SECONDS)

    def stop(self) -> None:
        """End it as a supervisor does, and see that it ends."""
        self.process.terminate()
        self.process.wait(STOP_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # all of them have ended
        self.process.wait(STOP_SECONDS)
        print(*(line for line in self.said().splitlines() if "/token" not in line), sep="\n")


class Client:
    """A client with a connection that is kept for some questions.

    Attributes
    ----------
    body : dict
        What the last answer said.
    """

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
        self._asked = 0
        self.body: dict[str, Any] = {}

    def status(self, path: str) -> int:
        """Ask for *path* and return the status of the answer, whose object is in `body`."""
        if self._asked % PER_CONNECTION == 0:
            self.close()
        self._asked += 1
        try:
            self._connection.request("GET", path)
            # uvicorn sends an answer in two pieces, the second when the first is acknowledged; without this, the
            # system lets it wait 40 milliseconds for that.
            if hasattr(socket, "TCP_QUICKACK"):
                self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, HTTPException):
            self.close()
            raise
        is_json = response.headers.get_content_type() == "application/json"
        self.body = json.loads(text) if is_json else {"text": text.decode("utf-8", "replace")}
        return response.status

    def token(self) -> Answer:
        """Return a token, with who made it."""
        assert (200, CIPHER, PROVIDER) == (self.status("/token"), self.body.get("cipher"), self.body.get("provider")), (
            self.body
        )
        return self.body

    def close(self) -> None:
        """Close the connection; the next question makes a new one."""
        self._connection.close()


def run_driver(name: str, *arguments: str, variables: Mapping[str, str], folder: Path) -> tuple[list[Answer], int]:
    """Run a script of this folder and return the answers it wrote down, and how many questions had none."""
    came_back = folder / "answers.json"
    with Server([sys.executable, str(HERE / name), *arguments, str(came_back)], variables, folder / "log") as driver:
        assert 0 == driver.wait_for_its_end(), driver.said()
        found = json.loads(came_back.read_text(encoding="ascii"))
        return found["answers"], found["lost"]


def check(answers: list[Answer], processes: int) -> set[int]:
    """See that no two tokens are alike and that *processes* workers, which are returned, made them on one cipher."""
    tokens = {answer["token"] for answer in answers}
    assert len(answers) == len(tokens), f"{len(answers) - len(tokens)} of {len(answers)} tokens came twice"
    assert {32} == {len(token) for token in tokens}
    makers = {(answer["cipher"], answer["provider"]) for answer in answers}
    assert {(CIPHER, PROVIDER)} == makers, makers
    workers = {answer["pid"] for answer in answers}
    assert processes == len(workers), workers
    return workers
