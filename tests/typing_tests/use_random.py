"""Uses of `fortuna.Random`, `fortuna.secrets` and `fortuna.uuid4`."""

from __future__ import annotations

import random
from uuid import UUID

from typing_extensions import assert_type

from fortuna import Random, secrets, uuid4
from fortuna.secrets import (
    SystemRandom,
    choice,
    compare_digest,
    randbelow,
    randbits,
    token_bytes,
    token_hex,
    token_urlsafe,
)


def use_random(cards: list[str]) -> None:
    """Call the methods that are ours, and some of those that are made from them."""
    mine: random.Random = Random()
    assert_type(Random("ignored").random(), float)
    assert_type(mine.getrandbits(64), int)
    assert_type(mine.randbytes(16), bytes)
    assert_type(Random().gauss(), float)
    assert_type(Random().gauss(mu=1.0, sigma=2.0), float)
    assert_type(Random().choice(cards), str)
    assert_type(Random().sample(cards, 2), list[str])
    Random().seed(1)
    Random().shuffle(cards)


def refused() -> None:
    """Nothing that follows a call which always raises is reached."""
    mine = Random()
    try:
        mine.getstate()
    except NotImplementedError:
        mine.setstate(())


def use_secrets(words: tuple[str, ...]) -> None:
    """Call each function as those of the standard library are called."""
    assert_type(choice(words), str)
    assert_type(compare_digest(b"a", b"b"), bool)
    assert_type([randbelow(10), randbits(8)], list[int])
    assert_type([token_bytes(), token_bytes(32), token_bytes(None)], list[bytes])
    assert_type([token_hex(), token_urlsafe(16)], list[str])
    assert_type(secrets.token_hex(16), str)
    assert_type(SystemRandom().random(), float)
    assert_type(uuid4(), UUID)


def misuse() -> None:
    """Do what the types forbid."""
    token_bytes("32")  # type: ignore[arg-type]
    randbelow(1.5)  # type: ignore[arg-type]
