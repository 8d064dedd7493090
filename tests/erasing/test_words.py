"""Words are found in every writing, and nothing else is taken for them."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, quote_plus

from hypothesis import given
from hypothesis import strategies as st

from engramdown.storage.erasure import GONE, PIECE, Words
from tests.tables import every

TEXT = 'Die Türöffnung von <Haus 7> ist "4711-blau" — nie & nimmer\nweitersagen'
HALF: Final = len(TEXT) // 2

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


@every("writing", WRITINGS)
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
    said = f"zz {WRITINGS[writing](piece)} zz"
    assert Words([TEXT], pieces=True).holds(said)
    assert Words([TEXT]).shares(said)
    assert not Words([TEXT]).holds(said)
    assert Words([TEXT]).cut(said) == said
    assert Words([TEXT]).mask(said.encode()) == said.encode()


@given(st.integers(0, len(TEXT) - HALF), st.sampled_from(sorted(WRITINGS)), st.booleans())
def test_every_half_tells_the_text(at: int, writing: str, alone: bool) -> None:  # noqa: FBT001 - drawn
    half = WRITINGS[writing](TEXT.replace("\n", " ")[at : at + HALF])
    said = half if alone else f"zz {half} zz"
    words = Words([TEXT])
    assert words.holds(said)
    assert not words.holds(words.cut(said))
    assert words.shared_lines(said) == []


@every(
    "text, said, goes",
    [
        ("The staging box is Heron-41 in Rotterdam", "reset the staging box", False),
        ("The staging box is Heron-41 in Rotterdam", "the staging box is Heron-41, then", True),
        ("The staging box is Heron-41 in Rotterdam", "box is Heron-41 in Rotterdam", True),
        # As much as half of it, in two pieces with other words between.
        ("The staging box is Heron-41 in Rotterdam", "the staging bus, Heron-41 in Rome", False),
        # Most of it, one word in the middle said otherwise.
        (f"{'Red ' * 12}x {'blue ' * 12}", f"{'red ' * 12}y {'blue ' * 12}", True),
        # Of a short one all of it.
        ("The PIN is 4711-blue", "the pin is 4711-red", False),
        ("The PIN is 4711-blue", "my (the pin is\n  4711-BLUE)", True),
        ("The PIN of it is 4711-b", "the pin of it is 4711-", False),
        ("/etc/hosts holds 10.0.0.1 #", "> /etc/hosts holds 10.0.0.1 #\n", True),
    ],
)
def test_half_of_a_text_and_all_of_a_short_one_tell_it(text: str, said: str, goes: bool) -> None:  # noqa: FBT001 - a column
    words = Words([text])
    assert words.holds(said) is goes
    assert (words.cut(said) == said) is not goes


def test_a_run_that_two_texts_share_counts_for_each() -> None:
    long = "The staging box is " + "one of very many boxes " * 4
    short = "the staging box is ours, all"
    for texts in ([long, short], [short, long]):
        assert Words(texts).holds("say that the staging box is new")


def test_the_lines_that_share_less_are_known_by_their_numbers() -> None:
    words = Words(["The staging box is Heron-41 in Rotterdam"])
    said = "one\nthe staging\nbox\n\nThe staging box is Heron-41\nlater: the Staging box\n"
    assert words.shared_lines(said) == [2, 3, 6]
    assert words.shared_lines("nothing") == []
    assert words.shared_lines(said, untouched=True) == [2, 3, 5, 6]
    assert Words(["The staging box is Heron-41"], pieces=True).shared_lines(said) == []


def test_characters_that_only_look_otherwise_count_as_they_were_written() -> None:
    text = "Ein \xad Geheimnis … über Größe und Maß: neun ½"
    half = len(" ".join(text.split())) // 2
    for said in (text, text[:half], text[-half:], f"x {text[5 : 5 + half + 3]} y"):
        assert Words([text]).holds(said), said


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


def test_most_of_a_text_says_it() -> None:
    words = Words(["The door code of the annex is 4417-teal"])
    assert words.is_like("the door code of the annex is 4417-teal!")
    assert not words.is_like("The door code of the annex is on a note")
    assert words.is_whole("They say the door code of the annex is 4417-teal, so come in")
    assert not words.is_whole("The door code is nobody's business")


def test_digests_are_found_as_they_are() -> None:
    words = Words([], ["0123456789abcdef"])
    assert words.cut('"sha": "0123456789abcdef"') == f'"sha": "{GONE}"'
