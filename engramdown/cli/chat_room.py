"""The interactive part of a chat: reads what a person types and runs the slash commands.

Ctrl-C during an answer stops the answer; at the prompt it ends the conversation, as Ctrl-D does. A
command that fails prints one line, and the conversation goes on.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Final

import click

from engramdown import Cortex, Session
from engramdown.cli import output
from engramdown.cli.chat_screen import TurnScreen
from engramdown.cli.layout import Line, line, table, whole
from engramdown.cli.output import RefusalError, note
from engramdown.cli.process import complain, handling
from engramdown.cli.review import Walk
from engramdown.cli.views import counted, hit_lines
from engramdown.errors import EngramdownError
from engramdown.lazy import texts

if TYPE_CHECKING:
    from engramdown.cli.process import Place
    from engramdown.integrations.chat.endpoint import Address, Endpoint
    from engramdown.integrations.chat.turns import Chat, Turn


_COMMAND: Final = re.compile(r"/[a-z]+(?=\s|\Z)")
# Seconds; what a person pastes comes faster than anybody types.
_AT_ONCE: Final = 0.05
# Each runs the command of this name; the first two take what follows as one text, which may begin
# with a dash.
_TEXTS: Final = ("remember", "recall")
_OURS: Final = (*_TEXTS, "review", "forget", "undo", "sleep")
# Whoever asks for a summary wants to see something go: fewer of the newest messages stay.
_COMPACT: Final = ("log", "compact", "--tail", "4")
_PROMPT: Final = "> "
_GOES_ON: Final = "… "
_STOPPED: Final = "Stopped; the conversation goes on."


@dataclass
class Room:
    """One conversation on a terminal.

    Attributes:
        cortex: The memory.
        session: The session in which the conversation is recorded.
        chat: What asks the model.
        endpoint: The model.
        screen: What shows a turn.
        place: Where the commands look for memory.
        turns: The turns so far.
    """

    cortex: Cortex
    session: Session
    chat: Chat
    endpoint: Endpoint
    screen: TurnScreen
    place: Place
    turns: list[Turn] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Leave what was waiting before to /review."""
        self._known = {proposal.id for proposal in self.session.confirmations()}
        self._notes: set[str] = set()
        self._degraded = ""

    def run(self) -> None:
        """Talk until the person ends it."""
        address, session = self.endpoint.address, self.session
        where = f"session {session.id}" if session.id else "not recorded"
        hello = f"{address.model} at {address.host} · {where} · {self.cortex.mode}"
        count = len(self.cortex.pending())
        waiting = f"{waits(count)} in pending.md: /review decides. " if count else ""
        begin = f"{waiting}/help lists the commands, Ctrl-D ends."
        output.show([line((hello, "strong")), line((begin, "dim"))])
        arrivals = len(session.news())
        if arrivals:
            note(f"{counted(arrivals, 'thing')} in memory came with git; /review lists them")
        self._tell()
        # The client takes half a second to load, which it does while the person types.
        threading.Thread(target=self._warm_up, name="engramdown-chat", daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt, EOFError):
            for text in self._typed():
                if text in ("/quit", "/exit"):
                    return
                command = _COMMAND.match(text)
                if command:
                    self._command(command[0], text[command.end() :].strip())
                else:
                    self._answer(text.strip())
            return
        click.echo()

    def _answer(self, message: str) -> None:
        """Let the model answer, show what went wrong, and ask about new proposals."""
        try:
            turn = self.chat.turn(message)
        finally:
            self.screen.finish()
        self.turns.append(turn)
        if turn.outcome == "stopped":
            click.echo(_STOPPED)
        elif turn.outcome:
            complain(failed(turn, self.endpoint.address))
        self._tell()
        self._ask()

    def _ask(self) -> None:
        """Ask about new proposals, until all are decided or the person stops."""
        try:
            proposals = self.session.confirmations()
            waiting = [proposal for proposal in proposals if proposal.id not in self._known]
            self._known |= {proposal.id for proposal in waiting}
            if waiting:
                what = "This is" if len(waiting) == 1 else f"These {len(waiting)} are"
                output.show([line(), line((f"{what} for you to decide:", "strong"))])
                together = self.cortex.review.resolve_all
                walk = Walk(
                    self.session.resolve,
                    together,
                    lambda reason: complain(f"passed over: {reason}"),
                    goes_on=True,
                )
                walk.through(waiting)
        except (EngramdownError, OSError) as error:
            complain(str(error))

    def _tell(self) -> None:
        """Say on stderr what a person should know, each thing once."""
        notes = [*self.cortex.scopes.notices()]
        if self.session.degraded and not self._degraded:
            self._degraded = self.session.degraded
            notes.append(f"what is said is not recorded: {self.session.degraded}")
        if "tools" in self.endpoint.lacking:
            notes.append(
                "this model calls no tools: it sees what is remembered, and can neither search "
                "nor add to it"
            )
        compacted = self.session.compacted
        if compacted is not None and compacted.gists:
            count = counted(compacted.messages, "message")
            verb = "is" if compacted.messages == 1 else "are"
            notes.append(f"{count} {verb} summarised now, and their words kept")
        for each in notes:
            if each not in self._notes:
                self._notes.add(each)
                note(each)

    def _warm_up(self) -> None:
        # Whatever is wrong is reported when the model is asked.
        with contextlib.suppress(Exception):
            self.endpoint.warm_up()

    # ---- what is typed ----

    def _typed(self) -> Iterator[str]:
        """Yield what the person types, message by message."""
        self._set_up_readline()
        while True:
            click.echo()
            try:
                with _stopped_by_ctrl_z():
                    text = _read()
            except UnicodeDecodeError:
                complain("that is not text in the terminal's encoding; nothing was sent")
                continue
            if text.strip():
                yield text

    def _set_up_readline(self) -> None:
        """Let the arrow keys work, and keep pasted text together, where the system can."""
        try:
            import readline
        except ImportError:
            return
        with contextlib.suppress(EngramdownError, OSError):
            if self.cortex.episodes is not None and self.session.id:
                # What the user said before in this conversation.
                for each in self.cortex.episodes.session(self.session.id).episodes:
                    if each.role == "user" and "\n" not in each.text:
                        readline.add_history(each.text)
        if "libedit" not in (readline.__doc__ or ""):
            readline.parse_and_bind("set enable-bracketed-paste on")

    # ---- commands ----

    def _command(self, name: str, rest: str) -> None:
        try:
            self._do(name, rest)
        except click.ClickException as error:
            complain(error.format_message())
        except (EngramdownError, OSError) as error:
            complain(str(error))
        except KeyboardInterrupt:
            click.echo(_STOPPED)
        if name == "/review":
            with contextlib.suppress(EngramdownError):  # the next question reports it
                # A person has just looked at what waits.
                self._known |= {proposal.id for proposal in self.session.confirmations()}
        self._tell()
        self._ask()

    def _do(self, name: str, rest: str) -> None:
        """Run a command.

        Raises:
            RefusalError: There is no such command, or its words cannot be read.
        """
        own = name.removeprefix("/")
        if own == "help":
            more = "A line that ends with \\ goes on below; what is pasted is one message."
            output.show([*table([*texts(__file__).items()], ("strong",)), line((more, "dim"))])
        elif own == "memory":
            output.show(self._memory_lines())
        elif own in _OURS or own == "compact":
            if own == "compact" and not self.session.id:
                raise RefusalError("this conversation is not recorded, so it cannot be summarised")
            try:
                words = ["--", rest] if own in _TEXTS and rest else shlex.split(rest)
            except ValueError as error:
                raise RefusalError(f"{rest!r} cannot be read as words: {error}") from error
            # Imported here: the program imports this module.
            from engramdown.cli.main import main

            command = (*_COMPACT, self.session.id) if own == "compact" else (own,)
            main([*_place_options(self.place, self.cortex.mode), *command, *words])
        else:
            instead = "/help lists them. What begins with a space is sent as it is"
            raise RefusalError(f"no command {name}; {instead}")

    def _memory_lines(self) -> Iterator[Line]:
        """Yield what the model sees of memory, where it is kept, and what it costs.

        Raises:
            StoreError: If memory cannot be read.
        """
        overhead, budget = self.chat.overhead, self.chat.budget
        made = self.session.build_context(max(budget - overhead, 0))
        shown = [section for section in made.sections if section.shown]
        for section in shown:
            yield line((section.heading.removeprefix("## "), "where"))
            yield from hit_lines(section.shown)
            yield line()
        if not shown:
            yield line("Nothing is remembered here yet; /remember begins.")
            yield line()
        cost = (
            f"What the model sees now costs {made.tokens:,} tokens, the tools and our instructions "
            f"{overhead:,} more; the budget for all is {budget:,}: --budget sets it."
        )
        yield line((cost, "dim"))
        for store in self.cortex.scopes.stores:
            if store.memory.is_dir():
                yield whole((f"It is kept in {store.memory}; edit it with any editor.", "dim"))


def _place_options(place: Place, mode: str) -> list[str]:
    """Return the options of the program that say where memory is."""
    options = ["--mode", mode]
    options += ["--project", str(place.project)] if place.project else []
    return [*options, "--home", str(place.home)] if place.home else options


def _read() -> str:
    """Return one message: a line, with the lines that continue it, or all that is pasted."""
    lines = [input(_PROMPT)]
    while lines[-1].endswith("\\") or (
        os.name == "posix" and select.select([sys.stdin], [], [], _AT_ONCE)[0]
    ):
        goes_on = lines[-1].endswith("\\")
        lines[-1] = lines[-1].removesuffix("\\")
        lines.append(input(_GOES_ON if goes_on else ""))
    return "\n".join(lines)


@contextlib.contextmanager
def _stopped_by_ctrl_z() -> Iterator[None]:
    """Let ``fg`` after Ctrl-Z restore the terminal and show the half-typed line."""
    readline = sys.modules.get("readline")
    try:
        import termios
    except ImportError:
        readline = None
    if readline is None:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        modes = termios.tcgetattr(sys.stdin)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, stop)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, modes)
        click.echo(f"{_PROMPT}{readline.get_line_buffer()}", nl=False)

    with handling(stop, "SIGTSTP"):
        yield


# ---- messages ----


def waits(count: int) -> str:
    """Return how many proposals wait, with the verb."""
    return f"{count} {'waits' if count == 1 else 'wait'}"


def failed(turn: Turn, address: Address) -> str:
    """Return why an answer is missing, and what to do."""
    is_ollama = address.name.startswith("ollama/") or address.host.endswith(":11434")
    pull = f"; `ollama pull {address.model}` fetches it" if is_ollama else ""
    nexts = {
        "unreachable": f"is {address.host} running? --base-url says where else it may listen",
        "unauthorized": f"look at {address.wanted}",
        "not_found": f"--model names another, --base-url says where it is{pull}",
        "timeout": "ask again",
        "rate_limited": "try again in a while",
        "server_error": "try again",
        "truncated": "say: go on",
    }
    step = nexts.get(turn.outcome, "")
    return f"{address.model}: {turn.failed}" + (f"; {step}" if step else "")
