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
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from engramdown import Cortex, Session
from engramdown.cli import log_summaries, output, process
from engramdown.cli.chat_screen import TurnScreen, shown_again
from engramdown.cli.context import explained
from engramdown.cli.layout import Line, line, table, whole
from engramdown.cli.output import RefusalError
from engramdown.cli.review import Walk
from engramdown.cli.views import hit_lines
from engramdown.errors import EngramdownError
from engramdown.integrations.chat.endpoint import OPENAI_KEY, Endpoint
from engramdown.integrations.chat.turns import Chat, Turn
from engramdown.language import on_screen
from engramdown.secrets import redact

if TYPE_CHECKING:
    from engramdown.cli.process import Place
    from engramdown.integrations.chat.endpoint import Address


_COMMAND: Final = re.compile(r"/[a-z]+(?=\s|\Z)")
# What a person pastes comes faster than anybody types.
_AT_ONCE: Final = 0.05
# Each is the command of this name.
_OURS: Final = ("review", "remember", "recall", "forget", "undo", "sleep")
# Takes all that follows as one text, which may begin with a dash.
_TEXTS: Final = ("remember", "recall")
_BY_RULES: Final = "--without-model"
# Who asks for it wants to see something gone: fewer of the newest are left alone than by itself.
_TAIL: Final = 4
_PROMPT: Final = "> "
_GOES_ON: Final = "… "
_STOPPED: Final = "Stopped; the conversation goes on."
_HELP: Final = (
    ("/memory", "what the model sees of memory, where it stands, and what it costs"),
    ("/review", "decide on what waits in pending.md"),
    ("/remember", "remember something: /remember Always use uv"),
    ("/recall", "search memory: /recall package manager"),
    ("/forget", "retire a memory by its id"),
    ("/undo", "reverse the last change of memory"),
    ("/compact", "summarise the older part of this conversation; with --without-model by rules"),
    ("/sleep", "learn from finished sessions, and tidy memory"),
    ("/help", "this list"),
    ("/quit", "end the conversation; Ctrl-D and Ctrl-C do, too"),
)


class Room:
    """One conversation on a terminal.

    Attributes:
        total: A turn that stands for all of them.
        turns: How many turns there were.
    """

    def __init__(
        self,
        cortex: Cortex,
        session: Session,
        chat: Chat,
        endpoint: Endpoint,
        *,
        screen: TurnScreen,
        place: Place,
    ) -> None:
        """Show turns on ``screen``; commands look for memory at ``place``."""
        self._cortex = cortex
        self._session = session
        self._chat = chat
        self._endpoint = endpoint
        self._screen = screen
        self._place = place
        # Of what waits already nobody is asked: the command /review does that.
        self._known = {proposal.id for proposal in session.confirmations()}
        self._told: set[str] = set()
        self._is_degraded = False
        self.total = Turn()
        self.turns = 0

    def run(self) -> None:
        """Talk until the person ends it."""
        address, session = self._endpoint.address, self._session
        where = f"session {session.id}" if session.id else "not recorded"
        hello = f"{address.model} at {address.host} · {where} · {self._cortex.mode}"
        count = len(self._cortex.pending())
        asked = f"{waits(count)} in pending.md: /review decides. " if count else ""
        begin = f"{asked}/help lists the commands, Ctrl-D ends."
        output.show([line((hello, "strong")), line((begin, "dim"))])
        arrivals = len(session.news())
        if arrivals:
            what = "1 thing" if arrivals == 1 else f"{arrivals} things"
            note(f"{what} in memory came with git; /review lists what it is")
        self._tell()
        # What takes half a second is loaded while the person types.
        threading.Thread(target=self._warm_up, name="engramdown-chat", daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt, EOFError):
            for text in self._typed():
                if text in ("/quit", "/exit"):
                    return
                found = _COMMAND.match(text)
                if found:
                    self._command(found[0], text[found.end() :].strip())
                else:
                    self._answer(text.strip())
            return
        click.echo()

    def _answer(self, message: str) -> None:
        """Let the model answer, tell what is to be told, and ask what is to be asked."""
        try:
            turn = self._chat.turn(message)
        finally:
            self._screen.finish()
        self.turns += 1
        self.total = Turn(
            tools=(*self.total.tools, *turn.tools),
            tokens_in=self.total.tokens_in + turn.tokens_in,
            tokens_out=self.total.tokens_out + turn.tokens_out,
            is_counted=self.total.is_counted and turn.is_counted,
        )
        if turn.outcome == "stopped":
            click.echo(_STOPPED)
        elif turn.outcome:
            complain(failed(turn, self._endpoint.address))
        self._tell()
        self._ask()

    def _ask(self) -> None:
        """Ask about what is new, until all is decided or a person says later."""
        try:
            found = self._session.confirmations()
            waiting = [proposal for proposal in found if proposal.id not in self._known]
            self._known |= {proposal.id for proposal in waiting}
            if waiting:
                what = "This is" if len(waiting) == 1 else f"These {len(waiting)} are"
                output.show([line(), line((f"{what} for you to decide:", "strong"))])
                together = self._cortex.review.resolve_all
                walk = Walk(self._session.resolve, together, _pass_over, goes_on=True)
                walk.through(waiting)
        except (EngramdownError, OSError) as error:
            complain(str(error))

    def _tell(self) -> None:
        """Say on stderr what a person should know, each thing once."""
        notes = [*self._cortex.scopes.notices()]
        if self._session.degraded and not self._is_degraded:
            self._is_degraded = True
            notes.append(f"what is said is not recorded: {self._session.degraded}")
        if "tools" in self._endpoint.lacking:
            notes.append(
                "this model calls no tools: it sees what is remembered, and can neither search "
                "nor add to it"
            )
        done = self._session.compacted
        if done is not None and done.gists:
            what = "1 message is" if done.messages == 1 else f"{done.messages:,} messages are"
            notes.append(f"{what} summarised now, and their words kept")
        for each in notes:
            if each not in self._told:
                self._told.add(each)
                note(each)

    def _warm_up(self) -> None:
        # Whatever is wrong is told when the model is asked.
        with contextlib.suppress(Exception):
            self._endpoint.warm_up()

    # ---- what is typed ----

    def _typed(self) -> Iterator[str]:
        """Yield what the person types, message by message."""
        self._set_up_readline()
        while True:
            click.echo()
            try:
                with shown_again(_prompt_again):
                    text = _read()
            except UnicodeDecodeError:
                complain("that was no text in the terminal's encoding; nothing was sent")
                continue
            if text.strip():
                yield text

    def _set_up_readline(self) -> None:
        """Let the arrow keys work, and what is pasted stay together, where the system can."""
        try:
            import readline
        except ImportError:
            return
        with contextlib.suppress(EngramdownError, OSError):
            if self._cortex.episodes is not None and self._session.id:
                # What the user said before in this conversation.
                for each in self._cortex.episodes.session(self._session.id).episodes:
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
            with contextlib.suppress(EngramdownError):  # whoever asks next is told
                # A person has just looked at what waits.
                self._known |= {proposal.id for proposal in self._session.confirmations()}
        self._tell()
        self._ask()

    def _do(self, name: str, rest: str) -> None:
        """Do what a command says.

        Raises:
            RefusalError: If there is no such command, or its words cannot be read.
        """
        if name == "/help":
            more = "A line that ends with \\ goes on below; what is pasted is one message."
            output.show([*table(_HELP, ("strong",)), line((more, "dim"))])
        elif name == "/memory":
            output.show(self._memory_lines())
        elif name == "/compact":
            self._compact(rest)
        elif name.removeprefix("/") in _OURS:
            # Imported here: it imports what is imported here.
            from engramdown.cli.main import main

            own = name.removeprefix("/")
            try:
                words = ["--", rest] if own in _TEXTS and rest else shlex.split(rest)
            except ValueError as error:
                raise RefusalError(f"{rest!r} cannot be read as words: {error}") from error
            main([*place_options(self._place, self._cortex.mode), own, *words])
        else:
            sent = "What begins with a space is sent as it is"
            raise RefusalError(f"no command {name}; /help lists them. {sent}")

    def _memory_lines(self) -> Iterator[Line]:
        """Yield what the model sees of memory, where it stands, and what it costs.

        Raises:
            StoreError: If memory cannot be read.
        """
        overhead, budget = self._chat.overhead, self._chat.budget
        made = self._session.build_context(max(budget - overhead, 0))
        shown = [section for section in made.sections if section.shown]
        for section in shown:
            yield line((section.heading.removeprefix("## "), "where"))
            yield from hit_lines(section.shown)
            yield line()
        if not shown:
            yield line("Nothing is remembered here yet; /remember begins.")
            yield line()
        yield from explained(made)
        cost = (
            f"The tools and our instructions cost {overhead:,} tokens more; the budget for all is "
            f"{budget:,}: --budget sets it."
        )
        yield line((cost, "dim"))
        for store in self._cortex.scopes.stores:
            if store.memory.is_dir():
                yield whole((f"It stands in {store.memory}; edit it with any editor.", "dim"))

    def _compact(self, rest: str) -> None:
        """Summarise the older part of a conversation, by the model that is set, or that talks.

        Raises:
            RefusalError: If there is nothing to summarise, or it could not be.
        """
        if rest not in ("", _BY_RULES):
            raise RefusalError(f"/compact takes nothing, or {_BY_RULES}; {rest!r} is neither")
        scopes = self._cortex.scopes
        before = scopes.model
        try:
            if not rest:
                name = scopes.settings.consolidation.model
                if not name:
                    # Imported here: it is rarely asked.
                    from engramdown.models import InstructorModel

                    address = self._endpoint.address
                    name = address.model
                    kind = "ollama" if address.name.startswith("ollama/") else "openai"
                    own = "" if address.wanted == OPENAI_KEY else address.url
                    scopes.model = InstructorModel(f"{kind}/{name}", own)
                note(log_summaries.thinks(name))
            conversation = self._cortex.conversations.get(self._session)
            done = conversation.compact("incremental", without_model=bool(rest), tail=_TAIL)
        finally:
            scopes.model = before
        if not done.gists:
            raise RefusalError(done.reason)
        output.show([line(log_summaries.summarised(done))])


def place_options(place: Place, mode: str) -> list[str]:
    """Return the options of the program that say where memory is."""
    options = ["--mode", mode] if mode else []
    options += ["--project", str(place.project)] if place.project else []
    return [*options, "--home", str(place.home)] if place.home else options


def _read() -> str:
    """Return what is typed at once: a line, those that go on, or all that is pasted."""
    lines = [input(_PROMPT)]
    while lines[-1].endswith("\\") or (
        os.name == "posix" and select.select([sys.stdin], [], [], _AT_ONCE)[0]
    ):
        goes_on = lines[-1].endswith("\\")
        lines[-1] = lines[-1].removesuffix("\\")
        lines.append(input(_GOES_ON if goes_on else ""))
    return "\n".join(lines)


def _prompt_again() -> None:
    """Show the prompt, and what is typed so far."""
    readline = sys.modules.get("readline")
    typed = readline.get_line_buffer() if readline is not None else ""
    click.echo(f"{_PROMPT}{typed}", nl=False)


# ---- what is said ----


def waits(count: int) -> str:
    """Say how many proposals wait."""
    return f"{count} {'waits' if count == 1 else 'wait'}"


def failed(turn: Turn, address: Address) -> str:
    """Say why there is no answer, and what to do."""
    is_ollama = address.name.startswith("ollama/") or address.host.endswith(":11434")
    pull = f"; `ollama pull {address.model}` fetches it" if is_ollama else ""
    nexts = {
        "unreachable": f"is {address.host} running? --base-url says where else it may listen",
        "unauthorized": f"look at {address.wanted}",
        "not_found": f"--model names another, --base-url says where it is{pull}",
        "timeout": "ask again, or raise --timeout",
        "rate_limited": "try again in a while",
        "server_error": "try again",
        "truncated": "say: go on",
    }
    said = nexts.get(turn.outcome, "")
    return f"{address.model}: {turn.failed}" + (f"; {said}" if said else "")


def complain(message: str) -> None:
    """Say what went wrong; a secret in it is hidden."""
    if process.is_terminal(sys.stderr):
        _show(f"engramdown: {redact(message)}")
    else:
        process.complain(message)


def note(message: str) -> None:
    """Say something that is no answer."""
    if process.is_terminal(sys.stderr):
        _show(f"note: {message}")
    else:
        output.note(message)


def _pass_over(reason: str) -> None:
    """Say that somebody else decided meanwhile, or that it could not be done."""
    complain(f"passed over: {reason}")


def _show(text: str) -> None:
    item = line((on_screen(" ".join(text.split("\n"))), ""), hang=2)
    click.echo("\n".join(output.Screen().rows([item])), err=True)
