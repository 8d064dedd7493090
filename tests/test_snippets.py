"""The machinery that runs the examples of the pages finds what it should and complains."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from tests.snippets import (
    Snippet,
    SnippetError,
    commands,
    find_snippets,
    matches,
    normalise,
    run,
    write_python,
)
from tests.tables import every


def console(text: str) -> Snippet:
    return Snippet("page.md", 1, "console", textwrap.dedent(text).strip("\n"))


def python(text: str) -> Snippet:
    return Snippet("page.md", 1, "python", textwrap.dedent(text).strip("\n"))


def test_blocks_are_found_with_their_lines() -> None:
    page = "# Title\n\n```python\na = 1\n```\n\ntext\n\n```text\nno\n```\n```console\n$ true\n```\n"
    assert find_snippets(page, "page.md") == [
        Snippet("page.md", 4, "python", "a = 1"),
        Snippet("page.md", 13, "console", "$ true"),
    ]


def test_an_indented_block_loses_the_indentation_of_its_fence() -> None:
    page = "1. Then\n\n   ```python\n   if a:\n       b\n   ```\n"
    assert [item.code for item in find_snippets(page, "page.md")] == ["if a:\n    b"]


def test_a_longer_fence_may_hold_a_shorter_one() -> None:
    page = "````text\n```python\nboom\n```\n````\n"
    assert find_snippets(page, "page.md") == []


def test_a_block_that_is_not_run_says_why() -> None:
    page = "<!-- not run: needs a network -->\n\n```sh\ncurl\n```\n"
    assert [item.not_run for item in find_snippets(page, "page.md")] == ["needs a network"]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<!-- not run: -->\n```sh\ncurl\n```\n", id="no-reason"),
        pytest.param("```python\na = 1\n", id="not-closed"),
    ],
)
def test_a_bad_page_is_an_error(page: str) -> None:
    with pytest.raises(SnippetError, match=r"^page\.md:1: "):
        find_snippets(page, "page.md")


def test_a_reason_holds_for_one_block_only() -> None:
    page = "<!-- not run: slow -->\n```sh\na\n```\ntext\n```sh\nb\n```\n"
    assert [item.not_run for item in find_snippets(page, "page.md")] == ["slow", ""]


def test_commands_know_their_output_and_exit_code() -> None:
    first, second, third = commands(
        console(
            """
            $ one
            out
            $ two \\
              more
            $ three  # exit 2
            """
        )
    )
    assert (first.text, first.expected, first.exit_code) == ("one", "out\n", 0)
    assert (second.line, second.text, second.expected) == (3, "two \\\n  more", "")
    assert third.exit_code == 2


def test_a_console_block_without_a_prompt_is_an_error() -> None:
    with pytest.raises(SnippetError, match="begins with"):
        commands(console("engramdown init"))


@every(
    "expected, actual",
    [
        pytest.param("id k3v9q2ht", "id 7m0xw4ce", id="id"),
        pytest.param("_k3v9q2h x", "_7m0xw4c x", id="digest"),
        pytest.param("2026-02-27 10:15", "2026-11-21 09:59", id="date-and-time"),
        pytest.param("a\n...\nz", "a\nb\nc\nz", id="lines-left-out"),
        pytest.param("a\n...\nz", "a\nz", id="no-lines-left-out"),
        pytest.param("took ... ms", "took 12 ms", id="words-left-out"),
        pytest.param("a\n", "\na  \n\n", id="space-at-the-ends"),
        pytest.param(f"{'a' * 70}\n    {'b' * 20}", f"{'a' * 70} {'b' * 20}", id="wrapped"),
    ],
)
def test_what_may_differ_may_differ(expected: str, actual: str) -> None:
    assert matches(expected, actual)


@every(
    "expected, actual",
    [
        pytest.param("encoded", "merged", id="another-word"),
        pytest.param("a", "a\nb", id="a-line-more"),
        pytest.param("a\nb", "a", id="a-line-less"),
        pytest.param("rules.md:12", "rules.md:13", id="another-number"),
        pytest.param("a\n...\nz", "a\nb", id="end-missing"),
        pytest.param("a.b", "axb", id="a-dot-is-a-dot"),
        pytest.param(f"{'a' * 70}\nb", f"{'a' * 70} b", id="not-wrapped"),
    ],
)
def test_what_must_not_differ_is_seen(expected: str, actual: str) -> None:
    assert not matches(expected, actual)


def test_the_home_of_the_run_is_the_home_of_the_page() -> None:
    assert normalise("in /x/y/notes", home="/x/y") == "in /home/you/notes"


def test_python_blocks_of_a_page_share_their_names(tmp_path: Path) -> None:
    blocks = [python("a = 20"), python("assert a + 1 == 21"), python(">>> a + 2\n22")]
    run(blocks, tmp_path, os.environ)


def test_a_failing_assert_of_a_page_points_into_it(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        run([Snippet("page.md", 41, "python", "assert False")], tmp_path, os.environ)
    assert caught.traceback[-1].lineno == 40


def test_a_wrong_doctest_of_a_page_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SnippetError, match="Expected"):
        run([python(">>> 1 + 1\n3")], tmp_path, os.environ)


def test_commands_of_a_page_share_their_folder(tmp_path: Path) -> None:
    first = console("$ mkdir notes && cd notes\n$ echo hello > a.md")
    run([first, console("$ cat a.md\nhello"), console("$ ls\na.md")], tmp_path, os.environ)
    assert (tmp_path / "notes" / "a.md").read_text(encoding="utf-8") == "hello\n"


def test_blocks_run_in_the_order_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "from pathlib import Path\nPath('a').write_bytes(Path('a').read_bytes() * 2)"
    run([console("$ echo hi > a"), python(code), console("$ cat a\nhi\nhi")], tmp_path, os.environ)


def test_a_block_that_says_why_is_not_run(tmp_path: Path) -> None:
    run([Snippet("page.md", 1, "sh", "false", "needs a network")], tmp_path, os.environ)


def test_a_script_stops_at_its_first_error(tmp_path: Path) -> None:
    script = Snippet("page.md", 1, "sh", "false\ntouch reached")
    with pytest.raises(SnippetError, match="ended with 1, not 0"):
        run([script], tmp_path, os.environ)
    assert not (tmp_path / "reached").exists()


@pytest.mark.parametrize(
    "text, complaint",
    [
        pytest.param("$ false", "ended with 1, not 0", id="failed"),
        pytest.param("$ true  # exit 1", "ended with 0, not 1", id="did-not-fail"),
        pytest.param("$ echo yes\nno", "should print", id="printed-something-else"),
        pytest.param("$ echo yes >&2\nno", "yes", id="wrote-something-else-to-stderr"),
    ],
)
def test_a_command_that_does_something_else_is_an_error(
    text: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(SnippetError, match=complaint):
        run([console(text)], tmp_path, os.environ)


def test_the_python_of_each_page_is_written_for_the_type_checker(tmp_path: Path) -> None:
    root, target = tmp_path / "root", tmp_path / "target"
    (root / "docs").mkdir(parents=True)
    target.mkdir()
    (root / "README.md").write_text("no code\n", encoding="utf-8")
    page = "```python\na = 1\n```\n```python\n>>> a\n1\n```\n```python\nb = a\n```\n"
    (root / "docs" / "file-format.md").write_text(page, encoding="utf-8")
    (written,) = write_python(root, target)
    assert written.read_text(encoding="utf-8") == "a = 1\n\nb = a\n"
