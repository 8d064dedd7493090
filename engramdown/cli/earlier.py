"""``engramdown show --at``: a memory as it was in a commit.

Promises: changes nothing; also what is no more, by an id or its beginning, in whichever scope it
was.
"""

from __future__ import annotations

from engramdown.cli import history as said
from engramdown.cli import output, views
from engramdown.cli.access import roots
from engramdown.cli.history import commit_data, place_in_git
from engramdown.cli.layout import line
from engramdown.cli.output import RefusalError
from engramdown.cli.process import Place
from engramdown.cli.views import ambiguous, full_lines, one_line
from engramdown.errors import AmbiguousIdError, EntryNotFoundError, GitError
from engramdown.git import diff
from engramdown.git.diff import State
from engramdown.git.repository import Commit
from engramdown.hippocampus.entry import Archived, Entry
from engramdown.hippocampus.placement import PENDING


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
    screen.show(full_lines(found, {}, diff.raw(state, found)))


def _find(place: Place, scope: str, entry_id: str, rev: str) -> tuple[diff.Known, Commit, State]:
    there = place_in_git(place, scope)
    commit = there.repository.commit(rev)
    state = there.at(commit)
    try:
        return diff.find(state, entry_id, commit.short), commit, state
    except AmbiguousIdError as error:
        entries = [*state.kept.values(), *state.waiting.values()]
        entries += [item.entry for item in state.archived.values()]
        texts = {entry.id: one_line(entry.text) for entry in reversed(entries)}
        more = [f"{each}  {texts[each]}" for each in error.matches]
        raise RefusalError(ambiguous(entry_id), more) from error


def _data(found: Entry | Archived) -> dict[str, object]:
    if isinstance(found, Archived):
        return {"state": "archived", **views.archived_data(found, {})}
    state = "pending" if found.file == PENDING else "kept"
    return {"state": state, **views.entry_data(found, {})}
