"""``engramdown log tools``: which tools a session called.

Promises: changes nothing; what was excluded or redacted is neither counted nor shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import log_messages as said
from engramdown.cli import output
from engramdown.cli.codes import REFUSED
from engramdown.cli.layout import Line, table
from engramdown.cli.options import (
    Place,
    complete_sessions,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.talk import damage_lines
from engramdown.cli.transcripts import open_transcripts
from engramdown.episodes.calls import ToolCall, ToolSum, sums, tool_calls

__all__ = ["tools"]

_STYLES: Final = ("strong",)


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def tools(place: Place, /, *, session: str, scope: str | None, as_json: bool) -> None:
    """Sum up which tools a session called.

    SESSION is an id or the beginning of one; without it, the session that began last. With --json
    each call is told, too.
    """
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session)
    transcript = transcripts.sessions.read(name)
    calls = tool_calls(name, transcript.episodes)
    if as_json:
        told = [_sum_data(each) for each in sums(calls)]
        output.print_json({"session": name, "tools": told, "calls": list(map(_call_data, calls))})
    else:
        lines = [*_lines(sums(calls)), *damage_lines(len(transcript.malformed))]
        output.page(output.fast_screen().rows(lines))
    if not calls:
        output.complain(said.no_tools(name))
        raise Exit(REFUSED)


def _lines(found: Sequence[ToolSum]) -> list[Line]:
    rows = [(_name(each), str(each.calls), str(each.failed), _mean(each)) for each in found]
    return table([said.TOOLS_HEAD, *rows], _STYLES) if rows else []


def _name(each: ToolSum) -> str:
    return " ".join(each.name.split()) or said.UNKNOWN


def _mean(each: ToolSum) -> str:
    return said.UNKNOWN if each.mean_ms is None else f"{each.mean_ms:.0f}"


def _sum_data(each: ToolSum) -> dict[str, Any]:
    return {**asdict(each), "error_rate": each.error_rate}


def _call_data(call: ToolCall) -> dict[str, Any]:
    answer = None if call.answer is None else str(call.answer)
    return {**asdict(call), "pointer": str(call.pointer), "answer": answer}
