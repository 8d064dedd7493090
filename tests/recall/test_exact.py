r"""A string is found exactly where it stands."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.language.terms import tokens
from engramdown.recall.episodes import inner_words, lines_with, probe
from engramdown.transcripts.episode import Episode, write_line
from tests.episodes.strategies import texts

_near = st.text('aAkK\u212asS\u017fßẞ\u0130i\u0307ﬁfF "\\/%_\n😀é\ud800', max_size=8)


def block(given_texts: list[str], *, escaped: bool = False) -> bytes:
    lines = [
        write_line(Episode(seq=seq, ts="2026-02-27T10:15:00.000000Z", id="1", role="user", text=t))
        for seq, t in enumerate(given_texts)
    ]
    if escaped:
        lines = [json.dumps(json.loads(line)).encode() + b"\n" for line in lines]
    return b"".join(lines)


@given(st.lists(_near | texts, max_size=5), _near | texts, st.booleans())
@example(["\u212a"], "k", False)
@example(["a/b"], "A/B", True)
@example(["STRASSE", "straße"], "ß", False)
@example(["plain", 'qu"ote'], '"', False)
def test_a_line_is_found_exactly_if_its_text_holds_the_string(
    given_texts: list[str],
    needle: str,
    escaped: bool,  # noqa: FBT001 - hypothesis draws it
) -> None:
    found = [line.seq for line in lines_with(needle, block(given_texts, escaped=escaped))]
    held = [seq for seq, t in enumerate(given_texts) if needle.casefold() in t.casefold()]
    assert found == held


def test_a_slash_that_another_program_escaped_is_found() -> None:
    assert [line.seq for line in lines_with("a/b", block(["a/b"]).replace(b"a/b", b"a\\/b"))] == [0]


def test_what_stands_in_a_key_or_a_name_is_not_said() -> None:
    assert list(lines_with("role", block(["one", "two"]))) == []


def test_the_last_line_waits_for_its_end() -> None:
    whole = block(["needle one", "needle two"])
    assert [line.seq for line in lines_with("needle", whole[:-1])] == [0]


@pytest.mark.parametrize(
    "needle, sign", [('say "hi there', b"hi there"), ("\n", b""), ("Größe", b"sse"), ("%_", b"%_")]
)
def test_the_sign_of_a_string_is_what_its_bytes_must_hold(needle: str, sign: bytes) -> None:
    assert probe(needle) == sign


@given(_near | texts, _near | texts, _near | texts)
def test_an_inner_word_is_a_word_of_every_text_that_holds_the_string(
    before: str, needle: str, after: str
) -> None:
    for word in inner_words(needle):
        assert set(tokens(word)) <= set(tokens(before + needle + after))
