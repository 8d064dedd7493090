"""`engramdown.language.similarity` and `claims`: the same claim in other words, and its opposite.

`rewordings_tuning.tsv` and `rewordings_held_out.tsv` are pairs labelled by hand before any code
was written: label, what the pair tries, and the two texts. Nothing was tuned on the second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given

from engramdown.language.claims import LONGEST, read
from engramdown.language.similarity import (
    asks,
    differs_in_substance,
    in_full,
    is_rewording,
    signs_apart,
    similarity_of,
    turns,
)
from tests.cortex.entries import any_text
from tests.language import table
from tests.tables import every

HERE: Final = Path(__file__).parent


def pairs(name: str) -> list[tuple[bool, str, str]]:
    """Return the pairs of a corpus, each with whether they say the same."""
    lines = (HERE / f"rewordings_{name}.tsv").read_text(encoding="utf-8").strip("\n").split("\n")
    rows = [line.split("\t") for line in lines]
    return [(label == "same", a, b) for label, _, a, b in rows]


@pytest.mark.parametrize(
    "name, recall",
    [
        pytest.param("tuning", 0.9, id="tuning"),
        pytest.param("held_out", 0.85, id="held-out"),
    ],
)
def test_rewordings_are_found_and_nothing_else_is(name: str, recall: float) -> None:
    corpus = pairs(name)
    found = [same for same, a, b in corpus if is_rewording(a, b)]
    assert len(corpus) == 80
    assert sum(found) / len(found) >= 0.97
    assert sum(found) / sum(same for same, _, _ in corpus) >= recall


@every("a, b, reason", table("substance.tsv"))
def test_a_difference_in_substance_has_a_name(a: str, b: str, reason: str) -> None:
    assert differs_in_substance(a, b) == reason


@every(
    "a, b",
    [
        pytest.param("Don\u2019t use print", "don't use print", id="apostrophe"),
        pytest.param("Use a cache in CI for wheels", "For wheels use a cache in CI", id="phrases"),
        pytest.param("Read Ada's notes", "Read the notes of Ada", id="genitive"),
        pytest.param("it is", "It is!", id="stop-words-only"),
        pytest.param("???", "???", id="no-words"),
    ],
)  # fmt: skip
def test_other_words_for_one_claim(a: str, b: str) -> None:
    assert is_rewording(a, b)


@every(
    "a, b",
    [
        pytest.param("it is", "they were", id="stop-words-only"),
        pytest.param("\U0001f44d", "\U0001f44e", id="no-words"),
        pytest.param("Never push", "Never push without review", id="two-negations"),
        pytest.param("Tests run in CI", "Slow tests run in CI", id="narrower"),
        pytest.param("Review the schema first", "Review the tests first", id="other-object"),
        pytest.param("word " * 900, "other " + "word " * 900, id="too-long-to-read"),
    ],
)
def test_other_claims_in_like_words(a: str, b: str) -> None:
    assert not is_rewording(a, b)


@given(any_text, any_text)
def test_comparing_is_symmetric_and_takes_every_string(a: str, b: str) -> None:
    assert is_rewording(a, b) == is_rewording(b, a)
    assert bool(differs_in_substance(a, b)) == bool(differs_in_substance(b, a))
    assert similarity_of(a, b) == similarity_of(b, a)
    assert 0 <= similarity_of(a, b) <= 1


@given(any_text)
def test_every_text_says_the_same_as_itself(text: str) -> None:
    assert is_rewording(text, f" {text} ")
    assert differs_in_substance(text, text) == ""


def test_only_the_beginning_of_a_document_is_read() -> None:
    assert "last" not in read("word " * LONGEST + "last").every
    assert read("a b") is read("a b")


def test_similarity_is_the_share_of_words() -> None:
    assert similarity_of("Retry 3 times", "Retry 5 times") == pytest.approx(2 / 3)
    assert similarity_of("Use tabs", "Deploy on Fridays") == 0
    assert similarity_of("", "") == 0


_SIGN = "a letter or a sign"


@every(
    "a, b, why",
    [
        pytest.param("Use option a", "Use option b", _SIGN, id="letter"),
        pytest.param("Copy a to b", "Copy b to a", _SIGN, id="letters"),
        pytest.param("Pass -x", "Pass -y", _SIGN, id="options"),
        pytest.param("Below -5", "Below 5", _SIGN, id="sign-of-a-number"),
        pytest.param("At 9 am", "At 9 pm", _SIGN, id="half-day"),
        pytest.param("x ≥ 5", "x ≤ 5", _SIGN, id="operator"),
        pytest.param("React with 👍", "React with 👎", _SIGN, id="picture"),
        pytest.param("Take , as mark", "Take ; as mark", _SIGN, id="punctuation-alone"),
        pytest.param("5 - 3", "5 \u2013 3", "", id="dash"),
        pytest.param("On 2026-01-02", "On 2026-02-01", "a number (2026-01-02 / 2026-02-01)",
                     id="date"),
        pytest.param("From 1/2 to 3/4", "From 3/4 to 1/2", _SIGN, id="order-of-dates"),
        pytest.param("Read v1, write v2", "Read v2, write v1", _SIGN, id="order-of-versions"),
        pytest.param("Over 5 times", "At  least 5 times", _SIGN, id="bound"),
        pytest.param("Enable a, disable b", "Disable a, enable b", "an order", id="opposites"),
        pytest.param("Enable a, disable b", "enable a; disable b", "", id="opposites-in-order"),
        pytest.param("Ann cooks, Bob bakes", "Bob cooks, Ann bakes", "an order", id="other-parts"),
        pytest.param("Ann cooks, Bob bakes", "Bob bakes and Ann cooks", "", id="two-parts"),
        pytest.param("Ann, Bob, Cid", "Ann, Cid, Bob", "an order", id="three-parts"),
        pytest.param("Ann, Bob, Cid", "Bob, Cid", "", id="fewer-parts"),
        pytest.param("Speak Dutch and Thai", "Speak Thai and Dutch", "", id="list"),
        pytest.param("If A fails, ask Ann", "If A fails, tell Ann", "", id="other-words"),
        pytest.param("Say 'a b'", "Say 'b a'", "a quotation (a b / b a)", id="quotation"),
        pytest.param("Say `uv`", "Say uv", "", id="quoted-and-not"),
        pytest.param("Say “Uv  x”", "Say «uv x»", "", id="other-quotes"),
        pytest.param("It's Ann's", "its Anns", "", id="apostrophe"),
        pytest.param("In logs-eu", "In logs-us", "a name (eu / us)", id="part-of-a-name"),
        pytest.param("Up-to-date tests", "tests up to date", "", id="hyphens-or-not"),
        pytest.param("pip を使う", "pip を使うな", "a character (none / な)", id="character"),
    ],
)  # fmt: skip
def test_what_differs_beside_the_words_is_told(a: str, b: str, why: str) -> None:
    assert signs_apart(a, b) == signs_apart(b, a) == why


@every(
    "a, b, why",
    [
        pytest.param("He pays Ann", "She pays Ann", "a small word (he / she)", id="who"),
        pytest.param("a or b", "a and b", "a small word (none / or)", id="or"),
        pytest.param("Due by noon", "Due at noon", "a small word (at / by)", id="by"),
        pytest.param("Run tests", "Make tests", "a word (make / run)", id="doing"),
        pytest.param("The user lives in Rome", "The store lives in Rome", "a word (store / user)",
                     id="user"),
        pytest.param("The user used to smoke", "The user smokes", "what was, and what is",
                     id="used-to"),
        pytest.param("Ann approved it", "Ann approves it", "what was, and what is", id="past"),
        pytest.param("Ann kept it", "Ann keeps it", "what was, and what is", id="irregular-past"),
        pytest.param("Mock the parser", "Mock the parse", "a word (parser)", id="who-does-it"),
    ],
)  # fmt: skip
def test_what_may_turn_a_claim_is_told(a: str, b: str, why: str) -> None:
    assert turns(a, b) == turns(b, a) == why


@every(
    "a, b, asked",
    [
        pytest.param("Use a cache", "The cache is used", False, id="harmless"),
        pytest.param("Meet in Rome", "Meet at Rome", True, id="preposition"),
        pytest.param("Errors are logged", "Log errors", True, id="passive"),
        pytest.param("Feed the cat", "Feed the cats", False, id="plural"),
        pytest.param("Offer a discount", "A discount is offered", True, id="no-agent"),
        pytest.param("Seed the lawn", "Seeding the lawn", True, id="no-past"),
        pytest.param("Keep it in Rome", "It lives in Rome", True, id="one-thing-to-do"),
        pytest.param("Feed the cat", "Feed cats and dogs", True, id="more"),
        pytest.param("Feed my cat", "Feed the cat", False, id="whose-else"),
        pytest.param("Feed my cat", "Feed your cat", True, id="whose"),
        pytest.param("Mock the fast parser", "Mock the fast parsers", False, id="two-agents"),
    ],
)
def test_what_turns_nothing_may_still_be_asked_about(a: str, b: str, asked: bool) -> None:  # noqa: FBT001 - the expected answer
    assert turns(a, b) == ""
    assert asks(a, b) == asks(b, a) == asked


@given(any_text, any_text)
def test_any_two_texts_are_compared_alike_from_both_sides(a: str, b: str) -> None:
    assert signs_apart(a, b) == signs_apart(b, a)
    assert signs_apart(a, a) == ""
    assert turns(a, b) == turns(b, a)
    assert asks(a, b) == asks(b, a)
    assert turns(a, a) == ""
    assert not asks(a, a)


@every(
    "text, kind, full",
    [
        ("use pip", "never", "Never use pip"),
        ("Never use pip", "never", "Never use pip"),
        ("You may use pip", "never", "You may use pip"),
        ("Always lint", "always", "lint"),
        ("Always", "always", "Always"),
    ],
)
def test_a_heading_is_said_in_full(text: str, kind: str, full: str) -> None:
    assert in_full(text, kind) == full
