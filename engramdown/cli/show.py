"""``engramdown list``, ``show`` and ``why``: memory as it is, and where it comes from.

None of them changes what it shows; all read well in 80 columns and stay readable in fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown import Cortex, Entry, Proposal, serializers
from engramdown.cli import commands, log_show, process, views
from engramdown.cli import history as said
from engramdown.cli.access import find_anywhere, open_cortex
from engramdown.cli.layout import Line, clock, line, whole
from engramdown.cli.output import REFUSED, RefusalError
from engramdown.cli.process import Place
from engramdown.clock import local
from engramdown.context import Page
from engramdown.engram import CONFIDENCES, KINDS, SCOPES, SOURCES
from engramdown.gate import Said, Taught, Why
from engramdown.hippocampus import Archived, meant, passes
from engramdown.kinds import PROFILE, SOUL
from engramdown.language import visible
from engramdown.lazy import texts
from engramdown.markdown import is_address

if TYPE_CHECKING:
    from engramdown.engram import Engram

_SHOWN: Final = 300
_WHO: Final = {"soul": "the assistant is", "profile": "you are"}
_NEXT: Final = {"soul": "", "profile": ', or begin with `engramdown remember "My name is ..."`'}
# The words of this module, by what they are about and a code.
_WORDS: Final = texts(__file__)
_SCOPE: Final = {"soul": "the project's comes first", "profile": "a project has no profile"}


# ---- the list ----


@click.command("list")
@click.option("--kind", type=click.Choice(KINDS), multiple=True, help="Only of this kind.")
@click.option("--scope", type=click.Choice(SCOPES), multiple=True, help="Only of this scope.")
@click.option("--topic", metavar="TOPIC", default="", help="Only about this topic.")
@click.option("--confidence", type=click.Choice(CONFIDENCES), multiple=True, help="Only so sure.")
@click.option("--source", type=click.Choice(SOURCES), multiple=True, help="Only from this source.")
@click.option("--older", type=click.IntRange(0), metavar="DAYS", help="Only older than DAYS days.")
@click.option("--newer", type=click.IntRange(0), metavar="DAYS", help="Only of the last DAYS days.")
@click.option("--archived", is_flag=True, help="Retired memories instead, with the reason.")
@commands.as_of_option()
@commands.shows
def list_command(place: Place, /, *, archived: bool, **filters: Any) -> None:  # noqa: ANN401 - as click gives them
    """List memories, file by file.

    A filter that is given several times lets any of its values pass. A memory without a date
    passes no filter by age.
    """
    as_of, _ = filters.pop("as_of"), filters.pop("as_json")
    cortex = open_cortex(place, as_of=as_of)
    now, where = cortex.scopes.day(), serializers.folders(cortex)
    # One line each for what reads line by line, as grep does.
    folded = not process.is_terminal(sys.stdout)
    if archived:
        items = [item for item in cortex.scopes.archived() if passes(item.entry, now, filters)]
        data = [serializers.archived_data(item, where) for item in items]
        commands.show(views.archived_lines(items, folded=folded), data)
    else:
        entries = [entry for entry in cortex.entries() if passes(entry, now, filters)]
        data = [serializers.entry_data(entry, where) for entry in entries]
        commands.show(views.grouped_lines(entries, folded=folded), data)
    # Files that could not be read are reported, with a code of their own.
    if not data and not cortex.scopes.unread():
        nothing = 'nothing is remembered yet; begin with `engramdown remember "..."`'
        if any(value not in (None, (), "") for value in filters.values()):
            nothing = "no memory passes these filters; `engramdown list` shows everything"
        elif as_of and archived:
            nothing = f"nothing was retired as of {as_of}; without --as-of comes what is now"
        elif as_of:
            nothing = f"nothing is known of memory as of {as_of}; `engramdown list` shows it now"
        elif archived:
            nothing = "nothing was retired so far; `engramdown forget ID` retires a memory"
        process.complain(nothing)
        raise Exit(REFUSED)


# ---- one memory ----


@click.command()
@commands.id_argument
@commands.as_of_option("--at")
@commands.shows
def show(place: Place, /, *, entry_id: str, as_of: str, **_: object) -> None:
    """Show one memory in full: what is known about it, and its line as it is in the file.

    ID is an id or the beginning of one: of a memory, of a proposal or of a retired memory. `soul`
    and `profile` show who the assistant is and who you are, and the file that is used.
    """
    if is_page(entry_id):
        if as_of:
            raise click.UsageError(
                "--as-of shows a memory by its id; `git show REV:FILE` shows a page as it was"
            )
        _show_page(open_cortex(place), entry_id)
        return
    cortex = open_cortex(place, as_of=as_of)
    item, past = find_anywhere(cortex, entry_id), cortex.scopes.past
    where = serializers.folders(cortex)
    data, raw_line = serializers.found_data(item, where), ""
    head, more = list[Line](), list[Line]()
    if isinstance(item, Entry):
        data["raw"] = raw_line = cortex.scopes.raw_text(item)
        more = [line(), line((f"`engramdown why {item.id}` says where it comes from.", "dim"))]
    if past:
        commit = past.commit
        when = f"on {clock(past.at)}"
        then = f"in {said.commit(commit)}: {commit.subject}" if commit else when
        head, more = [line((f"As it was {then}", "dim"), hang=2), line()], []
        data["commit"] = commit._asdict() if commit else None
    commands.show([*head, *views.full_lines(item, where, raw_line), *more], data)


# ---- pages ----


def is_page(name: str) -> bool:
    """Whether an argument means a page: ``soul``, ``profile``, or how its file may be called.

    >>> [name for name in ("soul", "SOUL.md", "profile", "user.md", "k3v9q2ht") if is_page(name)]
    ['soul', 'SOUL.md', 'profile', 'user.md']
    """
    return _file(name) in (SOUL, PROFILE)


def _show_page(cortex: Cortex, name: str) -> None:
    """Show a page, and which file it is.

    Raises:
        RefusalError: There is no such page.
    """
    page = _page(cortex, name)
    commands.show(
        _page_lines(page) if page.is_there or page.also else (), serializers.page_data(page)
    )
    if not page.is_there and not page.also and not cortex.scopes.unread():
        raise RefusalError(_no_page(page))


def _file(name: str) -> str:
    lowered = name.lower()
    return meant(lowered if lowered.endswith(".md") else f"{lowered}.md")


def _page(cortex: Cortex, name: str) -> Page:
    pages = cortex.context.identity().pages
    return pages[0 if _file(name) == SOUL else 1]


def _no_page(page: Page) -> str:
    """Say that there is no page, and where to begin one."""
    if page.path is None:
        return f"no file says who {_WHO[page.name]}: this store has none"
    return f"no file says who {_WHO[page.name]}; create {page.path}{_NEXT[page.name]}"


def _page_lines(page: Page) -> Iterator[Line]:
    if page.is_there:
        yield whole((str(page.path), "where"))
        whose = serializers.SCOPE_NAMES[page.scope]
        yield line((f"who {_WHO[page.name]}, for {whose}", "dim"))
        yield line()
        yield whole(page.text.rstrip("\r\n"))
    if page.also:
        yield line()
        yield from (whole((f"also used: {path}", "where")) for path in page.also)
    if page.aside:
        yield line()
    for file in page.aside:
        why_not = _SCOPE[page.name] if file.why == "scope" else _WORDS[f"unused {file.why}"]
        yield whole((f"not used: {file.path} ({why_not})", "warn"))


# ---- where it comes from ----


@click.command()
@commands.id_argument
@commands.shows
def why(place: Place, /, *, entry_id: str, **_: object) -> None:
    """Say where a memory comes from: who said it, what taught it, each step since.

    ID is an id or the beginning of one: of a memory, of a proposal or of a retired memory. It
    shows the lines of transcripts that taught it, with two lines on each side, and the commit of
    git that brought it, if there is one.
    """
    cortex = open_cortex(place)
    item = find_anywhere(cortex, entry_id)
    known = cortex.why(item.entry.id if isinstance(item, Archived) else item.id)
    data = serializers.why_data(known, serializers.folders(cortex))
    commands.show(_why_lines(known), data)


def _why_lines(known: Why) -> Iterator[Line]:
    item = known.found
    entry = item.entry if isinstance(item, Archived) else item
    engram = entry.engram if isinstance(entry, Proposal) else entry
    yield line((engram.text, "strong"), *views.beside(entry.comments))
    yield line()
    yield from map(line, _facts(known, engram))
    for taught in known.taught:
        yield from _taught_lines(taught)
    if known.stands:
        yield line()
        yield line(("What took its place", "strong"))
        yield line((f"{known.stands.id}  ", "id"), visible(known.stands.text))
    if known.made_of:
        yield line()
        yield line(("It replaces", "strong"))
        yield from views.archived_lines(known.made_of)
    for step, scope in known.steps:
        yield line()
        yield from said.step_lines(step, scope)


def _facts(known: Why, engram: Engram | Entry) -> Iterator[str]:
    """Yield the facts about a memory, a sentence each."""
    found, brought = known.found, known.brought
    if known.is_ours:
        yield said.whence(engram.source, engram.basis, engram.origin)
    else:
        yield "It came with git: nobody here said or confirmed it."
    if isinstance(found, Entry):
        yield f"It is in {views.place(found)}, for {serializers.SCOPE_NAMES[found.scope]}."
    else:
        yield said.waits_in(found) if isinstance(found, Proposal) else said.retired(found)
    if isinstance(found, Entry) and is_address(found.id) and known.is_ours:
        yield "A person wrote this line by hand: it is theirs, and no automatic job touches it."
    elif not known.steps:
        yield "The journal has no step about it: it came with the file."
    for cited, state in known.cites:
        yield f"It cites {cited.partition('@')[0]}, which {_WORDS[f'state {state}']}."
    if isinstance(found, Entry):
        shown, recalled = said.uses("shown", known.shown), said.uses("recalled", known.recalled)
        yield f"It was {shown} and {recalled}."
    if known.waited and not isinstance(found, Proposal):
        yield f"It waited for you first, because: {known.waited}."
    if brought.commit is None:
        is_sentence = brought.problem.startswith("is ")
        yield f"It {brought.problem}." if is_sentence else f"git: {brought.problem}"
        return
    by_git = known.first.step.op == "checkout" if known.first else not known.steps
    how = "It came with commit" if by_git else "It is in git since commit"
    more = "; older commits were not fetched" if brought.shallow else ""
    yield f"{how} {said.commit(brought.commit)}: {brought.commit.subject}{more}"


def _taught_lines(taught: Taught) -> Iterator[Line]:
    source = f", imported from {taught.source}" if taught.source else ""
    yield line()
    yield line((f"Learned in {taught.pointer}{source}", "strong"))
    if taught.said is None:
        yield line((_WORDS[f"problem {taught.problem}"], "warn"), indent=2)
        return
    for each in (*taught.before, taught.said, *taught.after):
        yield from _said_lines(taught.pointer.session, each, marked=each is taught.said)


def _said_lines(session: str, each: Said, *, marked: bool) -> Iterator[Line]:
    episode = each.episode
    yield line(
        ("> " if marked else "  ", "warn"),
        (f"#{episode.seq}", "id"),
        "  ",
        (log_show.speaks(episode.role, episode.name), "strong" if marked else "dim"),
        (f"  {local(episode.at):%Y-%m-%d %H:%M}", "dim"),
        hang=4,
    )
    if each.hidden:
        yield line((_WORDS[f"hidden {each.hidden}"], "warn"), indent=4)
    elif marked:
        yield line(episode.text.rstrip("\n"), indent=4)
        yield from log_show.cut_lines(episode, session, indent=4)
    else:
        text = views.one_line(episode.text)
        more = "…" if len(text) > _SHOWN else ""
        yield line((f"{text[:_SHOWN]}{more}", "dim"), indent=4)
