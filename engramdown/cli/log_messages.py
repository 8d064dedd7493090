"""Every sentence of ``engramdown log``.

Promises: pure; plain words; an error names the next step; a time is that of the person's clock.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from engramdown.cli.layout import clock, duration, lasted
from engramdown.clock import local

if TYPE_CHECKING:
    from engramdown.transcripts.episode import Episode, Pointer
    from engramdown.transcripts.sessions import SessionInfo


# ---- the commands ----


# ---- recording ----


# ---- finding a session ----


# ---- the list ----

OPEN: Final = "open"
LIST_HEAD: Final = ("session", "began", "lasted", "turns", "episodes", "end")
LIST_WORDS: Final = "title or first words"
NO_SESSION_PASSES: Final = "no session passes these filters; `engramdown log` shows the newest"


def more_sessions(left: int, total: int) -> str:
    """Say how many sessions are not shown."""
    return f"{left} older {'session' if left == 1 else 'sessions'} not shown; -n {total} shows all"


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
    said = f"{_count(turns, 'turn')}, {_count(episodes, 'episode')}"
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
    return f"… {left:,} more {'character' if left == 1 else 'characters'}: {how}"


def passed_over(count: int) -> str:
    """Say that some lines cannot be read."""
    return f"{_count(count, 'line')} could not be read; `engramdown doctor` says where"


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
    lines = f" of its {_count(malformed, 'line')}" if malformed else ""
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


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
