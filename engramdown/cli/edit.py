"""``engramdown edit``, ``forget`` and ``restore``: change single memories.

All ids are looked up before anything is changed. What is forgotten can be restored, unless it is
erased with ``forget --forever``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from engramdown import Cortex
from engramdown.cli import commands, messages, output, user_input, views
from engramdown.cli.access import find_archived, find_entry, folders, open_cortex
from engramdown.cli.layout import Line, diff, line
from engramdown.cli.output import Outcome
from engramdown.cli.process import Place
from engramdown.cli.show import edit_page, is_page
from engramdown.cli.user_input import edit_text, read_stdin
from engramdown.cli.views import beside, entry_data
from engramdown.gate import Erased, Shared
from engramdown.language import on_screen, visible
from engramdown.transcripts import read_line


@click.command(cls=commands.WordsCommand)
@commands.id_argument
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@commands.json_option
@commands.dry_run_option
@commands.pass_place
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
@click.argument(
    "entry_ids", metavar="ID...", shell_complete=commands.complete_ids, nargs=-1, required=True
)
@click.option("--why", default="", metavar="REASON", help="Why, for the journal.")
@click.option("--forever", is_flag=True, help="Erase the words for good, wherever they stand.")
@click.option("--pieces", is_flag=True, help="With --forever: lines that share a few words, too.")
@click.option("--yes", is_flag=True, help="With --forever: do not ask.")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def forget(place: Place, /, *, entry_ids: tuple[str, ...], **_: object) -> None:
    """Retire memories: they move to archive.md, and are not learned again.

    The words stay in archive.md and in history.jsonl, so that `engramdown restore` can bring them
    back. --forever erases them, from transcripts and notes too; ID - reads the words from stdin.
    """
    options = commands.given()
    if options["forever"]:
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
@commands.id_argument
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def restore(place: Place, /, *, entry_id: str, as_json: bool, dry_run: bool) -> None:
    """Bring back a retired memory; `engramdown list --archived` shows them."""
    cortex = open_cortex(place)
    item = find_archived(cortex, entry_id)
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    entry = cortex.restore(item.entry.id)
    lines = [line((views.restored(entry), "good"), hang=2)]
    outcome.show(lines, entry_data(entry, folders(cortex)))


_STDIN = "-"


def erase(place: Place, names: Sequence[str]) -> None:
    """Erase memories, or what standard input says if one of ``names`` is ``-``."""
    options = commands.given()
    cortex = open_cortex(place)
    words = [read_stdin().rstrip("\n")] if _STDIN in names else []
    ids = [name for name in names if name != _STDIN]
    told = cortex.review.erase(ids, words=words, pieces=options["pieces"], dry_run=True)
    user_input.check(views.NEEDS_YES)
    if not options["dry_run"]:
        if not options["yes"]:
            output.screen().show([*_texts(cortex, told), *_lines(told)])
        user_input.ask(views.ASK_ERASE)
        told = cortex.review.erase(ids, words=words, pieces=options["pieces"])
    if options["as_json"]:
        output.print_json(_data(told, dry_run=options["dry_run"]))
        return
    screen = output.screen()
    if options["dry_run"]:
        screen.show([line((messages.DRY_RUN, "warn"))])
    screen.show(_lines(told))


def _texts(cortex: Cortex, told: Erased) -> Iterator[Line]:
    """Yield what the memories say, for the person who is asked."""
    ids = {gone.id for gone in told.memories}
    for entry in cortex.entries():
        if entry.id in ids:
            yield line((visible(entry.text), "strong"), *beside(entry.comments), hang=2)
    for each in told.shared:
        for number, text in _left(each):
            yield line((views.erased_left(number, on_screen(text)), "warn"), hang=2)


def _left(shared: Shared) -> Iterator[tuple[int, str]]:
    """Yield the lines that share some words and stay, each with its number."""
    rows = shared.path.read_text(encoding="utf-8", errors="replace").split("\n")
    if not shared.session:
        yield from ((number, rows[number - 1]) for number in shared.lines)
        return
    for episode in filter(None, map(read_line, (row.encode() for row in rows))):
        if episode.seq in shared.lines:
            yield episode.seq, episode.text


def _lines(told: Erased) -> Iterator[Line]:
    yield line((views.erased(told), "good" if told.changed else ""), hang=2)
    if told.steps:
        yield line((views.erased_steps(told.steps), "dim"), indent=2)
    for scope, held in told.lines:
        yield line((views.erased_lines(scope, held), "dim"), indent=2)
    for path in told.files:
        yield line((str(path), "dim"), indent=2)
    if told.stays:
        yield line((views.erased_stays(told.stays), "warn"), indent=2)
    if told.shared:
        yield line((views.erased_shares(told.shared), "warn"), indent=2)
    for each in told.shared:
        yield line((views.erased_shared(each), "dim"), indent=4)
    for what in told.unreached:
        yield line((views.not_reached(what), "warn"), indent=2)
    for reason in told.left:
        yield line((views.erased_later(reason), "bad"), indent=2)


def _data(told: Erased, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "erased": told.changed,
        "memories": [gone._asdict() for gone in told.memories],
        "versions": told.versions,
        "steps": told.steps,
        "lines": [{"scope": scope, **held._asdict()} for scope, held in told.lines],
        "files": [str(Path(path)) for path in told.files],
        "stays": list(told.stays),
        "shared": [{**each._asdict(), "path": str(each.path)} for each in told.shared],
        "unreached": list(told.unreached),
        "left": list(told.left),
    }
