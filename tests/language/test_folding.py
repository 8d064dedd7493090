"""SQLite and a scan find the same words, whatever was said."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given

from engramdown.language.terms import folded, speaking, spelt, tokens
from tests.episodes.strategies import texts


@given(texts)
def test_fts5_finds_the_words_that_a_scan_finds(text: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter ascii')"
    )
    database.execute("CREATE VIRTUAL TABLE found USING fts5vocab(words, 'row')")
    database.execute("INSERT INTO words(rowid, text) VALUES (1, ?)", (folded(text),))
    found = {row[0] for row in database.execute("SELECT term FROM found")}
    database.close()
    assert found == set(tokens(text))


@given(texts)
def test_a_folded_text_is_ascii(text: str) -> None:
    assert folded(text).isascii()


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("Café", "CAFE", id="accent"),
        pytest.param("Straße", "STRASSE", id="sharp-s"),
        pytest.param("ДЕНЬ", "день", id="cyrillic"),
        pytest.param("e\u0301t\u00e9", "ete", id="both-forms"),
        pytest.param("plans", "planning", id="stem"),
    ],
)
def test_words_that_are_the_same_have_one_token(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_a_chinese_word_is_found_inside_a_run() -> None:
    assert set(tokens("引擎")) <= set(tokens("一个搜索引擎"))


def test_long_and_short_parts_are_folded_alike() -> None:
    assert tokens("é" * 100 + " é") == ["e" * 100, "e"]


@given(texts, texts)
def test_a_speaker_is_one_word_that_no_stemmer_changes(one: str, other: str) -> None:
    assert spelt(speaking(one)) == tokens(speaking(one)) == [speaking(one)]
    assert speaking(one.upper().lower()) == speaking(one.upper())
    if speaking(one) == speaking(other):
        assert one.lower().encode("utf-8", "replace") == other.lower().encode("utf-8", "replace")
