"""Lines merge as git merges them."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.git.lines import Clash, Markers, lines_of, merge, regions, render

_lines = st.lists(st.sampled_from("abcd").map("{}\n".format), max_size=8)


def by_git(folder: Path, sides: tuple[str, str, str]) -> str:
    """Return what ``git merge-file`` makes of a base and two sides."""
    for name, text in zip(("base", "ours", "theirs"), sides, strict=True):
        (folder / name).write_bytes(text.encode())
    labels = [part for name in ("ours", "base", "theirs") for part in ("-L", name)]
    done = subprocess.run(
        ["git", "merge-file", "-p", *labels, "ours", "base", "theirs"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return done.stdout.decode()


def by_us(sides: tuple[str, str, str]) -> str:
    base, ours, theirs = (lines_of(text) for text in sides)
    return render(merge(base, ours, theirs), Markers())


def edited(dice: random.Random, lines: list[str], said: list[str]) -> list[str]:
    """Return lines after a few edits; each new line is one that nobody wrote before."""
    lines = [*lines]
    for _ in range(dice.randint(0, 4)):
        at = dice.randint(0, len(lines))
        kind = dice.choice(("add", "add", "remove", "change", "move"))
        if kind == "add":
            lines[at:at] = [said.pop() for _ in range(dice.randint(1, 3))]
        elif kind == "change":
            lines[at : at + 1] = [said.pop()]
        elif kind == "remove":
            del lines[at : at + 2]
        elif at < len(lines):
            lines.insert(dice.randint(0, len(lines) - 1), lines.pop(at))
    return lines


def test_prose_merges_as_git_merges_it(tmp_path: Path) -> None:
    dice = random.Random(5)
    for case in range(25):
        base = [f"line {number}\n" for number in range(dice.randint(0, 12))]
        said = [f"{case} new {number}\n" for number in range(40)]
        texts = (
            "".join(lines) for lines in (base, edited(dice, base, said), edited(dice, base, said))
        )
        sides = next(zip(texts, texts, texts, strict=True))
        assert by_us(sides) == by_git(tmp_path, sides)


@pytest.mark.parametrize(
    "sides",
    [
        pytest.param(("", "", ""), id="nothing"),
        pytest.param(("a\n", "a", "a\nb\n"), id="no-line-end"),
        pytest.param(("a\nb", "a\nx", "a\ny"), id="clash-without-line-ends"),
        pytest.param(("a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n"), id="apart"),
        pytest.param(("a\nb\n", "x\nb\n", "a\ny\n"), id="beside"),
        pytest.param(("1\n2\n3\n", "1\nx\n3\n", "1\nx\n3\n"), id="both-alike"),
        pytest.param(("1\n2\n3\n", "1\n3\n", "1\nx\n3\n"), id="removed-and-changed"),
        pytest.param(("", "a\nb\nc\n", "a\nx\nc\n"), id="both-added"),
        pytest.param(("", "a\n1\n2\n3\nb\n", "x\n1\n2\n3\ny\n"), id="near"),
        pytest.param(("", "a\n1\n2\n3\n4\nb\n", "x\n1\n2\n3\n4\ny\n"), id="not-so-near"),
        pytest.param(("a\na\n", "a\na\na\n", "b\na\na\n"), id="one-more-of-the-same"),
        pytest.param(("a\na\nb\n", "a\nb\n", "a\na\nc\n"), id="one-less-of-the-same"),
    ],
)
def test_what_git_does_at_the_edges(tmp_path: Path, sides: tuple[str, str, str]) -> None:
    assert by_us(sides) == by_git(tmp_path, sides)


@given(_lines, _lines)
def test_a_side_that_changed_nothing_gives_way(base: list[str], other: list[str]) -> None:
    assert (
        merge(base, base, other) == merge(base, other, base) == merge(base, other, other) == other
    )


@given(_lines, _lines, _lines)
def test_the_stretches_of_a_merge_are_all_three_texts(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    found = regions(base, ours, theirs)
    assert [line for each in found for line in base[each.base]] == base
    assert [line for each in found for line in ours[each.ours]] == ours
    assert [line for each in found for line in theirs[each.theirs]] == theirs


@given(_lines, _lines, _lines)
def test_what_clashes_differs_on_both_sides(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    clashes = [each for each in merge(base, ours, theirs) if isinstance(each, Clash)]
    assert all(each.ours != each.theirs for each in clashes)


def test_a_marker_has_the_length_and_the_names_that_git_gives() -> None:
    markers = Markers(size=9, ours="HEAD", theirs="topic")
    said = render([Clash(("a\r\n",), ())], markers, "\r\n")
    assert said == "<<<<<<<<< HEAD\r\na\r\n=========\r\n>>>>>>>>> topic\r\n"
