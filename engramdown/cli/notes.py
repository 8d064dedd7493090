"""``engramdown log notes``: the notes on a session, to read, to correct and to bring back.

Promises: looking writes nothing; what is replaced or removed can be brought back; what somebody
saved while an editor was open is not overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
from click.exceptions import Exit

from engramdown.cli import day_messages as said
from engramdown.cli import messages, output, process, views
from engramdown.cli.access import disk_of, meant, open_transcripts, settings_of
from engramdown.cli.commands import (
    complete_sessions,
    dry_run_option,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, diff_rows, line, whole
from engramdown.cli.output import REFUSED, RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_text, keep_text, read_stdin
from engramdown.errors import EngramdownError
from engramdown.journal.working_notes import Note, WorkingNotes
from engramdown.transcripts.episode import is_session_id

_DEEDS = ("write", "append", "edit", "restore", "delete", "history")


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@click.option("--write", metavar="TEXT", help='Replace them; "-" reads TEXT from stdin.')
@click.option("--append", metavar="TEXT", help='Add to them; "-" reads TEXT from stdin.')
@click.option("--edit", is_flag=True, help="Replace them in your editor.")
@click.option("--history", is_flag=True, help="Show the texts that were replaced.")
@click.option("--restore", type=click.IntRange(1), metavar="N", help="Bring back text N of these.")
@click.option("--delete", is_flag=True, help="Remove them; --restore 1 brings them back.")
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@dry_run_option
@pass_place
def notes(place: Place, /, *, session: str, as_json: bool, dry_run: bool, **_: object) -> None:
    """Show the notes that an assistant keeps on a session, or change them.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    chosen = given()
    if sum(chosen[deed] not in (None, False) for deed in _DEEDS) > 1:
        raise click.UsageError(said.ONE_DEED)
    kept = _opened(place, session, chosen["scope"])
    if chosen["history"]:
        _show_history(kept, as_json=as_json)
        return
    changed = _change(kept, chosen)
    if changed is None:
        _show(kept, as_json=as_json)
        return
    text, act = changed
    if dry_run:
        _show_rehearsed(kept, text, as_json=as_json)
        return
    before = kept.read().text
    _show_changed(kept, before, act(), as_json=as_json)


def _opened(place: Place, session: str, chosen: str | None) -> WorkingNotes:
    scope, root = meant(place, chosen)
    disk = disk_of(settings_of(place, scope, root))
    if is_session_id(session):
        # Without a transcript there may be notes, or some that were removed.
        kept = WorkingNotes(root, session, disk=disk)
        if kept.path.exists() or kept.history():
            return kept
    return WorkingNotes(root, open_transcripts(place, chosen).find(session), disk=disk)


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
        raise click.UsageError(said.NO_TEXT)
    if chosen["write"] is not None:
        return text, lambda: kept.write(text, by="person")
    before = kept.read().text
    return f"{before}\n{text}".strip("\n"), lambda: kept.append(text, by="person")


def _edited(kept: WorkingNotes) -> tuple[str, Callable[[], Note | None]]:
    seen = kept.read()
    text = edit_text(seen.text, said.EDIT_INSTEAD)

    def write() -> Note:
        try:
            return kept.write(text, by="person", expected=seen.digest)
        except EngramdownError as error:
            raise RefusalError(said.draft_kept(keep_text(text), str(error))) from error

    return text, write


def _removed(kept: WorkingNotes) -> None:
    if not kept.delete(by="person"):
        raise RefusalError(said.NO_NOTES)


# ---- telling ----


def _show(kept: WorkingNotes, *, as_json: bool) -> None:
    note = kept.read()
    if as_json:
        output.print_json(_data(kept, note))
    elif note.digest:
        screen = output.screen()
        at = said.updated(note.updated)
        screen.show([line((kept.session, "strong"), (f"  {at}" if at else "", "dim"))])
        screen.show([whole((str(kept.path), "where")), line(), line(note.text)])
    if not note.digest:
        process.complain(said.NO_NOTES)
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
        process.complain(said.no_history(kept.session))
        raise Exit(REFUSED)


def _versions(kept: WorkingNotes) -> Iterator[Line]:
    for at, version in enumerate(kept.history(), 1):
        yield line((said.replaced(at, version.ts, version.by), "strong"))
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
        lines = [whole((said.notes_removed(kept.path, kept.session), "good"))]
    elif note.text == before:
        output.note(views.UNCHANGED)
        return
    else:
        lines = [whole((said.notes_written(kept.path), "good"))]
    if after.hidden:
        lines.append(line((said.hidden(after.hidden), "warn")))
    output.screen().show(lines)


def _data(kept: WorkingNotes, note: Note) -> dict[str, Any]:
    return {
        "session": kept.session,
        "path": str(kept.path),
        "text": note.text,
        "updated": note.updated,
        "digest": note.digest,
    }
