"""``engramdown log exclude``, ``include``, ``redact`` and ``purge``: taking back what was recorded.

Promises: everything that is named is looked up before anything is changed; a purge is asked about;
``--dry-run`` tells the same and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from engramdown.cli import forget_messages as said
from engramdown.cli import log_show, messages, output, user_input
from engramdown.cli.access import Transcripts, home_of, open_transcripts, project_of
from engramdown.cli.commands import (
    Command,
    complete_sessions,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, line
from engramdown.cli.process import Place
from engramdown.cortex.origins import Sourced, journalled, learned_from, remaining
from engramdown.engram import Scope
from engramdown.episodes.forget import Forgotten
from engramdown.errors import EngramdownError

_Targets = Mapping[str, Sequence[int]]
"""The numbers of the lines that are meant by session; none is the whole session."""


def _options(command: Command) -> Command:
    """Add what all four take."""
    scope = scope_options("The global scope.", "This project (default where there is one).")
    dry = click.option("--dry-run", is_flag=True, help="Change nothing; tell what would be done.")
    return scope(dry(json_option(pass_place(command))))


def _targets(metavar: str) -> Callable[[Command], Command]:
    return click.argument(
        "targets", metavar=metavar, nargs=-1, required=True, shell_complete=complete_sessions
    )


@click.command()
@_targets("SESSION[#NUMBER]...")
@_options
def exclude(place: Place, /, **_: object) -> None:
    """Keep sessions, or lines of them, out of recall and prompts.

    The files keep them; `engramdown log include` takes it back.
    """
    transcripts, targets = _looked_up(place)
    _run(place, transcripts, "exclude", targets)


@click.command()
@_targets("SESSION[#NUMBER]...")
@_options
def include(place: Place, /, **_: object) -> None:
    """Take an exclusion back; of a whole session, that of its lines as well."""
    transcripts, targets = _looked_up(place)
    _run(place, transcripts, "include", targets)


@click.command()
@_targets("SESSION#NUMBER...")
@_options
def redact(place: Place, /, **_: object) -> None:
    """Empty lines: only a digest of what they held stays, and cannot be taken back.

    The whole texts that were kept beside them go too, and the index is made anew. Number 0 is the
    title of the session.
    """
    transcripts, targets = _looked_up(place)
    if not all(targets.values()):
        raise click.UsageError(said.NEEDS_NUMBER)
    _run(place, transcripts, "redact", targets)


@click.command()
@_targets("SESSION...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_options
def purge(place: Place, /, **_: object) -> None:
    """Remove sessions and everything that belongs to them alone, for ever.

    What was imported is not brought back by the next import.
    """
    transcripts, targets = _looked_up(place)
    for target in given()["targets"]:
        if "#" in target:
            raise click.UsageError(said.no_number_here(target))
    if not given()["dry_run"]:
        told = _rehearsed(transcripts, "purge", targets)
        user_input.check(said.NEEDS_YES)
        count = sum(len(each.files) for each in told)
        user_input.ask(said.ask_purge([each.session for each in told], count))
    _run(place, transcripts, "purge", targets)


# ---- what is meant ----


def _looked_up(place: Place) -> tuple[Transcripts, _Targets]:
    """Return the transcripts, and what is meant of them."""
    transcripts = open_transcripts(place, given()["scope"])
    targets: dict[str, list[int]] = {}
    whole = set()
    for target in given()["targets"]:
        wanted, mark, number = target.partition("#")
        if not wanted or (mark and not (number.isascii() and number.isdigit())):
            raise click.UsageError(log_show.no_number(target))
        session = transcripts.find(wanted)
        targets.setdefault(session, []).extend([int(number)] if mark else [])
        whole |= set() if mark else {session}
    return transcripts, {name: [] if name in whole else found for name, found in targets.items()}


# ---- doing and telling ----


def _rehearsed(transcripts: Transcripts, action: str, targets: _Targets) -> list[Forgotten]:
    """Return what would be done; what cannot be is refused here."""
    return _all(transcripts, action, targets, dry_run=True)


def _all(
    transcripts: Transcripts, action: str, targets: _Targets, *, dry_run: bool
) -> list[Forgotten]:
    forgetting = transcripts.memory.forgetting()
    if action == "purge":
        return [forgetting.purge(session, dry_run=dry_run) for session in targets]
    acts = {
        "exclude": forgetting.exclude,
        "include": forgetting.include,
        "redact": forgetting.redact,
    }
    return [acts[action](name, seqs, dry_run=dry_run) for name, seqs in targets.items()]


def _run(place: Place, transcripts: Transcripts, action: str, targets: _Targets) -> None:
    told = _rehearsed(transcripts, action, targets)
    memories = [_learned_from(place, each) for each in told]
    journal = [_written_in(place, each) for each in told]
    remains = [_remaining(place, transcripts, each) for each in told]
    dry = given()["dry_run"]
    if not dry:
        told = _all(transcripts, action, targets, dry_run=False)
    if given()["as_json"]:
        sessions = [_data(*each) for each in zip(told, memories, journal, remains, strict=True)]
        output.print_json({"dry_run": dry, "sessions": sessions})
        return
    screen = output.screen()
    if dry:
        screen.show([line((messages.DRY_RUN, "warn"))])
    root = transcripts.memory.folder.parent
    for each, learned, written, kept in zip(told, memories, journal, remains, strict=True):
        screen.show(_lines(each, root, learned, written))
        screen.show([line((said.remains(kept), "warn"), indent=2)] if kept else [])


def _learned_from(place: Place, told: Forgotten) -> list[Sourced]:
    """Return the memories of both scopes that were learned from what loses its content."""
    found = []
    for root, scope in _scopes(place, told):
        try:
            found += learned_from(root, scope, told.session, told.seqs)
        except EngramdownError as error:
            output.note(str(error))  # no reason to keep what is to go
    return found


def _written_in(place: Place, told: Forgotten) -> list[str]:
    """Return what an assistant wrote into the journals in the session."""
    found = []
    for root, _ in _scopes(place, told):
        try:
            found += journalled(root, told.session)
        except EngramdownError as error:
            output.note(str(error))
    return found


def _remaining(place: Place, transcripts: Transcripts, told: Forgotten) -> list[str]:
    """Return what keeps words of what loses its content: asked before that is gone."""
    found: list[str] = []
    for root, scope in _scopes(place, told):
        try:
            episodes = transcripts.memory.session(told.session).episodes
            texts = [each.text for each in episodes if not told.seqs or each.seq in told.seqs]
            found += [f"{scope} {name}" for name in remaining(root, told.session, texts)]
        except (OSError, EngramdownError) as error:
            output.note(str(error))  # no reason to keep what is to go
    return found


def _scopes(place: Place, told: Forgotten) -> list[tuple[Path, Scope]]:
    """Return the scopes in which traces may be of what loses its content, if it does."""
    if told.action not in ("redact", "purge"):
        return []
    project = project_of(place)
    scopes: list[tuple[Path, Scope]] = [(home_of(place), "global")]
    return scopes + ([(project, "project")] if project is not None else [])


def _lines(
    told: Forgotten, root: Path, learned: Sequence[Sourced], written: Sequence[str]
) -> Iterator[Line]:
    yield line((said.done(told), "good" if told.changed else "dim"), hang=2)
    if told.files:
        yield line((said.files(told.files, root), "dim"), indent=2)
    if told.card is not None:
        yield line((said.card_stays(told.card), "warn"), indent=2)
    if told.notes is not None:
        yield line((said.notes_stay(told.notes, told.session), "warn"), indent=2)
    if told.quoted:
        yield line((said.quoted(told.quoted), "warn"), indent=2)
    if learned:
        yield line((said.learned(learned), "warn"), indent=2)
    if written:
        yield line((said.journalled(written), "warn"), indent=2)
    if told.action == "purge" and told.running:
        yield line((said.is_running(told.session), "warn"), indent=2)


def _data(
    told: Forgotten,
    learned: Sequence[Sourced],
    written: Sequence[str],
    remains: Sequence[str],
) -> dict[str, Any]:
    return {
        "action": told.action,
        "session": told.session,
        "seqs": list(told.seqs),
        "changed": told.changed,
        "files": [str(path) for path in told.files],
        "card": str(told.card) if told.card else None,
        "notes": str(told.notes) if told.notes else None,
        "quoted": [str(pointer) for pointer in told.quoted],
        "memories": [{**each._asdict(), "origin": str(each.origin)} for each in learned],
        "journal": list(written),
        "remains": list(remains),
        "running": told.running,
    }
