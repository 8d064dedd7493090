"""Opens memory for a command, or says what to do when there is none.

Promises: a command that only reads works with the global scope alone; one that writes to a
project refuses to start one by accident: that is what ``engramdown init`` is for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
from click.exceptions import Exit

from engramdown.cli import messages, output, process
from engramdown.cli.output import STORE_FAILED, RefusalError
from engramdown.cli.process import Place
from engramdown.errors import EngramdownError, StoreError
from engramdown.settings import (
    Settings,
    find_places,
    find_project,
    global_home,
    load_or_strictest,
)

if TYPE_CHECKING:
    # Only named here: what records a transcript needs the places and no memory.
    from engramdown import Cortex


Need = Literal["any", "project", "nothing"]

_NOTES: Final = "engramdown.notes"
_LOOKING: Final = frozenset(
    {
        *("list", "show", "context", "recall", "why", "history", "diff", "stats", "review"),
        *("doctor", "export", "mcp", "log", "skills", "journal", "journal list", "journal show"),
        *("journal search", "skills list", "skills show", "skills validate", "log list"),
        *("log show", "log follow", "log tools", "log steps", "log card", "log notes"),
        *("log gists", "log grep", "log describe", "log expand"),
    }
)
_CHANGING: Final = {
    "context": frozenset({"page"}),
    "review": frozenset({"accept", "decline", "edit", "everything"}),
    "doctor": frozenset({"mend", "dry_run"}),
    "log card": frozenset({"edit", "fill"}),
    "log notes": frozenset({"write", "append", "edit", "restore", "delete"}),
}
"""The commands that only look, and the options with which one of them does not."""


def open_cortex(place: Place, need: Need = "any") -> Cortex:
    """Open memory at ``place``; what is noticed there is said on stderr when the command ends.

    Raises:
        click.ClickException: There is no memory of the kind that is needed.
    """
    cortex = open_quietly(place, need)
    click.get_current_context().call_on_close(lambda: _say_notices(cortex))
    return cortex


def open_quietly(place: Place, need: Need) -> Cortex:
    """Open memory as :func:`open_cortex` does, and say nothing of what is noticed.

    Raises:
        click.ClickException: There is no memory of the kind that is needed.
    """
    project = project_of(place)
    if need != "nothing" and project is None:
        home = home_of(place)
        if need == "project":
            raise click.ClickException(messages.no_project(start_of(place)))
        if not os.path.lexists(home):
            raise click.ClickException(messages.no_memory(start_of(place), home))
    from engramdown import Cortex

    places = find_places(project or place.project, place.home)
    settings = settings_at(place, places.project)
    return Cortex.open(places.project, places.home, settings=settings)


def settings_at(place: Place, project: Path | None) -> Settings:
    """Return what is set for whoever stands in a project, or outside of any.

    If the project's ``config.toml`` is broken, a command that only looks goes on with the
    strictest settings: it says at its end what is wrong, and ends with 3.

    Raises:
        SettingsError: If what is set at home is wrong.
        StoreError: If the project's is broken, and the command is to change something.
    """
    settings = load_or_strictest(home_of(place), project, place.mode)
    context = click.get_current_context(silent=True)
    if not settings.trouble or context is None:
        return settings
    if not _only_looks(context):
        raise StoreError(messages.broken_settings(settings.trouble))
    _say_at_end(context, messages.strictest_settings(settings.trouble), beside_error=True)
    return settings


def _only_looks(context: click.Context) -> bool:
    """Whether the command that runs looks at memory and was not told to change anything."""
    said = {key for key, value in context.params.items() if value not in (None, False, (), "")}
    # Behind the name of the program, which may be another.
    name = " ".join(context.command_path.split(" ")[1:])
    return name in _LOOKING and not said & _CHANGING.get(name, frozenset())


def tell_unread(transcripts: Iterable[str]) -> None:
    """Say of transcripts that cannot be read, once, at the end of a command that only looks.

    Args:
        transcripts: Which these are, and why, a sentence each.
    """
    context = click.get_current_context(silent=True)
    if context is not None and _only_looks(context):
        for reason in transcripts:
            _say_at_end(context, messages.left_out(reason))


def _say_at_end(context: click.Context, note: str, *, beside_error: bool = False) -> None:
    """Say something once when the command ends, which is with 3 unless an error ends it.

    Args:
        context: Of the command.
        note: What to say.
        beside_error: Whether also where an error of ours ends it, which may say the same.
    """
    notes: dict[str, bool] = context.meta.setdefault(_NOTES, {})
    if not notes:
        context.call_on_close(lambda: _end_with(notes))
    notes[note] = beside_error


def _end_with(notes: Mapping[str, bool]) -> None:
    ending = sys.exception()
    failed = isinstance(ending, EngramdownError)
    if not failed and not (ending is None or isinstance(ending, (Exit, click.ClickException))):
        return
    for note, beside_error in notes.items():
        if beside_error or not failed:
            output.note(note)
    if isinstance(ending, click.ClickException):
        process.complain(ending.format_message())
    if not failed:
        raise Exit(STORE_FAILED)


def start_of(place: Place) -> Path:
    """Return the folder in which the search for a project begins.

    Raises:
        RefusalError: It is the working directory, and that is gone.
    """
    try:
        return (place.project or Path.cwd()).absolute()
    except FileNotFoundError as error:
        raise RefusalError(messages.NO_FOLDER) from error


def project_of(place: Place) -> Path | None:
    """Return the ``.engramdown`` folder of the project, or ``None``."""
    return find_project(start_of(place))


def home_of(place: Place) -> Path:
    """Return the folder of the global scope; it need not exist."""
    return place.home.absolute() if place.home else global_home()


def folders(cortex: Cortex) -> dict[str, Path]:
    """Return the memory folder of each scope."""
    return {store.scope: store.memory for store in cortex.stores}


def known_ids(place: Place, /, *, pending: bool = False) -> list[tuple[str, str]]:
    """Return the ids of memories or proposals with their texts; none if they cannot be read."""
    try:
        cortex = open_quietly(place, "any")
        if pending:
            found = [(item.id, item.engram.text) for item in cortex.pending()]
        else:
            found = [(entry.id, entry.text) for entry in cortex.entries()]
    except (EngramdownError, click.ClickException, OSError):
        return []
    return [(key, " ".join(text.split())) for key, text in found]


def _say_notices(cortex: Cortex) -> None:
    """Say what was noticed, once; not when the command failed, as its error says the same."""
    ending = sys.exception()
    failed = isinstance(ending, Exit) and ending.exit_code == STORE_FAILED
    if failed or isinstance(ending, EngramdownError):
        return
    for notice in dict.fromkeys(cortex.notices()):
        output.note(notice)
    if cortex.unread() and (ending is None or isinstance(ending, Exit)):
        # What was shown is not all that there is.
        raise Exit(STORE_FAILED)
