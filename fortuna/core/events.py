"""How one datum of a source becomes the bytes that a pool absorbs: AddRandomEvent, Cryptography Engineering 9.5.6.

The book prefixes each event with its source and its length, so that no two sequences of events can look alike to the
pool. FreeBSD writes a timestamp instead and gives up that property; its form is here so that its published values can
be reproduced, and belongs to its construction alone.
"""

from __future__ import annotations

from ..errors import ParameterError
from ..generators.sha256 import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ..typing import Buffer

FSK_DATA_MAX: Final = 32
FREEBSD_DATA_MAX: Final = 8
TIMESTAMP_BITS: Final = 32


def encode_fsk(source: int, timestamp: int, data: Buffer) -> tuple[bytes, ...]:
    """Return ``source || length || data``, the one event of 3..34 bytes that the book makes of *data*.

    Longer data is hashed first, as the book advises for large event sources; empty data is refused, because an event
    without content only costs the reader time. *timestamp* is not used.
    """
    size = len(data)
    if size > FSK_DATA_MAX:
        data = sha256(data).digest()
        size = FSK_DATA_MAX
    elif not size:
        raise ParameterError("event: got 0 bytes of data; allowed is 1 byte or more")
    return (bytes((source, size)) + data,)


def encode_freebsd(source: int, timestamp: int, data: Buffer) -> tuple[bytes, ...]:
    """Return ``LE32(timestamp) || data`` for each piece of at most 8 bytes (random_fortuna_process_event).

    Longer data makes several events, to be given to consecutive pools. Empty data makes one event of 4 bytes.
    *source* is not part of the bytes.
    """
    stamp = (timestamp % (1 << TIMESTAMP_BITS)).to_bytes(4, "little")
    pieces = range(0, len(data), FREEBSD_DATA_MAX) or (0,)
    return tuple([stamp + data[i : i + FREEBSD_DATA_MAX] for i in pieces])
