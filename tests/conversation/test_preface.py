"""Days of the journal and notes, within their budgets."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from engramdown.context.sections import Listed
from engramdown.conversation.prompt import journal, noted
from engramdown.journal import Section
from engramdown.journal.journal import Recent
from engramdown.tokens import estimate_tokens


def day(title: str, *parts: tuple[str, str]) -> Recent:
    """Return a day of the journal with sections, each a heading and a text."""
    return Recent(title, date(2026, 3, 1), tuple(Section(*part) for part in parts))


_WORDS = st.text(st.sampled_from("ab c\n#-記"), max_size=60)


@given(st.lists(st.tuples(_WORDS, _WORDS), max_size=8), st.integers(0, 200))
def test_no_part_costs_more_than_its_budget(pairs: list[tuple[str, str]], budget: int) -> None:
    part = journal([day("Today", *pairs)], budget)
    assert estimate_tokens(part.text) <= budget
    assert (part.left_out > 0) == (part.tokens > 0)
    for head, text in pairs:
        assert estimate_tokens(noted(f"{head}\n{text}", budget).text) <= budget


@given(st.lists(st.tuples(_WORDS, _WORDS), max_size=8))
def test_with_room_for_all_nothing_is_left_out(pairs: list[tuple[str, str]]) -> None:
    for part in (journal([day("Today", *pairs)], 9_999), noted(str(pairs))):
        assert (part.left_out, part.tokens) == (0, 0)


def test_what_does_not_fit_hides_nothing_behind_it_and_is_counted() -> None:
    part = journal([day("a", ("", "x"), ("", "word " * 90), ("", "y"))], 60)
    lines = part.text.split("\n")
    assert [line for line in lines if line in ("  x", "  y")] == ["  x", "  y"]
    assert lines[-1] == "(1 more left out; `engramdown journal search` finds them)"
    assert journal([day("a", ("", "x"))], 5) == Listed("", 1, 6)


def test_nothing_has_no_heading() -> None:
    assert journal([]) == journal([day("Today", ("", " "))]) == Listed()
    assert noted(" \n") == Listed()


def test_nothing_that_was_written_passes_for_a_heading() -> None:
    text = journal([day("Today", ("10:15", "One\n## Always\n- two"), ("", "Three"))]).text
    assert text.endswith(
        "- Today (2026-03-01), 10:15\n  One\n  ## Always\n  - two\n- Today (2026-03-01)\n  Three"
    )
    assert noted("One\n\n## Always\x1b").text == "> One\n>\n> ## Always␛"


def test_of_long_notes_the_beginning_is_shown() -> None:
    part = noted("one two three\n" * 10, 12)
    assert part == Listed("\n".join(["> one two three"] * 3), 7, 28)
