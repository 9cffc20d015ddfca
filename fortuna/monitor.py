"""The monitor of one source: it decides whether a harvest may go into the pools, and when to ask again.

Between a source and the pools stand the contract (bytes, at least one, no exception but `SourceError`), the health
tests of `fortuna.core.health`, and a budget of time. A source that breaks one of them is left alone for a while that
doubles, and the other sources go on: no failure of a source ever becomes a failure of a request.
"""

from __future__ import annotations

import errno

from .core.health import HealthTests
from .errors import HealthTestError, SourceError
from .generators.log import logger
from .generators.secret import Secret, Uncopyable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ._source_report import SourceReport
    from .typing import Buffer, Clock, Source

#: Nanoseconds that a harvest may take, by the cost class. The quick ones need microseconds; the second is for threads
#: that the system leaves waiting, as containers with a share of a processor are. The harvester's others wait longer.
BUDGET_NS: Final = {"cheap": 1_000_000_000, "costly": 1_000_000_000, "slow": 5_000_000_000}
#: First and longest back-off after an error. A second is little enough to notice that a device answers again.
ERROR_BACKOFF_NS: Final = (10_000_000, 1_000_000_000)
#: The same where the source said EAGAIN: it has nothing yet, and a boot that waits for the kernel's first seed should
#: hear of it at once.
NOT_YET_BACKOFF_NS: Final = (10_000_000, 10_000_000)
#: The same after a failed health test, or where the machine lacks the source: neither mends itself in milliseconds.
ALARM_BACKOFF_NS: Final = (1_000_000_000, 600_000_000_000)


#: States in which a source gives nothing to the pools, and did give or should.
OUT_OF_USE: Final = ("failing", "withheld", "absent")


class Monitor(Uncopyable):
    """One source, as one life of a live generator sees it.

    Parameters
    ----------
    source : Source
        What is harvested; its name, number, cost class and claim are read once.
    clock : Clock
        Monotonic time, for budgets and back-offs.
    health_tests : bool
        Whether harvests are tested; the tunable ``entropy.health_tests``.

    Attributes
    ----------
    name : str
        Name of the source.
    number : int
        Source number of its events.
    cost : str
        Its cost class.
    min_entropy : float
        Bits to credit for each byte.
    state : str
        ``new``, ``healthy``, ``failing``, ``withheld`` or ``absent``; see `SourceReport`.
    failures_in_a_row : int
        Failures since the source was last well.
    last_error : str
        What the last failure was.
    next_try_ns : int
        When `harvest` will ask the source again; long ago while it is well.

    Raises
    ------
    ParameterError
        The claim of the source is out of range, and the health tests are on.

    Notes
    -----
    *Threads*: none but the one that pulls; the caller's pull lock sees to that.
    *Signals*: a harvest may interrupt another one of the same monitor on the same thread. Both get bytes that nobody
    else got; counts and the tests' view of a run may miss one of the two.
    *Forks*: a child makes monitors of its own, and has the start-up tests pass again.
    """

    __slots__ = (
        "_assumption",
        "_backoff_ns",
        "_budget_ns",
        "_bytes_given",
        "_clock",
        "_failures",
        "_harvests",
        "_held",
        "_is_logged",
        "_source",
        "_tests",
        "_well_since_ns",
        "cost",
        "failures_in_a_row",
        "last_error",
        "min_entropy",
        "name",
        "next_try_ns",
        "number",
        "state",
    )

    def __init__(self, source: Source, clock: Clock, *, health_tests: bool = True) -> None:
        self._source = source
        self._clock = clock
        self.name = source.name
        self.number = source.number
        self.min_entropy = source.min_entropy
        self._assumption = source.assumption
        self.cost = source.cost
        self._budget_ns = BUDGET_NS[source.cost]
        self._tests = HealthTests(self.name, self.min_entropy) if health_tests else None
        # What came before the start-up test was passed; it is used when the test is.
        self._held = Secret()
        self.state = "new"
        self.next_try_ns = 0
        self._backoff_ns = 0
        self._well_since_ns = 0
        self._is_logged = False
        self._harvests = 0
        self._bytes_given = 0
        self._failures = 0
        self.failures_in_a_row = 0
        self.last_error = ""

    def harvest(self, *, is_waiting: bool = False) -> Secret | None:
        """Return bytes that may go into the pools now, to be wiped by the caller, or ``None``.

        Parameters
        ----------
        is_waiting : bool
            The boot waits for its first seed: errors are not logged yet, since a source that is not ready is what it
            waits for. A failed health test is logged all the same. A harvest beyond its budget is not used, so that no
            boot lives on a source that is too slow to rely on; later it is, since it can do no harm.

        Returns
        -------
        Secret or None
            At least one byte. ``None`` while the source fails, is withheld, backs off or has not finished the start-up
            test.

        Raises
        ------
        BaseException
            What is no `Exception`, such as ``KeyboardInterrupt``, passes through, and the harvest is lost. So does what
            a quick source raises that is no `SourceError`: on the thread of a request, it is a signal handler's.

        Notes
        -----
        A source that is not ``slow`` is asked again and again until the start-up test has its 1024 bytes or the budget
        is used up; a slow one is asked once a call, so that it does not hold up its neighbours.
        """
        start = self._clock.monotonic_ns()
        if start < self.next_try_ns:
            return None
        try:
            harvest = self._collect(start)
        except HealthTestError as error:
            self._held.wipe()
            self._held = Secret()
            self._fail("withheld", str(error), ALARM_BACKOFF_NS)
            return None
        except SourceError as error:
            text = error.strerror or str(error)
            if error.errno == errno.ENODEV:
                self._fail("absent", text, ALARM_BACKOFF_NS, is_quiet=True)
            else:
                backoff_ns = NOT_YET_BACKOFF_NS if error.errno == errno.EAGAIN else ERROR_BACKOFF_NS
                self._fail("failing", text, backoff_ns, is_quiet=is_waiting)
            return None
        took_ns = self._clock.monotonic_ns() - start
        if took_ns > self._budget_ns:
            if is_waiting:
                harvest.wipe()
                harvest = Secret()
            self._fail(
                "failing",
                f"source {self.name}: a harvest took {took_ns / 1e9:.3g} s; allowed is {self._budget_ns / 1e9:g} s "
                f"where the cost is {self.cost}",
                ERROR_BACKOFF_NS,
            )
        elif harvest:
            self._succeed(start + took_ns)
        self._bytes_given += len(harvest)
        return harvest or None

    def note_overdue(self, waited_ns: int) -> None:
        """Note that a harvest has not come back in its time; called from another thread than the one that waits."""
        self._fail(
            "failing",
            f"source {self.name}: no answer for {waited_ns / 1e9:.3g} s; allowed is {self._budget_ns / 1e9:g} s",
            ERROR_BACKOFF_NS,
        )

    def report(self) -> SourceReport:
        """Return counts and words about the source, without secrets."""
        # Imported here because it is no part of giving random bytes, and dataclasses are slow to import.
        from ._source_report import SourceReport

        return SourceReport(
            name=self.name,
            number=self.number,
            cost=self.cost,
            min_entropy=self.min_entropy,
            assumption=self._assumption,
            state=self.state,
            harvests=self._harvests,
            bytes_given=self._bytes_given,
            failures_in_a_row=self.failures_in_a_row,
            failures=self._failures,
            last_error=self.last_error,
        )

    def _collect(self, start: int) -> Secret:
        """Return what may be used: a tested harvest, with all that was held; nothing if the start-up test goes on."""
        tests = self._tests
        while True:
            fresh = self._ask()
            if tests is not None:
                tests.check(fresh)
            self._harvests += 1
            is_usable = tests is None or tests.is_started
            if is_usable and not self._held:
                return fresh
            # No call between reading the attribute and replacing it, where a signal handler might take the same bytes.
            self._held.extend(fresh)
            fresh.wipe()
            if is_usable:
                nothing = Secret()
                held, self._held = self._held, nothing
                return held
            if self.cost == "slow" or self._clock.monotonic_ns() - start > self._budget_ns:
                return Secret()

    def _ask(self) -> Secret:
        """Return one harvest as bytes of our own, which the source cannot change after they were tested."""
        try:
            answer: Buffer = self._source.harvest()
        except SourceError:
            raise
        except Exception as error:
            if self.cost != "slow":
                # A source of ours, on the thread of a request: what is no SourceError came out of a signal handler.
                raise
            # Whatever a plug-in raises, and not its text, which may quote the bytes.
            raise SourceError(
                errno.EIO, f"source {self.name}: harvest() raised {type(error).__name__}; allowed is SourceError"
            ) from error
        if isinstance(answer, Secret):
            fresh = answer
        else:
            try:
                view = memoryview(answer).cast("B")
            except TypeError:
                kind = type(answer).__name__
                raise SourceError(
                    errno.EIO, f"source {self.name}: harvest() gave a {kind}; allowed is a contiguous bytes-like object"
                ) from None
            fresh = Secret(view)
        if not fresh:
            raise SourceError(errno.EIO, f"source {self.name}: harvest() gave 0 bytes; allowed is 1 or more")
        return fresh

    def _fail(self, state: str, text: str, backoff_ns: tuple[int, int], *, is_quiet: bool = False) -> None:
        """Note one failure, and leave the source alone for twice the time that did not help last time."""
        first, longest = backoff_ns
        now = self._clock.monotonic_ns()
        # The back-off starts over after a failure only if the source was well for as long as it was left alone before:
        # one that fails every other time would be asked, and logged, at the shortest one for ever.
        if not self.failures_in_a_row and now - self._well_since_ns > self._backoff_ns:
            self._backoff_ns = 0
        self._backoff_ns = min(max(2 * self._backoff_ns, first), longest)
        self.next_try_ns = now + self._backoff_ns
        self.state = state
        self.last_error = text
        self._failures += 1
        self.failures_in_a_row += 1
        if not self._is_logged and not is_quiet:
            self._is_logged = True
            log("entropy source fails, going on without it: %s", text)

    def _succeed(self, now: int) -> None:
        """Note that bytes were given in time."""
        failures = self.failures_in_a_row
        if failures:
            self._well_since_ns = now
        self.state = "healthy"
        self.failures_in_a_row = 0
        if self._is_logged:
            self._is_logged = False
            log("entropy source %s gives again, after %d failures", self.name, failures)

    def __repr__(self) -> str:
        return f"<monitor of source {self.name}, {self.state}>"


def log(message: str, *arguments: object) -> None:
    """Write a warning to the logger ``fortuna``."""
    logger().warning(message, *arguments)
