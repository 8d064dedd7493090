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
        Written,
        begins,
        by_prefix,
        entry_id,
        retired_name,
    )
    from engramdown.hippocampus.files import MemoryFiles, step_group
    from engramdown.hippocampus.history import Change, Step
    from engramdown.hippocampus.placement import as_entry, raw_entries, tombstones
    from engramdown.hippocampus.protocol import BatchProtocol, Files, HippocampusProtocol
    from engramdown.hippocampus.snapshot import meant
    from engramdown.hippocampus.store import (
        REFUSAL,
        REFUSED,
        ClosedDisk,
        Hippocampus,
        Store,
        is_refused,
    )
    from engramdown.hippocampus.undo import ERRANDS

__all__ = [
    "ERRANDS",
    "REFUSAL",
    "REFUSED",
    "Act",
    "Archived",
    "BatchProtocol",
    "Change",
    "ClosedDisk",
    "Draft",
    "Entry",
    "FileChange",
    "Files",
    "Hippocampus",
    "HippocampusProtocol",
    "MemoryFiles",
    "PlanContext",
    "Revision",
    "Step",
    "Store",
    "Written",
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
            "Act",
            "Draft",
            "FileChange",
            "PlanContext",
            "Revision",
            "new_id",
            "revise",
            "verified_by",
        ],
        "entry": [
            "Archived",
            "Entry",
            "Written",
            "begins",
            "by_prefix",
            "entry_id",
            "retired_name",
        ],
        "files": ["MemoryFiles", "step_group"],
        "history": ["Change", "Step"],
        "placement": ["as_entry", "raw_entries", "tombstones"],
        "protocol": ["BatchProtocol", "Files", "HippocampusProtocol"],
        "snapshot": ["meant"],
        "store": ["ClosedDisk", "Hippocampus", "REFUSAL", "REFUSED", "Store", "is_refused"],
        "undo": ["ERRANDS"],
    },
)
