"""A conversation as turns: nobody is interrupted in the middle of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engramdown import Cortex, Engram, Hippocampus, MemoryContext, Session
from engramdown.cortex.session import refuse_mid_turn
from engramdown.errors import EngramdownError, InvalidEngramError, MidTurnError, StoreError
from engramdown.gate.pending import Order
from engramdown.gate.pending_file import FileQueue
from engramdown.hippocampus.entry import Written
from tests.cortex.person import Person
from tests.hippocampus.memory_store import MemoryStore


def ask(cortex: Cortex, text: str = "Use uv") -> str:
    """Let a proposal wait, and return its id."""
    return cortex.propose(Engram(text, "always", "project"))[0].id


def break_off(session: Session) -> None:
    """Fail in the middle of a turn."""
    with session:
        session.begin_turn()
        raise KeyError("no such tool")


class TestTurns:
    """Turns begin and end."""

    def test_they_are_counted(self, cortex: Cortex) -> None:
        with cortex.session() as session:
            assert (session.turns, session.in_turn) == (0, False)
            for number in (1, 2):
                session.begin_turn("hello")
                assert (session.turns, session.in_turn) == (number, True)
                session.end_turn("bye")
                assert (session.turns, session.in_turn) == (number, False)

    def test_one_begins_with_what_the_model_is_to_see(self, cortex: Cortex) -> None:
        cortex.encode(Engram("Use uv", "always", "project"))
        context = cortex.session().begin_turn("how?")
        assert isinstance(context, MemoryContext)
        assert context == cortex.build_memory_context("how?")
        assert "Use uv" in context

    def test_one_cannot_begin_within_another(self, cortex: Cortex) -> None:
        session = cortex.session()
        session.begin_turn()
        message = "cannot begin a turn in the middle of turn 1; call end_turn first"
        with pytest.raises(MidTurnError, match=message):
            session.begin_turn()
        assert session.turns == 1

    def test_none_can_end_that_did_not_begin(self, cortex: Cortex) -> None:
        session = cortex.session()
        with pytest.raises(EngramdownError, match="no turn is running; call begin_turn first"):
            session.end_turn()
        session.begin_turn()
        session.end_turn()
        with pytest.raises(EngramdownError, match="no turn is running"):
            session.end_turn()

    def test_one_that_is_running_ends_with_the_session(self, cortex: Cortex) -> None:
        with cortex.session() as session:
            session.begin_turn()
        assert not session.in_turn

    def test_an_error_in_the_middle_of_one_comes_out_as_it_is(self, cortex: Cortex) -> None:
        session = cortex.session()
        with pytest.raises(KeyError, match="no such tool"):
            break_off(session)
        assert not session.in_turn

    def test_so_does_one_when_the_files_are_broken_too(
        self, copilot: Cortex, person: Person
    ) -> None:
        ask(copilot)
        (person.memory / "pending.md").unlink()
        (person.memory / "pending.md").mkdir()
        with pytest.raises(KeyError, match="no such tool"):
            break_off(copilot.session())
        assert any(
            "could not read what is pending" in notice for notice in copilot.scopes.notices()
        )

    def test_one_that_cannot_begin_did_not(self, cortex: Cortex, person: Person) -> None:
        session = cortex.session()
        template = person.memory.parent / "templates" / "section.j2"
        template.parent.mkdir(parents=True)
        template.write_text("{% if", encoding="utf-8")
        person.saves("rules.md", "## Always\n\n- Use uv\n")
        with pytest.raises(StoreError):
            session.begin_turn()
        assert (session.turns, session.in_turn) == (0, False)
        template.unlink()
        session.begin_turn()
        assert session.turns == 1


class TestConfirmations:
    """What a person is asked, and when."""

    def test_between_turns_there_is_what_waits(self, copilot: Cortex) -> None:
        waiting = ask(copilot)
        session = copilot.session()
        assert [proposal.id for proposal in session.confirmations()] == [waiting]

    def test_during_a_turn_there_is_nothing(self, copilot: Cortex) -> None:
        session = copilot.session()
        session.begin_turn()
        waiting = ask(copilot)
        assert session.confirmations() == []
        session.end_turn()
        assert [proposal.id for proposal in session.confirmations()] == [waiting]

    def test_what_is_held_is_nobody_asked_about(self, cortex: Cortex) -> None:
        cortex.encode(Engram("Never deploy on Fridays", "never", "project", "high", source="user"))
        cortex.propose(Engram("Deploy on Fridays", "always", "project", "high"))
        assert len(cortex.pending()) == 1
        assert cortex.session().confirmations() == []


class TestDeciding:
    """What a person decided is carried out between turns."""

    @pytest.mark.parametrize("decision", ["accept", "decline", "skip"])
    def test_nothing_is_resolved_during_a_turn(self, copilot: Cortex, decision: str) -> None:
        waiting = ask(copilot)
        session = copilot.session()
        session.begin_turn()
        message = "cannot resolve a proposal in the middle of turn 1; call end_turn first"
        with pytest.raises(MidTurnError, match=message):
            session.resolve(waiting, decision)
        assert len(copilot.pending()) == 1
        session.end_turn()
        session.resolve(waiting, decision)
        assert len(copilot.pending()) == (decision == "skip")

    def test_other_words_are_remembered_instead(self, copilot: Cortex) -> None:
        waiting = ask(copilot)
        receipt = copilot.session().resolve(waiting, text="Use uv, never pip")
        assert (receipt.action, receipt.engram.text) == ("encoded", "Use uv, never pip")
        assert [entry.text for entry in copilot.entries()] == ["Use uv, never pip"]

    def test_a_wrong_decision_is_told(self, copilot: Cortex) -> None:
        with pytest.raises(InvalidEngramError, match="'yes' is not one of accept, decline, skip"):
            copilot.session().resolve(ask(copilot), "yes")

    def test_ticks_are_carried_out_when_a_session_begins(
        self, copilot: Cortex, person: Person
    ) -> None:
        ask(copilot)
        person.ticks("Use uv")
        copilot.session()
        assert [entry.text for entry in copilot.entries()] == ["Use uv"]

    def test_and_when_a_turn_begins(self, copilot: Cortex, person: Person) -> None:
        session = copilot.session()
        ask(copilot)
        person.ticks("Use uv")
        assert "Use uv" in session.begin_turn()

    def test_and_when_a_turn_ends_but_not_before(self, copilot: Cortex, person: Person) -> None:
        session = copilot.session()
        session.begin_turn()
        ask(copilot)
        person.ticks("Use uv")
        assert copilot.entries() == []
        session.end_turn()
        assert [entry.text for entry in copilot.entries()] == ["Use uv"]

    def test_a_tick_that_cannot_be_carried_out_is_told(
        self, copilot: Cortex, person: Person
    ) -> None:
        person.saves("pending.md", "- [x] Until soon <!-- id:k3v9q2ht expires:soon -->\n")
        with copilot.session() as session:
            session.begin_turn()
        (notice,) = [notice for notice in copilot.scopes.notices() if "ticked" in notice]
        assert "'soon' is not a date" in notice
        assert "[x] Until soon" in person.reads("pending.md")

    def test_a_scope_that_cannot_be_read_keeps_nobody_waiting(
        self, copilot: Cortex, person: Person, at_home: Person
    ) -> None:
        ask(copilot)
        person.ticks("Use uv")
        (at_home.memory / "pending.md").mkdir(parents=True)
        copilot.session()
        assert "Use uv" in person.reads("rules.md")
        assert any(
            "could not read what is pending" in notice for notice in copilot.scopes.notices()
        )

    def test_a_tick_that_somebody_else_carries_out_meanwhile_is_passed_over(
        self, copilot: Cortex, project: Path, person: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ask(copilot)
        person.ticks("Use uv")
        other, decide = Cortex.open(project=project), FileQueue.decide

        def late(
            queue: FileQueue, orders: Sequence[Order], go_on: Callable[[], bool]
        ) -> list[Written | EngramdownError | None]:
            monkeypatch.undo()
            assert [receipt.action for receipt in other.review.apply_ticks()] == ["encoded"]
            return decide(queue, orders, go_on)

        monkeypatch.setattr(FileQueue, "decide", late)
        assert copilot.review.apply_ticks() == []
        assert [entry.text for entry in copilot.entries()] == ["Use uv"]
        assert copilot.scopes.notices() == []

    def test_two_sessions_carry_out_a_tick_once(
        self, copilot: Cortex, project: Path, person: Person
    ) -> None:
        ask(copilot)
        person.ticks("Use uv")
        copilot.session()
        Cortex.open(project=project).session()
        assert [entry.text for entry in copilot.entries()] == ["Use uv"]


class TestOthersOfTheProcess:
    """Whoever else lets a person decide, as a server does, can see that a turn runs."""

    def test_nobody_decides_in_the_middle_of_one(self, cortex: Cortex) -> None:
        session = cortex.session()
        refuse_mid_turn(cortex.reopened().scopes)
        session.begin_turn()
        with pytest.raises(MidTurnError, match="a turn is running"):
            refuse_mid_turn(cortex.reopened().scopes)
        refuse_mid_turn(Cortex(Hippocampus("elsewhere", "global"), MemoryStore()).scopes)
        session.end_turn()
        refuse_mid_turn(cortex.reopened().scopes)


class TestProgramsThatRunTheModel:
    """A program that runs the model itself tells what is said."""

    def test_what_it_keeps_stands_beside_what_was_said(self, cortex: Cortex) -> None:
        with cortex.session("s1") as session:
            session.begin_turn("hello", {"of": "mine"})
            began = session.turn_began
            session.record("tool_call", "{}", name="shell", call="c1", meta={"of": "yours"})
            session.end_turn()
            session.record("assistant", "bye", turn=7)
        assert cortex.episodes is not None
        _, user, call, said, _ = cortex.episodes.session("s1").episodes
        assert (user.text, user.turn, user.meta, user.seq) == ("hello", 1, {"of": "mine"}, 1)
        assert str(began) == "s1#1"
        assert (call.name, call.call, call.turn, call.meta) == ("shell", "c1", 1, {"of": "yours"})
        assert (said.text, said.turn) == ("bye", 7)

    def test_errors_that_it_tells_of_are_learned_from(self, cortex: Cortex) -> None:
        session = cortex.session()
        session.begin_turn("deploy")
        for call in ("a", "b", "c"):
            session.record("tool_call", '{"command": "make"}', name="shell", call=call)
            session.record("tool_result", "", name="shell", call=call, error="no rule")
        session.end_turn("It failed.")
        origins = {entry.origin.partition(",")[0] for entry in cortex.entries()}
        assert origins == {f"{session.id}#2"}

    def test_of_two_sessions_the_one_that_acts_notes_what_becomes_memory(
        self, cortex: Cortex
    ) -> None:
        first, second = cortex.session("one"), cortex.session("two")
        first.begin_turn("a")
        second.begin_turn("b")
        first.attend()
        cortex.encode(Engram("Use uv", "always", "project"))
        second.attend()
        cortex.encode(Engram("Use ruff", "always", "project"))
        assert cortex.episodes is not None
        noted = {
            name: [
                each.text
                for each in cortex.episodes.session(name).episodes
                if each.role == "memory_write"
            ]
            for name in ("one", "two")
        }
        assert noted == {"one": ["Use uv"], "two": ["Use ruff"]}
