"""What a model is shown for the next step of a conversation."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramdown import Cortex, Engram, Hippocampus, WorkingContext
from engramdown.conversation.view import Track
from engramdown.engram import Kind
from engramdown.errors import SessionNotFoundError, StoreError
from engramdown.tokens import estimate_tokens
from tests.conftest import Opening
from tests.conversation.provider_rules import check_anthropic, check_openai
from tests.cortex.conversation.talks import SESSION, Summariser, talk

WIDE = 100_000


def say(cortex: Cortex, role: str, text: str, session: str = SESSION) -> None:
    """Record a line."""
    assert cortex.episodes is not None
    cortex.episodes.log(session, role, text)


def root(cortex: Cortex) -> Path:
    """Return the folder of the project's scope."""
    assert isinstance(cortex.scopes.project_hc, Hippocampus)
    return cortex.scopes.project_hc.root


def soul(cortex: Cortex, text: str = "# Me\n\nYou are kind.\n") -> Path:
    """Write who the assistant is."""
    page = root(cortex) / "memory" / "soul.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")
    return page


def remember(cortex: Cortex, text: str = "Use uv, never pip", kind: Kind = "always") -> None:
    """Learn something."""
    (receipt,) = cortex.propose(
        Engram(text, kind=kind, scope="project", confidence="high", source="user", topic="x")
    )
    assert receipt.action == "encoded"


def learn_much(cortex: Cortex) -> None:
    """Learn sixty lessons."""
    texts = (f"In room {number} the lamp was replaced by a new one" for number in range(60))
    cortex.encode([Engram(text, kind="lesson", scope="project", topic="x") for text in texts])


def skill(cortex: Cortex, label: str, text: str = "") -> None:
    """Write a skill."""
    folder = root(cortex) / "skills" / label
    folder.mkdir(parents=True)
    page = text or f"---\nname: {label}\ndescription: Make {label}\n---\nWith care.\n"
    (folder / "SKILL.md").write_text(page, encoding="utf-8")


def full(opened: Opening) -> Cortex:
    """Return a cortex that has something for every part."""
    cortex = opened(at_home="[episodes]\nhistory = true\n")
    soul(cortex)
    remember(cortex)
    remember(cortex, "CI is slow on Mondays", "lesson")
    skill(cortex, "charts")
    say(cortex, "user", "Why does the lamp flicker?", "old")
    say(cortex, "assistant", "Its dimmer is old.", "old")
    assert cortex.episodes is not None
    cortex.episodes.end("old")
    cortex.journal.write("Moved the deploys to Monday.")
    talk(cortex, 3)
    cortex.conversations.notes(SESSION).write("Look at the clock.")
    return cortex


def dropped(made: WorkingContext) -> dict[str, str]:
    """Return why something is not shown, by where it stands or what it is."""
    return {each.where or each.what: each.reason for each in made.dropped}


class TestParts:
    """What a context is made of."""

    def test_it_has_every_part(self, opened: Opening) -> None:
        cortex = full(opened)
        say(cortex, "user", "And the lamp?")
        made = cortex.conversations.build_context(SESSION, WIDE)
        assert made.soul == "## Who You Are\n\n### Me\n\nYou are kind."
        assert [section.name for section in made.sections] == ["project_rules", "project_lessons"]
        assert made.skills.endswith("- charts: Make charts")
        assert "Why does the lamp flicker?" in made.history
        assert "Moved the deploys to Monday." in made.journal
        assert made.notes == "> Look at the clock."
        assert "old#1" in made.relevant
        assert made.recalled == ("old#1", "old#2")
        assert [line.text for line in made.recent][-1] == "And the lamp?"
        assert made.dropped == ()
        assert made.degraded == ""
        assert str(made) == made.text()

    def test_what_is_stable_comes_first_and_the_rest_behind_the_newest_message(
        self, opened: Opening
    ) -> None:
        cortex = full(opened)
        say(cortex, "user", "And the lamp?")
        made = cortex.conversations.build_context(SESSION, WIDE)
        wanted = ["You are kind", "Use uv", "CI is slow", "Make charts", "Earlier Sessions"]
        wanted += ["Moved the deploys", "Question 1", "Answer 3", "And the lamp?"]
        wanted += ["Look at the clock", "old#1"]
        said = [json.dumps(made.openai()), json.dumps(made.anthropic()), made.text()]
        for text in said:
            places = [text.index(each) for each in wanted]
            assert places == sorted(places)

    def test_it_costs_what_its_parts_cost(self, opened: Opening) -> None:
        made = full(opened).conversations.build_context(SESSION, WIDE)
        around = estimate_tokens(made.system) + estimate_tokens(made.aside)
        assert made.tokens == around + sum(line.tokens for line in made.messages)

    def test_without_memory_there_is_the_conversation_alone(self, opened: Opening) -> None:
        cortex = opened()
        talk(cortex, 1)
        made = cortex.conversations.build_context(SESSION, WIDE)
        assert (made.system, made.aside, made.working_summary) == ("", "", "")
        assert [message["role"] for message in made.openai()] == [
            *("user", "assistant", "tool", "assistant")
        ]

    def test_it_says_that_memory_is_data_and_may_be_out_of_date(self, opened: Opening) -> None:
        made = full(opened).conversations.build_context(SESSION, WIDE)
        for text in (made.system, made.aside):
            assert "may be out of date" in text
            assert "gives you orders" in text

    def test_a_summary_stands_where_it_was_said_and_is_the_working_summary(
        self, opened: Opening
    ) -> None:
        cortex = opened(model=Summariser())
        conversation = talk(cortex, 12)
        (gist,) = conversation.compact().gists
        made = cortex.conversations.build_context(SESSION, WIDE)
        assert made.messages[0].source == gist.id
        assert made.working_summary == made.messages[0].text
        assert 'trust="untrusted"' in made.working_summary
        assert made.openai()[0] == {"role": "user", "content": made.working_summary}

    def test_a_broken_skill_is_not_offered(self, opened: Opening) -> None:
        cortex = full(opened)
        skill(cortex, "broken", "no front matter")
        assert "broken" not in cortex.conversations.build_context(SESSION, WIDE).skills

    def test_what_cannot_be_read_is_told_and_is_no_error(self, opened: Opening) -> None:
        cortex = full(opened)
        path = root(cortex) / "working" / f"{SESSION}.md"
        path.unlink()
        path.mkdir()
        made = cortex.conversations.build_context(SESSION, WIDE)
        assert made.notes == ""
        assert str(path) in dropped(made)["notes"]

    def test_a_search_that_fails_is_told_and_is_no_error(
        self, opened: Opening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cortex = full(opened)
        monkeypatch.setattr(cortex.scopes, "recall", None)
        made = cortex.conversations.build_context(SESSION, WIDE)
        assert made.relevant == ""
        assert "TypeError" in dropped(made)["relevant"]

    def test_the_words_can_be_ones_own(self, opened: Opening) -> None:
        cortex = full(opened)
        folder = root(cortex) / "templates"
        folder.mkdir()
        (folder / "working.j2").write_text("Mine.\n{{ soul }}\n{{ memory }}", encoding="utf-8")
        (folder / "aside.j2").write_text("Notes: {{ notes }}", encoding="utf-8")
        made = cortex.conversations.build_context(SESSION, WIDE)
        assert made.system.startswith("Mine.\n## Who You Are")
        assert made.aside == "Notes: > Look at the clock."
        (folder / "aside.j2").write_text("{{ nothing }}", encoding="utf-8")
        with pytest.raises(StoreError, match=r"aside\.j2, line 1"):
            cortex.conversations.build_context(SESSION, WIDE)


class TestBudget:
    """What is shown when there is not room for everything."""

    @pytest.mark.parametrize("count", [1, 2, 10, 19, 20])
    def test_fewer_messages_than_the_tail_holds_are_all_shown(
        self, opened: Opening, count: int
    ) -> None:
        cortex = opened()
        for number in range(count):
            say(cortex, "user", f"Message {number}")
        made = cortex.conversations.build_context(SESSION, 1)
        assert len(made.messages) == len(made.recent) == count
        assert made.dropped == ()

    def test_a_tail_that_is_larger_than_the_budget_is_whole(self, opened: Opening) -> None:
        cortex = full(opened)
        for number in range(10):
            say(cortex, "user", f"Message {number} " + "word " * 50)
        made = cortex.conversations.build_context(SESSION, 1, fresh_tail=2)
        assert [line.text[:9] for line in made.messages] == ["Message 8", "Message 9"]
        assert made.tokens > made.budget
        assert made.system == made.aside == ""
        told = dropped(made)
        assert told["project_rules"] == "1 do not fit"
        assert told["skills"] == told["notes"] == told["journal"] == "1 do not fit"
        assert told["history"] == told[f"{SESSION}#1"] == "no room for it"

    def test_what_is_older_is_shown_from_the_newest_on(self, opened: Opening) -> None:
        cortex = opened()
        for number in range(30):
            say(cortex, "user", f"Message {number:02}")
        made = cortex.conversations.build_context(SESSION, 7 * 10, fresh_tail=5)
        assert [line.text for line in made.messages] == [f"Message {n}" for n in range(20, 30)]
        assert len(made.dropped) == 20
        assert made.tokens == 70

    def test_one_huge_message_hides_nothing_behind_it(self, opened: Opening) -> None:
        cortex = opened()
        for text in ("First", "word " * 9_000, "Second", "Third"):
            say(cortex, "user", text)
        made = cortex.conversations.build_context(SESSION, 200, fresh_tail=1)
        texts = [line.text for line in made.messages]
        assert texts[0] == "First"
        assert texts[1].startswith("[user has about 11,254 tokens at ")
        assert f"{SESSION}#2" in texts[1]
        assert texts[2:] == ["Second", "Third"]
        assert "placeholder" in dropped(made)[f"{SESSION}#2"]

    @pytest.mark.slow
    def test_a_call_and_its_result_are_shown_or_left_out_together(self, opened: Opening) -> None:
        cortex = opened()
        talk(cortex, 30)
        for budget in range(0, 900, 7):
            made = cortex.conversations.build_context(SESSION, budget, fresh_tail=4)
            calls = {line.call for line in made.messages if line.role == "tool_call"}
            assert calls == {line.call for line in made.messages if line.role == "tool_result"}
            assert check_openai(made.openai()) == []
            assert check_anthropic(made.anthropic()) == []

    def test_who_is_left_out_is_told_to_the_model(self, opened: Opening) -> None:
        cortex = opened()
        talk(cortex, 100)
        made = cortex.conversations.build_context(SESSION, 2_000)
        out = 400 - len(made.messages)
        assert f"({out} earlier messages of this conversation are left out" in made.aside

    @pytest.mark.slow
    @pytest.mark.parametrize("budget", [50, 120, 200, 400, 700, 1_000, 3_000])
    def test_everything_but_the_tail_keeps_to_the_budget(
        self, opened: Opening, budget: int
    ) -> None:
        cortex = full(opened)
        learn_much(cortex)
        say(cortex, "user", "And the lamp?")
        made = cortex.conversations.build_context(SESSION, budget, fresh_tail=1)
        assert made.tokens <= budget
        assert made.recent[-1].text == "And the lamp?"

    def test_where_it_is_tight_rules_come_before_lessons(self, opened: Opening) -> None:
        cortex = full(opened)
        learn_much(cortex)
        say(cortex, "user", "Hello")
        made = cortex.conversations.build_context(SESSION, 500, fresh_tail=1)
        assert "Use uv, never pip" in made.system
        assert "You are kind." in made.system
        assert "60 do not fit" in dropped(made)["project_lessons"] or made.sections[-1].left_out

    def test_a_result_is_a_placeholder_once_its_turn_is_over(self, opened: Opening) -> None:
        cortex = opened()
        with cortex.session(SESSION) as session:
            session.begin_turn("Why is CI red?")
            call = session.tool_call("shell", {"cmd": "pytest"})
            session.tool_result("shell", "2 failed " * 3_000, call=call)
            running = session.build_context(WIDE)
            assert running.messages[2].text == "2 failed " * 3_000
            session.end_turn("The clock.")
            session.begin_turn("Thanks")
            made = session.build_context(WIDE)
        assert made.messages[2].text.startswith("[shell gave about 6,75")
        assert made.messages[2].call == call
        assert dropped(made)[f"{SESSION}#3"].startswith("its turn is over")

    @pytest.mark.parametrize("budget, tail", [(-1, None), (9, -1)])
    def test_less_than_nothing_is_refused(
        self, opened: Opening, budget: int, tail: int | None
    ) -> None:
        cortex = opened()
        talk(cortex, 1)
        with pytest.raises(ValueError, match="give 0 or more"):
            cortex.conversations.build_context(SESSION, budget, tail)

    def test_the_tail_is_as_long_as_it_is_set(self, opened: Opening) -> None:
        cortex = opened(config="[conversation]\nfresh_tail = 4\n")
        talk(cortex, 9)
        assert len(cortex.conversations.build_context(SESSION, 1).messages) == 4
        assert len(cortex.conversations.build_context(SESSION, 1, 8).messages) == 8
        assert len(cortex.conversations.build_context(SESSION, 1, 0).messages) == 4


class TestPrefix:
    """From turn to turn only the end of a prompt is another."""

    @staticmethod
    def _shared(one: str, other: str) -> str:
        count = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
        return one[:count]

    def test_two_prompts_share_all_up_to_the_newest_message_of_the_first(
        self, opened: Opening
    ) -> None:
        cortex = full(opened)
        with cortex.session(SESSION) as session:
            made = []
            for question in ("Does the lamp work?", "What of CI?", "Whose dimmer is it?"):
                session.begin_turn(question)
                call = session.tool_call("look", {"at": question})
                made.append(session.build_context(WIDE))
                session.tool_result("look", "word " * 3_000, call=call)
                made.append(session.build_context(WIDE))
                session.end_turn(f"Done with {question}")
                cortex.conversations.notes(session).append(f"Done: {question}")
        for one, other in zip(made[::2], made[2::2], strict=False):
            newest = next(each.text for each in reversed(one.messages) if each.role == "user")
            assert one.system == other.system
            for render in (WorkingContext.text, _lines(WorkingContext.openai)):
                assert newest in self._shared(render(one), render(other))
            asked, answered = one.anthropic(), other.anthropic()
            assert asked["system"] == answered["system"]
            last = len(asked["messages"]) - 2
            assert asked["messages"][:last] == answered["messages"][:last]

    def test_a_step_of_the_same_turn_only_adds(self, opened: Opening) -> None:
        cortex = opened()
        with cortex.session(SESSION) as session:
            session.begin_turn("Look")
            before = session.build_context(WIDE).openai()
            call = session.tool_call("look")
            session.tool_result("look", "word " * 3_000, call=call)
            after = session.build_context(WIDE).openai()
        assert after[: len(before)] == before

    def test_the_journal_and_the_history_stay_for_the_life_of_a_session(
        self, opened: Opening
    ) -> None:
        cortex = full(opened)
        before = cortex.conversations.build_context(SESSION, WIDE)
        cortex.journal.write("Something new.")
        say(cortex, "user", "Hello", "later")
        after = cortex.conversations.build_context(SESSION, WIDE)
        assert (after.journal, after.history) == (before.journal, before.history)
        talk(cortex, 1, "other")
        assert "Something new." in cortex.conversations.build_context("other", WIDE).journal

    def test_who_the_assistant_is_stays_too_and_what_a_person_took_out_is_gone(
        self, opened: Opening
    ) -> None:
        cortex = full(opened)
        soul(cortex, "You are kind.\n\nYou are brief.\n")
        with cortex.session(SESSION) as session:
            session.begin_turn("Hello")
            assert "You are kind.\n\nYou are brief." in session.build_context(WIDE).soul
            soul(cortex, "You are brief.\n\nYou sing.\n")
            made = session.build_context(WIDE)
            assert made.soul == "## Who You Are\n\nYou are brief."

    def test_the_same_state_gives_the_same_bytes(self, opened: Opening) -> None:
        cortex = full(opened)
        assert cortex.conversations.build_context(
            SESSION, 900
        ) == cortex.conversations.build_context(SESSION, 900)

    @pytest.mark.slow
    def test_another_day_changes_nothing_in_a_session(self, opened: Opening) -> None:
        with freeze_time("2026-03-01 12:00") as clock:
            cortex = full(opened)
            before = cortex.conversations.build_context(SESSION, WIDE)
            clock.move_to("2026-03-03 12:00")
            assert cortex.conversations.build_context(SESSION, WIDE).system == before.system


class TestSession:
    """A running session."""

    def test_what_was_looked_up_is_recorded_once_a_turn(self, opened: Opening) -> None:
        cortex = full(opened)
        with cortex.session(SESSION) as session:
            session.begin_turn("And the lamp?")
            session.build_context(WIDE)
            session.build_context(WIDE)
            session.end_turn("Old.")
            session.build_context(WIDE)
        assert cortex.episodes is not None
        read = [
            episode.recalled
            for episode in cortex.episodes.session(SESSION).episodes
            if episode.role == "memory_read" and episode.recalled
        ]
        assert read == [("old#1", "old#2")]

    def test_reading_writes_nothing(self, opened: Opening, tmp_path: Path) -> None:
        cortex = full(opened)
        cortex.conversations.build_context(SESSION, WIDE)
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
        cortex.conversations.build_context(SESSION, WIDE)
        after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
        assert {p: t for p, t in after.items() if "cache" not in p.parts} == {
            p: t for p, t in before.items() if "cache" not in p.parts
        }

    def test_a_session_in_which_nothing_was_said_yet_has_a_prompt(self, opened: Opening) -> None:
        cortex = opened()
        with cortex.session() as session:
            made = session.build_context(WIDE)
        assert made.messages == ()
        assert check_anthropic(made.anthropic()) == check_openai(made.openai()) == []

    def test_a_transcript_that_cannot_be_read_is_an_error_where_no_session_runs(
        self, opened: Opening
    ) -> None:
        cortex = opened()
        assert cortex.episodes is not None
        (cortex.episodes.folder / f"{SESSION}.jsonl").mkdir(parents=True)
        with pytest.raises(StoreError, match=SESSION):
            cortex.conversations.build_context(SESSION, WIDE)

    def test_a_session_that_is_not_there_is_an_error(self, opened: Opening) -> None:
        cortex = opened()
        with pytest.raises(SessionNotFoundError):
            cortex.conversations.build_context("nowhere", WIDE)

    def test_a_question_that_could_not_be_recorded_is_in_the_prompt(self, opened: Opening) -> None:
        cortex = opened()
        with cortex.session(SESSION) as session:
            session.begin_turn("First")
            session.end_turn("Yes")
            assert cortex.episodes is not None
            path = cortex.episodes.folder
            path.rename(path.with_name("away"))
            path.write_text("no folder", encoding="utf-8")
            session.begin_turn("Is the disk full?")
            assert session.degraded
            made = session.build_context(WIDE)
            path.unlink()
            path.with_name("away").rename(path)
            session.end_turn("No")
        assert made.messages[-1].text == "Is the disk full?"
        assert made.degraded.startswith("Memory is degraded")
        assert made.degraded in made.aside

    def test_a_disk_that_fails_while_all_is_read_again_ends_no_turn(
        self, opened: Opening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cortex = opened(Summariser())
        assert talk(cortex, 6).compact(tail=2).gists
        assert cortex.episodes is not None
        path = cortex.episodes.folder / f"{SESSION}.jsonl"
        with cortex.session(SESSION) as session:
            session.begin_turn("Is the disk broken?")
            copy = path.with_name("copy")
            copy.write_bytes(path.read_bytes())
            copy.replace(path)  # It is another file now: nothing that was read of it counts.

            def fail(*_: object) -> None:
                raise OSError(errno.EIO, "Input/output error")

            with monkeypatch.context() as patched:
                patched.setattr(Track, "_begin", fail)
                made = session.build_context(WIDE)
            assert session.build_context(WIDE).dropped == ()
            session.end_turn("Yes")
        assert "Input/output error" in dropped(made)[SESSION]

    def test_what_it_is_about_can_be_said(self, opened: Opening) -> None:
        cortex = full(opened)
        made = cortex.conversations.build_context(SESSION, WIDE, message="the lamp")
        assert "old#1" in made.relevant
        assert (
            "old#1"
            in cortex.conversations.build_context(SESSION, WIDE, subjects="entity:lamp").relevant
        )
        assert (
            cortex.conversations.build_context(SESSION, WIDE, subjects=["contact:ada"]).relevant
            == ""
        )


def _lines(render: Any) -> Any:  # noqa: ANN401 - any renderer
    return lambda made: json.dumps(render(made), ensure_ascii=False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 1_500), st.integers(0, 24))
def test_whatever_the_budget_the_newest_message_is_there_and_providers_take_it(
    long_talk: Cortex, budget: int, tail: int
) -> None:
    made = long_talk.conversations.build_context(SESSION, budget, tail)
    assert made.recent
    fresh = sum(line.tokens for line in made.recent)
    assert made.tokens <= max(budget, fresh)
    assert check_openai(made.openai()) == check_anthropic(made.anthropic()) == []
    sources = [line.source for line in made.messages]
    assert len(set(sources)) == len(sources)


@pytest.fixture
def long_talk(opened: Opening) -> Cortex:
    """Return a cortex with a conversation that was summarised."""
    cortex = opened(
        model=Summariser(lambda number, _: f"Summary {number}. " + "word " * number * 9)
    )
    soul(cortex)
    remember(cortex)
    conversation = talk(cortex, 30)
    conversation.compact("full")
    talk(cortex, 5)
    return cortex


def test_of_a_session_that_is_not_recorded_it_is_told_that_little_is_known(opened: Opening) -> None:
    cortex = opened(None, f'[episodes]\nignore = ["{SESSION}"]\n')
    with cortex.session(SESSION) as session:
        assert session.build_context(WIDE).dropped == ()
        session.begin_turn("Why is CI red?")
        call = session.tool_call("shell", "pytest")
        session.tool_result("shell", "2 failed", call=call)
        context = session.build_context(WIDE)
    assert [message.text for message in context.messages] == ["Why is CI red?"]
    assert "nothing of this session is recorded" in context.dropped[0].reason
