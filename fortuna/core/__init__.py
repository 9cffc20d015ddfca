"""The pure core: pools, scheduler, constructions, generator and accumulator, without I/O or a clock of their own."""

from __future__ import annotations

from .accumulator import Accumulator
from .constructions import CONSTRUCTIONS, Construction
from .generator import Generator
from .pool import Pool
from .scheduler import Scheduler

__all__ = ["CONSTRUCTIONS", "Accumulator", "Construction", "Generator", "Pool", "Scheduler"]
