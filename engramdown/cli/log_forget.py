"""``engramdown log exclude``, ``include``, ``redact``, ``purge`` and ``card``.

Everything named is looked up before anything is changed, and a purge asks first. ``--dry-run`` says
the same and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from engramdown.cli import commands, log_show, output, views
from engramdown.cli.access import Transcripts, home_of, open_cortex, open_transcripts, project_of
from engramdown.cli.layout import Line, line, pick, whole
from engramdown.cli.log_show import fact_lines
from engramdown.cli.output import RefusalError, edit_file, edit_text
from engramdown.cli.process import Place
from engramdown.doctor import Sourced, journalled, learned_from, remaining
from engramdown.engram import Scope
from engramdown.episodes import Card, CardFiles, Forgotten, as_page
from engramdown.errors import EngramdownError

_Targets = Mapping[str, Sequence[int]]
"""The numbers of the lines that are meant by session; none is the whole session."""
# What is said of what was changed, and of what was so already.
_SAID: Final = {
    "exclude": ("Excluded", "is excluded already"),
    "include": ("Included", "is not excluded"),
    "redact": ("Redacted", "is redacted already"),
    "purge": ("Purged", ""),
}
_EDIT_INSTEAD: Final = "set EDITOR, or write the file: `engramdown log card --json` says where"
_STALE: Final = (
    "Your page is left out: lines were redacted since you saved it. Take out what must go and "
    "save it, and it counts again."
)
_CARD_FIELDS: Final = (
    *("session", "title", "one_liner", "kind", "tags", "decisions", "participants", "tools"),
    *("files", "models"),
)
_TITLES: Final = {"one_liner": "in one line", "participants": "who spoke"}
"""What fields of a card are called where that is not their name."""


class _Traces(NamedTuple):
    """What holds words of lines that lose their content, or was learned from them.

    Attributes:
        learned: The memories of both scopes that were learned from them.
        journal: What an assistant wrote into the journals in the session.
        remains: What keeps words of them.
    """

    learned: list[Sourced]
    journal: list[str]
    remains: list[str]


def _options(metavar: str, *more: commands.Command) -> commands.Command:
    """Return a decorator that adds what all four take."""
    dry = click.option("--dry-run", is_flag=True, help="Change nothing; tell what would be done.")
    targets: commands.Command = click.argument(
        "targets",
        metavar=metavar,
        nargs=-1,
        required=True,
        shell_complete=commands.complete_sessions,
    )

    def add(command: commands.Command) -> commands.Command:
        made: commands.Command = commands.here_options(
            dry(commands.json_option(commands.pass_place(command)))
        )
        for option in (*more, targets):
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
    """Take an exclusion back; of a whole session, that of its lines as well."""
    _run(place, "include", *_looked_up(place))


@click.command()
@_options("SESSION#NUMBER...")
def redact(place: Place, /, **_: object) -> None:
    """Empty lines: only a digest of what they held stays, and cannot be taken back.

    The whole texts that were kept beside them go too, and the index is made anew. Number 0 is the
    title of the session.
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

    What was imported is not brought back by the next import.
    """
    transcripts, targets = _looked_up(place)
    for target in commands.given()["targets"]:
        if "#" in target:
            instead = "only a whole session is purged; `engramdown log redact` empties lines"
            raise click.UsageError(f"{target!r}: {instead}")
    if not dry_run:
        found = _all(transcripts, "purge", targets, dry_run=True)
        output.check("a purge cannot be taken back; say --yes, or run it in a terminal to be asked")
        names = ", ".join(each.session for each in found)
        size = views.counted(sum(len(each.files) for each in found), "file")
        output.ask(f"Remove {names} for ever ({size})?")
    _run(place, "purge", transcripts, targets)


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


def _all(
    transcripts: Transcripts, action: str, targets: _Targets, *, dry_run: bool
) -> list[Forgotten]:
    """Do it, or say what would be done; what cannot be is refused."""
    forgetting = transcripts.memory.forgetting()
    if action == "purge":
        return [forgetting.purge(session, dry_run=dry_run) for session in targets]
    act = getattr(forgetting, action)
    return [act(session, seqs, dry_run=dry_run) for session, seqs in targets.items()]


def _run(place: Place, action: str, transcripts: Transcripts, targets: _Targets) -> None:
    dry = commands.given()["dry_run"]
    done = _all(transcripts, action, targets, dry_run=True)
    # Asked before it is gone.
    traces = [_traces(place, transcripts, each) for each in done]
    if not dry:
        done = _all(transcripts, action, targets, dry_run=False)
    if commands.given()["as_json"]:
        sessions = [_data(*each) for each in zip(done, traces, strict=True)]
        output.print_json({"dry_run": dry, "sessions": sessions})
        return
    if dry:
        output.show([line((views.DRY_RUN, "warn"))])
    root = transcripts.memory.folder.parent
    for each, found in zip(done, traces, strict=True):
        output.show(_lines(each, root, found))


def _traces(place: Place, transcripts: Transcripts, done: Forgotten) -> _Traces:
    """Return what is left elsewhere of what loses its content, if it does."""
    found = _Traces([], [], [])
    project = project_of(place)
    scopes: list[tuple[Path, Scope]] = [(home_of(place), "global")]
    scopes += [(project, "project")] if project is not None else []

    def learned(root: Path, scope: Scope) -> None:
        found.learned.extend(learned_from(root, scope, done.session, done.seqs))

    def written(root: Path, _scope: Scope) -> None:
        found.journal.extend(journalled(root, done.session))

    def kept(root: Path, scope: Scope) -> None:
        episodes = transcripts.memory.session(done.session).episodes
        texts = [each.text for each in episodes if not done.seqs or each.seq in done.seqs]
        names = remaining(root, done.session, texts)
        found.remains.extend(f"{scope} {name}" for name in names)

    for look in (learned, written, kept) if done.action in ("redact", "purge") else ():
        for root, scope in scopes:
            try:
                look(root, scope)
            except (OSError, EngramdownError) as error:
                output.note(str(error))  # no reason to keep what is to go
    return found


def _lines(done: Forgotten, root: Path, traces: _Traces) -> Iterator[Line]:
    what = ", ".join(f"{done.session}#{seq}" for seq in done.seqs) or done.session
    now, already = _SAID[done.action]
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


def _warnings(done: Forgotten, traces: _Traces) -> Iterator[str]:
    if done.card is not None:
        look = "look whether it quotes what was redacted"
        yield f"{done.card}: you wrote this page, so it stays; {look}"
    if done.notes is not None:
        yield (
            f"{done.notes}: the notes on the session stay; look whether they quote what was "
            f"redacted, and save them or remove them with `engramdown log notes {done.session} "
            "--delete`"
        )
    if done.quoted:
        names = " ".join(map(str, done.quoted))
        yield (
            f"recall has shown it to a model; if it stands there too: engramdown log redact {names}"
        )
    if traces.learned:
        names = ", ".join(
            f"{each.id} ({each.scope} {each.file}:{each.line})" for each in traces.learned
        )
        yield f"learned from it: {names}; if it says the same: engramdown edit or engramdown forget"
    if traces.journal:
        yield f"written in it, and yours to look at: {', '.join(traces.journal)}"
    if done.action == "purge" and done.running:
        yield f"{done.session} is in use; what is said in it from now on begins it anew"
    if traces.remains:
        yield (
            f"keeps words of it, and stays: {', '.join(traces.remains)}; `engramdown forget "
            "--forever ID` takes a memory's words out of all of it, and `engramdown forget "
            "--forever -` what you type"
        )


def _data(done: Forgotten, traces: _Traces) -> dict[str, Any]:
    return {
        **pick(done, "action session"),
        "seqs": list(done.seqs),
        "changed": done.changed,
        "files": [str(path) for path in done.files],
        "card": str(done.card) if done.card else None,
        "notes": str(done.notes) if done.notes else None,
        "quoted": [str(pointer) for pointer in done.quoted],
        "memories": [{**each._asdict(), "origin": str(each.origin)} for each in traces.learned],
        **pick(traces, "journal remains"),
        "running": done.running,
    }


# ---- the card ----


@click.command()
@commands.session_argument
@click.option("--edit", is_flag=True, help="Correct it in your editor; what you write wins.")
@click.option("--fill", is_flag=True, help="Let the model that is set fill it in first.")
@commands.in_scope
def card(
    place: Place, /, *, session: str, scope: str | None, edit: bool, fill: bool, **_: object
) -> None:
    """Show what a session was about: title, summary, tools, files.

    SESSION is an id or the beginning of one; without it, the session that began last.
    """
    transcripts = open_transcripts(place, scope)
    found = transcripts.find(session)
    pages = CardFiles(transcripts.memory.folder.parent, transcripts.disk)
    if fill:
        from engramdown.sleep import fill_card

        if not fill_card(open_cortex(place).scopes, transcripts.memory, found):
            raise RefusalError(
                f"nothing of {found} may be shown to a model, or lines were taken back meanwhile"
            )
    if edit:
        _edit(transcripts, pages, found)
    shown = transcripts.memory.card(found)
    data = pick(
        shown,
        "session title one_liner paragraph kind tags detailed decisions participants tools files "
        "models filled_by edited stale",
    )
    path = pages.path(found)
    commands.show(_card_lines(shown, path), {**data, "tools": dict(shown.tools), "path": str(path)})


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
            f"{path} was written meanwhile, so yours was not; run it again to edit that one"
        )


def _card_lines(shown: Card, path: Path) -> Iterator[Line]:
    values = {name: getattr(shown, name) for name in _CARD_FIELDS}
    values["tools"] = [f"{name} {count}" for name, count in shown.tools.items()]
    facts = [
        (_TITLES.get(name, name), value if isinstance(value, str) else ", ".join(value))
        for name, value in values.items()
    ]
    yield from fact_lines(facts)
    if shown.paragraph:
        yield line()
        yield line(shown.paragraph)
    # What is computed says here little more than the paragraph.
    if shown.detailed and (shown.filled_by or shown.edited):
        yield line()
        yield line(shown.detailed)
    if shown.filled_by:
        yield line((f"Filled in by {shown.filled_by}", "dim"))
    if shown.edited:
        yield whole((f"From {path}", "dim"))
    if shown.stale:
        yield line((_STALE, "warn"))
