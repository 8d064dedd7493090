"""A terminal while a program shows or reads something, also when Ctrl-Z stops it there.

Promises: the terminal is as it was afterwards; where a system has no such thing, nothing is done.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


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
