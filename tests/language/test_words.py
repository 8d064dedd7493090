"""`engramdown.language.words`: words that are left out or taken apart, and forms of one word."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.language.words import STOP_WORDS, UNSPACED, same_word, spaced, word_key, word_set
from tests.tables import every


def test_only_scripts_without_spaces_are_spaced() -> None:
    assert spaced("use 日本 and naïve") == "use  日  本  and naïve"


def test_each_character_is_spaced_by_its_script_alone() -> None:
    every = [chr(at) for at in range(0x20000) if not 0xD800 <= at < 0xE000]
    exact = re.compile(f"[{UNSPACED}]")
    assert [each for each in every if (spaced(each) != each) != bool(exact.match(each))] == []


def test_a_table_of_words_is_read_word_by_word() -> None:
    assert word_set("to  be\nor") == {"to", "be", "or"}
    assert {"never", "the"} <= STOP_WORDS


words = st.from_regex(r"[a-z]{1,9}(s|es|ed|ing|y|ies|ation)?", fullmatch=True) | st.text()


@every(
    "one, other",
    [
        pytest.param("test", "tests", id="plural"),
        pytest.param("deploy", "deployment", id="noun"),
        pytest.param("write", "writing", id="e-ing"),
        pytest.param("cache", "cached", id="e-ed"),
        pytest.param("study", "studies", id="y-ies"),
        pytest.param("run", "running", id="doubled"),
        pytest.param("committed", "commit", id="doubled-long"),
        pytest.param("format", "formation", id="ation"),
        pytest.param("recieve", "receive", id="swapped-letters"),
        pytest.param("seperate", "separate", id="wrong-letter"),
        pytest.param("occured", "occurred", id="double-letter"),
        pytest.param("日", "日", id="equal"),
    ],
)
def test_forms_of_one_word_are_the_same(one: str, other: str) -> None:
    assert same_word(one, other)
    assert word_key(one) == word_key(other)


@every(
    "one, other",
    [
        pytest.param("strict", "string", id="same-start"),
        pytest.param("public", "publish", id="longer-same-start"),
        pytest.param("pip", "pipx", id="name-and-longer-name"),
        pytest.param("http", "https", id="no-plural"),
        pytest.param("stateful", "stateless", id="ful-less"),
        pytest.param("car", "care", id="only-an-e"),
        pytest.param("ascending", "descending", id="other-first-letter"),
        pytest.param("import", "important", id="ant"),
        pytest.param("session", "sessile", id="no-slip-at-the-end"),
        pytest.param("main", "train", id="no-common-start"),
        pytest.param("in", "inn", id="too-short"),
        pytest.param("contain", "continue", id="same-consonants"),
        pytest.param("pabilec", "pubalic", id="too-many-wrong-letters"),
        pytest.param("contest", "content", id="one-letter-off"),
    ],
)
def test_other_words_are_not_the_same(one: str, other: str) -> None:
    assert not same_word(one, other)


@given(words, words)
@example("aaas", "aaaa")
def test_same_word_is_symmetric_and_keeps_the_key(one: str, other: str) -> None:
    assert same_word(one, other) == same_word(other, one)
    if same_word(one, other):
        assert word_key(one) == word_key(other)


@every(
    "one, other, same",
    [
        pytest.param("asyncronous", "asynchronous", True, id="letter-missing"),
        pytest.param("enviornment", "environment", True, id="letters-in-places-of-each-other"),
        pytest.param("immorality", "immortality", False, id="two-words"),
        pytest.param("desserts", "deserts", False, id="two-words-in-the-plural"),
        pytest.param("content", "contentt", True, id="short"),
    ],
)
def test_a_slip_of_the_pen_is_no_other_word(one: str, other: str, same: bool) -> None:  # noqa: FBT001 - the expected answer
    assert same_word(one, other) == same_word(other, one) == same
