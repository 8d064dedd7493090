"""The window itself: signing in, a server that goes, small and dark ones, and no mouse."""

from __future__ import annotations

import signal

import pytest

from engramdown import Cortex, Engram
from engramdown.web.pages import PAGES
from tests.web.journeys.conftest import Server, Windows

PATHS = [f"/{name}" for name in PAGES]


@pytest.fixture(autouse=True)
def memory(cortex: Cortex) -> str:
    """Let there be something on every page; return the id of the session."""
    cortex.encode([Engram(f"Number {at} is late", "lesson", "project") for at in range(3)])
    with cortex.session(title="Why CI is red") as session:
        for at in range(60):
            session.begin_turn(f"Question {at}")
            session.tool_call("shell", {"cmd": f"pytest {at}"})
            session.tool_result("shell", f"{at} failed", error=True)
            session.end_turn(f"Answer {at}")
    cortex.journal.write("The build moved.")
    cortex.mode = "copilot"
    cortex.propose([Engram("Deploy with make", "lesson", "project", "low")])
    cortex.mode = "autopilot"
    return session.id


def test_a_code_counts_once(windows: Windows) -> None:
    window = windows()
    code = window.server.code()
    window.page.goto(f"{window.server.url}/#once={code}")
    window.sees("[data-page=inbox]")
    assert code not in window.page.url
    other = windows()
    other.page.goto(f"{other.server.url}/memories")
    other.sees("#door").page.get_by_label("Code").fill(code)
    other.presses("Enter").sees("#door output", "the code was used")
    other.page.get_by_label("Code").fill(other.server.code())
    other.presses("Enter").sees("[data-page=memories]")


def test_signing_out_takes_the_key_away(windows: Windows) -> None:
    window = windows().sign_in()
    key = window.looks("sessionStorage['engramdown-key']")
    window.page.get_by_role("button", name="Sign out").click()
    window.sees("#door").sees("[data-page]", times=0)
    headers = {"Authorization": f"Bearer {key}"}
    answer = window.page.request.get(f"{window.server.url}/page/inbox", headers=headers)
    assert answer.status == 401


def test_a_revoked_key_asks_for_a_code(windows: Windows, server: Server) -> None:
    window = windows().sign_in()
    server.run("serve", "--revoke")
    window.presses("2").sees("#door", "Sign in")


def test_the_server_goes_and_comes_back(windows: Windows, server: Server, cortex: Cortex) -> None:
    window = windows().sign_in().sees(".row.current")
    server.stop(signal.SIGKILL)
    window.sees("#banner", "does not answer")
    window.presses("a")
    assert len(cortex.pending()) == 1
    window.sees(".row.done", times=0)
    server.start()
    window.sees("#banner[hidden]", times=1).presses("a").sees(".row.done", "Accepted")


def test_read_only_shows_no_way_to_change(windows: Windows, server: Server) -> None:
    server.start("--read-only")
    window = windows().sign_in().sees(".row.current", "Deploy with make")
    assert window.all("[data-changes]:visible").count() == 0
    window.presses("a", "2").sees("[data-page=memories]").sees(".row", times=3)


@pytest.mark.parametrize("path", PATHS)
def test_no_page_is_wider_than_a_phone(windows: Windows, path: str) -> None:
    window = windows(viewport={"width": 390, "height": 800}).sign_in(path)
    window.sees(f"[data-page={path[1:]}]")
    assert window.looks("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("path", PATHS)
def test_every_control_has_a_name(windows: Windows, path: str) -> None:
    window = windows().sign_in(path).sees(f"[data-page={path[1:]}]")
    for role in ("button", "link", "textbox", "searchbox", "combobox", "checkbox", "meter"):
        for found in window.page.get_by_role(role).all():
            snapshot = found.aria_snapshot()
            assert '"' in snapshot or ":" in snapshot, (role, snapshot)
    assert window.page.get_by_role("main").count() == 1
    assert window.page.get_by_role("heading", level=1).count() == 1
    assert window.page.title().endswith("· Engramdown")


def test_a_dark_system_has_a_dark_page(windows: Windows) -> None:
    window = windows(color_scheme="dark", reduced_motion="reduce").sign_in()
    style = "getComputedStyle(document.body).backgroundColor"
    assert window.looks(style) == "rgb(19, 19, 22)"
    moves = "getComputedStyle(document.querySelector('.row')).animationName"
    assert window.looks(moves) == "none"


def test_keys_lead_everywhere(windows: Windows) -> None:
    window = windows().sign_in()
    for number, name in enumerate(PAGES, 1):
        window.presses(str(number)).sees(f"[data-page={name}]")
        window.sees(f"nav a[aria-current=page][href='/{name}']")
    window.presses("?").sees("dialog", "Take back").presses("Escape").sees("dialog[open]", times=0)
    window.page.go_back()
    window.sees("[data-page=skills]")


def test_a_step_is_undone_in_the_timeline(windows: Windows, cortex: Cortex) -> None:
    cortex.encode(Engram("CI is slow", "lesson", "project"))
    window = windows().sign_in("/timeline").sees(".step", "CI is slow")
    window.presses("j", "u").sees(".step.done", "Undone")
    assert "CI is slow" not in {each.text for each in cortex.entries()}


def test_a_transcript_is_read_from_any_line(windows: Windows, memory: str) -> None:
    window = windows().sign_in("/transcripts").sees(".row", "Why CI is red")
    window.presses("/").types(f"{memory}#150").sees("#found a", f"{memory}#150")
    window.all("#found a").first.click()
    window.sees("#l-150.found").sees("#l-141").sees("#l-139", times=0)
    window.all("#l-150").press("End")
    window.page.get_by_role("button", name="Earlier lines").click()
    window.sees(".row.user", "Question 25").sees("details:not([open]) summary", "pytest")
    window.all(".row.tool_call summary").first.click()
    window.sees("details[open] .answer", "failed")
    window.all(".card summary").click()
    window.sees("#card", "Question")


def test_a_transcript_is_searched(windows: Windows, memory: str) -> None:
    window = windows().sign_in("/transcripts").presses("/").types("Question 42")
    window.sees("#hits .row", "Question 42").all("#hits a").first.click()
    window.sees(".found", "42")
    assert memory in window.page.url


def test_the_context_is_what_a_model_gets(windows: Windows, cortex: Cortex) -> None:
    window = windows().sign_in("/context").presses("/").types("late")
    window.sees(".prompt", "Number 1 is late").sees("tbody tr", "Project Lessons")
    shown = window.all(".prompt").text_content()
    assert shown == str(cortex.context.build("late", scratchpad=True, is_counted=False))
    window.page.get_by_text("Project lessons: which lines, and why").click()
    window.sees("details[open] li", "Number 1 is late").sees("details[open] p", "nearest to the")
