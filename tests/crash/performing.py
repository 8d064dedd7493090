"""Carries out operations in children of its own, each on a word: ``python -m`` this.

Promises: a child does nothing before it is told to go on, so that a tracer can be attached to it;
what it does stands between two marks, which no operation makes itself; nothing is loaded, compiled
or collected in between, because each operation was rehearsed here before the first child; a
descriptor whose closing fails is closed all the same, as the system does it.

A line of standard input is ``rehearse``, a subject and a folder, ``begin`` and the same, or ``go``;
a line of standard output answers each: ``rehearsed``, the number of the process, or how it ended
and what it said.
Who has not ended after a minute is ended by a signal.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Final

from engramdown.errors import EngramdownError
from tests.crash.subjects import SUBJECTS

MARK: Final = signal.SIGWINCH
"""The signal that a child sends to itself before and after its operation; it does nothing."""
DONE: Final = 0
REFUSED: Final = 1
UNNAMED: Final = 2
"""Refused by an error that does not say which file it is about."""
BROKEN: Final = 3
"""Ended by an error that is none of ours."""

_LONGEST: Final = 60
_MOST: Final = 16_384
_ANY_TRACER: Final = (0x59616D61, ctypes.c_ulong(-1))
_close = os.close


def main() -> None:
    """Do what standard input says, until it ends."""
    # What is collected closes what it held: that would be another call at another place.
    gc.disable()
    os.close = _closed_all_the_same
    # What an operation prints is no answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Not a pipe: what is sent, and not written, fails by no fault of ours.
    here, there = socket.socketpair()
    here.setblocking(False)
    child = 0
    for line in sys.stdin:
        word, *rest = json.loads(line)
        if word == "rehearse":
            SUBJECTS[rest[0]].act(Path(rest[1]))
            gc.collect()
            gc.freeze()
            answer = "rehearsed"
        elif word == "begin":
            child = os.fork()
            if not child:
                _perform(rest[0], Path(rest[1]), there)
            os.waitpid(child, os.WUNTRACED)
            answer = f"{child}"
        else:
            os.kill(child, signal.SIGCONT)
            said = ""
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with contextlib.suppress(BlockingIOError):
                said = here.recv(_MOST).decode("utf-8", "replace")
            answer = json.dumps([ended, said])
        answers.write(f"{answer}\n")
        answers.flush()


def _perform(name: str, root: Path, report: socket.socket) -> None:
    """Carry out an operation between two marks, and end the process."""
    ctypes.CDLL(None).prctl(*_ANY_TRACER, 0, 0, 0)
    signal.alarm(_LONGEST)
    os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(os.getpid(), MARK)
    ended, said = BROKEN, ""
    try:
        SUBJECTS[name].act(root)
        ended = DONE
    except (EngramdownError, OSError) as error:
        said = str(error)
        # A folder that is new is synced in the one above it.
        ended = REFUSED if str(root.parent) in said else UNNAMED
    except Exception:  # noqa: BLE001 - whatever it is, it is told
        said = traceback.format_exc()
    os.kill(os.getpid(), MARK)
    report.send(said.encode("utf-8", "replace")[-_MOST:])
    os._exit(ended)


def _closed_all_the_same(fd: int) -> None:
    """Close a descriptor; the tracer answers for the system, but does not close it."""
    try:
        _close(fd)
    except OSError:
        os.closerange(fd, fd + 1)
        raise


if __name__ == "__main__":
    main()
