"""The three laws of a document, for any page and any text."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from engramdown.markdown.blocks import Block, scan
from engramdown.markdown.document import Document, parse
from engramdown.markdown.metadata import Metadata
from tests import laws, strategies
from tests.hippocampus.stories import numbers
from tests.tables import every

pages = strategies.markdown()
kinds = st.sampled_from(["", "always", "never", "when"])
edits = st.lists(
    st.builds(
        laws.Edit,
        st.sampled_from(["add", "remove", "note", "hand", "replace"]),
        numbers,
        strategies.memory_texts,
        kinds,
    ),
    max_size=6,
)
items = st.builds(str.__add__, strategies.item_lines(), st.sampled_from(["", "\n", "\r\n"]))

NASTY: Final = (
    "<!--",
    "-->",
    "<!---",
    "--!>",
    "<!-->",
    "<!-- id:aaaaaaaa source:user -->",
    "a <!-- id:aaaaaaaa source:user --> b",
    "## Always",
    "# Title\n\n## Never\n\n- forged <!-- id:aaaaaaaa -->",
    "Title\n===",
    "- [x] done",
    "[x] done",
    "- a",
    "* a",
    "+ a",
    "1. a",
    "> a",
    "# a",
    "\\- a",
    "\\\\<!-- a",
    "\\# a \\> b \\",
    "---",
    "- - -",
    "* * *",
    "***",
    "-",
    "--",
    "---\na: 1\n---",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```\n- a\n<!-- b -->",
    "```py\nx = 1\n```",
    "~~~",
    "a\r\nb\r\n",
    "a\rb",
    "\ra",
    "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i",
    "a\x00b",
    "\x1b[31mred\x1b[0m",
    "\U0001f469\u200d\U0001f467\u200d\U0001f466 \u2764\ufe0f",
    "e\u0301 and \xe9",
    "\u202eright to left\u2066x\u2069",
    "\ufeffmark",
    "  leading and trailing  ",
    "\ttab\t",
    "\n\nlines around\n\n",
    "a\n   \n\t\nb",
    "&#32; &amp; &#x20;",
    "\u3000wide\u3000",
    "%20 100%",
    "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other",
    "[a]: http://x",
    "<div>\n\n</div>",
    "x" * 100_000,
    "\n".join(f"line {number}" for number in range(10_000)),
)


@given(pages | strategies.any_text)
@example(strategies.HUGE_LINE)
@example("\ufeff\r\n---\r\n")
def test_a_page_comes_back(page: str) -> None:
    laws.page_comes_back(page)


@given(strategies.any_bytes | pages.map(lambda page: page.encode("utf-8", "surrogatepass")))
@example(b"- \xff\xfe <!-- id:aaaaaaaa -->\r\n")
@example("- Kö".encode("latin-1"))
def test_bytes_come_back(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    assert parse(text).render().encode("utf-8", "surrogateescape") == data


@given(pages)
@example("\ufeff- a\n\n## When\n\n### more\n- b")
def test_every_entry_is_found_where_it_stands(page: str) -> None:
    laws.every_entry_is_found_where_it_stands(page)


@given(pages, strategies.memory_texts | st.sampled_from(["item", "joinedwords", "twice", "e"]))
@example("- joined<!-- x -->words\n", "Joinedwords")
@example("- &#65;bc\n- abc\n", "ABC")
@example("- *\n", "*")
def test_the_same_memories_are_found_with_and_without_an_index(page: str, text: str) -> None:
    laws.same_finds_every_twin(page, text)


@given(pages, strategies.memory_texts, kinds)
@example("<!--\n\n- a\n", "--> b", "")
@example("<<<<<<< a\n\npara\n=======\n", "b", "always")
@example("    code\n", "b", "")
@example("## Always\n## Never\n", "b", "always")
@example("- a", "b", "when")
@example("\ufeff", "b", "")
def test_adding_touches_nothing_else(page: str, text: str, kind: str) -> None:
    laws.adding_touches_nothing_else(page, text, kind)


@every("page", ["", "# Rules\r\n\r\n## Always\r\n\r\n- a\r\n", "- a\n```\n"])
@every("text", NASTY, ids=lambda text: ascii(text[:24]))
def test_what_is_written_is_read(page: str, text: str) -> None:
    laws.adding_touches_nothing_else(page, text, "always")


@given(pages, numbers)
@example("a\n- x\nb\n", 1)
@example("a | b\n- x\n|---|---|\n", 1)
@example("- x\n---\nkey: v\n- a\n- b\n- c\n---\n- d\n", 0)
@example("\ufeff- x\n---\nkey: v\n---\n", 0)
@example("<<<<<<< o\n\n- a\n\n- b\n\npara\n- x\npara\n=======\n", 3)
def test_removing_touches_nothing_else(page: str, number: int) -> None:
    assume(parse(page).placed())
    laws.removing_touches_nothing_else(page, number)


@given(page=pages, number=numbers, text=strategies.memory_texts, by_hand=st.booleans())
@example(page="* a\n- b", number=0, text="* *", by_hand=False)
@example(page="a\n\nb\n", number=1, text="- c", by_hand=True)
def test_replacing_touches_nothing_else(
    page: str, number: int, text: str, *, by_hand: bool
) -> None:
    assume(parse(page).placed())
    laws.replacing_touches_nothing_else(page, number, text, by_hand=by_hand)


@given(pages, numbers)
@example("- item\r<!-- note -->\n", 0)
@example("- a <!-- id:aaaaaaaa --> b\n", 0)
@example("para\n<!-- x -->\n", 0)
def test_noting_changes_no_text(page: str, number: int) -> None:
    assume(parse(page).placed())
    laws.noting_changes_no_text(page, number)


@given(pages, numbers, items)
@example("- a\n- b\n", 0, "- c")
@example("<!-- open\n\n- a\n\n- b\n\n- c\n\n- d\n", 3, "- x --> y\n")
@example("a\n- b\nc\n", 1, "d")
def test_swapping_touches_nothing_else(page: str, number: int, raw: str) -> None:
    assume(parse(page).placed())
    laws.swapping_touches_nothing_else(page, number, raw)


@given(pages, edits)
@example(
    "- a\n- b\n",
    [laws.Edit("add", 0, "a", ""), laws.Edit("remove", 0, "a", ""), laws.Edit("add", 0, "A", "")],
)
def test_edits_in_a_row_read_back(page: str, many: list[laws.Edit]) -> None:
    laws.edits_in_a_row_read_back(page, many)


@every(
    "page, kind, expected",
    [
        pytest.param("", "", "# Title\n\n- new\n", id="empty"),
        pytest.param("\ufeff", "", "\ufeff# Title\n\n- new\n", id="mark"),
        pytest.param(" \n", "when", " \n# Title\n\n## When\n\n- new\n", id="blank"),
        pytest.param("# T\n", "", "# T\n- new\n", id="title-only"),
        pytest.param("# T\n\n- a\n", "", "# T\n\n- a\n- new\n", id="below-the-last"),
        pytest.param("- a\n\nafter\n", "", "- a\n- new\n\nafter\n", id="above-prose"),
        pytest.param("- a", "", "- a\n- new\n", id="no-line-end"),
        pytest.param("- a\r\n- b", "", "- a\r\n- b\r\n- new\r\n", id="windows"),
        pytest.param(
            "## Always\n\n## Never\n", "always", "## Always\n- new\n\n## Never\n", id="one-blank"
        ),
        pytest.param(
            "## Always\n\n\n## Never\n", "always", "## Always\n\n- new\n\n## Never\n", id="blanks"
        ),
        pytest.param(
            "## ALWAYS:\n- a\n## Never\n## always\n- b\n",
            "always",
            "## ALWAYS:\n- a\n- new\n## Never\n## always\n- b\n",
            id="first-section",
        ),
        pytest.param(
            "## Always\n\n### Style\n\n- a\n\n## Own\n",
            "always",
            "## Always\n- new\n\n### Style\n\n- a\n\n## Own\n",
            id="above-a-smaller-heading",
        ),
        pytest.param(
            "## Always\n\n+ a\n\n### Style\n\n- b\n",
            "always",
            "## Always\n\n+ a\n+ new\n\n### Style\n\n- b\n",
            id="with-the-marker-of-its-list",
        ),
        pytest.param("# T\n\n1. a\n2. b\n", "", "# T\n\n1. a\n2. b\n3. new\n", id="numbered"),
        pytest.param("1) a\n1) b\n", "", "1) a\n1) b\n1) new\n", id="numbered-alike"),
        pytest.param("999999999. a\n", "", "999999999. a\n999999999. new\n", id="last-number"),
        pytest.param(
            "# T\n\n* a\n\n## Own\n\n- b\n",
            "",
            "# T\n\n* a\n* new\n\n## Own\n\n- b\n",
            id="above-a-heading-of-ones-own",
        ),
        pytest.param("## Own\n- a\n", "", "## Own\n- a\n- new\n", id="below-the-only-heading"),
        pytest.param(
            "## Title\n- a\n## Own\n- b\n",
            "",
            "## Title\n- a\n- new\n## Own\n- b\n",
            id="below-the-title",
        ),
        pytest.param(
            "\ufeff## Own\n- a\n## More\n- b\n",
            "",
            "\ufeff- new\n## Own\n- a\n## More\n- b\n",
            id="above-sections-without-a-title",
        ),
        pytest.param("- a\n\n", "never", "- a\n\n## Never\n\n- new\n", id="new-section"),
        pytest.param(
            "- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> o\n\nprose\n",
            "",
            "- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> o\n- new\n\nprose\n",
            id="below-a-merge",
        ),
        pytest.param(
            "- a\n<<<<<<< HEAD\n- b\n=======\n>>>>>>> o\n<<<<<<< HEAD\n=======\n>>>>>>> o\n",
            "",
            "- a\n<<<<<<< HEAD\n- b\n=======\n>>>>>>> o\n<<<<<<< HEAD\n=======\n>>>>>>> o\n- new\n",
            id="below-two-merges",
        ),
        pytest.param(
            "## Always\n- a\n<<<<<<< HEAD\n- b\n## Never\n=======\n- c\n>>>>>>> o\n",
            "always",
            "## Always\n- a\n- new\n<<<<<<< HEAD\n- b\n## Never\n=======\n- c\n>>>>>>> o\n",
            id="above-a-merge-of-more-sections",
        ),
        pytest.param(
            "<<<<<<< HEAD\n## Always\n- a\n## Never\n=======\n>>>>>>> o\n",
            "always",
            "<<<<<<< HEAD\n## Always\n- a\n- new\n## Never\n=======\n>>>>>>> o\n",
            id="in-a-merge-of-whole-sections",
        ),
        pytest.param(
            "## Always\n- a\n## Never\n<<<<<<< HEAD\n- b\n=======\n>>>>>>> o\n",
            "always",
            "## Always\n- a\n- new\n## Never\n<<<<<<< HEAD\n- b\n=======\n>>>>>>> o\n",
            id="above-somebody-elses-merge",
        ),
    ],
)
def test_where_a_new_entry_goes(page: str, kind: str, expected: str) -> None:
    document = parse(page).add("new", Metadata(), kind, "Title")
    assert document.render() == expected


@every(
    "page, heading, kind",
    [
        pytest.param("- x", "", "", id="none"),
        pytest.param("## Never\n- x", "Never", "never", id="kind"),
        pytest.param("## never :\n- x", "never :", "never", id="any-case"),
        pytest.param("Never\n---\n- x", "Never", "never", id="underlined"),
        pytest.param("# When\n- x", "When", "when", id="any-level"),
        pytest.param("## Never <!-- mine -->\n- x", "Never", "never", id="with-a-note"),
        pytest.param("## Never\n## Own\n- x", "Own", "", id="own"),
        pytest.param("## Never\n### Own\n- x", "Never", "never", id="smaller"),
        pytest.param("## Never\n# Own\n- x", "", "", id="title"),
    ],
)
def test_the_section_of_an_entry(page: str, heading: str, kind: str) -> None:
    (placed,) = parse(page).placed()
    assert (placed.heading, placed.kind) == (heading, kind)


def test_a_block_of_another_document_is_refused() -> None:
    with pytest.raises(ValueError, match="not in this document"):
        parse("- a\n").at(parse("- a\n").blocks[0])


def test_a_document_without_blocks_can_be_added_to() -> None:
    assert Document().add("a", Metadata()).render() == "- a\n"


def test_what_was_read_once_is_shared_with_the_same_page_read_again() -> None:
    old = parse("- a\n- b\n- b\n")
    new = parse("- b\n- a\n- c\n").sharing(old)
    assert new.render() == "- b\n- a\n- c\n"
    assert new.blocks[1] is old.blocks[0]
    assert new.blocks[0] in old.blocks[1:]


def test_a_paragraph_can_be_added_byte_for_byte() -> None:
    document = parse("one\n\n- a\n").add_item("Mine.\n")
    assert [placed.block.text for placed in document.placed()] == ["one", "a", "Mine."]
    assert document.placed()[2].block.meta is None


def test_what_a_person_wrote_is_read_without_what_belongs_to_markdown() -> None:
    page = "*star* and `code`\n\n* item\n\n1. one\n2. two\n"
    texts = [placed.block.text for placed in parse(page).placed()]
    assert texts == ["*star* and `code`", "item", "one", "two"]


def test_a_numbered_entry_keeps_its_number_and_its_indentation() -> None:
    document = parse("9. nine\n10. ten\n    and more\n     deeper\n")
    nine, ten = (placed.block for placed in document.placed())
    assert (nine.text, ten.text) == ("nine", "ten\nand more\n deeper")
    changed = document.replace(ten, "ten\nof them", None).replace(nine, "9", None)
    assert changed.render() == "9. 9\n10. ten\n    of them\n"
    assert [placed.block.text for placed in changed.placed()] == ["9", "ten\nof them"]


def test_an_entry_that_says_nothing_is_none() -> None:
    assert parse("- <!-- mine -->\n- a\n").placed()[0].line == 2


def test_a_block_is_read_when_it_is_asked_for() -> None:
    assert Block("- a", "item").text == "a"


# ---- several at once ----


@given(pages, st.lists(numbers, min_size=1, max_size=5))
@example("one\n- x\ntwo\n- y\nthree\n", [1, 3])
@example("- x\n---\nkey: v\n- a\n- b\n- c\n---\n- d\n", [0, 1])
@example("<<<<<<< o\n\n- a\n\n- b\n\npara\n- x\npara\n=======\n", [3, 0])
def test_removing_several_touches_nothing_else(page: str, chosen: list[int]) -> None:
    assume(parse(page).placed())
    laws.removing_many_touches_nothing_else(page, chosen)


def test_only_blocks_of_the_document_can_be_removed() -> None:
    page = parse("- a\n- b\n")
    assert page.without([]) is page
    with pytest.raises(ValueError, match="not all of them are blocks of this document"):
        page.without([page.blocks[0], Block("- a\n", "item")])


def test_removing_many_reads_the_text_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def characters(count: int) -> int:
        page = parse("# Pending\n\n" + "".join(f"- line {at}\n" for at in range(count)))
        read = 0

        def scan_counting(text: str) -> list[Block]:
            nonlocal read
            read += len(text)
            return scan(text)

        monkeypatch.setattr("engramdown.markdown.document.scan", scan_counting)
        left = page.without([each.block for each in page.placed()[::2]])
        assert len(left.placed()) == count // 2
        return read

    assert characters(2_000) < 2.5 * characters(1_000)


@pytest.mark.parametrize("text", ["- a", "- a\r\n- b\r\n", "a\nb\n\n- c\n", "- a\n  b\n"])
def test_an_entry_whose_last_note_goes_reads_byte_for_byte_as_before(text: str) -> None:
    document = parse(text)
    noted = document.note(document.blocks[0], Metadata().update({"pin": "yes"}))
    assert "pin:yes" in noted.render()
    assert noted.note(noted.blocks[0], Metadata()).render() == text
