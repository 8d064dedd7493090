"""``engramdown show soul`` and ``edit profile``: who is who, and the file that tells it.

Promises: the file that is shown, named and opened is the one that is really used; no id of a memory
can be taken for one of these names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from engramdown import Cortex
from engramdown.cli import output
from engramdown.cli import who_messages as said
from engramdown.cli.access import open_cortex
from engramdown.cli.layout import Line, diff, line, whole
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_file
from engramdown.cortex.identity import Page
from engramdown.hippocampus.placement import PROFILE
from engramdown.hippocampus.snapshot import SOUL, meant


def is_page(name: str) -> bool:
    """Whether an argument means a page: ``soul``, ``profile``, or how its file may be called.

    >>> [name for name in ("soul", "SOUL.md", "profile", "user.md", "k3v9q2ht") if is_page(name)]
    ['soul', 'SOUL.md', 'profile', 'user.md']
    """
    return _file(name) in (SOUL, PROFILE)


def show_page(place: Place, name: str, rev: str, *, as_json: bool) -> None:
    """Show a page, and which file it is.

    Raises:
        click.UsageError: Of a commit.
        RefusalError: There is none.
    """
    if rev:
        raise click.UsageError(said.NO_TIME)
    cortex = open_cortex(place)
    page = _page_of(cortex, name)
    if as_json:
        output.print_json(_data(page))
    elif page.is_there or page.also:
        output.screen().show(_lines(page))
    if not page.is_there and not page.also and not cortex.unread():
        raise RefusalError(said.none(page))


def edit_page(place: Place, name: str, words: str, *, as_json: bool, dry_run: bool) -> None:
    """Open the file of a page in a person's editor.

    Raises:
        click.UsageError: A text was given, or there is no editor.
        RefusalError: There is none.
    """
    if words:
        raise click.UsageError(said.NO_TEXT)
    before = _page(place, name)
    if before.path is None or not before.is_there:
        raise RefusalError(said.none(before))
    if not dry_run:
        edit_file(before.path, said.instead(before))
    # Opened again, so that what was changed is taken in.
    after = before if dry_run else _page(place, name)
    changed = after != before
    if as_json:
        extra = {"dry_run": True} if dry_run else {}
        output.print_json({**_data(after), "changed": changed, **extra})
    elif dry_run:
        output.screen().show([whole(said.opens(before))])
    elif changed:
        output.screen().show([whole((said.changed(after), "good"))])
        output.screen().show(diff(before.text, after.text, before.path.name))
    else:
        output.screen().show([line(said.UNCHANGED)])


def _file(name: str) -> str:
    lowered = name.lower()
    return meant(lowered if lowered.endswith(".md") else f"{lowered}.md")


def _page(place: Place, name: str) -> Page:
    return _page_of(open_cortex(place), name)


def _page_of(cortex: Cortex, name: str) -> Page:
    pages = cortex.identity().pages
    return pages[0 if _file(name) == SOUL else 1]


def _lines(page: Page) -> Iterator[Line]:
    if page.is_there:
        yield whole((str(page.path), "where"))
        yield line((said.where(page), "dim"))
        yield line()
        yield whole(page.text.rstrip("\r\n"))
    if page.also:
        yield line()
        yield from (whole((said.also(path), "where")) for path in page.also)
    if page.aside:
        yield line()
        yield from (whole((said.aside(page, file), "warn")) for file in page.aside)


def _data(page: Page) -> dict[str, Any]:
    return {
        "state": "page",
        "name": page.name,
        "scope": page.scope,
        "path": str(page.path or ""),
        "is_there": page.is_there,
        "text": page.text,
        "also_used": [str(path) for path in page.also],
        "not_used": [{"path": str(file.path), "why": file.why} for file in page.aside],
    }
