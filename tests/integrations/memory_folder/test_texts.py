"""A command changes the text that it is about, and a model is shown it as it knows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.errors import MemoryCommandError
from engramdown.integrations.memory_folder import (
    excerpt,
    inserted,
    lines_of,
    listing,
    replaced,
    shown,
)
from tests.tables import every

PATH = "/memories/lessons.md"
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"


def test_a_text_that_stands_once_is_replaced() -> None:
    assert replaced(PATH, TEXT, "three", "3") == TEXT.replace("three", "3")
    assert replaced(PATH, TEXT, "two\n", "") == TEXT.replace("two\n", "")


@pytest.mark.parametrize("old", ["seven", ""])
def test_a_text_that_does_not_stand_there_is_not_replaced(old: str) -> None:
    with pytest.raises(MemoryCommandError) as refused:
        replaced(PATH, TEXT, old, "x")
    assert str(refused.value) == (
        f"No replacement was performed, old_str `{old}` did not appear verbatim in {PATH}."
    )


def test_a_text_that_stands_twice_is_told_with_its_lines() -> None:
    with pytest.raises(MemoryCommandError) as refused:
        replaced(PATH, "a\nb aa\n", "a", "x")
    assert str(refused.value) == (
        "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 2, 2. "
        "Please ensure it is unique"
    )
    with pytest.raises(MemoryCommandError, match=f"`{'x' * 200}…` did not"):
        replaced(PATH, TEXT, "x" * 300, "y")


def test_a_line_is_inserted_behind_another_one() -> None:
    assert inserted(TEXT, 0, "zero\n") == f"zero\n{TEXT}"
    assert inserted(TEXT, 6, "seven") == f"{TEXT}seven\n"
    assert inserted("", 0, "a\nb") == "a\nb\n"


@pytest.mark.parametrize("line", [-1, 7])
def test_there_is_no_inserting_behind_a_line_that_is_not_there(line: int) -> None:
    with pytest.raises(MemoryCommandError) as refused:
        inserted(TEXT, line, "x")
    assert str(refused.value) == (
        f"Invalid `insert_line` parameter: {line}. It should be within the range [0, 6]."
    )


@given(st.text(alphabet="ab\n\r\u2028"), st.text(alphabet="ab\n"), st.integers(0, 3))
def test_an_insertion_keeps_every_line(text: str, new: str, line: int) -> None:
    lines = lines_of(text)
    if line <= len(lines):
        after = lines_of(inserted(text, line, new))
        assert after[:line] == lines[:line]
        assert line == len(lines) or after[-(len(lines) - line) :] == lines[line:]


def test_a_file_is_shown_with_the_numbers_of_its_lines() -> None:
    head = f"Here's the content of {PATH} with line numbers:"
    assert shown(PATH, "one\ntwo\n") == f"{head}\n     1\tone\n     2\ttwo"
    assert shown(PATH, "") == head
    assert shown(PATH, TEXT, (2, 3)) == f"{head}\n     2\ttwo\n     3\tthree"
    assert shown(PATH, TEXT, (6, -1)) == f"{head}\n     6\tsix"
    assert shown(PATH, TEXT, (5, 99)) == f"{head}\n     5\tfive\n     6\tsix"


def test_a_long_file_is_shown_in_pieces() -> None:
    text = "".join(f"{'x' * 90} {number}\n" for number in range(1, 401))
    rows = shown(PATH, text).split("\n")[1:]
    assert rows[-1] == "(243 more lines; view_range [158, 400] shows them)"
    assert rows[-2].endswith(" 157")
    rows = shown(PATH, text, (158, 400)).split("\n")[1:]
    assert rows[0].endswith(" 158")
    assert rows[-1].endswith("400] shows them)")
    assert shown(PATH, "x" * 20_000).endswith("x")


@every("view_range", [(0, 1), (3, 2), (7, -1), (7, 9), (-1, -1)])
def test_a_range_that_is_none_is_told(view_range: tuple[int, int]) -> None:
    with pytest.raises(MemoryCommandError, match=r"Invalid `view_range`: .* has 6 lines"):
        shown(PATH, TEXT, view_range)


def test_an_excerpt_has_two_lines_around_what_changed() -> None:
    assert excerpt(TEXT, TEXT.replace("four", "4")) == [
        *("     2\ttwo", "     3\tthree", "     4\t4", "     5\tfive", "     6\tsix")
    ]
    assert excerpt(TEXT, TEXT.replace("six\n", "")) == ["     4\tfour", "     5\tfive"]
    assert excerpt("a\n", "a\n") == ["     1\ta"]


def test_a_folder_is_listed_with_sizes_as_a_person_reads_them() -> None:
    files = [("rules.md", 0), ("topics/", 1_600), ("topics/ci.md", 1_536), ("big.md", 1024**5)]
    head, *rows = listing("/memories", files).split("\n")
    assert head.startswith("Here're the files and directories up to 2 levels deep in /memories,")
    assert rows == [
        "1048576.0G\t/memories",
        "0B\t/memories/rules.md",
        "1.6K\t/memories/topics/",
        "1.5K\t/memories/topics/ci.md",
        "1048576G\t/memories/big.md",
    ]
