"""``engramdown log card``: what a session was about, to read and to correct.

Promises: looking writes nothing; a page of the person's own is edited where it is and never
written by us again; a model is asked only if the person says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from engramdown.cli import forget_messages as said
from engramdown.cli import output, views
from engramdown.cli.access import Transcripts, open_cortex, open_transcripts
from engramdown.cli.commands import complete_sessions, given, json_option, pass_place, scope_options
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.log_show import fact_lines
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_file, edit_text
from engramdown.episodes.card import Card, CardFiles, as_page


@click.command()
@click.argument("session", metavar="[SESSION]", default="", shell_complete=complete_sessions)
@click.option("--edit", is_flag=True, help="Correct it in your editor; what you write wins.")
@click.option("--fill", is_flag=True, help="Let the model that is set fill it in first.")
@scope_options("The global scope.", "This project (default where there is one).")
@json_option
@pass_place
def card(place: Place, /, *, session: str, scope: str | None, as_json: bool, **_: object) -> None:
    """Show what a session was about: title, summary, tools, files.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = open_transcripts(place, scope)
    found = transcripts.find(session)
    pages = CardFiles(transcripts.memory.folder.parent, transcripts.disk)
    if given()["fill"]:
        _fill(place, transcripts, found)
    if given()["edit"]:
        _edit(transcripts, pages, found)
    shown = transcripts.memory.card(found)
    if as_json:
        output.print_json(_data(shown, pages))
    else:
        output.screen().show(_lines(shown, pages))


def _fill(place: Place, transcripts: Transcripts, session: str) -> None:
    from engramdown.cortex.filling import fill_card

    if not fill_card(open_cortex(place), transcripts.memory, session):
        raise RefusalError(said.not_filled(session))


def _edit(transcripts: Transcripts, pages: CardFiles, session: str) -> None:
    path = pages.path(session)
    if transcripts.disk.find(path) is not None:
        edit_file(path, said.EDIT_INSTEAD)
        return
    before = as_page(transcripts.memory.card(session))
    after = edit_text(before.removesuffix("\n"), said.EDIT_INSTEAD)
    if f"{after}\n" == before:
        output.note(views.UNCHANGED)
    elif not pages.create(session, f"{after}\n"):
        raise RefusalError(said.saved_already(path))


def _lines(shown: Card, pages: CardFiles) -> Iterator[Line]:
    values = {name: getattr(shown, name) for name, _ in said.CARD_FIELDS}
    values["tools"] = said.tools(shown)
    facts = [("session", shown.session)]
    for name, title in said.CARD_FIELDS:
        value = values[name]
        facts.append((title, value if isinstance(value, str) else ", ".join(value)))
    yield from fact_lines(facts)
    if shown.paragraph:
        yield line()
        yield line(shown.paragraph)
    # What is computed says here little more than the paragraph.
    if shown.detailed and (shown.filled_by or shown.edited):
        yield line()
        yield line(shown.detailed)
    if shown.filled_by:
        yield line((said.filled_by(shown.filled_by), "dim"))
    if shown.edited:
        yield whole((said.card_path(pages.path(shown.session)), "dim"))
    if shown.stale:
        yield line((said.STALE, "warn"))


def _data(shown: Card, pages: CardFiles) -> dict[str, Any]:
    return {
        "session": shown.session,
        "title": shown.title,
        "one_liner": shown.one_liner,
        "paragraph": shown.paragraph,
        "kind": shown.kind,
        "tags": list(shown.tags),
        "detailed": shown.detailed,
        "decisions": list(shown.decisions),
        "participants": list(shown.participants),
        "tools": dict(shown.tools),
        "files": list(shown.files),
        "models": list(shown.models),
        "filled_by": shown.filled_by,
        "edited": shown.edited,
        "stale": shown.stale,
        "path": str(pages.path(shown.session)),
    }
