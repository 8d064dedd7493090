"""The estimate of tokens."""

from __future__ import annotations

import math
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.tokens import estimate_tokens
from tests import laws, strategies
from tests.tables import every

CJK: Final = (
    *((0x1100, 0x11FF), (0x2E80, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF)),
    *((0xF900, 0xFAFF), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF)),
)


@every(
    "text, tokens",
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("a", 1, id="one"),
        pytest.param("abcd", 1, id="four"),
        pytest.param("abcde", 2, id="five"),
        pytest.param("é", 1, id="another-letter"),
        pytest.param("éé", 1, id="two-other-letters"),
        pytest.param("Москва", 3, id="another-script"),
        pytest.param("记忆", 3, id="han"),
        pytest.param("かな", 3, id="kana"),
        pytest.param("기억", 3, id="hangul"),
        pytest.param("。「", 3, id="wide-punctuation"),
        pytest.param("abc记", 3, id="mixed-rounds-up-once"),
        pytest.param("\U0001f600", 2, id="emoji"),
        pytest.param("\U00020000", 2, id="a-rare-han-character"),
        pytest.param("\udc80", 1, id="half-a-character"),
    ],
)
def test_an_estimate(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def weight(char: str) -> float:
    """Return what a character costs, as docs/decisions/2026-11-library.md says."""
    if char.isascii():
        return 0.25
    if ord(char) > 0xFFFF:
        return 2
    return 1.5 if any(first <= ord(char) <= last for first, last in CJK) else 0.5


@given(strategies.any_text | st.text("a \n记か기é。\uff21Ж\U0001f600\ud83d\ude00\u10ff\u4dc0"))
def test_each_character_has_its_weight(text: str) -> None:
    assert estimate_tokens(text) == math.ceil(sum(map(weight, text)))


def test_each_character_of_the_basic_plane_has_its_weight() -> None:
    every = [chr(at) for at in range(0x10000) if not 0xD800 <= at < 0xE000]
    assert [each for each in every if estimate_tokens(each * 4) != weight(each) * 4] == []


@given(st.text(min_size=1))
def test_what_says_anything_costs_something(text: str) -> None:
    assert estimate_tokens(text) >= 1


@given(strategies.any_text, strategies.any_text)
@example("abc", "d")
@example("记", "a")
@example("\ud83d", "\ude00")
def test_a_whole_costs_no_more_than_its_parts(first: str, second: str) -> None:
    laws.joining_costs_no_more(first, second)
