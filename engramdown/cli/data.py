"""The shapes of ``--json``: what each kind of result looks like to a program.

Promises: pure; keys stay, new ones may come; texts are exact. docs/cli.md lists the shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engramdown import Entry, Proposal, Receipt
from engramdown.hippocampus.entry import Archived
from engramdown.hippocampus.history import Step

if TYPE_CHECKING:
    from engramdown.cortex.news import News
    from engramdown.cortex.pulled import Arrival

    # Only named here: most commands show no transcript.
    from engramdown.recall.episodes import Hit


Folders = Mapping[str, Path]
"""The memory folder of each scope."""


def entry_data(entry: Entry, folders: Folders) -> dict[str, Any]:
    """Return a memory and where it stands."""
    folder = folders.get(entry.scope)
    return {
        "id": entry.id,
        "text": entry.text,
        "kind": entry.kind,
        "scope": entry.scope,
        "confidence": entry.confidence,
        "source": entry.source,
        "basis": entry.basis,
        "topic": entry.topic,
        "ts": entry.ts,
        "origin": entry.origin,
        "expires": entry.expires,
        "pin": entry.pin,
        "heading": entry.heading,
        "comments": entry.comments,
        "file": entry.disk_file,
        "line": entry.line,
        "path": str(folder / entry.disk_file) if folder and entry.file else "",
    }


def receipt_data(receipt: Receipt) -> dict[str, Any]:
    """Return what happened to one memory."""
    return {
        "action": receipt.action,
        "reason": receipt.reason,
        "id": receipt.id,
        "file": receipt.file,
        "line": receipt.line,
        "text": receipt.engram.text,
        "kind": receipt.engram.kind,
        "scope": receipt.engram.scope,
    }


def proposal_data(proposal: Proposal, folders: Folders) -> dict[str, Any]:
    """Return what waits for a person, with what it would replace and what it is like."""
    engram = proposal.engram
    return {
        "id": proposal.id,
        "op": proposal.op,
        "text": engram.text,
        "kind": engram.kind,
        "scope": engram.scope,
        "confidence": engram.confidence,
        "source": engram.source,
        "basis": engram.basis,
        "topic": engram.topic,
        "origin": engram.origin,
        "ts": proposal.ts,
        "comments": proposal.comments,
        "hold": proposal.hold,
        "reason": proposal.reason,
        "came_with_git": proposal.op == "load" or not proposal.is_ours,
        "file": proposal.file,
        "line": proposal.line,
        "replaces": entry_data(proposal.replaces, folders) if proposal.replaces else None,
        "takes": [entry_data(entry, folders) for entry in proposal.takes],
        "similar": [entry_data(entry, folders) for entry in proposal.similar],
    }


def arrival_data(arrival: Arrival) -> dict[str, Any]:
    """Return what git brought."""
    return {**arrival._asdict(), "path": str(arrival.path)}


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return a line of a transcript that was found."""
    return {
        "pointer": str(hit.pointer),
        "session": hit.session,
        "seq": hit.seq,
        "time": hit.time,
        "role": hit.role,
        "name": hit.name,
        "text": hit.text,
        "snippet": hit.snippet,
        "score": hit.score,
    }


def step_data(step: Step, scope: str) -> dict[str, Any]:
    """Return one change to memory."""
    return {
        "id": step.id,
        "at": step.at,
        "by": step.by,
        "op": step.op,
        "why": step.why,
        "of": step.of,
        "scope": scope,
        "files": list(step.files),
        "changes": [
            {
                "id": change.id,
                "file": change.file,
                "before": change.before,
                "after": change.after,
                **({"erased": True} if change.erased else {}),
            }
            for change in step.changes
        ],
    }


def archived_data(item: Archived, folders: Folders) -> dict[str, Any]:
    """Return a retired memory, with the reason."""
    return {
        **entry_data(item.entry, folders),
        "reason": item.reason,
        "by": item.by,
        "date": item.date,
        "replaced": item.replaced,
    }


def news_data(item: News, folders: Folders) -> dict[str, Any]:
    """Return what happened to memory while it was watched."""
    folder = folders.get(item.scope)
    path = str(folder / item.file) if folder and item.file else ""
    return {**item._asdict(), "path": path}
