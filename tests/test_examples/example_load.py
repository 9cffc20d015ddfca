"""Load on an example: many clients at once that ask for tokens, and a worker that is killed meanwhile.

The scripts here import it too, in processes of their own.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    Answer = dict[str, Any]
    #: Ask for one token.
    Ask = Callable[[], Answer]
    #: Kill a worker, one of those given where there is a choice.
    Kill = Callable[[set[int]], object]
    #: Connect a client.
    Connect = Callable[[], AbstractContextManager[Ask]]

CLIENTS: Final = 20
WORKERS: Final = 2
#: How long a client waits for one answer.
ANSWER_SECONDS: Final = 20.0
#: How long it may take until a killed worker is noticed and replaced.
REPLACEMENT_SECONDS: Final = 40.0
#: Tokens that are to come from the replacement.
OF_THE_REPLACEMENT: Final = 20

#: Of a pool that replaces its processes on the way, and of each of them.
TASKS: Final = 200
TASKS_OF_A_PROCESS: Final = 10


def draw(connect: Connect, count: int) -> list[Answer]:
    """Have each of the clients ask for *count* tokens, all at once; any error is raised."""

    def ask_often(_: int) -> list[Answer]:
        with connect() as ask:
            return [ask() for _ in range(count)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [answer for answers in pool.map(ask_often, range(CLIENTS)) for answer in answers]


def kill_the_first(workers: set[int]) -> None:
    """Kill the worker with the lowest number, as the system does that runs out of memory."""
    os.kill(min(workers), signal.SIGKILL)


def draw_through_a_kill(
    connect: Connect, losses: tuple[type[Exception], ...], kill: Kill = kill_the_first
) -> tuple[list[Answer], int]:
    """Kill a worker while the clients ask, and go on until its replacement has answered often.

    Parameters
    ----------
    connect : callable
        Connect a client; it must be usable after one of *losses*.
    losses : tuple of classes
        What a client gets whose answer was to come from the killed worker.
    kill : callable
        Kill one of the workers, whose process ids it is given.

    Returns
    -------
    answers : list
        All of them, in the order of their arrival.
    lost : int
        Questions without an answer.
    """
    answers: list[Answer] = []
    counts: Counter[int] = Counter()
    lost = 0
    is_over = False
    arrival = threading.Condition()

    def ask_on(_: int) -> None:
        nonlocal lost
        with connect() as ask:
            while not is_over:
                try:
                    answer = ask()
                except losses:
                    with arrival:
                        lost += 1
                    continue
                with arrival:
                    answers.append(answer)
                    counts[answer["pid"]] += 1
                    arrival.notify_all()

    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(ask_on, number) for number in range(CLIENTS)]
        try:
            with arrival:
                assert arrival.wait_for(lambda: len(counts) == WORKERS, ANSWER_SECONDS), counts
                before = set(counts)
                kill(before)
                is_replaced = arrival.wait_for(
                    lambda: sum(counts[pid] for pid in counts if pid not in before) >= OF_THE_REPLACEMENT,
                    REPLACEMENT_SECONDS,
                )
        finally:
            is_over = True
        for client in clients:
            client.result()
    assert is_replaced, f"no answer from a process other than {before}"
    return answers, lost
