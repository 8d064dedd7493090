"""`engramdown.language.words`: what every search leaves out or takes apart."""

from __future__ import annotations

import re

from engramdown.language.words import STOP_WORDS, UNSPACED, spaced, word_set


def test_only_scripts_without_spaces_are_spaced() -> None:
    assert spaced("use 日本 and naïve") == "use  日  本  and naïve"


def test_each_character_is_spaced_by_its_script_alone() -> None:
    every = [chr(at) for at in range(0x20000) if not 0xD800 <= at < 0xE000]
    exact = re.compile(f"[{UNSPACED}]")
    assert [each for each in every if (spaced(each) != each) != bool(exact.match(each))] == []


def test_a_table_of_words_is_read_word_by_word() -> None:
    assert word_set("to  be\nor") == {"to", "be", "or"}
    assert {"never", "the"} <= STOP_WORDS
