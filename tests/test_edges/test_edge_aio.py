"""`fortuna.aio`: what is drawn on which thread, equal errors, cancellation, and a loop that goes on."""

from __future__ import annotations

import asyncio
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

import fortuna
from fortuna import aio
from fortuna.aio import DIRECT_MAX
from fortuna.errors import ClosedError, ParameterError

from .child_support import Child
from .edge_doubles import lines_of, run_script

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from fortuna._boot import Process

#: What a loop that hangs is given.
PATIENCE_SECONDS: Final = 30.0


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch, unbooted: Process) -> Iterator[list[int]]:
    """Have `aio` serve a process of the test's own, and give the threads that it drew on."""
    seen: list[int] = []

    def draw(n: int) -> bytes:
        seen.append(threading.get_ident())
        return unbooted.default().random_bytes(n)

    monkeypatch.setattr(aio, "process", unbooted)
    monkeypatch.setattr(aio, "draw", draw)
    yield seen
    if unbooted.running is not None:
        unbooted.running.close()


def run(call: Coroutine[Any, Any, Any]) -> Any:
    """Run *call* in a loop of its own, within a limit."""
    return asyncio.run(asyncio.wait_for(call, PATIENCE_SECONDS))


async def draws(*sizes: int) -> list[int]:
    """Draw each size after the other, and return the lengths."""
    return [len(await aio.random_bytes(size)) for size in sizes]


def is_direct(threads: list[int]) -> list[bool]:
    """Tell for each draw whether it was on the loop's thread, which is this one."""
    return [thread == threading.get_ident() for thread in threads]


def test_edge_aio_boots_on_a_thread(threads: list[int], unbooted: Process) -> None:
    """The first request of a process leaves the loop's thread, since it boots; the second is made directly."""
    assert [1, 1] == run(draws(1, 1))
    assert unbooted.running is not None
    assert [False, True] == is_direct(threads)


def test_edge_aio_hands_large_requests_to_a_thread(threads: list[int], unbooted: Process) -> None:
    """The limit itself is drawn directly, one byte more is not, and no request is short."""
    unbooted.default()
    sizes = (0, 1, DIRECT_MAX - 1, DIRECT_MAX, DIRECT_MAX + 1, 3 << 20)
    assert list(sizes) == run(draws(*sizes))
    assert [True] * 4 + [False] * 2 == is_direct(threads)


def test_edge_aio_hands_everything_of_a_slow_provider_to_a_thread(threads: list[int], unbooted: Process) -> None:
    """The reference is slower than any limit that would be worth having."""
    unbooted.boot(None, {"generator.provider": "reference", "generator.cipher": "chacha20"})
    assert [1] == run(draws(1))
    assert [False] == is_direct(threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_edge_aio_a_forked_child_seeds_itself_on_a_thread(unbooted: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first request of a child builds a new life, and does so beside its loop; no byte is the parent's."""
    unbooted.default()
    monkeypatch.setattr(aio, "process", unbooted)
    seen: list[int] = []

    def draw(n: int) -> bytes:
        seen.append(threading.get_ident())
        return unbooted.default().random_bytes(n)

    monkeypatch.setattr(aio, "draw", draw)

    def act() -> bytes:
        drawn = b"".join(run(partial(aio.random_bytes, 16)()) for _ in range(2))
        return bytes(is_direct(seen)) + drawn

    answers = [Child(act).answer() for _ in range(2)]
    own = run(aio.random_bytes(16))
    assert [b"\0\1"] * 2 == [answer[:2] for answer in answers]
    assert 5 == len({own, *(answer[start : start + 16] for answer in answers for start in (2, 18))})
    unbooted.default().close()


@pytest.mark.parametrize("n", [-1, -DIRECT_MAX, 1.5, 16.0, "16", None, 1 << 70])
@pytest.mark.parametrize("is_booted", [False, True])
def test_edge_aio_refuses_as_the_plain_call_does(
    n: Any, is_booted: bool, threads: list[int], unbooted: Process
) -> None:
    """A refused size raises the same error with the same words, and a later request is answered."""
    plain = fortuna.random_bytes
    with pytest.raises((ParameterError, TypeError, MemoryError)) as expected:
        plain(n)
    if is_booted:
        unbooted.default()
    with pytest.raises((ParameterError, TypeError, MemoryError)) as refused:
        run(aio.random_bytes(n))
    assert (expected.type, str(expected.value)) == (refused.type, str(refused.value))
    assert [16] == run(draws(16))


@pytest.mark.parametrize("n", [0, 16, DIRECT_MAX + 1])
def test_edge_aio_a_closed_generator_stays_closed(n: int, threads: list[int], unbooted: Process) -> None:
    """After close(), small and large requests raise `ClosedError`."""
    unbooted.default().close()
    with pytest.raises(ClosedError):
        run(aio.random_bytes(n))


def test_edge_aio_a_cancelled_request_leaves_nothing_half_done(
    threads: list[int], unbooted: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The awaiting task ends at once, the thread completes its request, and its bytes reach nobody."""
    live = unbooted.default()
    is_drawing, may_draw = threading.Event(), threading.Event()
    dropped: list[bytes] = []

    def draw(n: int) -> bytes:
        is_drawing.set()
        assert may_draw.wait(PATIENCE_SECONDS)
        dropped.append(live.random_bytes(n))
        return dropped[0]

    monkeypatch.setattr(aio, "draw", draw)

    async def cancel() -> int:
        task = asyncio.create_task(aio.random_bytes(1 << 20))
        while not is_drawing.is_set():
            await asyncio.sleep(0)
        before = live.stats().requests
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may_draw.set()
        return before

    # The loop's executor is waited for when the loop is closed.
    before = run(cancel())
    assert [1 << 20] == [len(drawn) for drawn in dropped]
    assert before + 1 == live.stats().requests
    assert dropped[0][:16] != live.random_bytes(16)


def test_edge_aio_many_tasks_never_repeat(threads: list[int]) -> None:
    """Concurrent first requests boot once, and no two tasks get the same block."""

    async def gather() -> list[bytes]:
        return await asyncio.gather(*(aio.random_bytes(16 if i % 2 else DIRECT_MAX + 16) for i in range(100)))

    drawn = run(gather())
    assert 100 == len({block[:16] for block in drawn})


@pytest.mark.parametrize("cipher", ["aes256-icm", "chacha20"])
def test_edge_aio_the_loop_runs_while_large_requests_are_made(cipher: str, config: dict[str, str]) -> None:
    """During 4 x 64 MiB a task that yields to the loop is served again and again; in the plain call it is not at all.

    The turns are counted, not timed: where the loop was held up for the length of one request there would be none.
    """
    code = f"""
import asyncio
import fortuna
from fortuna import aio

fortuna.boot(overrides={{"generator.cipher": "{cipher}"}})

async def turns_during(call):
    turns = 0
    task = asyncio.ensure_future(call)
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(task.result()) == 64 << 20
    return turns

async def plain(n):
    return fortuna.random_bytes(n)

async def main():
    served = [await turns_during(aio.random_bytes(64 << 20)) for _ in range(4)]
    print(min(served) >= 20, await turns_during(plain(64 << 20)) <= 2)

asyncio.run(asyncio.wait_for(main(), {PATIENCE_SECONDS}))
"""
    assert ["True True"] == lines_of(run_script(code, environment=config))
