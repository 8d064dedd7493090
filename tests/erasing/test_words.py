"""Words are found in every writing, and nothing else is taken for them."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.erasure import GONE, PIECE, Words

TEXT = 'Die Türöffnung von <Haus 7> ist "4711-blau" — nie & nimmer\nweitersagen'

WRITINGS: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "wrapped": lambda text: text.replace(" ", "\n  > "),
    "with CRLF": lambda text: text.replace(" ", "\r\n"),
    "in capitals": str.upper,
    "JSON": json.dumps,
    "JSON with letters": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"said": text})),
    "JSON in JSON in JSON": lambda text: json.dumps(json.dumps(json.dumps(text))),
    "percent": quote,
    "a form": quote_plus,
    "HTML": html.escape,
    "percent in JSON": lambda text: json.dumps(quote(text)),
    "with soft hyphens": "\xad".join,
}


@pytest.mark.parametrize("writing", WRITINGS)
def test_a_text_is_found_and_cut_in_every_writing(writing: str) -> None:
    words = Words([TEXT])
    said = f"Before. {WRITINGS[writing](TEXT)} After."
    assert words.holds(said)
    left = words.cut(said)
    assert not words.holds(left)
    assert left.startswith("Before. ")
    assert left.endswith(" After.")
    assert GONE in left
    masked = words.mask(said.encode())
    assert len(masked) == len(said.encode())
    assert not words.holds(masked.decode())


@given(st.integers(0, len(TEXT) - PIECE), st.sampled_from(sorted(WRITINGS)))
def test_every_piece_of_twelve_characters_is_found(at: int, writing: str) -> None:
    piece = TEXT.replace("\n", " ")[at : at + PIECE]
    assert Words([TEXT]).holds(f"zz {WRITINGS[writing](piece)} zz")


@given(st.text(max_size=200))
def test_a_text_without_a_piece_is_left_as_it_is(text: str) -> None:
    words = Words(["qqqq-wwww-eeee-rrrr-7777"])
    assert words.cut(text) == text
    assert words.mask(text.encode("utf-8", "surrogateescape")) == text.encode()


def test_a_row_of_dashes_is_nobodys_words() -> None:
    words = Words(["a ----------------------- b c d e f"])
    assert not words.holds("x\n-------------------------\ny")


def test_a_short_text_is_found_as_words_of_its_own() -> None:
    words = Words(["PIN 4711"])
    assert words.holds("my pin 4711.")
    assert not words.holds("spin 47110")
    assert not Words(["uv"]).holds("use uv here")
    assert Words(["uv"]).is_said("UV")


def test_most_of_a_text_says_it() -> None:
    words = Words(["The door code of the annex is 4417-teal"])
    assert words.is_like("the door code of the annex is 4417-teal!")
    assert not words.is_like("The door code of the annex is on a note")
    assert words.is_whole("They say the door code of the annex is 4417-teal, so come in")
    assert not words.is_whole("The door code is nobody's business")


def test_only_whole_texts_count_where_that_is_asked_for() -> None:
    words = Words(["Run the linter before every push"], whole=True)
    assert words.holds("always run the linter\nbefore every push")
    assert not words.holds("run the linter before lunch")


def test_digests_are_found_as_they_are() -> None:
    words = Words([], ["0123456789abcdef"])
    assert words.cut('"sha": "0123456789abcdef"') == f'"sha": "{GONE}"'
