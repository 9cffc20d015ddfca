"""The self-test at first use: a provider that is wrong in any of the known ways is refused and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fortuna.errors import FortunaError, SelfTestError
from fortuna.generators.aes256_icm import AES256ICM
from fortuna.generators.choice import Choice
from fortuna.generators.layouts import layout_of, narrow
from fortuna.generators.providers.reference_aes import ReferenceAES256ICM, encrypt_block
from fortuna.generators.providers.reference_chacha import ReferenceChaCha20
from fortuna.generators.selftest import KEY, KNOWN_ANSWERS, check_known_answers

from .keystream_support import CELLS, Cell, assert_hidden, chacha_tests, little, stream

if TYPE_CHECKING:
    from fortuna.generators import KeystreamGenerator
    from fortuna.typing import Buffer, WritableBuffer


class OneBitWrong(ReferenceChaCha20):
    """Right but for one bit of the last byte."""

    __slots__ = ()
    provider = "one-bit-wrong"

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        super()._fill(counter, out)
        out[-1] ^= 1


class NarrowChaCha20(ReferenceChaCha20):
    """A counter of fewer than 128 bits; subclasses say how many."""

    __slots__ = ()
    bits = 128

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        for start in range(0, len(out), 64):
            block = bytearray(64)
            super()._fill(narrow(counter, start // 64, self.bits), block)
            out[start : start + 64] = block[: len(out) - start]


class WrapAt32(NarrowChaCha20):
    """Starts again at word 12 = 0 without a carry: RFC 8439's own counter."""

    __slots__ = ()
    provider = "wrap-at-32"
    bits = 32


class CarryInto64(NarrowChaCha20):
    """Carries into word 13 and no further: the original ChaCha's counter."""

    __slots__ = ()
    provider = "carry-into-64"
    bits = 64


class CarryInto96(NarrowChaCha20):
    """Carries into word 14 and no further."""

    __slots__ = ()
    provider = "carry-into-96"
    bits = 96


class TwelveRounds(ReferenceChaCha20):
    """Another cipher under the name."""

    __slots__ = ()
    provider = "twelve-rounds"
    rounds = 12


class Idle(ReferenceChaCha20):
    """Leaves the buffer as it was."""

    __slots__ = ()
    provider = "idle"

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        pass


class Keyless(ReferenceChaCha20):
    """Takes a key and forgets it."""

    __slots__ = ()
    provider = "keyless"

    def _rekey(self, key: Buffer) -> None:
        pass


class FirstKeyOnly(ReferenceChaCha20):
    """Goes on with its first key, whatever comes after it."""

    __slots__ = ()
    provider = "first-key-only"

    def _rekey(self, key: Buffer) -> None:
        if not self._is_keyed:
            super()._rekey(key)


class WrongWhenLong(ReferenceChaCha20):
    """Right in short calls alone."""

    __slots__ = ()
    provider = "wrong-when-long"

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        super()._fill(counter, out)
        out[0] ^= len(out) > 1000


class Raising(ReferenceChaCha20):
    """Fails as a library that refuses to cross fails."""

    __slots__ = ()
    provider = "raising"

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        raise OverflowError("counter would overflow")


class Unmakeable(ReferenceChaCha20):
    """Cannot be made at all."""

    __slots__ = ()
    provider = "unmakeable"

    def __init__(self) -> None:
        raise OSError("no such device")


class BigEndianAES(ReferenceAES256ICM):
    """NIST's counter mode: the most significant byte first."""

    __slots__ = ()
    provider = "big-endian"

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        for start in range(0, len(out), 16):
            block = encrypt_block(self._round_keys, ((counter + start // 16) % 2**128).to_bytes(16, "big"))
            out[start : start + 16] = block[: len(out) - start]


class HalfCounterAES(ReferenceAES256ICM):
    """Carries within the low 64 bits only."""

    __slots__ = ()
    provider = "half-counter"

    def _fill(self, counter: int, out: WritableBuffer) -> None:
        for start in range(0, len(out), 16):
            block = bytearray(16)
            super()._fill(narrow(counter, start // 16, 64), block)
            out[start : start + 16] = block[: len(out) - start]


WRONG: list[tuple[type[KeystreamGenerator], int]] = [
    (OneBitWrong, 2**32 - 1),
    (WrapAt32, 2**32 - 1),
    (CarryInto64, 2**64 - 1),
    (CarryInto96, 2**128 - 1),
    (TwelveRounds, 2**32 - 1),
    (Idle, 2**32 - 1),
    (Keyless, 2**32 - 1),
    (FirstKeyOnly, 2**32 - 1),
    (WrongWhenLong, 2**32 - 3),
    (BigEndianAES, 2**32 - 1),
    (HalfCounterAES, 2**64 - 1),
]


@pytest.mark.parametrize(("candidate", "counter"), WRONG, ids=lambda v: getattr(v, "provider", None))
def test_wrong_candidate_is_refused(candidate: type[KeystreamGenerator], counter: int) -> None:
    """A candidate that computes wrongly is refused; the message names provider, generator and the first bad counter."""
    with pytest.raises(SelfTestError, match="known answer wrong") as caught:
        check_known_answers(Choice(candidate, candidate.kernel))
    message = str(caught.value)
    assert candidate.provider in message
    assert candidate.name in message
    assert f"{counter:#x}:" in message
    assert isinstance(caught.value, FortunaError | RuntimeError)
    assert_hidden(KEY, message)


@pytest.mark.parametrize("candidate", [candidate for candidate, _ in WRONG])
def test_layout_is_named(candidate: type[KeystreamGenerator]) -> None:
    """A counter that wraps at 32 or 64 bits is named in the message, and what is wrong in another way is not."""
    names = {WrapAt32: "a 32-bit counter that wraps", CarryInto64: "a 64-bit counter that wraps"}
    with pytest.raises(SelfTestError) as caught:
        check_known_answers(Choice(candidate, candidate.kernel))
    assert (f"wrong (it has {names[candidate]}" if candidate in names else "wrong; ") in str(caught.value)


def test_layouts_are_those_of_the_negative_vectors() -> None:
    """The stream that a published narrow counter gives is named by its width, for every number of rounds."""
    for width in (32, 64):
        field = f"keystream_if_{width}bit_counter"
        tests = [
            test
            for test in chacha_tests("chacha_counter_boundaries")
            if test.get(field) not in (None, test["keystream"])
        ]
        assert tests
        for test in tests:
            got = bytes.fromhex(test[field])
            name = f"chacha{test['rounds']}"
            assert layout_of(name, bytes.fromhex(test["key"]), little(test["iv"]), got).startswith(f"a {width}-bit")


@pytest.mark.parametrize(("candidate", "why"), [(Raising, "would overflow"), (Unmakeable, "no such device")])
def test_raising_candidate_is_refused(candidate: type[KeystreamGenerator], why: str) -> None:
    """A candidate that raises is refused with its own words, and its exception is kept as the cause."""
    with pytest.raises(SelfTestError, match="could not be computed") as caught:
        check_known_answers(Choice(candidate, candidate.kernel))
    message = str(caught.value)
    assert candidate.provider in message
    assert f"{2**32 - 1:#x}:" in message
    assert why in message
    assert isinstance(caught.value.__cause__, OverflowError | OSError)


def test_interruption_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupting the self-test is not taken for a wrong answer: only errors are."""

    def interrupted(self: ReferenceChaCha20, counter: int, out: WritableBuffer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ReferenceChaCha20, "_fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check_known_answers(Choice(ReferenceChaCha20, "python"))


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_registered_classes_pass(cell: Cell) -> None:
    """Every registered class passes, and passes again."""
    from fortuna.generators.registry import resolve

    for _ in range(2):
        check_known_answers(resolve(*cell))
    assert cell == (resolve(*cell).name, resolve(*cell).provider, resolve(*cell).kernel)


def test_narrow_doubles_are_the_negative_vectors() -> None:
    """The narrow doubles give the streams that must not come out: they are wrong in the way they claim to be."""
    for double, field in ((WrapAt32, "keystream_if_32bit_counter"), (CarryInto64, "keystream_if_64bit_counter")):
        tests = [test for test in chacha_tests("chacha_counter_boundaries", 20) if field in test]
        assert tests
        for test in tests:
            generator = double()
            generator.set_key(bytes.fromhex(test["key"]))
            assert test[field] == stream(generator, little(test["iv"]), len(test[field]) // 2).hex()


def test_answers_end_inside_a_block() -> None:
    """Each known answer goes over a boundary and stops in the middle of the next block."""
    for name, answers in KNOWN_ANSWERS.items():
        block_size = AES256ICM.block_size if name == "aes256-icm" else ReferenceChaCha20.block_size
        for _, expected in answers:
            assert block_size < len(expected) // 2 < 2 * block_size
