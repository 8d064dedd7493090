"""``engramdown log follow``: what is said in a session, as it is said.

Promises: changes nothing and holds no file open; every line is shown once, also when the file is
rewritten or cut meanwhile; ends when the session ends, and with Ctrl-C.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Final

import click

from engramdown.cli import log_messages as said
from engramdown.cli import output, process
from engramdown.cli.access import NONE_RUNS, Transcripts, open_transcripts
from engramdown.cli.commands import complete_sessions, pass_place, scope_options
from engramdown.cli.layout import Line, line
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.talk import Talk
from engramdown.cli.transcript import episode_data
from engramdown.transcripts.episode import Episode, Pointer, read_line
from engramdown.transcripts.sessions import lines

_PAUSE: Final = 0.2
"""Seconds between two looks; a look that finds nothing is one call of the system."""


# Of what a tool was given or gave back; `log show` has all that is kept.
_MOST_LINES: Final = 8
_MOST_CHARACTERS: Final = 600


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    metavar="N",
    help="Begin with the last N lines.",
)
@scope_options("The global scope.", "This project (default where there is one).")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON each, for programs.")
@pass_place
def follow(place: Place, /, *, session: str, number: int, scope: str | None, as_json: bool) -> None:
    """Follow SESSION, or the one that runs, until it ends or you press Ctrl-C."""
    transcripts = open_transcripts(place, scope)
    chosen = transcripts.find(session) if session else _running(transcripts)
    tail = _Tail(transcripts, chosen)
    talk = Talk(chosen, transcripts.memory.settings.gap_minutes)
    new = tail.new()
    if not as_json and process.is_terminal(sys.stdout):
        output.fast_screen().show([line((said.following(chosen), "dim")), line()])
    new = new[-number:] if number else [each for each in new if each.event == "end"][-1:]
    while True:
        for episode in new:
            _print(chosen, talk, episode, as_json=as_json)
        process.flush()
        if tail.ended:
            return
        time.sleep(_PAUSE)
        new = tail.new()


class _Tail:
    """The end of a session's file.

    Attributes:
        ended: Whether the session has ended, as far as it was read.
    """

    def __init__(self, transcripts: Transcripts, session: str) -> None:
        """Begin at the first line of ``session``."""
        self.ended = False
        self._session = session
        self._disk = transcripts.disk
        self._path = transcripts.sessions.path(session)
        self._file = (0, 0)
        self._size = self._offset = 0
        self._last = -1

    def new(self) -> list[Episode]:
        """Return what was appended since the last call.

        Raises:
            RefusalError: The session was removed.
        """
        found = self._disk.find(self._path)
        if found is None:
            raise RefusalError(said.is_gone(self._session))
        file = (found.st_dev, found.st_ino)
        if file != self._file or found.st_size < self._offset:
            # Redacted, or cut: what was shown is known by its number.
            self._file, self._offset, self._size = file, 0, 0
        if found.st_size == self._size:
            return []
        self._size = found.st_size
        return list(self._read())

    def _read(self) -> Iterator[Episode]:
        for offset, data in lines(self._disk, self._path, self._offset):
            if not data.endswith(b"\n"):
                return
            self._offset = offset + len(data)
            episode = read_line(data)
            if episode is None or episode.seq <= self._last:
                continue
            self._last = episode.seq
            if not _is_mark(episode):
                self.ended = episode.event == "end"
            yield episode


def _is_mark(episode: Episode) -> bool:
    """Whether an episode says something about the session, not in it."""
    return episode.role == "event" and episode.event not in ("start", "end")


def _print(session: str, talk: Talk, episode: Episode, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(episode_data(session, episode)))
    elif episode.event != "start":
        output.fast_screen().show(_lines(session, talk, episode))


def _lines(session: str, talk: Talk, episode: Episode) -> Iterator[Line]:
    """Yield the lines of an episode; only the beginning of what a tool was given or gave back."""
    first = "\n".join(episode.text[:_MOST_CHARACTERS].split("\n")[:_MOST_LINES])
    if episode.role not in ("tool_call", "tool_result") or len(first) == len(episode.text):
        yield from talk.lines(episode)
        return
    yield from talk.lines(episode._replace(text=first, cut=None))
    left = max(episode.cut or 0, len(episode.text)) - len(first)
    pointer = str(Pointer(session, episode.seq))
    yield line((said.cut_off(left, pointer), "dim"), indent=2)


def _running(transcripts: Transcripts) -> str:
    found = transcripts.running()
    if found is None:
        raise RefusalError(NONE_RUNS)
    return found.id
