"""``engramdown log exclude``, ``include``, ``redact``, ``purge`` and ``card``.

Everything named is looked up before anything is changed, and a purge asks first. ``--dry-run`` says
the same and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import commands, log_show, messages, output, user_input, views
from engramdown.cli.access import Transcripts, home_of, open_cortex, open_transcripts, project_of
from engramdown.cli.layout import Line, line, pick, whole
from engramdown.cli.log_show import fact_lines
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_file, edit_text
from engramdown.doctor import Sourced, journalled, learned_from, remaining
from engramdown.engram import Scope
from engramdown.episodes import Card, CardFiles, Forgotten, as_page
from engramdown.errors import EngramdownError

if TYPE_CHECKING:
    from engramdown.transcripts import Pointer


_Targets = Mapping[str, Sequence[int]]
"""The numbers of the lines that are meant by session; none is the whole session."""


def _options(command: commands.Command) -> commands.Command:
    """Add what all four take."""
    scope = commands.scope_options(
        "The global scope.", "This project (default where there is one)."
    )
    dry = click.option("--dry-run", is_flag=True, help="Change nothing; tell what would be done.")
    return scope(dry(commands.json_option(commands.pass_place(command))))


def _targets(metavar: str) -> Callable[[commands.Command], commands.Command]:
    return click.argument(
        "targets",
        metavar=metavar,
        nargs=-1,
        required=True,
        shell_complete=commands.complete_sessions,
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
        raise click.UsageError(NEEDS_NUMBER)
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
    for target in commands.given()["targets"]:
        if "#" in target:
            raise click.UsageError(no_number_here(target))
    if not commands.given()["dry_run"]:
        told = _rehearsed(transcripts, "purge", targets)
        user_input.check(NEEDS_YES)
        count = sum(len(each.files) for each in told)
        user_input.ask(ask_purge([each.session for each in told], count))
    _run(place, transcripts, "purge", targets)


# ---- what is meant ----


def _looked_up(place: Place) -> tuple[Transcripts, _Targets]:
    """Return the transcripts, and what is meant of them."""
    transcripts = open_transcripts(place, commands.given()["scope"])
    targets: dict[str, list[int]] = {}
    whole = set()
    for target in commands.given()["targets"]:
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
    dry = commands.given()["dry_run"]
    if not dry:
        told = _all(transcripts, action, targets, dry_run=False)
    if commands.given()["as_json"]:
        sessions = [_data(*each) for each in zip(told, memories, journal, remains, strict=True)]
        output.print_json({"dry_run": dry, "sessions": sessions})
        return
    screen = output.screen()
    if dry:
        screen.show([line((messages.DRY_RUN, "warn"))])
    root = transcripts.memory.folder.parent
    for each, learned, written, kept in zip(told, memories, journal, remains, strict=True):
        screen.show(_lines(each, root, learned, written))
        screen.show([line((words_remain(kept), "warn"), indent=2)] if kept else [])


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
    yield line((done(told), "good" if told.changed else "dim"), hang=2)
    if told.files:
        yield line((files(told.files, root), "dim"), indent=2)
    if told.card is not None:
        yield line((card_stays(told.card), "warn"), indent=2)
    if told.notes is not None:
        yield line((notes_stay(told.notes, told.session), "warn"), indent=2)
    if told.quoted:
        yield line((quoted(told.quoted), "warn"), indent=2)
    if learned:
        yield line((memories_from(learned), "warn"), indent=2)
    if written:
        yield line((in_journal(written), "warn"), indent=2)
    if told.action == "purge" and told.running:
        yield line((is_running(told.session), "warn"), indent=2)


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


@click.command()
@commands.session_argument
@click.option("--edit", is_flag=True, help="Correct it in your editor; what you write wins.")
@click.option("--fill", is_flag=True, help="Let the model that is set fill it in first.")
@commands.scope_options("The global scope.", "This project (default where there is one).")
@commands.json_option
@commands.pass_place
def card(place: Place, /, *, session: str, scope: str | None, as_json: bool, **_: object) -> None:
    """Show what a session was about: title, summary, tools, files.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = open_transcripts(place, scope)
    found = transcripts.find(session)
    pages = CardFiles(transcripts.memory.folder.parent, transcripts.disk)
    if commands.given()["fill"]:
        _fill(place, transcripts, found)
    if commands.given()["edit"]:
        _edit(transcripts, pages, found)
    shown = transcripts.memory.card(found)
    if as_json:
        output.print_json(_card_data(shown, pages))
    else:
        output.screen().show(_card_lines(shown, pages))


def _fill(place: Place, transcripts: Transcripts, session: str) -> None:
    from engramdown.sleep import fill_card

    if not fill_card(open_cortex(place).scopes, transcripts.memory, session):
        raise RefusalError(not_filled(session))


def _edit(transcripts: Transcripts, pages: CardFiles, session: str) -> None:
    path = pages.path(session)
    if transcripts.disk.find(path) is not None:
        edit_file(path, EDIT_INSTEAD)
        return
    before = as_page(transcripts.memory.card(session))
    after = edit_text(before.removesuffix("\n"), EDIT_INSTEAD)
    if f"{after}\n" == before:
        output.note(views.UNCHANGED)
    elif not pages.create(session, f"{after}\n"):
        raise RefusalError(saved_already(path))


def _card_lines(shown: Card, pages: CardFiles) -> Iterator[Line]:
    values = {name: getattr(shown, name) for name, _ in CARD_FIELDS}
    values["tools"] = tools(shown)
    facts = [("session", shown.session)]
    for name, title in CARD_FIELDS:
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
        yield line((filled_by(shown.filled_by), "dim"))
    if shown.edited:
        yield whole((card_path(pages.path(shown.session)), "dim"))
    if shown.stale:
        yield line((STALE, "warn"))


def _card_data(shown: Card, pages: CardFiles) -> dict[str, Any]:
    return {
        **pick(shown, "session title one_liner paragraph kind"),
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


NEEDS_YES: Final = "a purge cannot be taken back; say --yes, or run it in a terminal to be asked"
NEEDS_NUMBER: Final = (
    "redact single lines, SESSION#NUMBER; `engramdown log purge SESSION` removes a whole session"
)
EDIT_INSTEAD: Final = "set EDITOR, or write the file: `engramdown log card --json` says where"
STALE: Final = (
    "Your page is left out: lines were redacted since you saved it. Take out what must go and "
    "save it, and it counts again."
)
CARD_FIELDS: Final = (
    ("title", "title"),
    ("one_liner", "in one line"),
    ("kind", "kind"),
    ("tags", "tags"),
    ("decisions", "decisions"),
    ("participants", "who spoke"),
    ("tools", "tools"),
    ("files", "files"),
    ("models", "models"),
)
"""The fields of a card, and what each is called."""

_DONE: Final = {
    "exclude": "Excluded",
    "include": "Included",
    "redact": "Redacted",
    "purge": "Purged",
}
_ALREADY: Final = {
    "exclude": "is excluded already",
    "include": "is not excluded",
    "redact": "is redacted already",
}


def done(told: Forgotten) -> str:
    """Say what became of lines, or of a session."""
    what = _names(told)
    if told.changed:
        return f"{_DONE[told.action]} {what}"
    return f"{what}: {_ALREADY[told.action]}"


def files(paths: Iterable[Path], folder: Path) -> str:
    """Name the files that are removed or changed."""
    return ", ".join(_below(path, folder) for path in paths)


def card_stays(path: Path) -> str:
    """Say that a person's page may hold what was redacted."""
    return f"{path}: you wrote this page, so it stays; look whether it quotes what was redacted"


def notes_stay(path: Path, session: str) -> str:
    """Say that the notes on a session may hold what was redacted."""
    return (
        f"{path}: the notes on the session stay; look whether they quote what was redacted, "
        f"and save them or remove them with `engramdown log notes {session} --delete`"
    )


def quoted(pointers: Iterable[Pointer]) -> str:
    """Say where a recall has shown lines that were redacted."""
    names = " ".join(map(str, pointers))
    return f"recall has shown it to a model; if it stands there too: engramdown log redact {names}"


def in_journal(places: Iterable[str]) -> str:
    """Name the sections of the journal that were written in the session."""
    return f"written in it, and yours to look at: {', '.join(places)}"


def memories_from(memories: Iterable[Sourced]) -> str:
    """Name the memories that were learned from what is redacted or purged."""
    names = ", ".join(f"{each.id} ({each.scope} {each.file}:{each.line})" for each in memories)
    return f"learned from it: {names}; if it says the same: engramdown edit or engramdown forget"


def words_remain(places: Iterable[str]) -> str:
    """Name what keeps words of what is taken back: the journal of changes, notes on others."""
    return (
        f"keeps words of it, and stays: {', '.join(places)}; `engramdown forget --forever ID` "
        f"takes a memory's words out of all of it, and `engramdown forget --forever -` what you "
        f"type"
    )


def is_running(session: str) -> str:
    """Say that a session goes on."""
    return f"{session} is in use; what is said in it from now on begins it anew"


def ask_purge(sessions: Iterable[str], count: int) -> str:
    """Ask before sessions are removed."""
    names = ", ".join(sessions)
    size = f"{count} file{'' if count == 1 else 's'}"
    return f"Remove {names} for ever ({size})?"


def no_number_here(pointer: str) -> str:
    """Say that only whole sessions are purged."""
    return f"{pointer!r}: only a whole session is purged; `engramdown log redact` empties lines"


def card_path(path: Path) -> str:
    """Say where a person's page is."""
    return f"From {path}"


def filled_by(model: str) -> str:
    """Say which model said some of a card."""
    return f"Filled in by {model}"


def not_filled(session: str) -> str:
    """Say that a model's words are not kept."""
    return f"nothing of {session} may be shown to a model, or lines were taken back meanwhile"


def saved_already(path: Path) -> str:
    """Say that somebody else wrote the page meanwhile."""
    return f"{path} was written meanwhile, so yours was not; run it again to edit that one"


def tools(card: Card) -> str:
    """Return how often each tool was called."""
    return ", ".join(f"{name} {count}" for name, count in card.tools.items())


def _names(told: Forgotten) -> str:
    if not told.seqs:
        return told.session
    return ", ".join(f"{told.session}#{seq}" for seq in told.seqs)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
