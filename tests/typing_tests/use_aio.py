"""Uses of `fortuna.aio`."""

from __future__ import annotations

import asyncio

from typing_extensions import assert_type

from fortuna import aio
from fortuna.aio import random_bytes


async def use() -> None:
    """Await it, alone and as a task."""
    assert_type(await random_bytes(32), bytes)
    task = asyncio.create_task(aio.random_bytes(1 << 20))
    assert_type(await task, bytes)


async def misuse() -> None:
    """Do what the types forbid."""
    await random_bytes(1.5)  # type: ignore[arg-type]
    bytes(random_bytes(32))  # type: ignore[call-overload]
