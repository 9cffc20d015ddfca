"""The source ``cpu``: which instruction answers, every fault known of processors, and that absence is said."""

from __future__ import annotations

import errno
import sys

import pytest

from fortuna import generators
from fortuna.errors import ParameterError, SourceError
from fortuna.generators.secret import Secret
from fortuna.sources.cpu import EVENT_SIZE, Processor, never, this_processor

from .source_doubles import ScriptedProcessor

WORDS = [bytes([number]) * 8 for number in range(1, 9)]
EVENT = b"".join(WORDS[:4])
OTHER = b"".join(WORDS[4:])


def source(scripted: ScriptedProcessor) -> Processor:
    """Return the source on a scripted processor."""
    return Processor(tuple(scripted.events), scripted.fill, "it is a script")


def test_cpu_takes_the_best_instruction() -> None:
    """The first instruction that is ready gives the event, 32 bytes, and the next one is not asked."""
    scripted = ScriptedProcessor(rdseed=[EVENT, OTHER], rdrand=[])
    cpu = source(scripted)
    assert [EVENT, OTHER] == [bytes(cpu.harvest()), bytes(cpu.harvest())]
    assert ["rdseed", "rdseed"] == scripted.asked
    assert 32 == EVENT_SIZE


def test_cpu_falls_back_while_the_best_is_not_ready() -> None:
    """Where RDSEED is never ready RDRAND answers, and RDSEED is asked again next time."""
    scripted = ScriptedProcessor(rdseed=[], rdrand=[EVENT])
    cpu = source(scripted)
    assert EVENT == bytes(cpu.harvest())
    scripted.events["rdseed"] = [OTHER]
    assert OTHER == bytes(cpu.harvest())
    assert ["rdseed", "rdrand", "rdseed"] == scripted.asked


def test_cpu_never_ready() -> None:
    """Instructions that are never ready are an error that names them, and no event."""
    with pytest.raises(SourceError, match="source cpu: not ready: rdseed, rdrand") as caught:
        source(ScriptedProcessor(rdseed=[], rdrand=[])).harvest()
    assert errno.EAGAIN == caught.value.errno


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(("word", "fault"), [(bytes(8), "all zeros"), (b"\xff" * 8, "all ones")])
def test_cpu_refuses_constant_words(word: bytes, fault: str, place: int) -> None:
    """One word of zeros or of ones, wherever it stands, spoils the event, and what was read is wiped."""
    words = [*WORDS[:place], word, *WORDS[place + 1 : 4]]
    scripted = ScriptedProcessor(rdseed=[b"".join(words)], rdrand=[OTHER])
    with pytest.raises(SourceError, match=f"rdseed gave {fault}; the processor is broken") as caught:
        source(scripted).harvest()
    assert errno.EIO == caught.value.errno
    assert scripted.last is not None
    assert bytes(32) == bytes(scripted.last)
    assert ["rdseed"] == scripted.asked


@pytest.mark.parametrize("place", range(1, 4))
def test_cpu_refuses_a_repeated_word(place: int) -> None:
    """A word that is the one before it spoils the event."""
    words = [*WORDS[:place], WORDS[place - 1], *WORDS[place + 1 : 4]]
    with pytest.raises(SourceError, match="rdrand gave the word before again"):
        source(ScriptedProcessor(rdrand=[b"".join(words)])).harvest()


def test_cpu_refuses_a_word_repeated_across_harvests() -> None:
    """The last word of one harvest may not begin the next one; a refused event does not count as the last one."""
    again = WORDS[3] + b"".join(WORDS[5:])
    scripted = ScriptedProcessor(rdrand=[EVENT, again, again, OTHER])
    cpu = source(scripted)
    assert EVENT == bytes(cpu.harvest())
    for _ in range(2):
        with pytest.raises(SourceError, match="the word before again"):
            cpu.harvest()
    assert OTHER == bytes(cpu.harvest())


def test_cpu_almost_faults_are_taken() -> None:
    """A word that differs from a fault in one bit, or repeats one that is not next to it, is taken."""
    event = bytes(7) + b"\x01" + b"\xff" * 7 + b"\xfe" + WORDS[0] + bytes(7) + b"\x01"
    assert event == bytes(source(ScriptedProcessor(rdseed=[event])).harvest())


def test_cpu_without_instructions_is_absent() -> None:
    """A processor that has neither instruction is no source, and says so; one that has says nothing."""
    cpu = source(ScriptedProcessor())
    assert "it is a script" == cpu.absence
    with pytest.raises(SourceError, match="source cpu: absent; it is a script") as caught:
        cpu.harvest()
    assert errno.ENODEV == caught.value.errno
    assert "" == source(ScriptedProcessor(rdrand=[])).absence


def test_cpu_without_the_extension_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the C extension is missing the source says so."""
    monkeypatch.setitem(sys.modules, f"{generators.__name__}._native", None)
    monkeypatch.delattr(generators, "_native", raising=False)
    with pytest.raises(SourceError, match="source cpu: absent; it needs the C extension"):
        this_processor().harvest()
    assert not never("rdrand", Secret(32))


def test_cpu_hides_what_it_read() -> None:
    """Neither the event nor the source shows bytes in its representation or in an error."""
    assert "<32 secret bytes>" == repr(source(ScriptedProcessor(rdseed=[EVENT])).harvest())
    with pytest.raises(SourceError) as caught:
        source(ScriptedProcessor(rdseed=[WORDS[0] * 4])).harvest()
    assert WORDS[0].hex() not in str(caught.value)
    assert repr(WORDS[0])[2:-1] not in str(caught.value)


def test_cpu_names_itself() -> None:
    """Name, number, cost and credit."""
    assert ("cpu", 1, "costly", 4.0) == (Processor.name, Processor.number, Processor.cost, Processor.min_entropy)


def test_cpu_of_this_machine() -> None:
    """The real instructions give different events, where there are any."""
    native = pytest.importorskip("fortuna.generators._native")
    if not native.cpu_random_instructions():
        pytest.skip("this processor has no random instructions")
    cpu = this_processor()
    assert bytes(cpu.harvest()) != bytes(cpu.harvest())


def test_cpu_extension_refuses_what_it_cannot_do() -> None:
    """An instruction that is not there, and a buffer of another size, are refused with what was got."""
    native = pytest.importorskip("fortuna.generators._native")
    with pytest.raises(ParameterError, match='instruction: got "rdtsc"; this processor has no such one'):
        native.cpu_random("rdtsc", bytearray(32))
    for instruction in native.cpu_random_instructions():
        for size in (0, 31, 33):
            with pytest.raises(ParameterError, match=f"out: got {size} bytes; allowed is 32"):
                native.cpu_random(instruction, bytearray(size))
        with pytest.raises(BufferError, match="read-only"):
            native.cpu_random(instruction, bytes(32))
        with pytest.raises(TypeError):
            native.cpu_random(instruction)
