"""A model is reminded of earlier sessions where a person has switched that on."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex, Engram

HEADING = "## Your Memory — Earlier Sessions"


@pytest.fixture
def history(cortex: Cortex, project: Path, isolated_home: Path) -> Cortex:
    """Open both scopes with the history switched on, after one session."""
    (isolated_home / ".engramdown" / "config.toml").write_text(
        "[episodes]\nhistory = true\n", encoding="utf-8"
    )
    talk(cortex, "first", "Why is CI red?", "The clock.")
    return Cortex.open(project=project)


def talk(cortex: Cortex, session: str, message: str, reply: str) -> None:
    with cortex.session(session) as running:
        running.begin_turn(message)
        running.end_turn(reply)


def test_it_is_off_unless_it_is_set(cortex: Cortex) -> None:
    talk(cortex, "first", "Why is CI red?", "The clock.")
    with cortex.session() as session:
        assert HEADING not in session.begin_turn("Hello")
    assert cortex.context.earlier_sessions() == ()


def test_a_session_begins_with_what_was_said_before(history: Cortex) -> None:
    with history.session() as session:
        context = session.begin_turn("Hello")
    assert HEADING in context
    assert "  - user: Why is CI red?\n  - assistant: The clock." in context
    assert HEADING in history.build_memory_context("Hello")


def test_what_was_taken_back_is_absent(history: Cortex) -> None:
    assert history.episodes is not None
    history.episodes.forgetting().exclude("first", [1])
    assert "CI" not in history.build_memory_context()
    history.episodes.forgetting().exclude("first")
    assert history.build_memory_context() == ""


def test_it_stays_for_the_life_of_a_session(history: Cortex) -> None:
    with history.session("running") as session:
        before = session.begin_turn("Hello")
        session.end_turn("Hi")
        talk(history, "meanwhile", "Something else", "Yes")
        assert session.begin_turn("Hello") == before
    assert "Something else" in history.build_memory_context()


def test_it_stays_when_a_session_goes_on_in_another_process(history: Cortex, project: Path) -> None:
    session = history.session("running")
    before = session.begin_turn("Hello")
    session.end_turn("Hi")
    talk(history, "meanwhile", "Something else", "Yes")
    again = Cortex.open(project=project).session("running")
    assert again.begin_turn("Hello") == before


@pytest.mark.usefixtures("history")
def test_the_budget_is_that_of_the_setting(project: Path) -> None:
    config = project / ".engramdown" / "config.toml"
    config.write_text("[episodes]\nhistory_tokens = 65\n", encoding="utf-8")
    (section,) = Cortex.open(project=project).build_memory_context().sections
    assert 0 < section.tokens <= section.budget == 65


def test_a_store_without_files_has_no_history(history: Cortex) -> None:
    history.encode(Engram("Use uv", "always", "project"))
    history.scopes.dry_run()
    assert "Use uv" in history.build_memory_context()
    assert HEADING not in history.build_memory_context()
