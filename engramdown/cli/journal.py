"""``engramdown journal`` and ``engramdown log notes``: dated pages, and notes on a session.

Without a command ``journal`` lists the days.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import access, commands, messages, output, process, views
from engramdown.cli.layout import Line, diff_rows, line, pick, whole
from engramdown.cli.output import REFUSED, STORE_FAILED, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_text, keep_text, read_stdin
from engramdown.engram import Scope
from engramdown.errors import EngramdownError
from engramdown.journal import Journal, Note, WorkingNotes, Written, preview
from engramdown.transcripts import is_session_id

if TYPE_CHECKING:
    from engramdown.journal import Day, Match, NoteMatch, Section


@click.command(cls=commands.WordsCommand)
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("-t", "--theme", "themes", multiple=True, metavar="THEME", help="What it is about.")
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="To the page of a day that has passed: 2026-02-27.",
)
@click.option("--edit", is_flag=True, help="Write it in your editor, beginning with TEXT.")
@click.option(
    "--by",
    type=click.Choice(["person", "agent"]),
    default="person",
    show_default=True,
    help="Who writes.",
)
@commands.scope_options(
    "Write to the journal of all projects.", "Write to that of this project (default)."
)
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def write(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Add TEXT to the page of today, or of DATE; "-", or a pipe, reads it from stdin.

    Without TEXT your editor opens. What stands on the page is never changed.
    """
    chosen = commands.given()
    scope, root = access.meant(place, chosen["scope"])
    if chosen["by"] == "agent" and access.settings_of(place, scope, root).mode == "off":
        raise RefusalError(OFF)
    text, is_typed = _text(chosen)
    if not text.strip():
        raise click.UsageError(NO_TEXT)
    try:
        journal = access.one_journal(place, chosen["scope"])
        day = chosen["day"].date() if chosen["day"] else None
        where = journal.write(
            text, by=chosen["by"], themes=chosen["themes"], day=day, dry_run=dry_run
        )
    except EngramdownError as error:
        if not is_typed:
            raise
        raise RefusalError(draft_kept(keep_text(text), str(error))) from error
    _show(where, as_json=as_json, dry_run=dry_run)


def _text(chosen: dict[str, Any]) -> tuple[str, bool]:
    """Return what is to be written, and whether a person has just typed it in an editor."""
    words = chosen["words"]
    piped = words == ("-",) or (not words and not process.is_terminal(sys.stdin))
    if piped and not chosen["edit"]:
        return read_stdin(), False
    if words and not chosen["edit"]:
        return " ".join(words), False
    return edit_text(" ".join(words), EDIT_INSTEAD), True


def _show(where: Written, *, as_json: bool, dry_run: bool) -> None:
    data: dict[str, Any] = {
        "changed": True,
        **section_data(where.day, where.path, where.section),
        "hidden": list(where.hidden),
    }
    if as_json:
        if dry_run:
            rows = diff_rows(where.before, where.after, where.path.name)
            changes = [{"path": str(where.path), "diff": "\n".join(rows)}]
            data |= {"changed": False, "dry_run": True, "changes": changes}
        output.print_json(data)
        return
    screen = output.screen()
    if dry_run:
        shown = file_diff(where.path, where.before, where.after)
        screen.show([line((messages.DRY_RUN, "warn")), *shown])
    else:
        screen.show([whole((written(where), "good"))])
    if where.hidden:
        screen.show([line((hidden(where.hidden), "warn"))])


_scopes = commands.scope_options("The global scope.", "This project (default where there is one).")


@click.command("list")
@commands.number_option("At most so many days.", 10, "--limit")
@_scopes
@commands.json_option
@commands.pass_place
def list_days(place: Place, /, *, limit: int, scope: Scope | None, as_json: bool) -> None:
    """List the days that have a page, newest first."""
    found = access.one_journal(place, scope).days(limit)
    if as_json:
        output.print_json([day_data(day, sections=False) for day in found])
    else:
        output.screen().show(listed_lines(found))
    if any(day.problem for day in found):
        raise Exit(STORE_FAILED)
    if not found:
        process.complain(NO_DAYS)
        raise Exit(REFUSED)


@click.command("show")
@click.argument("day", metavar="[DAY]", default="today")
@_scopes
@commands.json_option
@commands.pass_place
def show_day(place: Place, /, *, day: str, scope: Scope | None, as_json: bool) -> None:
    """Show what was written on DAY: 2026-02-27, today (default) or yesterday."""
    journal = access.one_journal(place, scope)
    found = journal.day(_day(day, journal))
    if found is None:
        process.complain(no_day(day))
        raise Exit(REFUSED)
    if as_json:
        output.print_json(day_data(found, sections=True))
    else:
        output.screen().show(page_lines(found))


@click.command("search", cls=commands.WordsCommand)
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@commands.number_option("At most so many entries.", 5, "--limit")
@click.option("--exact", is_flag=True, help="What holds WORDS as they are, newest first.")
@commands.scope_options("Only the global scope.", "Only this project.")
@commands.json_option
@commands.pass_place
def search_journal(
    place: Place,
    /,
    *,
    words: tuple[str, ...],
    limit: int,
    exact: bool,
    scope: Scope | None,
    as_json: bool,
) -> None:
    """Search the journal for WORDS, best hits first; `engramdown recall` searches it, too."""
    query = " ".join(words)
    found = [
        match
        for journal in access.all_journals(place, scope)
        for match in journal.search(query, limit, exact=exact)
    ]
    if exact:
        found.sort(key=lambda match: match.date, reverse=True)
    else:
        found.sort(key=lambda match: -match.score)
    if as_json:
        output.print_json([match_data(match) for match in found[:limit]])
    else:
        output.screen().show(match_lines(found[:limit]))
    if not found:
        process.complain(nothing_found(query))
        raise Exit(REFUSED)


def _day(text: str, journal: Journal) -> date:
    ago = {"today": 0, "yesterday": 1}.get(text.lower())
    if ago is not None:
        return journal.today() - timedelta(days=ago)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise click.UsageError(no_such_day(text)) from None


def match_lines(found: Iterable[Match]) -> Iterator[Line]:
    """Yield one line for each section of the journal that was found."""
    for match in found:
        section = match.section
        yield line(
            (f"{match.path.name}:{section.line}", "where"),
            (f"  {section.heading}  " if section.heading else "  ", "dim"),
            (WHO[section.by], "strong"),
            "  ",
            " ".join(match.piece.split()),
            hang=4,
        )


def note_lines(found: Iterable[NoteMatch]) -> Iterator[Line]:
    """Yield one line for the notes on each session that were found."""
    for match in found:
        yield line(
            (f"{match.path.parent.name}/{match.path.name}", "where"),
            (f"  {match.updated[:16].replace('T', ' ')}  ", "dim"),
            " ".join(match.piece.split()),
            hang=4,
        )


def page_lines(day: Day) -> Iterator[Line]:
    """Yield all that was written on a day."""
    yield line((day.date.isoformat(), "strong"), (f"  {word_count(day.page.words)}", "dim"))
    yield whole((str(day.path), "where"))
    if day.page.themes:
        yield line((f"themes: {', '.join(day.page.themes)}", "dim"))
    for section in day.sections:
        yield line()
        who = (f"  {WHO[section.by]}", "dim") if section.heading else ""
        themes = f"  ({', '.join(section.themes)})" if section.themes else ""
        if section.heading:
            yield line((section.heading, "strong"), who, (themes, "dim"))
        yield line(section.text, indent=2)


def listed_lines(days: Iterable[Day]) -> Iterator[Line]:
    """Yield a line for each day, and one with the beginning of it."""
    for day in days:
        themes = f"  {', '.join(day.page.themes)}" if day.page.themes else ""
        words = (f"  {word_count(day.page.words)}", "dim")
        yield line((day.date.isoformat(), "id"), words, themes, hang=4)
        shown = day.problem or _beginning(day)
        if shown:
            yield line((shown, "bad" if day.problem else ""), indent=4)


def day_data(day: Day, *, sections: bool) -> dict[str, Any]:
    """Return a day, with all that was written or with its beginning."""
    data: dict[str, Any] = {
        "date": day.date.isoformat(),
        "path": str(day.path),
        "words": day.page.words,
        "themes": list(day.page.themes),
        "locked": day.page.is_locked,
    }
    if sections:
        told = [section_data(day.date, day.path, section) for section in day.sections]
        return {**data, "sections": told}
    return {**data, "preview": _beginning(day), "problem": day.problem}


def section_data(day: date, path: Path, section: Section) -> dict[str, Any]:
    """Return a section and where it stands."""
    return {
        "date": day.isoformat(),
        "path": str(path),
        **pick(section, "line heading by at session"),
        "themes": list(section.themes),
        "text": section.text,
    }


def match_data(match: Match) -> dict[str, Any]:
    """Return a section that was found."""
    found = section_data(match.date, match.path, match.section)
    return {**found, "preview": match.piece, "score": match.score}


def note_data(match: NoteMatch) -> dict[str, Any]:
    """Return notes that were found."""
    return {
        "session": match.session,
        "path": str(match.path),
        "updated": match.updated,
        "preview": match.piece,
        "score": match.score,
    }


def _beginning(day: Day) -> str:
    return preview(" ".join(" ".join(section.text for section in day.sections).split()))


JOURNAL_HEAD: Final = "In the journal:"
NOTES_HEAD: Final = "In the notes on sessions:"
WHO: Final = {"person": "you", "agent": "assistant"}
"""Who wrote a section."""
NO_DAYS: Final = "the journal is empty; begin with `engramdown journal write TEXT`"
NO_TEXT: Final = "the text is empty; nothing was written"
EDIT_INSTEAD: Final = "give TEXT, or - to read it from stdin"
OFF: Final = "memory is switched off (mode off), and an assistant writes nothing then"
NO_NOTES: Final = "no notes are kept on this session"
ONE_DEED: Final = "give one of --write, --append, --edit, --restore, --delete and --history"


def written(where: Written) -> str:
    """Say where an entry stands."""
    return f"Wrote {where.path}:{where.section.line}"


def hidden(kinds: Iterable[str]) -> str:
    """Say that a secret was not written."""
    return f"A secret was hidden, and is kept nowhere: {', '.join(kinds)}."


def draft_kept(path: Path, reason: str) -> str:
    """Say where a text is that could not be written."""
    return f"{reason} Your text is kept in {path}"


def no_such_day(text: str) -> str:
    """Say that something is no day."""
    return f"{text!r} is no day; give 2026-02-27, today or yesterday"


def no_day(day: str) -> str:
    """Say that a day has no page."""
    return f"nothing was written on {day}; `engramdown journal list` shows the days"


def nothing_found(query: str) -> str:
    """Say that no entry fits."""
    return f"nothing in the journal fits {query!r}; try other words"


def word_count(count: int) -> str:
    """Say how many words a day has."""
    return f"{count:,} word{'s' if count != 1 else ''}"


def notes_written(path: Path) -> str:
    """Say that notes were written."""
    return f"Wrote {path}"


def notes_removed(path: Path, session: str) -> str:
    """Say that notes were removed, and how to have them back."""
    return f"Removed {path}; `engramdown log notes {session} --restore 1` brings it back"


def no_history(session: str) -> str:
    """Say that no notes were replaced."""
    return f"no notes on {session} were replaced so far"


def replaced(number: int, when: str, by: str) -> str:
    """Say when notes were replaced, and by whom."""
    who = WHO.get(by, by)
    return f"{number}  replaced {when[:16].replace('T', ' ')} by {who}"


def updated(when: str) -> str:
    """Say when notes were written last."""
    return f"updated {when[:16].replace('T', ' ')} UTC" if when else ""


COMMANDS: Final[commands.Table] = {
    "Look": {
        "list": ("journal:list_days", "List the days, newest first."),
        "show": ("journal:show_day", "Show the page of a day."),
        "search": ("journal:search_journal", "Search the pages of all days."),
    },
    "Change": {
        "write": ("journal:write", "Add an entry to the page of today."),
    },
}


@click.group(
    cls=commands.ListingCommands,
    table=COMMANDS,
    subcommand_metavar="[COMMAND] [ARGS]...",
)
def journal() -> None:
    """Keep a journal: a page for each day, which you and assistants add to.

    Without a command it lists the days, as `engramdown journal list` does.
    """


_DEEDS = ("write", "append", "edit", "restore", "delete", "history")


@click.command()
@commands.session_argument
@click.option("--write", metavar="TEXT", help='Replace them; "-" reads TEXT from stdin.')
@click.option("--append", metavar="TEXT", help='Add to them; "-" reads TEXT from stdin.')
@click.option("--edit", is_flag=True, help="Replace them in your editor.")
@click.option("--history", is_flag=True, help="Show the texts that were replaced.")
@click.option("--restore", type=click.IntRange(1), metavar="N", help="Bring back text N of these.")
@click.option("--delete", is_flag=True, help="Remove them; --restore 1 brings them back.")
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def notes(place: Place, /, *, session: str, as_json: bool, dry_run: bool, **_: object) -> None:
    """Show the notes that an assistant keeps on a session, or change them.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    chosen = commands.given()
    if sum(chosen[deed] not in (None, False) for deed in _DEEDS) > 1:
        raise click.UsageError(ONE_DEED)
    kept = _opened(place, session, chosen["scope"])
    if chosen["history"]:
        _show_history(kept, as_json=as_json)
        return
    changed = _change(kept, chosen)
    if changed is None:
        _show_working_notes(kept, as_json=as_json)
        return
    text, act = changed
    if dry_run:
        _show_rehearsed(kept, text, as_json=as_json)
        return
    before = kept.read().text
    _show_changed(kept, before, act(), as_json=as_json)


def _opened(place: Place, session: str, chosen: str | None) -> WorkingNotes:
    scope, root = access.meant(place, chosen)
    disk = access.disk_of(access.settings_of(place, scope, root))
    if is_session_id(session):
        # Without a transcript there may be notes, or some that were removed.
        kept = WorkingNotes(root, session, disk=disk)
        if kept.path.exists() or kept.history():
            return kept
    return WorkingNotes(root, access.open_transcripts(place, chosen).find(session), disk=disk)


def _change(
    kept: WorkingNotes, chosen: dict[str, Any]
) -> tuple[str, Callable[[], Note | None]] | None:
    """Return what the notes would say, and what makes them say so; ``None`` to look only."""
    if chosen["delete"]:
        return "", lambda: _removed(kept)
    if chosen["restore"] is not None:
        number: int = chosen["restore"]
        versions = kept.history()
        text = versions[number - 1].text if number <= len(versions) else ""
        return text, lambda: kept.restore(number)
    if chosen["edit"]:
        return _edited(kept)
    given_text = chosen["append"] if chosen["write"] is None else chosen["write"]
    if given_text is None:
        return None
    text = read_stdin() if given_text == "-" else given_text
    if not text.strip():
        raise click.UsageError(NO_TEXT)
    if chosen["write"] is not None:
        return text, lambda: kept.write(text, by="person")
    before = kept.read().text
    return f"{before}\n{text}".strip("\n"), lambda: kept.append(text, by="person")


def _edited(kept: WorkingNotes) -> tuple[str, Callable[[], Note | None]]:
    seen = kept.read()
    text = edit_text(seen.text, EDIT_INSTEAD)

    def write() -> Note:
        try:
            return kept.write(text, by="person", expected=seen.digest)
        except EngramdownError as error:
            raise RefusalError(draft_kept(keep_text(text), str(error))) from error

    return text, write


def _removed(kept: WorkingNotes) -> None:
    if not kept.delete(by="person"):
        raise RefusalError(NO_NOTES)


# ---- telling ----


def _show_working_notes(kept: WorkingNotes, *, as_json: bool) -> None:
    note = kept.read()
    if as_json:
        output.print_json(_data(kept, note))
    elif note.digest:
        screen = output.screen()
        at = updated(note.updated)
        screen.show([line((kept.session, "strong"), (f"  {at}" if at else "", "dim"))])
        screen.show([whole((str(kept.path), "where")), line(), line(note.text)])
    if not note.digest:
        process.complain(NO_NOTES)
        raise Exit(REFUSED)


def _show_history(kept: WorkingNotes, *, as_json: bool) -> None:
    versions = kept.history()
    if as_json:
        output.print_json(
            [{"number": at, **version._asdict()} for at, version in enumerate(versions, 1)]
        )
    else:
        output.screen().show(_versions(kept))
    if not versions:
        process.complain(no_history(kept.session))
        raise Exit(REFUSED)


def _versions(kept: WorkingNotes) -> Iterator[Line]:
    for at, version in enumerate(kept.history(), 1):
        yield line((replaced(at, version.ts, version.by), "strong"))
        yield line(version.text, indent=4)


def _show_rehearsed(kept: WorkingNotes, text: str, *, as_json: bool) -> None:
    before, after = (f"{each}\n" if each else "" for each in (kept.read().text, text))
    if as_json:
        rows = diff_rows(before, after, kept.path.name)
        changes = [{"path": str(kept.path), "diff": "\n".join(rows)}] if rows else []
        output.print_json({**_data(kept, kept.read()), "dry_run": True, "changes": changes})
        return
    head = line((messages.DRY_RUN, "warn"))
    output.screen().show([head, *file_diff(kept.path, before, after, kept.path.name)])


def _show_changed(kept: WorkingNotes, before: str, note: Note | None, *, as_json: bool) -> None:
    after = Note() if note is None else note
    if as_json:
        data = {"changed": after.text != before, **_data(kept, after)}
        output.print_json({**data, "hidden": list(after.hidden)})
        return
    if note is None:
        lines = [whole((notes_removed(kept.path, kept.session), "good"))]
    elif note.text == before:
        output.note(views.UNCHANGED)
        return
    else:
        lines = [whole((notes_written(kept.path), "good"))]
    if after.hidden:
        lines.append(line((hidden(after.hidden), "warn")))
    output.screen().show(lines)


def _data(kept: WorkingNotes, note: Note) -> dict[str, Any]:
    return {
        "session": kept.session,
        "path": str(kept.path),
        "text": note.text,
        "updated": note.updated,
        "digest": note.digest,
    }
