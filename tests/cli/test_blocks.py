"""Markdown that is being written is cut where that does no harm."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.cli.chat_screen import Blocks, Words

LIST = "1. a\n\n   b\n2. c\n\n"
FENCE = "```py\nx\n\ny\n```\n\n"
END = "~~~~\n~~~\n\n~~~~\nend"
PAGE = f"# A\n\nOne two\nthree.\n\n{LIST}{FENCE}- z\n\n{END}"
pages = st.text(alphabet="ab \n`~-1.\t\r", max_size=60) | st.just(PAGE)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[first:last] for first, last in pairwise(ends)]


@given(pages, st.lists(st.integers(0, 99), max_size=9))
@example(PAGE, list(range(99)))
def test_blocks_are_the_same_however_a_text_comes(text: str, places: list[int]) -> None:
    whole, pieces = Blocks(), Blocks()
    expected = [*whole.add(text), whole.rest()]
    found = [block for piece in cut(text, places) for block in pieces.add(piece)]
    assert [*found, pieces.rest()] == expected
    assert "".join(expected) == text
    assert pieces.waiting == ""


def test_a_page_is_cut_into_what_can_be_shown() -> None:
    blocks = Blocks()
    assert blocks.add(PAGE) == [
        *("# A\n\n", "One two\nthree.\n\n", LIST, FENCE, "- z\n\n"),
    ]
    assert blocks.rest() == END


@given(st.text(alphabet="ab \n\u200d\U0001f469", max_size=200), st.lists(st.integers(0, 99)))
def test_words_are_whole_and_none_is_lost(text: str, places: list[int]) -> None:
    words = Words()
    given_out = [words.add(piece) for piece in cut(text, places)]
    assert "".join(given_out) + words.rest() == text


def test_a_text_without_spaces_does_not_wait_for_ever() -> None:
    assert len(Words().add("x" * 500)) == 484
