"""Processes that multiprocessing starts run with their parent's tunables, or say loudly why they do not."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.errors import AlreadyBootedError
from fortuna.multiprocess import ENTRY, carried, compare, received_tunables
from fortuna.tunables import Tunables

from .edge_doubles import Bench, lines_of, run_script

if TYPE_CHECKING:
    from pathlib import Path

    from fortuna._boot import Process

#: `fork` inherits the booted generator; the other two start a new interpreter.
METHODS: Final = [name for name in ("fork", "spawn", "forkserver") if name in multiprocessing.get_all_start_methods()]
started_anew = pytest.mark.parametrize("method", [name for name in METHODS if name != "fork"])
every_method = pytest.mark.parametrize("method", METHODS)

#: The file says one cipher at the parent's boot and the other when the child starts.
PARENT: Final = """
import multiprocessing, os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import fortuna
config = os.environ["FORTUNA_CONFIG"]

def write(text):
    with open(config, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text)

def describe(*_):
    stats = fortuna.stats()
    return f"{stats.generator} {stats.construction}", fortuna.random_bytes(16).hex()

def send(queue, work=describe):
    try:
        queue.put(work())
    except BaseException as error:
        queue.put((type(error).__name__, str(error)))

def ask(work=describe):
    queue = context.Queue()
    process = context.Process(target=send, args=(queue, work))
    process.start()
    answer = queue.get(timeout=40)
    process.join()
    return answer

context = multiprocessing.get_context(sys.argv[1])
"""


def run(body: str, method: str, tmp_path: Path, head: str = PARENT) -> list[str]:
    """Run a program of *body* with a main module of its own and return its lines."""
    environment = {"FORTUNA_CONFIG": str(tmp_path / "fortuna.toml")}
    return lines_of(run_script(head + body, method, path=tmp_path / "program.py", environment=environment))


@every_method
@pytest.mark.parametrize("how", ["file", "overrides"])
def test_edge_multiprocessing_children_have_the_parents_cipher(how: str, method: str, tmp_path: Path) -> None:
    """A child draws with its parent's tunables although the file says others by now, and other bytes."""
    body = f"""
if __name__ == "__main__":
    if {how!r} == "file":
        write("generator.cipher = 'chacha20'\\ngenerator.construction = 'fsk2003'\\n")
        fortuna.boot()
    else:
        write("")
        fortuna.boot(overrides={{"generator.cipher": "chacha20", "generator.construction": "fsk2003"}})
    write("generator.cipher = 'aes256-icm'\\n")
    answers = [ask() for _ in range(3)]
    print(*sorted({{name for name, _ in answers}}))
    print(len({{block for _, block in answers}} | {{fortuna.random_bytes(16).hex()}}))
"""
    assert ["chacha20 fsk2003", "4"] == run(body, method, tmp_path)


@every_method
def test_edge_multiprocessing_pool_and_grandchildren(method: str, tmp_path: Path) -> None:
    """The workers of an executor and the children of a child have the tunables too, when the file is gone."""
    body = """
from concurrent.futures import ProcessPoolExecutor

def by_a_child():
    return ask()

if __name__ == "__main__":
    write("generator.cipher = 'chacha20'\\n")
    fortuna.random_bytes(1)
    os.remove(config)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        answers = list(pool.map(describe, range(6)))
    answers.append(ask(by_a_child))
    print(*sorted({name for name, _ in answers}))
    print(len({block for _, block in answers}))
"""
    assert ["chacha20 fsk2010", "7"] == run(body, method, tmp_path)


@started_anew
def test_edge_multiprocessing_child_may_boot_the_same_only(method: str, tmp_path: Path) -> None:
    """A child that boots gets the parent's values, again and again; other overrides fail, the same ones do not."""
    body = """
def boots():
    same = fortuna.boot() is fortuna.boot() is fortuna.default()
    return same, fortuna.boot(overrides={"generator.cipher": "chacha20"}) is fortuna.default()

def boots_other():
    fortuna.boot(overrides={"generator.cipher": "aes256-icm"})

def boots_other_later():
    fortuna.boot()
    fortuna.boot(overrides={"generator.cipher": "aes256-icm"})

if __name__ == "__main__":
    write("generator.cipher = 'chacha20'\\n")
    fortuna.boot()
    write("")
    print(*ask(boots))
    for work in (boots_other, boots_other_later):
        name, message = ask(work)
        print(name, "generator.cipher is 'chacha20', asked for 'aes256-icm'" in message)
"""
    assert ["True True", "AlreadyBootedError True", "AlreadyBootedError True"] == run(body, method, tmp_path)


@started_anew
def test_edge_multiprocessing_child_that_drew_at_import_fails_loudly(method: str, tmp_path: Path) -> None:
    """A main module that draws while it is imported boots before the tunables arrive: where they differ, each call of
    the child fails and says how to write the program.
    """
    head = """
import fortuna
fortuna.random_bytes(1)
"""
    body = """
if __name__ == "__main__":
    write("generator.cipher = 'aes256-icm'\\n")
    print(fortuna.stats().generator)
    name, message = ask()
    print(name, message)
"""
    (tmp_path / "fortuna.toml").write_text("generator.cipher = 'chacha20'\n")
    (tmp_path / "fortuna.toml").chmod(0o600)
    lines = run(body, method, tmp_path, head + PARENT)
    assert "chacha20" == lines[0]
    assert lines[1].startswith("AlreadyBootedError this process booted while its main module was imported")
    assert 'if __name__ == "__main__":' in lines[1]


@started_anew
def test_edge_multiprocessing_child_that_drew_at_import_with_the_same(method: str, tmp_path: Path) -> None:
    """Where the values are the same, drawing at import is no fault."""
    body = """
if __name__ == "__main__":
    print(ask()[0])
"""
    lines = run(body, method, tmp_path, PARENT + '\nwrite("")\nfortuna.random_bytes(1)\n')
    assert ["aes256-icm fsk2010"] == lines


@started_anew
def test_edge_multiprocessing_unbooted_parent_decides_nothing(method: str, tmp_path: Path) -> None:
    """A parent that never booted leaves its children to their own configuration."""
    body = """
if __name__ == "__main__":
    write("generator.cipher = 'chacha20'\\n")
    print(ask()[0])
"""
    assert ["chacha20 fsk2010"] == run(body, method, tmp_path)


def test_edge_multiprocessing_entry_holds_plain_values(unbooted: Process) -> None:
    """What travels is a dictionary of plain values, so a child needs no class of ours to unpickle it."""
    assert received_tunables() is None
    unbooted.boot(None, {"generator.cipher": "chacha20"})
    values = carried()[ENTRY]
    assert {dict} == {type(values)}
    assert {str, int, float, bool, tuple} >= {type(value) for value in values.values()}
    received = received_tunables()
    assert received is not None
    assert ("chacha20", "parent process") == (received["generator.cipher"], received.origin("generator.cipher"))


def test_edge_multiprocessing_received_values_win_over_the_file(
    unbooted: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a started child the parent's values are effective without a look at the file, which may be broken."""
    path = tmp_path / "fortuna.toml"
    path.write_text("nonsense")
    monkeypatch.setenv("FORTUNA_CONFIG", str(path))
    carried()[ENTRY] = Tunables({"generator.cipher": "chacha20"}, {}).values()
    live = unbooted.boot(None, None)
    assert "chacha20" == live.stats().generator
    assert live is unbooted.boot(None, None)


def test_edge_multiprocessing_asking_for_other_values_than_received(unbooted: Process) -> None:
    """In a started child, asking for other values fails before anything is booted; for the same it boots."""
    carried()[ENTRY] = Tunables({"generator.cipher": "chacha20"}, {}).values()
    with pytest.raises(AlreadyBootedError, match=r"its children run with the same: generator\.cipher is 'chacha20'"):
        unbooted.boot(None, {"generator.cipher": "aes256-icm"})
    assert unbooted._booted is None
    live = unbooted.boot(None, {"generator.cipher": "chacha20"})
    assert live is unbooted.default()


def test_edge_multiprocessing_compare_refuses_where_values_differ(unbooted: Process, bench: Bench) -> None:
    """The check in the child leaves an equal generator alone and silences another, wiping its key."""
    mine = Tunables({}, {})
    compare(bench.fortuna, mine)
    carried()[ENTRY] = mine.values()
    compare(bench.fortuna, mine)
    assert 16 == len(bench.fortuna.random_bytes(16))
    core = bench.core
    carried()[ENTRY] = Tunables({"boot.timeout": 1.0}, {}).values()
    compare(bench.fortuna, mine)
    with pytest.raises(AlreadyBootedError, match="booted while its main module was imported"):
        bench.fortuna.random_bytes(16)
    assert not any(core._key)
    bench.fortuna.close()
    with pytest.raises(AlreadyBootedError):
        bench.fortuna.random_bytes(16)


def test_edge_multiprocessing_confirmation_of_a_prepared_process(
    unbooted: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What boots while a main module is imported is compared at the first use after that, once, and works if equal."""
    this_process = multiprocessing.current_process()
    monkeypatch.setattr(this_process, "_inheriting", True, raising=False)
    live = unbooted.boot(None, {"generator.cipher": "chacha20"})
    assert 16 == len(live.random_bytes(16))
    assert live._confirm is not None
    monkeypatch.setattr(this_process, "_inheriting", False)
    assert 16 == len(live.random_bytes(16))
    assert live._confirm is None


def test_edge_multiprocessing_confirmation_by_two_threads(unbooted: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check that another thread has just finished is no error for the second."""
    this_process = multiprocessing.current_process()
    monkeypatch.setattr(this_process, "_inheriting", True, raising=False)
    live = unbooted.default()
    monkeypatch.setattr(this_process, "_inheriting", False)
    confirm = live._confirm
    assert confirm is not None
    confirm()
    confirm()
    assert 16 == len(live.random_bytes(16))
