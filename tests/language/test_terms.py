"""A word has the stem that SQLite gives it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.language.terms import stem
from engramdown.language.words import word_set

SUFFIXES = sorted(
    word_set(
        "ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism "
        "iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness ed ing "
        "eed s es ies sses e ll y ement ment ent sion tion ou ate able at bl iz"
    )
)

made_up = st.builds(
    "{}{}{}".format,
    st.text("aeiouybcdlsztnrwx", max_size=7),
    st.sampled_from(["", *SUFFIXES]),
    st.sampled_from(["", *SUFFIXES]),
).filter(bool)


@pytest.fixture(name="database", scope="module")
def _database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE said USING fts5(t, tokenize='porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5vocab(said, 'row')")
    yield connection
    connection.close()


def stem_of_sqlite(database: sqlite3.Connection, word: str) -> str:
    database.execute("DELETE FROM said")
    database.execute("INSERT INTO said VALUES (?)", (word,))
    ((found,),) = database.execute("SELECT term FROM found").fetchall()
    return str(found)


@given(made_up | st.from_regex("[a-z0-9]{1,70}", fullmatch=True))
@example("eed")
@example("eeds")
@example("ies")
@example("sses")
@example("skies")
@example("a" * 65 + "ing")
def test_a_word_has_the_stem_that_sqlite_gives_it(database: sqlite3.Connection, word: str) -> None:
    assert stem(word) == stem_of_sqlite(database, word)


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("caresses", "caress", id="sses"),
        pytest.param("ponies", "poni", id="ies"),
        pytest.param("agreed", "agre", id="eed"),
        pytest.param("feed", "feed", id="eed-of-a-short-word"),
        pytest.param("hopping", "hop", id="doubled"),
        pytest.param("falling", "fall", id="doubled-l"),
        pytest.param("filing", "file", id="e-is-back"),
        pytest.param("conflated", "conflat", id="at"),
        pytest.param("sing", "sing", id="no-vowel-before"),
        pytest.param("happy", "happi", id="y"),
        pytest.param("sky", "sky", id="y-after-consonants"),
        pytest.param("adoption", "adopt", id="ion"),
        pytest.param("controll", "control", id="ll"),
        pytest.param("rate", "rate", id="short-e"),
        pytest.param("cease", "ceas", id="long-e"),
        pytest.param("is", "is", id="two-letters"),
        pytest.param("день", "день", id="other-script"),
    ],
)
def test_stems_of_some_words(one: str, other: str) -> None:
    assert stem(one) == other


@given(st.text())
def test_any_string_has_a_stem(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1
