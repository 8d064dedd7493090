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
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import click

from engramdown import Cortex, Proposal, Session
from engramdown.cli import chat_screen as said
from engramdown.cli import log_summaries, output, process
from engramdown.cli.chat_screen import TurnScreen, shown_again
from engramdown.cli.context import explained
from engramdown.cli.layout import Line, line, table
from engramdown.cli.output import RefusalError
from engramdown.cli.review import Walk
from engramdown.cli.views import hit_lines
from engramdown.errors import EngramdownError
from engramdown.integrations.chat import OPENAI_KEY, Chat, Endpoint, Turn
from engramdown.language import on_screen
from engramdown.secrets import redact

if TYPE_CHECKING:
    from engramdown.cli.process import Place
    from engramdown.integrations.chat import Address
    from engramdown.models import InstructorModel


_COMMAND: Final = re.compile(r"/[a-z]+(?=\s|\Z)")
# What a person pastes comes faster than anybody types.
_AT_ONCE: Final = 0.05
# Each is the command of this name.
_OURS: Final = ("review", "remember", "recall", "forget", "undo", "sleep")
# Takes all that follows as one text, which may begin with a dash.
_TEXTS: Final = ("remember", "recall")


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
        self._asking = Confirmations(cortex, session)
        self._told: set[str] = set()
        self._is_degraded = False
        self.total = Turn()
        self.turns = 0
        self._does: Final[dict[str, Callable[[str], object]]] = {
            "/help": self._help,
            "/memory": self._memory,
            "/compact": self._compact,
            **{f"/{name}": self._ours(name) for name in _OURS},
        }

    def run(self) -> None:
        """Talk until the person ends it."""
        self._greet()
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
                    self.answer(text.strip())
            return
        click.echo()

    def answer(self, message: str) -> Turn:
        """Let the model answer, tell what is to be told, and ask what is to be asked."""
        try:
            turn = self._chat.turn(message)
        finally:
            self._screen.finish()
        self.turns += 1
        self.total = added(self.total, turn)
        if turn.outcome == "stopped":
            click.echo(said.STOPPED)
        elif turn.outcome:
            complain(said.failed(turn, self._endpoint.address))
        self._tell()
        self._ask()
        return turn

    def _ask(self) -> None:
        """Ask what is to be asked; where that cannot be read, say so."""
        try:
            self._asking.ask()
        except (EngramdownError, OSError) as error:
            complain(str(error))

    def _greet(self) -> None:
        rows = [
            line(
                (said.hello(self._endpoint.address, self._session.id, self._cortex.mode), "strong")
            ),
            line((said.waits(len(self._cortex.pending())), "dim")),
        ]
        output.screen().show(rows)
        arrivals = self._session.news()
        if arrivals:
            note(said.came_with_git(len(arrivals)))
        self._tell()

    def _tell(self) -> None:
        """Say on stderr what a person should know, each thing once."""
        notes = [*self._cortex.scopes.notices()]
        if self._session.degraded and not self._is_degraded:
            self._is_degraded = True
            notes.append(said.not_recorded(self._session.degraded))
        notes += [said.NO_TOOLS] if "tools" in self._endpoint.lacking else []
        done = self._session.compacted
        notes += [said.compacted(done.messages)] if done is not None and done.gists else []
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
        _set_up_readline(self._earlier())
        while True:
            click.echo()
            try:
                with shown_again(_prompt_again):
                    text = _read()
            except UnicodeDecodeError:
                complain(said.NOT_READ)
                continue
            if text.strip():
                yield text

    def _earlier(self) -> list[str]:
        """Return what the user said before in this conversation, for the arrow keys."""
        if self._cortex.episodes is None or not self._session.id:
            return []
        try:
            lines = self._cortex.episodes.session(self._session.id).episodes
        except (EngramdownError, OSError):
            return []
        return [each.text for each in lines if each.role == "user" and "\n" not in each.text]

    # ---- commands ----

    def _command(self, name: str, rest: str) -> None:
        do = self._does.get(name)
        if do is None:
            complain(said.no_command(name))
            return
        try:
            do(rest)
        except click.ClickException as error:
            complain(error.format_message())
        except (EngramdownError, OSError) as error:
            complain(str(error))
        except KeyboardInterrupt:
            click.echo(said.STOPPED)
        if name == "/review":
            with contextlib.suppress(EngramdownError):  # whoever asks next is told
                self._asking.pass_over()
        self._tell()
        self._ask()

    def _help(self, rest: str) -> None:
        del rest
        rows = [*table(said.help_rows(), ("strong",)), line((said.MORE_LINES, "dim"))]
        output.screen().show(rows)

    def _memory(self, rest: str) -> None:
        del rest

        output.screen().show(memory_lines(self._cortex, self._session, self._chat))

    def _compact(self, rest: str) -> None:
        compact(self._cortex, self._session, self._endpoint.address, rest)

    def _ours(self, name: str) -> Callable[[str], object]:
        def run(rest: str) -> None:
            # Imported here: it imports what is imported here.
            from engramdown.cli.main import main

            words = ["--", rest] if name in _TEXTS and rest else _words(rest)
            main([*place_options(self._place, self._cortex.mode), name, *words])

        return run


def added(total: Turn, turn: Turn) -> Turn:
    """Return a turn that stands for two."""
    return Turn(
        tools=(*total.tools, *turn.tools),
        tokens_in=total.tokens_in + turn.tokens_in,
        tokens_out=total.tokens_out + turn.tokens_out,
        is_counted=total.is_counted and turn.is_counted,
    )


def place_options(place: Place, mode: str) -> list[str]:
    """Return the options of the program that say where memory is."""
    options = ["--mode", mode]
    options += ["--project", str(place.project)] if place.project else []
    return [*options, "--home", str(place.home)] if place.home else options


def _words(rest: str) -> list[str]:
    """Return what stands behind a command in words, as a shell reads them.

    Raises:
        RefusalError: If a quotation has no end.
    """
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise RefusalError(said.no_words(rest, str(error))) from error


def _read() -> str:
    """Return what is typed at once: a line, those that go on, or all that is pasted."""
    lines = [input(said.PROMPT)]
    while lines[-1].endswith("\\") or _more_waits():
        goes_on = lines[-1].endswith("\\")
        lines[-1] = lines[-1].removesuffix("\\")
        lines.append(input(said.GOES_ON if goes_on else ""))
    return "\n".join(lines)


def _prompt_again() -> None:
    """Show the prompt, and what is typed so far."""
    readline = sys.modules.get("readline")
    typed = readline.get_line_buffer() if readline is not None else ""
    click.echo(f"{said.PROMPT}{typed}", nl=False)


def _more_waits() -> bool:
    """Whether another line is there already."""
    if os.name != "posix":
        return False
    return bool(select.select([sys.stdin], [], [], _AT_ONCE)[0])


def _set_up_readline(earlier: list[str]) -> None:
    """Let the arrow keys work, and what is pasted stay together, where the system can."""
    try:
        import readline
    except ImportError:
        return
    for text in earlier:
        readline.add_history(text)
    if "libedit" not in (readline.__doc__ or ""):
        readline.parse_and_bind("set enable-bracketed-paste on")


class Confirmations:
    """Asks about the proposals that a conversation brings, each of them once."""

    def __init__(self, cortex: Cortex, session: Session) -> None:
        """Take what waits already for known: the command ``/review`` asks about it."""
        self._cortex = cortex
        self._session = session
        self._known = {proposal.id for proposal in session.confirmations()}

    @property
    def new(self) -> list[Proposal]:
        """What is new and to be asked about."""
        found = self._session.confirmations()
        return [proposal for proposal in found if proposal.id not in self._known]

    def ask(self) -> None:
        """Ask about what is new, until all is decided or a person says later."""
        waiting = self.new
        self._known |= {proposal.id for proposal in waiting}
        if not waiting:
            return
        output.screen().show([line(), line((said.asks(len(waiting)), "strong"))])
        together = self._cortex.review.resolve_all
        walk = Walk(self._session.resolve, together, self._complain, goes_on=True)
        walk.through(waiting)

    def pass_over(self) -> None:
        """Take for known what waits now: a person has just looked at it."""
        self._known |= {proposal.id for proposal in self._session.confirmations()}

    def _complain(self, reason: str) -> None:
        complain(said.gone(reason))


_BY_RULES: Final = "--without-model"
# Who asks for it wants to see something gone: fewer of the newest are left alone than by itself.
_TAIL: Final = 4


def memory_lines(cortex: Cortex, session: Session, chat: Chat) -> Iterator[Line]:
    """Yield what the model sees of memory, where it stands, and what it costs.

    Raises:
        StoreError: If memory cannot be read.
    """
    made = session.build_context(max(chat.budget - chat.overhead, 0))
    for section in made.sections:
        if section.shown:
            yield line((section.heading.removeprefix("## "), "where"))
            yield from hit_lines(section.shown)
            yield line()
    if not any(section.shown for section in made.sections):
        yield line(said.NO_MEMORY)
        yield line()
    yield from explained(made)
    yield line((said.overhead(chat.overhead, chat.budget), "dim"))
    for store in cortex.scopes.stores:
        if store.memory.is_dir():
            yield line((said.files(str(store.memory)), "dim"))._replace(whole=True)


def compact(cortex: Cortex, session: Session, address: Address, rest: str) -> None:
    """Summarise the older part of a conversation, by the model that is set, or that talks.

    Raises:
        RefusalError: If there is nothing to summarise, or it could not be.
    """
    if rest not in ("", _BY_RULES):
        raise RefusalError(said.no_such_way(rest))
    before = cortex.scopes.model
    try:
        if not rest:
            name = cortex.scopes.settings.consolidation.model
            if not name:
                name, cortex.scopes.model = address.model, _asked(address)
            note(log_summaries.thinks(name))
        conversation = cortex.conversations.get(session)
        done = conversation.compact("incremental", without_model=bool(rest), tail=_TAIL)
    finally:
        cortex.scopes.model = before
    if not done.gists:
        raise RefusalError(done.reason)
    output.screen().show([line(log_summaries.summarised(done))])


def _asked(address: Address) -> InstructorModel:
    """Return the model that talks as one that can be asked for a form."""
    # Imported here: it is rarely asked.
    from engramdown.models import InstructorModel

    kind = "ollama" if address.name.startswith("ollama/") else "openai"
    own = "" if address.wanted == OPENAI_KEY else address.url
    return InstructorModel(f"{kind}/{address.model}", own)


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


def _show(text: str) -> None:
    item = line((on_screen(" ".join(text.split("\n"))), ""), hang=2)
    click.echo("\n".join(output.PlainScreen().rows([item])), err=True)
