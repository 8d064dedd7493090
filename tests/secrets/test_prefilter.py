"""A search that looks at likely places only finds what one at every place finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.secrets import assignments, prose
from engramdown.secrets.prefilter import BEFORE, LikelyPattern, Reading, runs, small


def _words(text: str) -> list[str]:
    return text.split()


NAMES = _words("""
password passwd pwd pass pw passphrase passcode secret token credentials key api_key auth-key
encryption_key private key cookie salt session signature bearer dsn identified by Key Salt _b64 _2
""")
SIGNS = _words("""
: = := => -> ( , " ' ` [ ] \\ < > / -- & ; is was set to at the my and user
""")
BLANKS = [" ", "  ", "\t", "\n", "\u3000", " " * 19]
OTHERS = [
    "\u0130",
    "\u0131",
    "\u017f",
    "\u212a",
    "\u00df",
    "\u6f22",
    "ann",
    "a8Kq0Zw2",
    "log in as",
]
PIECES = [*NAMES, *map(str.upper, NAMES), *SIGNS, *BLANKS, *OTHERS]


@pytest.mark.parametrize("pattern", [*assignments._PATTERNS, *prose._PATTERNS])
@given(text=st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
@example(text="my pa\u017f\u017fword is aardvark, and TO\u212aEN: a8Kq0Zw2")
@example(text="x-api key='a8Kq0Zw2'; private_keySalt = a8Kq0Zw2")
def test_a_search_finds_what_the_pattern_alone_finds(pattern: LikelyPattern, text: str) -> None:
    found = [match.span() for match in pattern.finditer(text, small(text))]
    assert found == [match.span() for match in re.finditer(pattern.pattern, text)]


@given(
    text=st.text(
        st.sampled_from([chr(code) for code in range(0x250)] + ["\u1e9e", "\u212a", "\u6f22"])
    )
)
def test_in_small_letters_each_is_at_its_place(text: str) -> None:
    assert [*map(small, text)] == [*small(text)]
    assert len(small(text)) == len(text)


def test_nothing_longer_stands_before_a_name() -> None:
    assert len("encryption ") <= BEFORE


@given(
    text=st.text(
        st.sampled_from(["a", "Z", "0", "_", "-", " ", "\n", "/", "\u00e9", "\u6f22", "\udc80"])
    ),
    least=st.integers(1, 6),
)
@example(text="aaa aaaa", least=4)
def test_no_run_is_missed(text: str, least: int) -> None:
    found = [text[start:end] for start, end in runs(text, "_", least)]
    assert found == re.findall(rf"[A-Za-z0-9_\u0080-\U0010ffff]{{{least},}}", text)


def test_what_latin_does_not_have_may_be_a_question_mark() -> None:
    assert [*runs("ab?d e", "", 4)] == [(0, 4)]


def test_a_reading_without_the_spaces_at_its_ends_knows_where_it_stands() -> None:
    reading = Reading("  plum ").stripped()
    assert reading.text == "plum"
    assert [list(each) for each in reading.places] == [[2, 3, 4, 5], [3, 4, 5, 6]]
