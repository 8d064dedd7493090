"""``engramdown chat``: a conversation with a model that remembers.

It needs a terminal. A person is asked between two turns, never during one. What is said is recorded
at once, and the session ends with the conversation, however that ends.
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown import Cortex, Session
from engramdown.cli import output, views
from engramdown.cli.access import Transcripts, open_quietly
from engramdown.cli.commands import given, pass_place, session_option
from engramdown.cli.layout import line, whole
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.errors import StoreError
from engramdown.settings import MODES

if TYPE_CHECKING:
    from engramdown.cli.chat_room import Room
    from engramdown.integrations.chat.endpoint import Address, Endpoint


# Seconds after a signal in which another one does not interrupt the end of the session.
_GRACE: Final = 5.0
# What shells add to the number of a signal.
_SIGNALLED: Final = 128


@click.command()
@click.option(
    "--model",
    metavar="NAME",
    help="The model: ollama/llama3.2, openai/gpt-4.1-mini; by default the one of the settings.",
)
@click.option("--base-url", metavar="URL", help="Where its server listens.")
@session_option("Go on with this conversation; the beginning of its id will do.", metavar="SESSION")
@click.option("--mode", type=click.Choice(MODES), help="Decide on new memory in this mode.")
@click.option(
    "--budget",
    type=click.IntRange(min=1000),
    metavar="TOKENS",
    help="What a prompt may cost; by default 80000.",
)
@pass_place
def chat(place: Place, /, **_: object) -> None:
    """Talk with a model that remembers, on any server that speaks OpenAI's protocol.

    Between turns you decide with one key on what the model proposes to remember. /help in a chat
    lists the other commands.
    """
    options = given()
    place = place._replace(mode=options["mode"] or place.mode)
    cortex = open_quietly(place, "any")
    address = _address(cortex, options)
    session_id = None
    if options["session"]:
        if cortex.episodes is None or not cortex.episodes.settings.enabled:
            raise RefusalError("conversations are not recorded here, so none can go on")
        session_id = Transcripts(cortex.episodes).find(options["session"])
    if not output.is_person():
        raise RefusalError(
            "a chat needs a terminal; a program talks through engramdown.integrations.chat"
        )

    from engramdown.integrations.chat.endpoint import Endpoint

    endpoint = Endpoint(address)
    try:
        with _ended_by_signals(), cortex.session(session_id) as session:
            _talk(cortex, session, endpoint, place)
    finally:
        endpoint.close()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a closed terminal, end the session too."""
    first, code = math.inf, 0

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal first, code
        del frame
        # A shell sends one beside the terminal's: a second one must not interrupt the end. Later
        # ones count again, as the exception of the first may have been swallowed.
        if not 0 <= time.monotonic() - first < _GRACE:
            first, code = time.monotonic(), _SIGNALLED + number
            raise SystemExit(code)

    # Not every system closes a terminal with a signal.
    names = (name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
    before = {name: signal.signal(getattr(signal, name), end) for name in names}
    try:
        yield
    except SystemError:
        # Python makes this of the SystemExit if a second signal comes while `input` raises it.
        if code:
            raise SystemExit(code) from None
        raise
    finally:
        for name, handler in before.items():
            # The program is ending already.
            after = handler if first == math.inf else signal.SIG_IGN
            signal.signal(getattr(signal, name), after)


# ---- the model ----


def _address(cortex: Cortex, options: dict[str, Any]) -> Address:
    """Return where the model is.

    Raises:
        RefusalError: No model is named, or something that it needs is missing.
    """
    from engramdown.integrations.chat.endpoint import AddressError, address_of, is_installed

    settings = cortex.scopes.settings.consolidation
    name, url = options["model"], options["base_url"] or ""
    if not name and settings.model.startswith(("openai/", "ollama/")):
        name, url = settings.model, url or settings.base_url
    if not name:
        raise RefusalError(
            "name a model: --model ollama/llama3.2 for Ollama on this machine, "
            "--model openai/gpt-4.1-mini for OpenAI, or set model under [consolidation] in the "
            "global scope's config.toml"
        )
    if not is_installed():
        raise RefusalError("openai is not installed; run pip install 'engramdown[openai]'")
    try:
        address = address_of(name, url, os.environ)
    except AddressError as error:
        raise click.UsageError(str(error)) from error
    if not address.key:
        raise RefusalError(
            f"{address.host} needs a key, and {address.wanted} is not set; "
            f"run export {address.wanted}=…, or name a server of your own with --base-url"
        )
    return address


# ---- the conversation ----


def _talk(cortex: Cortex, session: Session, endpoint: Endpoint, place: Place) -> None:
    from engramdown.cli.chat_room import Room
    from engramdown.cli.chat_screen import TurnScreen
    from engramdown.integrations.chat.turns import BUDGET, Chat

    screen = TurnScreen()
    began = len(_transcript(cortex, session))
    talk = Chat(cortex, session, endpoint, screen, budget=given()["budget"] or BUDGET)
    room = Room(cortex, session, talk, endpoint, screen, place)
    try:
        room.run()
    finally:
        if room.turns:
            output.show([line((_left(cortex, session, room, began), "dim"))])
            if session.id:
                # In one row, so that it can be copied.
                output.show([whole((f"Go on with: {_again(session.id)}", "dim"))])
        else:
            output.show([line(("Nothing was said, so nothing is kept.", "dim"))])


def _left(cortex: Cortex, session: Session, room: Room, began: int) -> str:
    """Sum up a conversation whose lines begin at ``began``."""
    from engramdown.cli.chat_room import waits

    lines = _transcript(cortex, session)[began:]
    written = [each.meta for each in lines if each.role == "memory_write" and each.meta]
    counts = Counter(str(meta.get("action")) for meta in written)
    verbs = (("encoded", "remembered"), ("forgotten", "forgotten"), ("queued", "proposed"))
    parts = [f"{counts[key]} {verb}" for key, verb in verbs if counts[key]]
    with suppress(StoreError):
        waiting = len(cortex.pending())
        parts += [f"{waits(waiting)} in pending.md"] if waiting else []
    about = "" if all(turn.is_counted for turn in room.turns) else "about "
    tokens_in = sum(turn.tokens_in for turn in room.turns)
    tokens_out = sum(turn.tokens_out for turn in room.turns)
    count = views.counted(len(room.turns), "turn")
    changes = ", ".join(parts) or "nothing new to remember"
    return f"{count}, {changes}; {about}{tokens_in:,} tokens in, {tokens_out:,} out."


def _transcript(cortex: Cortex, session: Session) -> list[Any]:
    try:
        return [] if cortex.episodes is None else list(cortex.episodes.session(session.id).episodes)
    except (StoreError, OSError):
        return []


def _again(session: str) -> str:
    """Return the command that goes on with the session: this one, and the session if it was new."""
    words = ["engramdown", *sys.argv[1:]]
    return shlex.join([*words, *(() if given()["session"] else ("--session", session))])
