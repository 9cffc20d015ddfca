"""Have twenty threads draw from the processes of a pool that do the example's task, however they are started.

Arguments: the method; the number of tokens for each client, or ``kill`` to draw until the replacement of a killed
process has answered, or ``replace`` for a pool that ends its processes after ten tasks, or ``unbooted`` for a parent
that leaves it to its children to boot; and the file for what came back, as JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fortuna
from test_examples.example_load import ANSWER_SECONDS, TASKS, TASKS_OF_A_PROCESS, WORKERS, draw, draw_through_a_kill

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from test_examples.example_load import Answer, Ask

tokens: Any = import_module("pool_tokens")


class Pool:
    """An executor, and another one when a process of it was killed; the first one then answers nothing more."""

    def __init__(self, method: str) -> None:
        self._context = multiprocessing.get_context(method)
        self._lock = threading.Lock()
        self._executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        """Return an executor whose processes have started, while the clients that might disturb a fork wait."""
        executor = ProcessPoolExecutor(WORKERS, mp_context=self._context)
        started: set[int] = set()
        while len(started) < WORKERS:
            firsts = [executor.submit(tokens.token) for _ in range(WORKERS)]
            started |= {first.result(ANSWER_SECONDS)["pid"] for first in firsts}
        return executor

    def ask(self) -> Answer:
        """Ask for a token."""
        with self._lock:
            executor = self._executor
        try:
            answer: Answer = executor.submit(tokens.token).result(ANSWER_SECONDS)
        except BrokenProcessPool:
            with self._lock:
                if executor is self._executor:
                    self._executor = self._started()
            raise
        return answer

    def connect(self) -> AbstractContextManager[Ask]:
        """Connect a client."""
        return nullcontext(self.ask)

    def close(self) -> None:
        """End the processes."""
        self._executor.shutdown()


def act(method: str, what: str) -> tuple[list[Answer], int]:
    """Return the answers, and how many questions had none."""
    if what == "replace":
        with multiprocessing.get_context(method).Pool(WORKERS, maxtasksperchild=TASKS_OF_A_PROCESS) as processes:
            return processes.map(tokens.token, range(TASKS), chunksize=1), 0
    pool = Pool(method)
    try:
        return (
            draw_through_a_kill(pool.connect, (BrokenProcessPool,))
            if what == "kill"
            else (draw(pool.connect, int(what)), 0)
        )
    finally:
        pool.close()


def main(method: str, what: str, file: str) -> None:
    """Boot where that is asked for, draw, and write down what came back."""
    if what == "unbooted":
        what = "1"
    else:
        fortuna.boot()
    answers, lost = act(method, what)
    Path(file).write_text(json.dumps({"answers": answers, "lost": lost}), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
