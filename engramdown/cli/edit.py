"""``engramdown remember``, ``edit``, ``forget`` and ``restore``: write and change single memories.

A new memory goes through the gate: the command prints where it is, or why nothing was written. A
secret is never repeated. All ids are looked up before anything is changed. A forgotten memory can
be restored, unless it was erased with ``forget --forever``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import serializers
from engramdown.cli import commands, output, process, views
from engramdown.cli.access import find_archived, find_entry, open_cortex
from engramdown.cli.layout import Line, diff, line
from engramdown.cli.output import REFUSED, STORE_FAILED, edit_text, read_stdin
from engramdown.cli.process import Place
from engramdown.cli.views import beside, counted
from engramdown.clock import today
from engramdown.engram import BASES, CONFIDENCES, KINDS, SOURCES, Confidence, Engram, Source
from engramdown.gate import kind_of, reworded
from engramdown.kinds import KIND_TABLE, scope_for
from engramdown.language import on_screen, visible

if TYPE_CHECKING:
    from engramdown import Cortex, Entry
    from engramdown.gate import Erased, Shared

ONLY_FOREVER: Final = "--pieces and --yes go with --forever"
NEEDS_YES: Final = (
    "nothing brings back erased words; look with --dry-run, then give --yes, or run it in a "
    "terminal to be asked"
)
# At most so many line numbers are printed.
_MOST_NUMBERS: Final = 20
_STYLES: Final = {"encoded": "good", "merged": "good", "queued": "warn"}
_WRITTEN: Final = ("encoded", "merged", "queued")
_BULLETS: Final = ("-", "*", "+")
# Words that name their kind themselves.
_SAYS_KIND: Final = re.compile(
    r"\W*(?:always|never|when(?:ever)?|if|do(?:n['\u2019]?t| not)|my|i(?:['\u2019]m)?|[\w ]{1,40}:)"
    r"(?!\w)",
    re.IGNORECASE,
)
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
    "--confidence", type=click.Choice(CONFIDENCES), help="How sure (default: high from the user)."
)
@click.option("--source", type=click.Choice(SOURCES), default="user", help="Who says so.")
@click.option("--basis", type=click.Choice(BASES), help="How it is known.")
@click.option("--expires", default="", metavar="DATE", help="The last day it holds, YYYY-MM-DD.")
@click.option("--from", "origin", default="", metavar="ORIGIN", help="Where it was learned.")
@click.option(
    "--cites",
    multiple=True,
    metavar="PLACE",
    help="The code it is about: src/a.py#L10-20. When that changes, the memory is marked.",
)
@click.option("--via", type=click.Choice(["tool", "web"]), help="Text that came from outside.")
@commands.changes
def remember(place: Place, /, **_: object) -> None:
    """Remember TEXT; "-" reads it from stdin.

    Without an option the words say the kind: "Always ...", "Never ...", "When ..." are rules,
    "My name is ..." and "I prefer ..." facts about you, anything else a lesson. Facts about you
    are kept for all projects. A ban is filed as what is banned, "Stop using emojis" as "Using
    emojis"; an option that names the kind keeps the words.
    """
    text = _text(commands.given()["words"])
    engram = _engram(text, commands.given())
    if engram.expires and engram.expires < today().isoformat():
        over = f"{engram.expires} is over; name today or a later day, YYYY-MM-DD"
        raise click.UsageError(f"--expires: {over}")
    cortex = open_cortex(place, "project" if engram.scope == "project" else "nothing")
    if engram.cites:
        root = cortex.scopes.stores[-1].root.parent
        engram = replace(
            engram, cites=",".join(_from(root, it) for it in commands.given()["cites"])
        )
    if commands.given()["scope"] == "global":
        cortex.scopes.allow_global()
    commands.dry_run_if_asked(cortex)
    receipt = cortex.propose([engram], by_person=True)[0]
    written = receipt.action in _WRITTEN
    sentence = views.receipt(receipt)
    lines = [line((sentence, _STYLES[receipt.action]), hang=2)] if written else []
    if written and (note := _how_read(text, engram)):
        lines.append(line((note, "dim"), hang=2))
    commands.show_change(cortex, lines, serializers.receipt_data(receipt))
    if not written:
        process.complain(sentence)
        raise Exit(STORE_FAILED if receipt.action == "failed" else REFUSED)


def _from(project: Path, cited: str) -> str:
    """Return a place that is named from the working directory as one of the project."""
    path, mark, lines = cited.partition("#")
    return Path(os.path.relpath(path or ".", os.path.realpath(project))).as_posix() + mark + lines


def _text(words: tuple[str, ...]) -> str:
    text = read_stdin() if words == ("-",) else " ".join(words)
    # A single line of a list means the text of its item; several lines are a text.
    mark, space, rest = text.lstrip().partition(" ")
    return rest if mark in _BULLETS and space and "\n" not in rest.strip() else text


def _how_read(text: str, engram: Engram) -> str:
    """Return how words that name no kind were read, and how to say otherwise, or ``""``."""
    if engram.text != text:
        return f'Reworded to "{engram.text}"; --{engram.kind} keeps your words.'
    options = commands.given()
    is_told = options["kind"] or any(options[kind] for kind in KINDS)
    if is_told or engram.kind == "lesson" or _SAYS_KIND.match(text):
        return ""
    read = "a fact about you" if engram.kind == "profile" else "a rule"
    return f"It reads as {read}; another kind is an option, such as --lesson."


def _engram(text: str, options: dict[str, Any]) -> Engram:
    chosen = {kind for kind in KINDS if options[kind] or options["kind"] == kind}
    if len(chosen) > 1:
        several = " and ".join(sorted(chosen))
        raise click.UsageError(f"a memory has one kind, not {several}; give one of these options")
    kind = next(iter(chosen), None) or kind_of(text)
    if options["scope"] and options["scope"] not in KIND_TABLE[kind].scopes:
        raise click.UsageError(PROFILE_IS_GLOBAL)
    source: Source = options["source"]
    sure: Confidence = "high" if source == "user" else "medium"
    return Engram(
        text if chosen else reworded(text, kind),
        kind,
        options["scope"] or scope_for(kind, "project"),
        options["confidence"] or sure,
        options["topic"],
        source,
        basis=options["basis"] or "",
        origin=options["origin"],
        via=options["via"] or "",
        cites=",".join(options["cites"]),
        expires=options["expires"],
    )


@click.command(cls=commands.WordsCommand)
@commands.id_argument
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@commands.changes
def edit(
    place: Place, /, *, entry_id: str, words: tuple[str, ...], dry_run: bool, **_: object
) -> None:
    """Change the text of a memory: to TEXT, or in your editor. Its id stays.

    The pages `soul` and `profile` are files of yours; `engramdown show soul` says which.
    """
    if (name := entry_id.lower().removesuffix(".md")) in ("soul", "profile"):
        raise click.UsageError(f"a page is a file; `engramdown show {name}` says where it is")
    cortex = open_cortex(place)
    entry = find_entry(cortex, entry_id)
    text = " ".join(words) if words else edit_text(entry.text, "give the new text behind the id")
    if not text.strip():
        retire = f"to retire the memory, run `engramdown forget {entry.id}`"
        raise click.UsageError(f"the text is empty; {retire}")
    commands.dry_run_if_asked(cortex)
    if text == entry.text:
        commands.show_change(cortex, [line(views.UNCHANGED)], {"changed": False, "id": entry.id})
        return
    updated = cortex.update(entry.id, text)
    lines = [line((f"Changed {_address(updated)}", "good"), hang=2)]
    if updated.id != entry.id:
        moved = f"its address changes with its text: {entry.id} is {updated.id} now."
        lines.append(line((f"It was written by hand, so {moved}", "dim"), hang=2))
    if not dry_run:
        lines += diff(f"{entry.text}\n", f"{updated.text}\n", updated.disk_file)
    data = serializers.changed_data(updated, serializers.folders(cortex))
    commands.show_change(cortex, lines, data)


@click.command()
@click.argument(
    "entry_ids", metavar="ID...", shell_complete=commands.complete_ids, nargs=-1, required=True
)
@click.option("--why", default="", metavar="REASON", help="Why, for the journal.")
@click.option("--forever", is_flag=True, help="Erase the words for good, everywhere.")
@click.option("--pieces", is_flag=True, help="With --forever: lines that share a few words, too.")
@click.option("--yes", is_flag=True, help="With --forever: do not ask.")
@commands.changes
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
        raise click.UsageError(ONLY_FOREVER)
    cortex = open_cortex(place)
    # A dictionary, because one memory may be named twice.
    entries = {entry.id: entry for entry in (find_entry(cortex, item) for item in entry_ids)}
    commands.dry_run_if_asked(cortex)
    gone = [cortex.forget(entry_id, options["why"]) for entry_id in entries]
    lines = []
    for entry in gone:
        back = f"`engramdown undo` or `engramdown restore {entry.id}` brings it back"
        said = f"Forgot {entry.id}, which was in {entry.disk_file}; {back}"
        lines.append(line((said, "good"), hang=2))
    data = serializers.forgotten_data(gone, serializers.folders(cortex))
    commands.show_change(cortex, lines, data)


@click.command()
@commands.id_argument
@commands.changes
def restore(place: Place, /, *, entry_id: str, **_: object) -> None:
    """Bring back a retired memory; `engramdown list --archived` shows them."""
    cortex = open_cortex(place)
    item = find_archived(cortex, entry_id)
    commands.dry_run_if_asked(cortex)
    entry = cortex.restore(item.entry.id)
    lines = [line((f"Restored in {_address(entry)}", "good"), hang=2)]
    data = serializers.entry_data(entry, serializers.folders(cortex))
    commands.show_change(cortex, lines, data)


def _address(entry: Entry) -> str:
    return f"{entry.disk_file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"


def _erase(place: Place, names: Sequence[str]) -> None:
    """Erase memories, or the words on standard input if one of ``names`` is ``-``."""
    options = commands.given()
    cortex = open_cortex(place)
    words = [read_stdin().rstrip("\n")] if "-" in names else []
    ids = [name for name in names if name != "-"]
    done = cortex.review.erase(ids, words=words, pieces=options["pieces"], dry_run=True)
    output.check(NEEDS_YES)
    if not options["dry_run"]:
        if not options["yes"]:
            output.show([*_text_lines(cortex, done), *_erased_lines(done)])
        output.ask("Erase this for ever? Nothing brings it back")
        done = cortex.review.erase(ids, words=words, pieces=options["pieces"])
    data = serializers.erased_data(done, dry_run=options["dry_run"])
    commands.show(_erased_lines(done), data)


def _text_lines(cortex: Cortex, erased: Erased) -> Iterator[Line]:
    """Yield the texts of the memories, for the person who is asked."""
    ids = {gone.id for gone in erased.memories}
    for entry in cortex.entries():
        if entry.id in ids:
            yield line((visible(entry.text), "strong"), *beside(entry.comments), hang=2)
    for each in erased.shared:
        for number, text in _shared_texts(each):
            yield line((f"stays: #{number} {on_screen(text)}", "warn"), hang=2)


def _shared_texts(shared: Shared) -> Iterator[tuple[int, str]]:
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
    done = "Erased" if erased.changed else "Would erase"
    places = dict.fromkeys(f"{each.id} ({each.scope} {each.file})" for each in erased.memories)
    said = f"{done} the words, which are not a memory here"
    if places:
        earlier = erased.versions - 1
        also = f", with {counted(earlier, 'more text')} that it had" if earlier else ""
        said = f"{done} {', '.join(places)}{also}"
    yield line((said, "good" if erased.changed else ""), hang=2)
    rows = []
    if erased.steps:
        steps = f"{counted(erased.steps, 'step')} without the words, no longer undoable"
        rows.append((f"history.jsonl: {steps}", "dim"))
    for scope, held in erased.lines:
        part = len(held.seqs) - held.whole
        some = f" ({part} with only a part of the words)" if part else ""
        lines = f"{counted(len(held.seqs), 'line')} emptied{some}: {_numbers(held.seqs)}"
        rows.append((f"{scope} transcript {held.session}: {lines}", "dim"))
    rows += [(str(path), "dim") for path in erased.files]
    if erased.stays:
        text = f"kept, with some of the words: {', '.join(erased.stays)}; name them to erase them"
        rows.append((text, "warn"))
    yield from (line(row, indent=2) for row in rows)
    yield from _shared_lines(erased.shared)
    for what in erased.unreached:
        yield line((f"not reached: {what}", "warn"), indent=2)
    for reason in erased.left:
        yield line((f"not yet: {reason}; the next command tries again", "bad"), indent=2)


def _shared_lines(shared: Sequence[Shared]) -> Iterator[Line]:
    """Yield the lines that share a shorter run of words, and stay."""
    if count := sum(len(each.lines) for each in shared):
        lines = f"kept, with a few of the words: {counted(count, 'line')}"
        erases = "--pieces erases those of transcripts and notes, too"
        yield line((f"{lines}; {erases}", "warn"), indent=2)
    for each in shared:
        where = f"{each.scope} transcript {each.session}" if each.session else str(each.path)
        yield line((f"{where}: {_numbers(each.lines)}", "dim"), indent=4)


def _numbers(lines: Sequence[int]) -> str:
    more = " …" if len(lines) > _MOST_NUMBERS else ""
    return " ".join(f"#{number}" for number in lines[:_MOST_NUMBERS]) + more
