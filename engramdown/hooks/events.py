"""What a hook does when an event comes: the one function that agents need.

Promises: nothing of an event that is none of ours is looked at; what is printed is returned, so
that nothing is printed by halves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from engramdown.errors import EngramdownError
from engramdown.hooks.kept import Kept
from engramdown.hooks.payload import Event
from engramdown.hooks.place import HookPlace

__all__ = ["happened"]

_Handler = Callable[[HookPlace, Event, Kept], str]


def happened(place: HookPlace, event: Event) -> str:
    """Do what memory does when ``event`` happens, and return what to print for the agent.

    Raises:
        EngramdownError: If memory or a transcript cannot be read or written.
        OSError: The same.
    """
    handle = _HANDLERS.get(event.name)
    if handle is None:
        return ""
    return handle(place, event, Kept(place.root, event.session))


def _start(place: HookPlace, event: Event, kept: Kept) -> str:
    from engramdown.hooks.recording import record_leftovers
    from engramdown.hooks.telling import at_start

    told = at_start(place, event, kept)
    if place.project is not None and place.settings.episodes.enabled:
        try:
            record_leftovers(place, kept.session)
        except (OSError, EngramdownError):
            return told  # What an agent left that was killed waits for the next one.
    return told


def _prompt(place: HookPlace, event: Event, kept: Kept) -> str:
    from engramdown.hooks.recording import is_recorded, note
    from engramdown.hooks.telling import about_prompt

    if is_recorded(place, event) and event.text.strip():
        note(place, event, kept)
    return about_prompt(place, event, kept)


def _tool(place: HookPlace, event: Event, kept: Kept) -> str:
    from engramdown.hooks.recording import is_recorded, note

    if is_recorded(place, event):
        note(place, event, kept)
    if not event.error:
        return ""
    from engramdown.hooks.telling import about_error

    told = about_error(place, event, kept)
    if not told or not event.said:
        return told
    # After a tool call Claude Code shows a model only what comes as JSON.
    answer = {"hookEventName": event.said, "additionalContext": told}
    return json.dumps({"hookSpecificOutput": answer}, ensure_ascii=False)


def _stop(place: HookPlace, event: Event, kept: Kept) -> str:
    from engramdown.hooks.recording import is_recorded, note, record

    if not is_recorded(place, event):
        return ""
    if event.text.strip():
        note(place, event, kept)
    session = record(place, event, kept)
    if session:
        _learn(place, session, kept)
    return ""


def _learn(place: HookPlace, session: str, kept: Kept) -> None:
    """Let pass the gate what the turns teach that ended, as far as it is seen without a model."""
    if place.settings.mode == "off" or not place.settings.consolidation.learn_from_errors:
        return
    from engramdown.hooks.recording import lessons

    given = kept.given()
    found, last = lessons(place, session, given.learned)
    if found:
        if not place.home.is_dir():
            # Who has no memory for all projects is not given one unasked.
            found = [replace(each, scope="project") for each in found]
        place.cortex().propose(found)
    if last != given.learned:
        kept.give(kept.given()._replace(learned=last))


_HANDLERS: Final[Mapping[str, _Handler]] = {
    "session-start": _start,
    "prompt-submit": _prompt,
    "post-tool": _tool,
    "stop": _stop,
    "session-end": _stop,
}
