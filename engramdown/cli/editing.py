"""``engramdown edit``, ``forget`` and ``restore``: a person changes single memories.

Promises: all ids are looked up before anything is changed; what is forgotten can be restored.
"""

from __future__ import annotations

import click

from engramdown.cli import views
from engramdown.cli.access import find_archived, find_entry, folders, open_cortex
from engramdown.cli.commands import (
    WordsCommand,
    complete_ids,
    dry_run_option,
    given,
    id_argument,
    json_option,
    pass_place,
)
from engramdown.cli.layout import diff, line
from engramdown.cli.output import Outcome
from engramdown.cli.process import Place
from engramdown.cli.show import edit_page, is_page
from engramdown.cli.user_input import edit_text
from engramdown.cli.views import entry_data


@click.command(cls=WordsCommand)
@id_argument
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@json_option
@dry_run_option
@pass_place
def edit(
    place: Place, /, *, entry_id: str, words: tuple[str, ...], as_json: bool, dry_run: bool
) -> None:
    """Change the text of a memory: to TEXT, or in your editor. Its id stays.

    `soul` and `profile` open the file that tells who the assistant is, or who you are.
    """
    if is_page(entry_id):
        edit_page(place, entry_id, " ".join(words), as_json=as_json, dry_run=dry_run)
        return
    cortex = open_cortex(place)
    entry = find_entry(cortex, entry_id)
    text = " ".join(words) if words else edit_text(entry.text, views.EDIT_INSTEAD)
    if not text.strip():
        raise click.UsageError(views.empty_edit(entry.id))
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    if text == entry.text:
        outcome.show([line(views.UNCHANGED)], {"changed": False, "id": entry.id})
        return
    updated = cortex.update(entry.id, text)
    lines = [line((views.changed(updated), "good"), hang=2)]
    if updated.id != entry.id:
        lines.append(line((views.moved_address(entry.id, updated.id), "dim"), hang=2))
    if not dry_run:
        lines += diff(f"{entry.text}\n", f"{updated.text}\n", updated.disk_file)
    outcome.show(lines, {"changed": True, **entry_data(updated, folders(cortex))})


@click.command()
@click.argument("entry_ids", metavar="ID...", shell_complete=complete_ids, nargs=-1, required=True)
@click.option("--why", default="", metavar="REASON", help="Why, for the journal.")
@click.option("--forever", is_flag=True, help="Erase the words for good, wherever they stand.")
@click.option("--pieces", is_flag=True, help="With --forever: lines that share a few words, too.")
@click.option("--yes", is_flag=True, help="With --forever: do not ask.")
@json_option
@dry_run_option
@pass_place
def forget(place: Place, /, *, entry_ids: tuple[str, ...], **_: object) -> None:
    """Retire memories: they move to archive.md, and are not learned again.

    The words stay in archive.md and in history.jsonl, so that `engramdown restore` can bring them
    back. --forever erases them, from transcripts and notes too; ID - reads the words from stdin.
    """
    options = given()
    if options["forever"]:
        from engramdown.cli.erasing import erase

        erase(place, entry_ids)
        return
    if options["pieces"] or options["yes"]:
        raise click.UsageError(views.ONLY_FOREVER)
    why, as_json, dry_run = options["why"], options["as_json"], options["dry_run"]
    cortex = open_cortex(place)
    # A dictionary, because one memory may be named twice.
    entries = {entry.id: entry for entry in (find_entry(cortex, item) for item in entry_ids)}
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    gone = [cortex.forget(entry_id, why) for entry_id in entries]
    lines = [line((views.forgotten(entry), "good"), hang=2) for entry in gone]
    where = folders(cortex)
    outcome.show(lines, {"forgotten": [entry_data(entry, where) for entry in gone]})


@click.command()
@id_argument
@json_option
@dry_run_option
@pass_place
def restore(place: Place, /, *, entry_id: str, as_json: bool, dry_run: bool) -> None:
    """Bring back a retired memory; `engramdown list --archived` shows them."""
    cortex = open_cortex(place)
    item = find_archived(cortex, entry_id)
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    entry = cortex.restore(item.entry.id)
    lines = [line((views.restored(entry), "good"), hang=2)]
    outcome.show(lines, entry_data(entry, folders(cortex)))
