"""The unit file for systemd: it is valid, and the command it runs tells systemd when the generator is seeded."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from .example_load import WORKERS, draw
from .example_servers import (
    EXAMPLES,
    GUNICORN,
    PORT,
    START_SECONDS,
    Server,
    check,
    command_of_the_page,
    environment,
    free_port,
    skip_without,
)

UNIT: Final = EXAMPLES / "tokens.service"
ANALYZE: Final = shutil.which("systemd-analyze") or ""
#: The folder of the unit's programs, in whose place this environment's is put.
PROGRAMS: Final = "/opt/tokens/venv/bin"


def settings() -> dict[str, str]:
    """Return the unit's settings: each of them stands there once."""
    lines = [line for line in UNIT.read_text(encoding="utf-8").splitlines() if re.match(r"[A-Z]\w+=", line)]
    found = dict(line.split("=", 1) for line in lines)
    assert len(lines) == len(found)
    return found


@pytest.mark.usefixtures("config")
def test_example_unit_says_what_the_page_says() -> None:
    """The command is the page's, started from the environment and in the folder that the unit names."""
    program, *arguments = shlex.split(settings()["ExecStart"])
    assert f"{PROGRAMS}/gunicorn" == program
    assert command_of_the_page("gunicorn")[1:] == arguments
    assert PROGRAMS.startswith(settings()["WorkingDirectory"])


@pytest.mark.usefixtures("config")
@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_example_unit_is_valid(tmp_path: Path) -> None:
    """`systemd-analyze verify` accepts the unit where its program is there, and tells that it looks at programs."""
    copy = tmp_path / UNIT.name
    for program, status in ((sys.executable, 0), (str(tmp_path / "nothing"), 1)):
        copy.write_text(UNIT.read_text(encoding="utf-8").replace(f"{PROGRAMS}/gunicorn", program), encoding="utf-8")
        done = subprocess.run(
            [ANALYZE, "verify", str(copy)],
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        assert status == done.returncode, done.stderr
        assert bool(status) == (copy.name in done.stderr), done.stderr


@pytest.mark.slow
def test_example_unit_is_ready_when_seeded(config: Path, tmp_path: Path) -> None:
    """The unit's command sends systemd its readiness after the boot, and serves; without a file it sends none."""
    skip_without(GUNICORN.needs)
    assert "notify" == settings()["Type"]
    for attempt in ("with the file", "without it"):
        port = free_port()
        program, *arguments = shlex.split(settings()["ExecStart"].replace(PORT, str(port)))
        command = [program.replace(PROGRAMS, str(Path(sys.executable).parent)), *arguments]
        folder = tmp_path / attempt
        folder.mkdir()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            # A path of a socket has room for some hundred bytes, and pytest's folders have long names.
            systemd.bind(f"\0fortuna-example-{os.getpid()}-{port}")
            variables = environment(config, folder, {"NOTIFY_SOCKET": f"@fortuna-example-{os.getpid()}-{port}"})
            with Server(command, variables, folder / "log", port) as server:
                if config.exists():
                    systemd.settimeout(START_SECONDS)
                    assert b"READY=1" in systemd.recv(1024)
                    assert [server.process.pid] == server.booted()
                    check(draw(server.connect, 10), WORKERS)
                    config.unlink()
                    server.stop()
                else:
                    assert 0 != server.wait_for_its_end()
                    systemd.setblocking(False)
                    with pytest.raises(BlockingIOError):
                        systemd.recv(1024)
