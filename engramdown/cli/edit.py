"""``engramdown remember``, ``edit``, ``forget`` and ``restore``: write and change single memories.

What is remembered goes through the gate: it is said where it stands, or why nothing was written. A
secret is never repeated. All ids are looked up before anything is changed. What is forgotten can be
restored, unless it is erased with ``forget --forever``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import commands, messages, output, process, user_input, views
from engramdown.cli.access import find_archived, find_entry, folders, open_cortex
from engramdown.cli.layout import Line, diff, line, pick
from engramdown.cli.output import REFUSED, STORE_FAILED, Outcome
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_text, read_stdin
from engramdown.cli.views import beside, entry_data
from engramdown.clock import today
from engramdown.engram import BASES, CONFIDENCES, KINDS, SOURCES, Confidence, Engram, Kind, Source
from engramdown.gate import kind_of
from engramdown.kinds import KIND_TABLE, scope_for
from engramdown.language import on_screen, visible

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.gate import Erased, Shared

_STYLES: Final = {"encoded": "good", "merged": "good", "queued": "warn"}
_WRITTEN: Final = ("encoded", "merged", "queued")
_BULLETS: Final = ("-", "*", "+")
PROFILE_IS_GLOBAL: Final = (
    "a fact about you is kept for all projects; leave out --project, or say --lesson"
)


def _kind_flags(command: commands.Command) -> commands.Command:
    """Add ``--always`` and its siblings as the argument ``kinds``."""
    for kind in reversed(KINDS):
        flag = click.option(f"--{kind}", kind, is_flag=True, help=KIND_TABLE[kind].help)
        command = flag(command)
    return command


@click.command(cls=commands.WordsCommand)
@click.argument("words", metavar="TEXT...", nargs=-1, required=True)
@_kind_flags
@click.option("--kind", type=click.Choice(KINDS), help="The kind by its name.")
@commands.scope_options("Keep it for all projects.", "Keep it in this project (default).")
@click.option("--topic", default="", metavar="TOPIC", help="Also file it under a topic.")
@click.option(
    "--confidence",
    type=click.Choice(CONFIDENCES),
    help="How sure it is (default: high from the user, else medium).",
)
@click.option("--source", type=click.Choice(SOURCES), default="user", help="Who says so.")
@click.option("--basis", type=click.Choice(BASES), help="How it is known.")
@click.option("--expires", default="", metavar="DATE", help="The last day it holds, YYYY-MM-DD.")
@click.option("--from", "origin", default="", metavar="ORIGIN", help="Where it was learned.")
@click.option("--via", type=click.Choice(["tool", "web"]), help="Text that came from outside.")
@commands.json_option
@commands.dry_run_option
@commands.pass_place
def remember(place: Place, /, *, as_json: bool, dry_run: bool, **_: object) -> None:
    """Remember TEXT; "-" reads it from stdin.

    Without an option the words say the kind: "Always ...", "Never ...", "When ..." are rules,
    "My name is ..." and "I prefer ..." facts about you, anything else a lesson. Facts about you
    are kept for all projects.
    """
    engram = _engram(commands.given())
    if engram.expires and engram.expires < today().isoformat():
        over = f"{engram.expires} is over; name today or a later day, YYYY-MM-DD"
        raise click.UsageError(f"--expires: {over}")
    cortex = open_cortex(place, "project" if engram.scope == "project" else "nothing")
    if commands.given()["scope"] == "global":
        cortex.scopes.allow_global()
    outcome = Outcome(cortex, as_json=as_json, dry_run=dry_run)
    receipt = cortex.propose([engram], by_person=True)[0]
    written = receipt.action in _WRITTEN
    sentence = messages.receipt(receipt)
    lines = [line((sentence, _STYLES[receipt.action]), hang=2)] if written else []
    outcome.show(lines, views.receipt_data(receipt))
    if not written:
        process.complain(sentence)
        raise Exit(STORE_FAILED if receipt.action == "failed" else REFUSED)


def _engram(options: dict[str, Any]) -> Engram:
    words: tuple[str, ...] = options["words"]
    text = read_stdin() if words == ("-",) else " ".join(words)
    # Who types a line of a list means what stands in it; several lines of one are a text.
    mark, space, rest = text.lstrip().partition(" ")
    if mark in _BULLETS and space and "\n" not in rest.strip():
        text = rest
    chosen = {kind for kind in KINDS if options[kind] or options["kind"] == kind}
    if len(chosen) > 1:
        several = " and ".join(sorted(chosen))
        raise click.UsageError(f"a memory has one kind, not {several}; give one of these options")
    kind: Kind = chosen.pop() if chosen else kind_of(text)
    if options["scope"] and options["scope"] not in KIND_TABLE[kind].scopes:
        raise click.UsageError(PROFILE_IS_GLOBAL)
    source: Source = options["source"]
    sure: Confidence = "high" if source == "user" else "medium"
    return Engram(
        text,
        kind,
        options["scope"] or scope_for(kind, "project"),
        options["confidence"] or sure,
        options["topic"],
        source,
        basis=options["basis"] or "",
        origin=options["origin"],
        via=options["via"] or "",
        expires=options["expires"],
    )


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
    # Imported here: whoever remembers needs nothing of what shows a page.
    from engramdown.cli.show import edit_page, is_page

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
    from engramdown.transcripts import read_line

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
