"""A snippet shows why something was found, and cuts no character in two."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.language.snippets import LONGEST, find, shortened, snippet, where
from tests.episodes.strategies import texts
from tests.tables import every

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAG = "\U0001f1e9\U0001f1ea"
THUMB = "\U0001f44d\U0001f3fd"


@given(texts, texts)
def test_what_is_found_is_what_is_there(text: str, needle: str) -> None:
    place = find(text, needle)
    assert (place is not None) == (needle.casefold() in text.casefold())
    if place is not None:
        assert needle.casefold() in text[place[0] : place[1]].casefold()


@every(
    "text, needle, piece",
    [
        ("die Straße hier", "STRASSE", "Straße"),
        ("die Straße hier", "sse h", "ße h"),
        ("İstanbul", "i\u0307stan", "İstan"),
        ("ﬁne", "f", "ﬁ"),
        ("100 % sure_", "% SURE_", "% sure_"),
        ("ßß", "s", "ß"),
    ],
)
def test_folding_of_capitals_keeps_the_place(text: str, needle: str, piece: str) -> None:
    place = find(text, needle)
    assert place is not None
    assert text[place[0] : place[1]] == piece


@given(texts.filter(bool), st.integers(0, 700), st.integers(0, 700))
def test_the_match_is_in_the_snippet(needle: str, before: int, after: int) -> None:
    text = "lorem ipsum " * (before // 12) + needle + " dolor" * (after // 6)
    place = find(text, needle)
    assert place is not None
    assert text[slice(*place)] in snippet(text, *place)


def test_a_match_at_character_600_is_shown_with_what_is_around_it() -> None:
    text = "word " * 120 + "needle" + " more" * 120
    piece = snippet(text, 600, 606)
    assert "word needle more" in piece
    assert piece.startswith("…word")
    assert piece.endswith("…")
    assert len(piece) <= LONGEST + 2


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("short", 0, 2) == "short"


@every("sign", [FAMILY, FLAG, THUMB, "e\u0301\u0323", "\r\n", "\u2764\ufe0f"])
@every("shift", range(12))
def test_what_is_one_character_to_a_person_is_never_cut(sign: str, shift: int) -> None:
    text = "x" * shift + sign * 300 + "needle" + sign * 300
    place = find(text, "needle")
    assert place is not None
    piece = snippet(text, *place).strip("…").removeprefix("x" * shift)
    left, _, right = piece.partition("needle")
    assert left == sign * (len(left) // len(sign))
    assert right == sign * (len(right) // len(sign))
    assert left
    assert right


@given(texts)
def test_a_snippet_begins_no_sooner_than_a_character(text: str) -> None:
    long = text * (LONGEST // max(len(text), 1) + 2)
    piece = snippet(long, len(long) // 2, len(long) // 2).removeprefix("…")
    whole = long.startswith(piece[:1]) or unicodedata.category(piece[0])[0] != "M"
    assert whole


def test_the_place_is_where_the_most_words_stand_together() -> None:
    text = "the boat " + "filler " * 60 + "a boat under a blue sail " + "filler " * 60 + "sail"
    start, end = where(text, frozenset({"boat", "blue", "sail"}))
    assert text[start:end] == "boat under a blue sail"
    assert where(text, frozenset({"nothing"})) == (0, 0)


@pytest.mark.parametrize("size", [LONGEST // 2 + 1, 100_000])
def test_a_word_may_be_longer_than_what_is_shown(size: int) -> None:
    word = "9" * size
    text = f"the key {word} was turned down, and so were " + "filler " * LONGEST
    start, end = where(text, frozenset({word}))
    assert text[start:end] == word[: LONGEST // 2]
    assert len(snippet(text, start, end)) <= LONGEST + 2


@pytest.mark.slow
def test_a_huge_text_takes_no_long_time() -> None:
    text = "sail " * 200_000
    assert len(snippet(text, *where(text, frozenset({"sail"})))) <= LONGEST + 2
    assert len(snippet("\U0001f1e9" * 100_000, 50_000, 50_001)) <= LONGEST + 3


def test_what_is_too_long_is_cut_between_characters() -> None:
    assert shortened("na\u00efve", 3) == ("na", True)
    assert shortened("na\u00efve", 0) == ("n", True)
    assert shortened("na\u00efve", 9) == ("na\u00efve", False)
