"""``engramdown list``, ``show``, ``why`` and ``edit --who``: memory as it is, and where it is from.

None of them changes what it shows; all read well in 80 columns and stay readable in fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex, Entry, Proposal
from engramdown.cli import history as said
from engramdown.cli import log_show, messages, output, process, views
from engramdown.cli.access import find_anywhere, folders, open_cortex, raw_text, roots
from engramdown.cli.commands import given, id_argument, json_option, pass_place
from engramdown.cli.history import commit, commit_data, place_in_git, step_lines
from engramdown.cli.layout import Line, line, pick, whole
from engramdown.cli.layout import diff as diff_who
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.cli.user_input import edit_file
from engramdown.cli.views import place as place_of
from engramdown.clock import local, today
from engramdown.context import Page
from engramdown.engram import CONFIDENCES, KINDS, SCOPES, SOURCES, slug
from engramdown.errors import AmbiguousIdError, EntryNotFoundError, GitError
from engramdown.gate import Known, Said, Taught, Why
from engramdown.git import Commit, State, raw
from engramdown.git import Known as GitEntry
from engramdown.git import find as find_in_state
from engramdown.hippocampus import Archived, meant
from engramdown.hippocampus import Entry as StoredEntry
from engramdown.kinds import PENDING, PROFILE, SOUL
from engramdown.markdown import is_address
from engramdown.transcripts import Pointer

if TYPE_CHECKING:
    from pathlib import Path

    from engramdown.cli.access import Found
    from engramdown.context import Aside
    from engramdown.gate import Brought


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
        if cortex.scopes.unread():
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
        show_at(place, entry_id, rev, as_json=as_json)
        return
    cortex = open_cortex(place)
    found = find_anywhere(cortex, entry_id)
    if as_json:
        output.print_json(_full_data(cortex, found))
        return
    raw = _raw(cortex, found) if isinstance(found, Entry) else ""
    output.screen().show(views.full_lines(found, folders(cortex), raw))
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
        output.screen().show(views.grouped_lines(entries, folded=_is_folded()))
    return bool(entries)


def _is_folded() -> bool:
    """Whether each memory is one line: for what reads line by line, as grep does."""
    return not process.is_terminal(sys.stdout)


def _show_archived(cortex: Cortex, wanted: Filter, *, as_json: bool) -> bool:
    now = today()
    items = [item for item in cortex.scopes.archived() if wanted.passes(item.entry, now)]
    if as_json:
        where = folders(cortex)
        output.print_json([views.archived_data(item, where) for item in items])
    else:
        output.screen().show(views.archived_lines(items, folded=_is_folded()))
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


def show_at(place: Place, entry_id: str, rev: str, *, as_json: bool) -> None:
    """Show what an id or its beginning meant in the commit ``rev``.

    Raises:
        GitError: There is no repository, or no such commit.
        EntryNotFoundError: It meant nothing.
        RefusalError: It meant several things, which are listed.
    """
    first, *others = [scope for scope, _ in roots(place)]
    try:
        found, commit, state = _find(place, first, entry_id, rev)
    except (EntryNotFoundError, GitError) as error:
        for other in others:
            try:
                found, commit, state = _find(place, other, entry_id, rev)
                break
            except (EntryNotFoundError, GitError):
                continue
        else:
            raise error from None
    if as_json:
        output.print_json({**_data(found), "commit": commit_data(commit)})
        return
    screen = output.screen()
    screen.show([line((said.in_commit(commit), "dim"), hang=2), line()])
    screen.show(views.full_lines(found, {}, raw(state, found)))


def _find(place: Place, scope: str, entry_id: str, rev: str) -> tuple[GitEntry, Commit, State]:
    there = place_in_git(place, scope)
    commit = there.repository.commit(rev)
    state = there.at(commit)
    try:
        return find_in_state(state, entry_id, commit.short), commit, state
    except AmbiguousIdError as error:
        entries = [*state.kept.values(), *state.waiting.values()]
        entries += [item.entry for item in state.archived.values()]
        texts = {entry.id: views.one_line(entry.text) for entry in reversed(entries)}
        more = [f"{each}  {texts[each]}" for each in error.matches]
        raise RefusalError(views.ambiguous(entry_id), more) from error


def _data(found: StoredEntry | Archived) -> dict[str, object]:
    if isinstance(found, Archived):
        return {"state": "archived", **views.archived_data(found, {})}
    state = "pending" if found.file == PENDING else "kept"
    return {"state": state, **views.entry_data(found, {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a memory must be to be shown; the values of one field are alternatives.

    Attributes:
        kind: Its kind is one of these.
        scope: Its scope is one of these.
        confidence: Its confidence is one of these.
        source: Its source is one of these.
        topic: It is filed under this topic.
        older: It was written more than so many days ago.
        newer: It was written at most so many days ago.
    """

    kind: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    confidence: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    topic: str = ""
    older: int | None = None
    newer: int | None = None

    def __bool__(self) -> bool:
        """Return whether it keeps anything out."""
        return any(getattr(self, field.name) not in ((), "", None) for field in fields(self))

    def passes(self, entry: Entry, today: date) -> bool:
        """Return whether ``entry`` is to be shown; one without a date has no age."""
        choices = (
            (self.kind, entry.kind),
            (self.scope, entry.scope),
            (self.confidence, entry.confidence),
            (self.source, entry.source),
            ((slug(self.topic),) if self.topic else (), entry.topic),
        )
        if any(wanted and value not in wanted for wanted, value in choices):
            return False
        if self.older is None and self.newer is None:
            return True
        age = age_of(entry, today)
        return age is not None and self._fits(age)

    def _fits(self, age: int) -> bool:
        old_enough = self.older is None or age > self.older
        return old_enough and (self.newer is None or age <= self.newer)


def age_of(entry: Entry, today: date) -> int | None:
    """Return how many days ago a memory was written, or ``None`` when that is not known."""
    try:
        return (today - date.fromisoformat(entry.ts)).days
    except ValueError:
        return None


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
        raise click.UsageError(NO_TIME)
    cortex = open_cortex(place)
    page = _page_of(cortex, name)
    if as_json:
        output.print_json(_page_data(page))
    elif page.is_there or page.also:
        output.screen().show(_lines(page))
    if not page.is_there and not page.also and not cortex.scopes.unread():
        raise RefusalError(none(page))


def edit_page(place: Place, name: str, words: str, *, as_json: bool, dry_run: bool) -> None:
    """Open the file of a page in a person's editor.

    Raises:
        click.UsageError: A text was given, or there is no editor.
        RefusalError: There is none.
    """
    if words:
        raise click.UsageError(NO_TEXT)
    before = _page(place, name)
    if before.path is None or not before.is_there:
        raise RefusalError(none(before))
    if not dry_run:
        edit_file(before.path, instead(before))
    # Opened again, so that what was changed is taken in.
    after = before if dry_run else _page(place, name)
    changed = after != before
    if as_json:
        extra = {"dry_run": True} if dry_run else {}
        output.print_json({**_page_data(after), "changed": changed, **extra})
    elif dry_run:
        output.screen().show([whole(opens(before))])
    elif changed:
        output.screen().show([whole((page_changed(after), "good"))])
        output.screen().show(diff_who(before.text, after.text, before.path.name))
    else:
        output.screen().show([line(UNCHANGED)])


def _file(name: str) -> str:
    lowered = name.lower()
    return meant(lowered if lowered.endswith(".md") else f"{lowered}.md")


def _page(place: Place, name: str) -> Page:
    return _page_of(open_cortex(place), name)


def _page_of(cortex: Cortex, name: str) -> Page:
    pages = cortex.context.identity().pages
    return pages[0 if _file(name) == SOUL else 1]


def _lines(page: Page) -> Iterator[Line]:
    if page.is_there:
        yield whole((str(page.path), "where"))
        yield line((where(page), "dim"))
        yield line()
        yield whole(page.text.rstrip("\r\n"))
    if page.also:
        yield line()
        yield from (whole((also(path), "where")) for path in page.also)
    if page.aside:
        yield line()
        yield from (whole((aside(page, file), "warn")) for file in page.aside)


def _page_data(page: Page) -> dict[str, Any]:
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


NO_TEXT: Final = "a page is edited in your editor; say what it is to say there"
NO_TIME: Final = "--at shows a memory by its id; `git show REV:FILE` shows a page as it was"
UNCHANGED: Final = "Nothing changed."
_WHO: Final = {"soul": "the assistant is", "profile": "you are"}
_NEXT: Final = {"soul": "", "profile": ', or begin with `engramdown remember "My name is ..."`'}
_WHY: Final = {
    "spelling": "another file of that name is",
    "empty": "it is empty",
    "waits": "it came with git and waits for `engramdown review`",
    "unreadable": "it cannot be read, or is a link that leaves the project",
}
_SCOPE: Final = {"soul": "the project's comes first", "profile": "a project has no profile"}


def none(page: Page) -> str:
    """Say that there is no page, and where to begin one."""
    if page.path is None:
        return f"no file tells who {_WHO[page.name]}: this store has none"
    return f"no file tells who {_WHO[page.name]}; create {page.path}{_NEXT[page.name]}"


def where(page: Page) -> str:
    """Say for whom a page holds."""
    return f"who {_WHO[page.name]}, for {messages.SCOPE_NAMES[page.scope]}"


def aside(page: Page, file: Aside) -> str:
    """Say that a file is not used, and why."""
    why = _SCOPE[page.name] if file.why == "scope" else _WHY[file.why]
    return f"not used: {file.path} ({why})"


def also(path: Path) -> str:
    """Say that another file is used as well."""
    return f"also used: {path}"


def instead(page: Page) -> str:
    """Say what to do where no editor can run."""
    return f"change {page.path} yourself"


def opens(page: Page) -> str:
    """Say which file an editor would be given."""
    return f"Would open {page.path}"


def page_changed(page: Page) -> str:
    """Say that a page was changed."""
    return f"Changed {page.path}; running sessions go on as they began"


_SHOWN: Final = 300


@click.command()
@id_argument
@json_option
@pass_place
def why(place: Place, /, *, entry_id: str, as_json: bool) -> None:
    """Say where a memory comes from: who said it, what taught it, each step since.

    ID is an id or the beginning of one: of a memory, of a proposal or of a retired memory. It
    shows the lines of transcripts that taught it, with two lines on each side, and the commit of
    git that brought it, if there is one.
    """
    cortex = open_cortex(place)
    found = find_anywhere(cortex, entry_id)
    known = cortex.why(found.entry.id if isinstance(found, Archived) else found.id)
    if as_json:
        output.print_json(_why_data(cortex, known))
    else:
        output.screen().show(_why_lines(known))


# ---- telling ----


def _why_lines(known: Why) -> Iterator[Line]:
    found = known.found
    entry = found.entry if isinstance(found, Archived) else found
    engram = entry.engram if isinstance(entry, Proposal) else entry
    yield line((engram.text, "strong"), *views.beside(entry.comments))
    yield line()
    if known.is_ours:
        yield line(said.whence(engram.source, engram.basis, engram.origin))
    else:
        yield line(said.SOMEBODY_ELSES)
    yield line(_state(found))
    yield from map(line, _facts(known))
    yield from (row for taught in known.taught for row in _taught_lines(taught))
    if known.made_of:
        yield line()
        yield line((MADE_OF, "strong"))
        yield from views.archived_lines(known.made_of)
    for step, scope in known.steps:
        yield line()
        yield from step_lines(step, scope)


def _state(found: Known) -> str:
    if isinstance(found, Entry):
        return said.stands_in(place_of(found), found.scope)
    if isinstance(found, Proposal):
        return said.waits_in(found)
    return said.retired(found)


def _facts(known: Why) -> Iterator[str]:
    """Yield what else is known, a sentence each."""
    if isinstance(known.found, Entry) and is_address(known.found.id) and known.is_ours:
        yield said.BY_HAND
    elif not known.steps:
        yield said.NO_STEPS
    if known.waited and not isinstance(known.found, Proposal):
        yield waited(known.waited)
    yield brought(known.brought, by_git=_came_by_git(known))


def _came_by_git(known: Why) -> bool:
    first = known.first
    return first.step.op == "checkout" if first else not known.steps


def _taught_lines(taught: Taught) -> Iterator[Line]:
    yield line()
    yield line((said_in(taught), "strong"))
    if taught.said is None:
        yield line((PROBLEMS[taught.problem], "warn"), indent=2)
        return
    for each in taught.before:
        yield from _said_lines(taught.pointer.session, each)
    yield from _said_lines(taught.pointer.session, taught.said, marked=True)
    for each in taught.after:
        yield from _said_lines(taught.pointer.session, each)


def _said_lines(session: str, each: Said, *, marked: bool = False) -> Iterator[Line]:
    episode = each.episode
    yield line(
        ("> " if marked else "  ", "warn"),
        (f"#{episode.seq}", "id"),
        "  ",
        (log_show.speaker(episode), "strong" if marked else "dim"),
        (f"  {local(episode.at):%Y-%m-%d %H:%M}", "dim"),
        hang=4,
    )
    if each.hidden:
        yield line((HIDDEN[each.hidden], "warn"), indent=4)
    elif marked:
        yield line(episode.text.rstrip("\n"), indent=4)
        left = (episode.cut or 0) - len(episode.text)
        if left > 0:
            pointer = str(Pointer(session, episode.seq)) if episode.payload else ""
            yield line((log_show.cut_off(left, pointer), "dim"), indent=4)
    else:
        text = views.one_line(episode.text)
        more = "…" if len(text) > _SHOWN else ""
        yield line((f"{text[:_SHOWN]}{more}", "dim"), indent=4)


# ---- for programs ----


def _why_data(cortex: Cortex, known: Why) -> dict[str, Any]:
    where = folders(cortex)
    found = known.found
    if isinstance(found, Proposal):
        data = {"state": "pending", **views.proposal_data(found, where)}
    elif isinstance(found, Entry):
        by_hand = is_address(found.id)
        data = {"state": "kept", "by_hand": by_hand, **views.entry_data(found, where)}
    else:
        data = {"state": "archived", **views.archived_data(found, where)}
    first = known.first
    brought = known.brought
    return {
        **data,
        "receipt": {
            "step": first.step.id if first else "",
            "op": first.step.op if first else "",
            "by": first.step.by if first else "",
            "why": first.step.why if first else "",
            "at": first.step.at if first else "",
            "waited": known.waited,
        },
        "taught": [_taught_data(taught) for taught in known.taught],
        "made_of": [views.archived_data(item, where) for item in known.made_of],
        "commit": brought.commit._asdict() if brought.commit else None,
        "no_commit": brought.problem,
        "shallow": brought.shallow,
        "steps": [views.step_data(step, scope) for step, scope in known.steps],
    }


def _taught_data(taught: Taught) -> dict[str, Any]:
    return {
        "pointer": str(taught.pointer),
        "problem": taught.problem,
        "source": taught.source,
        "line": _said_data(taught.said) if taught.said else None,
        "before": _all_data(taught.before),
        "after": _all_data(taught.after),
    }


def _all_data(lines: Iterable[Said]) -> list[dict[str, Any]]:
    return [_said_data(each) for each in lines]


def _said_data(each: Said) -> dict[str, Any]:
    episode = each.episode
    return {
        "seq": episode.seq,
        "time": episode.ts,
        **pick(episode, "role name text cut"),
        "hidden": each.hidden,
    }


MADE_OF: Final = "It stands for"
PROBLEMS: Final[Mapping[str, str]] = {
    "no-session": "This transcript is not here: it was purged, or is on another machine.",
    "no-line": "The transcript is here, but has no line of this number.",
    "unreadable": "The transcript cannot be read; `engramdown doctor` says why.",
}
"""Why there is no line, by the code of it."""
HIDDEN: Final[Mapping[str, str]] = {
    "redacted": "(redacted)",
    "excluded": "(excluded from memory; `engramdown log show` shows it)",
}
"""Why a line is not shown, by the code of it."""


def waited(reason: str) -> str:
    """Say that a person was asked first, and why."""
    return f"It waited for you first, because: {reason}."


def brought(item: Brought, *, by_git: bool) -> str:
    """Say which commit brought a memory, or why there is none."""
    if item.commit is None:
        return f"It {item.problem}." if item.problem.startswith("is ") else f"git: {item.problem}"
    how = "It came with commit" if by_git else "It is in git since commit"
    more = "; what was before was not fetched" if item.shallow else ""
    return f"{how} {commit(item.commit)}: {item.commit.subject}{more}"


def said_in(taught: Taught) -> str:
    """Name the line that taught a memory, and the program that it was imported from."""
    source = f", imported from {taught.source}" if taught.source else ""
    return f"Learned in {taught.pointer}{source}"
