"""What may be written, and what waits for a person: the way into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.gate.arrivals import Arrival as Arrival
    from engramdown.gate.compaction import Compaction as Compaction
    from engramdown.gate.compaction import CompactionReceipt as CompactionReceipt
    from engramdown.gate.compaction import Prepared as Prepared
    from engramdown.gate.erase import Erased as Erased
    from engramdown.gate.erase import Shared as Shared
    from engramdown.gate.gate import REASONS as REASONS
    from engramdown.gate.gate import harmless as harmless
    from engramdown.gate.gate import kind_of as kind_of
    from engramdown.gate.intake import Receipt as Receipt
    from engramdown.gate.keyed_values import DUPLICATE as DUPLICATE
    from engramdown.gate.keyed_values import FIELD as FIELD
    from engramdown.gate.keyed_values import HIDDEN as HIDDEN
    from engramdown.gate.keyed_values import KEY as KEY
    from engramdown.gate.keyed_values import MADE as MADE
    from engramdown.gate.keyed_values import NAMESPACE as NAMESPACE
    from engramdown.gate.keyed_values import REST as REST
    from engramdown.gate.keyed_values import WHEN as WHEN
    from engramdown.gate.keyed_values import Namespace as Namespace
    from engramdown.gate.keyed_values import Place as Place
    from engramdown.gate.keyed_values import digest_of as digest_of
    from engramdown.gate.keyed_values import find_line as find_line
    from engramdown.gate.keyed_values import home_of as home_of
    from engramdown.gate.keyed_values import matches as matches
    from engramdown.gate.keyed_values import named as named
    from engramdown.gate.keyed_values import native as native
    from engramdown.gate.keyed_values import proposed as proposed
    from engramdown.gate.keyed_values import put_line as put_line
    from engramdown.gate.keyed_values import written as written
    from engramdown.gate.model_runs import ledger_of as ledger_of
    from engramdown.gate.pending import Answer as Answer
    from engramdown.gate.pending import Operation as Operation
    from engramdown.gate.pending import Pending as Pending
    from engramdown.gate.pending import Proposal as Proposal
    from engramdown.gate.pending_file import FileQueue as FileQueue
    from engramdown.gate.pending_file import question as question
    from engramdown.gate.scopes import Scopes as Scopes
    from engramdown.gate.why import Brought as Brought
    from engramdown.gate.why import Known as Known
    from engramdown.gate.why import Said as Said
    from engramdown.gate.why import Taught as Taught
    from engramdown.gate.why import Why as Why

__getattr__, __dir__ = door(
    __name__,
    {
        "arrivals": ["Arrival"],
        "compaction": ["Compaction", "CompactionReceipt", "Prepared"],
        "erase": ["Erased", "Shared"],
        "gate": ["REASONS", "harmless", "kind_of"],
        "intake": ["Receipt"],
        "keyed_values": [
            "DUPLICATE",
            "FIELD",
            "HIDDEN",
            "KEY",
            "MADE",
            "NAMESPACE",
            "REST",
            "WHEN",
            "Namespace",
            "Place",
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
        "pending": ["Answer", "Operation", "Pending", "Proposal"],
        "pending_file": ["FileQueue", "question"],
        "scopes": ["Scopes"],
        "why": ["Brought", "Known", "Said", "Taught", "Why"],
    },
)
