"""What a hook does when an event comes: the one function that agents need.

Nothing is looked at of an event that is not one of ours. What is to be printed is said part by
part, the most important first, so that whoever gives up in between has whole parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from engramdown.errors import LockTimeoutError
from engramdown.integrations.claude_code.environment import HookPlace, HookState
from engramdown.integrations.claude_code.payload import Event

Say = Callable[[str], object]
"""Is given a part of what to print; ``""`` for nothing."""
Left = Callable[[], float]
"""Returns how many seconds are left before whoever called the hook gives it up."""
_Handler = Callable[[HookPlace, Event, HookState, Say, Left], None]


def handle_event(place: HookPlace, event: Event, say: Say, left: Left) -> None:
    """Do what memory does when ``event`` happens.

    Args:
        place: Where memory is.
        event: What happened.
        say: Is given what to print for the agent.
        left: Returns how many seconds are left for it.

    Raises:
        EngramdownError: If memory or a transcript cannot be read or written.
        OSError: The same.
    """
    handle = _HANDLERS.get(event.name)
    if handle is not None:
        handle(place, event, HookState(place.root, event.session), say, left)


def _start(place: HookPlace, event: Event, state: HookState, say: Say, left: Left) -> None:
    from engramdown.integrations.claude_code.capture import record_leftovers
    from engramdown.integrations.claude_code.injection import at_start

    at_start(place, event, state, say, left)
    if place.project is not None and place.settings.episodes.enabled:
        record_leftovers(place, state.session)


def _prompt(place: HookPlace, event: Event, state: HookState, say: Say, left: Left) -> None:
    from engramdown.integrations.claude_code.capture import is_recorded, keep_event
    from engramdown.integrations.claude_code.injection import about_prompt

    if is_recorded(place, event) and event.text.strip():
        keep_event(place, event, state)
    if event.agent != "cursor":  # It takes nothing for context then.
        about_prompt(place, event, state, say, left)


def _tool(place: HookPlace, event: Event, state: HookState, say: Say, left: Left) -> None:
    del left
    from engramdown.integrations.claude_code.capture import is_recorded, keep_event

    if is_recorded(place, event):
        keep_event(place, event, state)
    if not event.error or event.stopped:
        return
    from engramdown.integrations.claude_code.injection import about_error

    say(about_error(place, event, state))


def _stop(place: HookPlace, event: Event, state: HookState, say: Say, left: Left) -> None:
    del say, left  # An agent that stopped listens to nobody.
    from engramdown.integrations.claude_code.capture import is_recorded, keep_event, record

    if not is_recorded(place, event):
        return
    if event.text.strip():
        keep_event(place, event, state)
    try:
        session = record(place, event, state)
    except LockTimeoutError:
        return  # Somebody else is at it; what the hooks noted waits for the next one.
    if session:
        _learn(place, session, state)
    if session and event.name == "session-end" and not event.aside:
        _sleep_apart(place)


def _sleep_apart(place: HookPlace) -> None:
    """Let a process of its own learn from what has ended, for some time at most.

    It may be killed at any moment: what is left is done next time.
    """
    if place.settings.mode == "off" or not place.settings.consolidation.at_session_end:
        return
    # Imported here: only the end of a session begins a process.
    import subprocess
    import sys

    where = ["--project", str(place.start), "--home", str(place.home)]
    words = [sys.executable, "-c", _ASLEEP, str(_LONGEST_SLEEP), *where, "sleep", "--json"]
    quiet = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603 - this program, with places that we found
        words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, cwd=place.start
    )


_LONGEST_SLEEP: Final = 120
"""Seconds that learning at the end of a session may take."""
_ASLEEP: Final = """
import os, sys, threading
timer = threading.Timer(float(sys.argv.pop(1)), os._exit, (0,))
timer.daemon = True
timer.start()
from engramdown.cli.entry import main
sys.exit(main())
"""


def _learn(place: HookPlace, session: str, state: HookState) -> None:
    """Let pass the gate what the turns teach that ended, as far as it is seen without a model."""
    if place.settings.mode == "off" or not place.settings.consolidation.learn_from_errors:
        return
    from engramdown.integrations.claude_code.capture import lessons

    given = state.given()
    found, last = lessons(place, session, given.learned)
    if found:
        if not place.home.is_dir():
            from dataclasses import replace

            # Who has no memory for all projects is not given one unasked.
            found = [replace(each, scope="project") for each in found]
        if any(each.action == "failed" for each in place.cortex().propose(found)):
            return  # The next end of a turn looks at the same lines again.
    if last != given.learned:
        state.give(state.given()._replace(learned=last))


_HANDLERS: Final[Mapping[str, _Handler]] = {
    "session-start": _start,
    "prompt-submit": _prompt,
    "post-tool": _tool,
    "stop": _stop,
    "session-end": _stop,
}
