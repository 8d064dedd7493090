"""The words of turns and questions, their stems, and their forms in the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.language.terms import (
    Term,
    folded,
    indexed,
    speaking,
    spelt,
    stem,
    stems,
    term,
    tokens,
    words,
)
from engramdown.language.words import word_set
from tests.episodes.strategies import texts
from tests.tables import every

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


@every(
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


@every(
    "text, found",
    [
        pytest.param("Don't go!", ["don", "t", "go"], id="contraction"),
        pytest.param("snake_case-v2", ["snake", "case", "v2"], id="code"),
        pytest.param("CAFÉ Zu\u0308rich", ["cafe", "zurich"], id="accents"),
        pytest.param("日本語", ["日", "日本", "本", "本語", "語"], id="no-spaces"),
        pytest.param("用 x", ["用", "x"], id="one-character"),
        pytest.param("한국", ["한", "한국", "국"], id="korean"),
        pytest.param("привет мир", ["привет", "мир"], id="cyrillic"),
        pytest.param("🎉 \x00 --", [], id="none"),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_words_have_stems() -> None:
    assert stems("Planning the adoptions") == ["plan", "the", "adopt"]


@given(texts)
def test_any_text_has_words_that_are_their_own_words(text: str) -> None:
    for word in words(text):
        assert word in words(word)
        assert stems(word)


@given(texts)
def test_ascii_is_indexed_as_it_is(text: str) -> None:
    if text.isascii():
        assert indexed(text) == text


@every(
    "one, other",
    [
        pytest.param("went", "go", id="verb"),
        pytest.param("buying", "bought", id="regular-form-of-it"),
        pytest.param("mice", "mouse", id="noun"),
        pytest.param("child", "children", id="plural"),
        pytest.param("plans", "planned", id="stem"),
    ],
)
def test_forms_of_one_word_look_for_the_same(one: str, other: str) -> None:
    assert set(term(one).stems) == set(term(other).stems)


@pytest.mark.parametrize("one, other", [("leaves", "leaf"), ("life", "live"), ("felt", "fall")])
def test_other_words_do_not(one: str, other: str) -> None:
    assert set(term(one).stems).isdisjoint(term(other).stems)


def test_every_form_is_looked_for_once() -> None:
    found = term("going")
    assert len(found.words) == len(found.stems) == len(set(found.stems))
    assert tuple(stems(" ".join(found.words))) == found.stems


def test_a_word_of_asking_counts_less() -> None:
    assert term("kinds").weight < term("zebra").weight == Term((), ()).weight


@every("word", ["kinds", "discussed", "brought", "telling", "made"])
def test_words_about_a_conversation_are_worth_half(word: str) -> None:
    assert term(word).weight * 2 == term("kayak").weight == term("wrote").weight


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


@every(
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
