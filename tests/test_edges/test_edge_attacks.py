"""Faults that attacks on the whole product found, each kept from coming back."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from fortuna.errors import TunableError
from fortuna.forks import ForkDetector
from fortuna.generators.undisturbed import Undisturbed
from fortuna.tunables_file import load_tunables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .edge_doubles import Bench


def test_edge_attacks_dotted_name_in_quotes(tmp_path: Path) -> None:
    """A dotted name quoted as one is refused, not passed over: it would have booted another cipher than it says."""
    file = tmp_path / "fortuna.toml"
    file.write_text('\n"generator.cipher" = "chacha20"\n')
    file.chmod(0o600)
    with pytest.raises(TunableError, match=":2: generator.cipher: it is quoted as one name; write it without"):
        load_tunables(file, None, environ={})


def test_edge_attacks_handler_that_raises_as_the_mask_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of a handler while signals are being blocked leaves none of them blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    real = signal.pthread_sigmask

    def interrupted(how: int, signals: Any) -> Any:
        mask = real(how, signals)
        if how == signal.SIG_BLOCK and signals:
            raise KeyboardInterrupt
        return mask

    monkeypatch.setattr(signal, "pthread_sigmask", interrupted)
    with pytest.raises(KeyboardInterrupt), Undisturbed():
        pass
    monkeypatch.undo()
    assert before == signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_edge_attacks_fork_while_a_life_is_made(bench: Bench) -> None:
    """A fork within the making of a child's life, by a handler that also draws there, leaves a generator that works."""
    live = bench.boot().fortuna
    bench.fork()
    blocks: list[bytes] = []

    class Interrupting(dict[int, Any]):
        """The lives; looking through them for old ones forks again and draws, once."""

        def __iter__(self) -> Iterator[int]:
            if not blocks:
                blocks.append(b"")
                bench.fork()
                blocks.append(live.random_bytes(16))
            return super().__iter__()

    live._lives = Interrupting(live._lives)
    blocks += [live.random_bytes(16) for _ in range(3)]
    live.reseed()
    blocks.append(live.random_bytes(16))
    assert 6 == len(set(blocks))
    assert live._life.epoch == max(live._lives)


def test_edge_attacks_generators_made_while_the_hook_runs() -> None:
    """Another thread that makes generators does not keep the hook from reaching those there were."""
    detector = ForkDetector(use_hook=False, use_page=False)

    class Inheritor:
        def __init__(self) -> None:
            self.pulls = 0

        def abandon(self) -> None:
            """Do nothing."""

        def pull_soon(self) -> None:
            """Count."""
            self.pulls += 1

    lasting = [Inheritor() for _ in range(50)]
    for inheritor in lasting:
        detector.watch(inheritor)
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            detector.watch(Inheritor())

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(300):
            detector._in_parent()
    finally:
        stop.set()
        thread.join()
    assert {300} == {inheritor.pulls for inheritor in lasting}
