"""``engramdown context``: what a model sees of memory, and why, as text or as a page.

Into a pipe or a file the bytes are exactly those of
:meth:`engramdown.Cortex.build_memory_context`; a terminal shows characters that could fool it as
what they are. ``--write`` keeps a copy in a page such as AGENTS.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from engramdown import MemoryContext, serializers
from engramdown.cli import commands, output, process, review
from engramdown.cli.access import open_cortex
from engramdown.cli.layout import Line, line, table
from engramdown.cli.output import RefusalError, file_diff, read_stdin
from engramdown.cli.process import Place
from engramdown.cli.views import counted, hit_lines
from engramdown.engram import Scope, fold
from engramdown.errors import UnfitFileError
from engramdown.integrations import BLOCK_BUDGET, Change, page, read, write
from engramdown.markdown import BlockError, Placed, parse, put_in, taken_out
from engramdown.tokens import estimate_tokens

NEEDS_WRITE: Final = (
    "--budget, --check, --remove, --replace, --dry-run, --global and --project belong to --write "
    "FILE"
)
NOTHING: Final = "There is nothing in memory to write; `engramdown remember` begins it."
ONE_OF_THREE: Final = "--check, --remove and --replace are three things; give one"
ALONE: Final = "--write takes no message and no other view of memory"
_OF_A_FILE: Final = ("check", "remove", "replace", "scope", "dry_run")
_OTHERS: Final = ("message", "explain", "as_of")


@click.command(cls=commands.WordsCommand)
@click.argument("message", metavar="[MESSAGE]...", nargs=-1)
@click.option(
    "--explain", is_flag=True, help="Show each section's tokens, budget, what is left out."
)
@click.option(
    "--write", "page", type=commands.PATH, metavar="FILE", help="Keep memory in a block of FILE."
)
@click.option(
    "--budget", type=click.IntRange(0), metavar="TOKENS", help="With --write: what it may cost."
)
@click.option("--check", is_flag=True, help="With --write: only see whether FILE is up to date.")
@click.option("--remove", is_flag=True, help="With --write: take the block out of FILE.")
@click.option(
    "--replace",
    is_flag=True,
    help="With --write: also remove lines of FILE that the block repeats.",
)
@commands.scope_options("With --write: what holds for all projects.", "With --write: this project.")
@click.option("--dry-run", is_flag=True, help="With --write: show the diff, and write nothing.")
@commands.as_of_option()
@commands.shows
def context(place: Place, /, *, message: tuple[str, ...], as_json: bool, **_: object) -> None:
    """Print what a model sees of memory, ranked for MESSAGE; "-" reads it from stdin.

    --write keeps memory in a file that agents read by themselves; no byte outside its block
    changes.
    """
    chosen = commands.given()
    if chosen["page"] is not None:
        if any(chosen[name] for name in _OTHERS):
            raise click.UsageError(ALONE)
        _write_page(place, chosen["page"])
        return
    if chosen["budget"] is not None or any(chosen[name] for name in _OF_A_FILE):
        raise click.UsageError(NEEDS_WRITE)
    cortex = open_cortex(place, as_of=chosen["as_of"])
    # A person also learns what came with git; what is printed stays what a model sees.
    if process.is_terminal(sys.stderr) and (count := len(cortex.review.arrivals())):
        output.note(review.came_briefly(count))
    asked = read_stdin() if message == ("-",) else " ".join(message)
    made = cortex.build_memory_context(asked, scratchpad=True)
    if as_json:
        output.print_json(serializers.context_data(made, serializers.folders(cortex)))
    elif chosen["explain"]:
        output.show(_explain_memory(made))
    else:
        output.print_exact(made if made.endswith("\n") else f"{made}\n")


def _explain_memory(made: MemoryContext) -> Iterator[Line]:
    # A title without what all headings begin with.
    sections = [(each, each.heading.rpartition("— ")[2] or each.name) for each in made.sections]
    rows: list[Sequence[str]] = [("tokens", "budget", "shown", "left out", "section")]
    for section, title in sections:
        numbers = section.tokens, section.budget, len(section.shown), len(section.left_out)
        rows.append((*map(str, numbers), title))
    yield from table(rows)
    total = f"{estimate_tokens(made)} tokens in all, with the words around the sections"
    yield line((total, "strong"))
    for section, title in sections:
        if section.left_out:
            yield line()
            yield line((f"Left out of {title}", "where"))
            yield from hit_lines(section.left_out)


# ---- memory in a page ----


def _write_page(place: Place, path: Path) -> None:
    """Do what the options of ``context --write`` say.

    Raises:
        UsageError: If options do not go together.
        RefusalError: If ``--check`` finds that the file does not say what memory says.
        UnfitFileError: If the block cannot be found for sure.
    """
    options = commands.given()
    if sum(bool(options[name]) for name in ("check", "remove", "replace")) > 1:
        raise click.UsageError(ONE_OF_THREE)
    text = ""
    if not options["remove"]:
        scope: Scope = options["scope"] or "project"
        cortex = open_cortex(place, "project" if scope == "project" else "any")
        text = page(cortex, scope, BLOCK_BUDGET if options["budget"] is None else options["budget"])
    # A link such as CLAUDE.md to AGENTS.md stays in its folder; one that leaves it is refused.
    original = read(path, path.absolute().parent)
    before = original.before or b""
    try:
        if options["replace"] and text:
            after = _replaced(before, text)
        else:
            after = put_in(before, text, force=options["check"])
    except BlockError as error:
        raise UnfitFileError(str(path), str(error)) from error
    change = original._replace(after=after)
    is_dry = options["dry_run"] or options["check"]
    if not is_dry:
        write(change)
    repeated = _repeated_lines(change, text)
    data = {
        "file": str(change.path),
        "changed": change.is_new,
        "twice": repeated,
        "written": change.is_new and not is_dry,
        "tokens": estimate_tokens(text),
        "text": text,
    }
    commands.show(_page_lines(change, text, repeated, dry=is_dry), data)
    if options["check"] and change.is_new:
        stale = f"is not what memory says; run `engramdown context --write {path}`"
        raise RefusalError(f"{path}: {stale}")


def _replaced(data: bytes, text: str) -> bytes:
    """Return a file with the block in the place of the first of the lines that it repeats."""
    outside = taken_out(data)
    repeated = {each.at for each in _repeated(outside, text)}
    # Without any the block stays where it is, so that doing it again changes nothing.
    if not repeated:
        return put_in(data, text)
    blocks = [block.raw for block in parse(outside.decode("utf-8", "surrogateescape")).blocks]
    first = min(repeated)
    rest = "".join(raw for at, raw in enumerate(blocks) if at > first and at not in repeated)
    head = "".join(blocks[:first]).encode("utf-8", "surrogateescape")
    return put_in(head, text) + rest.encode("utf-8", "surrogateescape")


def _repeated(data: bytes, text: str) -> list[Placed]:
    """Return the list items and paragraphs of a file that say the same as its block."""
    said = {fold(placed.block.text) for placed in parse(text).placed()}
    placed = parse(data.decode("utf-8", "surrogateescape")).placed()
    return [each for each in placed if fold(each.block.text) in said]


def _repeated_lines(change: Change, text: str) -> list[int]:
    """Return the lines of a file, as it would be, that say the same as its block."""
    try:
        outside = taken_out(change.after, force=True) if text else b""
    except BlockError:
        return []
    return [each.line for each in _repeated(outside, text)]


def _page_lines(change: Change, text: str, repeated: list[int], *, dry: bool) -> Iterator[Line]:
    options, path = commands.given(), change.path
    if not (text or options["remove"]):
        yield line((NOTHING, "warn"), hang=2)
    if repeated:
        said = (
            f"{counted(len(repeated), 'line')} from {path}:{repeated[0]} on say the same as the "
            "block, so whoever reads the file gets them twice; "
            f"`engramdown context --write {path} --replace` removes them"
        )
        yield line((said, "warn"), hang=2)
    if not change.is_new:
        done = f"{path} says what memory says." if text else f"{path} has no block of Engramdown."
        yield line((done, "good"), hang=2)
        return
    if dry or options["replace"]:
        before, after = (
            (data or b"").decode("utf-8", "surrogateescape")
            for data in (change.before, change.after)
        )
        yield from file_diff(path, before, after, str(path))
    if options["check"]:
        return
    done = f"The block {'would be' if dry else 'is'} gone from {path}."
    if text:
        done = f"Memory {'would be' if dry else 'is'} in {path}."
    yield line((done, "good"), hang=2)
