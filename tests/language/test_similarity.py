"""`engramdown.language.similarity`: what two texts show besides words."""

from __future__ import annotations

import pytest
from hypothesis import given

from engramdown.language.similarity import signs_apart
from tests.cortex.entries import any_text

_SIGN = "a letter or a sign"


@pytest.mark.parametrize(
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


@given(any_text, any_text)
def test_any_two_texts_are_compared_alike_from_both_sides(a: str, b: str) -> None:
    assert signs_apart(a, b) == signs_apart(b, a)
    assert signs_apart(a, a) == ""
