"""For tests of programs that use fortuna, and for nothing else: time, sources and bytes that a test decides.

`ManualClock`, `ScriptedSource` and `FailingSource` stand in for the parts of a live generator that no test can control,
`live` makes a real generator of them; `DeterministicFortuna` stands in for the generator itself, and
`DeterministicBitGenerator` for NumPy's; `Transcript` records and replays what was done to one. No other module of the
package imports this one. The names are loaded when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._live import live
    from .clock import ManualClock
    from .deterministic import DeterministicFortuna
    from .deterministic_numpy import DeterministicBitGenerator
    from .errors import ReplayError, TranscriptError
    from .failing import FailingSource
    from .scripted import ScriptedSource
    from .transcript import Transcript

__all__ = [
    "DeterministicBitGenerator",
    "DeterministicFortuna",
    "FailingSource",
    "ManualClock",
    "ReplayError",
    "ScriptedSource",
    "Transcript",
    "TranscriptError",
    "live",
]

_HOME = {
    "DeterministicBitGenerator": ".deterministic_numpy",
    "DeterministicFortuna": ".deterministic",
    "FailingSource": ".failing",
    "ManualClock": ".clock",
    "ReplayError": ".errors",
    "ScriptedSource": ".scripted",
    "Transcript": ".transcript",
    "TranscriptError": ".errors",
    "live": "._live",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
