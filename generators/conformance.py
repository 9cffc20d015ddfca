"""The conformance kit: the tests that every keystream generator must pass, ours and those of plug-ins.

A pytest class. The author of a generator subclasses it, says how to make one, how long a block is and which known
answers hold, and gets the whole contract of `KeystreamGenerator` tested: positions and carries, partial blocks,
buffers, refusals, wiping, threads, forks, and that no text shows the key. Passing says that a generator keeps the
contract, not that its cipher is a good one.
"""

from __future__ import annotations

import os
import signal
import warnings
from array import array
from concurrent.futures import ThreadPoolExecutor

from ..errors import ParameterError
from .base import COUNTER_BITS, COUNTER_MAX, KEY_SIZE, KeystreamGenerator
from .registry import GENERATORS
from .selftest import KEY, KNOWN_ANSWERS
from .third_party import problem_of
from .trials import BAD_COUNTERS, BAD_KEYS, BAD_OUTPUTS, COPIES, SECRET, buffers, held_by, hidden, same, stream

try:
    import pytest
except ImportError as error:
    raise ImportError("fortuna.generators.conformance is made of pytest tests; install pytest to run them") from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Final

#: Bytes on both sides of an output, which must stay. An odd number, so that outputs are not aligned.
GUARD: Final = b"\xa5" * 33
#: What an output holds that a refused call must not write to.
UNTOUCHED: Final = b"\x5a" * 96
#: How long a forked child may take for two blocks, and how much of them it sends: what any pipe takes at once.
CHILD_SECONDS: Final = 60
PIPE_SIZE: Final = 512


class KeystreamConformance:
    """Tests of one keystream generator, for pytest: subclass it under a name that starts with ``Test``.

    Attributes
    ----------
    block_size : int
        Bytes that one counter value gives.
    vectors : tuple of (bytes, int, bytes)
        Known answers from a source that is not the code under test: 32-byte key, counter, keystream. At least one.
    long_size : int
        Bytes of the longest single call that is tried, 1 MiB as Fortuna's longest request; less for slow generators.

    Notes
    -----
    `make` must be overridden as well. A test that fails names what differs; the tests' keys are no secrets.
    """

    block_size: int
    vectors: Sequence[tuple[bytes, int, bytes]]
    long_size: int = 1 << 20

    def make(self) -> KeystreamGenerator:
        """Return a new instance of the generator under test, without a key."""
        raise NotImplementedError(f"{type(self).__name__}.make must return a new keystream generator without a key")

    def keyed(self, key: bytes = KEY) -> KeystreamGenerator:
        """Return a new instance with *key*."""
        made = self.make()
        made.set_key(key)
        return made

    def test_contract(self) -> None:
        """The class is one that would be accepted, and its constants are those promised."""
        made = self.make()
        assert isinstance(made, KeystreamGenerator), f"{made!r} is no KeystreamGenerator"
        assert (KEY_SIZE, COUNTER_BITS) == (made.key_size, made.counter_bits)
        assert self.block_size == made.block_size, f"blocks of {made.block_size} bytes, expected {self.block_size}"
        if made.name not in GENERATORS:
            assert "" == problem_of(type(made), made.name), problem_of(type(made), made.name)

    def test_vectors(self) -> None:
        """Every known answer comes out, and there is one."""
        assert self.vectors, "no vectors: at least one known answer must come from an independent source"
        for key, counter, expected in self.vectors:
            same(expected, stream(self.keyed(key), counter, len(expected)), f"vector at counter {counter:#x}")

    def test_known_answers(self) -> None:
        """The answers that are computed at every first use come out, and there is one."""
        made = self.keyed()
        answers = KNOWN_ANSWERS.get(made.name, type(made)._known_answers)
        assert answers, "no _known_answers: they are what a first use checks"
        for counter, text in answers:
            expected = bytes.fromhex(text)
            same(expected, stream(made, counter, len(expected)), f"known answer at counter {counter:#x}")

    def test_next_counter(self) -> None:
        """The counter moves on by whole blocks, a partial last one included, and starts again after 2**128 - 1."""
        made = self.keyed()
        for start in (0, 7, (1 << 64) - 1, COUNTER_MAX - 1, COUNTER_MAX):
            for size in self._sizes():
                blocks = (size + self.block_size - 1) // self.block_size
                expected = (start + blocks) % (COUNTER_MAX + 1)
                got = made.keystream_into(start, bytearray(size))
                assert expected == got, f"{size} bytes at {start:#x}: next counter {got:#x}, expected {expected:#x}"

    @pytest.mark.parametrize("power", [8, 16, 32, 64, 96, 128])
    def test_carry(self, power: int) -> None:
        """A call across a multiple of 2**power gives the blocks that one call for each gives; after 2**128 - 1, 0."""
        made = self.keyed()
        start = (1 << power) - 3
        whole = stream(made, start, 6 * self.block_size)
        for i in range(6):
            counter = (start + i) & COUNTER_MAX
            block = whole[i * self.block_size : (i + 1) * self.block_size]
            same(stream(made, counter, self.block_size), block, f"block {counter:#x}, crossing 2**{power}")

    def test_every_counter_bit_matters(self) -> None:
        """Counters that differ in one bit give different keystream: none of the 128 bits is ignored."""
        made = self.keyed()
        starts = [0, *(1 << bit for bit in range(COUNTER_BITS))]
        assert len(starts) == len({stream(made, start, KEY_SIZE) for start in starts}), "some counter bits are ignored"

    def test_every_key_byte_matters(self) -> None:
        """Keys that differ in one byte give different keystream."""
        keys = [KEY, *(KEY[:i] + bytes((KEY[i] ^ 0x10,)) + KEY[i + 1 :] for i in range(KEY_SIZE))]
        assert len(keys) == len({stream(self.keyed(key), 1, KEY_SIZE) for key in keys}), "some key bytes are ignored"

    def test_nothing_repeats(self) -> None:
        """A stretch of keystream across 2**32 blocks repeats nothing."""
        size = max(self.block_size, 16)
        made = stream(self.keyed(), (1 << 32) - 20, 100 * size)
        assert 100 == len({made[i : i + size] for i in range(0, len(made), size)}), "keystream repeats"

    def test_one_call_equals_many(self) -> None:
        """One call gives what several give that start where the one before stopped."""
        made = self.keyed()
        for start in (0, (1 << 32) - 4, COUNTER_MAX - 4):
            parts, counter = [], start
            for size in (1, 3, 0, 2, 5, 1.5):
                out = bytearray(int(size * self.block_size))
                counter = made.keystream_into(counter, out)
                parts.append(bytes(out))
            same(stream(made, start, int(12.5 * self.block_size)), b"".join(parts), f"calls from counter {start:#x} on")

    def test_long_call(self) -> None:
        """The longest call, across 2**32, gives what shorter ones give: libraries keep other code for it."""
        made = self.keyed()
        start, step = (1 << 32) - 3, 61
        pieces, counter = bytearray(), start
        while len(pieces) < self.long_size:
            pieces += stream(made, counter, step * self.block_size)
            counter += step
        same(bytes(pieces[: self.long_size]), stream(made, start, self.long_size), f"a call of {self.long_size} bytes")

    def test_partial_blocks(self) -> None:
        """Every length is a prefix of the longest, and what lies beside the output stays."""
        made = self.keyed()
        longest = stream(made, 5, 3 * self.block_size)
        for size in self._sizes():
            room = bytearray(GUARD + bytes(size) + GUARD)
            made.keystream_into(5, memoryview(room)[len(GUARD) : len(GUARD) + size])
            same(GUARD + longest[:size] + GUARD, bytes(room), f"{size} bytes between guards")

    def test_position_is_all_there_is(self) -> None:
        """What was asked before does not matter: each call starts on a fresh block and overwrites its output."""
        made = self.keyed()
        places = [0, 1, (1 << 32) - 1, 1 << 32, 1 << 64, COUNTER_MAX, 0, 1]
        expected = {place: stream(self.keyed(), place, 2 * self.block_size) for place in places}
        for place in places:
            stream(made, place, 1)
            out = bytearray(b"\xff" * (2 * self.block_size))
            made.keystream_into(place, out)
            same(expected[place], bytes(out), f"counter {place:#x} after others")

    def test_output_types(self) -> None:
        """Arrays, slices and views of several dimensions are filled with the bytes that a bytearray gets."""
        made = self.keyed()
        expected = stream(made, 4, 96)
        square = bytearray(96)
        outputs = [array("B", bytes(96)), array("Q", bytes(96)), memoryview(bytearray(100))[1:97]]
        for out in (*outputs, memoryview(square).cast("B", (8, 12))):
            made.keystream_into(4, out)  # type: ignore[arg-type]  # whatever offers a buffer is taken
            same(expected, bytes(out), f"{type(out).__name__} as output")

    @pytest.mark.parametrize(("spoil", "error"), BAD_OUTPUTS.values(), ids=BAD_OUTPUTS)
    def test_refused_output(self, spoil: Callable[[bytearray], Any], error: type[Exception]) -> None:
        """An output that is read-only, not contiguous or none is refused; nothing is written, and nothing changes."""
        room = bytearray(UNTOUCHED)
        self._refused(lambda made: made.keystream_into(5, spoil(room)), error)
        assert UNTOUCHED == bytes(room), "a refused call wrote to the output"

    @pytest.mark.parametrize(("counter", "error"), BAD_COUNTERS.values(), ids=BAD_COUNTERS)
    def test_refused_counter(self, counter: Any, error: type[Exception]) -> None:
        """A counter outside 0..2**128 - 1, or none, is refused; nothing is written, and nothing changes."""
        room = bytearray(UNTOUCHED)
        self._refused(lambda made: made.keystream_into(counter, room), error)
        assert UNTOUCHED == bytes(room), "a refused call wrote to the output"

    @pytest.mark.parametrize(("key", "error"), BAD_KEYS.values(), ids=BAD_KEYS)
    def test_refused_key(self, key: Any, error: type[Exception]) -> None:
        """A key that is not 32 contiguous bytes is refused without being shown, and the old one stays."""
        self._refused(lambda made: made.set_key(key), error)

    def test_key_types(self) -> None:
        """Any contiguous buffer of 32 bytes is a key; it is copied, so changing the buffer later changes nothing."""
        expected = stream(self.keyed(), 3, 2 * self.block_size)
        for key in (bytearray(KEY), memoryview(bytearray(KEY)), array("B", KEY), array("I", KEY)):
            made = self.make()
            made.set_key(key)  # type: ignore[arg-type]  # whatever offers a buffer is taken
            memoryview(key).cast("B")[:] = bytes(KEY_SIZE)
            same(expected, stream(made, 3, 2 * self.block_size), f"{type(key).__name__} as key")

    def test_new_key_replaces_the_old(self) -> None:
        """After a second `set_key` an instance gives what a fresh one with that key gives."""
        made = self.keyed()
        old = stream(made, 9, 2 * self.block_size)
        made.set_key(SECRET)
        new = stream(made, 9, 2 * self.block_size)
        same(stream(self.keyed(SECRET), 9, 2 * self.block_size), new, "after a new key")
        assert old != new, "the new key made no difference"

    def test_nothing_without_a_key(self) -> None:
        """An instance without a key, new or wiped, refuses and writes nothing; wiping it again is allowed."""
        unused, wiped = self.make(), self.keyed()
        wiped.wipe()
        for made in (unused, wiped):
            for size in (0, 1, len(UNTOUCHED)):
                room = bytearray(UNTOUCHED[:size])
                with pytest.raises(ParameterError):
                    made.keystream_into(0, room)
                assert UNTOUCHED[:size] == bytes(room), "keystream was given without a key"
            made.wipe()
            made.set_key(SECRET)
            same(stream(self.keyed(SECRET), 2, 40), stream(made, 2, 40), "keyed after a wipe")

    def test_wipe_overwrites_the_key(self) -> None:
        """No buffer that held the key, as far as Python can see, holds it after `wipe`; immutable bytes would."""
        made = self.keyed(SECRET)
        stream(made, 1, 3 * self.block_size)
        held = buffers(made)
        made.wipe()
        for item in (*held, *buffers(made)):
            name = type(item).__name__
            assert SECRET not in bytes(item), f"a {name} still holds the key; keep it in a fortuna.generators.Secret"

    def test_no_text_shows_the_key(self) -> None:
        """Neither the instance nor an attribute of it, which error reporters print, shows the key as text."""
        made = self.keyed(SECRET)
        stream(made, int.from_bytes(SECRET[:16], "little"), 3 * self.block_size)
        for shown in (repr(made), str(made), f"{made}", *map(repr, held_by(made))):
            hidden(shown)

    @pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
    def test_no_copies(self, duplicate: Callable[[Any], object]) -> None:
        """Copying and pickling are refused, since a copy would repeat the same bytes; the instance works on."""
        self._refused(duplicate, TypeError)

    def test_instances_are_independent(self) -> None:
        """Two instances with two keys, used in turn, do not disturb each other."""
        one, two = self.keyed(KEY), self.keyed(SECRET)
        first, second = stream(one, 9, 2 * self.block_size), stream(two, 9, 2 * self.block_size)
        assert first != second, "two keys give the same keystream"
        same(first, stream(one, 9, 2 * self.block_size), "the first of two instances")
        same(second, stream(two, 9, 2 * self.block_size), "the second of two instances")

    def test_threads(self) -> None:
        """Threads that have an instance each get what each would get alone."""
        keys = [bytes((i,)) * KEY_SIZE for i in range(4)]
        places = [(1 << 32) - 2 + i for i in range(20)]

        def work(key: bytes) -> list[bytes]:
            made = self.keyed(key)
            return [stream(made, place, 3 * self.block_size) for place in places]

        with ThreadPoolExecutor(len(keys)) as pool:
            together = list(pool.map(work, keys))
        for alone, got in zip(map(work, keys), together, strict=True):
            same(b"".join(alone), b"".join(got), "threads side by side")

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    def test_fork(self) -> None:
        """A forked child's instance is as good as the parent's: the same keystream in both."""
        made = self.keyed()
        size = 2 * self.block_size
        expected = stream(made, 6, size)
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            # Threads of other tests, which have ended or hold nothing of ours.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:  # pragma: no cover  # the child ends without a report
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(CHILD_SECONDS)
                os.write(writer, stream(made, 6, size)[:PIPE_SIZE])
            finally:
                os._exit(0)
        os.close(writer)
        got = os.read(reader, PIPE_SIZE)
        os.close(reader)
        assert (child, 0) == os.waitpid(child, 0), "the forked child hung or crashed"
        assert expected[:PIPE_SIZE] == got, "the forked child got other keystream, or an error"
        same(expected, stream(made, 6, size), "the parent after a fork")

    def _sizes(self) -> Iterator[int]:
        """Yield lengths of 0 to 3 blocks: all of them while blocks are short, else those around whole blocks."""
        size = self.block_size
        yield from range(3 * size + 1) if size <= 64 else (0, 1, size - 1, size, size + 1, 2 * size, 3 * size - 1)

    def _refused(self, call: Callable[[KeystreamGenerator], object], error: type[Exception]) -> None:
        """Assert that *call* raises *error*, shows no key, and leaves the instance as it was."""
        made = self.keyed(SECRET)
        expected = stream(self.keyed(SECRET), 5, 3 * self.block_size)
        with pytest.raises(error) as caught:
            call(made)
        hidden(str(caught.value))
        same(expected, stream(made, 5, 3 * self.block_size), "after a refused call")
