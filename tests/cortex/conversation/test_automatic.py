"""A session that is summarised beside the conversation, as it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from engramdown import Session
from tests.conftest import Opening
from tests.cortex.conversation.talks import Summariser, broken, everything


def converse(session: Session, turns: int, *, assembled: bool = True) -> None:
    """Talk for some turns of two messages each."""
    for number in range(turns):
        session.begin_turn(f"Question {number}")
        if assembled:
            assert session.build_context(100_000).messages
        session.end_turn(f"Answer {number}")


def ended(session: Session) -> Session:
    """Wait until what was begun beside the session has ended."""
    beside = session._summaries
    assert beside is None or beside.wait(30)
    return session


def test_a_conversation_whose_prompts_are_ours_is_summarised_as_it_goes_on(opened: Opening) -> None:
    cortex = opened(Summariser())
    assert cortex.episodes is not None
    with cortex.session() as session:
        converse(session, 14)
        assert ended(session).compacted is None
        converse(session, 1)
        done = ended(session).compacted
        assert done is not None
        assert done.reload_required
        session.begin_turn("And now?")
        made = session.build_context(100_000)
        assert "Summary 1." in made.working_summary
        said = [item.seq for item in cortex.episodes.session(session.id).episodes if item.text]
        assert everything(cortex.conversations.get(session)) == said


def test_one_that_somebody_else_shows_to_a_model_is_left_alone(opened: Opening) -> None:
    model = Summariser()
    with opened(model).session() as session:
        converse(session, 40, assembled=False)
        assert ended(session).compacted is None
    assert model.asked == []


@pytest.mark.slow
def test_it_can_be_switched_off(opened: Opening) -> None:
    model = Summariser()
    with opened(model, "[conversation]\nautomatic = false\n").session() as session:
        converse(session, 40)
        assert ended(session).compacted is None
    assert model.asked == []


@pytest.mark.slow
def test_in_the_mode_off_nothing_is_summarised_of_its_own_accord(opened: Opening) -> None:
    model = Summariser()
    cortex = opened(model)
    cortex.mode = "off"
    with cortex.session() as session:
        converse(session, 40)
    assert model.asked == []


@pytest.mark.slow
def test_no_turn_waits_for_a_model(opened: Opening) -> None:
    thinks, may_answer = threading.Event(), threading.Event()

    def say(*_: object) -> str:
        thinks.set()
        assert may_answer.wait(30)
        return "Summary."

    cortex = opened(Summariser(say))
    with cortex.session() as session:
        converse(session, 15)
        assert thinks.wait(30)
        converse(session, 20)
        assert cortex.conversations.get(session).gists == ()
        may_answer.set()
        assert ended(session).compacted is not None
        assert len(cortex.conversations.get(session).gists) == 1


def test_a_summary_that_a_program_did_not_wait_for_is_made_by_the_next(opened: Opening) -> None:
    thinks, may_answer = threading.Event(), threading.Event()

    def say(*_: object) -> str:
        thinks.set()
        assert may_answer.wait(60)
        return ""

    with opened(Summariser(say)).session() as session:
        converse(session, 15)
        assert thinks.wait(30)
    cortex = opened(Summariser())
    assert cortex.episodes is not None
    with cortex.session(session.id) as again:
        converse(again, 1)
        done = ended(again).compacted
        assert done is not None
        assert len(done.gists) == 1
        said = [item.seq for item in cortex.episodes.session(session.id).episodes if item.text]
        assert everything(cortex.conversations.get(again)) == said
    may_answer.set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "say", [pytest.param(broken, id="error"), pytest.param(lambda *_: "", id="empty")]
)
def test_a_model_that_fails_is_asked_seldom_and_stops_nothing(
    opened: Opening, say: Callable[[int, str], str]
) -> None:
    model = Summariser(say)
    with opened(model).session() as session:
        for _ in range(40):
            converse(session, 1)
            ended(session)
        done = session.compacted
        assert done is not None
        assert done.reason
    assert 1 <= len(model.asked) <= 2
