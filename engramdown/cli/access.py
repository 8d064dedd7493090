"""Finds and opens memory, transcripts, journals, skills and single entries for the commands.

A command that only reads works with the global scope alone. A command that writes to a project
never creates one by accident: `engramdown init` does that. A prefix that fits several ids or
sessions is refused with a list of them; a complete id is never ambiguous with a longer one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import click
from click.exceptions import Exit

from engramdown.cli import output, process, views
from engramdown.cli.layout import clock
from engramdown.cli.output import STORE_FAILED, RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import one_line, place
from engramdown.engram import Scope
from engramdown.episodes import EpisodicMemory
from engramdown.errors import AmbiguousIdError, EngramdownError, EntryNotFoundError, StoreError
from engramdown.settings import Settings, find_places, find_project, global_home, load_or_strictest
from engramdown.storage import Disk, disk_of
from engramdown.transcripts import SessionInfo, Sessions, Tally, count_session, find_running

if TYPE_CHECKING:
    # Only named here: what records a transcript loads nothing of memory.
    from engramdown import Cortex, Entry, Proposal
    from engramdown.hippocampus import Archived
    from engramdown.journal import Journal
    from engramdown.skills import Skills

    Found = Entry | Proposal | Archived

Need = Literal["any", "project", "nothing"]

_NOTES: Final = "engramdown.notes"
# The commands that only look, and the options with which one of them changes something.
_LOOKING: Final = frozenset(
    {
        *("list", "show", "context", "recall", "why", "history", "diff", "stats", "review"),
        *("doctor", "export", "mcp", "serve", "log", "skills", "journal"),
        *(
            "journal list",
            "journal show",
            "journal search",
            "skills list",
            "skills show",
            "skills validate",
            "log list",
        ),
        *("log show", "log follow", "log tools", "log card", "log notes"),
        *("log grep", "log describe", "log expand"),
    }
)
_CHANGING: Final = {
    "context": frozenset({"page"}),
    "review": frozenset({"accept", "decline", "edit", "everything"}),
    "doctor": frozenset({"mend", "dry_run"}),
    "log card": frozenset({"edit"}),
    "log notes": frozenset({"restore"}),
}


def open_cortex(place: Place, need: Need = "any", as_of: str = "") -> Cortex:
    """Open memory at ``place``; its notices are printed on stderr when the command ends.

    Args:
        place: Where it is.
        need: What there must be.
        as_of: The day, the time or the commit at which it is shown.

    Raises:
        click.ClickException: There is no memory of the kind that is needed.
    """
    cortex = open_quietly(place, need, as_of)

    def say_notices() -> None:
        # Not when the command failed: its error says the same.
        ending = sys.exception()
        failed = isinstance(ending, Exit) and ending.exit_code == STORE_FAILED
        if failed or isinstance(ending, EngramdownError):
            return
        for notice in dict.fromkeys(cortex.scopes.notices()):
            output.note(notice)
        if cortex.scopes.unread() and (ending is None or isinstance(ending, Exit)):
            # The command did not show everything.
            raise Exit(STORE_FAILED)

    click.get_current_context().call_on_close(say_notices)
    return cortex


def open_quietly(place: Place, need: Need, as_of: str = "") -> Cortex:
    """Open memory as :func:`open_cortex` does, without printing its notices.

    Raises:
        click.ClickException: There is no memory of the kind that is needed.
    """
    project = project_of(place)
    if need == "project" and project is None:
        raise click.ClickException(views.no_project(start_of(place)))
    if need == "any" and project is None and not os.path.lexists(home_of(place)):
        raise click.ClickException(views.no_memory(start_of(place), home_of(place)))
    from engramdown import Cortex

    places = find_places(project or place.project, place.home)
    settings = settings_at(place, places.project)
    return Cortex.open(places.project, places.home, settings=settings, as_of=as_of)


def settings_at(place: Place, project: Path | None) -> Settings:
    """Return the settings for a project, or for a folder outside of any.

    If the project's ``config.toml`` is broken, a command that only looks goes on with the
    strictest settings: it says at its end what is wrong, and ends with 3.

    Raises:
        SettingsError: If a setting of the global scope is wrong.
        StoreError: If one of the project is wrong, and the command would change something.
    """
    settings = load_or_strictest(home_of(place), project, place.mode)
    context = click.get_current_context(silent=True)
    if not settings.trouble or context is None:
        return settings
    if not _only_looks(context):
        raise StoreError(f"{settings.trouble}; until that is mended nothing is changed here")
    note = f"{settings.trouble}; until that is mended the strictest settings hold here"
    _say_at_end(context, note, beside_error=True)
    return settings


def _only_looks(context: click.Context) -> bool:
    """Whether the running command looks at memory and no option makes it change anything."""
    options = {key for key, value in context.params.items() if value not in (None, False, (), "")}
    # Behind the name of the program, which may be another.
    name = " ".join(context.command_path.split(" ")[1:])
    return name in _LOOKING and not options & _CHANGING.get(name, frozenset())


def tell_unread(transcripts: Iterable[str]) -> None:
    """Name the transcripts that cannot be read, once, at the end of a command that only looks.

    Args:
        transcripts: A sentence for each: which one, and why.
    """
    context = click.get_current_context(silent=True)
    if context is not None and _only_looks(context):
        for reason in transcripts:
            _say_at_end(context, f"could not be read, and is left out: {reason}")


def _say_at_end(context: click.Context, note: str, *, beside_error: bool = False) -> None:
    """Print a note once when the command ends; it ends with 3 then, unless an error ends it.

    Args:
        context: The context of the command.
        note: The note.
        beside_error: Whether to print it also if an error of ours ends the command.
    """
    notes: dict[str, bool] = context.meta.setdefault(_NOTES, {})

    def end() -> None:
        ending = sys.exception()
        failed = isinstance(ending, EngramdownError)
        if not (failed or ending is None or isinstance(ending, (Exit, click.ClickException))):
            return
        for each, is_printed_always in notes.items():
            if is_printed_always or not failed:
                output.note(each)
        if isinstance(ending, click.ClickException):
            process.complain(ending.format_message())
        if not failed:
            raise Exit(STORE_FAILED)

    if not notes:
        context.call_on_close(end)
    notes[note] = beside_error


def start_of(place: Place) -> Path:
    """Return the folder in which the search for a project begins.

    Raises:
        RefusalError: It is the working directory, and that is gone.
    """
    try:
        return (place.project or Path.cwd()).absolute()
    except FileNotFoundError as error:
        raise RefusalError(
            "the working directory is gone; cd to another one, or use -C DIR"
        ) from error


def project_of(place: Place) -> Path | None:
    """Return the ``.engramdown`` folder of the project, or ``None``."""
    return find_project(start_of(place))


def home_of(place: Place) -> Path:
    """Return the folder of the global scope; it need not exist."""
    return place.home.absolute() if place.home else global_home()


def meant(place: Place, scope: str | None) -> tuple[Scope, Path]:
    """Return the scope that is meant: by default the project, or else the global one.

    Raises:
        click.ClickException: There is no such scope.
    """
    home, project = home_of(place), project_of(place)
    if scope == "global":
        return "global", home
    if project is not None:
        return "project", project
    if scope == "project":
        raise click.ClickException(views.no_project(start_of(place)))
    if not home.is_dir():
        raise click.ClickException(views.no_memory(start_of(place), home))
    return "global", home


def roots(place: Place) -> list[tuple[Scope, Path]]:
    """Return the scopes that there are, the project first.

    Raises:
        click.ClickException: There is none.
    """
    first = meant(place, None)
    home = home_of(place)
    return [first, ("global", home)] if first[0] == "project" and home.is_dir() else [first]


_OFFERED: Final = 8
_COMPLETED: Final = 50
SWITCHED_OFF: Final = (
    "nothing is recorded: transcripts are switched off, by ENGRAMDOWN_EPISODES or by `enabled` "
    "below [episodes] in config.toml"
)


class Transcripts:
    """The transcripts of one scope.

    Attributes:
        memory: The memory that records them.
        disk: The system calls to read them.
        sessions: The sessions in their folder.
    """

    def __init__(self, memory: EpisodicMemory) -> None:
        """Read where ``memory`` records."""
        self.memory = memory
        self.disk = Disk()
        self.sessions = Sessions(memory.folder, self.disk)

    def find(self, prefix: str) -> str:
        """Return the id of the session that ``prefix`` means; the newest one for ``""``.

        Raises:
            RefusalError: There is none, or there are several.
        """
        matches = self.sessions.matching(prefix)
        if not matches:
            import difflib

            ids = self.sessions.ids()
            if not ids:
                raise RefusalError(no_sessions(self.memory.folder))
            near = difflib.get_close_matches(prefix, ids, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise RefusalError(f"no session {prefix!r}; {meant}`engramdown log` lists them")
        if len(matches) == 1:
            return matches[0]
        known = self.newest_first(matches)
        if prefix:
            more = [_one_session(info) for info in known[:_OFFERED]]
            more += [f"... and {len(known) - _OFFERED} more"] if known[_OFFERED:] else []
            raise RefusalError(views.ambiguous(prefix), more)
        return known[0].id if known else matches[0]

    def find_or_current(self, prefix: str) -> str:
        """Return the id of the session that ``prefix`` means; the running one for ``""``.

        Raises:
            RefusalError: There is none, or there are several.
        """
        if prefix:
            return self.find(prefix)
        running = find_running(self.sessions, self.disk)
        if running is None:
            raise RefusalError("no session runs; `engramdown log` lists those that were left open")
        return running.id

    def newest_first(self, ids: Iterable[str]) -> list[SessionInfo]:
        """Return the headers of sessions, the newest first."""
        known = [info for info in map(self.sessions.info, ids) if info is not None]
        return sorted(known, key=lambda info: (info.started, info.id), reverse=True)

    def tally(self, session: str) -> Tally:
        """Count the lines of a session."""
        return count_session(self.sessions, self.disk, session)


def _one_session(info: SessionInfo) -> str:
    title = f"  {' '.join(info.title.split())}" if info.title else ""
    return f"{info.id}  {clock(info.started)}  {info.reason or 'open'}{title}"


def open_transcripts(place: Place, scope: str | None, *, write: bool = False) -> Transcripts:
    """Return the transcripts of a scope: by default the project's, or else the global ones.

    Args:
        place: Where memory is.
        scope: ``project`` or ``global``, if one was asked for.
        write: Whether the command records something.

    Raises:
        click.ClickException: There is no such scope, or recording is switched off.
    """
    own, root = meant(place, scope)
    settings = settings_at(place, root if own == "project" else None)
    memory = EpisodicMemory(root, settings.episodes)
    if write and not memory.settings.enabled:
        raise RefusalError(SWITCHED_OFF)
    transcripts = Transcripts(memory)
    tell_unread(transcripts.sessions.obstacles())
    return transcripts


def open_all(place: Place) -> list[EpisodicMemory]:
    """Return the episodic memory of each scope that exists, the project first.

    Raises:
        click.ClickException: There is none.
    """
    memories = [EpisodicMemory(root, settings_at(place, root).episodes) for _, root in roots(place)]
    for memory in memories:
        tell_unread(Sessions(memory.folder, Disk()).obstacles())
    return memories


def no_sessions(folder: Path) -> str:
    """Say that nothing was recorded."""
    return f'no session in {folder} yet; `engramdown log user "..."` records the first line'


def known(kind: str, place: Place, scope: str | None, prefix: str) -> list[tuple[str, str]]:
    """Return the words that a shell may complete to, each with its description.

    Args:
        kind: ``ids`` of memories, ``proposals``, ``sessions``, the newest first, or ``labels``.
        place: Where memory is.
        scope: For sessions, ``project`` or ``global``, if one was asked for.
        prefix: For sessions, how the ids begin: only these are read.
    """
    if kind == "sessions":
        transcripts = open_transcripts(place, scope)
        ids = [each for each in transcripts.sessions.ids() if each.startswith(prefix)]
        newest = transcripts.newest_first(ids)[:_COMPLETED]
        return [(info.id, words_of(info, transcripts.tally(info.id))) for info in newest]
    if kind == "labels":
        skills = [each.skill for each in opened(place).known() if each.counts]
        return [(skill.label, skill.description) for skill in skills]
    cortex = open_quietly(place, "any")
    if kind == "proposals":
        return [(item.id, item.engram.text) for item in cortex.pending()]
    return [(entry.id, entry.text) for entry in cortex.entries()]


def words_of(info: SessionInfo, tally: Tally) -> str:
    """Return the title of a session, or its first words, in one line."""
    return " ".join((info.title or tally.first).split())


def one_journal(place: Place, scope: Scope | None) -> Journal:
    """Return the journal of a scope: by default the project's, or else the global one.

    Raises:
        click.ClickException: There is no such scope.
    """
    return _opened(place, *meant(place, scope))


def all_journals(place: Place, scope: Scope | None) -> list[Journal]:
    """Return the journal of a scope, or those of all scopes, the project's first."""
    places = [meant(place, scope)] if scope else roots(place)
    return [_opened(place, *each) for each in places]


def settings_of(place: Place, scope: Scope, root: Path) -> Settings:
    """Return the settings for a scope, as seen from a project."""
    project = root if scope == "project" else project_of(place)
    return settings_at(place, project).of(scope)


def _opened(place: Place, scope: Scope, root: Path) -> Journal:
    from engramdown.journal import Journal

    settings = settings_of(place, scope, root)
    disk, patience = disk_of(settings), settings.lock_timeout
    journal = Journal(root, zone=settings.timezone, disk=disk, lock_timeout=patience)
    if journal.clock.notice:
        output.note(journal.clock.notice)
    try:
        journal.tidy()
    except StoreError as error:
        output.note(str(error))
    return journal


def opened(place: Place, scope: Scope | None = None) -> Skills:
    """Open the skills of a scope, or of all scopes.

    Raises:
        click.ClickException: There is no such scope.
    """
    from engramdown.skills import open_skills

    def start(scope: Scope, root: Path) -> None:
        # Imported here: a skill is hardly ever the first thing in a scope.
        from engramdown.hippocampus import Hippocampus

        Hippocampus(root, scope).start()

    places = [meant(place, scope)] if scope else roots(place)
    skills = open_skills(places, settings_at(place, project_of(place)), start)
    try:
        skills.tidy()
    except StoreError as error:
        output.note(f"what was left by a program that was stopped stays for now: {error}")
    return skills


def find_entry(cortex: Cortex, prefix: str) -> Entry:
    """Return the memory that ``prefix`` means.

    Raises:
        EntryNotFoundError: There is none.
        RefusalError: There are several, which it lists, or it is retired.
    """
    from engramdown.hippocampus import Archived

    found: Entry | Archived = _first(cortex, prefix, _find_kept, find_archived)
    if isinstance(found, Archived):
        key = found.entry.id
        raise RefusalError(f"{key} is retired; `engramdown restore {key}` brings it back")
    return found


def find_proposal(cortex: Cortex, prefix: str) -> Proposal:
    """Return the proposal that ``prefix`` means; raises as :func:`find_entry`."""
    found: Proposal = _first(cortex, prefix, _find_waiting)
    return found


def find_archived(cortex: Cortex, prefix: str) -> Archived:
    """Return the retired memory that ``prefix`` means; raises as :func:`find_entry`."""
    from engramdown.hippocampus import retired_name

    items = cortex.scopes.archived()
    name = retired_name(prefix, [item.entry for item in items])
    named = [(name(item.entry), item.entry.text, item) for item in items]
    return _only(named, prefix, "archive.md")


def find_anywhere(cortex: Cortex, prefix: str) -> Found:
    """Return what ``prefix`` means, memories before proposals before retired memories."""
    found: Found = _first(cortex, prefix, _find_kept, _find_waiting, find_archived)
    return found


def _first(cortex: Cortex, prefix: str, *finders: Callable[[Cortex, str], Found]) -> Any:  # noqa: ANN401 - what the finders return
    missing: list[EntryNotFoundError] = []
    for find in finders:
        try:
            return find(cortex, prefix)
        except EntryNotFoundError as error:
            missing.append(error)
    if unread := cortex.scopes.unread():
        # It may be in a file that cannot be read.
        raise StoreError("; ".join(unread))
    raise missing[0]


def _find_kept(cortex: Cortex, prefix: str) -> Entry:
    try:
        return cortex.find(prefix)
    except AmbiguousIdError as error:
        matches = [entry for entry in cortex.entries() if entry.id in error.matches]
        more = [f"{entry.id}  {place(entry)}  {one_line(entry.text)}" for entry in matches]
        raise RefusalError(views.ambiguous(prefix), more) from error


def _find_waiting(cortex: Cortex, prefix: str) -> Proposal:
    pending = [(item.id, item.engram.text, item) for item in cortex.pending()]
    return _only(pending, prefix, "pending.md")


_Item = TypeVar("_Item")


def _only(items: Iterable[tuple[str, str, _Item]], prefix: str, where: str) -> _Item:
    from engramdown.hippocampus import by_prefix

    # The last one of several with one id.
    latest = list({each[0]: each for each in items}.values())
    try:
        return by_prefix(prefix, latest, lambda each: each[0], where)[2]
    except AmbiguousIdError as error:
        more = [f"{key}  {one_line(text)}" for key, text, _ in latest if key in error.matches]
        raise RefusalError(views.ambiguous(prefix), more) from error
