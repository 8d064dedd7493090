"""Deciding on what waits: by keys, in batches, with others deciding at the same time."""

from __future__ import annotations

from engramdown import Cortex, Engram
from tests.web.journeys.conftest import Server, Windows

WAITING = ("CI is slow on Mondays", "Deploy with make", "The staging database is small")


def wait_for(cortex: Cortex, *texts: str, **more: str) -> None:
    """Let proposals wait for a person."""
    before, cortex.mode = cortex.mode, "copilot"
    cortex.propose([Engram(each, "lesson", "project", "low", **more) for each in texts])  # type: ignore[arg-type]
    cortex.mode = before


def texts(cortex: Cortex) -> list[str]:
    """Return what is remembered."""
    return sorted(each.text for each in cortex.entries())


def test_review_by_keyboard_only(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row.current", WAITING[0]).sees("#waiting", "3")
    window.presses("a").sees(".row.done", "Accepted", times=1).sees(".row.current", WAITING[1])
    window.presses("d").sees(".row.done", "Declined", times=1).sees("#waiting", "1")
    window.presses("k", "j", "e").sees("textarea")
    window.types(", and old").presses("Control+Enter").sees(".row.done", "and old")
    assert texts(cortex) == [WAITING[0], f"{WAITING[2]}, and old"]
    window.presses("1").sees(".empty", "Nothing waits for you")


def test_a_decision_is_taken_back(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row.current")
    window.presses("a", "d").sees(".row.done", times=2)
    window.presses("u").sees(".row.done", times=1).presses("u").sees(".row.done", times=0)
    window.sees("#waiting", "3")
    assert texts(cortex) == []


def test_many_are_decided_at_once(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row.current")
    window.presses("x", "j", "x").sees("#batch", "2 selected")
    window.presses("d").sees(".row.done", "Declined", times=2).sees("#waiting", "1")
    window.presses("u").sees(".row.done", times=0).sees("#waiting", "3")


def test_arrows_do_the_same(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row.current")
    window.presses("ArrowDown", "ArrowUp", "ArrowRight").sees(".row.done", "Accepted")
    window.presses("ArrowLeft").sees(".row.done", "Declined")


def test_one_by_one_shows_only_one(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row", times=3)
    window.page.get_by_role("button", name="One by one").click()
    assert [row.is_visible() for row in window.all(".row").all()] == [True, False, False]
    window.presses("a").sees(".row.current", WAITING[1])


def test_a_proposal_shows_what_it_replaces_and_where_it_was_said(
    cortex: Cortex, windows: Windows
) -> None:
    with cortex.session() as session:
        session.begin_turn("The editor of this project is emacs")
        session.end_turn("Noted.")
    cortex.encode(
        Engram("The editor of this project is vim", "lesson", "project", "high", source="user")
    )
    wait_for(cortex, "The editor of this project is emacs", origin=f"{session.id}#1")
    window = windows().sign_in().sees(".beside del", "vim").sees(".beside ins", "emacs")
    window.sees(".said.marked", "The editor of this project is emacs")
    window.page.get_by_role("link", name=f"{session.id}#1").click()
    window.sees("[data-page=session] .found", "The editor of this project is emacs")


def test_what_others_propose_and_decide_is_seen(
    cortex: Cortex, windows: Windows, server: Server
) -> None:
    wait_for(cortex, *WAITING[:2])
    window = windows().sign_in().sees(".row", times=2)
    wait_for(cortex, WAITING[2])
    window.sees(".row", WAITING[2]).sees("#waiting", "3")
    server.run("review", "--decline", cortex.pending()[0].id)
    window.sees(".row.done", "Decided elsewhere", times=1).sees("#waiting", "2")


def test_a_turn_that_begins_and_ends_is_told(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row.current").sees("[role=note]", times=0)
    with cortex.session() as session:
        session.begin_turn("Why is CI slow?")
        window.sees("[role=note]", "A turn is running")
        session.end_turn("It is the cache.")
        window.sees("[role=note]", times=0).sees(".row.current", WAITING[0])


def test_what_is_decided_in_a_turn_is_done_at_its_end(cortex: Cortex, windows: Windows) -> None:
    wait_for(cortex, *WAITING)
    window = windows().sign_in().sees(".row.current")
    with cortex.session() as session:
        session.begin_turn("Why is CI slow?")
        window.presses("a").sees(".row.done", "Accepted when the turn ends")
        window.presses("d").sees(".row.done", "Declined when the turn ends")
        window.sees("#later [role=note]", "One decision waits", times=2)
        window.presses("u").sees(".row.done", times=1)
        assert len(cortex.pending()) == len(WAITING)
        session.end_turn("It is the cache.")
        window.sees("#later [role=note]", times=0).sees("#waiting", "2")
    window.sees(".row.done b", "Accepted", times=1)
    assert texts(cortex) == [WAITING[0]]


def test_what_comes_into_an_empty_inbox_in_a_turn_waits_too(
    cortex: Cortex, windows: Windows
) -> None:
    window = windows().sign_in().sees(".empty")
    with cortex.session() as session:
        session.begin_turn("Why is CI slow?")
        wait_for(cortex, WAITING[0])
        window.sees("#queue .row.current", WAITING[0]).presses("a")
        window.sees("#later [role=note]", "One decision waits")
        session.end_turn("It is the cache.")
        window.sees("#later [role=note]", times=0)
    assert texts(cortex) == [WAITING[0]]


def test_an_empty_inbox_shows_what_was_learned_and_undoes_it(
    cortex: Cortex, windows: Windows
) -> None:
    cortex.encode(Engram("CI is slow on Mondays", "lesson", "project", source="consolidation"))
    window = windows().sign_in().sees("#learned .step", "CI is slow on Mondays")
    window.presses("j", "u").sees(".step.done", "Undone")
    assert texts(cortex) == []
    cortex.encode(Engram("Deploy with make", "lesson", "project", source="consolidation"))
    window.presses("1").sees("#learned .step", "Deploy with make")
    window.page.get_by_role("button", name="I have seen it").click()
    window.presses("2").sees("[data-page=memories]").presses("1")
    window.sees(".empty", "Nothing new was learned")
