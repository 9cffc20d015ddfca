"""Tokens by a pool of processes: however they are started, they run on the cipher of the process that starts them.

An executor rather than ``multiprocessing.Pool``: where a process of the pool is killed, the one says so, and the other
waits for ever for what that process was doing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import fortuna


def token(_: int = 0) -> dict[str, object]:
    """Return a token."""
    stats = fortuna.stats()
    return {
        "token": fortuna.random_bytes(16).hex(),
        "pid": os.getpid(),
        "cipher": stats.generator,
        "provider": stats.provider,
    }


def main(method: str, count: int) -> None:
    """Print *count* tokens of two processes that *method* starts: ``fork``, ``forkserver`` or ``spawn``."""
    # Before the first process is started, so that all of them have these tunables, whatever becomes of the file.
    print(f"process {os.getpid()} booted {fortuna.boot()!r}", flush=True)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for answer in pool.map(token, range(count)):
            print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
