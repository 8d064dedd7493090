"""The lines of skills: what they cost, what is left out, and that they forge nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramdown.context.sections import (
    NONE,
    SKILL,
    Listed,
    Procedures,
    SkillLine,
    line_of,
    procedures,
)
from engramdown.tokens import estimate_tokens
from tests.cortex.entries import any_text

lines = st.lists(st.builds(SkillLine, any_text, any_text, st.integers(0, 5)), max_size=8)
known = st.builds(
    Procedures, lines.map(tuple), st.sampled_from([(), ("write-a-skill",)]), st.just(0)
)
MINE = "{{ heading }}\n{% for line in lines %}\n{{ line }} {{ line }}\n{% endfor %}\n{{ left_out }}"


@given(known, st.integers(-5, 300), st.sampled_from([{}, {"skills.j2": MINE}]))
def test_no_skills_cost_more_than_their_budget(
    skills: Procedures, budget: int, words: dict[str, str]
) -> None:
    told = procedures(skills, budget, words)
    assert estimate_tokens(told.text) <= max(budget, 0)
    assert (told.left_out > 0) == (told.tokens > 0)
    everything = procedures(skills, 9_999, words)
    assert (everything.left_out, everything.tokens) == (0, 0)


@given(any_text, any_text)
def test_a_skill_has_one_line_of_so_many_tokens(label: str, does: str) -> None:
    line = line_of(SkillLine(label, does))
    assert estimate_tokens(line) <= SKILL
    assert "\n" not in line
    assert line.startswith("- ")


def test_a_long_description_is_cut_at_a_word() -> None:
    assert line_of(SkillLine("charts", "Make\ncharts")) == "- charts: Make charts"
    assert line_of(SkillLine("long", "word " * 500)).endswith(" word…")
    for does, end in (("x" * 500, "xxx…"), ("記" * 500, "記記…"), ("ab cd" + "x" * 500, "xxx…")):
        line = line_of(SkillLine("a", does))
        assert line.endswith(end)
        assert SKILL - 2 <= estimate_tokens(line) <= SKILL
    # A word that just fits stays whole.
    fits = "x" * (4 * SKILL - 15)
    assert line_of(SkillLine("a", f"{fits} more words than fit")).rstrip("…")[5:].startswith(fits)


def test_a_cut_word_is_not_taken_for_a_whole_one() -> None:
    line = line_of(SkillLine("a", "some words " * 50))
    assert {*line.removesuffix("…").split()} == {"-", "a:", "some", "words"}


def test_without_a_skill_of_the_persons_nothing_is_told() -> None:
    assert procedures(NONE) == procedures(Procedures((), ("write-a-skill",))) == Listed()


def test_built_in_ones_stand_beside_others_by_their_labels() -> None:
    skills = Procedures((SkillLine("charts", "Make charts"),), ("find-out-why", "write-a-skill"))
    assert procedures(skills).text == (
        "## Your Skills\n\nProcedures to follow. Read one before you need it: recall_skill, or "
        "`engramdown skills show LABEL`. Built in: find-out-why, write-a-skill.\n\n"
        "- charts: Make charts"
    )


def test_those_that_are_read_least_are_left_out_first() -> None:
    skills = [
        SkillLine(label, "word " * 30, uses)
        for label, uses in zip("abcd", (1, 5, 0, 3), strict=True)
    ]
    told = procedures(Procedures(tuple(skills)), 130)
    shown = [line[:4] for line in told.text.split("\n") if line.startswith("- ")]
    assert shown == ["- b:", "- d:"]
    assert told.text.endswith("\n\n(2 more left out; `engramdown skills list` shows them)")
    assert told.left_out == 2


def test_what_has_no_room_says_how_many_there_are_if_that_fits() -> None:
    skills = Procedures((SkillLine("a", "word " * 30),))
    assert procedures(skills, 55).text.endswith(
        "(1 more left out; `engramdown skills list` shows them)"
    )
    assert procedures(skills, 5) == Listed("", 1, 39)


def test_those_that_were_not_even_read_are_counted() -> None:
    some = Procedures((SkillLine("charts", "Make charts"),), (), 4_999)
    assert "(4999 more left out" in procedures(some).text
    assert procedures(some, 0) == Listed("", 5_000, procedures(some._replace(unread=0), 0).tokens)
