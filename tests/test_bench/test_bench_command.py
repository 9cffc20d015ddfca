"""``python -m fortuna.bench``: its tables, its JSON, its groups; no time is asserted."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING, Any, Final

import pytest

from fortuna import __version__
from fortuna.bench import __main__ as command
from fortuna.bench import arrays, events, peers, tables
from fortuna.bench.measure import Contender, Timing
from fortuna.bench.tables import GROUPS, Bench, Table
from fortuna.generators import available

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fortuna.rng import Fortuna

MACHINE: Final = {"cpu", "system", "python", "fortuna-rng", "pycryptodome", "cryptography", "numpy", "randomgen"}
MIB: Final = 1 << 20


def run_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "fortuna.bench", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def check_json(text: str) -> list[dict[str, Any]]:
    """Check the form of the JSON, and return its tables."""
    report = json.loads(text)
    assert {"machine", "tables"} == set(report)
    assert MACHINE == set(report["machine"])
    assert all(isinstance(value, str) and value for value in report["machine"].values())
    assert __version__ == report["machine"]["fortuna-rng"]
    for table in report["tables"]:
        assert {"title", "rows"} == set(table)
        assert len({row["name"] for row in table["rows"]}) == len(table["rows"])
        for row in table["rows"]:
            assert {"name", "median_ns", "best_ns", "times"} == set(row)
            assert 0 < row["best_ns"] <= row["median_ns"]
            assert row["times"] > 0
        assert 1 == table["rows"][0]["times"]
    return list(report["tables"])


def test_start_group() -> None:
    """The group of whole processes has one table of three rows, and its JSON has the documented keys."""
    done = run_bench("--rounds", "1", "--only", "start", "--json")
    assert (0, "") == (done.returncode, done.stderr)
    table, boots = check_json(done.stdout)
    assert ["entropy.sources = os", "entropy.sources = os, cpu"] == [row["name"] for row in boots["rows"]]
    assert ["python -c pass", "python -c 'import fortuna'", "fortuna-dump -n 32"] == [
        row["name"] for row in table["rows"]
    ]


def test_events_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """The group of events has the cost of one, the readers' delays and the pace of reseeds."""
    few_events(monkeypatch)
    cost, delays, pace = (table.timings for table in Bench().events())
    assert ["add_event(200, 8 bytes)", "the same, with a reader running"] == [timing.name for timing in cost]
    assert 3 == len(delays)
    assert all(len(timing.rounds_ns) == 2 and min(timing.rounds_ns) > 0 for timing in (*cost, *delays))
    # Ten reseeds a second at the most: that is the scheduler's rule, no matter how fast the machine is.
    assert min(pace[0].rounds_ns) > 95_000_000


def test_library_group() -> None:
    """The group of the library has a table for each cipher it runs: the library alone, and fortuna on it."""
    done = run_bench("--rounds", "1", "--only", "library", "--json")
    assert (0, "") == (done.returncode, done.stderr)
    found = check_json(done.stdout)
    assert 2 == len(found)
    for cipher, table in zip(("aes256-icm", "chacha20"), found, strict=True):
        assert cipher in table["title"]
        library, ours = (row["name"] for row in table["rows"])
        assert library.startswith("pycryptodome")
        assert f"fortuna {cipher} pycryptodome/library" == ours


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("--rounds", "0"), "--rounds: got 0; allowed is 1 or more"),
        (("--rounds", "-3"), "--rounds: got -3; allowed is 1 or more"),
        (("--rounds", "x"), "--rounds"),
        (("--only", "nothing"), "nothing"),
        (("more",), "more"),
    ],
)
def test_usage_errors(
    arguments: tuple[str, ...],
    about: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command line that means nothing is refused before anything is measured."""
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    with pytest.raises(SystemExit) as caught:
        command.main()
    assert 2 == caught.value.code
    out, err = capsys.readouterr()
    assert "" == out
    assert about in err


def scripted_measure(contenders: Sequence[Contender], rounds: int) -> tuple[Timing, ...]:
    """Make each call of *contenders* once; the first took 100 ns a round, each next one half as long."""
    for contender in contenders:
        contender.call(*contender.arguments)
    return tuple(Timing(c.name, (100.0 / 2**index,) * rounds) for index, c in enumerate(contenders))


def few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the rounds of events short."""
    for name, value in (("ROUNDS", 2), ("EVENTS", 200), ("READS", 200)):
        monkeypatch.setattr(events, name, value)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call each contender once, and take no time; whole processes write less."""
    monkeypatch.setattr(command, "measure", scripted_measure)
    monkeypatch.setattr(tables, "DUMPED", MIB)
    monkeypatch.setattr(tables, "THREAD_REQUESTS", 2)
    monkeypatch.setattr(arrays, "EXTENT", (100, 1, 1))
    few_events(monkeypatch)


def test_show() -> None:
    """A table shows each contender's times, and how many times the first one's they are, and the inverse."""
    text = command.show("A title", (Timing("one", (10.0, 20.0, 30.0)), Timing("another", (5.0, 80.0, 15.0))))
    title, head, *rows = text.splitlines()
    assert "A title" == title
    assert ["median ns", "best ns", "x time", "x speed"] == [head[i:j].strip() for i, j in columns(head)]
    assert [
        ["one", "20.000", "10.000", "1.000", "1.000"],
        ["another", "15.000", "5.000", "0.500", "2.000"],
    ] == [row.split() for row in rows]
    assert text.endswith("\n")
    assert 1 == len({len(line) for line in (head, *rows)})


def columns(head: str) -> list[tuple[int, int]]:
    """Return where the columns of numbers begin and end."""
    ends = [head.index(title) + len(title) for title in ("median ns", "best ns", "x time", "x speed")]
    return list(zip([0, *ends], ends, strict=False))


def test_text(quick: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without ``--json`` the machine and the tables are text."""
    monkeypatch.setattr(sys, "argv", ["bench", "--rounds", "3", "--only", "start"])
    assert 0 == command.main()
    out, err = capsys.readouterr()
    assert "" == err
    machine, table, boots = out.split("\n\n")
    assert boots.startswith("a boot by its sources")
    assert list(command.machine()) == [line.partition(": ")[0] for line in machine.splitlines()]
    assert table.splitlines()[0].startswith("start")
    assert ["100.000", "100.000", "1.000", "1.000"] == table.splitlines()[2].split()[-4:]
    assert ["25.000", "25.000", "0.250", "4.000"] == table.splitlines()[4].split()[-4:]


def test_groups_in_the_order_given(
    quick: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--only`` may be repeated, and runs what it names in that order."""
    monkeypatch.setattr(sys, "argv", ["bench", "--json", "--rounds", "1", "--only", "start", "--only", "library"])
    assert 0 == command.main()
    start, _, *libraries = check_json(capsys.readouterr().out)
    assert start["title"].startswith("start")
    assert 2 == len(libraries)
    assert [(100.0, 100.0, 1.0), (50.0, 50.0, 0.5), (25.0, 25.0, 0.25)] == [
        (row["median_ns"], row["best_ns"], row["times"]) for row in start["rows"]
    ]


def test_all_groups_by_default(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without ``--only`` all groups run, with 31 rounds; the documentation names the same groups."""
    seen: list[tuple[tuple[str, ...], int]] = []

    def results(groups: Sequence[str], rounds: int) -> list[tuple[str, tuple[Timing, ...]]]:
        seen.append((tuple(groups), rounds))
        return []

    monkeypatch.setattr(command, "results", results)
    monkeypatch.setattr(sys, "argv", ["bench", "--json"])
    assert 0 == command.main()
    assert [
        (("requests", "bulk", "family", "library", "threads", "events", "numbers", "arrays", "start", "dump"), 31)
    ] == seen
    assert [] == check_json(capsys.readouterr().out)


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_runs(quick: None, group: str) -> None:
    """Each contender of each table can be called, and the first is no cipher of ours, but where ours are compared."""
    found = list(command.results([group], 1))
    assert found
    for title, timings in found:
        assert title
        # Without the extension, one ChaCha alone runs well; the pace of reseeds has no yardstick but the clock.
        assert len(timings) >= (1 if group in {"family", "events"} else 2)
        assert len({timing.name for timing in timings}) == len(timings)
        assert group == "family" or not timings[0].name.startswith("fortuna")


def test_requests_are_of_each_size() -> None:
    """Each table of requests compares what gives the same number of bytes."""
    found = list(Bench().requests())
    assert [1, 16, 32, 256, 4096, 65536, MIB] == [*tables.SIZES]
    for n, table in zip(tables.SIZES, found, strict=True):
        assert table.title == f"random_bytes({n}), against os.urandom({n})"
        names = [contender.name for contender in table.contenders]
        assert ["os.urandom", "secrets.token_bytes"] == names[:2]
        assert "fortuna aes256-icm pycryptodome/library" in names
        assert "fortuna chacha20 pycryptodome/library" in names
        assert 1 == sum(name.startswith("fortuna chacha20") and name.endswith(" fast-key-erasure") for name in names)
        for contender in table.contenders:
            got = contender.call(*contender.arguments)
            assert isinstance(got, bytes)
            assert n == len(got)
            assert 1 == contender.amount


def test_family_option(capsys: pytest.CaptureFixture[str], quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--family`` is the group of that name alone, as text and as JSON, and the published pair stands in it."""
    for arguments in (["--family"], ["--only", "family"]):
        monkeypatch.setattr(sys, "argv", ["bench", "--rounds", "1", *arguments])
        assert 0 == command.main()
        out, err = capsys.readouterr()
        assert "" == err
        (published,) = (line.split() for line in out.splitlines() if line.startswith("  Linux ChaCha8"))
        assert "1.774" == published[-1]
        monkeypatch.setattr(sys, "argv", ["bench", "--json", "--rounds", "1", *arguments])
        assert 0 == command.main()
        ours, published_table, chacha, aes = check_json(capsys.readouterr().out)
        assert "chacha20" in ours["rows"][0]["name"]
        assert ["Linux ChaCha20", "Linux ChaCha8"] == [row["name"] for row in published_table["rows"]]
        assert 492 / 873 == pytest.approx(published_table["rows"][1]["times"], rel=1e-12)
        for table in (chacha, aes):
            assert ["fsk2010", "fast-key-erasure"] == [row["name"] for row in table["rows"]]


def test_family_is_every_cipher_of_it_that_runs_well() -> None:
    """The table of rounds has each ChaCha that auto runs here, most rounds first, on what auto takes."""
    rounds, published, *rules = Bench().family()
    expected = [
        f"fortuna {cell.generator} {cell.provider}/{cell.kernel}"
        for cell in available()
        if cell.is_auto and "chacha" in cell.generator
    ]
    assert sorted(expected) == sorted(contender.name for contender in rounds.contenders)
    order = [contender.name.split()[1] for contender in rounds.contenders]
    assert order == [name for name in tables.FAMILY if name in order]
    assert {MIB} == {contender.amount for contender in rounds.contenders}
    assert () == published.contenders
    for table, cipher in zip(rules, ("chacha20", "aes256-icm"), strict=True):
        assert f"random_bytes(32) of {cipher}, by construction, against fsk2010" == table.title
        assert [32, 32] == [len(c.call(*c.arguments)) for c in table.contenders]  # type: ignore[arg-type]


def test_bulk_takes_every_kernel() -> None:
    """The tables of bulk hold each kernel that runs here but the oracle's, once, for each byte."""
    aes, chacha = Bench().bulk()
    expected = {
        f"fortuna {cell.generator} {cell.provider}/{cell.kernel}"
        for cell in available()
        if cell.is_available and cell.provider != "reference"
    }
    ours = [c for table in (aes, chacha) for c in table.contenders if c.name.startswith("fortuna")]
    assert sorted(expected) == sorted(c.name for c in ours)
    assert {MIB} == {c.amount for table in (aes, chacha) for c in table.contenders}
    assert all("aes256-icm" in c.name for c in aes.contenders if c.name.startswith("fortuna"))
    assert not any("aes" in c.name for c in chacha.contenders)


def test_ours_fill_their_buffer() -> None:
    """What is measured in bulk really makes 1 MiB."""
    contender = Bench().readinto("chacha20", "reference", "python")
    assert "fortuna chacha20 reference/python" == contender.name
    bench = Bench().readinto("aes256-icm", "pycryptodome", "library")
    assert MIB == bench.call(*bench.arguments)


def test_threads_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the threads makes its requests into a buffer of its own, and an amount counts them all."""
    monkeypatch.setattr(tables, "THREAD_REQUESTS", 3)
    buffers: list[int] = []

    class Counting:
        def readinto(self, buffer: bytearray) -> int:
            assert MIB == len(buffer)
            buffers.append(id(buffer))
            return MIB

    counting: Any = Counting()
    generator: Fortuna = counting
    tables.in_threads(generator, 2)
    assert 6 == len(buffers)
    assert {1 * 3, 2 * 3, 4 * 3} == {c.amount for table in Bench().threads() for c in table.contenders}


def test_failing_process_is_no_result() -> None:
    """A command that fails raises, so that no time of a failure stands in a table."""
    with pytest.raises(subprocess.CalledProcessError):
        tables.process("-c", "raise SystemExit(3)")()


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have imports of *names* fail, as where they are not installed."""
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_peers_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where peers are missing, the tables go without them, and the yardstick is what is always there."""
    without(monkeypatch, "numpy", "randomgen", "cryptography.hazmat.primitives.ciphers")
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "openssl" else f"/usr/bin/{name}")
    assert ["os.urandom", "secrets.token_bytes"] == [peer.name for peer in peers.request_peers(1)]
    assert ["pycryptodome AES-256-CTR encrypt", "pycryptodome AES-256-CTR encrypt(output=)"] == [
        peer.name for peer in peers.aes_peers()
    ]
    assert ["pycryptodome ChaCha20 encrypt"] == [peer.name for peer in peers.chacha_peers()]
    assert [f"head -c {MIB} /dev/urandom"] == [peer.name for peer in peers.process_peers(MIB)]


class Stub:
    """A module of a peer that may not be installed: whatever is asked of it is itself, and calls are answered by it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: object, **options: object) -> Any:
        """Return itself."""
        return self


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ((), ["os.urandom", "secrets.token_bytes", "numpy PCG64 (statistics)", "randomgen ChaCha20 (statistics)"]),
        (("randomgen",), ["os.urandom", "secrets.token_bytes", "numpy PCG64 (statistics)"]),
        (("numpy",), ["os.urandom", "secrets.token_bytes"]),
    ],
    ids=["all", "without randomgen", "without numpy"],
)
def test_peers_that_are_installed(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], expected: list[str]
) -> None:
    """Peers are taken in where they are installed, statistical ones under a name that says so."""
    for name in ("numpy", "randomgen", "cryptography.hazmat.primitives.ciphers"):
        monkeypatch.setitem(sys.modules, name, Stub())
    for parent in ("cryptography", "cryptography.hazmat", "cryptography.hazmat.primitives"):
        monkeypatch.setitem(sys.modules, parent, Stub())
    without(monkeypatch, *missing)
    found = list(peers.request_peers(16))
    assert expected == [peer.name for peer in found]
    for peer in found:
        peer.call(*peer.arguments)
    for made, name in (
        (peers.aes_peers(), "cryptography AES-256-CTR update_into"),
        (peers.chacha_peers(), "cryptography ChaCha20 update_into"),
    ):
        first, *others = made
        assert name == first.name
        assert all(peer.name.startswith("pycryptodome") for peer in others)
        assert {MIB} == {peer.amount for peer in (first, *others)}
        for peer in (first, *others):
            peer.call(*peer.arguments)


def test_machine_without_cpuinfo(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Where the system has no list of its processors, or one without names, what Python knows stands there."""
    monkeypatch.setattr(platform, "processor", lambda: "a processor")
    for text, expected in ((None, "a processor"), ("flags: none\n", "a processor"), ("model name\t: X: 9\n", "X: 9")):
        path = tmp_path / "cpuinfo"
        if text is not None:
            path.write_text(text, encoding="ascii")

        def cpuinfo(name: str, path: Any = path) -> Any:
            assert "/proc/cpuinfo" == name
            return path

        with monkeypatch.context() as patch:
            patch.setattr(command, "Path", cpuinfo)
            assert expected == command.machine()["cpu"]


def test_machine_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that is not installed is named as such."""

    def version(name: str) -> str:
        if name == "numpy":
            raise PackageNotFoundError(name)
        return "1.2.3"

    monkeypatch.setattr(command, "version", version)
    machine = command.machine()
    assert MACHINE == set(machine)
    assert ("not installed", "1.2.3") == (machine["numpy"], machine["pycryptodome"])


def test_tables_do_not_boot_the_process(quick: None) -> None:
    """The benchmark's generators are its own: the process's default one is not booted."""
    code = (
        "import fortuna\nfrom fortuna._boot import process\nfrom fortuna.bench.tables import Bench\n"
        "for table in Bench().library():\n    for contender in table.contenders:\n"
        "        contender.call(*contender.arguments)\n"
        "assert process._booted is None\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


def test_table_is_what_it_is_made_of() -> None:
    """A table cannot be changed after it was made, so what is printed is what was measured."""
    table = Table("title", (Contender("a", int),))
    for name in ("title", "contenders", "timings"):
        with pytest.raises(AttributeError):
            setattr(table, name, None)
