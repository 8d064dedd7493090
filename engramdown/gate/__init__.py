"""What may be written, and what waits for a person: the way into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.gate.arrivals import Arrival
    from engramdown.gate.compaction import Compaction, CompactionReceipt, Prepared
    from engramdown.gate.erase import Erased, Shared
    from engramdown.gate.gate import REASONS, harmless, kind_of
    from engramdown.gate.intake import Answer, Receipt
    from engramdown.gate.keyed_values import (
        DUPLICATE,
        FIELD,
        HIDDEN,
        KEY,
        MADE,
        NAMESPACE,
        REST,
        WHEN,
        Namespace,
        Place,
        digest_of,
        find_line,
        home_of,
        matches,
        named,
        native,
        proposed,
        put_line,
        written,
    )
    from engramdown.gate.model_runs import ledger_of
    from engramdown.gate.pending import Operation, Pending, Proposal
    from engramdown.gate.pending_file import FileQueue, question
    from engramdown.gate.scopes import Scopes
    from engramdown.gate.why import Brought, Known, Said, Taught, Why

__all__ = [
    "DUPLICATE",
    "FIELD",
    "HIDDEN",
    "KEY",
    "MADE",
    "NAMESPACE",
    "REASONS",
    "REST",
    "WHEN",
    "Answer",
    "Arrival",
    "Brought",
    "Compaction",
    "CompactionReceipt",
    "Erased",
    "FileQueue",
    "Known",
    "Namespace",
    "Operation",
    "Pending",
    "Place",
    "Prepared",
    "Proposal",
    "Receipt",
    "Said",
    "Scopes",
    "Shared",
    "Taught",
    "Why",
    "digest_of",
    "find_line",
    "harmless",
    "home_of",
    "kind_of",
    "ledger_of",
    "matches",
    "named",
    "native",
    "proposed",
    "put_line",
    "question",
    "written",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "arrivals": ["Arrival"],
        "compaction": ["Compaction", "CompactionReceipt", "Prepared"],
        "erase": ["Erased", "Shared"],
        "gate": ["REASONS", "harmless", "kind_of"],
        "keyed_values": [
            "DUPLICATE",
            "FIELD",
            "HIDDEN",
            "KEY",
            "MADE",
            "NAMESPACE",
            "Namespace",
            "Place",
            "REST",
            "WHEN",
            "digest_of",
            "find_line",
            "home_of",
            "matches",
            "named",
            "native",
            "proposed",
            "put_line",
            "written",
        ],
        "model_runs": ["ledger_of"],
        "intake": ["Answer", "Receipt"],
        "pending": ["Operation", "Pending", "Proposal"],
        "pending_file": ["FileQueue", "question"],
        "scopes": ["Scopes"],
        "why": ["Brought", "Known", "Said", "Taught", "Why"],
    },
)
