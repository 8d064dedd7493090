"""``engramdown watch``: takes in hand edits as they happen, and prints what changes in memory.

Each change is one line, flushed at once. Errors go to stderr and do not end it; Ctrl-C, SIGTERM and
a reader that goes away do.
"""

from __future__ import annotations

import contextlib
import json
import queue
import select
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn, TextIO

import click
from click.exceptions import Exit

from engramdown import Cortex, serializers
from engramdown.cli import output, process
from engramdown.cli.access import open_quietly
from engramdown.cli.commands import pass_place
from engramdown.cli.layout import Line, line, shortened
from engramdown.cli.output import DONE, RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import beside
from engramdown.clock import local
from engramdown.sleep import News

# Seconds between two checks whether anybody still reads.
_PAUSE: Final = 2.0
# The most changes of one burst that a person sees.
_MOST: Final = 20
# The most characters of a text.
_MOST_SHOWN: Final = 240
_STYLES: Final = {"forgot": "bad", "declined": "bad", "asked": "warn", "edited": "dim"}
_ASIDE: Final = frozenset({"trouble", "mended", "remark"})


@click.command()
# Kept for scripts; it does nothing.
@click.option("--poll", is_flag=True, hidden=True, expose_value=False)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON each, for programs.")
@pass_place
def watch(place: Place, /, *, as_json: bool) -> None:
    """Take in what you change by hand as you save it, and print what changes.

    Lines that you tick in pending.md are carried out. Ctrl-C stops it.
    """
    cortex = open_quietly(place, "nothing")
    news: queue.SimpleQueue[list[News]] = queue.SimpleQueue()
    news.put([News("remark", notice) for notice in cortex.scopes.notices()])
    with process.handling(_end, "SIGTERM"), cortex.worker.watch(news.put) as watching:
        while watching.is_running and not _is_closed(sys.stdout):
            with contextlib.suppress(queue.Empty):
                _print(cortex, news.get(timeout=_PAUSE), as_json=as_json)
    if not watching.is_running and watching.trouble:
        again = "start it again, and `engramdown doctor` if it ends again"
        raise RefusalError(f"watching ended: {watching.trouble}; {again}")
    raise BrokenPipeError


def _print(cortex: Cortex, news: Sequence[News], *, as_json: bool) -> None:
    if as_json:
        where = serializers.folders(cortex)
        for item in news:
            click.echo(json.dumps(serializers.news_data(item, where)))
    else:
        begun = [
            f"watching {Path(item.text)} ({serializers.SCOPE_NAMES[item.scope]})"
            for item in news
            if item.what == "watching"
        ]
        if begun and process.is_terminal(sys.stdout):
            shown = [line((text, "dim"), hang=4) for text in (*begun, "Ctrl-C stops.")]
            output.show([*shown, line()])
        else:
            for text in begun:
                output.note(text)
        for item in news:
            if item.what in _ASIDE:
                output.note(f"no longer: {item.text}" if item.what == "mended" else item.text)
        changes = [item for item in news if item.what not in (*_ASIDE, "watching")]
        output.show(_lines(changes))
    process.flush()


def _lines(news: Sequence[News]) -> Iterator[Line]:
    for item in news[:_MOST]:
        try:
            time = f"{local(datetime.fromisoformat(item.at)):%H:%M:%S}"
        except ValueError:
            time = item.at
        text = " ".join(item.text.split()) or item.file
        yield line(
            (f"{time}  ", "dim"),
            (item.what.capitalize(), _STYLES.get(item.what, "good")),
            f": {shortened(text, _MOST_SHOWN)}",
            *beside(item.comments),
            " ",
            (_place(item), "where"),
            hang=4,
        )
    if len(news) > _MOST:
        more = len(news) - _MOST
        yield line((f"... and {more} more; `engramdown history` shows all", "dim"), indent=4)


def _place(item: News) -> str:
    """Return the kind of a memory unless it is a lesson, its place, its id, and who changed it."""
    file = f"{item.file}:{item.line}" if item.line else item.file
    scope = "global" if item.scope == "global" else ""
    where = f"{scope} {file}".strip() if item.text else scope
    kind = item.kind if item.kind != "lesson" else ""
    parts = (kind, where, item.id and f"id {item.id}", serializers.BY_NAMES.get(item.by, item.by))
    return f"({', '.join(part for part in parts if part)})"


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Exit(DONE)


def _is_closed(stream: TextIO) -> bool:
    """Return whether the reader of a pipe has gone."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(stream.fileno(), 0)
    except (OSError, ValueError):
        return False
    return bool(poll.poll(0))
