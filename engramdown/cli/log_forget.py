"""``engramdown log exclude``, ``include``, ``redact``, ``purge`` and ``card``.

All sessions and lines are looked up before anything is changed, and a purge asks first.
``--dry-run`` reports the same and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from engramdown import serializers
from engramdown.cli import commands, log_show, output, views
from engramdown.cli.access import Transcripts, home_of, open_transcripts, project_of
from engramdown.cli.layout import Line, line, whole
from engramdown.cli.log_show import fact_lines
from engramdown.cli.output import RefusalError, edit_file, edit_text
from engramdown.cli.process import Place
from engramdown.doctor import Traces, find_traces
from engramdown.engram import Scope
from engramdown.episodes import Card, CardFiles, Forgotten, as_page

# By session the numbers of its lines; no number stands for the whole session.
_Targets = Mapping[str, Sequence[int]]
# By action: the word for what was changed, and for what was so already.
_DONE: Final = {
    "exclude": ("Excluded", "is excluded already"),
    "include": ("Included", "is not excluded"),
    "redact": ("Redacted", "is redacted already"),
    "purge": ("Purged", ""),
}
_EDIT_INSTEAD: Final = "set EDITOR, or write the file: `engramdown log card --json` says where"
_STALE: Final = (
    "Your page is not used: lines were redacted since you saved it. Take out what must go and "
    "save it, and it is used again."
)
_FACTS: Final = "session title one_liner kind tags decisions participants tools files models"
# Titles of the fields of a card, where they differ from the name.
_TITLES: Final = {"one_liner": "in one line", "participants": "who spoke"}


def _options(metavar: str, *more: commands.Command) -> commands.Command:
    """Return a decorator that adds the options of all four commands."""
    dry = click.option("--dry-run", is_flag=True, help="Change nothing; say what would be done.")
    targets: commands.Command = click.argument(
        "targets",
        metavar=metavar,
        nargs=-1,
        required=True,
        shell_complete=commands.complete_sessions,
    )

    def add(command: commands.Command) -> commands.Command:
        made: commands.Command = commands.in_scope(command)
        for option in (dry, *more, targets):
            made = option(made)
        return made

    return add


@click.command()
@_options("SESSION[#NUMBER]...")
def exclude(place: Place, /, **_: object) -> None:
    """Keep sessions, or lines of them, out of recall and prompts.

    The files keep them; `engramdown log include` takes it back.
    """
    _run(place, "exclude", *_looked_up(place))


@click.command()
@_options("SESSION[#NUMBER]...")
def include(place: Place, /, **_: object) -> None:
    """Take an exclusion back; for a whole session, those of its lines as well."""
    _run(place, "include", *_looked_up(place))


@click.command()
@_options("SESSION#NUMBER...")
def redact(place: Place, /, **_: object) -> None:
    """Empty lines for ever: only a digest of what they held stays.

    The whole texts kept beside them go too, and the index is made anew. Number 0 is the title of
    the session.
    """
    transcripts, targets = _looked_up(place)
    if not all(targets.values()):
        raise click.UsageError(
            "redact single lines, SESSION#NUMBER; `engramdown log purge SESSION` removes a whole "
            "session"
        )
    _run(place, "redact", transcripts, targets)


@click.command()
@_options("SESSION...", click.option("--yes", is_flag=True, help="Do not ask."))
def purge(place: Place, /, *, dry_run: bool, **_: object) -> None:
    """Remove sessions and everything that belongs to them alone, for ever.

    The next import does not bring back a session that was imported.
    """
    transcripts, targets = _looked_up(place)
    for target in commands.given()["targets"]:
        if "#" in target:
            instead = "only a whole session is purged; `engramdown log redact` empties lines"
            raise click.UsageError(f"{target!r}: {instead}")
    if not dry_run:
        planned = _all(transcripts, "purge", targets, dry_run=True)
        output.check(
            "a purge cannot be taken back; give --yes, or run it in a terminal to be asked"
        )
        names = ", ".join(each.session for each in planned)
        size = views.counted(sum(len(each.files) for each in planned), "file")
        output.ask(f"Remove {names} for ever ({size})?")
    _run(place, "purge", transcripts, targets)


# ---- targets ----


def _looked_up(place: Place) -> tuple[Transcripts, _Targets]:
    """Return the transcripts, and the sessions and lines that the arguments name."""
    transcripts = open_transcripts(place, commands.given()["scope"])
    targets: dict[str, list[int]] = {}
    whole = set()
    for target in commands.given()["targets"]:
        prefix, mark, number = target.partition("#")
        if not prefix or (mark and not (number.isascii() and number.isdigit())):
            raise click.UsageError(log_show.no_number(target))
        session = transcripts.find(prefix)
        targets.setdefault(session, []).extend([int(number)] if mark else [])
        whole |= set() if mark else {session}
    return transcripts, {name: [] if name in whole else seqs for name, seqs in targets.items()}


# ---- doing it ----


def _all(
    transcripts: Transcripts, action: str, targets: _Targets, *, dry_run: bool
) -> list[Forgotten]:
    """Carry out an action, or return what it would do."""
    act = getattr(transcripts.memory.forgetting(), action)
    if action == "purge":
        return [act(session, dry_run=dry_run) for session in targets]
    return [act(session, seqs, dry_run=dry_run) for session, seqs in targets.items()]


def _run(place: Place, action: str, transcripts: Transcripts, targets: _Targets) -> None:
    dry = commands.given()["dry_run"]
    done = _all(transcripts, action, targets, dry_run=True)
    home, project = home_of(place), project_of(place)
    scopes: list[tuple[Path, Scope]] = [(home, "global")]
    scopes += [(project, "project")] if project is not None else []
    # Looked up before the texts are gone.
    traces = [find_traces(each, transcripts.memory, scopes) for each in done]
    for problem in dict.fromkeys(problem for each in traces for problem in each.problems):
        output.note(problem)
    if not dry:
        done = _all(transcripts, action, targets, dry_run=False)
    root, both = transcripts.memory.folder.parent, list(zip(done, traces, strict=True))
    lines = (row for each, left in both for row in _lines(each, root, left))
    sessions = [serializers.withdrawn_data(each, left) for each, left in both]
    commands.show(lines, {"dry_run": dry, "sessions": sessions})


def _lines(done: Forgotten, root: Path, traces: Traces) -> Iterator[Line]:
    what = ", ".join(f"{done.session}#{seq}" for seq in done.seqs) or done.session
    now, already = _DONE[done.action]
    if done.changed:
        yield line((f"{now} {what}", "good"), hang=2)
    else:
        yield line((f"{what}: {already}", "dim"), hang=2)
    if done.files:
        inside = (
            path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
            for path in done.files
        )
        yield line((", ".join(inside), "dim"), indent=2)
    for warning in _warnings(done, traces):
        yield line((warning, "warn"), indent=2)


def _warnings(done: Forgotten, traces: Traces) -> Iterator[str]:
    if done.card is not None:
        yield f"{done.card}: you wrote this page, so it stays; see whether it quotes what is gone"
    if done.notes is not None:
        yield (
            f"{done.notes}: the notes on the session stay; see whether they quote what is gone, "
            "and save the file or remove it"
        )
    if done.quoted:
        names = " ".join(map(str, done.quoted))
        yield f"recall showed it to a model; to redact that, too: engramdown log redact {names}"
    if traces.learned:
        names = ", ".join(
            f"{each.id} ({each.scope} {each.file}:{each.line})" for each in traces.learned
        )
        yield f"learned from it: {names}; if it says the same: engramdown edit or engramdown forget"
    if traces.journal:
        pages = ", ".join(traces.journal)
        yield f"an assistant wrote this in the session; look at it yourself: {pages}"
    if done.action == "purge" and done.running:
        yield f"{done.session} is in use; the next line recorded in it begins it anew"
    if traces.remains:
        yield (
            f"these keep words of it: {', '.join(traces.remains)}; `engramdown forget --forever "
            "ID` takes the words of a memory out of all files, and `engramdown forget --forever -` "
            "what you type"
        )


# ---- the card ----


@click.command()
@commands.session_argument
@click.option("--edit", is_flag=True, help="Correct it in your editor; what you write wins.")
@commands.in_scope
def card(place: Place, /, *, session: str, scope: str | None, edit: bool, **_: object) -> None:
    """Show what a session was about: title, summary, tools, files.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = open_transcripts(place, scope)
    name = transcripts.find(session)
    pages = CardFiles(transcripts.memory.folder.parent, transcripts.disk)
    if edit:
        _edit(transcripts, pages, name)
    shown, path = transcripts.memory.card(name), pages.path(name)
    commands.show(_card_lines(shown, path), serializers.card_data(shown, path))


def _edit(transcripts: Transcripts, pages: CardFiles, session: str) -> None:
    path = pages.path(session)
    if transcripts.disk.find(path) is not None:
        edit_file(path, _EDIT_INSTEAD)
        return
    before = as_page(transcripts.memory.card(session))
    after = edit_text(before.removesuffix("\n"), _EDIT_INSTEAD)
    if f"{after}\n" == before:
        output.note(views.UNCHANGED)
    elif not pages.create(session, f"{after}\n"):
        raise RefusalError(
            f"{path} was written meanwhile, so yours was not; run this again to edit that one"
        )


def _card_lines(shown: Card, path: Path) -> Iterator[Line]:
    tools = [f"{name} {count}" for name, count in shown.tools.items()]
    values = {**serializers.pick(shown, _FACTS), "tools": tools}
    facts = [
        (_TITLES.get(name, name), value if isinstance(value, str) else ", ".join(value))
        for name, value in values.items()
    ]
    yield from fact_lines(facts)
    if shown.paragraph:
        yield line()
        yield line(shown.paragraph)
    # A computed one says little more than the paragraph.
    if shown.detailed and (shown.filled_by or shown.edited):
        yield line()
        yield line(shown.detailed)
    if shown.filled_by:
        yield line((f"Filled in by {shown.filled_by}", "dim"))
    if shown.edited:
        yield whole((f"From {path}", "dim"))
    if shown.stale:
        yield line((_STALE, "warn"))
