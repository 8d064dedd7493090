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
from engramdown.cli.changing import file_diff
from engramdown.cli.codes import RefusalError
from engramdown.cli.layout import Line, line
from engramdown.cli.messages import DRY_RUN
from engramdown.cli.opening import open_cortex
from engramdown.cli.options import Place, given
from engramdown.engram import Scope
from engramdown.errors import UnfitFileError
from engramdown.hooks.foreign import Change, read, write
from engramdown.hooks.page import BUDGET, page
from engramdown.tokens import estimate_tokens
from engramdown.wording.block import BlockError, put_in

__all__ = ["write_page"]


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
    if options["check"] and options["remove"]:
        raise click.UsageError(said.ONE_OF_TWO)
    text = "" if options["remove"] else _page(place, options)
    change = _planned(path, text, force=options["force"] or options["check"])
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


def _planned(path: Path, text: str, *, force: bool) -> Change:
    # A link such as CLAUDE.md to AGENTS.md stays in its folder; one that leaves it is refused.
    found = read(path, path.absolute().parent)
    try:
        return found._replace(after=put_in(found.before or b"", text, force=force))
    except BlockError as error:
        raise UnfitFileError(str(path), str(error)) from error


def _lines(change: Change, text: str, *, dry: bool) -> Iterator[Line]:
    options = given()
    if not (text or options["remove"]):
        yield line((said.NOTHING, "warn"), hang=2)
    if not change.is_new:
        known = said.fresh if text else said.nothing_to_take_out
        yield line((known(change.path), "good"), hang=2)
        return
    if dry:
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
        "written": written,
        "tokens": estimate_tokens(text),
        "text": text,
    }
