"""What a person reads fits, loses no word and cannot fool a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.cli import layout
from engramdown.cli.layout import Line, Part, cells, diff, line, table, whole, wrap
from engramdown.language.characters import visible
from tests.tables import every

WORDS = st.text(st.sampled_from("ab c日\u0301-\n"), max_size=60)


def rows(item: Line, width: int) -> list[str]:
    return ["".join(part.text for part in row) for row in wrap(item, width)]


def test_a_short_line_stays_one_row() -> None:
    assert rows(line("one ", ("two", "id")), 80) == ["one two"]


def test_a_long_line_is_cut_between_words_and_hangs() -> None:
    item = line("k3v9q2ht", "  ", "one two three four", indent=2, hang=12)
    assert rows(item, 24) == ["  k3v9q2ht  one two", " " * 12 + "three four"]


def test_a_line_end_in_a_text_begins_a_row() -> None:
    assert rows(line("one\n  two", hang=2), 80) == ["one", "    two"]


def test_an_empty_line_is_an_empty_row() -> None:
    assert rows(line(), 80) == [""]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert rows(line("see https://example.org/abc"), 12) == ["see", "https://exam", "ple.org/abc"]


def test_a_whole_line_is_never_wrapped() -> None:
    assert rows(whole("/home/you/project/.engramdown", indent=2), 12) == [
        "  /home/you/project/.engramdown"
    ]


def test_wide_characters_take_two_columns() -> None:
    assert rows(line("日本語日本語"), 6) == ["日本語", "日本語"]


def test_what_hangs_too_far_hangs_less() -> None:
    found = rows(line("abcdef ghijkl mnopqr", hang=30), 20)
    assert all(cells(row) <= 20 for row in found)


def test_styles_stay_with_their_words() -> None:
    (row,) = wrap(line(("a b", "id"), ("c", "dim")), 80)
    assert row == [Part("a b", "id"), Part("c", "dim")]


def test_what_could_fool_a_terminal_is_shown() -> None:
    (row,) = rows(line("a\x1b[31mb\u202ec\rd"), 80)
    assert "\x1b" not in row
    assert "\u202e" not in row
    assert "\r" not in row


@given(st.lists(st.tuples(WORDS, st.sampled_from(["", "id"])), max_size=4), st.integers(2, 90))
def test_nothing_is_wider_than_asked_for(parts: list[tuple[str, str]], width: int) -> None:
    assert all(cells(row) <= width for row in rows(line(*parts, indent=2, hang=6), width))


@given(st.text(max_size=80), st.integers(20, 90))
def test_no_word_is_lost(text: str, width: int) -> None:
    def squeezed(shown: str) -> str:
        return "".join(shown.split())

    shown = visible(text.expandtabs(4).replace("\n", " "))
    assert squeezed("".join(rows(line(text), width))) == squeezed(shown)


def test_a_diff_shows_what_goes_and_what_comes() -> None:
    found = diff("a\nb\nc\n", "a\nB\nc\n", "rules.md")
    assert [item.parts[0] for item in found] == [
        Part("--- rules.md", "dim"),
        Part("+++ rules.md", "dim"),
        Part("@@ -1,3 +1,3 @@", "dim"),
        Part(" a"),
        Part("-b", "bad"),
        Part("+B", "good"),
        Part(" c"),
    ]


def test_a_rule_of_dashes_that_goes_is_no_heading_of_the_diff() -> None:
    found = diff("-- \n", "", "rules.md")
    assert Part("--- ", "bad") in [item.parts[0] for item in found]


def test_equal_texts_have_no_diff() -> None:
    assert diff("a\x0cb\n", "a\x0cb\n", "rules.md") == []


def test_a_form_feed_does_not_end_a_line_of_a_diff() -> None:
    found = [item.parts[0].text for item in diff("", "a\x0cb\n", "rules.md")]
    assert found[-1] == "+a\x0cb"


def test_a_line_end_that_comes_or_goes_is_seen() -> None:
    found = [item.parts[0].text for item in diff("a", "a\n", "rules.md")]
    assert found[3:] == ["-a", "\\ No newline at end of file", "+a"]


def test_a_new_file_has_only_lines_that_come() -> None:
    found = [item.parts[0].text for item in diff("", "a\n\nb\n", "rules.md")]
    assert found[3:] == ["+a", "+", "+b"]


def test_a_table_aligns_numbers_to_the_right() -> None:
    found = table([("tokens", "section"), ("12", "identity"), ("1500", "rules")], indent=2)
    assert [rows(item, 80)[0] for item in found] == [
        "  tokens  section",
        "      12  identity",
        "    1500  rules",
    ]


def test_the_last_column_of_a_table_wraps_below_itself() -> None:
    (item,) = table([("file", "one two three four five")])
    assert rows(item, 20) == ["file  one two three", "      four five"]


@pytest.mark.parametrize("found", [table([]), table([()])])
def test_an_empty_table_has_no_columns(found: list[Line]) -> None:
    assert all(item.parts == () for item in found)


@every("width", range(1, 80))
def test_two_cells_never_become_one_word(width: int) -> None:
    rows = [["session", "began", "end"], ["20261121-192817-30d6", "2026-11-21", "open"]]
    shown = ["".join(part.text for part in row) for one in table(rows) for row in wrap(one, width)]
    joined = "".join(shown).replace(" ", "")
    assert joined == "".join(map("".join, rows))
    assert not any("nbegan" in row or "nend" in row or "d62026" in row for row in shown)


def test_a_character_that_is_too_wide_stands_alone() -> None:
    assert rows(line("a日b"), 1) == ["a", "日", "b"]
    assert rows(line("日日"), 1)[:2] == ["日", "日"]


def test_a_word_without_spaces_is_looked_at_as_often_as_it_is_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = [0]

    def counted(char: str) -> int:
        looked[0] += len(char)
        return 1

    monkeypatch.setattr(layout, "_cells_of", counted)
    costs = []
    for size in (5_000, 10_000, 20_000):
        looked[0] = 0
        assert "".join(rows(line("日" * size), 80)) == "日" * size
        costs.append(looked[0])
    assert costs[2] < 2.2 * costs[1] < 2.2 * 2.2 * costs[0]
