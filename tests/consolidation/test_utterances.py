"""What in a message is said, and what is only shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.consolidation.utterances import LONGEST, mask_shown, sentences, small_letters
from engramdown.language.characters import BLANK
from tests.tables import every


def _shown(text: str) -> str:
    return mask_shown(text).replace(BLANK, "_")


def _split(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sentences(text)]


class TestMask:
    """What is shown."""

    @every(
        "text",
        [
            pytest.param("```\nnever\n```", id="fence"),
            pytest.param("~~~ sh\nnever\n```\nnever\n~~~", id="fence-in-a-fence"),
            pytest.param("```\nnever", id="open-fence"),
            pytest.param("> never", id="quotation"),
            pytest.param("    never", id="indented"),
            pytest.param("# never", id="heading"),
            pytest.param("// never", id="comment"),
            pytest.param("return never;", id="code"),
            pytest.param('{"never": 1}', id="json"),
            pytest.param("ERROR never", id="log"),
            pytest.param("2026-02-27 10:00:00 never", id="time-stamp"),
            pytest.param("stderr: never", id="stderr"),
            pytest.param("ValueError: never", id="exception"),
            pytest.param("$ ls\nnever\nnever", id="console"),
            pytest.param("cat README.md\nnever", id="console-without-a-prompt"),
            pytest.param("Traceback (most recent call last):\n  never\nNo: never", id="traceback"),
            pytest.param("diff --git a b\n-never\n+never\n never", id="diff"),
            pytest.param("<b>never</b>", id="tag"),
            pytest.param("<!-- never -->", id="html-comment"),
        ],
    )
    def test_what_is_shown_is_blank(self, text: str) -> None:
        assert "never" not in mask_shown(text)

    @every(
        "text, shown",
        [
            pytest.param("Say 'no' to it", "Say ____ to it", id="quotes"),
            pytest.param("don't say “no”, it's", "don't say ____, it's", id="apostrophes"),
            pytest.param("run `ls` now", "run ____ now", id="code"),
            pytest.param("run ``a ` b`` now", "run _________ now", id="code-with-a-tick"),
            pytest.param("5'4 or 6'2", "5'4 or 6'2", id="no-quotes"),
            pytest.param("a <b> c", "a ___ c", id="lone-tag"),
            pytest.param("a <!-- b", "a ____ b", id="open-comment"),
            pytest.param("1 < 2 > 0", "1 < 2 > 0", id="no-tag"),
            pytest.param("</b> b", "____ b", id="closing-tag"),
            pytest.param("<b> <i> x </b> y", "______________ y", id="tag-in-a-tag"),
            pytest.param("- one\n    - two", "- one\n    - two", id="list-in-a-list"),
            pytest.param("a\n    b", "a\n    b", id="wrapped"),
            pytest.param("$ ls\nx\n\nnever", "    \n \n\nnever", id="behind-a-console"),
        ],
    )
    def test_what_is_said_stays_where_it_was(self, text: str, shown: str) -> None:
        assert _shown(text) == shown

    @every(
        "text",
        [
            "Translate this: never",
            "Please proofread this.\n\nnever\n\nnever",
            "Here's the mail I got:\n\nnever",
            "Here's our README:\n# Rules\n- never",
            "# Rules\n- never\n\ncan you summarise it for me?",
            "# Regeln\n- never\n\nfass das zusammen, bitte",
            "The page says:\nnever",
            "README.md:\nnever",
            "As per the wiki:\nnever",
            "Subject: Rules\n\nnever",
            "From: Tim <tim@example.org>\nnever",
            "never\nnever\n\nWhat do you think of it?",
            "never\n\nIs this list still complete?\n",
            "Dear Ann,\nnever\n\nCan you make this letter shorter?",
        ],
    )
    def test_what_is_pasted_is_blank_to_the_end(self, text: str) -> None:
        assert "never" not in mask_shown(text)

    @every(
        "text",
        [
            pytest.param("Here is what I ran:\n```\nx\n```\nnever", id="a-fence-ends-it"),
            pytest.param("Here are the rules I got, my rules:\nnever", id="own-rules"),
            pytest.param("A few rules:\nnever", id="a-list"),
            pytest.param("never\nIs that right?", id="asked-at-once"),
            pytest.param("never\n\nIs CI green?", id="asked-about-another-thing"),
            pytest.param("From: a plain sentence.\nnever", id="no-mail"),
        ],
    )
    def test_what_is_not_pasted_stays(self, text: str) -> None:
        assert "never" in mask_shown(text)

    def test_of_a_long_text_only_the_first_and_the_last_paragraph_are_said(self) -> None:
        pasted = "never\n\n" * 1000
        mask = mask_shown(f"\nalways\n\n{pasted}sometimes\n")
        assert mask.split() == ["always", "sometimes"]
        lines = "never\n" * 1000
        assert mask_shown(f"always\n{lines}sometimes").split() == ["always", "sometimes"]
        assert mask_shown("\n" * 5000) == "\n" * 5000
        assert "never" in mask_shown(pasted[:2000])

    @given(st.text(st.sampled_from("ab \n`~<>/!-\"'“”«»$#{}:.;1e\t")))
    def test_a_mask_is_as_long_as_its_text_line_by_line(self, text: str) -> None:
        mask = mask_shown(text)
        assert [len(line) for line in mask.split("\n")] == [len(line) for line in text.split("\n")]
        assert all(new in (old, " ", BLANK) for old, new in zip(text, mask, strict=True))


class TestSentences:
    """Where a sentence ends."""

    @every(
        "text, expected",
        [
            ("One. Two! Three?", ["One", "Two", "Three"]),
            ("one\ntwo", ["one", "two"]),
            ("- one\n2. two\n* [ ] three", ["one", "2", "two", "three"]),
            ("See Dr. No, e.g. at 9 a.m. or v1.2", ["See Dr. No, e.g. at 9 a.m. or v1.2"]),
            ("No. Use it. Nope", ["No. Use it", "Nope"]),
            ("", []),
            ("\n\n", []),
            ("wait... what", ["wait", "what"]),
        ],
    )
    def test_a_sentence_ends_at_its_mark_or_line(self, text: str, expected: list[str]) -> None:
        assert _split(text) == expected

    def test_the_mark_is_told(self) -> None:
        assert [found.mark for found in sentences("One. Two?! Three")] == [".", "!", ""]

    def test_a_line_that_was_wrapped_goes_on(self) -> None:
        text = "From now on write every single commit message\nin English, please"
        assert _split(text) == [text]
        assert len(_split(text.replace("\nin", "\nIn"))) == 2

    def test_what_is_too_long_for_an_order_is_left_out(self) -> None:
        assert _split("a" * LONGEST) == ["a" * LONGEST]
        assert _split("a" * (LONGEST + 1)) == []


@given(st.text())
def test_small_letters_are_as_long_as_large_ones(text: str) -> None:
    assert len(small_letters(text)) == len(text)


def test_curly_apostrophes_become_straight() -> None:
    assert small_letters("Don\u2019t İ") == "don't İ"


def test_a_megabyte_of_dots_is_no_sentence() -> None:
    # No time is measured: a cost that grows with the square of the length would not end.
    assert _split("." * 1_000_000 + "a") == []
