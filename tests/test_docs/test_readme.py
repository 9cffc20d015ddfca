"""README's first screen, and the checks that quote it."""

from __future__ import annotations

from .docs_support import FENCE, README, ROOT, blocks


def test_first_block_is_two_shell_lines() -> None:
    """The first fenced block is shell, stands on the first screen, and has one line to run and one to test."""
    text = README.read_text(encoding="utf-8")
    first = FENCE.search(text)
    assert first is not None
    assert first["info"] == "sh"
    run, test = first["body"].splitlines()
    assert run.startswith("python3 -m venv .venv && ")
    assert run.endswith(" && .venv/bin/fortuna-dump -n 32")
    assert test.startswith("python3 -m venv .venv-test && ")
    assert "install -q -e '.[test]'" in test
    assert test.endswith(" && .venv-test/bin/python -m pytest")
    assert text.count("\n", 0, first.end()) <= 20


def test_ci_runs_the_second_line() -> None:
    """`.ci/run` takes its test line from README, by a search that finds the second line of the block."""
    assert "test_line=$(grep -m 1 '\\.venv-test' README.md)\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = next(line for line in README.read_text(encoding="utf-8").splitlines() if ".venv-test" in line)
    assert found == blocks(README, "sh")[0].body.splitlines()[1]


def test_bench_place() -> None:
    """The table of speeds stands between its two marks, once."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- bench: begin")
    table, _, after = rest.partition("<!-- bench: end -->")
    assert before
    assert after
    assert "| `random_bytes(32)`" in table
    assert "bench:" not in before + after
