"""The source ``cpu``: the processor's own random generator, by RDSEED, else by RDRAND.

The instructions are reached through the C extension. Where the processor has neither, or the extension is not built,
the source is absent and says so; nothing stands in for it. An instruction that reports success is not believed for
that: processors are known that do so and answer all ones for ever (RDRAND of AMD's families 15h and 16h after a
suspend, and of early family 17h) or zeros too often (RDSEED's narrow forms on Zen 5, which are not used).

Source: Intel SDM vol. 1, 7.3.17; SP 800-90B 4.4.1 for the repeated word.
"""

from __future__ import annotations

import errno

from ..errors import SourceError
from ..generators.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final

    from ..typing import Cost

#: Bytes of one harvest: one event, and four words of the processor.
EVENT_SIZE: Final = 32
WORD_SIZE: Final = 8
#: What no working instruction answers but once in 2**64 words, and why it may all the same.
FAULTS: Final = {bytes(WORD_SIZE): "all zeros", b"\xff" * WORD_SIZE: "all ones"}


def this_processor() -> Processor:
    """Return the processor that this runs on."""
    try:
        from ..generators._native import cpu_random, cpu_random_instructions
    except ImportError:
        return Processor((), never, "it needs the C extension, which is not here or cannot be loaded")
    return Processor(cpu_random_instructions(), cpu_random, "this processor has neither RDSEED nor RDRAND")


def never(_instruction: str, _out: Secret) -> bool:
    """Fill nothing: what stands in where there is no instruction to ask."""
    return False


class Processor:
    """The processor as a source.

    Parameters
    ----------
    instructions : sequence of str
        The random instructions that it has, best first, as ``_native.cpu_random_instructions`` names them.
    fill : callable
        ``(instruction, out) -> bool``, as ``_native.cpu_random``.
    why_none : str
        What it means when there are no instructions.

    Attributes
    ----------
    absence : str
        Why this machine does not have the source; empty where it does.

    Notes
    -----
    Safe for threads. It keeps the last word it gave, to refuse a repetition; a forked child may go on using it.
    """

    __slots__ = ("_fill", "_instructions", "_last", "absence")

    name = "cpu"
    number = 1
    cost: Cost = "costly"
    min_entropy = 4.0
    assumption = "RDRAND promises 128 bits of strength, half of what an event can hold; RDSEED is credited no more"

    def __init__(self, instructions: Sequence[str], fill: Callable[[str, Secret], bool], why_none: str) -> None:
        self.absence = "" if instructions else why_none
        self._instructions = tuple(instructions)
        self._fill = fill
        self._last = Secret()

    def harvest(self) -> Secret:
        """Return 32 fresh bytes of the best instruction that has some ready.

        Raises
        ------
        SourceError
            It is absent, no instruction was ready within its bound, or one gave a word of zeros, of ones, or the word
            before again.
        """
        if self.absence:
            raise SourceError(errno.ENODEV, f"source cpu: absent; {self.absence}")
        event = Secret(EVENT_SIZE)
        for instruction in self._instructions:
            if self._fill(instruction, event):
                self._check(instruction, event)
                return event
        raise SourceError(errno.EAGAIN, f"source cpu: not ready: {', '.join(self._instructions)}; busy or broken")

    def _check(self, instruction: str, event: Secret) -> None:
        """Refuse an event with a word that no working instruction gives."""
        last = self._last
        for start in range(0, EVENT_SIZE, WORD_SIZE):
            word = Secret(event[start : start + WORD_SIZE])
            fault = FAULTS.get(bytes(word)) or ("the word before again" if word == last else "")
            if fault:
                event.wipe()
                raise SourceError(errno.EIO, f"source cpu: {instruction} gave {fault}; the processor is broken")
            last = word
        self._last = last
