"""``engramdown log list``, ``show``, ``follow``, ``tools`` and ``steps``: reading transcripts.

On a terminal a session in the list takes two rows, its facts and its first words; elsewhere it
takes one, so that it can be searched line by line. A text that is cut says how much is missing and
how to see it, and every line of a transcript shows its number, so that others can refer to it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown import serializers
from engramdown.cli import commands, output, process
from engramdown.cli.access import Transcripts, no_sessions, open_transcripts, words_of
from engramdown.cli.layout import Line, clock, duration, lasted, line, shortened, table
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import counted
from engramdown.clock import local
from engramdown.language import on_screen
from engramdown.lazy import texts
from engramdown.transcripts import (
    MOST,
    Episode,
    Pointer,
    SessionInfo,
    Tail,
    Tally,
    ToolCall,
    ToolSum,
    find_tool_calls,
    paired,
    read_line,
    sums,
    took,
)

if TYPE_CHECKING:
    from engramdown.recall import Hit


_INDENT: Final = 2
_ANSWER: Final = 4
# Seconds between two looks at a file; a look that finds nothing costs three system calls.
_PAUSE: Final = 0.2
# The most that `log follow` shows of the input or the result of a tool.
_MOST_LINES: Final = 8
_MOST_CHARACTERS: Final = 600
_OPEN: Final = "open"
_UNKNOWN: Final = "-"
_LIST_HEAD: Final = ("session", "began", "lasted", "turns", "episodes", "end")
_TOOLS_HEAD: Final = ("tool", "calls", "failed", "mean ms", "longest")
# The words of this module, by what they are about and a code.
_WORDS: Final = texts(__file__)
_STYLES: Final = {"user": "good", "assistant": "where", "event": "dim"}


# ---- the list ----


@click.command("list")
@commands.number_option("At most so many sessions.", 20)
@commands.in_scope
def list_sessions(place: Place, /, *, scope: str | None, number: int, **_: object) -> None:
    """List sessions, the newest first."""
    transcripts = open_transcripts(place, scope)
    infos = transcripts.sessions.list()[::-1]
    listed = [(info, transcripts.tally(info.id)) for info in infos[:number]]
    data = [
        serializers.session_data(*each, transcripts.sessions.path(each[0].id)) for each in listed
    ]
    commands.show(_list_lines(listed), data)
    if len(infos) > number:
        older = counted(len(infos) - number, "older session")
        output.note(f"{older} not shown; -n {len(infos)} shows all")
    if not listed:
        raise RefusalError(no_sessions(transcripts.memory.folder))


def _list_lines(shown: Sequence[tuple[SessionInfo, Tally]]) -> Iterator[Line]:
    if not shown:
        return
    rows = []
    for info, tally in shown:
        times = clock(info.started), lasted(info.started, info.last)
        end = info.reason or _OPEN
        rows.append((info.id, *times, str(tally.turns), str(tally.episodes), end))
    words = [words_of(*each) for each in shown]
    styles = ("id", "dim", "dim", "", "", "dim")
    if not process.is_terminal(sys.stdout):
        wide = [(*row, text) for row, text in zip(rows, words, strict=True)]
        yield from table([(*_LIST_HEAD, "title or first words"), *wide], styles)
        return
    head, *facts = table([_LIST_HEAD, *rows], styles)
    yield line(("".join(part.text for part in head.parts), "dim"), hang=_INDENT)
    for row, text in zip(facts, words, strict=True):
        yield line(*row.parts, hang=_INDENT)
        if text:
            yield line(shortened(text, output.width() - _INDENT), indent=_INDENT)


# ---- a session ----


@click.command()
@click.argument(
    "pointer", metavar="[SESSION[#NUMBER]]", default="", shell_complete=commands.complete_sessions
)
@click.option(
    "--whole", is_flag=True, help="Also what a line shows cut; of one line, only its text."
)
@commands.in_scope
def show(place: Place, /, *, pointer: str, whole: bool, scope: str | None, as_json: bool) -> None:
    """Show a session, or one line of it.

    SESSION is an id or the beginning of one; without it, the session that began last. NUMBER is
    shown before each line. A tool's result is below its call.
    """
    prefix, mark, number = pointer.partition("#")
    if mark and not number.isdecimal():
        raise click.UsageError(no_number(pointer))
    transcripts = open_transcripts(place, scope)
    session = transcripts.find(prefix)
    if mark:
        _show_one(transcripts, Pointer(session, int(number)), whole=whole, as_json=as_json)
    else:
        _show_all(transcripts, session, whole=whole, as_json=as_json)


def _show_all(transcripts: Transcripts, session: str, *, whole: bool, as_json: bool) -> None:
    info = transcripts.sessions.info(session)
    if info is None:
        malformed = len(transcripts.sessions.read(session).malformed)
        what = f"none of the {counted(malformed, 'line')}" if malformed else "nothing"
        raise RefusalError(f"{what} in {session} can be read; `engramdown doctor` says why")
    read = transcripts.sessions.read(session)
    episodes = (_whole(transcripts, each) if whole else each for each in read.episodes)
    if as_json:
        facts = serializers.session_data(
            info, transcripts.tally(session), transcripts.sessions.path(session)
        )
        shown = [serializers.episode_data(session, each) for each in episodes]
        output.print_json({**facts, "malformed": len(read.malformed), "lines": shown})
        return
    gap = transcripts.memory.settings.gap_minutes
    head = _head_lines(info, transcripts.tally(session))
    output.show_paged(
        chain(head, talk_lines(session, episodes, gap), damage_lines(len(read.malformed)))
    )


def _head_lines(info: SessionInfo, tally: Tally) -> Iterator[Line]:
    if info.title:
        yield line((info.title, "strong"))
    counts = f"{counted(tally.turns, 'turn')}, {counted(tally.episodes, 'episode')}"
    yield from fact_lines(
        [
            ("session", info.id),
            ("began", clock(info.started)),
            ("lasted", lasted(info.started, info.last)),
            ("end", f"{info.reason or _OPEN}, {clock(info.ended)}" if info.ended else _OPEN),
            ("said", counts),
            ("begun from", " ".join(filter(None, (info.parent, info.parent_call)))),
            ("imported from", info.source),
            ("conversation", info.conversation),
        ]
    )
    yield line()


def _whole(transcripts: Transcripts, episode: Episode) -> Episode:
    text = transcripts.memory.whole(episode)
    return episode if text == episode.text else episode._replace(text=text)


# ---- one line ----


def _show_one(transcripts: Transcripts, pointer: Pointer, *, whole: bool, as_json: bool) -> None:
    episode = transcripts.sessions.episode(*pointer)
    if episode is None:
        transcript = transcripts.sessions.read(pointer.session)
        last = max((each.seq for each in transcript.episodes), default=0)
        raise RefusalError(f"no line {pointer.seq} in {pointer.session}; the last one is {last}")
    if whole:
        episode = _whole(transcripts, episode)
        if episode.cut is not None and len(episode.text) < episode.cut:
            raise RefusalError(
                f"the whole text of {pointer} was removed from episodes/payloads"
                if episode.payload
                else f'the rest of {pointer} was not kept; payloads = "keep" below [episodes] '
                "keeps it"
            )
    if not whole or as_json:
        data = serializers.episode_data(pointer.session, episode)
        commands.show(_one_lines(pointer, episode), data, output.show_paged)
    elif process.is_terminal(sys.stdout):
        output.page(on_screen(episode.text).split("\n"))
    else:
        output.print_exact(episode.text)


def _one_lines(pointer: Pointer, episode: Episode) -> Iterator[Line]:
    yield from fact_lines(
        [
            ("line", str(pointer)),
            ("when", local(episode.at).isoformat(" ", "seconds")),
            ("from", speaks(episode.role, episode.name)),
            ("call", episode.call),
            ("took", "" if episode.ms is None else took(episode.ms)),
            ("failed", "yes" if episode.error is True else str(episode.error or "")),
            ("model", episode.model),
            ("turn", "" if episode.turn is None else str(episode.turn)),
            ("recalled", ", ".join(episode.recalled)),
            ("more", _fields(episode.meta)),
        ]
    )
    if text := _text_of(episode):
        yield line()
        yield line(text.rstrip("\n"))
    yield from cut_lines(episode, pointer.session)


# ---- following ----


@click.command()
@commands.session_argument
@commands.number_option("Begin with the last N lines.", 10, least=0)
@commands.here_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON each, for programs.")
@commands.pass_place
def follow(place: Place, /, *, session: str, number: int, scope: str | None, as_json: bool) -> None:
    """Follow SESSION, or the one that runs, until it ends or you press Ctrl-C."""
    transcripts = open_transcripts(place, scope)
    name = transcripts.find_or_current(session)
    tail = _Tail(transcripts, name)
    talk = Talk(name, transcripts.memory.settings.gap_minutes)
    new = tail.new()
    if not as_json and process.is_terminal(sys.stdout):
        output.show([line((f"Following {name}; Ctrl-C stops.", "dim")), line()])
    new = new[-number:] if number else [each for each in new if each.event == "end"][-1:]
    while True:
        for episode in new:
            if as_json:
                click.echo(json.dumps(serializers.episode_data(name, episode)))
            elif episode.event != "start":
                output.show(_followed_lines(name, talk, episode))
        process.flush()
        if tail.ended:
            return
        time.sleep(_PAUSE)
        new = tail.new()


class _Tail:
    """The end of a session's file.

    Attributes:
        ended: Whether the session had ended when it was read last.
    """

    def __init__(self, transcripts: Transcripts, session: str) -> None:
        """Begin at the first line of ``session``."""
        self.ended = False
        self._session = session
        self._disk = transcripts.disk
        self._path = transcripts.sessions.path(session)
        self._tail = Tail(self._disk, self._path)
        self._last = -1

    def new(self) -> list[Episode]:
        """Return what was appended since the last call.

        Raises:
            RefusalError: The session was removed.
        """
        if self._disk.find(self._path) is None:
            raise RefusalError(f"{self._session} is gone: it was removed while it was followed")
        if self._tail.is_gone():
            # The file was rewritten or cut: shown lines are skipped by their numbers.
            self._tail = Tail(self._disk, self._path)
        new = []
        for episode in map(read_line, self._tail.new()):
            if episode is None or episode.seq <= self._last:
                continue
            self._last = episode.seq
            if episode.role != "event" or episode.event in ("start", "end"):
                self.ended = episode.event == "end"
            new.append(episode)
        return new


def _followed_lines(session: str, talk: Talk, episode: Episode) -> Iterator[Line]:
    """Yield the lines of an episode, which show only the beginning of a tool's text."""
    first = "\n".join(episode.text[:_MOST_CHARACTERS].split("\n")[:_MOST_LINES])
    if episode.role not in ("tool_call", "tool_result") or len(first) == len(episode.text):
        yield from talk.lines(episode)
        return
    yield from talk.lines(episode._replace(text=first, cut=None))
    left = max(episode.cut or 0, len(episode.text)) - len(first)
    pointer = str(Pointer(session, episode.seq))
    yield line((_cut_off(left, pointer), "dim"), indent=2)


# ---- episodes ----


class Talk:
    """Shows one episode after the other, with a new date or a long silence between two."""

    def __init__(self, session: str, gap_minutes: float) -> None:
        """Show ``session``; a silence is long from ``gap_minutes`` on."""
        self._session = session
        self._gap = gap_minutes * 60
        self._before: datetime | None = None

    def lines(self, episode: Episode, *, answer: bool = False) -> Iterator[Line]:
        """Yield the lines of an episode; an ``answer`` is indented below its call."""
        now, before = local(episode.at), self._before
        if before is not None and not answer:
            passed = (now - before).total_seconds()
            if passed > self._gap:
                later = f"{duration(passed)} later, {now:%Y-%m-%d %H:%M}"
                yield from (line(), line((later, "dim")))
            elif now.date() != before.date():
                yield from (line(), line((f"{now:%Y-%m-%d}", "dim")))
            yield line()
        self._before = now if before is None else max(now, before)
        indent = _INDENT if answer else 0
        facts = "".join(f"  {fact}" for fact in _episode_facts(episode))
        yield line(
            (f"#{episode.seq}", "id"),
            "  ",
            (speaks(episode.role, episode.name), _STYLES.get(episode.role, "strong")),
            (f"  {now:%H:%M:%S}", "dim"),
            *([(facts, "bad" if episode.error else "dim")] if facts else []),
            indent=indent,
            hang=indent + _ANSWER,
        )
        indent += _INDENT
        if text := _text_of(episode):
            yield line(text.rstrip("\n"), indent=indent)
        elif episode.role in ("tool_result", "scratchpad"):
            yield line(("(empty)", "dim"), indent=indent)
        yield from cut_lines(episode, self._session, indent)


def talk_lines(session: str, episodes: Iterable[Episode], gap_minutes: float) -> Iterator[Line]:
    """Yield the lines of ``session``, a result below its call; ``episodes`` is read lazily."""
    talk = Talk(session, gap_minutes)
    shown = (each for each in episodes if each.event not in ("start", "end"))
    for episode, answer in paired(shown):
        yield from talk.lines(episode)
        if answer is not None:
            yield from talk.lines(answer, answer=True)
        elif episode.role == "tool_call":
            yield line(("(no result)", "dim"), indent=_INDENT)


def damage_lines(malformed: int) -> Iterator[Line]:
    """Yield how many lines of a file could not be read, if any."""
    if malformed:
        count = counted(malformed, "line")
        yield line()
        yield line((f"{count} could not be read; `engramdown doctor` says where", "warn"))


def found_lines(hits: Iterable[Hit]) -> list[Line]:
    """Return one line per hit: its place, its time, who speaks, and the snippet."""
    return [
        line(
            (str(hit.pointer), "where"),
            (f"  {clock(hit.time)}  ", "dim"),
            (speaks(hit.role, hit.name), _STYLES.get(hit.role, "strong")),
            "  ",
            " ".join(hit.snippet.split()),
            (f"  (outdated: see {hit.newer})" if hit.newer else "", "dim"),
            hang=_ANSWER,
        )
        for hit in hits
    ]


def fact_lines(facts: Iterable[tuple[str, str]]) -> list[Line]:
    """Return the facts that have a value, one line each: name and value."""
    return table([fact for fact in facts if fact[1]], ("dim",))


def speaks(role: str, name: str) -> str:
    """Say who or what speaks, by a role and a name, which may be empty."""
    speaker = _WORDS.get(f"speaker {role}", role.replace("_", " "))
    if role in ("user", "assistant", "system") and name:
        return f"{name} ({speaker})"
    return f"{speaker} {name}".rstrip()


def _episode_facts(episode: Episode) -> list[str]:
    """Return the other facts about an episode, in few words."""
    facts = []
    if episode.error:
        facts.append("failed" if episode.error is True else f"failed: {episode.error}")
    if episode.ms is not None:
        facts.append(took(episode.ms))
    if episode.model:
        facts.append(episode.model)
    return [" ".join(fact.split()) for fact in facts]


def _text_of(episode: Episode) -> str:
    """Return the text of an episode, or the name and the fields of an event."""
    if episode.role != "event":
        return episode.text
    name, fields = _WORDS.get(f"event {episode.event}", episode.event), _fields(episode.more)
    return f"{name} ({fields})" if fields else name


def _fields(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in found.items())


def cut_lines(episode: Episode, session: str, indent: int = 0) -> Iterator[Line]:
    """Yield how much of a text is missing, if any."""
    left = (episode.cut or 0) - len(episode.text)
    if left > 0:
        pointer = str(Pointer(session, episode.seq)) if episode.payload else ""
        yield line((_cut_off(left, pointer), "dim"), indent=indent)


def _cut_off(left: int, pointer: str) -> str:
    how = f"`engramdown log show {pointer} --whole`" if pointer else "it was not kept"
    return f"… {counted(left, 'more character')}: {how}"


def no_number(pointer: str) -> str:
    """Say that a pointer has no number."""
    return f"{pointer!r} has no number after the #"


# ---- tools ----


@click.command()
@commands.session_argument
@click.option("--all", "everywhere", is_flag=True, help="Sum up all sessions.")
@commands.in_scope
def tools(
    place: Place, /, *, session: str, scope: str | None, everywhere: bool, as_json: bool
) -> None:
    """Sum up which tools a session called, or all sessions.

    SESSION is an id or the beginning of one; without it, the session that began last. --json has
    each call as well, of all sessions the last 1,000.
    """
    if session and everywhere:
        raise click.UsageError("give SESSION or --all, not both")
    transcripts = open_transcripts(place, scope)
    name: str | None = None
    damage: Iterable[Line] = ()
    calls: Sequence[ToolCall] = []
    if everywhere:
        called: Sequence[ToolSum] = transcripts.memory.tool_sums()
        if as_json:
            calls = transcripts.memory.tool_calls(limit=MOST)
    else:
        name = transcripts.find(session)
        transcript = transcripts.sessions.read(name)
        calls = find_tool_calls(name, transcript.episodes)
        called = sums(calls)
        damage = damage_lines(len(transcript.malformed))
    data = serializers.tools_data(name, called, calls)
    table_lines = chain(_tool_lines(called, everywhere=everywhere), damage)
    commands.show(table_lines, data, output.show_paged)
    if not called:
        raise RefusalError(f"no call of a tool in {name or 'any session'}")


def _tool_lines(found: Sequence[ToolSum], *, everywhere: bool) -> Iterator[Line]:
    rows = [(*_TOOLS_HEAD, *(("sessions", "last") if everywhere else ()))]
    for each in found:
        name = " ".join(each.name.split()) or _UNKNOWN
        times = _rounded(each.mean_ms), _rounded(each.longest_ms)
        more = (str(each.sessions), clock(each.last)) if everywhere else ()
        rows.append((name, str(each.calls), str(each.failed), *times, *more))
    if found:
        yield from table(rows, ("strong",))


def _rounded(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.0f}"
