"""Transcripts: recording, files, replays that differ, and files that are refused with their line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fortuna.errors import ParameterError
from fortuna.testing import DeterministicFortuna, ReplayError, Transcript, TranscriptError

if TYPE_CHECKING:
    from pathlib import Path

START = (
    '{"fortuna_transcript": 1, "seed": "00", "cipher": "chacha20", "construction": "fsk2010", "min_pool_size": 64, '
    '"interval_ns": 100000000, "now_ns": 5}'
)


def recorded(path: Path) -> DeterministicFortuna:
    """Record each kind of step to *path*, and return the generator."""
    live = DeterministicFortuna(b"recorded", cipher="chacha20")
    transcript = Transcript.record(live)
    live.random_bytes(0)
    live.random_bytes(256)
    live.random_bytes(257)
    live.advance(0.25)
    live.add_event(7, b"event", pool=3)
    with pytest.raises(ParameterError):
        live.add_event(7, b"")
    live.reseed(b"fresh")
    live.random_bytes(16)
    transcript.save(path)
    assert "7 steps" in repr(transcript)
    return live


def test_testing_transcript_replays_from_a_file(tmp_path: Path) -> None:
    """A saved transcript replays on any provider to the same state, and saves to the same file."""
    live = recorded(tmp_path / "a")
    transcript = Transcript.load(tmp_path / "a")
    with pytest.raises(ParameterError, match="provider: got 'rot13'; there is auto, native"):
        transcript.replay(provider="rot13")
    replayed = transcript.replay(provider="reference")
    assert "reference" in repr(replayed)
    assert live.clock.monotonic_ns() == replayed.clock.monotonic_ns()
    assert live.random_bytes(64) == replayed.random_bytes(64)
    transcript.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_testing_transcript_says_where_a_replay_differs(tmp_path: Path) -> None:
    """The first read that differs is named with its line, a short one with its first byte."""
    path = tmp_path / "a"
    recorded(path)
    lines = path.read_text().splitlines()
    assert '"n": 257' in lines[3]
    short = lines.copy()
    short[-1] = short[-1][:-4] + ("00" if short[-1][-4:-2] != "00" else "01") + '"}'
    path.write_text("\n".join(short))
    with pytest.raises(ReplayError, match=rf"{path}:{len(lines)}: read of 16 bytes: byte 15 is the first that differs"):
        Transcript.load(path).replay()
    lines[3] = lines[3].replace('"sha256": "', '"sha256": "00')[:-4] + '"}'
    path.write_text("\n".join(lines))
    with pytest.raises(ReplayError, match=rf"{path}:4: read of 257 bytes: their SHA-256 differs"):
        Transcript.load(path).replay()


def test_testing_transcript_starts_at_the_beginning() -> None:
    """A generator that was used, or that is recorded already, is refused."""
    live = DeterministicFortuna(b"seed")
    live.random_bytes(1)
    with pytest.raises(ParameterError, match="1 steps were made"):
        Transcript.record(live)
    fresh = DeterministicFortuna(b"seed")
    Transcript.record(fresh)
    with pytest.raises(ParameterError, match="recorded already"):
        Transcript.record(fresh)


@pytest.mark.parametrize(
    ("lines", "line", "complaint"),
    [
        ([], 1, "got an empty file"),
        (["{"], 1, ""),
        (["\xff"], 1, ""),
        (["[]"], 1, "got no JSON object"),
        (["{}"], 1, "fortuna_transcript: got None; this release reads version 1"),
        ([START.replace(": 1,", ": 2,", 1)], 1, "this release reads version 1"),
        ([START.replace(": 1,", ": true,", 1)], 1, "this release reads version 1"),
        ([START.replace('"00"', '"0x"')], 1, "seed: got text that is not hexadecimal digits"),
        ([START.replace('"00"', '"00 00"')], 1, "seed: got text that is not hexadecimal digits"),
        ([START.replace('"00"', '"AB"')], 1, "seed: got text that is not hexadecimal digits"),
        ([START.replace('"fortuna_transcript": 1', '"fortuna_transcript": 1.0')], 1, "fortuna_transcript: got 1.0"),
        ([START, '{"step": "advance", "ns": 1, "ns": 5}'], 2, "ns: got the field twice"),
        ([START, "[" * 200_000], 2, "recursion"),
        ([START.replace('"00"', "0")], 1, "seed: got 0; need hexadecimal digits"),
        ([START.replace('"chacha20"', "20")], 1, "cipher: got 20; need text"),
        ([START.replace(": 5}", ": -5}")], 1, "now_ns: got -5; need an integer of at least 0"),
        ([START.replace(": 5}", ": true}")], 1, "now_ns: got True"),
        ([START.replace(', "now_ns": 5', "")], 1, "fields: got seed"),
        ([START, '{"step": "jump"}'], 2, "step: got 'jump'; there is advance, event, reseed, read, long-read"),
        ([START, '{"step": []}'], 2, r"step: got \[\]"),
        ([START, '{"step": "advance", "ns": 1.5}'], 2, "ns: got 1.5"),
        ([START, '{"step": "advance", "ns": 1, "more": 1}'], 2, "fields: got ns, more; need ns"),
        ([START, '{"step": "event", "source": 1, "data": "00", "pool": "0"}'], 2, "or null"),
    ],
)
def test_testing_transcript_file_is_refused(lines: list[str], line: int, complaint: str, tmp_path: Path) -> None:
    """Whatever is not as documented is an error with path and line."""
    path = tmp_path / "a"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    with pytest.raises(TranscriptError, match=rf"{path}:{line}: .*{complaint}"):
        Transcript.load(path)


@pytest.mark.parametrize(
    ("step", "line"),
    [
        ('{"step": "event", "source": 256, "data": "00", "pool": null}', 2),
        ('{"step": "event", "source": 1, "data": "", "pool": null}', 2),
        ('{"step": "event", "source": 1, "data": "00", "pool": 32}', 2),
    ],
)
def test_testing_transcript_step_that_cannot_be(step: str, line: int, tmp_path: Path) -> None:
    """A step that the generator refuses is an error with its line."""
    path = tmp_path / "a"
    path.write_text(f"{START}\n{step}\n")
    with pytest.raises(TranscriptError, match=rf"{path}:{line}: "):
        Transcript.load(path).replay()
    path.write_text(START.replace('"chacha20"', '"rot13"'))
    with pytest.raises(TranscriptError, match=rf"{path}:1: .*rot13"):
        Transcript.load(path).replay()
