"""``engramdown edit``, ``forget`` and ``restore``: change single memories.

All ids are looked up before anything is changed. What is forgotten can be restored, unless it is
erased with ``forget --forever``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from engramdown import Cortex
from engramdown.cli import commands, messages, output, user_input, views
from engramdown.cli.access import find_archived, find_entry, folders, open_cortex
from engramdown.cli.layout import Line, diff, line, pick
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
        _erase(place, entry_ids)
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


def _erase(place: Place, names: Sequence[str]) -> None:
    """Erase memories, or what standard input says if one of ``names`` is ``-``."""
    options = commands.given()
    cortex = open_cortex(place)
    words = [read_stdin().rstrip("\n")] if "-" in names else []
    ids = [name for name in names if name != "-"]
    done = cortex.review.erase(ids, words=words, pieces=options["pieces"], dry_run=True)
    user_input.check(views.NEEDS_YES)
    if not options["dry_run"]:
        if not options["yes"]:
            output.show([*_text_lines(cortex, done), *_erased_lines(done)])
        user_input.ask(views.ASK_ERASE)
        done = cortex.review.erase(ids, words=words, pieces=options["pieces"])
    head = [line((messages.DRY_RUN, "warn"))] if options["dry_run"] else []
    data = {
        "dry_run": options["dry_run"],
        "erased": done.changed,
        "memories": [gone._asdict() for gone in done.memories],
        **pick(done, "versions steps"),
        "lines": [{"scope": scope, **held._asdict()} for scope, held in done.lines],
        "files": [str(path) for path in done.files],
        "stays": list(done.stays),
        "shared": [{**each._asdict(), "path": str(each.path)} for each in done.shared],
        "unreached": list(done.unreached),
        "left": list(done.left),
    }
    commands.show([*head, *_erased_lines(done)], data)


def _text_lines(cortex: Cortex, erased: Erased) -> Iterator[Line]:
    """Yield what the memories say, for the person who is asked."""
    ids = {gone.id for gone in erased.memories}
    for entry in cortex.entries():
        if entry.id in ids:
            yield line((visible(entry.text), "strong"), *beside(entry.comments), hang=2)
    for each in erased.shared:
        for number, text in _shared_lines(each):
            yield line((views.erased_left(number, on_screen(text)), "warn"), hang=2)


def _shared_lines(shared: Shared) -> Iterator[tuple[int, str]]:
    """Yield the lines that share some words and stay, each with its number."""
    rows = shared.path.read_text(encoding="utf-8", errors="replace").split("\n")
    if not shared.session:
        yield from ((number, rows[number - 1]) for number in shared.lines)
        return
    for episode in filter(None, map(read_line, (row.encode() for row in rows))):
        if episode.seq in shared.lines:
            yield episode.seq, episode.text


def _erased_lines(erased: Erased) -> Iterator[Line]:
    yield line((views.erased(erased), "good" if erased.changed else ""), hang=2)
    rows = [(views.erased_steps(erased.steps), "dim")] if erased.steps else []
    rows += [(views.erased_lines(scope, held), "dim") for scope, held in erased.lines]
    rows += [(str(path), "dim") for path in erased.files]
    rows += [(views.erased_stays(erased.stays), "warn")] if erased.stays else []
    rows += [(views.erased_shares(erased.shared), "warn")] if erased.shared else []
    yield from (line(row, indent=2) for row in rows)
    for each in erased.shared:
        yield line((views.erased_shared(each), "dim"), indent=4)
    for what in erased.unreached:
        yield line((views.not_reached(what), "warn"), indent=2)
    for reason in erased.left:
        yield line((views.erased_later(reason), "bad"), indent=2)
