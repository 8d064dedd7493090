"""What a conversation leaves in its transcript, and what it tells when it cannot."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from engramdown import Cortex, Engram, MemoryContext, Session
from engramdown.episodes import recorder
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import InvalidSessionError
from engramdown.transcripts.episode import Episode
from tests.cortex.person import Person
from tests.episodes.disks import Fault, FaultyDisk
from tests.hippocampus.memory_store import MemoryStore

RULE = Engram("Use uv", "always", "project", confidence="high", source="user")


def episodes(cortex: Cortex, session: str) -> tuple[Episode, ...]:
    assert cortex.episodes is not None
    return cortex.episodes.session(session).episodes


def break_off(session: Session) -> None:
    """Fail in the middle of a turn."""
    with session:
        session.begin_turn("go")
        raise KeyError("no such tool")


def said(cortex: Cortex, session: str) -> list[tuple[str, str]]:
    """Return role and text of what is no event, in order."""
    found = episodes(cortex, session)
    return [(each.role, each.text) for each in found if each.role != "event"]


@pytest.fixture
def disk(cortex: Cortex, project: Path) -> FaultyDisk:
    """Let the transcripts stand on a disk that can fail."""
    disk = FaultyDisk()
    cortex.scopes.episodes = EpisodicMemory(project / ".engramdown", disk=disk)
    return disk


class TestTranscript:
    """Turns, tools and memory are recorded in their order."""

    def test_a_conversation_is_recorded(self, cortex: Cortex) -> None:
        with cortex.session(title="CI") as session:
            session.begin_turn("Why is CI red?")
            session.tool_call("shell", {"cmd": "pytest"})
            session.tool_result("shell", "2 failed", error=True)
            session.scratchpad("the clock?", name="notes")
            session.end_turn("Two tests depend on the clock.")
        assert said(cortex, session.id) == [
            ("user", "Why is CI red?"),
            ("tool_call", '{"cmd": "pytest"}'),
            ("tool_result", "2 failed"),
            ("scratchpad", "the clock?"),
            ("assistant", "Two tests depend on the clock."),
        ]
        found = episodes(cortex, session.id)
        assert {each.turn for each in found if each.role != "event"} == {1}
        assert found[0].more["title"] == "CI"
        assert (found[-1].event, found[-1].more["reason"]) == ("end", "finished")

    def test_a_result_finds_its_call_and_how_long_it_took(self, cortex: Cortex) -> None:
        with cortex.session() as session:
            session.begin_turn("go")
            first = session.tool_call("shell", "a")
            second = session.tool_call("shell", "b")
            other = session.tool_call("web", call="given")
            session.tool_result("shell", "of b", call=second)
            session.tool_result("web", "page", ms=5)
            session.tool_result("shell", "of a")
            session.tool_result("shell", "of nothing")
            session.end_turn()
        results = [each for each in episodes(cortex, session.id) if each.role == "tool_result"]
        assert other == "given"
        assert [each.call for each in results] == [second, "given", first, ""]
        assert results[1].ms == 5
        assert results[0].ms is not None
        assert results[3].ms is None

    def test_which_tools_were_offered_stands_where_a_step_begins(self, cortex: Cortex) -> None:
        with cortex.session() as session:
            session.offer_tools(["shell", "recall"])
            session.begin_turn("Why?")
            session.tool_call("shell", "ls")
            session.tool_result("shell", "a")
            session.tool_call("shell", "cat a")
            session.record("assistant", "Hm.", meta={"usage": {"input_tokens": 3}})
            session.offer_tools(["recall"])
            session.end_turn("Done.")
            session.offer_tools([])
            session.begin_turn("Thanks")
            session.end_turn("Yes.")
        assert cortex.episodes is not None
        steps = cortex.episodes.iterations(session.id)
        assert [step.tools_offered for step in steps] == [
            ("shell", "recall"),
            ("shell", "recall"),
            ("recall",),
            (),
        ]
        assert steps[1].tokens_in == 3
        lines = cortex.episodes.session(session.id).episodes
        told = [each.role for each in lines if "tools_offered" in each.meta]
        assert told == ["tool_call", "assistant", "assistant"]

    def test_which_memories_were_shown_is_recorded_when_they_change(self, cortex: Cortex) -> None:
        (receipt,) = cortex.encode(RULE)
        with cortex.session() as session:
            for _ in range(3):
                session.begin_turn("hello")
                session.end_turn("hi")
            cortex.encode(Engram("Use ruff", "always", "project"))
            session.begin_turn("hello")
        reads = [each for each in episodes(cortex, session.id) if each.role == "memory_read"]
        assert [each.turn for each in reads] == [1, 4]
        assert reads[0].meta == {"shown": [receipt.id], "left_out": 0}
        assert len(reads[1].meta["shown"]) == 2

    def test_so_is_what_became_memory(self, cortex: Cortex) -> None:
        with cortex.session() as session:
            session.begin_turn("Use uv")
            (receipt,) = cortex.propose(RULE)
            cortex.propose(RULE)
            session.end_turn("ok")
        (wrote,) = [each for each in episodes(cortex, session.id) if each.role == "memory_write"]
        assert (wrote.text, wrote.turn) == ("Use uv", 1)
        assert wrote.meta == {"action": "encoded", "id": receipt.id, "scope": "project"}

    def test_so_is_what_a_person_ticked(self, copilot: Cortex, person: Person) -> None:
        with copilot.session() as session:
            session.begin_turn("hello")
            copilot.propose(Engram("Use uv", "always", "project"))
            person.ticks("Use uv")
            session.end_turn("ok")
        wrote = [each for each in episodes(copilot, session.id) if each.role == "memory_write"]
        assert [each.meta["action"] for each in wrote] == ["queued", "encoded"]

    def test_a_session_that_is_gone_hears_nothing(self, cortex: Cortex) -> None:
        first = cortex.session()
        first.begin_turn("hello")
        name = first.id
        del first
        cortex.propose(RULE)
        assert said(cortex, name) == [("user", "hello")]

    def test_a_session_can_be_gone_on_with(self, cortex: Cortex) -> None:
        for text in ("a", "b"):
            with cortex.session("telegram-42") as session:
                session.begin_turn(text)
        assert said(cortex, "telegram-42") == [("user", "a"), ("user", "b")]

    def test_one_may_begin_another(self, cortex: Cortex) -> None:
        with cortex.session() as session:
            session.begin_turn("go")
            call = session.tool_call("helper", "find it")
            with cortex.session(parent=session.id, parent_call=call) as child:
                child.begin_turn("find it")
        assert cortex.episodes is not None
        (info,) = cortex.episodes.sessions(parent=session.id)
        assert (info.id, info.parent_call) == (child.id, call)

    def test_nothing_is_left_of_a_session_without_turns(
        self, cortex: Cortex, project: Path
    ) -> None:
        with cortex.session() as session:
            assert session.id
        assert list(project.rglob("*.jsonl")) == []

    def test_one_that_an_error_ended_says_so(self, cortex: Cortex) -> None:
        session = cortex.session()
        with pytest.raises(KeyError):
            break_off(session)
        assert episodes(cortex, session.id)[-1].more["reason"] == "interrupted"

    def test_an_id_that_is_no_file_name_is_refused(self, cortex: Cortex) -> None:
        with pytest.raises(InvalidSessionError):
            cortex.session("../x")

    def test_what_a_crash_left_open_is_ended_by_the_next_session(self, cortex: Cortex) -> None:
        from datetime import UTC, datetime, timedelta

        assert cortex.episodes is not None
        cortex.episodes.log("old", "user", "a", at=datetime.now(UTC) - timedelta(hours=2))
        cortex.episodes.close()
        cortex.session().end()
        assert episodes(cortex, "old")[-1].more["reason"] == "crash_recovery"


class TestWhere:
    """Transcripts are the project's, where there can be one."""

    def test_they_stand_in_the_project(self, cortex: Cortex, project: Path) -> None:
        with cortex.session() as session:
            session.begin_turn("hello")
        assert (project / ".engramdown" / "episodes" / f"{session.id}.jsonl").exists()

    def test_in_the_home_folder_they_are_global(
        self, cortex: Cortex, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert cortex.mode == "autopilot"
        monkeypatch.chdir(isolated_home)
        with Cortex.open().session() as session:
            session.begin_turn("hello")
        assert (isolated_home / ".engramdown" / "episodes" / f"{session.id}.jsonl").exists()

    def test_stores_without_files_have_none(self) -> None:
        cortex = Cortex(MemoryStore("global"), MemoryStore("project"))
        with cortex.session() as session:
            session.begin_turn("hello")
            assert session.tool_call("shell", "ls", call="c") == "c"
            session.tool_result("shell", "a")
            cortex.encode(RULE)
        assert (session.id, session.degraded, cortex.episodes) == ("", "", None)

    def test_switched_off_nothing_is_recorded(
        self, cortex: Cortex, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert cortex.mode == "autopilot"
        monkeypatch.setenv("ENGRAMDOWN_EPISODES", "off")
        with Cortex.open(project=project).session() as session:
            session.begin_turn("hello")
        assert session.degraded == ""
        assert not (project / ".engramdown" / "episodes").exists()

    def test_a_dry_run_records_nothing(self, cortex: Cortex, project: Path) -> None:
        cortex.scopes.dry_run()
        with cortex.session() as session:
            session.begin_turn("hello")
        assert list(project.rglob("*")) == []


class TestDegraded:
    """No trouble with the transcript ends a turn, and none is silent."""

    def test_the_next_turn_says_that_memory_is_degraded(
        self, cortex: Cortex, disk: FaultyDisk
    ) -> None:
        cortex.encode(RULE)
        with cortex.session() as session:
            context = session.begin_turn("one")
            assert context.degraded == ""
            disk.faults = [Fault("write", errno.ENOSPC, ".jsonl")]
            session.end_turn("two")
            context = session.begin_turn("three")
            assert isinstance(context, MemoryContext)
            assert "Use uv" in context
            assert context.sections
            assert context.endswith(context.degraded)
            assert context.degraded.startswith("Memory is degraded: ")
            assert "No space left on device" in context.degraded
            assert "No space left on device" in session.degraded
            disk.faults = []
            session.end_turn("four")
            assert session.begin_turn("five").degraded == ""
        assert [text for role, text in said(cortex, session.id) if role != "memory_read"] == [
            "one",
            "two",
            "three",
            "four",
            "five",
        ]

    def test_the_next_turn_tells_of_what_was_lost_meanwhile(
        self, cortex: Cortex, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder, "QUEUE_ITEMS", 1)
        with cortex.session() as session:
            session.begin_turn("hello")
            disk.faults = [Fault("write", name=".jsonl", times=3)]
            for text in "abc":
                session.scratchpad(text)
            session.end_turn("done")
            assert session.degraded == ""
            assert "2 episodes lost" in session.begin_turn("go on").degraded
            session.end_turn("yes")
            assert session.begin_turn("and now").degraded == ""

    def test_what_waited_and_was_written_is_no_trouble(
        self, cortex: Cortex, disk: FaultyDisk
    ) -> None:
        with cortex.session() as session:
            session.begin_turn("hello")
            disk.faults = [Fault("write", name=".jsonl", times=1)]
            session.end_turn("done")
            assert session.degraded
            assert session.begin_turn("go on").degraded == ""

    def test_also_where_there_is_no_memory_yet(self, cortex: Cortex, disk: FaultyDisk) -> None:
        disk.faults = [Fault("make_folder", errno.EROFS)]
        with cortex.session() as session:
            context = session.begin_turn("one")
            assert str(context) == context.degraded != ""

    def test_folders_that_cannot_be_listed_are_trouble_too(
        self, cortex: Cortex, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert cortex.episodes is not None
        cortex.episodes.log("s", "user", "a")

        def refuse(folder: Path) -> list[str]:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))

        monkeypatch.setattr(disk, "files", refuse)
        session = cortex.session()
        assert session.id
        assert cortex.episodes.recorder.failures == 1
