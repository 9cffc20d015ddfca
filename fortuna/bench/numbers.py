"""Single numbers and tokens, beside the standard library's ways to them."""

from __future__ import annotations

import random
import secrets
import uuid

from .. import Random, uuid4
from .. import secrets as ours
from .measure import Contender

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

#: Items of the list that is shuffled.
ITEMS: Final = 1000


def comparisons() -> Iterator[tuple[str, tuple[Contender, ...]]]:
    """Yield titles and contenders; the first is what a service uses today, the twister is no match in safety."""
    system, mine = random.SystemRandom(), Random()
    twister = random.Random()  # noqa: S311  # a yardstick of speed
    mine.random()  # boots, or the first turn would be taken for a long one and have few calls
    for name, arguments in (("random", ()), ("getrandbits", (64,)), ("randrange", (1000,)), ("gauss", (0.0, 1.0))):
        yield (
            f"Random().{name}{arguments}",
            (
                Contender(f"SystemRandom().{name}", getattr(system, name), arguments=arguments),
                Contender(f"random.Random().{name} (statistics)", getattr(twister, name), arguments=arguments),
                Contender(f"fortuna.Random().{name}", getattr(mine, name), arguments=arguments),
            ),
        )
    yield (
        f"Random().shuffle(list of {ITEMS})",
        tuple(
            Contender(name, one.shuffle, ITEMS, (list(range(ITEMS)),))
            for name, one in (
                ("SystemRandom().shuffle", system),
                ("random.Random().shuffle (statistics)", twister),
                ("fortuna.Random().shuffle", mine),
            )
        ),
    )
    for name, argument in (("token_bytes", 32), ("token_hex", 16), ("token_urlsafe", 32), ("randbelow", 1000)):
        yield (
            f"secrets.{name}({argument})",
            (
                Contender(f"secrets.{name}", getattr(secrets, name), arguments=(argument,)),
                Contender(f"fortuna.secrets.{name}", getattr(ours, name), arguments=(argument,)),
            ),
        )
    yield ("uuid4()", (Contender("uuid.uuid4", uuid.uuid4), Contender("fortuna.uuid4", uuid4)))
