"""``engramdown journal`` and ``engramdown log notes``: dated pages, and notes on a session.

Without a command ``journal`` lists the days.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown.cli import access, commands, process, views
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.output import STORE_FAILED, RefusalError, draft_kept, edit_text, read_stdin
from engramdown.cli.process import Place
from engramdown.engram import Scope
from engramdown.errors import EngramdownError
from engramdown.journal import WorkingNotes
from engramdown.storage import disk_of
from engramdown.transcripts import is_session_id

if TYPE_CHECKING:
    from engramdown.journal import Day, Match, NoteMatch

JOURNAL_HEAD: Final = "In the journal:"
NOTES_HEAD: Final = "In the notes on sessions:"
_NO_TEXT: Final = "the text is empty; nothing was written"
_EDIT_INSTEAD: Final = "give TEXT, or - to read it from stdin"
_NO_NOTES: Final = "no notes are kept on this session"
_AUTHORS: Final = {"person": "you", "agent": "assistant"}

COMMANDS: Final = commands.read_table(__file__)


@click.group(cls=commands.ListingCommands, table=COMMANDS, subcommand_metavar="[COMMAND] [ARGS]...")
def journal() -> None:
    """Keep a journal: a page for each day, which you and assistants add to.

    Without a command it lists the days, as `engramdown journal list` does.
    """


@click.command(cls=commands.WordsCommand)
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("-t", "--theme", "themes", multiple=True, metavar="THEME", help="What it is about.")
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Write to the page of an earlier day: 2026-02-27.",
)
@click.option("--edit", is_flag=True, help="Write it in your editor, beginning with TEXT.")
@click.option(
    "--by",
    type=click.Choice(["person", "agent"]),
    default="person",
    show_default=True,
    help="Who writes.",
)
@commands.scoped(
    "Write to the journal of all projects.",
    "Write to that of this project (default).",
    dry_run=True,
)
def write(
    place: Place, /, *, words: tuple[str, ...], edit: bool, dry_run: bool, **_: object
) -> None:
    """Add TEXT to the page of today, or of DATE; "-", or a pipe, reads it from stdin.

    Without TEXT your editor opens. What the page holds already is never changed.
    """
    options = commands.given()
    scope, root = access.meant(place, options["scope"])
    if options["by"] == "agent" and access.settings_of(place, scope, root).mode == "off":
        raise RefusalError("memory is switched off (mode off), so an assistant writes nothing")
    is_piped = words == ("-",) or (not words and not process.is_terminal(sys.stdin))
    is_typed = edit or not (words or is_piped)
    text = " ".join(words)
    if is_typed:
        text = edit_text(text, _EDIT_INSTEAD)
    elif is_piped:
        text = read_stdin()
    if not text.strip():
        raise click.UsageError(_NO_TEXT)
    day = options["day"].date() if options["day"] else None
    by, themes = options["by"], options["themes"]
    try:
        journal = access.one_journal(place, options["scope"])
        result = journal.write(text, by=by, themes=themes, day=day, dry_run=dry_run)
    except EngramdownError as error:
        if not is_typed:
            raise
        raise draft_kept(text, error) from error
    section = serializers.section_data(result.day, result.path, result.section)
    data = {"changed": not dry_run, **section, "hidden": [*result.hidden]}
    hidden = _hidden_lines(result.hidden)
    if dry_run:
        commands.show_dry_run(result.path, result.before, result.after, data, more=hidden)
        return
    where = whole((f"Wrote {result.path}:{result.section.line}", "good"))
    commands.show([where, *hidden], data)


def _hidden_lines(kinds: Iterable[str]) -> list[Line]:
    hidden = ", ".join(kinds)
    text = f"A secret was hidden, and is kept nowhere: {hidden}."
    return [line((text, "warn"))] if hidden else []


@click.command("list")
@commands.number_option("At most so many days.", 10, "--limit")
@commands.in_scope
def list_days(place: Place, /, *, limit: int, scope: Scope | None, **_: object) -> None:
    """List the days that have a page, newest first."""
    days = access.one_journal(place, scope).days(limit)
    lines, data = [], []
    for day in days:
        data.append(serializers.listed_day_data(day))
        beginning = data[-1]["preview"]
        themes = f"  {', '.join(day.page.themes)}" if day.page.themes else ""
        lines.append(line((day.date.isoformat(), "id"), _words(day), themes, hang=4))
        if day.problem or beginning:
            style = "bad" if day.problem else ""
            lines.append(line((day.problem or beginning, style), indent=4))
    commands.show(lines, data)
    if any(day.problem for day in days):
        raise Exit(STORE_FAILED)
    if not days:
        raise RefusalError("the journal is empty; begin with `engramdown journal write TEXT`")


@click.command("show")
@click.argument("day", metavar="[DAY]", default="today")
@commands.in_scope
def show_day(place: Place, /, *, day: str, scope: Scope | None, **_: object) -> None:
    """Show what was written on DAY: 2026-02-27, today (default) or yesterday."""
    journal = access.one_journal(place, scope)
    try:
        which = journal.day_named(day)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    page = journal.day(which)
    if page is None:
        when = f"on {day}" if day[:1].isdecimal() else day
        raise RefusalError(f"nothing was written {when}; `engramdown journal list` shows the days")
    commands.show(_page_lines(page), serializers.day_page_data(page))


@click.command("search", cls=commands.WordsCommand)
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@commands.number_option("At most so many entries.", 5, "--limit")
@commands.scoped("Only the global scope.", "Only this project.")
def search_journal(place: Place, /, *, words: tuple[str, ...], limit: int, **_: object) -> None:
    """Search the journal for WORDS, best hits first; `engramdown recall` searches it, too."""
    query = " ".join(words)
    journals = access.all_journals(place, commands.given()["scope"])
    matches = [match for each in journals for match in each.search(query, limit)]
    matches = sorted(matches, key=attrgetter("score"), reverse=True)[:limit]
    commands.show(match_lines(matches), list(map(serializers.match_data, matches)))
    if not matches:
        raise RefusalError(f"nothing in the journal matches {query!r}; try other words")


def match_lines(found: Iterable[Match]) -> Iterator[Line]:
    """Yield one line for each section of the journal that matches."""
    for match in found:
        section = match.section
        where = (f"{match.path.name}:{section.line}", "where")
        heading = (f"  {section.heading}  " if section.heading else "  ", "dim")
        text = " ".join(match.piece.split())
        yield line(where, heading, (_AUTHORS[section.by], "strong"), "  ", text, hang=4)


def note_lines(found: Iterable[NoteMatch]) -> Iterator[Line]:
    """Yield one line for the notes on each session that match."""
    for match in found:
        where = (f"{match.path.parent.name}/{match.path.name}", "where")
        text = " ".join(match.piece.split())
        yield line(where, (f"  {_minute(match.updated)}  ", "dim"), text, hang=4)


def _minute(when: str) -> str:
    return when[:16].replace("T", " ")


def _page_lines(day: Day) -> Iterator[Line]:
    """Yield the page of a day."""
    yield line((day.date.isoformat(), "strong"), _words(day))
    yield whole((str(day.path), "where"))
    if day.page.themes:
        yield line((f"themes: {', '.join(day.page.themes)}", "dim"))
    for section in day.sections:
        yield line()
        if section.heading:
            themes = f"  ({', '.join(section.themes)})" if section.themes else ""
            who = f"  {_AUTHORS[section.by]}"
            yield line((section.heading, "strong"), (who, "dim"), (themes, "dim"))
        yield line(section.text, indent=2)


def _words(day: Day) -> tuple[str, str]:
    return f"  {views.counted(day.page.words, 'word')}", "dim"


# ---- notes on a session ----


@click.command()
@commands.session_argument
@click.option("--history", is_flag=True, help="Show the texts that were replaced.")
@click.option("--restore", type=click.IntRange(1), metavar="N", help="Bring back text N of these.")
@commands.scoped(*commands.HERE, dry_run=True)
def notes(place: Place, /, *, session: str, dry_run: bool, **_: object) -> None:
    """Show the notes that an assistant keeps on a session.

    SESSION is an id or the beginning of one; without it, the session that began last. The notes
    are a file, which you may edit or remove.
    """
    options = commands.given()
    number = options["restore"]
    if options["history"] and number is not None:
        raise click.UsageError("give one of --history, --restore")
    notebook = _open_notes(place, session, options["scope"])
    if options["history"]:
        _show_history(notebook)
        return
    seen = notebook.read()
    if number is None:
        at = f"  updated {_minute(seen.updated)} UTC" if seen.updated else ""
        title = line((notebook.session, "strong"), (at, "dim"))
        lines = [title, whole((str(notebook.path), "where")), line(), line(seen.text)]
        commands.show(lines if seen.digest else [], serializers.notes_data(notebook, seen))
        if not seen.digest:
            raise RefusalError(_NO_NOTES)
    elif dry_run:
        before, after = (f"{it}\n" if it else "" for it in (seen.text, notebook.earlier(number)))
        data = serializers.notes_data(notebook, seen)
        commands.show_dry_run(notebook.path, before, after, data, name=notebook.path.name)
    else:
        note = notebook.restore(number)
        data = {"changed": note.text != seen.text, **serializers.notes_data(notebook, note)}
        lines = [whole((f"Wrote {notebook.path}", "good"))]
        commands.show(lines, {**data, "hidden": [*note.hidden]})


def _open_notes(place: Place, session: str, chosen: str | None) -> WorkingNotes:
    scope, root = access.meant(place, chosen)
    disk = disk_of(access.settings_of(place, scope, root))
    if is_session_id(session):
        # A session may have notes, or a history of them, without a transcript.
        kept = WorkingNotes(root, session, disk=disk)
        if kept.path.exists() or kept.history():
            return kept
    return WorkingNotes(root, access.open_transcripts(place, chosen).find(session), disk=disk)


def _show_history(kept: WorkingNotes) -> None:
    versions, lines = kept.history(), []
    for at, version in enumerate(versions, 1):
        by = _AUTHORS.get(version.by, version.by)
        lines.append(line((f"{at}  replaced {_minute(version.ts)} by {by}", "strong")))
        lines.append(line(version.text, indent=4))
    data = [{"number": at, **version._asdict()} for at, version in enumerate(versions, 1)]
    commands.show(lines, data)
    if not versions:
        raise RefusalError(f"no notes on {kept.session} were replaced so far")
