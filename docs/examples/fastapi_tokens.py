"""Tokens by FastAPI under uvicorn, whose workers are new interpreters: each boots before its first request."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI, Response

import fortuna

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Boot before the first request. A worker that cannot does not start, and says why."""
    print(f"process {os.getpid()} booted {fortuna.boot()!r}", flush=True)
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/token")
async def token() -> dict[str, object]:
    """Answer with a token. Drawing it takes a microsecond, so it needs no thread of its own."""
    stats = fortuna.stats()
    return {
        "token": fortuna.random_bytes(16).hex(),
        "pid": os.getpid(),
        "cipher": stats.generator,
        "provider": stats.provider,
    }


@app.get("/ready")
async def ready(response: Response) -> dict[str, object]:
    """Answer 200 where a token would be given now, else 503."""
    is_seeded = fortuna.stats().is_seeded
    response.status_code = 200 if is_seeded else 503
    return {"ready": is_seeded, "pid": os.getpid()}


if __name__ == "__main__":
    # Booted here as well: multiprocessing hands these tunables to each worker, the later ones included, so that none
    # reads the file again.
    fortuna.boot()
    uvicorn.run("fastapi_tokens:app", workers=2, port=int(sys.argv[1]))
