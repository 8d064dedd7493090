"""The pictures of docs/web.md: with ``WRITE_PICTURES=1`` they are written there anew."""

from __future__ import annotations

import os
from pathlib import Path

from engramdown import Cortex, Engram
from engramdown.engram import Kind
from engramdown.web.pages import PAGES
from tests.web.journeys.conftest import Windows

KNOWN: list[tuple[str, Kind, str]] = [
    ("Use uv, never pip", "always", ""),
    ("Ask before you touch the staging database", "always", ""),
    ("Push to main while CI is red", "never", ""),
    ("When a migration changes the schema, run it on a copy first", "when", ""),
    ("CoinGecko's free tier allows about 50 requests a minute", "lesson", "api-coingecko"),
    ("The build needs two passes: the first one generates the headers", "lesson", "ci"),
    ("The nightly build runs on the small runner and takes nine minutes", "lesson", "ci"),
    ("Releases go out on Thursdays", "lesson", "release"),
]


def test_every_page_has_its_picture(cortex: Cortex, windows: Windows, tmp_path: Path) -> None:
    with cortex.session(title="Make the nightly build faster") as session:
        session.begin_turn("The nightly build is on the big runner now, it takes four minutes.")
        session.tool_call("shell", {"cmd": "make nightly"})
        session.tool_result("shell", "built in 238 s")
        session.end_turn("Good: 238 seconds instead of nine minutes. All tests pass.")
    cortex.encode(
        [Engram(text, kind, "project", "high", topic, "user") for text, kind, topic in KNOWN]
    )
    cortex.journal.write("The nightly build moved to the big runner.")
    cortex.mode = "copilot"
    news = "The nightly build runs on the big runner and takes four minutes"
    waiting = [news, "Deploy only on Tuesdays", "Tests of the parser are slow on Windows"]
    origin = f"{session.id}#1"
    cortex.propose([Engram(it, "lesson", "project", "low", origin=origin) for it in waiting])
    window = windows(viewport={"width": 1000, "height": 560}).sign_in()
    docs = Path(__file__).parents[3] / "docs" / "pictures"
    folder = docs if os.environ.get("WRITE_PICTURES") else tmp_path / "pictures"
    folder.mkdir(exist_ok=True)
    for name in PAGES:
        window.opens(f"/{name}").sees(f"[data-page={name}]")
        if name == "inbox":
            window.sees(".said.marked").sees("#waiting", "3")
        window.page.screenshot(path=folder / f"{name}.png")
    assert len({file.read_bytes() for file in folder.glob("*.png")}) == len(PAGES)
