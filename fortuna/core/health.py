"""Health tests: does a source still give what it claims? SP 800-90B 4.4, on bytes as samples.

A source states how many bits of min-entropy it assumes in each of its bytes, H. From H alone follow the cut-offs of
the two continuous tests of the standard, the repetition count (4.4.1) and the adaptive proportion (4.4.2). Their state
goes on from harvest to harvest, so it makes no difference how a stream is cut into harvests. A third test is ours and
compares harvests as wholes, because a driver that hands out an old buffer again passes the other two.

How seldom a good source reaches a cut-off is decided in `fortuna.core.cutoffs`. A source that fails has lost its claim
until it passes the start-up test (4.3). None of this tells good bytes from pseudo-random ones whose key somebody knows.

A pull runs the tests on the thread of a request, so they look at single samples by C code of the standard library
alone. The estimation of H itself (section 6) is not done here: it takes a million samples, and people who judge them.
"""

from __future__ import annotations

from ..errors import HealthTestError, ParameterError
from ..generators.secret import Secret, Uncopyable
from ..generators.sha256 import sha256
from .cutoffs import ALPHA_BITS, WINDOW, ceil_div, critbinom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: Consecutive samples that must pass before any of them is used: the least that SP 800-90B 4.3 allows.
STARTUP_SAMPLES: Final = 1024
#: Bits in a byte, so no source can claim more.
MIN_ENTROPY_MAX: Final = 8.0


class RepetitionCount(Uncopyable):
    """The repetition count test: one value again and again (SP 800-90B 4.4.1).

    Parameters
    ----------
    min_entropy : float
        H, in bits a sample.
    alpha_bits : int
        -log2 of alpha.

    Attributes
    ----------
    cutoff : int
        C = 1 + ceil(-log2(alpha) / H), the length of a run that is an alarm.
    """

    __slots__ = ("_run", "cutoff")

    def __init__(self, min_entropy: float, alpha_bits: int = ALPHA_BITS) -> None:
        self.cutoff = 1 + ceil_div(alpha_bits, min_entropy)
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        # A, the sample seen last (none so far), and B, how often it came in a row.
        self._run = (b"", 0)

    def feed(self, samples: bytes | bytearray) -> int | None:
        """Return the index in *samples* of the sample that makes a run of C, or ``None`` and remember the run.

        After an alarm the test must be restarted.
        """
        if not samples:
            return None
        last, length = self._run
        # How far the run goes on that the samples before left unfinished.
        lead = len(samples) - len(samples.lstrip(last))
        if length + lead >= self.cutoff:
            return self.cutoff - length - 1
        if lead == len(samples):
            self._run = (last, length + lead)
            return None
        # A run of C equal samples is one of C - 1 zeros among the differences; the first is that of the second sample.
        if self.cutoff <= len(samples):
            start = differences(samples).find(bytes(self.cutoff - 1), 1)
            if start > 0:
                return start + self.cutoff - 2
        last = bytes(samples[-1:])
        self._run = (last, len(samples) - len(samples.rstrip(last)))
        return None


class AdaptiveProportion(Uncopyable):
    """The adaptive proportion test: one value too often (SP 800-90B 4.4.2).

    Parameters
    ----------
    min_entropy : float
        H, in bits a sample.
    alpha_bits : int
        -log2 of alpha.

    Attributes
    ----------
    cutoff : int
        C = 1 + critbinom(W, 2**-H, 1 - alpha): how often the first sample of a window must be in it for an alarm. For
        small H, C is W + 1, which no window can reach: even a window of one value has a probability above alpha then,
        and the repetition count, whose runs may be longer than a window, is what remains.
    """

    __slots__ = ("_window", "cutoff")

    def __init__(self, min_entropy: float, alpha_bits: int = ALPHA_BITS) -> None:
        self.cutoff = 1 + critbinom(WINDOW, min_entropy, alpha_bits)
        self.restart()

    def restart(self) -> None:
        """Forget all samples; the next one opens a window."""
        # A, the first sample of the window; B, how often it came so far; samples that are missing to a full window.
        self._window = (0, 0, 0)

    def feed(self, samples: bytes | bytearray) -> int | None:
        """Return the index in *samples* of the sample that makes B reach C, or ``None`` and remember the window.

        After an alarm the test must be restarted.
        """
        first, count, missing = self._window
        start = 0
        while start < len(samples):
            if not missing:
                first, count, missing = samples[start], 0, WINDOW
            stop = min(start + missing, len(samples))
            found = samples.count(first, start, stop)
            if count + found >= self.cutoff:
                for _ in range(self.cutoff - count):
                    start = samples.index(first, start) + 1
                return start - 1
            count += found
            missing -= stop - start
            start = stop
        self._window = (first, count, missing)
        return None


class HarvestRepetition(Uncopyable):
    """The repetition count test on harvests as wholes, and a look for a period within one. Not of the standard.

    A harvest of n bytes claims n * H bits. One that equals the harvest before it has a probability of 2**-(n * H), and
    as soon as the repetitions in a row amount to alpha it is an alarm; that is the formula of the repetition count with
    n * H for H. Likewise, the bytes at the beginning of a harvest, as many as claim enough for all places where they
    might come again, must not come again in it.

    Parameters
    ----------
    min_entropy : float
        H, in bits a byte.
    alpha_bits : int
        -log2 of alpha.
    """

    __slots__ = ("_alpha_bits", "_min_entropy", "_previous")

    def __init__(self, min_entropy: float, alpha_bits: int = ALPHA_BITS) -> None:
        self._min_entropy = min_entropy
        self._alpha_bits = alpha_bits
        self.restart()

    def restart(self) -> None:
        """Forget the previous harvest."""
        # Its hash, so that nothing here helps to find out what went into a pool; and how often it came again.
        self._previous = (b"", 0)

    def feed(self, harvest: bytes | bytearray) -> str:
        """Return what *harvest* repeats, in words, or ``""`` and remember it.

        After an alarm the test must be restarted.
        """
        size = len(harvest)
        opening = ceil_div(self._alpha_bits + size.bit_length(), self._min_entropy)
        if harvest.find(harvest[:opening], 1) > 0:
            return f"the first {opening} bytes of a harvest came again in it"
        digest, repetitions = self._previous
        fresh = sha256(harvest).digest()
        repetitions = repetitions + 1 if fresh == digest else 0
        if repetitions * size * self._min_entropy >= self._alpha_bits:
            return f"a harvest of {size} bytes came {repetitions + 1} times in a row"
        self._previous = (fresh, repetitions)
        return ""


class HealthTests(Uncopyable):
    """All health tests of one source.

    Parameters
    ----------
    source : str
        The name of the source, for messages.
    min_entropy : float
        H: bits of min-entropy that it assumes in each byte, above 0.0 and at most 8.0.

    Attributes
    ----------
    repetition : RepetitionCount
        With its cut-off.
    proportion : AdaptiveProportion
        With its cut-off.
    samples : int
        Samples that passed since the tests began or began anew.

    Raises
    ------
    ParameterError
        *min_entropy* is out of range: nothing could be tested.

    Notes
    -----
    Not safe for threads. A call that interrupts another one on the same thread costs the tests the knowledge of where
    a run or a window began, and nothing else.
    """

    __slots__ = ("_harvests", "_min_entropy", "_source", "proportion", "repetition", "samples")

    def __init__(self, source: str, min_entropy: float) -> None:
        if not 0.0 < min_entropy <= MIN_ENTROPY_MAX:
            raise ParameterError(
                f"source {source}: min_entropy: got {min_entropy} bits a byte; allowed is above 0.0 and at most 8.0"
            )
        self._source = source
        self._min_entropy = min_entropy
        self.repetition = RepetitionCount(min_entropy)
        self.proportion = AdaptiveProportion(min_entropy)
        self._harvests = HarvestRepetition(min_entropy)
        self.samples = 0

    @property
    def is_started(self) -> bool:
        """Whether the start-up test of SP 800-90B 4.3 is passed; until it is, no sample may be used."""
        return self.samples >= STARTUP_SAMPLES

    def check(self, harvest: bytes | bytearray) -> None:
        """Test one harvest.

        Raises
        ------
        HealthTestError
            A test failed. *harvest* must not be used, and the start-up test begins anew. The message has the test, the
            source, the count and the cut-off, and no sample.
        """
        size = len(harvest)
        alarm = self._alarm(harvest)
        if alarm:
            self.repetition.restart()
            self.proportion.restart()
            self._harvests.restart()
            self.samples = 0
            raise HealthTestError(
                f"source {self._source}: {alarm}; it claims {self._min_entropy:g} bits a byte; it is not used until "
                f"{STARTUP_SAMPLES} bytes in a row pass"
            )
        # No call here, after which a harvest that interrupts this one might have set the count back.
        self.samples += size

    def _alarm(self, harvest: bytes | bytearray) -> str:
        """Return what is wrong, the earlier first and the repetition count first of two at one sample, or ``""``."""
        run = self.repetition.feed(harvest)
        excess = self.proportion.feed(harvest)
        if run is not None and (excess is None or run <= excess):
            cutoff = self.repetition.cutoff
            return (
                f"repetition count test: {cutoff} equal bytes in a row, up to byte {self.samples + run + 1}; "
                f"the cut-off is {cutoff}"
            )
        if excess is not None:
            cutoff = self.proportion.cutoff
            return (
                f"adaptive proportion test: the first byte of a window of {WINDOW} came {cutoff} times in it, up to "
                f"byte {self.samples + excess + 1}; the cut-off is {cutoff}"
            )
        repeated = self._harvests.feed(harvest)
        return f"harvest repetition test: {repeated}" if repeated else ""

    def __repr__(self) -> str:
        return f"<health tests of source {self._source}, {self.samples} samples passed>"


def differences(samples: bytes | bytearray) -> Secret:
    """Return each sample xored with the one before it; the first stays as it is."""
    # As one integer, without a name: a local variable of that kind would be printed by error reporters.
    return Secret((int.from_bytes(samples, "big") ^ int.from_bytes(samples, "big") >> 8).to_bytes(len(samples), "big"))
