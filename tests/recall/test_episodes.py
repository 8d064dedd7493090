"""What was said around a hit, up to a silence."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.language.snippets import shortened
from engramdown.language.terms import tokens
from engramdown.recall.episodes import Moment, around, inner_words, lines_with, probe
from engramdown.settings import EpisodeSettings
from engramdown.transcripts.episode import Episode, write_line
from tests.episodes.strategies import texts

MINUTE = 60_000_000
WIDE = EpisodeSettings(shown=1_000)


def at(minutes: float, seq: int = 0, session: str = "a") -> Moment:
    return Moment(int(minutes * MINUTE), session, seq)


@pytest.mark.parametrize(
    "silence, kept", [(9.99, True), (10, True), (10.0000001, False), (20, False)]
)
def test_only_a_silence_that_is_longer_ends_a_conversation(
    silence: float,
    kept: bool,  # noqa: FBT001 - pytest passes it
) -> None:
    hit = at(100)
    found = around([at(100 - silence), hit, at(100 + silence)], hit, WIDE)
    assert (bool(found.before), bool(found.after)) == (kept, kept)


def test_a_silence_is_measured_between_neighbours() -> None:
    moments = [at(minute) for minute in range(0, 50, 9)]
    assert around(moments, moments[0], WIDE).after == moments[1:]


def test_a_silence_that_was_crossed_once_is_not_crossed_again() -> None:
    moments = [at(0), at(11), at(12)]
    assert around(moments, moments[0], WIDE).after == []


@pytest.mark.parametrize("minutes, kept", [(60, True), (60.0000001, False)])
def test_an_hour_is_the_end(
    minutes: float,
    kept: bool,  # noqa: FBT001 - pytest passes it
) -> None:
    moments = [at(minute) for minute in range(0, 60, 10)] + [at(minutes - 0.5), at(minutes)]
    assert (at(minutes) in around(moments, moments[0], WIDE).after) == kept


def test_fifty_a_side_are_the_end() -> None:
    moments = [at(0, seq) for seq in range(200)]
    found = around(moments, moments[100], WIDE)
    assert (found.before, found.after) == (moments[50:100], moments[101:151])


def test_five_a_side_are_shown_and_the_others_counted() -> None:
    moments = [at(seq / 10, seq) for seq in range(30)]
    found = around(moments, moments[10], EpisodeSettings())
    assert (found.before, found.after) == (moments[5:10], moments[11:16])
    assert (found.more_before, found.more_after) == (5, 14)


def test_what_has_the_same_time_is_a_neighbour() -> None:
    moments = [at(1, 1), at(1, 2), at(1, 3), at(1, 3, "b")]
    found = around(moments, moments[1], WIDE)
    assert (found.before, found.after) == ([moments[0]], moments[2:])


def test_a_session_is_no_border() -> None:
    moments = [at(1, 8, "a"), at(2, 1, "b")]
    assert around(moments, moments[1], WIDE).before == [moments[0]]


def test_first_and_last_have_one_side_and_one_alone_none() -> None:
    moments = [at(1), at(2)]
    assert around(moments, moments[0], WIDE).before == []
    assert around(moments, moments[1], WIDE).after == []
    assert around([], at(1), WIDE) == ([], [], 0, 0)


@given(st.lists(st.builds(at, st.integers(0, 200), st.integers(0, 9)), unique=True))
def test_surroundings_are_in_order_and_without_the_hit(moments: Sequence[Moment]) -> None:
    ordered = sorted(moments)
    for hit in ordered:
        found = around(ordered, hit, EpisodeSettings(shown=3))
        both = [*found.before, hit, *found.after]
        assert both == sorted(both)
        assert len(set(both)) == len(both)


@given(texts, st.integers(0, 50))
def test_a_text_that_is_cut_is_still_a_text_and_never_nothing(text: str, size: int) -> None:
    kept, truncated = shortened(text, size)
    assert text.startswith(kept)
    assert truncated == (kept != text)
    assert kept or not text
    assert len(kept) <= 1 or len(kept.encode("utf-8", "surrogatepass")) <= size


# ---- a string is found exactly where it stands ----


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
