"""Lines stand in the order in which they were said; time and number put them into any other."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from engramdown.episodes.memory import EpisodicMemory
from tests.episodes.transcripts import found, memory

NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)


def said(memory: EpisodicMemory, session: str = "s") -> list[tuple[int, str]]:
    return [(each.seq, each.text) for each in memory.session(session).episodes if each.text]


def test_a_clock_that_goes_backwards_changes_no_place(tmp_path: Path) -> None:
    with closing(memory(tmp_path)) as talk:
        for text, minutes in (("boat one", 0), ("boat two", 5), ("boat three", -90), ("boat", 6)):
            talk.log("s", "user", text, at=NOON + timedelta(minutes=minutes))
        assert said(talk) == [(1, "boat one"), (2, "boat two"), (3, "boat three"), (4, "boat")]
        assert found(talk, "boat", mode="exact") == ["s#4", "s#2", "s#1", "s#3"]
        assert found(talk, "boat three", 1) == ["s#3"]
        # Around it is what was said then, which here is nothing.
        (around,) = talk.around(talk.recall("boat three", 1))
        assert (around.before, around.after) == ([], [])
        (info,) = talk.sessions()
        assert (info.lines, info.last) == (4, "2026-02-27T12:06:00.000000Z")


def test_lines_of_one_moment_stay_in_their_order(tmp_path: Path) -> None:
    with closing(memory(tmp_path)) as talk:
        for session in ("b", "a"):
            for number in range(3):
                talk.log(session, "user", f"boat {number}", at=NOON)
        assert [text for _, text in said(talk, "b")] == ["boat 0", "boat 1", "boat 2"]
        newest = found(talk, "boat", mode="exact")
        for session in ("a", "b"):
            own = [pointer for pointer in newest if pointer.startswith(session)]
            assert own == [f"{session}#3", f"{session}#2", f"{session}#1"]
        (around,) = talk.around(talk.recall("boat 1", 1, session="a"))
        lines = [*around.before, *around.after]
        assert len(lines) == 5
        assert [each.seq for each in lines if each.session == "a"] == [1, 3]


def test_zones_are_one_time(tmp_path: Path) -> None:
    east, west = timezone(timedelta(hours=9)), timezone(timedelta(hours=-8))
    with closing(memory(tmp_path)) as talk:
        for text, at in (
            ("boat third", NOON + timedelta(minutes=2)),
            ("boat first", NOON.astimezone(east)),
            ("boat second", (NOON + timedelta(minutes=1)).astimezone(west)),
            ("boat fourth", (NOON + timedelta(minutes=3)).replace(tzinfo=None)),
        ):
            talk.log("s", "user", text, at=at)
        assert [each.ts[11:16] for each in talk.session("s").episodes[1:]] == [
            "12:02",
            "12:00",
            "12:01",
            "12:03",
        ]
        assert found(talk, "boat", mode="exact") == ["s#4", "s#1", "s#3", "s#2"]


def test_around_a_line_of_a_running_session_is_what_was_said_meanwhile(tmp_path: Path) -> None:
    with closing(memory(tmp_path)) as reader, closing(EpisodicMemory(tmp_path)) as writer:
        writer.log("s", "user", "Where is the boat?", at=NOON)
        hits = reader.recall("boat", 1)
        assert reader.around(hits)[0].after == []
        writer.log("s", "assistant", "At the lake.", at=NOON + timedelta(seconds=5))
        (around,) = reader.around(hits)
        assert [each.text for each in around.after] == ["At the lake."]


def test_zeros_that_a_power_cut_left_are_set_aside(tmp_path: Path) -> None:
    with closing(EpisodicMemory(tmp_path)) as talk:
        talk.log("s", "user", "one")
    path = tmp_path / "episodes" / "s.jsonl"
    with path.open("ab") as file:
        file.write(bytes(4_096))
    with closing(memory(tmp_path)) as talk:
        assert found(talk, "one") == ["s#1"]
        assert str(talk.log("s", "user", "two")) == "s#2"
        assert said(talk) == [(1, "one"), (2, "two")]
        assert found(talk, "two", mode="exact") == ["s#2"]
    assert (tmp_path / "episodes" / "s.torn-1").read_bytes() == bytes(4_096)
