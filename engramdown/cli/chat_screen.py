"""Shows a turn of a chat while it goes on, and holds the words of the chat.

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
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import (
    CodeBlock,
    Heading,
    ListElement,
    ListItem,
    Markdown,
    MarkdownElement,
    TableElement,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from engramdown.cli import output, process
from engramdown.cli.layout import Line, cells, line
from engramdown.cli.process import terminal_columns
from engramdown.cortex import TOOLS
from engramdown.forks import Event, RLock
from engramdown.language import on_screen, one_line, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engramdown.cortex import Answer
    from engramdown.integrations.chat import Address, Turn


# To draw so much as markdown again and again would take longer than it takes to come.
_MOST_DRAWN: Final = 6_000
_MOST_MARKDOWN: Final = 100_000
_SHORTEST: Final = 10
# So that no row ends where another one may begin or not.
_ROOM: Final = 2
_CHANGING: Final = frozenset({"memorize", "forget"})


class TurnScreen(Protocol):
    """Shows a turn; the first four are :class:`engramdown.integrations.chat.turns.Listener`."""

    def waits(self) -> None:
        """The model is asked."""
        ...

    def said(self, text: str) -> None:
        """It said a piece more."""
        ...

    def calls(self, name: str, given: object) -> None:
        """It wants a tool called."""
        ...

    def answered(self, name: str, answer: Answer) -> None:
        """The tool gave this back."""
        ...

    def finish(self) -> None:
        """Show what is left: nothing more comes."""
        ...


def turn_screen() -> TurnScreen:
    """Return what shows turns on this terminal, or whatever stdout is."""
    if isinstance(output.screen(), output.PlainScreen):
        return PlainTurn()
    return RichTurn()


class Silent:
    """Shows nothing: for a program that reads what came of it."""

    def waits(self) -> None:
        """Show nothing."""

    def said(self, text: str) -> None:
        """Show nothing."""

    def calls(self, name: str, given: object) -> None:
        """Show nothing."""

    def answered(self, name: str, answer: Answer) -> None:
        """Show nothing."""

    def finish(self) -> None:
        """Show nothing."""


class PlainTurn:
    """Prints words as they come; what a tool does is told on a terminal only."""

    def __init__(self) -> None:
        """Print on stdout."""
        self._words = Words()
        self._is_open = False
        self._tells = process.is_terminal(sys.stdout)

    def waits(self) -> None:
        """Show nothing."""

    def said(self, text: str) -> None:
        """Print what is whole."""
        self._print(self._words.add(text))

    def calls(self, name: str, given: object) -> None:
        """Tell which tool is called."""
        self.finish()
        if self._tells:
            output.screen().show([_call(name, given)])

    def answered(self, name: str, answer: Answer) -> None:
        """Tell what came of it, if that is worth a line."""
        if self._tells:
            output.screen().show(_outcome(name, answer))

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


class RichTurn:
    """Draws blocks of markdown."""

    def __init__(self) -> None:
        """Draw on stdout."""
        from rich.console import Console

        self._console = Console(highlight=False, markup=False, emoji=False)
        self._blocks = Blocks()
        self._preview = Preview(self._console, _columns)

    def waits(self) -> None:
        """Show that something is to come."""
        from rich.text import Text

        self._show(Text(WAITING, "dim"))

    def said(self, text: str) -> None:
        """Draw the blocks that are finished, and below them what is being written."""
        done = self._blocks.add(text)
        if done:
            self._preview.hide()
            for block in done:
                self._draw(block)
                self._console.print()
        self._show(_End(self._blocks.waiting[-_MOST_DRAWN:]))

    def calls(self, name: str, given: object) -> None:
        """Tell which tool is called."""
        self.finish()
        output.screen().show([_call(name, given)])

    def answered(self, name: str, answer: Answer) -> None:
        """Tell what came of it, if that is worth a line."""
        output.screen().show(_outcome(name, answer))

    def finish(self) -> None:
        """Draw what is left."""
        self._preview.hide()
        self._draw(self._blocks.rest())

    def _draw(self, block: str) -> None:
        if block.strip():
            self._console.width = _columns()
            self._console.print(_Shown(_markdown(block)), end="")

    def _show(self, what: RenderableType) -> None:
        self._preview.show(_Shown(what))


class _End:
    """As many of the last rows of what is being written as fill a third of the screen.

    More could be pushed out of it, to where nothing can be taken back, by one that becomes narrow.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        rows = console.render_lines(_markdown(self._text), options, pad=False)
        for row in rows[-max(console.height // 3, 1) :]:
            yield from row
            yield Segment.line()


class _Shown:
    """Whatever is drawn, without blank rows around it or a character that could steer a terminal.

    Here and not before: markdown may spell such a character, ``&#x202e;``.
    """

    def __init__(self, what: RenderableType) -> None:
        self._what = what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        rows = console.render_lines(self._what, options, pad=False)
        for row in rows[_blank(rows) : len(rows) - _blank(reversed(rows))]:
            yield from _without_end([Segment(visible(part.text), part.style) for part in row])
            yield Segment.line()


def _columns() -> int:
    return max(output.width() - _ROOM, _SHORTEST)


def _without_end(row: list[Segment]) -> list[Segment]:
    """Return a row without the spaces that fill it: they get in the way of whoever copies it."""
    while row and not row[-1].text.strip():
        row.pop()
    if row:
        last = row.pop()
        row.append(last._replace(text=last.text.rstrip()))
    return row


def _blank(rows: Iterable[list[Segment]]) -> int:
    """Return with how many blank rows it begins."""
    return sum(1 for _ in takewhile(lambda row: not any(p.text.strip() for p in row), rows))


def _markdown(text: str) -> RenderableType:
    from rich.text import Text

    shown = on_screen(text.replace("\r\n", "\n"))
    if len(text) > _MOST_MARKDOWN:
        return Text(shown)
    return ChatMarkdown(shown)


def _call(name: str, given: object) -> Line:
    """Return which tool is called with what: in one row, if it only reads."""
    told = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    if isinstance(given, dict):
        told = " · ".join(f"{key}: {value}" for key, value in given.items())
    if name in TOOLS and not TOOLS[name].reads:
        return line((f"{CALL} {name}  {told}", "dim"), hang=2)
    text = f"{CALL} {one_line(name)}  {one_line(told)}".rstrip()
    most = max(output.width() - 1, _SHORTEST)
    while cells(text) > most:
        text = f"{text[: min(len(text) - 2, most - 1)].rstrip()}…"
    return line((text, "dim"), hang=2)


def _outcome(name: str, answer: Answer) -> Iterator[Line]:
    """Yield what a tool did, if it failed, or changed memory."""
    first = one_line(answer.text.partition("\n")[0])
    if answer.is_error:
        yield line((first, "warn"), indent=2, hang=4)
    elif name in _CHANGING:
        style = "warn" if first.startswith("Not ") else "good"
        yield line((first, style), indent=2, hang=4)


PROMPT: Final = "> "
GOES_ON: Final = "… "
WAITING: Final = "…"
CALL: Final = "·"
STOPPED: Final = "Stopped; the conversation goes on."
ENDED: Final = "Nothing was said, so nothing is kept."
NOTHING_YET: Final = "Nothing was said yet."
READS_ALL: Final = "type the message, then Ctrl-D: what is printed does not go to a terminal"
NOT_KEPT: Final = "conversations are not recorded here"
NOT_READ: Final = "that was no text in the terminal's encoding; nothing was sent"
NEEDS_MESSAGE: Final = (
    'with --json a chat is one turn; give the message: engramdown chat --json "Why is CI red?"'
)
NOT_INSTALLED: Final = "openai is not installed; run pip install 'engramdown[openai]'"
NO_MODEL: Final = (
    "name a model: --model ollama/llama3.2 for Ollama on this machine, --model openai/gpt-4.1-mini "
    "for OpenAI, or set model under [consolidation] in the global scope's config.toml"
)
NO_TOOLS: Final = (
    "this model calls no tools: it sees what is remembered, and can neither search nor add to it"
)
MORE_LINES: Final = "A line that ends with \\ goes on below; what is pasted is one message."
NO_MEMORY: Final = "Nothing is remembered here yet; /remember begins."
COMMANDS: Final = {
    "/memory": "what the model sees of memory, where it stands, and what it costs",
    "/review": "decide on what waits in pending.md",
    "/remember": "remember something: /remember Always use uv",
    "/recall": "search memory: /recall package manager",
    "/forget": "retire a memory by its id",
    "/undo": "reverse the last change of memory",
    "/compact": "summarise the older part of this conversation; with --without-model by rules",
    "/sleep": "learn from finished sessions, and tidy memory",
    "/help": "this list",
    "/quit": "end the conversation; Ctrl-D and Ctrl-C do, too",
}


def hello(address: Address, session: str, mode: str) -> str:
    """Say who talks where."""
    where = f"session {session}" if session else "not recorded"
    return f"{address.model} at {address.host} · {where} · {mode}"


def waits(count: int) -> str:
    """Say at the beginning what waits, and how to begin."""
    asked = f"{count} {_wait(count)} in pending.md: /review decides. " if count else ""
    return f"{asked}/help lists the commands, Ctrl-D ends."


def came_with_git(count: int) -> str:
    """Say that memories of somebody else came."""
    what = "1 thing" if count == 1 else f"{count} things"
    return f"{what} in memory came with git; /review lists what it is"


def help_rows() -> list[tuple[str, str]]:
    """Return every command and what it does."""
    return list(COMMANDS.items())


def no_command(name: str) -> str:
    """Say that there is no such command."""
    return f"no command {name}; /help lists them. What begins with a space is sent as it is"


def no_such_way(rest: str) -> str:
    """Say how a conversation is summarised."""
    return f"/compact takes nothing, or --without-model; {rest!r} is neither"


def no_words(rest: str, problem: str) -> str:
    """Say that what stands behind a command cannot be read."""
    return f"{rest!r} cannot be read as words: {problem}"


# ---- what goes wrong ----


def no_key(address: Address) -> str:
    """Say that a key is needed."""
    return (
        f"{address.host} wants a key, and {address.wanted} is not set; "
        f"run export {address.wanted}=… or name a server of your own with --base-url"
    )


def failed(turn: Turn, address: Address) -> str:
    """Say why there is no answer, and what to do."""
    nexts = {
        "unreachable": f"is {address.host} running? --base-url says where else it may listen",
        "unauthorized": f"look at {address.wanted}",
        "not_found": f"--model names another, --base-url says where it is{_pull(address)}",
        "timeout": "ask again, or raise --timeout",
        "rate_limited": "try again in a while",
        "server_error": "try again",
        "truncated": "say: go on",
    }
    said = nexts.get(turn.outcome, "")
    return f"{address.model}: {turn.failed}" + (f"; {said}" if said else "")


def not_recorded(reason: str) -> str:
    """Say that the transcript has trouble."""
    return f"what is said is not recorded: {reason}"


def cannot_go_on(where: str) -> str:
    """Say that there is no conversation to go on with."""
    return f"{where}; a chat can only go on where conversations are recorded"


# ---- confirmations ----


def asks(count: int) -> str:
    """Say that a person is asked."""
    return "This is for you to decide:" if count == 1 else f"These {count} are for you to decide:"


def gone(reason: str) -> str:
    """Say that somebody else decided meanwhile, or that it could not be done."""
    return f"passed over: {reason}"


def more_waits(count: int) -> str:
    """Say where those are that nobody is there to decide on."""
    return f"{count} {_wait(count)} in pending.md; `engramdown review` decides"


# ---- memory ----


def overhead(tokens: int, budget: int) -> str:
    """Say what stands around memory."""
    return (
        f"The tools and our instructions cost {tokens:,} tokens more; the budget for all is "
        f"{budget:,}: --budget sets it."
    )


def files(folder: str) -> str:
    """Say where memory stands."""
    return f"It stands in {folder}; edit it with any editor."


def compacted(messages_: int) -> str:
    """Say that older messages are summaries now."""
    what = "1 message is" if messages_ == 1 else f"{messages_:,} messages are"
    return f"{what} summarised now, and their words kept"


# ---- the end ----


def left(again: str, turns: int, told: dict[str, int], tokens: Turn) -> list[str]:
    """Say what a conversation leaves.

    Args:
        again: The command that goes on with it, or ``""``.
        turns: How many turns it had.
        told: How many memories were ``encoded``, ``queued``, ``forgotten``, and how many wait.
        tokens: A turn that stands for all of them.
    """
    verbs = (("encoded", "remembered"), ("forgotten", "forgotten"), ("queued", "proposed"))
    parts = [f"{told[key]} {verb}" for key, verb in verbs if told.get(key)]
    parts += [f"{told['waits']} {_wait(told['waits'])} in pending.md"] if told.get("waits") else []
    about = "" if tokens.is_counted else "about "
    used = f"{about}{tokens.tokens_in:,} tokens in, {tokens.tokens_out:,} out"
    count = "1 turn" if turns == 1 else f"{turns} turns"
    said = [f"{count}, {', '.join(parts) or 'nothing new to remember'}; {used}."]
    return [*said, f"Go on with: {again}"] if again else said


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


def _pull(address: Address) -> str:
    return f"; `ollama pull {address.model}` fetches it" if _is_ollama(address) else ""


def _is_ollama(address: Address) -> bool:
    return address.name.startswith("ollama/") or address.host.endswith(":11434")


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
        if _least(rows) > options.max_width:
            yield from (Text(" | ").join(row) for row in rows)
            return
        table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
        for head in rows[0]:
            table.add_column(head, overflow="fold")
        for row in rows[1:]:
            table.add_row(*row)
        yield table


def _least(rows: list[list[Text]]) -> int:
    """Return how many columns of a terminal it takes to read a table."""
    widths = [
        max(min(len(word), _WORD) for row in rows for word in row[at].plain.split() or [""])
        for at in range(len(rows[0]))
    ]
    return sum(widths) + _GAP * len(widths)


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
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._waiting = ""
        self._seen = 0
        self._fence = ""
        self._is_blank = False

    @property
    def waiting(self) -> str:
        """What was taken in and not given out."""
        return self._waiting

    def add(self, text: str) -> list[str]:
        """Take in a piece, and return the blocks that are complete now."""
        self._waiting += text
        done: list[str] = []
        while (end := self._waiting.find("\n", self._seen)) >= 0:
            line = self._waiting[self._seen : end]
            if self._is_apart(line):
                done.append(self._waiting[: self._seen])
                self._waiting = self._waiting[self._seen :]
                end -= self._seen
            self._look(line)
            self._seen = end + 1
        # The line that is being written tells as much with its first character.
        line = self._waiting[self._seen :]
        if self._is_apart(line):
            done.append(self._waiting[: self._seen])
            self._waiting, self._seen, self._is_blank = line, 0, False
        return done

    def rest(self) -> str:
        """Return what is left when no more comes, and begin anew."""
        left = self._waiting
        self._waiting, self._seen, self._fence, self._is_blank = "", 0, "", False
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
                self._begin()

    def hide(self) -> None:
        """Leave the terminal as if nothing had been drawn."""
        with self._lock:
            self._what = None
            self._end()

    def _begin(self) -> None:
        self._undo = contextlib.ExitStack()
        self._undo.enter_context(without_echo())
        self._undo.enter_context(stopped_by(self._stop))
        self._draw()
        self._ends = Event()
        drawing = threading.Thread(target=self._go_on, args=(self._ends,), daemon=True)
        drawing.start()

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
            self._console.print(_Rows(rows), end="")
            self._drawn = ["".join(part.text for part in row) for row in rows]
        self._columns, self._is_new = terminal_columns(), False

    def _erase(self) -> None:
        from rich.control import Control
        from rich.segment import ControlType

        wide = terminal_columns() if wraps_again(os.environ) else 0
        # What was pushed out of the window at its top cannot be reached.
        count = min(rows_taken(self._drawn, wide), self._console.height - 1)
        if self._drawn:
            clear = (ControlType.ERASE_IN_LINE, 2)
            above = ((ControlType.CURSOR_UP, 1), clear) * count
            self._console.control(Control(ControlType.CARRIAGE_RETURN, clear, *above))
        self._drawn = []


class _Rows:
    """Rows that are laid out already; below them the cursor waits in a row of its own."""

    def __init__(self, rows: Sequence[Sequence[Segment]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: object, options: object) -> Iterator[Segment]:
        from rich.segment import Segment

        del console, options
        for row in self._rows:
            yield from row
            yield Segment.line()


def rows_taken(drawn: Sequence[str], columns: int) -> int:
    """Return how many rows of a terminal these take when it has so many columns; 0: no matter.

    >>> rows_taken(["twelve cells", "", "日本語"], 5)
    6
    """
    return sum(_rows(text, columns) if columns > 1 else 1 for text in drawn)


def wraps_again(env: Mapping[str, str]) -> bool:
    """Return whether a terminal of this environment wraps anew what it shows when it is resized.

    Nearly all do; to believe it of one that does not would take away what stands above.
    """
    if "TMUX" in env:
        return True
    return env.get("TERM") != "linux" and not any(name in env for name in _CUTS)


def _rows(text: str, columns: int) -> int:
    rows, used = 1, 0
    for char in text:
        wide = cells(char)
        if used + wide > columns:
            rows, used = rows + 1, 0
        used += wide
    return rows


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
def without_echo() -> Iterator[None]:
    """Keep what is typed for whoever reads it next, and off the screen until then."""
    with _modes_kept() as kept:
        try:
            import termios
        except ImportError:
            pass
        else:
            if kept is not None:
                quiet = [*kept[:3], kept[3] & ~termios.ECHO, *kept[4:]]
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, quiet)
        yield


@contextlib.contextmanager
def _modes_kept() -> Iterator[list[Any] | None]:
    """Give the terminal back how it reads; what is yielded is how, if there is one."""
    try:
        import termios

        side = sys.stdin.fileno()
    except (ImportError, OSError, ValueError, AttributeError):  # no such system, or no stdin
        yield None
        return
    try:
        kept = termios.tcgetattr(side)
    except termios.error:  # no terminal
        yield None
        return
    try:
        yield kept
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
