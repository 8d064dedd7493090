"""One scope's memory: markdown files that a person owns, and the protocol that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.hippocampus.changeset import (
        Act,
        Draft,
        FileChange,
        PlanContext,
        Revision,
        new_id,
        revise,
        verified_by,
    )
    from engramdown.hippocampus.entry import (
        Archived,
        Entry,
        as_entry,
        begins,
        by_prefix,
        entry_id,
        raw_entries,
        retired_name,
        tombstones,
    )
    from engramdown.hippocampus.files import step_group
    from engramdown.hippocampus.history import Change, Step
    from engramdown.hippocampus.snapshot import meant
    from engramdown.hippocampus.store import REFUSAL, REFUSED, ClosedDisk, Hippocampus, is_refused
    from engramdown.hippocampus.undo import ERRANDS

__all__ = [
    "ERRANDS",
    "REFUSAL",
    "REFUSED",
    "Act",
    "Archived",
    "Change",
    "ClosedDisk",
    "Draft",
    "Entry",
    "FileChange",
    "Hippocampus",
    "PlanContext",
    "Revision",
    "Step",
    "as_entry",
    "begins",
    "by_prefix",
    "entry_id",
    "is_refused",
    "meant",
    "new_id",
    "raw_entries",
    "retired_name",
    "revise",
    "step_group",
    "tombstones",
    "verified_by",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "changeset": [
            *("Act", "Draft", "FileChange", "PlanContext", "Revision", "new_id", "revise"),
            "verified_by",
        ],
        "entry": [
            *("Archived", "Entry", "as_entry", "begins", "by_prefix", "entry_id"),
            *("raw_entries", "retired_name", "tombstones"),
        ],
        "files": ["step_group"],
        "history": ["Change", "Step"],
        "snapshot": ["meant"],
        "store": ["ClosedDisk", "Hippocampus", "REFUSAL", "REFUSED", "is_refused"],
        "undo": ["ERRANDS"],
    },
)
