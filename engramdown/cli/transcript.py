"""``engramdown log show``: a session, or one line of it.

Promises: changes nothing; on a terminal it is paged and what could fool it is made visible; with
``--whole`` a text goes into a pipe as it is, byte for byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import click

from engramdown.cli import log_messages as said
from engramdown.cli import output, process
from engramdown.cli.access import Transcripts, open_transcripts
from engramdown.cli.commands import complete_sessions, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.sessions import info_data
from engramdown.cli.talk import damage_lines, fact_lines, talk_lines
from engramdown.language.characters import on_screen
from engramdown.transcripts.episode import Episode, Pointer, write_line
from engramdown.transcripts.sessions import Reading, SessionInfo, Tally, count


@click.command()
@click.argument(
    "pointer", metavar="[SESSION[#NUMBER]]", default="", shell_complete=complete_sessions
)
@click.option(
    "--whole", is_flag=True, help="Also what a line shows cut; of one line, only its text."
)
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def show(place: Place, /, *, pointer: str, whole: bool, scope: str | None, as_json: bool) -> None:
    """Show a session, or one line of it.

    SESSION is an id or the beginning of one; without it, the session that began last. NUMBER is
    the one that stands before each line. A tool's result stands below its call.
    """
    wanted, mark, number = pointer.partition("#")
    if mark and not number.isdecimal():
        raise click.UsageError(said.no_number(pointer))
    transcripts = open_transcripts(place, scope)
    session = transcripts.find(wanted)
    if mark:
        _show_one(transcripts, Pointer(session, int(number)), whole=whole, as_json=as_json)
    else:
        _show_all(transcripts, session, whole=whole, as_json=as_json)


def episode_data(session: str, episode: Episode) -> dict[str, Any]:
    """Return an episode as JSON shows it: its line, and where it stands."""
    return {"pointer": str(Pointer(session, episode.seq)), **json.loads(write_line(episode))}


# ---- a session ----


def _show_all(transcripts: Transcripts, session: str, *, whole: bool, as_json: bool) -> None:
    info = transcripts.sessions.info(session)
    if info is None:
        malformed = len(transcripts.sessions.read(session).malformed)
        raise RefusalError(said.nothing_in(session, malformed))
    reading = transcripts.sessions.reading(session)
    episodes = (_whole(transcripts, each) if whole else each for each in reading)
    if as_json:
        lines = [episode_data(session, each) for each in episodes]
        facts = info_data(transcripts, info, _counted(transcripts, session))
        output.print_json({**facts, "malformed": len(reading.malformed), "lines": lines})
    else:
        _page(chain(_head_lines(transcripts, info), _lines(transcripts, reading, episodes)))


def _counted(transcripts: Transcripts, session: str) -> Tally:
    return count(transcripts.sessions, transcripts.disk, session)


def _head_lines(transcripts: Transcripts, info: SessionInfo) -> Iterator[Line]:
    tally = _counted(transcripts, info.id)
    if info.title:
        yield line((info.title, "strong"))
    yield from fact_lines(said.session_facts(info, tally.turns, tally.episodes))
    yield line()


def _lines(
    transcripts: Transcripts, reading: Reading, episodes: Iterable[Episode]
) -> Iterator[Line]:
    """Yield the lines of a session as they are read: whoever looks at its beginning waits less."""
    yield from talk_lines(reading.session, episodes, transcripts.memory.settings.gap_minutes)
    yield from damage_lines(len(reading.malformed))


def _whole(transcripts: Transcripts, episode: Episode) -> Episode:
    text = transcripts.memory.whole(episode)
    return episode if text == episode.text else episode._replace(text=text)


# ---- one line ----


def _show_one(transcripts: Transcripts, pointer: Pointer, *, whole: bool, as_json: bool) -> None:
    episode = transcripts.sessions.episode(*pointer)
    if episode is None:
        transcript = transcripts.sessions.read(pointer.session)
        last = max((each.seq for each in transcript.episodes), default=0)
        raise RefusalError(said.no_episode(pointer, last))
    if whole and not as_json:
        _print_whole(_fetched(transcripts, pointer, episode).text)
        return
    if whole:
        episode = _fetched(transcripts, pointer, episode)
    if as_json:
        output.print_json(episode_data(pointer.session, episode))
    else:
        _page(_one_lines(pointer, episode))


def _fetched(transcripts: Transcripts, pointer: Pointer, episode: Episode) -> Episode:
    """Return the episode with its whole text.

    Raises:
        RefusalError: The rest of it was not kept, or is gone.
    """
    full = _whole(transcripts, episode)
    if episode.cut is not None and len(full.text) < episode.cut:
        raise RefusalError(said.no_rest(pointer, kept=bool(episode.payload)))
    return full


def _one_lines(pointer: Pointer, episode: Episode) -> Iterable[Line]:
    yield from fact_lines(said.line_facts(pointer, episode))
    text = said.event_text(episode) if episode.role == "event" else episode.text
    if text:
        yield line()
        yield line(text.rstrip("\n"))
    left = (episode.cut or 0) - len(episode.text)
    if left > 0:
        yield line((said.cut_off(left, str(pointer) if episode.payload else ""), "dim"))


# ---- printing ----


def _page(lines: Iterable[Line]) -> None:
    output.page(output.fast_screen().rows(lines))


def _print_whole(text: str) -> None:
    if process.is_terminal(sys.stdout):
        output.page(on_screen(text).split("\n"))
    else:
        # As bytes, so that no encoding and no line end of the system gets in between.
        click.echo(_exact(text), nl=False)


def _exact(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half surrogate pairs that stand for no byte of stdin
        return text.encode("utf-8", "surrogatepass")
