"""Earlier sessions as they are read from transcripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engramdown.episodes.earlier_sessions import SESSIONS, earlier
from engramdown.episodes.memory import EpisodicMemory

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


def names(memory: EpisodicMemory, running: str = "", in_view: tuple[str, ...] = ()) -> list[str]:
    return [past.session for past in earlier(memory, running, in_view)]


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


def test_what_runs_is_seen_or_ended_later_is_left_out(memory: EpisodicMemory) -> None:
    for hours, name in enumerate("abc"):
        talk(memory, name, hours, "Hi")
    talk(memory, "open", 0, "Hi", end=False)
    assert names(memory, in_view=("b",)) == ["c", "a"]
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
