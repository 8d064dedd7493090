"""A page shows memories and headings, and a changed page says what became of which memory."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.hippocampus.entry import raw_entries
from engramdown.integrations.memory_folder import Edits, Memory, edits, rendered
from engramdown.language.untrusted import inert
from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata
from tests.strategies import markdown, memory_texts

RULES = "# Rules\n\n## Always\n\n- Use uv\n- Log in UTC\n\n## Never\n\n- Push on Fridays\n"


def page_of(name: str, text: str) -> str:
    document = parse(text)
    return rendered(document, raw_entries(name, document))


@given(markdown(), st.sampled_from(["rules.md", "lessons.md"]))
def test_a_page_read_back_has_the_memories_of_the_file_and_no_others(text: str, name: str) -> None:
    document = parse(text)
    shown = raw_entries(name, document)
    page = rendered(document, shown)
    again = raw_entries(name, parse(page))
    assert [inert(one.block.text).strip() or " " for one in shown] == [
        inert(each.block.text) for each in again
    ]
    assert [one.kind for one in shown] == [each.kind for each in again]
    assert edits(name, page, page) == Edits()


@given(st.lists(memory_texts, max_size=6))
def test_what_is_written_into_a_page_is_read_out_of_it(texts: list[str]) -> None:
    document = parse("")
    for text in texts:
        document = document.add(text, Metadata((("id", "k3v9q2ht"),)))
    page = rendered(document, document.placed())
    assert len(parse(page).placed()) == len(texts)


def test_a_page_hides_metadata_private_notes_and_other_prose() -> None:
    text = (
        "\ufeff# Rules\r\n\r\nNo rule.\r\n\r\n## Always <!-- why -->\r\n<!-- mine -->\r\n"
        "- Use uv <!-- id:k3v9q2ht source:user -->\r\n```\r\n- code\r\n```\r\n"
        "A paragraph\r\nof mine\r\n## Own words\r\n* Be\r\n  brief\r\n"
    )
    assert page_of("rules.md", text) == (
        "## Always\n\n- Use uv\n- A paragraph\n  of mine\n\n## Own words\n\n- Be\n  brief\n"
    )


def test_of_a_page_only_the_memories_that_were_given_are_shown() -> None:
    document = parse("- one\n- two\n")
    assert rendered(document, document.placed()[1:]) == "- two\n"


def test_headings_stand_only_above_what_is_shown() -> None:
    text = "# A\n\n## Never\n- x\n# B\n### Sub\n- y\n## Own\n### Deep\n- z\n## No\n## When\n## Z\n"
    assert page_of("rules.md", text) == (
        "## Never\n\n- x\n\n# B\n\n### Sub\n\n- y\n\n## Own\n\n### Deep\n\n- z\n\n## When\n"
    )


def test_a_word_that_is_changed_rewords_one_memory() -> None:
    after = RULES.replace("UTC", "UTC, always")
    assert edits("rules.md", RULES, after).reworded == (
        (1, Memory("Log in UTC, always", "always")),
    )


def test_a_line_more_is_a_memory_more_and_a_line_less_is_one_less() -> None:
    found = edits("rules.md", RULES, RULES.replace("- Use uv\n", "- Be brief\n- Be kind\n"))
    assert found == Edits((Memory("Be brief", "always"), Memory("Be kind", "always")), (), (0,))
    assert edits("rules.md", RULES, RULES.replace("- Use uv\n", "")) == Edits(removed=(0,))


def test_of_two_lines_in_the_place_of_one_the_likest_rewords_it() -> None:
    after = RULES.replace("- Use uv\n", "- Be brief\n- Use uv, never pip\n")
    found = edits("rules.md", RULES, after)
    assert found.reworded == ((0, Memory("Use uv, never pip", "always")),)
    assert found.added == (Memory("Be brief", "always"),)


def test_of_several_likely_lines_each_is_taken_once() -> None:
    before = "- Deploy on Monday\n- Deploy on Tuesday\n"
    after = "- Deploy on Monday morning\n- Deploy on Tuesday\n- Deploy on Monday at nine\n"
    found = edits("lessons.md", before, after)
    assert (len(found.reworded), len(found.added), found.removed) == (1, 1, ())


def test_a_line_under_another_heading_is_another_memory() -> None:
    after = RULES.replace("- Use uv\n", "").replace("- Push", "- Use uv\n- Push")
    assert edits("rules.md", RULES, after) == Edits((Memory("Use uv", "never"),), (), (0,))


def test_the_order_says_nothing() -> None:
    after = RULES.replace("- Use uv\n- Log in UTC\n", "- Log in UTC\n- Use uv\n")
    assert edits("rules.md", RULES, after) == Edits()


def test_many_changed_lines_are_paired_in_order() -> None:
    before = "".join(f"- number {each}\n" for each in range(60))
    after = "".join(f"- word {each}\n" for each in range(61))
    found = edits("lessons.md", before, after)
    assert (len(found.reworded), len(found.added)) == (60, 1)


def test_a_paragraph_is_a_memory_and_in_the_rules_only_in_a_section() -> None:
    assert edits("lessons.md", "", "CI is\nslow\n").added == (Memory("CI is\nslow", ""),)
    assert edits("rules.md", "", "Be brief\n") == Edits(others=("Be brief",))
    assert edits("rules.md", "", "## Never\n\nBe rude\n").added == (Memory("Be rude", "never"),)


def test_what_is_no_memory_is_told() -> None:
    after = "# Title\n\n## Tools\n\n## Always:\n\n##\n\n- uv\n\n```\ncode\n```\n\n| a |\n|---|\n"
    found = edits("topics/ci.md", "# ci\n", after)
    assert found.headings == ("Tools",)
    assert found.others == ("```",)
    assert found.added == (Memory("uv", ""),)


@pytest.mark.slow
def test_the_cost_of_many_changed_lines_is_linear() -> None:
    before = "".join(f"- Line {at} is about this\n" for at in range(20_000))
    begun = process_time()
    found = edits("lessons.md", before, before.replace("this", "that"))
    # In linear time half a second, in quadratic time ten.
    assert process_time() - begun < 5
    assert len(found.reworded) == 20_000
