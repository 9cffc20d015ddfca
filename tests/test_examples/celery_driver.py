"""Run the example's Celery worker with clients in its process, for which Celery's broker in memory is enough.

Arguments: the number of tokens for each client, or ``kill`` to draw until the replacement of a killed process has
answered, and the file for what came back, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from test_examples.example_load import ANSWER_SECONDS, WORKERS, draw, draw_through_a_kill

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from test_examples.example_load import Answer, Ask

what, file = sys.argv[1:]
tokens: Any = import_module("celery_tokens")


def ask() -> Answer:
    """Ask for a token by a message, and wait for the result."""
    result = tokens.token.delay()
    # Celery believes that who waits in the worker's process is a task, which might wait for itself.
    answer: Answer = result.get(timeout=ANSWER_SECONDS, interval=0.01, disable_sync_subtasks=False)
    return answer


def connect() -> AbstractContextManager[Ask]:
    """Connect a client; Celery does so by itself."""
    return nullcontext(ask)


def end() -> None:
    """Kill the process that does this task.

    Killed from outside, an idle one might hold the lock on the pool's queue: the pool has one queue for all processes
    where the broker is in memory.
    """
    os.kill(os.getpid(), signal.SIGKILL)


end_a_process: Any = tokens.app.task(end)


def act() -> None:
    """Draw, write down what came back, and end the worker as a supervisor does."""
    try:
        if what == "kill":
            answers, lost = draw_through_a_kill(connect, (), lambda _: end_a_process.delay())
        else:
            answers, lost = draw(connect, int(what)), 0
        Path(file).write_text(json.dumps({"answers": answers, "lost": lost}), encoding="ascii")
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


# When the pool has forked its processes, and not before: a process with threads had better not fork.
clients = threading.Thread(target=act)
tokens.signals.worker_ready.connect(lambda **_: clients.start(), weak=False)
tokens.app.conf.broker_transport_options = {"polling_interval": 0.005}
tokens.app.Worker(pool="prefork", concurrency=WORKERS, loglevel="WARNING", redirect_stdouts=False).start()
clients.join()
