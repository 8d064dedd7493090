"""``engramdown log list``: the sessions, the newest first.

Promises: on a terminal a session takes two rows, its facts and its first words; elsewhere it takes
one, so that it can be searched line by line. Only what is shown is counted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import log_messages as said
from engramdown.cli import output, process
from engramdown.cli.access import Transcripts, no_sessions, open_transcripts, words_of
from engramdown.cli.commands import Moment, given, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, cells, clock, lasted, line, table
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.transcripts.sessions import SessionInfo, Tally, count

_INDENT: Final = 2


@dataclass(frozen=True, slots=True)
class _Listed:
    """A session and what stands in it."""

    info: SessionInfo
    tally: Tally


@click.command("list")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="At most so many sessions.",
)
@click.option("--open", "is_open", is_flag=True, help="Only those that have not ended.")
@click.option(
    "--since", type=Moment(), metavar="DATE", help="Only what was going on at DATE or later."
)
@click.option("--until", type=Moment(end=True), metavar="DATE", help="Only what had begun by DATE.")
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def list_sessions(place: Place, /, *, scope: str | None, as_json: bool, **_: object) -> None:
    """List sessions, the newest first.

    DATE is a day, 2026-02-27, or a time, "2026-02-27 10:15", of your clock.
    """
    transcripts = open_transcripts(place, scope)
    found = [info for info in reversed(transcripts.sessions.list()) if _passes(info)]
    shown = [_counted(transcripts, info) for info in found[: given()["number"]]]
    if as_json:
        output.print_json([info_data(transcripts, item.info, item.tally) for item in shown])
    else:
        output.fast_screen().show(_lines(shown, wide=not process.is_terminal(sys.stdout)))
    if found[len(shown) :]:
        output.note(said.more_sessions(len(found) - len(shown), len(found)))
    if not shown:
        process.complain(_nothing(transcripts))
        raise Exit(REFUSED)


def info_data(transcripts: Transcripts, info: SessionInfo, tally: Tally) -> dict[str, Any]:
    """Return a session as JSON shows it."""
    return {
        "id": info.id,
        "title": info.title,
        "started": info.started,
        "last": info.last,
        "ended": info.ended,
        "reason": info.reason,
        "open": not info.ended,
        "parent": info.parent,
        "parent_call": info.parent_call,
        "source": info.source,
        "turns": tally.turns,
        "episodes": tally.episodes,
        "first": tally.first,
        "bytes": info.size,
        "path": str(transcripts.sessions.path(info.id)),
    }


def _passes(info: SessionInfo) -> bool:
    wanted = given()
    return (
        not (wanted["is_open"] and info.ended)
        and not (wanted["since"] and info.last < wanted["since"])
        and not (wanted["until"] and info.started > wanted["until"])
    )


def _counted(transcripts: Transcripts, info: SessionInfo) -> _Listed:
    return _Listed(info, count(transcripts.sessions, transcripts.disk, info.id))


def _nothing(transcripts: Transcripts) -> str:
    wanted = given()
    if wanted["is_open"] or wanted["since"] or wanted["until"]:
        return said.NO_SESSION_PASSES
    return no_sessions(transcripts.memory.folder)


def _lines(shown: Sequence[_Listed], *, wide: bool) -> list[Line]:
    if not shown:
        return []
    rows = [said.LIST_HEAD, *(_facts(item) for item in shown)]
    words = ["", *(words_of(item.info, item.tally) for item in shown)]
    styles = ("id", "dim", "dim", "", "", "dim")
    if wide:
        together = [(*row, text) for row, text in zip(rows, words, strict=True)]
        return table([(*rows[0], said.LIST_WORDS), *together[1:]], styles)
    head, *facts = table(rows, styles)
    lines = [line(("".join(part.text for part in head.parts), "dim"), hang=_INDENT)]
    for row, text in zip(facts, words[1:], strict=True):
        lines.append(line(*row.parts, hang=_INDENT))
        lines += [line(_short(text), indent=_INDENT)] if text else []
    return lines


def _facts(item: _Listed) -> tuple[str, ...]:
    info = item.info
    return (
        info.id,
        clock(info.started),
        lasted(info.started, info.last),
        str(item.tally.turns),
        str(item.tally.episodes),
        info.reason or said.OPEN,
    )


def _short(text: str) -> str:
    """Return the beginning of ``text`` that fits into a row."""
    room = output.width() - _INDENT
    if cells(text) <= room:
        return text
    cut = text[:room]
    while cells(cut) >= room:
        cut = cut[:-1]
    return f"{cut}…"
