"""What a model said of a session is read whole, newest first, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.card import (
    Card,
    ModelCard,
    filled_in,
    read_filled,
    taken_back,
    without_filled,
    write_filled,
)
from engramdown.transcripts.episode import Episode

SAID = ModelCard(
    "2026-03-01", "m", 2, "T", "one", "more", ("a", "b"), ("ci", "clock"), "All\nof it"
)


@given(st.builds(ModelCard, st.text(), st.text(), st.integers(), st.text(), st.text(), st.text()))
def test_what_is_read_is_what_was_written(said: ModelCard) -> None:
    line = write_filled(said)
    assert line.count(b"\n") == 1
    assert read_filled(line) == said


@given(st.binary(), st.binary())
def test_any_bytes_may_stand_around_it(before: bytes, after: bytes) -> None:
    data = before + b"\n" + write_filled(SAID) + after
    assert read_filled(data) == SAID
    assert without_filled(data) == before + b"\n" + after


def test_the_newest_counts() -> None:
    data = write_filled(SAID) + write_filled(SAID._replace(title="new")) + b'{"kind":"card","ti'
    assert read_filled(data) == SAID._replace(title="new")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([], id="no-object"),
        pytest.param({"kind": "gist", "title": "T"}, id="another-kind"),
        pytest.param({"kind": "card", "title": 5}, id="no-text"),
        pytest.param({"kind": "card", "marks": "many"}, id="no-number"),
        pytest.param({"kind": "card", "decisions": "a"}, id="no-list"),
        pytest.param({"kind": "card", "tags": "a"}, id="no-list-of-tags"),
        pytest.param({"kind": "card", "detailed": 5}, id="no-details"),
    ],
)
def test_what_has_another_form_is_passed_over(value: object) -> None:
    assert read_filled(json.dumps(value).encode()) is None
    assert without_filled(json.dumps(value).encode()) == json.dumps(value).encode()


def test_what_is_no_text_among_decisions_is_left_out() -> None:
    line = json.dumps({"kind": "card", "decisions": ["a", 5]}).encode()
    assert read_filled(line) == ModelCard("", "", decisions=("a",))
    assert read_filled(b"[" * 100_000) is None


def test_a_card_is_filled_in_where_the_model_said_something() -> None:
    card = Card(session="s", title="Why", one_liner="Why?", paragraph="Why? Because.")
    start = Episode(seq=0, ts="", id="", role="event", event="start")
    filled = filled_in(card, SAID._replace(one_liner=""), [start])
    assert (filled.title, filled.one_liner, filled.paragraph) == ("T", "Why?", "more")
    assert (filled.decisions, filled.filled_by) == (("a", "b"), "m")
    assert (filled.tags, filled.detailed) == (("ci", "clock"), "All\nof it")
    # A line that an older version wrote says nothing of them: what is computed stays.
    older = filled_in(Card(session="s", tags=("pond",)), SAID._replace(tags=(), detailed=""), [])
    assert older.tags == ("pond",)
    assert filled_in(card, SAID, []).title == "T"


def test_a_title_that_was_given_stays() -> None:
    start = Episode(seq=0, ts="", id="", role="event", event="start", more={"title": "Mine"})
    assert filled_in(Card(session="s", title="Mine"), SAID, [start]).title == "Mine"


def test_what_was_taken_back_is_counted() -> None:
    events = ["start", "exclude", "include", "redact", "end"]
    lines = [Episode(seq=0, ts="", id="", role="event", event=each) for each in events]
    assert taken_back(lines) == 3
