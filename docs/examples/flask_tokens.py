"""Tokens by Flask under uWSGI: the master loads this file, boots, and forks workers without telling Python."""

from __future__ import annotations

import os

from flask import Flask

import fortuna

# At import, so that the master boots once. A master that cannot boot ends here under `--need-app`, and says why.
print(f"process {os.getpid()} booted {fortuna.boot()!r}", flush=True)

app = Flask(__name__)


@app.get("/token")
def token() -> dict[str, object]:
    """Answer with a token."""
    stats = fortuna.stats()
    return {
        "token": fortuna.random_bytes(16).hex(),
        "pid": os.getpid(),
        "cipher": stats.generator,
        "provider": stats.provider,
    }


@app.get("/ready")
def ready() -> tuple[dict[str, object], int]:
    """Answer 200 where a token would be given now, else 503."""
    is_seeded = fortuna.stats().is_seeded
    return {"ready": is_seeded, "pid": os.getpid()}, 200 if is_seeded else 503
