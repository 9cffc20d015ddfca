"""Tokens by Celery, whose worker forks its processes: it boots before that, and each process has a key of its own."""

from __future__ import annotations

import os
import sys

from celery import Celery, signals

import fortuna

# Broker and results are where $CELERY_BROKER_URL and $CELERY_RESULT_BACKEND say.
app = Celery("celery_tokens")


@signals.worker_init.connect
def boot(**_: object) -> None:
    """Boot in the process that will fork. Celery would log an error and go on, so one that matters must end it."""
    try:
        print(f"process {os.getpid()} booted {fortuna.boot()!r}", flush=True)
    except fortuna.FortunaError as error:
        sys.exit(f"no tokens without a generator: {error}")


@app.task
def token() -> dict[str, object]:
    """Return a token."""
    stats = fortuna.stats()
    return {
        "token": fortuna.random_bytes(16).hex(),
        "pid": os.getpid(),
        "cipher": stats.generator,
        "provider": stats.provider,
    }
