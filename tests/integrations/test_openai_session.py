"""`engramdown.integrations.openai_agents`: what a session keeps, takes back and gives."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from agents import Runner, SessionSettings
from agents.memory import Session as SessionProtocol
from hypothesis import given, settings
from hypothesis import strategies as st

from engramdown import Cortex
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import InvalidSessionError
from engramdown.integrations.external_session import LEFT_OUT, LEVELS, unwritten_of
from engramdown.integrations.openai_agents import EngramdownSession
from tests.episodes.disks import Fault, FaultyDisk
from tests.integrations.desk import Desk, again, does, kept, lines, says, weather, working
from tests.integrations.items import items

KEY = "ghp_" + "a1B2" * 9
THE_CALL = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
THE_RESULT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
SAID = {"role": "assistant", "content": "Hi"}


class TestItems:
    """What a session gives back is what was added."""

    def test_it_is_what_the_sdk_calls_a_session(self, cortex: Cortex) -> None:
        assert isinstance(EngramdownSession("s1", cortex), SessionProtocol)

    @pytest.mark.slow
    @settings(max_examples=40)
    @given(batches=st.lists(st.lists(items, max_size=4), max_size=4))
    def test_whatever_it_was_also_for_a_process_that_begins_anew(
        self, tmp_path_factory: pytest.TempPathFactory, batches: list[list[Any]]
    ) -> None:
        folder = tmp_path_factory.mktemp("any")
        cortex = Cortex.open(project=folder / "project", home=folder / "home")
        session = EngramdownSession("s1", cortex)

        async def main() -> None:
            for batch in batches:
                await session.add_items(batch)
            await session.close()

        asyncio.run(main())
        wanted = json.loads(json.dumps([item for batch in batches for item in batch]))
        assert asyncio.run(session.get_items()) == wanted
        fresh = EngramdownSession("s1", again(cortex, folder / "project"))
        assert asyncio.run(fresh.get_items()) == wanted

    def test_one_that_is_no_json_is_refused_whole(self, cortex: Cortex) -> None:
        session = EngramdownSession("s1", cortex)
        with pytest.raises(TypeError, match="not JSON serializable"):
            kept(session, SAID, {"role": "user", "content": object()})
        assert kept(session) == []

    def test_one_that_runs_in_a_circle_is_refused_whole(self, cortex: Cortex) -> None:
        circle: dict[str, Any] = {"role": "user"}
        circle["content"] = circle
        with pytest.raises(ValueError, match="Circular"):
            kept(session := EngramdownSession("s1", cortex), SAID, circle)
        assert kept(session) == []

    @pytest.mark.parametrize("levels", [LEVELS, LEVELS + 1, 600, 100_000])
    @pytest.mark.parametrize("kind", ["message", "function_call_output", "of_tomorrow"])
    def test_one_of_any_depth_ends_no_run(
        self, cortex: Cortex, project: Path, levels: int, kind: str
    ) -> None:
        deep: Any = "end"
        for _ in range(levels - 1):
            deep = {"a": deep}
        item = {"type": kind, "role": "user", "call_id": "c1"}
        item |= {{"message": "content", "function_call_output": "output"}.get(kind, "x"): deep}
        found = kept(EngramdownSession("s1", cortex), THE_CALL, item, SAID)
        assert (found[1] == item) is (levels <= LEVELS)
        assert (LEFT_OUT in json.dumps(found[1])) is (levels > LEVELS)
        fresh = EngramdownSession("s1", again(cortex, project))
        assert asyncio.run(fresh.get_items()) == found
        assert [asyncio.run(fresh.pop_item()) for _ in range(2)] == [SAID, found[1]]

    @pytest.mark.parametrize(
        "limit, chosen, left",
        [(None, None, 3), (2, None, 2), (0, None, 0), (9, 1, 3), (None, 1, 1), (-1, 1, 3)],
    )
    def test_the_last_ones_are_given_where_that_is_wanted(
        self, cortex: Cortex, limit: int | None, chosen: int | None, left: int
    ) -> None:
        session = EngramdownSession("s1", cortex, session_settings=SessionSettings(limit=chosen))
        wanted = [{"role": "assistant", "content": str(at)} for at in range(3)]
        kept(session, *wanted)
        assert asyncio.run(session.get_items(limit)) == wanted[3 - left :]

    def test_a_long_one_is_whole_and_shown_cut(self, cortex: Cortex) -> None:
        long = {**THE_RESULT, "output": "x" * 10_000}
        assert kept(EngramdownSession("s1", cortex), THE_CALL, long) == [THE_CALL, long]
        line = lines(cortex, "s1")[1]
        assert (len(line.text), line.cut) == (2_000, 10_000)

    def test_a_secret_of_a_tool_is_hidden_from_the_first_moment(
        self, cortex: Cortex, project: Path
    ) -> None:
        session = EngramdownSession("s1", cortex)
        found = kept(session, THE_CALL, {**THE_RESULT, "output": f"token {KEY}"}, SAID)
        assert found == [THE_CALL, {**THE_RESULT, "output": "token [redacted: GitHub token]"}, SAID]
        assert KEY not in (project / ".engramdown/episodes/s1.jsonl").read_text(encoding="utf-8")
        fresh = EngramdownSession("s1", again(cortex, project))
        assert asyncio.run(fresh.get_items()) == found

    def test_the_secrets_of_people_are_hidden_too(self, project: Path) -> None:
        said = {"role": "user", "content": [{"type": "input_text", "text": KEY}] * 2}
        (item,) = kept(EngramdownSession("s1", Cortex.open(project=project)), said)
        assert [part["text"] for part in item["content"]] == ["[redacted: GitHub token]"] * 2

    def test_to_look_at_one_does_not_begin_it(self, cortex: Cortex, project: Path) -> None:
        assert asyncio.run(EngramdownSession("s1", cortex).get_items()) == []
        assert not (project / ".engramdown/episodes").exists()

    def test_of_cut_arguments_without_a_payload_valid_json_is_left(
        self, isolated_home: Path, project: Path
    ) -> None:
        home = isolated_home / ".engramdown"
        home.mkdir()
        (home / "config.toml").write_text('[episodes]\npayloads = "drop"\n', encoding="utf-8")
        long = {**THE_CALL, "arguments": json.dumps({"cmd": "x" * 600})}
        (item,) = kept(EngramdownSession("s1", Cortex.open(project=project)), long)
        assert set(json.loads(item["arguments"])) == {"beginning"}

    def test_what_others_said_in_the_session_is_given_as_messages(self, cortex: Cortex) -> None:
        with cortex.session("s1") as past:
            past.begin_turn("Hello")
            past.tool_call("shell", {})
            past.end_turn("Hi")
        assert kept(EngramdownSession("s1", cortex)) == [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
        ]

    def test_a_result_of_a_call_of_an_earlier_process_knows_its_tool(
        self, cortex: Cortex, project: Path
    ) -> None:
        kept(EngramdownSession("s1", cortex), THE_CALL)
        kept(EngramdownSession("s1", fresh := again(cortex, project)), THE_RESULT)
        assert [each.name for each in lines(fresh, "s1")] == ["shell", "shell"]

    def test_any_id_names_a_session_of_its_own(self, cortex: Cortex, project: Path) -> None:
        ids = ["user/42", "User/42", "user\\42", "user-42", "../42", "CON", "\u00e9", "42 " * 200]
        for at, name in enumerate(ids):
            kept(EngramdownSession(name, cortex), {"role": "user", "content": str(at)})
        fresh = again(cortex, project)
        for at, name in enumerate(ids):
            session = EngramdownSession(name, fresh)
            assert session.session_id == name
            assert asyncio.run(session.get_items()) == [{"role": "user", "content": str(at)}]
            assert (project / f".engramdown/episodes/{session.transcript}.jsonl").exists()
        assert fresh.episodes is not None
        titles = {info.id: info.title for info in fresh.episodes.sessions()}
        assert titles[EngramdownSession("user/42", fresh).transcript] == "user/42"
        assert titles["user-42"] == ""

    def test_a_transcript_is_found_by_its_name_too(self, cortex: Cortex) -> None:
        kept(session := EngramdownSession("user/42", cortex), SAID)
        assert kept(EngramdownSession(session.transcript, cortex)) == [SAID]

    def test_an_empty_id_is_refused(self, cortex: Cortex) -> None:
        with pytest.raises(InvalidSessionError, match="is empty"):
            EngramdownSession("", cortex)

    def test_a_title_is_that_of_the_transcript(self, cortex: Cortex) -> None:
        kept(EngramdownSession("s1", cortex, title="Cranes"), SAID)
        assert cortex.episodes is not None
        assert [info.title for info in cortex.episodes.sessions()] == ["Cranes"]

    def test_it_finds_the_memory_of_the_working_directory(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (project / ".engramdown").mkdir()
        monkeypatch.chdir(project)
        session = EngramdownSession("s1")
        kept(session, SAID)
        assert (project / ".engramdown/episodes/s1.jsonl").exists()


class TestTakingBack:
    """A transcript is only ever appended to."""

    def test_the_last_item_is_taken_back_and_stays_in_the_file(self, cortex: Cortex) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, {"role": "user", "content": "The crane"}, SAID)
        assert asyncio.run(session.pop_item()) == SAID
        assert kept(session) == [{"role": "user", "content": "The crane"}]
        assert asyncio.run(session.pop_item()) == {"role": "user", "content": "The crane"}
        assert asyncio.run(session.pop_item()) is None
        assert cortex.episodes is not None
        assert cortex.episodes.recall("crane") == []
        assert [each.text for each in lines(cortex, "s1")] == ["The crane", "Hi"]

    def test_a_result_is_taken_back_alone_so_that_its_call_is_next(self, cortex: Cortex) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, SAID, THE_CALL, THE_RESULT)
        assert asyncio.run(session.pop_item()) == THE_RESULT
        assert kept(session) == [SAID, THE_CALL]
        assert asyncio.run(session.pop_item()) == THE_CALL
        assert kept(session, THE_CALL, THE_RESULT) == [SAID, THE_CALL, THE_RESULT]

    def test_everything_is_taken_back_and_the_conversation_begins_anew(
        self, cortex: Cortex, project: Path
    ) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, SAID, THE_CALL, THE_RESULT)
        asyncio.run(session.clear_session())
        assert kept(session) == []
        assert kept(session, SAID) == [SAID]
        asyncio.run(session.clear_session())
        assert kept(EngramdownSession("s1", again(cortex, project))) == []
        asyncio.run(EngramdownSession("new", cortex).clear_session())
        assert not (project / ".engramdown/episodes/new.jsonl").exists()

    def test_of_two_who_take_the_last_one_at_once_each_gets_another(
        self, cortex: Cortex, project: Path
    ) -> None:
        wanted = [{"role": "assistant", "content": str(at)} for at in range(40)]
        kept(EngramdownSession("s1", cortex), *wanted)
        got: list[Any] = []

        def take() -> None:
            session = EngramdownSession("s1", Cortex.open(project=project))
            got.extend(asyncio.run(session.pop_item()) for _ in range(10))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(int(each["content"]) for each in got) == list(range(40))
        assert kept(EngramdownSession("s1", Cortex.open(project=project))) == []

    def test_what_a_person_takes_out_is_out_and_can_come_back(self, cortex: Cortex) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, SAID, THE_CALL, THE_RESULT, SAID)
        assert cortex.episodes is not None
        cortex.episodes.forgetting().exclude("s1", [3])
        assert kept(session) == [SAID, SAID]
        cortex.episodes.forgetting().include("s1", [3])
        assert kept(session) == [SAID, THE_CALL, THE_RESULT, SAID]
        cortex.episodes.forgetting().redact("s1", [2])
        assert kept(session) == [SAID, SAID]
        cortex.episodes.forgetting().exclude("s1")
        assert kept(session) == []

    def test_what_was_taken_back_and_included_again_can_be_taken_back_again(
        self, cortex: Cortex
    ) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, SAID, THE_CALL)
        assert cortex.episodes is not None
        for _ in range(2):
            assert asyncio.run(session.pop_item()) == THE_CALL
            cortex.episodes.forgetting().include("s1", [2])
            assert kept(session) == [SAID, THE_CALL]

    def test_a_session_that_a_person_purges_is_empty(self, cortex: Cortex) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, SAID, SAID)
        assert cortex.episodes is not None
        asyncio.run(session.close())
        cortex.episodes.forgetting().purge("s1")
        assert kept(session) == []
        assert kept(session, SAID) == [SAID]


class TestTrouble:
    """No trouble with memory ends a run."""

    def test_a_full_disk_loses_no_item_of_the_running_conversation(
        self, cortex: Cortex, project: Path
    ) -> None:
        disk = FaultyDisk(Fault("write", 28, ".jsonl"))
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)

        async def work(desk: Desk) -> None:
            session = EngramdownSession("s1", desk.cortex)
            await desk.ask(session, "Bern?")
            assert "Memory is degraded" in desk.prompt()
            found = await session.get_items()
            assert [each.get("role") or each.get("type") for each in found] == [
                "user",
                "function_call",
                "function_call_output",
                "assistant",
            ]
            assert await session.pop_item() == found[-1]
            disk.faults.clear()
            await desk.ask(session, "And?")
            assert (await session.get_items())[:3] == found[:3]
            await session.close()

        calls = (does(("weather", {"city": "Bern"})), says("Sunny."))
        working(cortex, work, *calls, tools=[weather])
        assert disk.landed
        said = kept(EngramdownSession("s1", again(cortex, project)))
        assert len(said) == 5

    def test_everything_is_taken_back_that_waits_to_be_written(
        self, cortex: Cortex, project: Path
    ) -> None:
        disk = FaultyDisk(Fault("write", 28, ".jsonl"))
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)
        session = EngramdownSession("s1", cortex)
        assert kept(session, SAID, THE_CALL) == [SAID, THE_CALL]
        asyncio.run(session.clear_session())
        assert kept(session) == []
        disk.faults.clear()
        assert kept(session, THE_RESULT) == [THE_RESULT]

    def test_what_waits_to_be_written_is_there_for_whoever_opens_the_session_anew(
        self, cortex: Cortex, project: Path
    ) -> None:
        disk = FaultyDisk(Fault("write", 28, ".jsonl"))
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)
        kept(EngramdownSession("s1", cortex), SAID, THE_CALL, THE_RESULT)
        assert kept(EngramdownSession("s1", cortex)) == [SAID, THE_CALL, THE_RESULT]
        assert kept(EngramdownSession("s2", cortex)) == []
        assert asyncio.run(EngramdownSession("s1", cortex).pop_item()) == THE_RESULT
        disk.faults.clear()
        told = {"role": "user", "content": "And?"}
        assert kept(EngramdownSession("s1", cortex), told) == [SAID, THE_CALL, told]
        fresh = EngramdownSession("s1", again(cortex, project))
        assert asyncio.run(fresh.get_items()) == [SAID, THE_CALL, told]

    def test_what_is_taken_back_on_a_full_disk_stays_away(
        self, cortex: Cortex, project: Path
    ) -> None:
        disk = FaultyDisk()
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)
        kept(EngramdownSession("s1", cortex), SAID, THE_CALL)
        disk.faults.append(Fault("write", 28, ".jsonl"))
        assert asyncio.run(EngramdownSession("s1", cortex).pop_item()) == THE_CALL
        assert kept(EngramdownSession("s1", cortex)) == [SAID]
        disk.faults.clear()
        assert kept(EngramdownSession("s1", cortex), THE_RESULT) == [SAID, THE_RESULT]
        fresh = EngramdownSession("s1", again(cortex, project))
        assert asyncio.run(fresh.get_items()) == [SAID, THE_RESULT]

    def test_the_same_words_of_another_time_are_not_what_waits(
        self, cortex: Cortex, project: Path
    ) -> None:
        kept(EngramdownSession("s1", cortex), SAID)
        assert cortex.episodes is not None
        cortex.episodes.close()
        disk = FaultyDisk(Fault("write", 28, ".jsonl"))
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)
        assert kept(EngramdownSession("s1", cortex), SAID) == [SAID, SAID]
        disk.faults.clear()
        assert kept(EngramdownSession("s1", cortex), THE_RESULT) == [SAID, SAID, THE_RESULT]

    def test_of_many_sessions_that_wait_the_oldest_are_let_go(
        self, cortex: Cortex, project: Path
    ) -> None:
        disk = FaultyDisk(Fault("write", 28, ".jsonl"))
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)
        for number in range(1_001):
            unwritten_of(cortex.episodes, f"s{number}", "k").popped.add(number)
        assert unwritten_of(cortex.episodes, "s1000", "k").popped == {1000}
        assert unwritten_of(cortex.episodes, "s0", "k").popped == set()

    def test_what_waits_is_there_however_many_sessions_are_opened(
        self, cortex: Cortex, project: Path
    ) -> None:
        disk = FaultyDisk()
        cortex.scopes.__dict__["episodes"] = EpisodicMemory(project / ".engramdown", None, disk)
        kept(EngramdownSession("s1", cortex), THE_CALL)
        disk.faults.append(Fault("write", 28, ".jsonl"))
        assert kept(EngramdownSession("s1", cortex), SAID) == [THE_CALL, SAID]
        for number in range(1_001):
            EngramdownSession(f"other-{number}", cortex)
        assert kept(EngramdownSession("s1", cortex)) == [THE_CALL, SAID]

    def test_a_transcript_that_cannot_be_read_is_what_was_known(
        self, cortex: Cortex, project: Path
    ) -> None:
        session = EngramdownSession("s1", cortex)
        kept(session, SAID)
        path = project / ".engramdown/episodes/s1.jsonl"
        path.rename(path.with_suffix(".aside"))
        path.mkdir()
        assert kept(session) == [SAID]

    @pytest.mark.parametrize("text", ["enabled = false", 'ignore = ["s*"]'])
    def test_where_nothing_is_recorded_the_conversation_lasts_as_long_as_the_program(
        self, isolated_home: Path, project: Path, text: str
    ) -> None:
        home = isolated_home / ".engramdown"
        home.mkdir()
        (home / "config.toml").write_text(f"[episodes]\n{text}\n", encoding="utf-8")
        session = EngramdownSession("s1", Cortex.open(project=project))
        assert kept(session, SAID, THE_CALL) == [SAID, THE_CALL]
        assert asyncio.run(session.pop_item()) == THE_CALL
        assert kept(session) == [SAID]
        assert not (project / ".engramdown/episodes").exists()

    def test_memory_that_cannot_be_read_is_told_to_the_model(
        self, cortex: Cortex, project: Path
    ) -> None:
        (project / ".engramdown/memory/rules.md").mkdir(parents=True)

        async def work(desk: Desk) -> None:
            async with EngramdownSession("s1", desk.cortex) as session:
                assert await desk.ask(session, "Hi") == "Hello."
                assert "Memory is degraded" in desk.prompt()
            await Runner.run(desk.agent, "Hi")
            assert "Memory is degraded" in desk.prompt()

        working(cortex, work, says("Hello."))
        assert [each.text for each in lines(cortex, "s1")] == ["Hi", "Hello."]

    def test_a_cancellation_waits_until_what_was_begun_is_kept(
        self, cortex: Cortex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = EngramdownSession("s1", cortex)
        begun, go_on = threading.Event(), threading.Event()
        add = session._add

        def slow(given_items: list[Any]) -> None:
            begun.set()
            go_on.wait(10)
            add(given_items)

        monkeypatch.setattr(session, "_add", slow)

        async def main() -> None:
            adding = asyncio.ensure_future(session.add_items([cast("Any", SAID)]))
            await asyncio.to_thread(begun.wait, 10)
            for _ in range(3):
                adding.cancel()
                await asyncio.sleep(0)
            assert not adding.done()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await adding

        asyncio.run(main())
        monkeypatch.undo()
        assert kept(session) == [SAID]


class TestSummaries:
    """A long history is given in summaries, if that is wanted."""

    @pytest.fixture
    def long(self, cortex: Cortex) -> EngramdownSession:
        """Return a session of many turns, summarised by rules."""
        session = EngramdownSession("s1", cortex, budget=2_000)

        async def fill() -> None:
            for at in range(30):
                call = {**THE_CALL, "call_id": f"c{at}"}
                result = {**THE_RESULT, "call_id": f"c{at}", "output": f"port {8000 + at}. " * 20}
                thought = {"type": "reasoning", "id": f"r{at}", "summary": []}
                asked = {"role": "user", "content": f"On which port is service {at}?"}
                said = {"role": "assistant", "content": f"I decided to use port {8000 + at}."}
                await session.add_items(cast("Any", [asked]))
                await session.add_items(cast("Any", [thought, call, result]))
                await session.add_items(cast("Any", [said]))

        asyncio.run(fill())
        assert session._session._compaction is not None
        assert session._session._compaction.wait(20)
        return session

    def test_summaries_stand_for_the_older_part_and_calls_keep_their_results(
        self, cortex: Cortex, long: EngramdownSession
    ) -> None:
        cortex.conversations.get("s1").compact("full", without_model=True)
        found = cast("list[Any]", asyncio.run(long.get_items()))
        whole = cast("list[Any]", asyncio.run(EngramdownSession("s1", cortex).get_items()))
        assert len(whole) == 150
        assert len(found) < 100
        assert found[0]["role"] == "user"
        assert found[0]["content"].startswith("<summary ")
        assert found[-20:] == whole[-20:]
        calls = [each["call_id"] for each in found if each.get("type") == "function_call"]
        results = [each["call_id"] for each in found if each.get("type") == "function_call_output"]
        assert calls == results
        for item, after in itertools.pairwise(found):
            if item.get("type") == "reasoning":
                assert whole[whole.index(item) + 1] == after
        assert asyncio.run(long.get_items()) == found

    @pytest.mark.usefixtures("long")
    def test_where_they_cannot_be_read_all_is_given(self, cortex: Cortex, project: Path) -> None:
        cortex.conversations.get("s1").compact("full", without_model=True)
        path = project / ".engramdown/gists/s1.jsonl"
        path.unlink()
        path.mkdir()
        fresh = EngramdownSession("s1", Cortex.open(project=project), budget=2_000)
        assert len(asyncio.run(fresh.get_items())) == 150

    def test_a_budget_is_above_nothing(self, cortex: Cortex) -> None:
        with pytest.raises(ValueError, match="budget is 0"):
            EngramdownSession("s1", cortex, budget=0)
