"""``engramdown log list``, ``show``, ``follow``, ``tools`` and ``steps``: reading transcripts.

On a terminal a session in the list takes two rows, its facts and its first words; elsewhere it
takes one, so that it can be searched line by line. What is shown cut says how much is missing and
how to see it, and every line shows its number, so that it can be pointed at.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import commands, output, process
from engramdown.cli.access import NONE_RUNS, Transcripts, no_sessions, open_transcripts, words_of
from engramdown.cli.layout import Line, cells, clock, duration, lasted, line, pick, table
from engramdown.cli.messages import counted
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.clock import local
from engramdown.language import on_screen
from engramdown.transcripts import (
    MOST,
    Episode,
    Iteration,
    Pointer,
    Reading,
    SessionInfo,
    Tally,
    ToolCall,
    ToolSum,
    count_session,
    find_tool_calls,
    iterations,
    lines,
    paired,
    read_line,
    sums,
    write_line,
)

if TYPE_CHECKING:
    from engramdown.recall import Hit


_INDENT: Final = 2


@dataclass(frozen=True, slots=True)
class _Listed:
    """A session and what stands in it."""

    info: SessionInfo
    tally: Tally


@click.command("list")
@commands.number_option("At most so many sessions.", 20)
@click.option("--open", "is_open", is_flag=True, help="Only those that have not ended.")
@commands.since_option("Only what was going on at DATE or later.")
@commands.until_option("Only what had begun by DATE.")
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
def list_sessions(place: Place, /, *, scope: str | None, as_json: bool, **_: object) -> None:
    """List sessions, the newest first.

    DATE is a day, 2026-02-27, or a time, "2026-02-27 10:15", of your clock.
    """
    transcripts = open_transcripts(place, scope)
    found = [info for info in reversed(transcripts.sessions.list()) if _passes(info)]
    shown = [_counted(transcripts, info) for info in found[: commands.given()["number"]]]
    if as_json:
        output.print_json([info_data(transcripts, item.info, item.tally) for item in shown])
    else:
        output.fast_screen().show(_lines(shown, wide=not process.is_terminal(sys.stdout)))
    if found[len(shown) :]:
        output.note(more_sessions(len(found) - len(shown), len(found)))
    if not shown:
        raise RefusalError(_nothing(transcripts))


def info_data(transcripts: Transcripts, info: SessionInfo, tally: Tally) -> dict[str, Any]:
    """Return a session as JSON shows it."""
    return {
        **pick(info, "id title started last ended reason"),
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
    wanted = commands.given()
    return (
        not (wanted["is_open"] and info.ended)
        and not (wanted["since"] and info.last < wanted["since"])
        and not (wanted["until"] and info.started > wanted["until"])
    )


def _counted(transcripts: Transcripts, info: SessionInfo) -> _Listed:
    return _Listed(info, count_session(transcripts.sessions, transcripts.disk, info.id))


def _nothing(transcripts: Transcripts) -> str:
    wanted = commands.given()
    if wanted["is_open"] or wanted["since"] or wanted["until"]:
        return NO_SESSION_PASSES
    return no_sessions(transcripts.memory.folder)


def _lines(shown: Sequence[_Listed], *, wide: bool) -> list[Line]:
    if not shown:
        return []
    rows = [LIST_HEAD, *(_facts(item) for item in shown)]
    words = ["", *(words_of(item.info, item.tally) for item in shown)]
    styles = ("id", "dim", "dim", "", "", "dim")
    if wide:
        together = [(*row, text) for row, text in zip(rows, words, strict=True)]
        return table([(*rows[0], LIST_WORDS), *together[1:]], styles)
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
        info.reason or OPEN,
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


@click.command()
@click.argument(
    "pointer", metavar="[SESSION[#NUMBER]]", default="", shell_complete=commands.complete_sessions
)
@click.option(
    "--whole", is_flag=True, help="Also what a line shows cut; of one line, only its text."
)
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
def show(place: Place, /, *, pointer: str, whole: bool, scope: str | None, as_json: bool) -> None:
    """Show a session, or one line of it.

    SESSION is an id or the beginning of one; without it, the session that began last. NUMBER is
    the one that stands before each line. A tool's result stands below its call.
    """
    wanted, mark, number = pointer.partition("#")
    if mark and not number.isdecimal():
        raise click.UsageError(no_number(pointer))
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
        raise RefusalError(nothing_in(session, malformed))
    reading = transcripts.sessions.reading(session)
    episodes = (_whole(transcripts, each) if whole else each for each in reading)
    if as_json:
        lines = [episode_data(session, each) for each in episodes]
        facts = info_data(transcripts, info, _tally(transcripts, session))
        output.print_json({**facts, "malformed": len(reading.malformed), "lines": lines})
    else:
        _page(chain(_head_lines(transcripts, info), _session_lines(transcripts, reading, episodes)))


def _tally(transcripts: Transcripts, session: str) -> Tally:
    return count_session(transcripts.sessions, transcripts.disk, session)


def _head_lines(transcripts: Transcripts, info: SessionInfo) -> Iterator[Line]:
    tally = _tally(transcripts, info.id)
    if info.title:
        yield line((info.title, "strong"))
    yield from fact_lines(session_facts(info, tally.turns, tally.episodes))
    yield line()


def _session_lines(
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
        raise RefusalError(no_episode(pointer, last))
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
        raise RefusalError(no_rest(pointer, kept=bool(episode.payload)))
    return full


def _one_lines(pointer: Pointer, episode: Episode) -> Iterable[Line]:
    yield from fact_lines(line_facts(pointer, episode))
    text = event_text(episode) if episode.role == "event" else episode.text
    if text:
        yield line()
        yield line(text.rstrip("\n"))
    left = (episode.cut or 0) - len(episode.text)
    if left > 0:
        yield line((cut_off(left, str(pointer) if episode.payload else ""), "dim"))


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


_PAUSE: Final = 0.2
"""Seconds between two looks; a look that finds nothing is one call of the system."""


# Of what a tool was given or gave back; `log show` has all that is kept.
_MOST_LINES: Final = 8
_MOST_CHARACTERS: Final = 600


@click.command()
@commands.session_argument
@commands.number_option("Begin with the last N lines.", 10, least=0)
@commands.scope_options("The global scope.", "This project (default where there is one).")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON each, for programs.")
@commands.pass_place
def follow(place: Place, /, *, session: str, number: int, scope: str | None, as_json: bool) -> None:
    """Follow SESSION, or the one that runs, until it ends or you press Ctrl-C."""
    transcripts = open_transcripts(place, scope)
    chosen = transcripts.find(session) if session else _running(transcripts)
    tail = _Tail(transcripts, chosen)
    talk = Talk(chosen, transcripts.memory.settings.gap_minutes)
    new = tail.new()
    if not as_json and process.is_terminal(sys.stdout):
        output.fast_screen().show([line((following(chosen), "dim")), line()])
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
            raise RefusalError(is_gone(self._session))
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
        output.fast_screen().show(_followed_lines(session, talk, episode))


def _followed_lines(session: str, talk: Talk, episode: Episode) -> Iterator[Line]:
    """Yield the lines of an episode; only the beginning of what a tool was given or gave back."""
    first = "\n".join(episode.text[:_MOST_CHARACTERS].split("\n")[:_MOST_LINES])
    if episode.role not in ("tool_call", "tool_result") or len(first) == len(episode.text):
        yield from talk.lines(episode)
        return
    yield from talk.lines(episode._replace(text=first, cut=None))
    left = max(episode.cut or 0, len(episode.text)) - len(first)
    pointer = str(Pointer(session, episode.seq))
    yield line((cut_off(left, pointer), "dim"), indent=2)


def _running(transcripts: Transcripts) -> str:
    found = transcripts.running()
    if found is None:
        raise RefusalError(NONE_RUNS)
    return found.id


_ANSWER: Final = 4
_STYLES: Final = {"user": "good", "assistant": "where", "event": "dim"}


class Talk:
    """Shows one episode after the other, with the date and the silence between two."""

    def __init__(self, session: str, gap_minutes: float) -> None:
        """Show ``session``; a silence of more than ``gap_minutes`` is told."""
        self._session = session
        self._gap = gap_minutes * 60
        self._before: datetime | None = None

    def lines(self, episode: Episode, *, answer: bool = False) -> Iterator[Line]:
        """Yield the lines of an episode; those of an ``answer`` stand below its call."""
        now = local(episode.at)
        if not answer:
            yield from self._silence(now)
        self._before = now if self._before is None else max(now, self._before)
        indent = _INDENT if answer else 0
        yield self._head(episode, now, indent)
        yield from self._body(episode, indent + _INDENT)

    def _silence(self, now: datetime) -> Iterator[Line]:
        before = self._before
        if before is None:
            return
        passed = (now - before).total_seconds()
        if passed > self._gap:
            yield line()
            yield line((silence(passed, now), "dim"))
        elif now.date() != before.date():
            yield line()
            yield line((day(now), "dim"))
        yield line()

    def _head(self, episode: Episode, now: datetime, indent: int) -> Line:
        facts = episode_facts(episode)
        style = "bad" if episode.error else "dim"
        return line(
            (f"#{episode.seq}", "id"),
            "  ",
            (speaker(episode), _STYLES.get(episode.role, "strong")),
            (f"  {now:%H:%M:%S}", "dim"),
            *([(f"  {'  '.join(facts)}", style)] if facts else []),
            indent=indent,
            hang=indent + _ANSWER,
        )

    def _body(self, episode: Episode, indent: int) -> Iterator[Line]:
        text = event_text(episode) if episode.role == "event" else episode.text
        if text:
            yield line(text.rstrip("\n"), indent=indent)
        elif episode.role in ("tool_result", "scratchpad"):
            yield line((EMPTY, "dim"), indent=indent)
        left = (episode.cut or 0) - len(episode.text)
        if left > 0:
            pointer = str(Pointer(self._session, episode.seq)) if episode.payload else ""
            yield line((cut_off(left, pointer), "dim"), indent=indent)


def talk_lines(session: str, episodes: Iterable[Episode], gap_minutes: float) -> Iterator[Line]:
    """Yield the lines of ``session``, a result below the call that it answers.

    No more of ``episodes`` is read than is shown.
    """
    talk = Talk(session, gap_minutes)
    shown = (each for each in episodes if each.event not in ("start", "end"))
    for episode, answer in paired(shown):
        yield from talk.lines(episode)
        if answer is not None:
            yield from talk.lines(answer, answer=True)
        elif episode.role == "tool_call":
            yield line((NO_RESULT, "dim"), indent=_INDENT)


def damage_lines(malformed: int) -> Iterator[Line]:
    """Yield what is to be said of lines that are no episodes, by their number."""
    if malformed:
        yield line()
        yield line((passed_over(malformed), "warn"))


def found_lines(hits: Iterable[Hit]) -> list[Line]:
    """Return one line per hit with its place, its time, who speaks and the piece that was found."""
    return [
        line(
            (str(hit.pointer), "where"),
            (f"  {clock(hit.time)}  ", "dim"),
            (speaks(hit.role, hit.name), _STYLES.get(hit.role, "strong")),
            "  ",
            " ".join(hit.snippet.split()),
            hang=_ANSWER,
        )
        for hit in hits
    ]


def fact_lines(facts: Iterable[tuple[str, str]]) -> Sequence[Line]:
    """Return what is known, name and value."""
    return table([fact for fact in facts if fact[1]], ("dim",))


_TOOL_STYLES: Final = ("strong",)


@click.command()
@commands.session_argument
@click.option("--all", "everywhere", is_flag=True, help="Of all sessions.")
@click.option("--name", "tool", metavar="TOOL", default="", help="Only this tool.")
@commands.since_option("Of all sessions, from DATE on.")
@commands.until_option("Of all sessions, to DATE.")
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
def tools(place: Place, /, *, session: str, scope: str | None, as_json: bool, **_: object) -> None:
    """Sum up which tools a session called, or all sessions.

    SESSION is an id or the beginning of one; without it, the session that began last. DATE is a
    day, 2026-02-27, or a time, "2026-02-27 10:15", of your clock. With --json each call is told,
    too: of all sessions the last 1,000.
    """
    wanted = commands.given()
    across = bool(wanted["everywhere"] or wanted["since"] or wanted["until"])
    if session and across:
        raise click.UsageError(ONE_OR_ALL)
    transcripts = open_transcripts(place, scope)
    if across:
        _show_everywhere(transcripts, wanted["tool"], as_json=as_json)
        return
    name = transcripts.find(session)
    transcript = transcripts.sessions.read(name)
    found = find_tool_calls(name, transcript.episodes)
    calls = [call for call in found if wanted["tool"] in ("", call.name)]
    if as_json:
        told = list(map(_sum_data, sums(calls)))
        output.print_json({"session": name, "tools": told, "calls": list(map(_call_data, calls))})
    else:
        lines = [*_tool_lines(sums(calls)), *damage_lines(len(transcript.malformed))]
        output.page(output.fast_screen().rows(lines))
    if not calls:
        raise RefusalError(no_tools(name))


def _show_everywhere(transcripts: Transcripts, tool: str, *, as_json: bool) -> None:
    """Show what all sessions did with tools in the time that was asked for."""
    since, until = (
        datetime.fromisoformat(at) if at else None
        for at in (commands.given()["since"], commands.given()["until"])
    )
    memory = transcripts.memory
    found = memory.tool_sums(None, tool, since=since, until=until)
    if as_json:
        calls = memory.tool_calls(None, tool, MOST, since=since, until=until)
        told = list(map(_sum_data, found))
        output.print_json({"session": None, "tools": told, "calls": list(map(_call_data, calls))})
    else:
        output.page(output.fast_screen().rows(_tool_lines(found, everywhere=True)))
    if not found:
        raise RefusalError(no_tools(""))


@click.command()
@commands.session_argument
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
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
        rows = table([STEPS_HEAD, *map(_step_row, found)], ("id",)) if found else []
        lines = [*rows, *damage_lines(len(transcript.malformed))]
        output.page(output.fast_screen().rows(lines))
    if not found:
        raise RefusalError(no_steps(name))


def _step_row(step: Iteration) -> tuple[str, ...]:
    return (
        str(step.pointer),
        " ".join(step.model.split()) or UNKNOWN,
        _ms(step.ms),
        _ms(step.tokens_in),
        _ms(step.tokens_out),
        " ".join(", ".join(call.name for call in step.calls).split()) or UNKNOWN,
        str(len(step.tools_offered)) if step.tools_offered else UNKNOWN,
    )


def _step_data(step: Iteration) -> dict[str, Any]:
    calls = [str(call.pointer) for call in step.calls]
    return {**asdict(step), "pointer": str(step.pointer), "calls": calls}


def _tool_lines(found: Sequence[ToolSum], *, everywhere: bool = False) -> list[Line]:
    rows = [TOOLS_HEAD, *map(_row, found)]
    if everywhere:
        more = [(str(each.sessions), clock(each.last)) for each in found]
        columns = [TOOLS_EVERYWHERE, *more]
        rows = [(*row, *column) for row, column in zip(rows, columns, strict=True)]
    return table(rows, _TOOL_STYLES) if found else []


def _row(each: ToolSum) -> tuple[str, ...]:
    counts = (str(each.calls), str(each.failed))
    return (_name(each), *counts, _ms(each.mean_ms), _ms(each.longest_ms))


def _name(each: ToolSum) -> str:
    return " ".join(each.name.split()) or UNKNOWN


def _ms(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f}"


# Of a failure whose result says nothing: an empty name is none.
_NO_REASON: Final = "(no reason given)"


def _sum_data(each: ToolSum) -> dict[str, Any]:
    errors = {reason or _NO_REASON: times for reason, times in each.errors.items()}
    return {**asdict(each), "errors": errors, "error_rate": each.error_rate}


def _call_data(call: ToolCall) -> dict[str, Any]:
    answer = None if call.answer is None else str(call.answer)
    return {**asdict(call), "pointer": str(call.pointer), "answer": answer}


# ---- the list ----

OPEN: Final = "open"
LIST_HEAD: Final = ("session", "began", "lasted", "turns", "episodes", "end")
LIST_WORDS: Final = "title or first words"
NO_SESSION_PASSES: Final = "no session passes these filters; `engramdown log` shows the newest"


def more_sessions(left: int, total: int) -> str:
    """Say how many sessions are not shown."""
    return f"{counted(left, 'older session')} not shown; -n {total} shows all"


# ---- a session ----

EMPTY: Final = "(empty)"
NO_RESULT: Final = "(no result)"
_SPEAKERS: Final = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool_call": "tool call",
    "tool_result": "result",
    "scratchpad": "scratchpad",
    "memory_read": "memory shown",
    "memory_write": "memory written",
    "event": "note",
}
_EVENTS: Final = {
    "start": "the session begins",
    "end": "the session ends",
    "archive": "marked as archived",
    "exclude": "left out of recall",
    "include": "recalled again",
    "redact": "text taken out",
    "lost": "episodes are missing here",
}
_SECOND_MS: Final = 1_000


def session_facts(info: SessionInfo, turns: int, episodes: int) -> list[tuple[str, str]]:
    """Return what is known of a session, name and value."""
    state = f"{info.reason or OPEN}, {clock(info.ended)}" if info.ended else OPEN
    said = f"{counted(turns, 'turn')}, {counted(episodes, 'episode')}"
    return [
        ("session", info.id),
        ("began", clock(info.started)),
        ("lasted", lasted(info.started, info.last)),
        ("end", state),
        ("said", said),
        ("begun from", " ".join(filter(None, (info.parent, info.parent_call)))),
        ("imported from", info.source),
    ]


def speaker(episode: Episode) -> str:
    """Say who or what an episode is from."""
    return speaks(episode.role, episode.name)


def speaks(role: str, name: str) -> str:
    """Say who or what speaks in a role and of a name, which may be empty."""
    said = _SPEAKERS[role]
    if role in ("user", "assistant", "system") and name:
        return f"{name} ({said})"
    return f"{said} {name}" if name else said


def episode_facts(episode: Episode) -> list[str]:
    """Return what is known of an episode besides, in few words."""
    facts = []
    if episode.error:
        facts.append("failed" if episode.error is True else f"failed: {episode.error}")
    if episode.ms is not None:
        facts.append(took(episode.ms))
    if episode.model:
        facts.append(episode.model)
    return [" ".join(fact.split()) for fact in facts]


def took(milliseconds: float) -> str:
    """Return a duration in the unit that a person would use.

    >>> took(812), took(1250)
    ('812 ms', '1.25 s')
    """
    if milliseconds < _SECOND_MS:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / _SECOND_MS:.2f} s"


def event_text(episode: Episode) -> str:
    """Say what an event is, with its fields."""
    name = _EVENTS.get(episode.event, episode.event)
    fields = ", ".join(f"{key}: {value}" for key, value in episode.more.items())
    return f"{name} ({fields})" if fields else name


def line_facts(pointer: Pointer, episode: Episode) -> list[tuple[str, str]]:
    """Return what is known of one line, name and value."""
    return [
        ("line", str(pointer)),
        ("when", local(episode.at).isoformat(" ", "seconds")),
        ("from", speaker(episode)),
        ("call", episode.call),
        ("took", "" if episode.ms is None else took(episode.ms)),
        ("failed", "yes" if episode.error is True else str(episode.error or "")),
        ("model", episode.model),
        ("turn", "" if episode.turn is None else str(episode.turn)),
        ("recalled", ", ".join(episode.recalled)),
        ("more", ", ".join(f"{key}: {value}" for key, value in episode.meta.items())),
    ]


def silence(seconds: float, now: datetime) -> str:
    """Say how long nothing was said, and when it went on."""
    return f"{duration(seconds)} later, {now:%Y-%m-%d %H:%M}"


def day(now: datetime) -> str:
    """Say that it is another day."""
    return f"{now:%Y-%m-%d}"


def cut_off(left: int, pointer: str) -> str:
    """Say how much of a text is not shown, and how to see it."""
    how = f"`engramdown log show {pointer} --whole`" if pointer else "it was not kept"
    return f"… {counted(left, 'more character')}: {how}"


def passed_over(count: int) -> str:
    """Say that some lines cannot be read."""
    return f"{counted(count, 'line')} could not be read; `engramdown doctor` says where"


def no_number(pointer: str) -> str:
    """Say that a pointer has no number."""
    return f"{pointer!r} has no number behind the #"


def no_episode(pointer: Pointer, last: int) -> str:
    """Say that a session has no such line."""
    return f"no line {pointer.seq} in {pointer.session}; the last one is {last}"


def no_rest(pointer: Pointer, *, kept: bool) -> str:
    """Say that the whole of a text cannot be shown."""
    if kept:
        return f"the whole text of {pointer} is gone from episodes/payloads; it was removed"
    return f'the rest of {pointer} was not kept; payloads = "keep" below [episodes] keeps it'


def nothing_in(session: str, malformed: int) -> str:
    """Say that a file holds nothing that can be read."""
    lines = f" of its {counted(malformed, 'line')}" if malformed else ""
    return f"nothing{lines} in {session} can be read; `engramdown doctor` says why"


# ---- its tools ----

TOOLS_HEAD: Final = ("tool", "calls", "failed", "mean ms", "longest")
TOOLS_EVERYWHERE: Final = ("sessions", "last")
STEPS_HEAD: Final = ("step", "model", "ms", "tokens in", "out", "called", "offered")
UNKNOWN: Final = "-"


def no_tools(session: str) -> str:
    """Say that a session called no tool, or for ``""`` that none did."""
    return f"no call of a tool in {session or 'any session of that time'}"


def no_steps(session: str) -> str:
    """Say that an assistant did nothing in a session."""
    return f"no step of an assistant in {session}"


ONE_OR_ALL: Final = "give SESSION, or --all, --since or --until, not both"


# ---- following ----


def following(session: str) -> str:
    """Say which session is followed."""
    return f"Following {session}; Ctrl-C stops."


def is_gone(session: str) -> str:
    """Say that a session was removed."""
    return f"{session} is gone: it was removed while it was followed"
