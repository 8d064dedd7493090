"""What a hook does at an event, and what it records.

Unknown events are ignored. Output is printed part by part, the most important first, so that an
agent that gives up early has complete parts.

The conversation is recorded from the agent's own transcript, only its new lines, without
duplicates; for an agent without one, from what its hooks were given. A transcript that is a link,
not a file, too large or of another user is not opened. The settings may exclude conversations.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from engramdown.errors import LockTimeoutError, SessionNotFoundError, StoreError
from engramdown.integrations.claude_code.environment import (
    PATIENCE,
    SOURCE,
    HookPlace,
    HookState,
    abandoned,
    imported_session,
)
from engramdown.integrations.claude_code.payload import EVENTS, Event, Left, Say
from engramdown.storage import Disk, open_regular
from engramdown.transcripts import is_like

if TYPE_CHECKING:
    from engramdown import Engram, EpisodicMemory
    from engramdown.importers import Input
    from engramdown.transcripts import Episode, SessionInfo


def handle_event(place: HookPlace, event: Event, say: Say, left: Left) -> None:
    """Do the work of memory at an event.

    Args:
        place: Where memory is.
        event: The event.
        say: Called with each part of the output for the agent.
        left: Returns the seconds left for the hook.

    Raises:
        EngramdownError: If memory or a transcript cannot be read or written.
        OSError: The same.
    """
    if event.name not in EVENTS:
        return
    state = HookState(place.root, event.session)
    if event.name == "session-start":
        from engramdown.integrations.claude_code.injection import at_start

        at_start(place, event, state, say, left)
        if place.project is not None and place.settings.episodes.enabled:
            record_leftovers(place, state.session)
        return
    is_kept = is_recorded(place, event)
    if is_kept and (event.text.strip() or event.name == "post-tool"):
        keep_event(place, event, state)
    if event.name == "prompt-submit" and event.agent != "cursor":  # Cursor takes no context here.
        from engramdown.integrations.claude_code.injection import about_prompt

        about_prompt(place, event, state, say, left)
    elif event.name == "post-tool" and event.error and not event.stopped:
        from engramdown.integrations.claude_code.injection import about_error

        say(about_error(place, event, state))
    elif event.name in ("stop", "session-end") and is_kept:
        _end_turn(place, event, state)


def _end_turn(place: HookPlace, event: Event, state: HookState) -> None:
    try:
        session = record(place, event, state)
    except LockTimeoutError:
        return  # Another hook is recording; the notes wait for the next one.
    if session:
        _learn(place, session, state)
    if session and event.name == "session-end" and not event.aside:
        _sleep_apart(place)


def _sleep_apart(place: HookPlace) -> None:
    """Start a process that learns from ended sessions, for a limited time.

    It may be killed at any moment: the next one does the rest.
    """
    if place.settings.mode == "off" or not place.settings.consolidation.at_session_end:
        return
    # Imported here: only the end of a session starts a process.
    import subprocess
    import sys

    where = ["--project", str(place.start), "--home", str(place.home)]
    words = [sys.executable, "-c", _ASLEEP, str(_LONGEST_SLEEP), *where, "sleep", "--json"]
    quiet = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603 - this program, with places that we found
        words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, cwd=place.start
    )


# The time limit for learning at the end of a session, in seconds.
_LONGEST_SLEEP: Final = 120
_ASLEEP: Final = """
import os, sys, threading
timer = threading.Timer(float(sys.argv.pop(1)), os._exit, (0,))
timer.daemon = True
timer.start()
from engramdown.cli.entry import main
sys.exit(main())
"""


def _learn(place: HookPlace, session: str, state: HookState) -> None:
    """Propose the lessons of ended turns that can be found without a model."""
    if place.settings.mode == "off" or not place.settings.consolidation.learn_from_errors:
        return
    given = state.given()
    proposals, last = lessons(place, session, given.learned)
    if proposals:
        if not place.home.is_dir():
            from dataclasses import replace

            # Global memory is not created unasked.
            proposals = [replace(each, scope="project") for each in proposals]
        if any(each.action == "failed" for each in place.cortex().propose(proposals)):
            return  # The end of the next turn reads the same lines again.
    if last != given.learned:
        state.give(state.given()._replace(learned=last))


# ---- recording ----

# The largest transcript of an agent that a hook reads, in bytes.
LARGEST: Final = 100 * 1024 * 1024

_SILENT: Final = 3600.0
_FORGOTTEN: Final = 30 * 86_400.0
_LEFT: Final = 20
_FEWEST: Final = 3
_ROLES: Final = ("user", "assistant", "tool_call", "tool_result")
_KEPT: Final = ("role", "text", "name", "call", "error", "at")
_SPEAKERS: Final[Mapping[str, str]] = {"prompt-submit": "user", "stop": "assistant"}
_REASONS: Final[Mapping[str, str]] = {"clear": "reset"}


def is_recorded(place: HookPlace, event: Event) -> bool:
    """Whether the conversation is recorded."""
    chosen = place.settings.episodes
    if place.project is None or not event.session or not chosen.enabled:
        return False
    names = (event.session.lower(), f"{SOURCE}-{event.session.lower()}")
    return not (chosen.ignore and any(is_like(name, chosen.ignore) for name in names))


def keep_event(place: HookPlace, event: Event, state: HookState) -> None:
    """Keep a note of an event until the end of the turn."""
    from engramdown.transcripts import redact_for_role

    if event.aside:
        return  # The prompt and the answer of a sub-agent do not belong to this conversation.
    if event.name in _SPEAKERS:
        lines: list[dict[str, Any]] = [{"role": _SPEAKERS[event.name], "text": event.text}]
    elif event.tool:
        call: dict[str, Any] = {"name": event.tool, "call": event.call}
        failed = {"error": event.error} if event.error else {}
        lines = [
            {**call, "role": "tool_call", "text": event.given},
            {**call, "role": "tool_result", "text": event.got, **failed},
        ]
    else:
        return
    for line in lines:
        for key in ("text", "error"):
            if isinstance(line.get(key), str):
                line[key] = redact_for_role(line["role"], line[key], place.settings.episodes)
    # For record_leftovers, if no other hook of this conversation runs.
    where = {"agent": event.session, "transcript": event.transcript}
    state.note(where | each for each in lines if each["text"] or each["role"].startswith("tool"))


def record(place: HookPlace, event: Event, state: HookState) -> str:
    """Bring the transcript up to date; return the id of the session, or ``""``.

    Raises:
        LockTimeoutError: If another hook takes too long; the next one records it.
        StoreError: If a transcript cannot be read or written.
        OSError: The same.
    """
    episodes = place.episodes()
    if episodes is None:
        return ""
    with closing(episodes):
        session, refused = _record_new(episodes, event, state)
        if session and event.name == "session-end" and not event.aside:
            info = _info(episodes, session)
            if info is None or not info.ended:
                episodes.end(session, _REASONS.get(event.reason, "finished"))
        _raise_trouble(episodes)
        if refused:
            raise StoreError(refused)
    return session


def record_leftovers(place: HookPlace, session: str) -> None:
    """Record the notes of conversations whose agent was killed, and remove old notes.

    Args:
        place: Where memory is.
        session: The current conversation.

    Raises:
        StoreError: If something cannot be read or written; the next hook tries again.
        OSError: The same.
    """
    now = time.time()
    left = abandoned(place.root, session, now - _SILENT, _LEFT)
    episodes = place.episodes() if left else None
    if episodes is None:
        return
    with closing(episodes):
        for state in left:
            lines = [each for _, notes in state.notes() for each in notes]
            if lines:
                session, transcript = (str(lines[-1].get(k, "")) for k in ("agent", "transcript"))
                _record_new(episodes, Event(session=session, transcript=transcript), state)
            state.forget_after(now - _FORGOTTEN)


def lessons(place: HookPlace, session: str, after: int) -> tuple[list[Engram], int]:
    """Return the lessons of the turns after a line, and the number of the last line.

    Args:
        place: Where memory is.
        session: The session.
        after: The number of that line.
    """
    from engramdown.consolidation import by_turn, cells_of, lessons_of_turn
    from engramdown.transcripts import visible

    episodes = place.episodes()
    if episodes is None or _last(episodes, session) - after < _FEWEST:
        return [], after
    lines = list(_lines(episodes, session))
    new = [each for each in visible(lines) if each.seq > after]
    if len(new) < _FEWEST:
        return [], after
    turns = by_turn(cells_of(session, new))
    return [lesson for turn in turns for lesson in lessons_of_turn(turn)], lines[-1].seq


def _record_new(episodes: EpisodicMemory, event: Event, state: HookState) -> tuple[str, str]:
    """Record the new part of a conversation.

    Returns:
        The id of the session, or ``""``; and why the agent's transcript was not read, or ``""``.
    """
    session, refused = imported_session(episodes, event.session), ""
    ignored = episodes.settings.ignore
    if session and ignored and is_like(session, ignored):
        state.drop(name for name, _ in state.notes())
        return "", ""
    # A session that began with notes of hooks continues so; an import would duplicate it.
    if session or _last(episodes, state.session) < 0:
        session, refused = _imported(episodes, event)
    if session:
        state.drop(name for name, _ in state.notes())
    elif _write_notes(episodes, state):
        session = state.session
    return session, refused


# ---- an agent's own transcript ----


def _imported(episodes: EpisodicMemory, event: Event) -> tuple[str, str]:
    """Import the new part of the agent's transcript.

    Returns:
        The id of the session, ``""`` without a transcript; and why it was not read, or ``""``.
    """
    transcript = _transcript(event.transcript, episodes.folder.parent)
    if transcript is None or isinstance(transcript, str):
        return "", transcript or ""
    from engramdown.importers import import_running

    session = import_running(episodes.folder, episodes.settings, transcript, PATIENCE)
    if session is None:
        return "", ""
    return imported_session(episodes, event.session) or session, ""


def _transcript(name: str, scope: Path) -> Input | str | None:
    """Return the transcript, or why it must not be read; ``None`` if there is none.

    Args:
        name: Its path, from the agent.
        scope: The folder of our own scope.
    """
    path = Path(name)
    if not name or not path.is_absolute():
        return None
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return None
    real = Path(os.path.realpath(path))
    if not stat.S_ISREG(status.st_mode) or real.is_relative_to(os.path.realpath(scope)):
        return f"{path}: is not a transcript of an agent; the events of its hooks are recorded"
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return f"{path}: belongs to another user and is not read"
    if status.st_size > LARGEST:
        most = LARGEST // 1024 // 1024
        return f"{path}: is larger than {most} MB, too much for a hook; run `engramdown import`"
    from engramdown.importers import Input

    def opened() -> IO[bytes]:
        return os.fdopen(open_regular(real, os.O_RDONLY), "rb")

    return Input(str(real), status.st_size, datetime.fromtimestamp(status.st_mtime, UTC), opened)


# ---- the notes of hooks ----


def _write_notes(episodes: EpisodicMemory, state: HookState) -> bool:
    """Record the notes of hooks; return whether the session exists afterwards."""
    if state.notes():
        with state.alone():
            notes = state.notes()
            # By their ids, as a killed hook may have written them before.
            batch = [
                {"id": f"{name}#{at}"} | {key: line[key] for key in _KEPT if key in line}
                for name, lines in notes
                for at, line in enumerate(lines)
                if line.get("role") in _ROLES
            ]
            try:
                episodes.ingest(batch, state.session)
            except ValueError:
                # Somebody changed a note: the others are recorded one by one.
                for each in batch:
                    with suppress(ValueError):
                        episodes.ingest([each], state.session)
            state.drop(name for name, _ in notes)
    return _last(episodes, state.session) >= 0


def _info(episodes: EpisodicMemory, session: str) -> SessionInfo | None:
    from engramdown.transcripts import Sessions

    return Sessions(episodes.folder, Disk()).info(session)


def _last(episodes: EpisodicMemory, session: str) -> int:
    """Return the number of the last line of a session, or -1 if it does not exist."""
    info = _info(episodes, session)
    return -1 if info is None else info.lines


def _lines(episodes: EpisodicMemory, session: str) -> Iterable[Episode]:
    try:
        return episodes.session(session).episodes
    except SessionNotFoundError:
        return ()


def _raise_trouble(episodes: EpisodicMemory) -> None:
    trouble = episodes.trouble
    if trouble is not None:
        raise StoreError(str(trouble))
