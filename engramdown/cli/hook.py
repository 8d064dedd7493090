"""``engramdown hook``: what a coding agent calls as things happen to it.

Promises: it ends with 0 whatever happens, because an agent takes any other code for its own
trouble, and 2 for an order to stop; what it prints is whole or nothing; it ends after some seconds
at most. Only a person at a terminal is told of wrong usage by the code 2.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import hook_messages as messages
from engramdown.cli import output
from engramdown.cli.codes import DONE
from engramdown.cli.options import Place, given, pass_place
from engramdown.hooks.payload import EVENTS, Event, event_named, read_event

__all__ = ["hook"]

_LARGEST: Final = 64 * 1024 * 1024
_PIECE: Final = 1024 * 1024
# Claude Code gives the end of a session a second and a half.
_SECONDS: Final = {"session-end": 1.2, "stop": 8.0}
_USUAL_SECONDS: Final = 3.0
_READING_SECONDS: Final = 2.0
_PATIENCE: Final = "ENGRAMDOWN_HOOK_SECONDS"
_DIGITS: Final = 6
_CAN_WAKE: Final = hasattr(signal, "setitimer")
_WORDS: Final = ("session", "text", "tool", "input", "output", "error", "call", "transcript")


class _TooLongError(Exception):
    """A hook took too long."""


class _Hook(click.Command):
    """A command whose wrong usage is no error of the agent that calls it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; without a person, what is wrong in it is only told."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if output.is_terminal(sys.stdin):
                raise
            _complain("", error.format_message())
            raise Exit(DONE) from error


@click.command(cls=_Hook)
@click.argument("event", metavar="[EVENT]", default="")
@click.option(
    "--session", metavar="ID", default="", envvar="ENGRAMDOWN_SESSION", help=messages.SESSION
)
@click.option("--text", metavar="TEXT", help='What was written; "-" reads it from stdin.')
@click.option("--tool", metavar="NAME", help="The tool that was called.")
@click.option("--input", metavar="TEXT", help="What it was given.")
@click.option("--output", metavar="TEXT", help='What it gave back; "-" reads it from stdin.')
@click.option("--error", metavar="TEXT", help="Why it failed.")
@click.option("--call", metavar="ID", help="The id of the call.")
@click.option("--source", metavar="WORD", help="Why a session starts: startup, resume, compact.")
@click.option("--reason", metavar="WORD", help="Why it ends.")
@click.option("--transcript", metavar="FILE", help="Where the agent keeps its transcript.")
@pass_place
def hook(place: Place, /, *, event: str, **_: object) -> None:
    """Tell memory that EVENT happened to a coding agent, and print what the agent is to know.

    EVENT is session-start, prompt-submit, post-tool, stop or session-end. Claude Code writes what
    happened as JSON to the standard input; any other agent can use the options.
    `engramdown init --claude` sets it up.
    """
    is_person = output.is_terminal(sys.stdin)
    name = event_named(event)
    if is_person and not name:
        known = messages.no_such_event(event, EVENTS) if event else messages.NO_EVENT
        raise click.UsageError(known)
    told: list[str] = []
    try:
        with _limited():
            _tell(place, name or event, told.append, is_person=is_person)
    except KeyboardInterrupt:
        _complain(name or event, messages.STOPPED)
    _print("\n\n".join(filter(None, told)))


def _tell(place: Place, name: str, say: Callable[[str], object], *, is_person: bool) -> None:
    """Say what to print; trouble is told on stderr, and kept for ``doctor``."""
    found = None
    try:
        event = _event(name, is_person=is_person)
        name = event.name or name
        if not event.name:
            return
        _allow(_patience(_SECONDS.get(name, _USUAL_SECONDS)))
        from engramdown.hooks.place import find_place

        found = find_place(_folder(place, event), place.home, place.mode)
        if found is None:
            return
        from engramdown.hooks.events import happened

        happened(found, event, say)
    except _TooLongError:
        reason = messages.TOOK_TOO_LONG
    except Exception as error:  # noqa: BLE001 - no fault of ours is to be one of the agent's
        reason = _reason(error)
    else:
        return
    _allow(0)
    _complain(name, reason)
    if found is not None:
        from engramdown.hooks.kept import complain

        complain(found.root, name, reason)


def _event(name: str, *, is_person: bool) -> Event:
    """Return what happened, as the options say or else the standard input."""
    options = given()
    by_words = any(options[key] is not None for key in _WORDS if key != "session")
    by_words |= _is_on_line("session")
    data = b"" if is_person or by_words else _read()
    event = read_event(data, name)
    more: dict[str, Any] = {
        key: options[key] for key in ("call", "source", "reason", "tool") if options[key]
    }
    for key, field in (("input", "given"), ("output", "got"), ("text", "text")):
        if options[key] is not None:
            said = options[key]
            more[field] = _read().decode("utf-8", "replace") if said == "-" else said
    if options["error"] is not None:
        more["error"] = options["error"] or True
        more.setdefault("got", options["error"])
    if options["transcript"]:
        more["transcript"] = str(Path(options["transcript"]).absolute())
    return event._replace(**more, session=event.session or options["session"])


def _is_on_line(option: str) -> bool:
    from click.core import ParameterSource

    found = click.get_current_context().get_parameter_source(option)
    return found is ParameterSource.COMMANDLINE


def _folder(place: Place, event: Event) -> Path:
    """Return the folder that the agent works in."""
    named = (os.environ.get("CLAUDE_PROJECT_DIR", ""), event.folder)
    for folder in (place.project, *(Path(each) for each in named if each)):
        if folder is not None and folder.is_absolute() and folder.is_dir():
            return folder
    return place.project.absolute() if place.project is not None else Path.cwd()


def _read() -> bytes:
    """Return what the agent wrote; more than a hook reads is taken, so that it can write it.

    Raises:
        ValueError: If it is that much.
    """
    if sys.stdin is None or sys.stdin.closed:
        return b""
    parts, size = [], 0
    # What cannot be read is nothing: an agent may have closed it.
    with suppress(OSError):
        while piece := sys.stdin.buffer.read(_PIECE):
            size += len(piece)
            if size <= _LARGEST:
                parts.append(piece)
    if size > _LARGEST:
        raise ValueError(messages.too_large(_LARGEST))
    return b"".join(parts)


def _print(text: str) -> None:
    """Print it in one go; an agent that does not listen is no trouble."""
    if not text:
        return
    try:
        click.echo(text.encode("utf-8", "replace"))
        output.flush()
    except OSError:
        output.give_up_stdout()


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        from engramdown.cli.messages import system_error

        return system_error(error)
    return str(error) or type(error).__name__


def _complain(event: str, reason: str) -> None:
    try:
        output.complain(messages.in_trouble(event, reason))
    except OSError:
        return  # Nobody listens there, either.


@contextmanager
def _limited() -> Iterator[None]:
    """Give up what takes too long, where the system has an alarm; first of all, to be told."""
    if not _CAN_WAKE or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _too_long)
    _allow(_patience(_READING_SECONDS))
    try:
        yield
    finally:
        _allow(0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def _patience(usual: float) -> float:
    """Return how many seconds something may take: what the environment says, or the usual."""
    said = os.environ.get(_PATIENCE, "")
    is_number = said.isascii() and said.isdecimal() and len(said) <= _DIGITS
    return float(said) if is_number and int(said) else usual


def _allow(seconds: float) -> None:
    """Allow so many seconds from now on; 0 for any number."""
    if _CAN_WAKE and signal.getsignal(signal.SIGALRM) is _too_long:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _too_long(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _TooLongError
