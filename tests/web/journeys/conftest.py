"""A server of its own and a real browser for each journey; nothing is left in the console."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import pytest

from engramdown import Cortex

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page

# Names of the program in the distributions that we know of.
NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
SECONDS: Final = 60_000
_MAIN: Final = "import sys; from engramdown.cli.entry import main; sys.exit(main())"
# What a browser says of an answer that a journey provokes; anything else is a fault.
_EXPECTED: Final = ("status of 412", "status of 401", "status of 404", "ERR_CONNECTION_REFUSED")
_LOST: Final = (
    *("ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"),
    *("htmx:sse:error", "htmx:error", "htmx: htmx:response:error"),
)


# Not for the whole session: while Playwright runs, its event loop runs in this thread, and no other
# test can run one.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the browser of this machine, or skip; in CI it must be there."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None and not os.environ.get("CI"):
        pytest.skip(f"none of {', '.join(NAMES)} is installed; the journeys need one")
    assert program, "the journeys need chromium"
    if not os.environ.get("CI"):
        pytest.importorskip("playwright", reason="the journeys need playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # Its sandbox does not work for root and in most containers.
        found = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Server:
    """``engramdown serve`` in a process of its own.

    Attributes:
        project: The folder of the project.
        url: Where it answers, without a slash at the end.
    """

    project: Path
    url: str = ""
    _process: subprocess.Popen[str] | None = None

    def start(self, *options: str) -> None:
        """Start it, at the same port if it ran before."""
        port = self.url.rpartition(":")[2] or "0"
        words = ["serve", "--json", "--port", port, *options]
        self._process = subprocess.Popen(
            self._command(*words), cwd=self.project, stdout=subprocess.PIPE, encoding="utf-8"
        )
        line = cast("IO[str]", self._process.stdout).readline()
        self.url = json.loads(line)["url"].rstrip("/")

    def stop(self, how: int = signal.SIGTERM) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            cast("IO[str]", self._process.stdout).close()
            self._process = None

    def run(self, *words: str) -> str:
        """Run a command in the project, in another process, and return what it prints."""
        return subprocess.run(
            self._command(*words),
            cwd=self.project,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout

    def code(self) -> str:
        """Return a code for a page."""
        code: str = json.loads(self.run("serve", "--code", "--json"))["code"]
        return code

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", _MAIN, *words]


@dataclass
class Window:
    """A window of the browser, and what a person does in it.

    Attributes:
        page: The page.
        server: What it shows.
        asked: The addresses that were asked for.
        wrong: What the console said that nobody expected.
    """

    page: Page
    server: Server
    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen to the console."""
        self.page.set_default_timeout(SECONDS)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _heard(self, message: ConsoleMessage) -> None:
        known = (*_EXPECTED, *_LOST)
        if message.type in ("error", "warning") and not any(it in message.text for it in known):
            self.wrong.append(message.text)

    def sign_in(self, path: str = "/inbox") -> Window:
        """Open a page with a code, as ``serve --open`` does."""
        self.page.goto(f"{self.server.url}{path}#once={self.server.code()}")
        return self.sees("[data-page]")

    def opens(self, path: str) -> Window:
        """Open an address in this tab, which has a key."""
        self.page.goto(f"{self.server.url}{path}")
        return self.sees("[data-page]")

    def presses(self, *keys: str) -> Window:
        """Press keys, one after the other."""
        for each in keys:
            self.page.keyboard.press(each)
        return self

    def types(self, text: str) -> Window:
        """Type text where the cursor is."""
        self.page.keyboard.type(text)
        return self

    def sees(self, selector: str, text: str = "", *, times: int | None = None) -> Window:
        """Wait until something is there, with a text, so many times."""
        from playwright.sync_api import expect

        found = self.page.locator(selector)
        found = found.filter(has_text=text) if text else found
        if times is None:
            expect(found.first).to_be_visible(timeout=SECONDS)
        else:
            expect(found).to_have_count(times, timeout=SECONDS)
        return self

    def all(self, selector: str) -> Locator:
        """Return what fits a selector."""
        return self.page.locator(selector)

    def looks(self, script: str) -> Any:  # noqa: ANN401 - what the script returns
        """Return the value of a JavaScript expression."""
        return self.page.evaluate(f"() => {script}")


@pytest.fixture
def server(cortex: Cortex, project: Path) -> Iterator[Server]:
    """Return a server of the project; a journey starts it once memory is as it wants it."""
    del cortex
    made = Server(project)
    yield made
    made.stop()


@dataclass
class Windows:
    """Opens windows, and checks at the end that none of them complained."""

    browser: Browser
    server: Server
    opened: list[Window] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def __call__(self, context: BrowserContext | None = None, **options: Any) -> Window:  # noqa: ANN401 - as Playwright takes them
        """Open a window, signed in by nobody yet; the server is started if it does not run."""
        if not self.server.url:
            self.server.start()
        if context is None:
            size = options.pop("viewport", {"width": 1200, "height": 800})
            context = self.browser.new_context(viewport=size, **options)
            self.contexts.append(context)
        window = Window(context.new_page(), self.server)
        self.opened.append(window)
        return window


@pytest.fixture
def windows(browser: Browser, server: Server) -> Iterator[Windows]:
    """Return what opens windows."""
    made = Windows(browser, server)
    yield made
    wrong = [each for window in made.opened for each in window.wrong]
    foreign = [
        address
        for window in made.opened
        for address in window.asked
        if not address.startswith((server.url, "data:"))
    ]
    for context in made.contexts:
        context.close()
    assert wrong == []
    assert foreign == []
