"""``engramdown list`` and ``engramdown show``: memory as it stands.

Promises: neither changes what it shows; both read well in 80 columns and stay readable in fewer.
"""

from __future__ import annotations

import sys
from typing import Any

import click
from click.exceptions import Exit

from engramdown import Cortex, Entry, Proposal
from engramdown.cli import output, process, views
from engramdown.cli.access import Found, find_anywhere, folders, open_cortex, raw_text
from engramdown.cli.commands import given, id_argument, json_option, pass_place
from engramdown.cli.filtering import Filter
from engramdown.cli.layout import line
from engramdown.cli.output import REFUSED
from engramdown.cli.process import Place
from engramdown.cli.views import archived_lines, full_lines, grouped_lines
from engramdown.cli.who import is_page, show_page
from engramdown.clock import today
from engramdown.engram import CONFIDENCES, KINDS, SCOPES, SOURCES


@click.command("list")
@click.option("--kind", type=click.Choice(KINDS), multiple=True, help="Only of this kind.")
@click.option("--scope", type=click.Choice(SCOPES), multiple=True, help="Only of this scope.")
@click.option("--topic", metavar="TOPIC", default="", help="Only about this topic.")
@click.option("--confidence", type=click.Choice(CONFIDENCES), multiple=True, help="Only so sure.")
@click.option("--source", type=click.Choice(SOURCES), multiple=True, help="Only from this source.")
@click.option("--older", type=click.IntRange(0), metavar="DAYS", help="Only older than DAYS days.")
@click.option("--newer", type=click.IntRange(0), metavar="DAYS", help="Only of the last DAYS days.")
@click.option("--archived", is_flag=True, help="What was retired instead, with the reason.")
@json_option
@pass_place
def list_command(place: Place, /, *, archived: bool, as_json: bool, **_: object) -> None:
    """List memories, file by file.

    A filter that is given several times lets any of its values pass. A memory without a date
    passes no filter by age.
    """
    wanted = Filter(**_filters())
    cortex = open_cortex(place)
    show_them = _show_archived if archived else _show_entries
    if not show_them(cortex, wanted, as_json=as_json):
        if cortex.unread():
            return  # What could not be read is said, and ends with its own code.
        process.complain(views.nothing_listed(filtered=bool(wanted), archived=archived))
        raise Exit(REFUSED)


@click.command()
@id_argument
@click.option("--at", "rev", metavar="REV", default="", help="As it was in a commit of git.")
@json_option
@pass_place
def show(place: Place, /, *, entry_id: str, rev: str, as_json: bool) -> None:
    """Show one memory in full: what is known about it, and its line as it stands in the file.

    ID is an id or the beginning of one: of a memory, of a proposal or of a retired memory. `soul`
    and `profile` show who the assistant is and who you are, and the file that is used.
    """
    if is_page(entry_id):
        show_page(place, entry_id, rev, as_json=as_json)
        return
    if rev:
        from engramdown.cli.earlier import show_at

        show_at(place, entry_id, rev, as_json=as_json)
        return
    cortex = open_cortex(place)
    found = find_anywhere(cortex, entry_id)
    if as_json:
        output.print_json(_full_data(cortex, found))
        return
    raw = _raw(cortex, found) if isinstance(found, Entry) else ""
    output.screen().show(full_lines(found, folders(cortex), raw))
    if isinstance(found, Entry):
        output.screen().show([line(), line((views.why_pointer(found.id), "dim"))])


def _filters() -> dict[str, Any]:
    return {key: value for key, value in given().items() if key not in ("archived", "as_json")}


def _show_entries(cortex: Cortex, wanted: Filter, *, as_json: bool) -> bool:
    now = today()
    entries = [entry for entry in cortex.entries() if wanted.passes(entry, now)]
    if as_json:
        where = folders(cortex)
        output.print_json([views.entry_data(entry, where) for entry in entries])
    else:
        output.screen().show(grouped_lines(entries, folded=_is_folded()))
    return bool(entries)


def _is_folded() -> bool:
    """Whether each memory is one line: for what reads line by line, as grep does."""
    return not process.is_terminal(sys.stdout)


def _show_archived(cortex: Cortex, wanted: Filter, *, as_json: bool) -> bool:
    now = today()
    items = [item for item in cortex.archived() if wanted.passes(item.entry, now)]
    if as_json:
        where = folders(cortex)
        output.print_json([views.archived_data(item, where) for item in items])
    else:
        output.screen().show(archived_lines(items, folded=_is_folded()))
    return bool(items)


def _full_data(cortex: Cortex, found: Found) -> dict[str, Any]:
    where = folders(cortex)
    if isinstance(found, Entry):
        return {"state": "kept", **views.entry_data(found, where), "raw": _raw(cortex, found)}
    if isinstance(found, Proposal):
        return {"state": "pending", **views.proposal_data(found, where)}
    return {"state": "archived", **views.archived_data(found, where)}


def _raw(cortex: Cortex, entry: Entry) -> str:
    folder = folders(cortex).get(entry.scope)
    return raw_text(folder / entry.disk_file, entry.line) if folder else ""
