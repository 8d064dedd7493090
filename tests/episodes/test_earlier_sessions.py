"""Earlier sessions: the older, the shorter; silences are those between real sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engramdown.episodes.card import Card, compute
from engramdown.episodes.earlier_sessions import (
    MESSAGES,
    SESSIONS,
    EarlierSession,
    earlier,
    eligible,
    gap_before,
    shortened,
    summarized,
)
from engramdown.episodes.memory import EpisodicMemory
from engramdown.transcripts.episode import Episode
from engramdown.transcripts.sessions import SessionInfo
from tests.tables import every


def at(day: int, hour: int = 0, minute: int = 0) -> str:
    return f"2026-02-{day:02}T{hour:02}:{minute:02}:00.000000Z"


def span(
    name: str, day: int, hour: int = 0, *, parent: str = "", is_open: bool = False
) -> SessionInfo:
    last = at(day, hour, 30)
    return lasting(name, at(day, hour), last, parent=parent, is_open=is_open)


def lasting(
    name: str, started: str, last: str, *, parent: str = "", is_open: bool = False
) -> SessionInfo:
    ended = "" if is_open else last
    return SessionInfo(
        id=name, started=started, last=last, ended=ended, parent=parent, lines=1, size=1
    )


def line(seq: int, role: Any, text: str, **said: Any) -> Episode:  # noqa: ANN401 - any field
    return Episode(seq=seq, ts=at(1), id="x", role=role, text=text, **said)


TALK = [
    line(1, "user", "Why is CI red? It was green."),
    line(2, "tool_call", "pytest"),
    line(3, "assistant", "The clock\nis   wrong."),
]


def told(rank: int, talk: list[Episode] | None = None, card: Card | None = None) -> EarlierSession:
    lines = TALK if talk is None else talk
    found = summarized(span("s", 27, 10), card or compute("s", lines), lines, rank)
    assert found is not None
    return found


# ---- which ----


def test_sessions_come_newest_first() -> None:
    spans = [span("a", 1), span("c", 3), span("b", 2)]
    assert [each.id for each in eligible(spans)] == ["c", "b", "a"]


@pytest.mark.parametrize(
    "spans",
    [
        pytest.param([span("a", 1, is_open=True)], id="open"),
        pytest.param([span("a", 1, parent="b")], id="begun-by-another"),
        pytest.param([span("a", 20)], id="ended-later"),
    ],
)
def test_what_is_not_over_or_begun_by_another_is_left_out(spans: list[SessionInfo]) -> None:
    assert eligible(spans, before=at(10)) == []


# ---- silences ----


@every(
    "end, start, gap",
    [
        pytest.param(at(1), at(1, 0, 29), "", id="less-than-half-an-hour"),
        pytest.param(at(1), at(1, 0, 30), "30 minutes later", id="half-an-hour"),
        pytest.param(at(1), at(1, 1, 0), "1 hour later", id="an-hour"),
        pytest.param(at(1), at(1, 4, 20), "4 hours later", id="hours"),
        pytest.param(at(1), at(1, 23, 20), "23 hours later", id="not-quite-a-day"),
        pytest.param(at(1), at(1, 23, 50), "1 day later", id="a-day"),
        pytest.param(at(1), at(4, 1), "3 days later", id="days"),
        pytest.param(at(2), at(1), "", id="at-the-same-time"),
    ],
)
def test_a_silence_is_named(end: str, start: str, gap: str) -> None:
    before = lasting("a", at(1), end)
    after = lasting("b", start, start)
    assert gap_before(after, [before, after]) == gap


def test_the_first_session_has_no_silence_before_it() -> None:
    assert gap_before(span("a", 1), [span("a", 1), span("b", 2)]) == ""


def test_a_silence_ends_with_the_last_of_those_before() -> None:
    long, short = lasting("a", at(1), at(3)), span("b", 1, 1)
    assert gap_before(span("c", 4), [long, short, span("c", 4)]) == "1 day later"


# ---- grades ----


def test_the_newest_is_an_excerpt_of_what_was_said() -> None:
    assert told(0) == EarlierSession(
        session="s",
        started="2026-02-27 10:00 UTC",
        messages=(("user", "Why is CI red? It was green."), ("assistant", "The clock is wrong.")),
        line="Why is CI red?",
    )


def test_an_excerpt_is_the_end_of_a_long_talk_and_has_a_title() -> None:
    talk = [line(seq, "user", f"Line {seq}", name="Ann\nB") for seq in range(80)]
    found = told(0, talk)
    assert len(found.messages) == MESSAGES
    assert found.messages[-1] == ("Ann B", "Line 79")
    assert found.title == "Line 0"


def test_messages_are_cut_between_code_points() -> None:
    talk = [line(1, "user", "ü\n" + "\U0001f469\u200d\U0001f467" * 200)]
    ((_, text),) = told(0, talk).messages
    assert len(text) == 200
    assert text.encode().decode() == text
    assert "\n" not in text


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_next_three_are_a_paragraph(rank: int) -> None:
    found = told(rank)
    assert (found.title, found.text, found.messages) == (
        "",
        "Why is CI red? It was green. … The clock is wrong.",
        (),
    )


def test_the_older_are_one_line() -> None:
    assert told(4).text == "Why is CI red?"
    assert told(4, card=Card(session="s", title="Mine")).text == "Mine"


def test_a_title_is_shown_unless_the_rest_begins_with_it() -> None:
    card = Card(session="s", title="Mending CI", one_liner="Why?", paragraph="Two\nlines.")
    assert (told(1, card=card).title, told(1, card=card).text) == ("Mending CI", "Two lines.")
    assert told(4, card=card).title == "Mending CI"
    assert told(0, card=card).title == "Mending CI"


def test_nothing_that_was_taken_back_is_told() -> None:
    empty = [line(1, "user", "", more={"redacted": {}}), line(2, "tool_call", "x")]
    out = [*TALK, line(4, "event", "", event="exclude")]
    for talk in (empty, out, []):
        assert summarized(span("s", 1), compute("s", talk), talk, 0) is None


# ---- less of it ----


def test_what_is_too_long_gets_shorter_until_only_its_time_is_left() -> None:
    talk = [line(seq, "user", f"This is line {seq}.") for seq in range(9)]
    found: EarlierSession | None = told(
        0, talk, Card(session="s", title="Mine", one_liner="one two")
    )
    steps = []
    while found is not None:
        steps.append((len(found.messages), found.title, found.text))
        found = shortened(found)
    assert steps == [
        (9, "Mine", ""),
        (6, "Mine", ""),
        (4, "Mine", ""),
        (3, "Mine", ""),
        (2, "Mine", ""),
        (1, "Mine", ""),
        (0, "Mine", "one two"),
        (0, "", "on…"),
        (0, "", "…"),
        (0, "", ""),
    ]


def test_a_title_alone_goes_last() -> None:
    past = EarlierSession(session="s", started="then", title="T")
    assert shortened(past) == EarlierSession(session="s", started="then")


def test_the_newest_messages_stay() -> None:
    past = EarlierSession(session="s", started="then", messages=(("a", "1"), ("b", "2")))
    kept = shortened(past)
    assert kept is not None
    assert kept.messages == (("b", "2"),)


# ---- earlier sessions as they are read from transcripts ----

START = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    return EpisodicMemory(tmp_path)


def talk(memory: EpisodicMemory, name: str, hours: float, *texts: str, end: bool = True) -> None:
    """Record a session that begins so many hours after the first, and lasts ten minutes."""
    at = START + timedelta(hours=hours)
    later = at + timedelta(minutes=10)
    memory.start_session(name, at=at)
    for text in texts:
        memory.log(name, "user", text, at=later)
    if not texts:
        memory.log(name, "tool_call", "ls", at=later)
    if end:
        memory.end(name, at=later)


def names(memory: EpisodicMemory, running: str = "") -> list[str]:
    return [past.session for past in earlier(memory, running)]


def test_no_transcripts_give_nothing_and_make_nothing(
    memory: EpisodicMemory, tmp_path: Path
) -> None:
    assert earlier(memory) == []
    assert list(tmp_path.iterdir()) == []


def test_sessions_are_told_newest_first_at_their_grades(memory: EpisodicMemory) -> None:
    for number in range(6):
        talk(memory, f"s{number}", number * 24, f"Question {number}? Tell me.", "Thanks")
    found = earlier(memory)
    assert [past.session for past in found] == ["s5", "s4", "s3", "s2", "s1", "s0"]
    assert [len(past.messages) for past in found] == [2, 0, 0, 0, 0, 0]
    assert [past.text for past in found[1:]] == [
        *(f"Question {number}? Tell me." for number in (4, 3, 2)),
        *(f"Question {number}?" for number in (1, 0)),
    ]
    assert [past.gap for past in found] == ["1 day later"] * 5 + [""]


def test_a_session_in_which_nothing_was_said_does_not_lengthen_the_silence(
    memory: EpisodicMemory,
) -> None:
    talk(memory, "a", 0, "First")
    talk(memory, "silent", 5)
    talk(memory, "b", 7, "Second")
    found = earlier(memory)
    assert [(past.session, past.gap) for past in found] == [("b", "2 hours later"), ("a", "")]


def test_what_runs_or_ended_later_is_left_out(memory: EpisodicMemory) -> None:
    for hours, name in enumerate("abc"):
        talk(memory, name, hours, "Hi")
    talk(memory, "open", 0, "Hi", end=False)
    assert names(memory, running="b") == ["a"]
    assert names(memory, running="new") == ["c", "b", "a"]


def test_what_was_taken_back_is_absent(memory: EpisodicMemory) -> None:
    talk(memory, "a", 0, "The heron is grey", "A secret")
    talk(memory, "b", 1, "Another secret")
    talk(memory, "c", 2, "Hello")
    memory.forgetting().redact("a", [2])
    memory.forgetting().exclude("b")
    found = earlier(memory)
    assert [past.session for past in found] == ["c", "a"]
    assert "secret" not in repr(found)


def test_no_more_than_twenty_are_told_and_silent_ones_do_not_count(
    memory: EpisodicMemory,
) -> None:
    for number in range(SESSIONS + 3):
        talk(memory, f"said-{number:02}", number, "Hi")
        talk(memory, f"silent-{number:02}", number + 0.5)
    found = names(memory)
    assert len(found) == SESSIONS
    assert not any(name.startswith("silent") for name in found)


def test_a_transcript_that_cannot_be_read_is_passed_over(memory: EpisodicMemory) -> None:
    talk(memory, "a", 0, "Hi")
    (memory.folder / "b.jsonl").mkdir()
    (memory.folder / "c.jsonl").write_bytes(b"no line\n")
    assert names(memory) == ["a"]


def test_what_cannot_be_looked_at_ends_no_turn(
    memory: EpisodicMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory, "a", 0, "Hi")

    def fail(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(memory, "session", fail)
    assert earlier(memory) == []
    monkeypatch.setattr(memory, "sessions", fail)
    assert earlier(memory) == []
