"""What is recorded, how it is shown, and what is kept whole."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import InvalidSessionError, SessionNotFoundError
from engramdown.settings import EpisodeSettings
from engramdown.transcripts.episode import Pointer, as_text, join_surrogates
from tests.episodes.strategies import any_value, texts

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    """Return the transcripts of a scope that has none yet."""
    return EpisodicMemory(tmp_path)


def pointer(found: Pointer | None) -> Pointer:
    assert found is not None
    return found


def test_of_a_session_that_is_ignored_nothing_is_recorded(tmp_path: Path) -> None:
    memory = EpisodicMemory(tmp_path, EpisodeSettings(ignore=("cron-*",)))
    assert memory.start_session("cron-7") == "cron-7"
    assert memory.log("cron-7", "user", "The kayak, every minute") is None
    assert memory.mark("cron-7", "archive") is None
    memory.end("cron-7")
    assert memory.trouble is None
    assert list(tmp_path.iterdir()) == []
    assert memory.log("chat", "user", "The kayak") is not None
    assert [hit.session for hit in memory.recall("kayak, every minute")] == ["chat"]
    memory.close()


class TestSessions:
    """A session has an id, a beginning and an end."""

    def test_a_new_one_says_when_it_began(self, memory: EpisodicMemory) -> None:
        with freeze_time("2026-02-27 10:15:00"):
            session = memory.start_session(title="CI")
        assert session.startswith("20260227-101500-")
        (info,) = memory.sessions()
        assert (info.id, info.title, info.started) == (session, "CI", "2026-02-27T10:15:00.000000Z")
        assert (info.ended, info.lines) == ("", 0)

    def test_no_two_new_ones_have_the_same_id(self, memory: EpisodicMemory) -> None:
        with freeze_time("2026-02-27 10:15:00"):
            ids = {memory.start_session() for _ in range(400)}
        assert len(ids) == len(memory.sessions()) == 400

    def test_beginning_one_again_goes_on_with_it(self, memory: EpisodicMemory) -> None:
        assert memory.start_session("shell", title="first") == "shell"
        memory.log("shell", "user", "a")
        assert memory.start_session("shell", title="second") == "shell"
        (info,) = memory.sessions()
        assert (info.title, info.lines) == ("first", 1)

    def test_one_begins_with_its_first_episode_if_nobody_began_it(
        self, memory: EpisodicMemory
    ) -> None:
        assert memory.log("shell", "user", "a") == ("shell", 1)
        assert memory.session("shell").episodes[0].event == "start"
        assert memory.session("shell").episodes[0].more["v"] == 1

    def test_one_knows_its_parent_and_the_parent_its_children(self, memory: EpisodicMemory) -> None:
        parent = memory.start_session("parent")
        first = memory.start_session(parent=parent, parent_call="c1", at=datetime.now(UTC))
        memory.start_session("other")
        children = memory.sessions(parent=parent)
        assert [(info.id, info.parent_call) for info in children] == [(first, "c1")]

    def test_an_imported_one_keeps_its_times(self, memory: EpisodicMemory) -> None:
        began = datetime(2024, 3, 1, 9, tzinfo=UTC)
        ended = datetime(2024, 3, 1, 10, tzinfo=UTC)
        session = memory.start_session(at=began, source="openclaw")
        memory.log(session, "user", "a", at=datetime(2024, 3, 1, 9, 30, tzinfo=UTC))
        memory.end(session, "import", at=ended)
        (info,) = memory.sessions()
        assert session.startswith("20240301-090000-")
        assert (info.started, info.ended) == (
            "2024-03-01T09:00:00.000000Z",
            "2024-03-01T10:00:00.000000Z",
        )
        assert (info.reason, info.source) == ("import", "openclaw")
        assert memory.session(session).episodes[1].ts == "2024-03-01T09:30:00.000000Z"

    def test_nothing_is_left_of_one_in_which_nothing_was_said(self, memory: EpisodicMemory) -> None:
        session = memory.start_session()
        memory.end(session)
        assert memory.sessions() == []
        assert list(memory.folder.glob("*.jsonl")) == []

    def test_one_that_ended_is_open_again_when_something_is_said(
        self, memory: EpisodicMemory
    ) -> None:
        memory.log("s", "user", "a")
        memory.end("s", "reset")
        assert memory.sessions()[0].reason == "reset"
        memory.mark("s", "exclude", of=[1])
        assert memory.sessions()[0].ended
        memory.log("s", "user", "b")
        assert not memory.sessions()[0].ended

    @pytest.mark.parametrize("name", ["../x", "CON", "Shell", ""])
    def test_an_id_that_is_no_file_name_is_refused(self, memory: EpisodicMemory, name: str) -> None:
        with pytest.raises(InvalidSessionError):
            memory.start_session(name)
        with pytest.raises(InvalidSessionError):
            memory.start_session(parent=name)
        with pytest.raises(InvalidSessionError):
            memory.session(name)
        assert memory.log(name, "user", "a") is None
        assert "session id" in str(memory.trouble)

    def test_reading_creates_nothing(self, memory: EpisodicMemory) -> None:
        assert memory.sessions() == []
        with pytest.raises(SessionNotFoundError, match="no session 'a' in"):
            memory.session("a")
        assert memory.close_orphans().ids == memory.close_idle(1).ids == ()
        assert memory.trouble is None
        memory.close()
        assert not memory.folder.exists()

    def test_transcripts_are_kept_from_git_and_from_others(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a")
        assert (memory.folder / ".gitignore").read_text(encoding="utf-8") == "*\n"
        if sys.platform != "win32":
            assert memory.folder.stat().st_mode & 0o777 == 0o700


class TestTexts:
    """What people say is never cut; what tools say is shown cut and kept whole."""

    @given(st.lists(texts.filter(bool), min_size=1, max_size=5))
    def test_what_was_said_comes_back(
        self, tmp_path_factory: pytest.TempPathFactory, said: list[str]
    ) -> None:
        memory = EpisodicMemory(tmp_path_factory.mktemp("root"))
        for text in said:
            memory.log("s", "user", text)
        memory.close()
        assert [each.text for each in memory.session("s").episodes[1:]] == said
        assert memory.session("s").malformed == ()

    @given(any_value)
    def test_so_does_what_a_tool_was_given(
        self, tmp_path_factory: pytest.TempPathFactory, value: object
    ) -> None:
        settings = EpisodeSettings(redact="off", input_limit=7)
        memory = EpisodicMemory(tmp_path_factory.mktemp("root"), settings)
        at = pointer(memory.log("s", "tool_call", value, name="shell"))
        memory.close()
        episode = memory.episode(at)
        assert episode is not None
        assert memory.whole(episode) == as_text(value)
        assert episode.text == as_text(value)[:7]
        assert (episode.cut or len(episode.text)) == len(as_text(value))

    def test_people_are_never_cut(self, memory: EpisodicMemory) -> None:
        for role in ("user", "assistant", "system"):
            memory.log("s", role, "x" * 100_000)
        assert [len(each.text) for each in memory.session("s").episodes[1:]] == [100_000] * 3
        assert not (memory.folder / "payloads").exists()

    @pytest.mark.parametrize(
        "role, limit", [("tool_call", 500), ("tool_result", 2_000), ("scratchpad", 2_000)]
    )
    def test_tools_are_shown_cut_between_characters(
        self, memory: EpisodicMemory, role: str, limit: int
    ) -> None:
        whole = "é\U0001f600" * limit
        episode = memory.episode(pointer(memory.log("s", role, whole)))
        assert episode is not None
        assert (episode.text, episode.cut) == (whole[:limit], 2 * limit)
        assert memory.whole(episode) == whole
        just = memory.episode(pointer(memory.log("s", role, whole[:limit])))
        assert just is not None
        assert (just.text, just.cut, just.payload) == (whole[:limit], None, "")

    def test_the_same_output_is_kept_once(self, memory: EpisodicMemory) -> None:
        for _ in range(3):
            memory.log("s", "tool_result", "x" * 3_000)
        files = [path for path in (memory.folder / "payloads").rglob("*") if path.is_file()]
        assert len(files) == 1

    def test_payloads_can_be_dropped(self, tmp_path: Path) -> None:
        memory = EpisodicMemory(tmp_path, EpisodeSettings(payloads="drop"))
        episode = memory.episode(pointer(memory.log("s", "tool_result", "x" * 3_000)))
        assert episode is not None
        assert (episode.cut, episode.payload) == (3_000, "")
        assert memory.whole(episode) == "x" * 2_000
        assert not (memory.folder / "payloads").exists()

    def test_a_payload_that_is_gone_or_changed_leaves_what_is_shown(
        self, memory: EpisodicMemory
    ) -> None:
        episode = memory.episode(pointer(memory.log("s", "tool_result", "x" * 3_000)))
        assert episode is not None
        (file,) = [path for path in (memory.folder / "payloads").rglob("*") if path.is_file()]
        file.write_text("y" * 3_000, encoding="utf-8")
        assert memory.whole(episode) == "x" * 2_000
        file.unlink()
        assert memory.whole(episode) == "x" * 2_000

    def test_nothing_is_no_episode_but_an_empty_result_is(self, memory: EpisodicMemory) -> None:
        assert [memory.log("s", role, "") for role in ("user", "assistant", "system")] == [None] * 3
        assert memory.trouble is None
        assert memory.log("s", "tool_result", "") == ("s", 1)

    def test_a_secret_in_a_tool_is_hidden_in_line_and_payload(self, memory: EpisodicMemory) -> None:
        memory.log("s", "tool_result", f"token: {SECRET}" + " x" * 2_000)
        memory.log("s", "tool_call", {"key": SECRET})
        memory.log("s", "tool_result", "", error=f"401 for token: {SECRET}")
        assert str(memory.session("s").episodes[-1].error).startswith("401 for token: [redacted")
        for path in memory.folder.rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes()

    def test_what_a_person_said_is_hidden_unless_the_settings_spare_it(
        self, tmp_path: Path
    ) -> None:
        for number, redact in enumerate(("tools", "all", "off")):
            memory = EpisodicMemory(
                tmp_path / str(number),
                EpisodeSettings(redact=redact),  # type: ignore[arg-type] # each is allowed
            )
            memory.start_session("s", title=f"use {SECRET}")
            user = memory.episode(pointer(memory.log("s", "user", f"use {SECRET}")))
            titled = memory.sessions()[0].title
            assert (SECRET in titled) == (redact != "all")
            tool = memory.episode(pointer(memory.log("s", "tool_call", f"use {SECRET}")))
            assert user is not None
            assert tool is not None
            assert (SECRET in user.text, SECRET in tool.text) == {
                "tools": (True, False),
                "all": (False, False),
                "off": (True, True),
            }[redact]

    def test_fields_stand_in_the_line(self, memory: EpisodicMemory) -> None:
        at = memory.log(
            "s",
            "tool_result",
            "2 failed",
            name="shell",
            call="c1",
            ms=12.5,
            error=True,
            turn=3,
            recalled=("a#1",),
            meta={"exit": 1},
        )
        episode = memory.episode(pointer(at))
        assert episode is not None
        assert (episode.name, episode.call, episode.ms, episode.error) == (
            "shell",
            "c1",
            12.5,
            True,
        )
        assert (episode.turn, episode.recalled, episode.meta) == (3, ("a#1",), {"exit": 1})
        assert memory.episode(Pointer("s", 9)) is None


class TestNeverInTheWay:
    """Recording raises nothing, and can be switched off."""

    @given(st.text(), texts | any_value)
    def test_any_role_and_text_is_recorded_or_refused(
        self, tmp_path_factory: pytest.TempPathFactory, role: str, text: object
    ) -> None:
        memory = EpisodicMemory(tmp_path_factory.mktemp("root"))
        assert memory.log("s", role, text) is None
        assert memory.trouble is not None
        assert memory.recorder.failures == 1

    @pytest.mark.parametrize(
        "fields",
        [{"at": "now"}, {"at": datetime.min.replace(tzinfo=UTC)}, {"recalled": 5}, {"meta": [1]}],
        ids=str,
    )
    def test_any_field_is_recorded_or_refused(
        self, memory: EpisodicMemory, fields: dict[str, object]
    ) -> None:
        memory.log("s", "user", "a", **fields)  # type: ignore[arg-type] # that is the case
        memory.log("s", "user", "b")
        assert memory.session("s").episodes[-1].text == "b"
        assert memory.session("s").malformed == ()

    @pytest.mark.parametrize(
        "session", ["../x", "CON", "A", "", "a/b", "\0", "\ud800", 5, []], ids=repr
    )
    def test_an_id_that_is_no_file_name_reaches_no_file(self, tmp_path: Path, session: str) -> None:
        memory = EpisodicMemory(tmp_path / "root")
        assert memory.log(session, "user", "a") is None
        assert memory.mark(session, "exclude") is None
        memory.end(session)
        assert memory.recorder.failures == 3
        assert memory.trouble is not None
        assert list(tmp_path.iterdir()) == []

    def test_what_an_argument_raises_is_said_in_the_transcript(
        self, memory: EpisodicMemory
    ) -> None:
        class Shy:
            def __bool__(self) -> bool:
                raise ZeroDivisionError("shy")

            def __eq__(self, other: object) -> bool:
                raise LookupError

            __hash__ = None  # type: ignore[assignment] # as it goes with __eq__

            def __repr__(self) -> str:
                raise LookupError

        memory.log("s", "user", "a")
        assert memory.log("s", Shy(), "b") is None  # type: ignore[arg-type] # that is the case
        assert "LookupError" in str(memory.trouble)
        assert memory.mark("s", Shy()) is None  # type: ignore[arg-type] # the same
        assert memory.mark("s", "finish") is None
        memory.end("s", at=Shy())  # type: ignore[arg-type] # the same
        assert memory.log("s", "user", "c", name=Shy()) is not None  # type: ignore[arg-type] # here, too
        found = memory.session("s")
        assert [each.event or each.text for each in found.episodes] == [
            "start",
            "a",
            *["lost"] * 4,
            "c",
        ]
        assert "'finish' is not an event" in str(found.episodes[4].more["reason"])
        assert memory.recorder.failures == 4
        assert memory.trouble is None

    def test_ending_what_was_never_begun_makes_nothing(self, tmp_path: Path) -> None:
        memory = EpisodicMemory(tmp_path / "root")
        memory.end("s")
        assert memory.trouble is None
        assert list(tmp_path.iterdir()) == []

    def test_switched_off_nothing_is_recorded(self, tmp_path: Path) -> None:
        EpisodicMemory(tmp_path).log("old", "user", "a")
        before = sorted(tmp_path.rglob("*"))
        memory = EpisodicMemory(tmp_path, EpisodeSettings(enabled=False))
        session = memory.start_session()
        assert memory.log(session, "user", "a") is None
        assert memory.mark("old", "exclude") is None
        memory.end(session)
        assert memory.close_orphans(0).ids == ()
        assert sorted(tmp_path.rglob("*")) == before
        assert [info.id for info in memory.sessions()] == ["old"]
        assert memory.trouble is None

    def test_the_environment_switches_it_off_without_a_config(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENGRAMDOWN_EPISODES", "off")
        memory = EpisodicMemory(tmp_path)
        assert memory.log(memory.start_session(), "user", "a") is None
        assert list(tmp_path.iterdir()) == []

    def test_threads_may_record_at_once(self, memory: EpisodicMemory) -> None:
        def work(name: str) -> None:
            for number in range(40):
                memory.log(f"s-{number % 3}", "user", f"{name}{number}")

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        said = [each.text for n in range(3) for each in memory.session(f"s-{n}").episodes[1:]]
        assert sorted(said) == sorted(f"{name}{number}" for name in "abcd" for number in range(40))

    def test_many_sessions_do_not_keep_many_files_open(self, memory: EpisodicMemory) -> None:
        for number in range(100):
            memory.log(f"s{number}", "user", "a")
        assert len(memory.recorder.open_sessions()) <= 32
        for number in range(100):
            memory.log(f"s{number}", "user", "b")
        assert [info.lines for info in memory.sessions()] == [2] * 100

    def test_a_folder_that_is_removed_comes_back(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "a")
        for path in memory.folder.iterdir():
            path.unlink()
        memory.folder.rmdir()
        assert memory.log("s", "user", "b") == ("s", 1)

    def test_half_pairs_that_meet_are_one_character(self, memory: EpisodicMemory) -> None:
        memory.log("s", "user", "\ud83d\ude00")
        assert (
            memory.session("s").episodes[1].text == join_surrogates("\ud83d\ude00") == "\U0001f600"
        )

    def test_a_line_reads_as_the_page_says(self, memory: EpisodicMemory) -> None:
        with freeze_time("2026-02-27 10:15:00"):
            memory.log("s", "user", "Why is CI red?", turn=1)
        line = json.loads((memory.folder / "s.jsonl").read_text(encoding="utf-8").split("\n")[1])
        assert list(line) == ["seq", "ts", "id", "role", "text", "turn"]
        assert line["ts"] == "2026-02-27T10:15:00.000000Z"
        assert os.sep not in line["id"]
