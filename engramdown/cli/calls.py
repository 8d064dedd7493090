"""``engramdown log tools`` and ``log steps``: what sessions did with tools, and in which steps.

Promises: changes nothing; what was excluded or redacted is neither counted nor shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import log_messages as said
from engramdown.cli import output, process
from engramdown.cli.access import Transcripts, open_transcripts
from engramdown.cli.commands import (
    Moment,
    complete_sessions,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, clock, table
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.cli.talk import damage_lines
from engramdown.transcripts.tool_calls import (
    MOST,
    Iteration,
    ToolCall,
    ToolSum,
    iterations,
    sums,
    tool_calls,
)

_STYLES: Final = ("strong",)


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@click.option("--all", "everywhere", is_flag=True, help="Of all sessions.")
@click.option("--name", "tool", metavar="TOOL", default="", help="Only this tool.")
@click.option("--since", type=Moment(), metavar="DATE", help="Of all sessions, from DATE on.")
@click.option("--until", type=Moment(end=True), metavar="DATE", help="Of all sessions, to DATE.")
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def tools(place: Place, /, *, session: str, scope: str | None, as_json: bool, **_: object) -> None:
    """Sum up which tools a session called, or all sessions.

    SESSION is an id or the beginning of one; without it, the session that began last. DATE is a
    day, 2026-02-27, or a time, "2026-02-27 10:15", of your clock. With --json each call is told,
    too: of all sessions the last 1,000.
    """
    wanted = given()
    across = bool(wanted["everywhere"] or wanted["since"] or wanted["until"])
    if session and across:
        raise click.UsageError(said.ONE_OR_ALL)
    transcripts = open_transcripts(place, scope)
    if across:
        _show_all(transcripts, wanted["tool"], as_json=as_json)
        return
    name = transcripts.find(session)
    transcript = transcripts.sessions.read(name)
    found = tool_calls(name, transcript.episodes)
    calls = [call for call in found if wanted["tool"] in ("", call.name)]
    if as_json:
        told = list(map(_sum_data, sums(calls)))
        output.print_json({"session": name, "tools": told, "calls": list(map(_call_data, calls))})
    else:
        lines = [*_lines(sums(calls)), *damage_lines(len(transcript.malformed))]
        output.page(output.fast_screen().rows(lines))
    if not calls:
        process.complain(said.no_tools(name))
        raise Exit(REFUSED)


def _show_all(transcripts: Transcripts, tool: str, *, as_json: bool) -> None:
    """Show what all sessions did with tools in the time that was asked for."""
    since, until = (
        datetime.fromisoformat(at) if at else None for at in (given()["since"], given()["until"])
    )
    memory = transcripts.memory
    found = memory.tool_sums(None, tool, since=since, until=until)
    if as_json:
        calls = memory.tool_calls(None, tool, MOST, since=since, until=until)
        told = list(map(_sum_data, found))
        output.print_json({"session": None, "tools": told, "calls": list(map(_call_data, calls))})
    else:
        output.page(output.fast_screen().rows(_lines(found, everywhere=True)))
    if not found:
        process.complain(said.no_tools(""))
        raise Exit(REFUSED)


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def steps(place: Place, /, *, session: str, scope: str | None, as_json: bool) -> None:
    """Show the steps of the assistant in a session: model, time, tokens, tools.

    SESSION is an id or the beginning of one; without it, the session that began last. Below
    "offered" stands how many tools the model could have called, where that was recorded; --json
    names them.
    """
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session)
    transcript = transcripts.sessions.read(name)
    found = iterations(name, transcript.episodes)
    if as_json:
        output.print_json({"session": name, "steps": list(map(_step_data, found))})
    else:
        rows = table([said.STEPS_HEAD, *map(_step_row, found)], ("id",)) if found else []
        lines = [*rows, *damage_lines(len(transcript.malformed))]
        output.page(output.fast_screen().rows(lines))
    if not found:
        process.complain(said.no_steps(name))
        raise Exit(REFUSED)


def _step_row(step: Iteration) -> tuple[str, ...]:
    return (
        str(step.pointer),
        " ".join(step.model.split()) or said.UNKNOWN,
        _ms(step.ms),
        _ms(step.tokens_in),
        _ms(step.tokens_out),
        " ".join(", ".join(call.name for call in step.calls).split()) or said.UNKNOWN,
        str(len(step.tools_offered)) if step.tools_offered else said.UNKNOWN,
    )


def _step_data(step: Iteration) -> dict[str, Any]:
    calls = [str(call.pointer) for call in step.calls]
    return {**asdict(step), "pointer": str(step.pointer), "calls": calls}


def _lines(found: Sequence[ToolSum], *, everywhere: bool = False) -> list[Line]:
    rows = [said.TOOLS_HEAD, *map(_row, found)]
    if everywhere:
        more = [(str(each.sessions), clock(each.last)) for each in found]
        columns = [said.TOOLS_EVERYWHERE, *more]
        rows = [(*row, *column) for row, column in zip(rows, columns, strict=True)]
    return table(rows, _STYLES) if found else []


def _row(each: ToolSum) -> tuple[str, ...]:
    counts = (str(each.calls), str(each.failed))
    return (_name(each), *counts, _ms(each.mean_ms), _ms(each.longest_ms))


def _name(each: ToolSum) -> str:
    return " ".join(each.name.split()) or said.UNKNOWN


def _ms(value: float | None) -> str:
    return said.UNKNOWN if value is None else f"{value:.0f}"


# Of a failure whose result says nothing: an empty name is none.
_NO_REASON: Final = "(no reason given)"


def _sum_data(each: ToolSum) -> dict[str, Any]:
    errors = {reason or _NO_REASON: times for reason, times in each.errors.items()}
    return {**asdict(each), "errors": errors, "error_rate": each.error_rate}


def _call_data(call: ToolCall) -> dict[str, Any]:
    answer = None if call.answer is None else str(call.answer)
    return {**asdict(call), "pointer": str(call.pointer), "answer": answer}
