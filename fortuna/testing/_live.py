"""A live generator on sources and a clock of a test's choice, to see what a service does when they fail."""

from __future__ import annotations

from .._boot import nanoseconds, operating_system, process
from ..core.constructions import construction_named
from ..core.scheduler import INTERVAL_NS, MIN_POOL_SIZE
from ..errors import ParameterError
from ..generators.registry import resolve
from ..parts import Parts
from ..rng import Fortuna
from .clock import ManualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..typing import Clock, Source


def live(
    sources: Sequence[Source],
    *,
    clock: Clock | None = None,
    cipher: str = "aes256-icm",
    provider: str = "auto",
    construction: str = "fsk2010",
    min_pool_size: int = MIN_POOL_SIZE,
    interval_ns: int = INTERVAL_NS,
    health_tests: bool = True,
    timeout: float = 0.0,
) -> Fortuna:
    """Boot a real generator that nobody but the caller has: not the one of the process, which stays what it is.

    Parameters
    ----------
    sources : sequence of Source
        What is harvested, in place of ``entropy.sources``: at least one, with numbers that differ. A source of cost
        class ``slow`` runs on a thread.
    clock : Clock, optional
        Paces pulls, budgets and back-offs; a `ManualClock` at 0 without one.
    cipher, provider, construction, min_pool_size, interval_ns, health_tests
        As the tunables of these names.
    timeout : float
        ``boot.timeout``: seconds of *clock* that the sources have for the first seed, at least 0.

    Returns
    -------
    Fortuna
        Seeded. After a fork, and for `fortuna.Fortuna.reseed`, the real operating system is asked.

    Raises
    ------
    NotSeededError
        The sources gave too little in time; the message says what each answered.
    ParameterError
        There is no source, two have one number, one claims no min-entropy, a number is out of range or a name unknown.
    ProviderUnavailableError, SelfTestError
        As `fortuna.boot`.

    Notes
    -----
    It is as unpredictable as its sources: on scripts, two calls give two generators with the same bytes.
    """
    numbers = [source.number for source in sources]
    if not numbers or len(numbers) != len(set(numbers)):
        raise ParameterError(f"sources: got {len(numbers)}, with the numbers {numbers}; need one or more that differ")
    claims = [source.min_entropy for source in sources]
    if not min(claims) > 0:
        raise ParameterError(f"sources: got claims of {claims} bits of min-entropy for each byte; allowed is above 0")
    if not 0 <= timeout < float("inf"):
        raise ParameterError(f"timeout: got {timeout} s; allowed is 0 or more, and finite")
    fortuna = Fortuna(
        Parts(
            make_keystream=resolve(cipher, provider),
            construction=construction_named(construction),
            system=operating_system(),
            sources=sources,
            clock=ManualClock() if clock is None else clock,
            forks=process.forks,
            min_pool_size=min_pool_size,
            interval_ns=interval_ns,
            health_tests=health_tests,
        )
    )
    try:
        fortuna.wait_for_seed(nanoseconds(timeout))
        fortuna.open_to_readers()
    except BaseException:
        fortuna.close()
        raise
    return fortuna
