"""Runs a hook without the command line around it, because an agent waits for each of them.

It raises nothing and ends after a few seconds at most. Each part of the output is printed whole as
soon as it is known. Loading this module does not load click.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Final

from engramdown.cli import process
from engramdown.cli.process import Place
from engramdown.integrations.claude_code import payload
from engramdown.storage import one_call

# The variable that holds the id of the conversation, for agents that do not say it.
SESSION: Final = "ENGRAMDOWN_SESSION"

_LARGEST: Final = 64 * 1024 * 1024
_PIECE: Final = 1024 * 1024
# Claude Code gives the end of a session a second and a half.
_SECONDS: Final = {"session-end": 1.2, "stop": 8.0}
_USUAL_SECONDS: Final = 3.0
_READING_SECONDS: Final = 2.0
_PATIENCE: Final = "ENGRAMDOWN_HOOK_SECONDS"
_DIGITS: Final = 6
_CAN_WAKE: Final = hasattr(signal, "setitimer")


class _TooLongError(Exception):
    """A hook took too long."""


def happen(place: Place, name: str, found: Callable[[], payload.Event]) -> None:
    """Tell memory about an event of an agent, and print what the agent should know.

    Args:
        place: Where memory is.
        name: The name of the event, if it is known before it is read.
        found: Reads the event, within a time limit; its errors are reported on stderr.
    """
    printer = _Printer()
    try:
        with _limited(), one_call():
            _handle(place, payload.event_named(name) or name, found, printer)
    except KeyboardInterrupt:
        complain(name, "was stopped")
    printer.end()


def told_by_json(name: str) -> payload.Event:
    """Return the event on standard input; ``name`` goes first.

    Raises:
        ValueError: If it is longer than a hook reads.
    """
    event = payload.read_event(read_input(), name)
    return event._replace(session=event.session or os.environ.get(SESSION, ""))


def _handle(place: Place, name: str, found: Callable[[], payload.Event], printer: _Printer) -> None:
    """Handle an event; trouble is reported on stderr, and kept for ``doctor``."""
    where = None
    try:
        event = printer.event = found()
        name = event.name or name
        if not event.name:
            return
        seconds = _patience(_SECONDS.get(name, _USUAL_SECONDS))
        _allow(seconds)
        ends = monotonic() + seconds
        # Imported here, as what follows: not every event, and every place, is one of ours.
        from engramdown.integrations.claude_code.environment import find_place

        where = find_place(_folder(place, event), place.home, place.mode)
        if where is None:
            return
        from engramdown.integrations.claude_code.events import handle_event

        handle_event(where, event, printer.say, lambda: ends - monotonic())
        if where.trouble:
            complain(name, where.trouble)
    except _TooLongError:
        reason = "took too long and was stopped; the next one goes on"
    except OSError as error:
        from engramdown.cli.views import system_error

        reason = system_error(error)
    except Exception as error:  # noqa: BLE001 - no fault of ours is to be one of the agent's
        reason = str(error) or type(error).__name__
    else:
        return
    _allow(0)
    complain(name, reason)
    if where is not None:
        from engramdown import storage

        storage.complain(where.root, name, reason)


def _folder(place: Place, event: payload.Event) -> Path:
    """Return the folder that the agent works in."""
    named = (os.environ.get("CLAUDE_PROJECT_DIR", ""), event.folder)
    for folder in (place.project, *(Path(each) for each in named if each)):
        if folder is not None and folder.is_absolute() and folder.is_dir():
            return folder
    return place.project.absolute() if place.project is not None else Path.cwd()


def read_input() -> bytes:
    """Return the input of the agent; too much is read to its end, so that the agent can write it.

    Raises:
        ValueError: If it is too much.
    """
    if sys.stdin is None or sys.stdin.closed:
        return b""
    parts, size = [], 0
    # The agent may have closed it.
    with suppress(OSError):
        while piece := sys.stdin.buffer.read(_PIECE):
            size += len(piece)
            if size <= _LARGEST:
                parts.append(piece)
    if size > _LARGEST:
        most = _LARGEST // 1024 // 1024
        raise ValueError(f"what the agent wrote is larger than {most} MB and was not read")
    return b"".join(parts)


class _Printer:
    """Prints the output part by part, so that a hook that is killed has printed its first parts.

    Attributes:
        event: The event; an agent that reads JSON gets all parts as one, at the end.
    """

    def __init__(self) -> None:
        self.event = payload.Event()
        self._any = False
        self._parts: list[str] = []

    def say(self, text: str) -> None:
        """Print a part in one go, or keep it for the end."""
        if payload.reads_json(self.event):
            self._parts.append(text)
        else:
            self._put(text)

    def end(self) -> None:
        """Print the parts that were kept."""
        self._put(payload.answer(self.event, "\n\n".join(filter(None, self._parts))))

    def _put(self, text: str) -> None:
        """Print a text, whether the agent listens or not."""
        if not text or sys.stdout is None:
            return
        gap = "\n" if self._any else ""
        self._any = True
        with _undisturbed():
            try:
                sys.stdout.buffer.write(f"{gap}{text}\n".encode("utf-8", "replace"))
                process.flush()
            except OSError:
                process.give_up_stdout()


def complain(event: str, reason: str) -> None:
    """Report on stderr that a hook failed."""
    try:
        process.complain(f"hook {event or 'without an event'}: {reason}")
    except OSError:
        return  # Nobody listens there, either.


@contextmanager
def _limited() -> Iterator[None]:
    """Stop reading the event if it takes too long, if the system has an alarm."""
    before = None
    if _CAN_WAKE:
        # Only the main thread may ask for it.
        with suppress(ValueError):
            before = signal.signal(signal.SIGALRM, _too_long) or signal.SIG_DFL
    if before is None:
        yield
        return
    _allow(_patience(_READING_SECONDS))
    try:
        yield
    finally:
        _allow(0)
        signal.signal(signal.SIGALRM, before)


def _patience(usual: float) -> float:
    """Return how many seconds something may take: from the environment, or the usual."""
    value = os.environ.get(_PATIENCE, "")
    is_number = value.isascii() and value.isdecimal() and len(value) <= _DIGITS
    return float(value) if is_number and int(value) else usual


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let the alarm wait for the end of the block."""
    if not _CAN_WAKE:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _allow(seconds: float) -> None:
    """Allow so many seconds from now on; 0 for any number."""
    if _CAN_WAKE and signal.getsignal(signal.SIGALRM) is _too_long:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _too_long(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _TooLongError
