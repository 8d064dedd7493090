"""Finding one thing by its id, or by the beginning of it."""

from __future__ import annotations

import pytest

from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from engramdown.hippocampus.entry import Entry, address, by_prefix, find_line, retired_name
from engramdown.markdown.document import parse
from tests.tables import every

PAGE = """\
# Lessons

- one <!-- id:aaaaaaaa -->
- two <!-- id:aaaaaaaab -->
- three, about id:cccccccc
"""


@pytest.mark.parametrize("prefix, found", [("ab", "ab"), ("abc", "abcd"), ("x", "x")])
def test_an_exact_id_wins_over_a_prefix(prefix: str, found: str) -> None:
    assert by_prefix(prefix, ["abcd", "ab", "x", "x"], str, "here") == found


def test_a_prefix_of_several_lists_them() -> None:
    with pytest.raises(AmbiguousIdError, match="'a' is not unique: ab, ac;"):
        by_prefix("a", ["ab", "ac", "ab"], str, "here")


def test_a_retired_memory_has_its_id_and_the_address_before_it_had_one() -> None:
    one = Entry(id="k3v9q2ht", text="Use uv", kind="always", scope="project")
    before = address("Use uv")
    for prefix in ("k3", before[:4], f"~{before[1:5]}", before[1:5]):
        assert by_prefix(prefix, [one], retired_name(prefix, [one]), "here") == one


def test_without_its_mark_an_address_of_a_retired_memory_gives_way_to_an_id() -> None:
    before = address("Use uv")[1:]
    one = Entry(id="k3v9q2ht", text="Use uv", kind="always", scope="project")
    other = Entry(id=f"{before}x", text="Use npm", kind="always", scope="project")
    assert by_prefix(before, [one, other], retired_name(before, [one, other]), "here") == other


@every("prefix", ["_7a2pcsc", "~7a2pcsc", "7a2pcsc", "_7a", "~7a", "7a"])
def test_an_address_is_found_with_its_mark_the_former_one_and_none(prefix: str) -> None:
    assert by_prefix(prefix, ["k3v9q2ht", "_7a2pcsc"], str, "here") == "_7a2pcsc"


def test_an_address_without_its_mark_that_begins_an_id_is_ambiguous() -> None:
    with pytest.raises(AmbiguousIdError, match="'7a2pcsc' is not unique: _7a2pcsc, 7a2pcscx;"):
        by_prefix("7a2pcsc", ["_7a2pcsc", "7a2pcscx"], str, "here")
    assert by_prefix("_7a2pcsc", ["_7a2pcsc", "7a2pcscx"], str, "here") == "_7a2pcsc"
    assert by_prefix("7a2pcscx", ["_7a2pcsc", "7a2pcscx"], str, "here") == "7a2pcscx"


@pytest.mark.parametrize("prefix", ["", "b"])
def test_what_begins_no_id_is_told_with_the_place(prefix: str) -> None:
    with pytest.raises(EntryNotFoundError, match="in here"):
        by_prefix(prefix, ["a"], str, "here")


@pytest.mark.parametrize(
    "wanted, said",
    [
        pytest.param("aaaaaaaa", "one", id="not-the-longer-one"),
        pytest.param("aaaaaaaab", "two", id="longer"),
        pytest.param(address("three, about id:cccccccc"), "three, about id:cccccccc", id="address"),
    ],
)
def test_a_line_is_found_by_its_whole_id(wanted: str, said: str) -> None:
    placed = find_line(parse(PAGE), wanted)
    assert placed is not None
    assert placed.block.text == said


def test_words_like_an_id_are_none() -> None:
    assert find_line(parse(PAGE), "cccccccc") is None
    assert find_line(parse(PAGE), "_0000000") is None
