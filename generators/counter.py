"""The 128-bit block counter, cut where libraries disagree.

Fortuna's counter is one 128-bit integer, least significant byte first. Libraries keep 32 or 64 bits of it and then
wrap, carry elsewhere or refuse, each in its own way. The rule that is right for all of them: never ask a library to
cross a multiple of 2**32 blocks, and enter anew with the full counter after each one. A single call is capped as well,
because a long call is where a library's length arithmetic has been wrong before.
"""

from __future__ import annotations

from .base import COUNTER_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

#: Blocks between two multiples that no library call may cross.
LIBRARY_SPAN_BLOCKS: Final = 1 << 32
#: Bytes in one library call. Far below the 1 GiB up to which libraries are trusted: it is also the length of the
#: zeros that a stream cipher is given to encrypt, and longer calls are no faster.
LIBRARY_CALL_MAX: Final = 1 << 20
#: What a stream cipher encrypts to show its keystream. Never written, so its pages stay the kernel's zero page.
ZEROS: Final = bytes(LIBRARY_CALL_MAX)
#: As many counter blocks as one multiplication makes in less time than a loop: a short request, its next key included.
FEW: Final = 8
#: One, and the number of the block, in each of so many blocks.
EVERY_BLOCK: Final = sum(1 << 128 * i for i in range(FEW))
STEPS: Final = sum(i << 128 * i for i in range(FEW))


def counter_block(counter: int) -> bytes:
    """Return LE128(C): the counter as 16 bytes, least significant first."""
    return counter.to_bytes(16, "little")


def counter_blocks(counter: int, blocks: int) -> bytes:
    """Return the *blocks* 16-byte blocks LE128(C), LE128(C+1), ..., going on at 0 after 2**128 - 1."""
    if blocks <= FEW and counter + FEW <= COUNTER_MAX:
        return (counter * EVERY_BLOCK + STEPS).to_bytes(16 * FEW, "little")[: 16 * blocks]
    return b"".join([counter_block(c & COUNTER_MAX) for c in range(counter, counter + blocks)])


def fits_one_call(counter: int, size: int, block_size: int) -> bool:
    """Tell whether *size* bytes at block *counter* may be asked of a library in one call."""
    return size <= LIBRARY_CALL_MAX and size <= (LIBRARY_SPAN_BLOCKS - counter % LIBRARY_SPAN_BLOCKS) * block_size


def library_calls(
    counter: int, size: int, block_size: int, span_blocks: int = LIBRARY_SPAN_BLOCKS
) -> Iterator[tuple[int, int, int]]:
    """Cut *size* bytes of keystream at block *counter* into calls that every library gets right.

    No call crosses a multiple of *span_blocks*, a power of two of at most 2**32.

    Yields
    ------
    (int, int, int)
        Counter at entry, and the half-open byte range ``start, stop`` of the output. Only the last range may end in
        the middle of a block.
    """
    start = 0
    while start < size:
        blocks = min(span_blocks - counter % span_blocks, LIBRARY_CALL_MAX // block_size)
        stop = min(start + blocks * block_size, size)
        yield counter, start, stop
        counter = (counter + blocks) & COUNTER_MAX
        start = stop


class CounterTemplate:
    """The LE128 blocks of 2**16 counters that share their upper 112 bits: 1 MiB, made once and rebased in place.

    A provider that has a block cipher but no little-endian counter mode encrypts them. Making the blocks of 1 MiB one
    by one takes longer than encrypting them; writing the one byte position that changed from one multiple of 2**16 to
    the next takes a tenth.
    """

    __slots__ = ("_blocks", "_high")

    #: Counters in a template: what the two bytes that never change can count.
    SPAN: Final = 1 << 16

    def __init__(self) -> None:
        self._blocks = bytearray(16 * self.SPAN)
        self._blocks[0::16] = bytes(range(256)) * 256
        self._blocks[1::16] = b"".join([bytes((value,)) * 256 for value in range(256)])
        self._high = bytes(14)

    def blocks(self, counter: int, blocks: int) -> memoryview:
        """Return *blocks* blocks from *counter* on, which must not go past the next multiple of 2**16.

        The view is valid until the next call.
        """
        high, low = divmod(counter, self.SPAN)
        wanted = high.to_bytes(14, "little")
        if wanted != self._high:
            for place, (old, new) in enumerate(zip(self._high, wanted, strict=True), 2):
                if old != new:
                    self._blocks[place::16] = bytes((new,)) * self.SPAN
            self._high = wanted
        return memoryview(self._blocks)[16 * low : 16 * (low + blocks)]
