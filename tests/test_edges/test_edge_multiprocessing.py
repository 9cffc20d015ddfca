"""Processes that multiprocessing starts run with their parent's tunables, or say loudly why they do not."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from typing import TYPE_CHECKING, Final

import pytest

from fortuna.errors import AlreadyBootedError
from fortuna.multiprocess import ENTRY, Carried, luggage, receive, received_tunables
from fortuna.tunables import Tunables

from .child_support import key_reader
from .edge_doubles import KINDS, PROVIDERS, lines_of, run_script

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
provider, kind = sys.argv[2:]
of_the_path = f"generator.provider = {provider!r}\\n"

def write(text):
    with open(config, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text)

def describe(*_):
    stats = fortuna.stats()
    name = type(fortuna.default()).__name__
    return f"{stats.generator} {stats.construction} {stats.provider} {name}", fortuna.random_bytes(16).hex()

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


def run(body: str, method: str, path: str, tmp_path: Path, head: str = PARENT) -> list[str]:
    """Run a program of *body* with a main module of its own and return its lines."""
    environment = {"FORTUNA_CONFIG": str(tmp_path / "fortuna.toml")}
    file = tmp_path / "program.py"
    return lines_of(run_script(head + body, method, PROVIDERS[path], KINDS[path], path=file, environment=environment))


def shown(text: str, path: str) -> str:
    """Return what a process says that runs *text*, a cipher and a construction, on *path*."""
    return f"{text} {PROVIDERS[path]} {KINDS[path]}"


@every_method
@pytest.mark.parametrize("how", ["file", "overrides"])
def test_edge_multiprocessing_children_have_the_parents_cipher(
    how: str, method: str, path: str, tmp_path: Path
) -> None:
    """A child draws with its parent's tunables although the file says others by now, and other bytes."""
    body = f"""
if __name__ == "__main__":
    if {how!r} == "file":
        write(of_the_path + "generator.cipher = 'chacha20'\\ngenerator.construction = 'fsk2003'\\n")
        fortuna.boot()
    else:
        write("")
        names = ("generator.cipher", "generator.construction", "generator.provider")
        fortuna.boot(overrides=dict(zip(names, ("chacha20", "fsk2003", provider))))
    write("generator.cipher = 'aes256-icm'\\ngenerator.provider = 'reference'\\n")
    answers = [ask() for _ in range(3)]
    print(*sorted({{name for name, _ in answers}}))
    print(len({{block for _, block in answers}} | {{fortuna.random_bytes(16).hex()}}))
"""
    assert [shown("chacha20 fsk2003", path), "4"] == run(body, method, path, tmp_path)


@every_method
def test_edge_multiprocessing_pool_and_grandchildren(method: str, path: str, tmp_path: Path) -> None:
    """The workers of an executor and the children of a child have the tunables too, when the file is gone."""
    body = """
from concurrent.futures import ProcessPoolExecutor

def by_a_child():
    return ask()

if __name__ == "__main__":
    write(of_the_path + "generator.cipher = 'chacha20'\\n")
    fortuna.random_bytes(1)
    os.remove(config)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        answers = list(pool.map(describe, range(6)))
    answers.append(ask(by_a_child))
    print(*sorted({name for name, _ in answers}))
    print(len({block for _, block in answers}))
"""
    assert [shown("chacha20 fsk2010", path), "7"] == run(body, method, path, tmp_path)


@started_anew
def test_edge_multiprocessing_child_may_boot_the_same_only(method: str, path: str, tmp_path: Path) -> None:
    """A child that boots gets the parent's values, again and again; other overrides fail, the same ones do not."""
    body = """
def boots():
    same = fortuna.boot() is fortuna.boot() is fortuna.default()
    overrides = {"generator.cipher": "chacha20", "generator.provider": provider}
    return same, fortuna.boot(overrides=overrides) is fortuna.default()

def boots_other():
    fortuna.boot(overrides={"generator.cipher": "aes256-icm"})

def boots_other_later():
    fortuna.boot()
    fortuna.boot(overrides={"generator.cipher": "aes256-icm"})

if __name__ == "__main__":
    write(of_the_path + "generator.cipher = 'chacha20'\\n")
    fortuna.boot()
    write("")
    print(*ask(boots))
    for work in (boots_other, boots_other_later):
        name, message = ask(work)
        print(name, "generator.cipher is 'chacha20', asked for 'aes256-icm'" in message)
"""
    assert ["True True", "AlreadyBootedError True", "AlreadyBootedError True"] == run(body, method, path, tmp_path)


@started_anew
def test_edge_multiprocessing_child_that_drew_at_import_fails_loudly(method: str, path: str, tmp_path: Path) -> None:
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
    (tmp_path / "fortuna.toml").write_text(f"generator.cipher = 'chacha20'\ngenerator.provider = '{PROVIDERS[path]}'\n")
    (tmp_path / "fortuna.toml").chmod(0o600)
    lines = run(body, method, path, tmp_path, head + PARENT)
    assert "chacha20" == lines[0]
    assert lines[1].startswith("AlreadyBootedError this process booted while its main module was imported")
    assert 'if __name__ == "__main__":' in lines[1]


@started_anew
def test_edge_multiprocessing_child_that_drew_at_import_with_the_same(method: str, path: str, tmp_path: Path) -> None:
    """Where the values are the same, drawing at import is no fault."""
    body = """
if __name__ == "__main__":
    print(ask()[0])
"""
    lines = run(body, method, path, tmp_path, PARENT + "\nwrite(of_the_path)\nfortuna.random_bytes(1)\n")
    assert [shown("aes256-icm fsk2010", path)] == lines


@started_anew
def test_edge_multiprocessing_unbooted_parent_decides_nothing(method: str, path: str, tmp_path: Path) -> None:
    """A parent that never booted leaves its children to their own configuration."""
    body = """
if __name__ == "__main__":
    write(of_the_path + "generator.cipher = 'chacha20'\\n")
    print(ask()[0])
"""
    assert [shown("chacha20 fsk2010", path)] == run(body, method, path, tmp_path)


def test_edge_multiprocessing_entry_holds_plain_values(unbooted: Process) -> None:
    """What travels is a dictionary of plain values, and arrives as it was sent."""
    assert received_tunables() is None
    unbooted.boot(None, {"generator.cipher": "chacha20"})
    sent = luggage()[ENTRY]
    assert {dict} == {type(sent.values)}
    assert {str, int, float, bool, tuple} >= {type(value) for value in sent.values.values()}
    arrived = pickle.loads(pickle.dumps(sent))  # noqa: S301
    assert (Carried, sent.values) == (type(arrived), arrived.values)
    received = received_tunables()
    assert received is not None
    assert ("chacha20", "parent process") == (received["generator.cipher"], received.origin("generator.cipher"))


def test_edge_multiprocessing_received_values_win_over_the_file(
    unbooted: Process, path: str, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a started child the parent's values are effective without a look at the file, which may be broken."""
    file = tmp_path / "fortuna.toml"
    file.write_text("nonsense")
    monkeypatch.setenv("FORTUNA_CONFIG", str(file))
    values = Tunables({"generator.cipher": "chacha20", "generator.provider": provider}, {}).values()
    luggage()[ENTRY] = Carried(values)
    live = unbooted.boot(None, None)
    assert ("chacha20", KINDS[path]) == (live.stats().generator, type(live).__name__)
    assert live is unbooted.boot(None, None)


def test_edge_multiprocessing_asking_for_other_values_than_received(unbooted: Process) -> None:
    """In a started child, asking for other values fails before anything is booted; for the same it boots."""
    luggage()[ENTRY] = Carried(Tunables({"generator.cipher": "chacha20"}, {}).values())
    with pytest.raises(AlreadyBootedError, match=r"its children run with the same: generator\.cipher is 'chacha20'"):
        unbooted.boot(None, {"generator.cipher": "aes256-icm"})
    assert unbooted._booted is None
    live = unbooted.boot(None, {"generator.cipher": "chacha20"})
    assert live is unbooted.default()


def test_edge_multiprocessing_arrival_refuses_where_values_differ(
    unbooted: Process, path: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tunables that arrive leave an equal process alone and silence another, wiping the key of all its generators."""
    mine = Tunables({"generator.provider": provider}, {}).values()
    other = {**mine, "boot.timeout": 1.0}
    # Before a boot there is nothing to compare with.
    receive(other)
    live = unbooted.boot(None, {"generator.provider": provider})
    assert KINDS[path] == type(live).__name__
    child = live.child()
    for _ in range(2):
        receive(mine)
        assert 16 == len(live.random_bytes(16)) == len(child.random_bytes(16))
    keys = [key_reader(one) for one in (live, child)]
    assert all(any(key()) for key in keys)
    receive(other)
    for one, key in zip((live, child), keys, strict=True):
        for call in (lambda one=one: one.random_bytes(16), lambda one=one: one.random_bytes(0), one.reseed, one.child):
            with pytest.raises(AlreadyBootedError, match="booted while its main module was imported"):
                call()
        assert not any(key())
        one.close()
        with pytest.raises(AlreadyBootedError):
            one.random_bytes(16)
    # The same values afterwards bring nothing back.
    receive(mine)
    with pytest.raises(AlreadyBootedError):
        live.random_bytes(16)


def test_edge_multiprocessing_arrival_where_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that has not imported the boot yet is not made to by what arrives."""
    monkeypatch.delitem(sys.modules, "fortuna._boot")
    assert {"x": 1} == receive({"x": 1}).values
    assert "fortuna._boot" not in sys.modules
