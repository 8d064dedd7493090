"""Looking for memories and changing them, while others do the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown import Cortex, Engram
from tests.cortex.person import Person
from tests.web.journeys.conftest import Window, Windows

TEXT = "CI is slow on Mondays"


@pytest.fixture
def key(cortex: Cortex) -> str:
    """Write a few memories, and return the id of one."""
    others = [Engram(f"Number {at} is late", "lesson", "project", source="llm") for at in range(3)]
    rule = Engram("Use uv", "always", "project")
    return cortex.encode([Engram(TEXT, "lesson", "project", source="llm"), *others, rule])[0].id


@pytest.fixture
def editor(project: Path) -> Person:
    """Return somebody who edits the files."""
    return Person(project / ".engramdown")


def edits(window: Window, key: str, more: str) -> None:
    """Open the form of a memory, and type behind its text."""
    window.sees(f"#m-{key}").all(f"#m-{key} .line").click()
    window.sees(f"#m-{key}.open .facts").presses("e").sees(".editing textarea")
    window.types(more)


def test_a_search_finds_as_it_is_typed(windows: Windows, key: str) -> None:
    window = windows().sign_in("/memories").sees(".row", times=5)
    window.presses("/").types("mondays").sees(".row", times=1).sees(f"#m-{key}")
    assert window.page.url.endswith("/memories?q=mondays")
    window.page.reload()
    window.sees(".row", times=1).sees(".count", "1 memory")


def test_filters_stand_in_the_address(windows: Windows, key: str) -> None:
    del key
    window = windows().sign_in("/memories").sees(".row", times=5)
    window.page.get_by_label("Every kind").select_option("always")
    window.sees(".row", times=1)
    assert window.page.url.endswith("?kind=always")


def test_an_edit_reaches_the_file(windows: Windows, key: str, editor: Person) -> None:
    window = windows().sign_in("/memories")
    edits(window, key, ", and on Fridays")
    window.presses("Control+Enter").sees(".toast", "Saved")
    window.sees(f"#m-{key} .text", f"{TEXT}, and on Fridays")
    assert f"- {TEXT}, and on Fridays <!-- id:{key}" in editor.reads("lessons.md")


def test_keys_pin_verify_forget_and_undo(cortex: Cortex, windows: Windows, key: str) -> None:
    window = windows().sign_in("/memories").sees(f"#m-{key}")
    window.all(f"#m-{key} .line").click()
    window.presses("p").sees(f"#m-{key} .tag", "pinned")
    window.presses("v").sees(f"#m-{key} .tag", "verified")
    assert (cortex.find(key).pin, cortex.find(key).basis) == (True, "verified")
    window.presses("f").sees(f"#m-{key}.done", "Forgotten")
    assert key not in {each.id for each in cortex.entries()}
    window.presses("u").sees(f"#m-{key} .line").sees(".toast", "Restored")
    assert cortex.find(key).text == TEXT


@pytest.mark.parametrize(
    "choice, left",
    [
        ("Keep mine", {f"{TEXT}, mine"}),
        ("Keep theirs", {"CI is red on Mondays"}),
        ("Keep both", {"CI is red on Mondays", f"{TEXT}, mine"}),
    ],
)
def test_an_edit_in_vim_and_in_the_page_at_once(
    cortex: Cortex, windows: Windows, key: str, editor: Person, *, choice: str, left: set[str]
) -> None:
    window = windows().sign_in("/memories")
    edits(window, key, ", mine")
    editor.changes("lessons.md", "CI is slow", "CI is red")
    window.sees(f"#m-{key}.stale .warn", "changed elsewhere")
    assert window.all("textarea[name=text]").input_value() == f"{TEXT}, mine"
    window.presses("Control+Enter").sees(".conflict ins", "red").sees(".conflict dd", TEXT)
    window.page.get_by_role("button", name=choice).click()
    window.sees(".conflict", times=0)
    assert {each.text for each in cortex.entries() if "CI" in each.text} == left


def test_what_was_typed_outlives_a_reload(windows: Windows, key: str, editor: Person) -> None:
    window = windows().sign_in("/memories")
    edits(window, key, ", mine")
    editor.changes("lessons.md", "CI is slow", "CI is red")
    window.page.reload()
    window.sees(".editing textarea")
    assert window.all("textarea[name=text]").input_value() == f"{TEXT}, mine"
    # It was made from an older version, which is still known.
    window.all("textarea[name=text]").press("Control+Enter")
    window.sees(".conflict ins", "red").presses("Escape").sees(".conflict", times=0)


def test_a_save_in_an_editor_shows_without_moving_what_is_edited(
    windows: Windows, key: str, editor: Person
) -> None:
    window = windows().sign_in("/memories")
    edits(window, key, ", mine")
    editor.changes("lessons.md", "Number 1 is late", "Number 1 is early")
    window.sees(".row .text", "Number 1 is early")
    editor.adds("lessons.md", "- Written in an editor")
    window.sees(".row .text", "Written in an editor")
    assert window.all("textarea[name=text]").input_value() == f"{TEXT}, mine"
    assert window.looks("document.activeElement.name") == "text"


def test_two_tabs_see_each_other(windows: Windows, key: str) -> None:
    one = windows().sign_in("/memories")
    other = windows().sign_in("/memories").sees(f"#m-{key}")
    edits(one, key, " and Fridays")
    one.presses("Control+Enter").sees(".toast", "Saved")
    other.sees(f"#m-{key} .text", "Mondays and Fridays")


def test_a_hundred_hostile_memories_are_text(cortex: Cortex, windows: Windows) -> None:
    tricks = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<hx-partial hx-target='body'>gone</hx-partial>",
        '" hx-get="/page/memories" hx-trigger="load" x="',
        "</textarea><form action=/v1/proposals>",
        "<style>body{display:none}</style>",
        "\u202eright to left\u202c and \u200bnothing",
        "<!-- approve everything -->",
        "{{ 7 * 7 }} {% include '/etc/passwd' %}",
        "<a href='javascript:alert(1)'>click</a>",
    ]
    cortex.encode(
        [Engram(f"{at} {tricks[at % 10]}", "lesson", "project", source="llm") for at in range(100)]
    )
    window = windows().sign_in("/memories").sees(".row", times=50)
    # What is below comes when it is looked at.
    window.all(".row").last.scroll_into_view_if_needed()
    window.presses("End").sees(".row", times=100)
    for place in ("timeline", "context", "inbox", "insights"):
        window.opens(f"/{place}").sees(f"[data-page={place}]")
    window.opens("/memories").sees(".row .text", "0 <script>alert(1)</script>")
    window.sees(".row .text", "\u2039U+202E\u203aright to left")
    assert window.looks("document.querySelectorAll('main :is(script, img, style)').length") == 0
    window.presses("j", "Enter").sees(".row.open .facts").presses("e").sees("textarea[name=text]")
