"""One scope's memory: markdown files that a person owns, and the protocol that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.hippocampus.changeset import Act as Act
    from engramdown.hippocampus.changeset import Draft as Draft
    from engramdown.hippocampus.changeset import FileChange as FileChange
    from engramdown.hippocampus.changeset import Revision as Revision
    from engramdown.hippocampus.changeset import new_id as new_id
    from engramdown.hippocampus.changeset import revise as revise
    from engramdown.hippocampus.changeset import verified_by as verified_by
    from engramdown.hippocampus.citations import Citation as Citation
    from engramdown.hippocampus.citations import Citations as Citations
    from engramdown.hippocampus.entry import Archived as Archived
    from engramdown.hippocampus.entry import Entry as Entry
    from engramdown.hippocampus.entry import as_entry as as_entry
    from engramdown.hippocampus.entry import begins as begins
    from engramdown.hippocampus.entry import by_prefix as by_prefix
    from engramdown.hippocampus.entry import entry_id as entry_id
    from engramdown.hippocampus.entry import raw_entries as raw_entries
    from engramdown.hippocampus.entry import retired_name as retired_name
    from engramdown.hippocampus.entry import tombstones as tombstones
    from engramdown.hippocampus.files import step_group as step_group
    from engramdown.hippocampus.history import Change as Change
    from engramdown.hippocampus.history import Step as Step
    from engramdown.hippocampus.snapshot import meant as meant
    from engramdown.hippocampus.store import REFUSAL as REFUSAL
    from engramdown.hippocampus.store import REFUSED as REFUSED
    from engramdown.hippocampus.store import ClosedDisk as ClosedDisk
    from engramdown.hippocampus.store import Hippocampus as Hippocampus
    from engramdown.hippocampus.store import is_refused as is_refused
    from engramdown.hippocampus.undo import ERRANDS as ERRANDS

__getattr__, __dir__ = door(
    __name__,
    {
        "changeset": [
            *("Act", "Draft", "FileChange", "Revision", "new_id", "revise"),
            "verified_by",
        ],
        "citations": ["Citation", "Citations"],
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
