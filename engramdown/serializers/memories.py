"""Memories, proposals and steps, and what became of them, as values for JSON.

Keys stay, new ones may be added, and texts are exact; docs/cli.md lists the shapes. The functions
only read what they are given. What they take is imported for type checkers alone, so that a command
loads no more than it needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engramdown import Cortex, Entry, Proposal, Receipt
    from engramdown.context import Page
    from engramdown.gate import Arrival, Erased, Said, Taught, Why
    from engramdown.git import Change as Difference
    from engramdown.git import Place, Sides
    from engramdown.hippocampus import Archived, FileChange, Step
    from engramdown.sleep import News

# What a person calls who said or did something, and a scope.
BY_NAMES: Final = {
    "user": "you",
    "person": "you, by hand",
    "llm": "the assistant",
    "consolidation": "tidying up",
    "engramdown": "Engramdown",
    "git": "somebody else, in a commit",
}
SCOPE_NAMES: Final = {"project": "this project", "global": "all projects", "builtin": "built in"}

# How many lines a diff shows around a change.
_CONTEXT_LINES: Final = 2
# The text that every patch program knows.
_NO_END: Final = "\\ No newline at end of file"
# The memory folder of each scope.
Folders = Mapping[str, Path]

_OF_ENTRY: Final = (
    "id text kind scope confidence source basis topic ts origin expires pin heading comments cites"
)


def pick(item: object, names: str) -> dict[str, Any]:
    """Return the attributes of an item with these names, as JSON shows them.

    >>> pick(Path("notes/a.md"), "name suffix")
    {'name': 'a.md', 'suffix': '.md'}
    """
    return {name: getattr(item, name) for name in names.split()}


def folders(cortex: Cortex) -> dict[str, Path]:
    """Return the memory folder of each scope."""
    return {store.scope: store.memory for store in cortex.scopes.stores}


# ---- one memory ----


def entry_data(entry: Entry, folders: Folders) -> dict[str, Any]:
    """Return a memory and its place."""
    folder = folders.get(entry.scope)
    return {
        **pick(entry, _OF_ENTRY),
        "file": entry.disk_file,
        "line": entry.line,
        "path": str(folder / entry.disk_file) if folder and entry.file else "",
    }


def archived_data(item: Archived, folders: Folders) -> dict[str, Any]:
    """Return a retired memory, with the reason."""
    return {**entry_data(item.entry, folders), **pick(item, "reason by date replaced")}


def proposal_data(proposal: Proposal, folders: Folders) -> dict[str, Any]:
    """Return a proposal, with the memories that it would replace and those that are like it."""
    return {
        **pick(proposal, "id op"),
        **pick(proposal.engram, "text kind scope confidence source basis topic origin cites"),
        **pick(proposal, "ts comments hold reason"),
        "came_with_git": proposal.op == "load" or not proposal.is_ours,
        **pick(proposal, "file line"),
        "replaces": entry_data(proposal.replaces, folders) if proposal.replaces else None,
        "takes": [entry_data(entry, folders) for entry in proposal.takes],
        "similar": [entry_data(entry, folders) for entry in proposal.similar],
    }


def found_data(found: Entry | Proposal | Archived, folders: Folders) -> dict[str, Any]:
    """Return a memory with its state: ``kept``, ``pending`` or ``archived``."""
    # Imported here: whoever found something has loaded them.
    from engramdown.gate import Proposal
    from engramdown.hippocampus import Archived
    from engramdown.kinds import PENDING

    if isinstance(found, Archived):
        return {"state": "archived", **archived_data(found, folders)}
    if isinstance(found, Proposal):
        return {"state": "pending", **proposal_data(found, folders)}
    state = "pending" if found.file == PENDING else "kept"
    return {"state": state, **entry_data(found, folders)}


def page_data(page: Page) -> dict[str, Any]:
    """Return a page that says who somebody is, and which files are used and which are not."""
    return {
        "state": "page",
        **pick(page, "name scope"),
        "path": str(page.path or ""),
        **pick(page, "is_there text"),
        "also_used": page.also,
        "not_used": [pick(file, "path why") for file in page.aside],
    }


# ---- what became of memories ----


def receipt_data(receipt: Receipt) -> dict[str, Any]:
    """Return what happened to one memory."""
    happened = pick(receipt, "action reason id file line")
    return {**happened, **pick(receipt.engram, "text kind scope")}


def review_data(
    arrivals: Iterable[Arrival],
    receipts: Iterable[Receipt],
    waiting: Iterable[Proposal],
    folders: Folders,
) -> dict[str, Any]:
    """Return the review queue.

    Args:
        arrivals: What came with git.
        receipts: What became of the proposals that were decided.
        waiting: The proposals that wait.
        folders: The memory folder of each scope.
    """
    return {
        "news": [arrival._asdict() for arrival in arrivals],
        "receipts": [receipt_data(receipt) for receipt in receipts],
        "pending": [proposal_data(proposal, folders) for proposal in waiting],
    }


def changed_data(entry: Entry, folders: Folders) -> dict[str, Any]:
    """Return a memory whose text was changed."""
    return {"changed": True, **entry_data(entry, folders)}


def forgotten_data(entries: Iterable[Entry], folders: Folders) -> dict[str, Any]:
    """Return the memories that were retired."""
    return {"forgotten": [entry_data(entry, folders) for entry in entries]}


def erased_data(done: Erased, *, dry_run: bool) -> dict[str, Any]:
    """Return what was erased for good, or would be, and what stays."""
    return {
        "dry_run": dry_run,
        "erased": done.changed,
        "memories": [gone._asdict() for gone in done.memories],
        **pick(done, "versions steps"),
        "lines": [{"scope": scope, **held._asdict()} for scope, held in done.lines],
        **pick(done, "files stays"),
        "shared": [each._asdict() for each in done.shared],
        **pick(done, "unreached left"),
    }


def news_data(item: News, folders: Folders) -> dict[str, Any]:
    """Return one change of memory that was watched."""
    folder = folders.get(item.scope)
    path = str(folder / item.file) if folder and item.file else ""
    return {**item._asdict(), "path": path}


# ---- what a dry run would change ----


def planned_data(changes: Iterable[FileChange]) -> list[dict[str, Any]]:
    """Return the files that would change, each with its unified diff."""
    return [
        {
            "path": str(change.path),
            "diff": "\n".join(diff_rows(change.before, change.after, change.path.name)),
        }
        for change in changes
        if change.before != change.after
    ]


def diff_rows(before: str, after: str, name: str) -> list[str]:
    """Return the rows of the unified diff of two texts."""
    # Imported here: few commands show one.
    import difflib
    from io import StringIO

    # Split at line feeds only.
    old, new = (list(StringIO(text, newline="\n")) for text in (before, after))
    rows = []
    for row in difflib.unified_diff(old, new, name, name, n=_CONTEXT_LINES):
        rows.append(row.removesuffix("\n"))
        if not row.endswith("\n"):
            rows.append(_NO_END)
    return rows


# ---- steps ----


def step_data(step: Step, scope: str) -> dict[str, Any]:
    """Return one change to memory."""
    changes = []
    for change in step.changes:
        erased = {"erased": True} if change.erased else {}
        changes.append({**pick(change, "id file before after"), **erased})
    facts = {**pick(step, "id at by op why of"), "scope": scope}
    return {**facts, "files": list(step.files), "changes": changes}


def undone_data(
    undone: Sequence[tuple[Step, str]], passed: Iterable[tuple[Step, str]] = ()
) -> dict[str, Any]:
    """Return the steps that were undone together, the newest first, each with its scope.

    Args:
        undone: At least one.
        passed: Newer ones that were passed over, because nothing that they wrote is left.
    """
    last, *others = (step_data(step, scope) for step, scope in undone)
    over = [step_data(step, scope) for step, scope in passed]
    return {"undone": last, "together_with": others, "passed_over": over}


def differences_data(place: Place, sides: Sides, changes: Sequence[Difference]) -> dict[str, Any]:
    """Return what changed in memory between two states of it.

    Args:
        place: The memory, and its repository.
        sides: The two states.
        changes: What changed from one to the other.
    """
    from engramdown.git import VERBS

    totals = Counter(change.verb for change in changes)
    return {
        "scope": place.scope,
        "from": sides.old._asdict(),
        "to": sides.new._asdict() if sides.new else None,
        "counts": {verb: totals[verb] for verb in VERBS if totals[verb]},
        "changes": [
            _difference_data(change, sides.spelled(change), place.root / "memory")
            for change in changes
        ],
    }


def _difference_data(change: Difference, file: str, folder: Path) -> dict[str, Any]:
    return {
        **pick(change, "verb id"),
        "file": file,
        "path": str(folder / file),
        "before": entry_data(change.before, {}) if change.before else None,
        "after": entry_data(change.after, {}) if change.after else None,
        "notes": [{"name": name, "before": old, "after": new} for name, old, new in change.notes],
        **{name: getattr(change.record, name, "") for name in ("reason", "by", "replaced")},
    }


# ---- where a memory comes from ----


def why_data(known: Why, folders: Folders) -> dict[str, Any]:
    """Return everything that is known about the origin of a memory."""
    from engramdown.hippocampus import Entry
    from engramdown.markdown import is_address

    found, brought = known.found, known.brought
    data = found_data(found, folders)
    if isinstance(found, Entry):
        data = {"state": "kept", "by_hand": is_address(found.id), **data}
    step = known.first.step if known.first else None
    receipt = {
        "step": step.id if step else "",
        **{name: getattr(step, name, "") for name in ("op", "by", "why", "at")},
        "waited": known.waited,
    }
    return {
        **data,
        "receipt": receipt,
        "taught": [_taught_data(taught) for taught in known.taught],
        "shown": known.shown._asdict(),
        "recalled": known.recalled._asdict(),
        "cites": [{"place": cited, "state": state} for cited, state in known.cites],
        "stands": entry_data(known.stands, folders) if known.stands else None,
        "made_of": [archived_data(item, folders) for item in known.made_of],
        "commit": brought.commit._asdict() if brought.commit else None,
        "no_commit": brought.problem,
        "shallow": brought.shallow,
        "steps": [step_data(step, scope) for step, scope in known.steps],
    }


def _taught_data(taught: Taught) -> dict[str, Any]:
    return {
        "pointer": str(taught.pointer),
        **pick(taught, "problem source"),
        "line": _said_data(taught.said) if taught.said else None,
        "before": list(map(_said_data, taught.before)),
        "after": list(map(_said_data, taught.after)),
    }


def _said_data(each: Said) -> dict[str, Any]:
    episode = each.episode
    more = {**pick(episode, "role name text cut"), "hidden": each.hidden}
    return {"seq": episode.seq, "time": episode.ts, **more}
