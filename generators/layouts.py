"""Counter layouts that libraries have had where ours has 128 bits, to tell by name what a refused ChaCha computes.

A library that calls its cipher ChaCha20 has still to say what the 16 bytes before the block are. Three answers other
than ours are, or were, in use. Each gives the right bytes at some counters and other ones elsewhere, so a user who
reads which of them was found knows which library stands behind the name.
"""

from __future__ import annotations

from .base import COUNTER_MAX
from .chacha import ChaCha8, ChaCha12, ChaCha20, XChaCha8, XChaCha12, XChaCha20
from .providers.reference_chacha import chacha_block, hchacha

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

#: The generators whose counter has a layout, and their rounds.
ROUNDS: Final = {cls.name: cls.rounds for cls in (ChaCha20, ChaCha12, ChaCha8, XChaCha20, XChaCha12, XChaCha8)}
HALF: Final = 1 << 64


def narrow(counter: int, step: int, bits: int) -> int:
    """Step *counter* in its low *bits* alone."""
    low = 1 << bits
    return counter - counter % low + (counter + step) % low


#: Layout -> (counter at entry, blocks since) -> the 128-bit counter of the block that such a library computes.
LAYOUTS: Final[dict[str, Callable[[int, int], int]]] = {
    "an 8-byte IV with a 64-bit counter from 0, as in LibreSSL before 3.1": lambda entry, step: (
        entry % HALF * HALF + step
    ),
    "a 32-bit counter that wraps without a carry, as in BoringSSL": lambda entry, step: narrow(entry, step, 32),
    "a 64-bit counter that wraps without a carry into word 14": lambda entry, step: narrow(entry, step, 64),
}


def layout_of(generator: str, key: bytes, entry: int, got: bytes) -> str:
    """Return the layout with which *generator* gives *got* from block *entry* on, or an empty string.

    Parameters
    ----------
    generator : str
        Its registered name; only the ChaCha family has layouts.
    key : bytes
        32 bytes, no secret: the key of the known answers.
    entry : int
        The block at which the keystream was asked for.
    got : bytes
        What came out, of one block or more.
    """
    if generator not in ROUNDS:
        return ""
    rounds = ROUNDS[generator]
    cipher_key = hchacha(key, bytes(16), rounds) if generator.startswith("x") else key
    steps = range(-(-len(got) // 64))
    for layout, place in LAYOUTS.items():
        # In one call of the library, or in calls that were cut between the blocks and entered anew.
        for counters in ([place(entry, step) for step in steps], [place(entry + step, 0) for step in steps]):
            blocks = [chacha_block(cipher_key, counter & COUNTER_MAX, rounds) for counter in counters]
            if b"".join(blocks)[: len(got)] == got:
                return layout
    return ""
