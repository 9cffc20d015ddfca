"""The monitor of a source: what goes on to the pools, when the source is asked again, what is logged and reported."""

from __future__ import annotations

import array
import copy
import errno
import logging
import os
import pickle
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

import fortuna
from fortuna.core.health import STARTUP_SAMPLES
from fortuna.errors import ParameterError, SourceError
from fortuna.generators.secret import Secret
from fortuna.monitor import ALARM_BACKOFF_NS, BUDGET_NS, ERROR_BACKOFF_NS, Monitor

from .edge_doubles import ManualClock, ScriptedSource, interruptions, lines_of, run_script, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from fortuna.typing import Cost

SECOND: Final = 1_000_000_000
MILLISECOND: Final = 1_000_000


class Rig:
    """A monitor on a scripted source and a manual clock, and an answer of the source that can be replaced."""

    def __init__(self, *, cost: Cost = "cheap", health_tests: bool = True, **options: Any) -> None:
        self.clock = ManualClock()
        self.source = ScriptedSource("dice", **options)
        self.source.cost = cost
        self.answer: Callable[[int], Any] = self.source.script
        self.takes_ns = 0
        self.source.script = self.give  # type: ignore[method-assign]
        self.monitor = Monitor(self.source, self.clock, health_tests=health_tests)

    def give(self, harvest: int) -> Any:
        """Answer, after the time that it takes."""
        self.clock.now += self.takes_ns
        return self.answer(harvest)

    def harvest(self, *, is_waiting: bool = False) -> bytes | None:
        """Ask the monitor, and return a copy that can be compared."""
        found = self.monitor.harvest(is_waiting=is_waiting)
        return None if found is None else bytes(found)

    def ask_times(self, count: int) -> list[int]:
        """Harvest each millisecond, and return at which times from now the source was asked, *count* of them."""
        start = self.clock.now
        asked: list[int] = []
        while len(asked) < count:
            before = self.source.harvests
            self.harvest()
            if self.source.harvests != before:
                asked.append((self.clock.now - start) // MILLISECOND)
            self.clock.now += MILLISECOND
        return asked

    def back_off(self) -> None:
        """Pass the time until the source is asked again."""
        self.clock.now = max(self.clock.now, self.monitor.next_try_ns)


def raising(error: BaseException) -> Callable[[int], Any]:
    """Return an answer that raises."""

    def answer(harvest: int) -> Any:
        raise error

    return answer


def good(size: int = 2048) -> Callable[[int], bytes]:
    """Return answers without a fault."""
    return lambda harvest: stream(f"good/{harvest}", size)


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was logged, and check that all are warnings of fortuna."""
    assert {("fortuna", logging.WARNING)} >= {(record.name, record.levelno) for record in caplog.records}
    return [record.getMessage() for record in caplog.records]


# Good sources.


def test_monitor_hands_on_what_the_source_gave() -> None:
    """A healthy source's bytes come through unchanged, every time, as secrets."""
    rig = Rig()
    assert "new" == rig.monitor.state
    assert isinstance(rig.monitor.harvest(), Secret)
    for number in range(2, 50):
        assert stream(f"dice/{number}", 2048) == rig.harvest()
        assert "healthy" == rig.monitor.state
    assert ("dice", 7, 8.0) == (rig.monitor.name, rig.monitor.number, rig.monitor.min_entropy)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, Secret, lambda data: array.array("I", data)])
def test_monitor_takes_any_bytes(kind: Callable[[bytes], Any]) -> None:
    """Every kind of contiguous buffer is taken, and changing it afterwards changes nothing but a `Secret`."""
    rig = Rig()
    given = kind(stream("kind", 2048))
    rig.answer = lambda harvest: given
    harvest = rig.monitor.harvest()
    assert stream("kind", 2048) == bytes(harvest or b"")
    assert (given is harvest) == (kind is Secret)


@pytest.mark.parametrize("cost", ["cheap", "costly"])
def test_monitor_startup_in_one_call(cost: Cost) -> None:
    """A source of small harvests is asked until the start-up test has its 1024 bytes, and all of them are used."""
    rig = Rig(cost=cost, size=32)
    assert b"".join(stream(f"dice/{number}", 32) for number in range(1, 33)) == rig.harvest()
    assert stream("dice/33", 32) == rig.harvest()
    assert 33 == rig.source.harvests


def test_monitor_startup_of_a_slow_source() -> None:
    """A slow source is asked once a call; nothing is used before the 1024th byte, and all of it then."""
    rig = Rig(cost="slow", size=32)
    for _ in range(31):
        assert rig.harvest() is None
        assert "new" == rig.monitor.state
    assert b"".join(stream(f"dice/{number}", 32) for number in range(1, 33)) == rig.harvest()
    assert "healthy" == rig.monitor.state
    assert 32 == rig.source.harvests


@pytest.mark.parametrize("size", [STARTUP_SAMPLES - 1, STARTUP_SAMPLES, STARTUP_SAMPLES + 1])
def test_monitor_startup_limit(size: int) -> None:
    """1023 bytes are held back, 1024 go on."""
    rig = Rig(cost="slow", size=size)
    assert (size >= STARTUP_SAMPLES) == (rig.harvest() is not None)


def test_monitor_without_health_tests() -> None:
    """With the tests off everything is handed on at once, all zeros as well, whatever the claim."""
    rig = Rig(health_tests=False, size=32, min_entropy=0.0)
    rig.answer = lambda harvest: bytes(32)
    assert [bytes(32)] * 9 == [rig.harvest() for _ in range(9)]


def test_monitor_claim_out_of_range() -> None:
    """A source whose claim cannot be tested is refused when the monitor is made."""
    with pytest.raises(ParameterError, match="source dice: min_entropy: got 0.0 bits a byte"):
        Rig(min_entropy=0.0)


def test_monitor_of_the_operating_system() -> None:
    """The real source passes, many times in a row."""
    from fortuna.sources.os import OperatingSystem

    monitor = Monitor(OperatingSystem(getattr(os, "getrandom", None), os.urandom), ManualClock())
    assert [2048] * 200 == [len(monitor.harvest() or b"") for _ in range(200)]


# Errors.


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (raising(SourceError(errno.EIO, "source dice: told to fail")), "source dice: told to fail"),
        (raising(SourceError("source dice: told to fail, without a number")), "told to fail, without a number"),
        (raising(ValueError("SECRET")), "source dice: harvest() raised ValueError; allowed is SourceError"),
        (raising(OSError(errno.ENOSYS, "SECRET")), "source dice: harvest() raised OSError; allowed is SourceError"),
        (raising(MemoryError()), "source dice: harvest() raised MemoryError; allowed is SourceError"),
        (lambda harvest: b"", "source dice: harvest() gave 0 bytes; allowed is 1 or more"),
        (lambda harvest: memoryview(b""), "source dice: harvest() gave 0 bytes; allowed is 1 or more"),
        (lambda harvest: None, "source dice: harvest() gave a NoneType; allowed is a contiguous bytes-like object"),
        (lambda harvest: "SECRET", "source dice: harvest() gave a str; allowed is a contiguous bytes-like object"),
        (lambda harvest: 32, "source dice: harvest() gave a int; allowed is a contiguous bytes-like object"),
        (
            lambda harvest: memoryview(bytes(64))[::2],
            "source dice: harvest() gave a memoryview; allowed is a contiguous bytes-like object",
        ),
    ],
)
@pytest.mark.parametrize("health_tests", [True, False])
def test_monitor_failures(
    health_tests: bool, answer: Callable[[int], Any], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever a source does wrong is a failure that says what and no byte, at boot and in flight, and never raises."""
    for in_flight in (False, True):
        caplog.clear()
        rig = Rig(cost="slow", health_tests=health_tests)  # as a plug-in is run, away from signal handlers
        if in_flight:
            assert rig.harvest() is not None
        rig.answer = answer
        assert rig.harvest() is None
        assert ("failing", 1) == (rig.monitor.state, rig.monitor.failures_in_a_row)
        assert rig.monitor.last_error.endswith(text)
        assert [f"entropy source fails, going on without it: {rig.monitor.last_error}"] == messages(caplog)
        assert "SECRET" not in caplog.text
        rig.answer = good()
        rig.back_off()
        assert rig.harvest() is not None
        assert ("healthy", 0) == (rig.monitor.state, rig.monitor.failures_in_a_row)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, ValueError, TimeoutError])
def test_monitor_lets_interruptions_through(error: type[BaseException]) -> None:
    """What is no error of a quick source, such as a handler's, is raised, and the next harvest is as before."""
    rig = Rig()
    rig.harvest()
    before = rig.monitor.report()
    rig.answer = raising(error())
    with pytest.raises(error):
        rig.harvest()
    assert before == rig.monitor.report()
    rig.answer = good()
    assert stream("good/3", 2048) == rig.harvest()


def test_monitor_back_off_after_errors() -> None:
    """10 ms, doubling to 1 s, and not a millisecond earlier."""
    rig = Rig()
    rig.answer = raising(SourceError(errno.EIO, "no"))
    assert [0, 10, 30, 70, 150, 310, 630, 1270, 2270, 3270, 4270] == rig.ask_times(11)


def test_monitor_back_off_after_alarms() -> None:
    """1 s, doubling to 600 s."""
    rig = Rig()
    rig.answer = lambda harvest: bytes(2048)
    waits = []
    for _ in range(13):
        rig.harvest()
        waits.append((rig.monitor.next_try_ns - rig.clock.now) // SECOND)
        rig.back_off()
    assert [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600] == waits


def test_monitor_not_ready_is_asked_every_10_ms() -> None:
    """EAGAIN, of a kernel that is not seeded yet, does not make the back-off grow."""
    rig = Rig()
    rig.answer = raising(SourceError(errno.EAGAIN, "not yet"))
    assert list(range(0, 100, 10)) == rig.ask_times(10)


@pytest.mark.parametrize("early_ns", [-1, 0, 1])
def test_monitor_back_off_limit(early_ns: int) -> None:
    """A nanosecond before the end of the back-off the source is not asked; at the end and after it is."""
    rig = Rig()
    rig.answer = raising(SourceError(errno.EIO, "no"))
    rig.harvest()
    rig.clock.now += ERROR_BACKOFF_NS[0] + early_ns
    rig.harvest()
    assert 1 + (early_ns >= 0) == rig.source.harvests


@pytest.mark.parametrize(("well_ns", "wait_ms"), [(39, 80), (40, 80), (41, 10)])
def test_monitor_back_off_starts_over(well_ns: int, wait_ms: int) -> None:
    """After a back-off of 40 ms it starts over when the source was well for longer than that, else it goes on."""
    rig = Rig()
    rig.answer = raising(SourceError(errno.EIO, "no"))
    assert [0, 10, 30] == rig.ask_times(3)
    rig.back_off()
    rig.answer = good()
    for _ in range(2):
        assert rig.harvest() is not None
    rig.clock.now += well_ns * MILLISECOND + (well_ns > 40)
    rig.answer = raising(SourceError(errno.EIO, "no"))
    rig.harvest()
    assert wait_ms * MILLISECOND == rig.monitor.next_try_ns - rig.clock.now


def test_monitor_absent_source(caplog: pytest.LogCaptureFixture) -> None:
    """ENODEV says that the machine lacks the source: it is shown, not logged, and seldom asked."""
    rig = Rig()
    rig.answer = raising(SourceError(errno.ENODEV, "source dice: there are none"))
    assert rig.harvest() is None
    assert ("absent", "source dice: there are none") == (rig.monitor.state, rig.monitor.last_error)
    assert ALARM_BACKOFF_NS[0] == rig.monitor.next_try_ns - rig.clock.now
    assert [] == messages(caplog)
    rig.answer = good()
    rig.back_off()
    assert rig.harvest() is not None
    assert [] == messages(caplog)


# Health.


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(lambda harvest: bytes(2048), id="zeros"),
        pytest.param(lambda harvest: b"\xff" * 2048, id="ones"),
        pytest.param(lambda harvest: b"\x5a" * 32, id="constant-short"),
        pytest.param(lambda harvest: stream("same", 2048), id="repeating"),
        pytest.param(lambda harvest: stream("same", 32) * 64, id="period-32"),
        pytest.param(lambda harvest: stream("ab", 2) * 1024, id="period-2"),
    ],
)
@pytest.mark.parametrize("in_flight", [False, True])
def test_monitor_withholds_a_sick_source(in_flight: bool, fault: Callable[[int], bytes]) -> None:
    """Within two harvests of a fault nothing of the source is used any more, until it passes the start-up test."""
    rig = Rig()
    if in_flight:
        assert rig.harvest() is not None
    rig.answer = fault
    rig.harvest()
    assert rig.harvest() is None
    assert "withheld" == rig.monitor.state
    asked = rig.source.harvests
    assert [None] * 9 == [rig.harvest() for _ in range(9)]
    assert asked == rig.source.harvests
    rig.answer = good(32)
    rig.back_off()
    harvest = rig.harvest()
    assert harvest is not None
    assert STARTUP_SAMPLES == len(harvest)
    assert "healthy" == rig.monitor.state


def test_monitor_alarm_drops_what_was_held() -> None:
    """Bytes that passed before an alarm within the start-up test are not used after it."""
    rig = Rig(cost="slow", size=32)
    for _ in range(31):
        assert rig.harvest() is None
    held = rig.monitor._held
    rig.answer = lambda harvest: bytes(32)
    assert rig.harvest() is None
    assert bytes(31 * 32) == bytes(held)
    rig.answer = good(1024)
    rig.back_off()
    assert stream(f"good/{rig.source.harvests + 1}", 1024) == rig.harvest()


def test_monitor_error_within_the_startup_keeps_what_was_held() -> None:
    """A harvest that failed gave no samples, so the 1024 are still in a row."""
    rig = Rig(cost="slow", size=512)
    assert rig.harvest() is None
    rig.answer = raising(SourceError(errno.EIO, "no"))
    assert rig.harvest() is None
    rig.answer = good(512)
    rig.back_off()
    assert stream("dice/1", 512) + stream("good/3", 512) == rig.harvest()


def test_monitor_alarm_message(caplog: pytest.LogCaptureFixture) -> None:
    """An alarm is logged with test and cut-off, even while a boot waits."""
    rig = Rig()
    rig.answer = lambda harvest: bytes(2048)
    assert rig.harvest(is_waiting=True) is None
    assert [
        "entropy source fails, going on without it: source dice: repetition count test: 9 equal bytes in a row, up to "
        "byte 9; the cut-off is 9; it claims 8 bits a byte; it is not used until 1024 bytes in a row pass"
    ] == messages(caplog)


# Logging.


def test_monitor_logs_once_an_episode(caplog: pytest.LogCaptureFixture) -> None:
    """One line when a source begins to fail, one when it gives again, however long it lasts, and again next time."""
    rig = Rig()
    for episode in (1, 2):
        rig.answer = raising(SourceError(errno.EIO, "no"))
        for _ in range(5):
            rig.harvest()
            rig.back_off()
        rig.answer = good()
        for _ in range(5):
            assert rig.harvest() is not None
        assert [
            "entropy source fails, going on without it: no",
            "entropy source dice gives again, after 5 failures",
        ] * episode == messages(caplog)


def test_monitor_logs_nothing_while_a_boot_waits(caplog: pytest.LogCaptureFixture) -> None:
    """Errors are silent as long as the caller waits, the recovery from them too; later ones are logged."""
    rig = Rig()
    rig.answer = raising(SourceError(errno.EAGAIN, "not yet"))
    for _ in range(5):
        assert rig.harvest(is_waiting=True) is None
        rig.back_off()
    rig.answer = good()
    assert rig.harvest(is_waiting=True) is not None
    assert [] == messages(caplog)
    rig.answer = raising(SourceError(errno.EAGAIN, "not yet"))
    assert rig.harvest(is_waiting=True) is None
    rig.back_off()
    assert rig.harvest() is None
    assert ["entropy source fails, going on without it: not yet"] == messages(caplog)


# Budgets.


@pytest.mark.parametrize(("cost", "budget_ns"), [("cheap", SECOND), ("costly", SECOND), ("slow", 5 * SECOND)])
@pytest.mark.parametrize("over_ns", [-1, 0, 1])
def test_monitor_budget(over_ns: int, cost: Cost, budget_ns: int, caplog: pytest.LogCaptureFixture) -> None:
    """A harvest of just its budget is in time; of a nanosecond more it is used, reported, and the source skipped."""
    assert budget_ns == BUDGET_NS[cost]
    rig = Rig(cost=cost)
    rig.takes_ns = budget_ns + over_ns
    assert stream("dice/1", 2048) == rig.harvest()
    if over_ns <= 0:
        assert ("healthy", []) == (rig.monitor.state, messages(caplog))
        assert stream("dice/2", 2048) == rig.harvest()
    else:
        assert "failing" == rig.monitor.state
        assert 1 == len(messages(caplog))
        assert rig.harvest() is None
        rig.back_off()
        rig.takes_ns = 0
        assert stream("dice/2", 2048) == rig.harvest()
        assert "healthy" == rig.monitor.state


def test_monitor_slow_by_8_seconds() -> None:
    """The message has the time taken, the budget and the cost class; it is skipped for longer and longer."""
    rig = Rig()
    rig.takes_ns = 8 * SECOND
    assert rig.harvest() is not None
    assert "source dice: a harvest took 8 s; allowed is 1 s where the cost is cheap" == rig.monitor.last_error
    waits = []
    for _ in range(3):
        waits.append((rig.monitor.next_try_ns - rig.clock.now) // MILLISECOND)
        rig.back_off()
        assert rig.harvest() is not None
    assert [10, 20, 40] == waits


def test_monitor_budget_ends_the_startup_of_a_sluggish_source() -> None:
    """A source that is not slow by class and takes 400 ms for 32 bytes does not hold a request up for its 1024."""
    rig = Rig(size=32)
    rig.takes_ns = 400 * MILLISECOND
    start = rig.clock.now
    assert rig.harvest() is None
    assert (3, 1200 * MILLISECOND) == (rig.source.harvests, rig.clock.now - start)
    assert "failing" == rig.monitor.state
    for _ in range(9):
        rig.back_off()
        assert rig.harvest() is None
    rig.back_off()
    harvest = rig.harvest()
    assert (STARTUP_SAMPLES, 32) == (len(harvest or b""), rig.source.harvests)


# Reports and robustness.


def test_monitor_report() -> None:
    """The report has the source's own words, the counts and the last error, also after the recovery."""
    rig = Rig(size=512)
    assert (
        fortuna.SourceReport(
            name="dice",
            number=7,
            cost="cheap",
            min_entropy=8.0,
            assumption="a script",
            state="new",
            harvests=0,
            bytes_given=0,
            failures_in_a_row=0,
            failures=0,
            last_error="",
        )
        == rig.monitor.report()
    )
    rig.harvest()
    rig.answer = raising(SourceError(errno.EIO, "no"))
    for _ in range(3):
        rig.harvest()
        rig.back_off()
    report = rig.monitor.report()
    assert ("failing", 2, 1024, 3, 3, "no") == (
        report.state,
        report.harvests,
        report.bytes_given,
        report.failures_in_a_row,
        report.failures,
        report.last_error,
    )
    rig.answer = good(512)
    rig.harvest()
    report = rig.monitor.report()
    assert ("healthy", 3, 1536, 0, 3, "no") == (
        report.state,
        report.harvests,
        report.bytes_given,
        report.failures_in_a_row,
        report.failures,
        report.last_error,
    )


def test_monitor_report_is_frozen() -> None:
    """A report cannot be changed, and has no place for more."""
    report = Rig().monitor.report()
    with pytest.raises(AttributeError):
        report.state = "healthy"  # type: ignore[misc]
    assert not hasattr(report, "__dict__")


def test_monitor_shows_no_secret() -> None:
    """Neither repr nor report has a byte of a harvest, held or handed on; the monitor is not copied."""
    rig = Rig(cost="slow", size=64)
    rig.answer = lambda harvest: b"SECRET" + stream(f"s/{harvest}", 58)
    for _ in range(20):
        rig.harvest()
        assert "SECRET" not in repr(rig.monitor) + repr(rig.monitor.report()) + repr(rig.monitor._tests)
    assert "<monitor of source dice, healthy>" == repr(rig.monitor)
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot copy or pickle"):
            act(rig.monitor)


@pytest.mark.parametrize("size", [700, 2048])
def test_monitor_interrupted_by_itself(size: int) -> None:
    """A harvest that interrupts another anywhere never raises, and no byte is handed on twice."""
    places = 0
    given: list[bytes] = []
    rig = Rig()

    def again() -> None:
        given.append(rig.harvest() or b"")

    for interrupter in interruptions(again):
        rig = Rig(size=size)
        given.clear()
        with interrupter:
            for _ in range(2):
                given.append(rig.harvest() or b"")
        given.append(rig.harvest() or b"")
        pieces = [piece for harvest in given for piece in (harvest[i : i + size] for i in range(0, len(harvest), size))]
        assert len(set(pieces)) == len(pieces)
        assert {stream(f"dice/{number}", size) for number in range(1, rig.source.harvests + 1)} == set(pieces)
        assert "healthy" == rig.monitor.state
        places += 1
    assert places > 20
    assert sys.getprofile() is None


@pytest.mark.parametrize("size", [700, 2048])
def test_monitor_killed_anywhere(size: int) -> None:
    """An exception of a signal handler at any place loses a harvest at most, and the monitor goes on."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    for interrupter in interruptions(interrupt):
        rig = Rig(size=size)
        try:
            with interrupter:
                rig.harvest()
        except KeyboardInterrupt:
            pass
        for _ in range(3):
            assert rig.harvest() is not None
        assert "healthy" == rig.monitor.state


def test_monitor_healthy_source_imports_nothing_heavy() -> None:
    """Until something fails or is asked for, neither logging nor dataclasses nor re is loaded."""
    body = """
import os, sys, time
before = set(sys.modules)
from fortuna.monitor import Monitor
from fortuna.sources.os import OperatingSystem
class clock:
    monotonic_ns = time.monotonic_ns
monitor = Monitor(OperatingSystem(getattr(os, "getrandom", None), os.urandom), clock)
assert 2048 == len(monitor.harvest())
print(sorted({"logging", "dataclasses", "re", "typing", "math", "hashlib", "threading"} & (set(sys.modules) - before)))
"""
    # Site packages may import anything by themselves (coverage does), so what is loaded before does not count.
    assert ["[]"] == lines_of(run_script(body))
