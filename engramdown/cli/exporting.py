"""``engramdown export``: a session as a page of markdown, or as JSON with everything in it.

Promises: a file appears whole or not at all; what could fool a terminal is made visible on a
terminal, and stays as it is everywhere else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import output, process
from engramdown.cli import transfer_messages as messages
from engramdown.cli.access import open_all
from engramdown.cli.commands import json_option, pass_place
from engramdown.cli.layout import line
from engramdown.cli.output import RefusalError, bar
from engramdown.cli.process import Place
from engramdown.language.characters import on_screen
from engramdown.storage.safe_open import make_folder, open_regular, patiently

if TYPE_CHECKING:
    from engramdown.episodes.memory import EpisodicMemory
    from engramdown.transcripts.episode import Episode


_MOST_SIMILAR: Final = 8


@click.command()
@click.argument("session", required=False)
@click.option("--all", "everything", is_flag=True, help="Export every session.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json"]),
    default="md",
    show_default=True,
    help="A page to read, or everything for `engramdown import`.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to FILE; with --all to a folder.",
)
@json_option
@pass_place
def export(
    place: Place,
    /,
    *,
    session: str | None,
    everything: bool,
    form: str,
    target: Path | None,
    as_json: bool,
) -> None:
    """Export SESSION, given by its id or the beginning of it."""
    if bool(session) == everything:
        raise click.UsageError(messages.EXPORT_WHAT)
    if everything and target is None:
        raise click.UsageError(messages.NEEDS_FOLDER)
    form = "json" if as_json else form
    memories = open_all(place)
    found = _sessions(memories)
    if session:
        found = {name: found[name] for name in [_one(session, list(found))]}
    if target is None:
        for name, memory in found.items():
            _show(name, memory, form)
        return
    files = _write(found, target, form, apart=everything)
    if as_json:
        output.print_json({"files": [str(file) for file in files]})
    else:
        output.screen().show([line((messages.exported(len(files), target), "good"))])


def _sessions(memories: Sequence[EpisodicMemory]) -> dict[str, EpisodicMemory]:
    """Return every session and where it is; the first of two with one id."""
    found: dict[str, EpisodicMemory] = {}
    for memory in memories:
        for info in memory.sessions():
            found.setdefault(info.id, memory)
    return found


def _one(session: str, names: Sequence[str]) -> str:
    similar = [session] if session in names else [n for n in names if n.startswith(session)]
    if not similar:
        raise RefusalError(messages.no_session(session))
    if len(similar) > 1:
        raise RefusalError(messages.not_one_session(session), similar[:_MOST_SIMILAR])
    return similar[0]


def _show(name: str, memory: EpisodicMemory, form: str) -> None:
    if form == "json":
        output.print_json(_data(name, memory))
        return
    page = _page(name, memory)
    shown = on_screen(page) if process.is_terminal(sys.stdout) else page
    # Or click would take escapes out of what is not for a terminal.
    click.echo(shown, nl=False, color=True)


def _write(found: dict[str, EpisodicMemory], target: Path, form: str, *, apart: bool) -> list[Path]:
    if apart:
        make_folder(target)
    files = []
    with bar(messages.writing(), len(found)) as advance:
        for name, memory in found.items():
            path = target / f"{name}.{form}" if apart else target
            if form == "json":
                # ASCII only: half a surrogate pair has no bytes in UTF-8.
                text = json.dumps(_data(name, memory), indent=2) + "\n"
            else:
                text = _page(name, memory)
            _replace(path, text.encode("utf-8", "backslashreplace"))
            files.append(path)
            advance(1)
    return files


def _replace(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # For the user alone, as the transcripts are.
        with os.fdopen(
            open_regular(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb"
        ) as file:
            file.write(data)
        patiently(unfinished.replace, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _page(name: str, memory: EpisodicMemory) -> str:
    from engramdown.episodes.session_export import as_markdown

    return as_markdown(name, memory.session(name).episodes, _whole(memory))


def _data(name: str, memory: EpisodicMemory) -> dict[str, Any]:
    from engramdown.episodes.session_export import as_json

    return as_json(name, memory.session(name).episodes, _whole(memory))


def _whole(memory: EpisodicMemory) -> Callable[[Episode], str | None]:
    from engramdown.storage.disk import EpisodeDisk
    from engramdown.transcripts.payloads import PAYLOADS, Payloads

    payloads = Payloads(memory.folder / PAYLOADS, EpisodeDisk(), durable=False)
    return lambda episode: payloads.fetch(episode.payload)
