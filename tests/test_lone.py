"""Long tokens that stand alone are found, and what only looks like one is left alone."""

from __future__ import annotations

from typing import Final

import pytest

from engramdown.secrets.redaction import find_random
from tests.corpora.pieces import ALNUM, BASE64, chars, key_lines
from tests.tables import every

TOKEN: Final = chars("credentials/token", ALNUM, 40)


@every("text", ["{}", "try {}.", "'{}'", "id={}", "[{}]", "{}, then"])
def test_a_random_token_stands_alone(text: str) -> None:
    text = text.replace("{}", TOKEN)
    assert [text[start:end] for start, end, _ in find_random(text)] == [TOKEN]


@every(
    "text",
    [
        pytest.param("https://example.org/{}", id="in-a-url"),
        pytest.param("data:image/png;base64,{}", id="data"),
        pytest.param("sha256={}", id="digest"),
        pytest.param("ssh-rsa:{}", id="ssh"),
        pytest.param("iVBOR{}", id="picture"),
        pytest.param("a/{}", id="in-a-path"),
        pytest.param("{}.png", id="file"),
        pytest.param("-----BEGIN CERTIFICATE-----\n{}\n", id="certificate"),
        pytest.param("{}\n" + chars("credentials/line", BASE64, 64) + "\n", id="first-of-many"),
        pytest.param(chars("credentials/line", BASE64, 64) + "\n  {}\n", id="last-of-many"),
        pytest.param("_a_b_c_d_e_f_g_h_i_j{}", id="separators"),
    ],
)
def test_a_token_in_a_place_of_its_own_is_left_alone(text: str) -> None:
    assert list(find_random(text.replace("{}", TOKEN))) == []


@pytest.mark.parametrize("before", ["\u3000", "\u00e9 ", "? "])
def test_a_token_behind_what_is_no_ascii_is_found(before: str) -> None:
    text = f"{before}{TOKEN} {before}{TOKEN}"
    assert [text[start:end] for start, end, _ in find_random(text)] == [TOKEN, TOKEN]


def test_a_token_without_a_mixed_piece_is_left_alone() -> None:
    assert list(find_random("aB3cD4eF5-" * 3 + "gH6iJ7kL8-mN")) == []


def test_a_token_behind_a_certificate_is_found() -> None:
    text = f"-----BEGIN CERTIFICATE-----\n{key_lines('x', 2)}\n-----END CERTIFICATE-----\n\n{TOKEN}"
    assert [text[start:end] for start, end, _ in find_random(text)] == [TOKEN]
