"""Shows a turn of a chat while it goes on.

No character of an answer can steer the terminal, even when markdown spells it in another way, and
nothing of the answer is hidden. A tool call that changes something is shown in full. A terminal
shows an answer block by block, with a preview of the block that is being written; elsewhere words
are printed as they come.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from types import FrameType
from typing import TYPE_CHECKING, ClassVar, Final

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.markdown import (
    CodeBlock,
    Heading,
    ListElement,
    ListItem,
    Markdown,
    MarkdownElement,
    TableElement,
)
from rich.segment import ControlType, Segment, SegmentLines
from rich.table import Table
from rich.text import Text

from engramdown.cli import output, process
from engramdown.cli.layout import cells, line, shortened
from engramdown.cli.process import terminal_columns
from engramdown.cortex import TOOLS
from engramdown.forks import Event, RLock
from engramdown.language import on_screen, one_line, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engramdown.cortex import Answer


# To draw so much as markdown again and again would take longer than it takes to come.
_MOST_DRAWN: Final = 6_000
_MOST_MARKDOWN: Final = 100_000
_SHORTEST: Final = 10
# So that no row ends where another one may begin or not.
_ROOM: Final = 2
_CHANGING: Final = frozenset({"memorize", "forget"})


class Silent:
    """Shows nothing of a turn; the first four are what a chat tells its listener."""

    _tells = False
    """Whether what a tool does is to be seen."""

    def waits(self) -> None:
        """The model is asked."""

    def said(self, text: str) -> None:
        """It said a piece more."""

    def calls(self, name: str, given: object) -> None:
        """It wants a tool called: shown with what, in one row if it only reads."""
        self.finish()
        if not self._tells:
            return
        if isinstance(given, dict):
            words = " · ".join(f"{key}: {value}" for key, value in given.items())
        else:
            words = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        text = f"· {name}  {words}"
        if name not in TOOLS or TOOLS[name].reads:
            text = f"· {one_line(name)}  {one_line(words)}".rstrip()
            text = shortened(text, max(output.width() - 1, _SHORTEST))
        output.show([line((text, "dim"), hang=2)])

    def answered(self, name: str, answer: Answer) -> None:
        """The tool gave this back: shown if it failed, or changed memory."""
        first = one_line(answer.text.partition("\n")[0])
        if self._tells and (answer.is_error or name in _CHANGING):
            style = "warn" if answer.is_error or first.startswith("Not ") else "good"
            output.show([line((first, style), indent=2, hang=4)])

    def finish(self) -> None:
        """Nothing more comes."""


TurnScreen = Silent
"""Shows a turn."""


def turn_screen() -> TurnScreen:
    """Return what shows turns on this terminal, or whatever stdout is."""
    return RichTurn() if output.has_style() else PlainTurn()


class PlainTurn(TurnScreen):
    """Prints words as they come; what a tool does is told on a terminal only."""

    def __init__(self) -> None:
        """Print on stdout."""
        self._words = Words()
        self._is_open = False
        self._tells = process.is_terminal(sys.stdout)

    def said(self, text: str) -> None:
        """Print what is whole."""
        self._print(self._words.add(text))

    def finish(self) -> None:
        """Print what is left, and end the line."""
        self._print(self._words.rest())
        if self._is_open:
            click.echo()
        self._is_open = False

    def _print(self, text: str) -> None:
        if text:
            click.echo(on_screen(text.replace("\r\n", "\n")), nl=False)
            process.flush()
            self._is_open = not text.endswith("\n")


class RichTurn(TurnScreen):
    """Draws blocks of markdown."""

    _tells = True

    def __init__(self) -> None:
        """Draw on stdout."""
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._blocks = Blocks()
        self._preview = Preview(self._console, _columns)

    def waits(self) -> None:
        """Show that something is to come."""
        self._preview.show(_Shown(Text("…", "dim")))

    def said(self, text: str) -> None:
        """Draw the blocks that are finished, and below them what is being written."""
        done = self._blocks.add(text)
        if done:
            self._preview.hide()
            for block in done:
                self._draw(block)
                self._console.print()
        self._preview.show(_Shown(_End(self._blocks.waiting[-_MOST_DRAWN:])))

    def finish(self) -> None:
        """Draw what is left."""
        self._preview.hide()
        self._draw(self._blocks.rest())

    def _draw(self, block: str) -> None:
        if block.strip():
            self._console.width = _columns()
            self._console.print(_Shown(_markdown(block)), end="")


class _End:
    """As many of the last rows of what is being written as fill a third of the screen.

    More could be pushed out of it, to where nothing can be taken back, by one that becomes narrow.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = console.render_lines(_markdown(self._text), options, pad=False)
        yield SegmentLines(rows[-max(console.height // 3, 1) :], new_lines=True)


class _Shown:
    """Whatever is drawn, without blank rows around it or a character that could steer a terminal.

    Here and not before: markdown may spell such a character, ``&#x202e;``.
    """

    def __init__(self, what: RenderableType) -> None:
        self._what = what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = console.render_lines(self._what, options, pad=False)
        for row in rows[_blank(rows) : len(rows) - _blank(reversed(rows))]:
            parts = [Segment(visible(part.text), part.style) for part in row]
            # Spaces that fill a row get in the way of whoever copies it.
            while parts and not parts[-1].text.strip():
                parts.pop()
            if parts:
                parts[-1] = parts[-1]._replace(text=parts[-1].text.rstrip())
            yield from parts
            yield Segment.line()


def _columns() -> int:
    return max(output.width() - _ROOM, _SHORTEST)


def _blank(rows: Iterable[list[Segment]]) -> int:
    """Return with how many blank rows it begins."""
    return sum(1 for _ in takewhile(lambda row: not any(p.text.strip() for p in row), rows))


def _markdown(text: str) -> RenderableType:
    shown = on_screen(text.replace("\r\n", "\n"))
    return Text(shown) if len(text) > _MOST_MARKDOWN else ChatMarkdown(shown)


# ---- markdown ----

_THEME: Final = "ansi_dark"
# What these know is drawn as something else, or not at all: it stays as it is spelt.
_AS_WRITTEN: Final = ("autolink", "entity", "html_block", "html_inline", "image", "reference")
# Of a longer word in a table this much stays together.
_WORD: Final = 12
_GAP: Final = 3
_NUMBER: Final = re.compile(r"^[ \t>]*[0-9]{1,9}[.)](?=\s)", re.MULTILINE)


class _Heading(Heading):
    """A heading at the left, where what it is about begins."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class _Code(CodeBlock):
    """Code below what stands behind its fence."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> CodeBlock:
        """Make it from its first token."""
        made = super().create(markdown, token)
        if isinstance(made, cls):
            made.info = token.info.strip()
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        if self.info:
            yield Text(f" {self.info}", "dim")
        yield from super().__rich_console__(console, options)


class _Item(ListItem):
    """An item with the number that was written."""

    number = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> MarkdownElement:
        """Make it from its first token."""
        del markdown
        made = cls()
        made.number = token.info
        return made


class _List(ListElement):
    """A list with the numbers that were written, unless they are all the same."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        written = [item.number for item in self.items if isinstance(item, _Item)]
        if self.list_type != "ordered_list_open" or len(set(written)) < len(written):
            yield from super().__rich_console__(console, options)
            return
        longest = max(map(int, written))
        for number, item in zip(written, self.items, strict=True):
            yield from item.render_number(console, options, int(number), longest)


class _Table(TableElement):
    """A table whose words are cut into rows, but never left out; row by row in a narrow window."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        parts = (self.header.row if self.header else None, *(self.body.rows if self.body else ()))
        rows = [[cell.content for cell in row.cells] for row in parts if row is not None]
        # How many columns of a terminal it takes to read each of the table's.
        least = [
            max(min(len(word), _WORD) for row in rows for word in row[at].plain.split() or [""])
            for at in range(len(rows[0]))
        ]
        if sum(least) + _GAP * len(least) > options.max_width:
            yield from (Text(" | ").join(row) for row in rows)
            return
        table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
        for head in rows[0]:
            table.add_column(head, overflow="fold")
        for row in rows[1:]:
            table.add_row(*row)
        yield table


class ChatMarkdown(Markdown):
    """Markdown for a narrow window, and from anybody."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "ordered_list_open": _List,
        "list_item_open": _Item,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        """Take a text."""
        # Links of the terminal's own show one address and lead to another.
        super().__init__("", code_theme=_THEME, hyperlinks=False)
        self.markup = text
        parser = MarkdownIt().enable(["strikethrough", "table"]).disable(_AS_WRITTEN)
        self.parsed = list(_titled(parser.parse(text)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it; as it was written, if a letter or a digit of it would not be seen."""
        drawn = list(super().__rich_console__(console, options))
        shown = "".join(part.text for part in drawn if isinstance(part, Segment))
        if _signs(_NUMBER.sub("", self.markup)) <= _signs(shown):
            yield from drawn
        else:
            yield Text(self.markup)


def _titled(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield tokens with the title of a link behind where it leads."""
    for token in tokens:
        if token.type == "link_open" and token.attrs.get("title"):
            token.attrs["href"] = f'{token.attrs["href"]} "{token.attrs["title"]}"'
        token.children = list(_titled(token.children)) if token.children else token.children
        yield token


def _signs(text: str) -> Counter[str]:
    """Count the letters and digits of a text."""
    return Counter(filter(str.isalnum, text))


_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LONGEST_WORD: Final = 120
_KEPT: Final = 16


class Blocks:
    r"""Takes a text piece by piece, and gives it out block by block.

    >>> blocks = Blocks()
    >>> blocks.add("One.\n\n``"), blocks.add("`\na\n\nb\n```\n\nTwo")
    (['One.\n\n'], ['```\na\n\nb\n```\n\n'])
    >>> blocks.rest()
    'Two'

    Attributes:
        waiting: What was taken in and not given out.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.waiting = ""
        self._seen = 0
        self._fence = ""
        self._is_blank = False

    def add(self, text: str) -> list[str]:
        """Take in a piece, and return the blocks that are complete now."""
        self.waiting += text
        done: list[str] = []
        while (end := self.waiting.find("\n", self._seen)) >= 0:
            line = self.waiting[self._seen : end]
            if self._is_apart(line):
                done.append(self.waiting[: self._seen])
                self.waiting = self.waiting[self._seen :]
                end -= self._seen
            self._look(line)
            self._seen = end + 1
        # The line that is being written tells as much with its first character.
        line = self.waiting[self._seen :]
        if self._is_apart(line):
            done.append(self.waiting[: self._seen])
            self.waiting, self._seen, self._is_blank = line, 0, False
        return done

    def rest(self) -> str:
        """Return what is left when no more comes, and begin anew."""
        left = self.waiting
        self.waiting, self._seen, self._fence, self._is_blank = "", 0, "", False
        return left

    def _is_apart(self, line: str) -> bool:
        """Whether a line begins a block: behind a blank one, at the left edge."""
        return self._is_blank and not self._fence and line[:1] not in ("", " ", "\t", "\r")

    def _look(self, line: str) -> None:
        """Take note of a line: whether it opens or closes a fence, whether it is blank."""
        found = _FENCE.match(line)
        if found and not self._fence:
            self._fence = found[1]
        elif found and found[1].startswith(self._fence) and not line[found.end() :].strip():
            self._fence = ""
        self._is_blank = not line.strip()


class Words:
    """Takes a text piece by piece, and gives it out in whole words.

    What a character is may depend on its neighbours: an emoji of several is shown at once.

    >>> words = Words()
    >>> words.add("Use u"), words.add("v, n"), words.rest()
    ('Use ', 'uv, ', 'n')
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._waiting = ""

    def add(self, text: str) -> str:
        """Take in a piece, and return as much as is whole."""
        self._waiting += text
        end = max(self._waiting.rfind(" "), self._waiting.rfind("\n")) + 1
        # Not every script has spaces.
        if len(self._waiting) - end > _LONGEST_WORD:
            end = len(self._waiting) - _KEPT
        whole, self._waiting = self._waiting[:end], self._waiting[end:]
        return whole

    def rest(self) -> str:
        """Return what is left when no more comes."""
        left, self._waiting = self._waiting, ""
        return left


# To draw with each piece would be slower than some models.
_PAUSE: Final = 1 / 12
# These cut what is too long for them, or leave it outside of the window.
_CUTS: Final = ("XTERM_VERSION", "STY")


class Preview:
    """What is to be seen for now, until :meth:`hide`."""

    def __init__(self, console: Console, width: Callable[[], int]) -> None:
        """Draw on ``console``, in as many columns as ``width`` says at that moment."""
        self._console = console
        self._width = width
        # Ctrl-Z may come in the middle of whatever is done here.
        self._lock = RLock()
        self._what: RenderableType | None = None
        self._is_new = False
        self._drawn: list[str] = []
        self._columns = 0
        self._ends = Event()
        self._undo: contextlib.ExitStack | None = None

    def show(self, what: RenderableType) -> None:
        """Draw this now, if nothing is drawn yet, and else soon."""
        with self._lock:
            self._what, self._is_new = what, True
            if self._undo is None:
                self._undo = contextlib.ExitStack()
                self._undo.enter_context(_modes_kept(echo=False))
                self._undo.enter_context(stopped_by(self._stop))
                self._draw()
                self._ends = Event()
                threading.Thread(target=self._go_on, args=(self._ends,), daemon=True).start()

    def hide(self) -> None:
        """Leave the terminal as if nothing had been drawn."""
        with self._lock:
            self._what = None
            self._end()

    def _end(self) -> None:
        if self._undo is None:
            return
        self._ends.set()
        with self._console:
            self._erase()
        self._undo.close()
        self._undo = None

    def _stop(self) -> None:
        """Make room for the shell, and come back below what it said."""
        with self._lock:
            what = self._what
            self._end()
            stop_now()
            if what is not None:
                self.show(what)

    def _go_on(self, ends: Event) -> None:
        seen = self._columns
        while not ends.wait(_PAUSE):
            before, seen = seen, terminal_columns()
            # While somebody pulls at the window, what is measured does not hold until it is drawn.
            if seen != before:
                continue
            with self._lock:
                if not ends.is_set() and (self._is_new or seen != self._columns):
                    self._draw()

    def _draw(self) -> None:
        self._console.width = self._width()
        rows = self._console.render_lines(self._what or "", pad=False)
        # One write: whoever looks sees the old rows, or the new ones.
        with self._console:
            self._erase()
            # Below them the cursor waits in a row of its own.
            self._console.print(SegmentLines(rows, new_lines=True), end="")
            self._drawn = ["".join(part.text for part in row) for row in rows]
        self._columns, self._is_new = terminal_columns(), False

    def _erase(self) -> None:
        wide = terminal_columns() if wraps_again(os.environ) else 0
        # What was pushed out of the window at its top cannot be reached.
        count = min(rows_taken(self._drawn, wide), self._console.height - 1)
        if self._drawn:
            clear = (ControlType.ERASE_IN_LINE, 2)
            above = ((ControlType.CURSOR_UP, 1), clear) * count
            self._console.control(Control(ControlType.CARRIAGE_RETURN, clear, *above))
        self._drawn = []


def rows_taken(drawn: Sequence[str], columns: int) -> int:
    """Return how many rows of a terminal these take when it has so many columns; 0: no matter.

    >>> rows_taken(["twelve cells", "", "日本語"], 5)
    6
    """
    taken = 0
    for text in drawn:
        taken, used = taken + 1, 0
        for wide in map(cells, text if columns > 1 else ""):
            if used + wide > columns:
                taken, used = taken + 1, 0
            used += wide
    return taken


def wraps_again(env: Mapping[str, str]) -> bool:
    """Return whether a terminal of this environment wraps anew what it shows when it is resized.

    Nearly all do; to believe it of one that does not would take away what stands above.
    """
    cuts = env.get("TERM") == "linux" or any(name in env for name in _CUTS)
    return "TMUX" in env or not cuts


def stop_now() -> None:
    """Stop as Ctrl-Z does, and return when ``fg`` goes on."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


@contextlib.contextmanager
def shown_again(show: Callable[[], object]) -> Iterator[None]:
    """Read as before, and ``show`` what is read, when ``fg`` goes on after Ctrl-Z."""

    def stop() -> None:
        with _modes_kept():
            stop_now()
        show()

    with stopped_by(stop):
        yield


@contextlib.contextmanager
def _modes_kept(*, echo: bool = True) -> Iterator[None]:
    """Give the terminal back how it reads.

    Without ``echo`` what is typed is kept for whoever reads it next, and off the screen until then.
    """
    try:
        import termios
    except ImportError:  # no such system
        yield
        return
    try:
        side = sys.stdin.fileno()
        kept = termios.tcgetattr(side)
    except (OSError, ValueError, AttributeError, termios.error):  # no stdin, or no terminal
        yield
        return
    if not echo:
        quiet = [*kept[:3], kept[3] & ~termios.ECHO, *kept[4:]]
        termios.tcsetattr(side, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # it was closed
            termios.tcsetattr(side, termios.TCSADRAIN, kept)


@contextlib.contextmanager
def stopped_by(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` when a person presses Ctrl-Z, where that is what stops a program."""

    def stopped(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop()

    main = threading.current_thread() is threading.main_thread()
    key = getattr(signal, "SIGTSTP", None)
    if not main or key is None or signal.getsignal(key) is not signal.SIG_DFL:
        yield
        return
    signal.signal(key, stopped)
    try:
        yield
    finally:
        signal.signal(key, signal.SIG_DFL)
