"""`engramdown.words`: what every search leaves out or takes apart."""

from __future__ import annotations

from engramdown.words import STOP_WORDS, spaced, word_set


def test_only_scripts_without_spaces_are_spaced() -> None:
    assert spaced("use 日本 and naïve") == "use  日  本  and naïve"


def test_a_table_of_words_is_read_word_by_word() -> None:
    assert word_set("to  be\nor") == {"to", "be", "or"}
    assert {"never", "the"} <= STOP_WORDS
