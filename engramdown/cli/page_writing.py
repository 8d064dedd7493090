"""``engramdown context --write``: memory as a block in a file that agents read by themselves.

Promises: no byte outside the block changes; doing it again changes nothing; a file in which the
block cannot be found for sure is refused, with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from engramdown.cli import output
from engramdown.cli import page_messages as said
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import given
from engramdown.cli.layout import Line, line
from engramdown.cli.messages import DRY_RUN
from engramdown.cli.output import RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.engram import Scope, fold
from engramdown.errors import UnfitFileError
from engramdown.integrations.agents_md import BUDGET, Change, page, read, write
from engramdown.markdown.document import Placed, parse
from engramdown.markdown.marked_block import BlockError, put_in, taken_out
from engramdown.tokens import estimate_tokens


def write_page(place: Place, path: Path) -> None:
    """Do what the options of ``context --write`` say.

    Args:
        place: Where memory is.
        path: The file.

    Raises:
        UsageError: If options do not go together.
        RefusalError: If ``--check`` finds that the file does not say what memory says.
        UnfitFileError: If the block cannot be found for sure.
    """
    options = given()
    if sum(map(bool, (options["check"], options["remove"], options["replace"]))) > 1:
        raise click.UsageError(said.ONE_OF_TWO)
    text = "" if options["remove"] else _page(place, options)
    force = options["force"] or options["check"]
    change = _planned(path, text, force=force, replace=options["replace"])
    is_dry = options["dry_run"] or options["check"]
    if not is_dry:
        write(change)
    if options["as_json"]:
        output.print_json(_data(change, text, written=change.is_new and not is_dry))
    else:
        output.screen().show(_lines(change, text, dry=is_dry))
    if options["check"] and change.is_new:
        raise RefusalError(said.stale(path))


def _page(place: Place, options: dict[str, Any]) -> str:
    scope: Scope = options["scope"] or "project"
    cortex = open_cortex(place, "project" if scope == "project" else "any")
    return page(cortex, scope, BUDGET if options["budget"] is None else options["budget"])


def _planned(path: Path, text: str, *, force: bool, replace: bool) -> Change:
    # A link such as CLAUDE.md to AGENTS.md stays in its folder; one that leaves it is refused.
    found = read(path, path.absolute().parent)
    try:
        if not (replace and text):
            return found._replace(after=put_in(found.before or b"", text, force=force))
        outside = taken_out(found.before or b"", force=force)
        if not _twice(outside, text):
            # The block stays where it is, so that doing it again changes nothing.
            return found._replace(after=put_in(found.before or b"", text, force=force))
        before, after = _without_twice(outside, text)
        return found._replace(after=put_in(before, text) + after)
    except BlockError as error:
        raise UnfitFileError(str(path), str(error)) from error


def _twice(data: bytes, text: str) -> list[Placed]:
    """Return the list items and paragraphs of a file without its block that the block says, too."""
    said = {fold(placed.block.text) for placed in parse(text).placed()}
    placed = parse(data.decode("utf-8", "surrogateescape")).placed()
    return [each for each in placed if fold(each.block.text) in said]


def _without_twice(data: bytes, text: str) -> tuple[bytes, bytes]:
    """Return what stands in front of the first item that the block says, and behind, without it."""
    document = parse(data.decode("utf-8", "surrogateescape"))
    gone = {each.at for each in _twice(data, text)}
    first = min(gone, default=len(document.blocks))
    before, after = (
        "".join(block.raw for at, block in blocks if at not in gone)
        for blocks in (
            [*enumerate(document.blocks)][:first],
            [*enumerate(document.blocks)][first:],
        )
    )
    return before.encode("utf-8", "surrogateescape"), after.encode("utf-8", "surrogateescape")


def _said_twice(change: Change, text: str) -> list[int]:
    """Return the lines of a file, as it would be, that say what its block says."""
    if not text:
        return []
    try:
        outside = taken_out(change.after, force=True)
    except BlockError:
        return []
    return [each.line for each in _twice(outside, text)]


def _lines(change: Change, text: str, *, dry: bool) -> Iterator[Line]:
    options = given()
    if not (text or options["remove"]):
        yield line((said.NOTHING, "warn"), hang=2)
    twice = _said_twice(change, text)
    if twice:
        yield line((said.twice(change.path, twice), "warn"), hang=2)
    if not change.is_new:
        known = said.fresh if text else said.nothing_to_take_out
        yield line((known(change.path), "good"), hang=2)
        return
    if dry or options["replace"]:
        before, after = (
            (data or b"").decode("utf-8", "surrogateescape")
            for data in (change.before, change.after)
        )
        yield from file_diff(change.path, before, after, str(change.path))
    if options["check"]:
        return
    done = said.written(change.path, remove=not text, dry=dry)
    yield line((done, "good"), hang=2)
    if dry:
        yield line((DRY_RUN, "dim"))


def _data(change: Change, text: str, *, written: bool) -> dict[str, Any]:
    return {
        "file": str(change.path),
        "changed": change.is_new,
        "twice": _said_twice(change, text),
        "written": written,
        "tokens": estimate_tokens(text),
        "text": text,
    }
