"""What may be written, and what waits for a person: the way into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.gate import keyed_values as keyed_values
    from engramdown.gate.arrivals import Arrival as Arrival
    from engramdown.gate.compaction import Compaction as Compaction
    from engramdown.gate.compaction import CompactionReceipt as CompactionReceipt
    from engramdown.gate.compaction import Prepared as Prepared
    from engramdown.gate.contradictions import contradictions_among as contradictions_among
    from engramdown.gate.erase import Erased as Erased
    from engramdown.gate.erase import Shared as Shared
    from engramdown.gate.gate import REASONS as REASONS
    from engramdown.gate.gate import kind_of as kind_of
    from engramdown.gate.gate import reworded as reworded
    from engramdown.gate.gate import without_secrets as without_secrets
    from engramdown.gate.intake import Receipt as Receipt
    from engramdown.gate.keyed_values import KEY as KEY
    from engramdown.gate.keyed_values import Namespace as Namespace
    from engramdown.gate.keyed_values import Place as Place
    from engramdown.gate.keyed_values import home_of as home_of
    from engramdown.gate.keyed_values import written as written
    from engramdown.gate.model_runs import ledger_of as ledger_of
    from engramdown.gate.pending import Answer as Answer
    from engramdown.gate.pending import Operation as Operation
    from engramdown.gate.pending import Pending as Pending
    from engramdown.gate.pending import Proposal as Proposal
    from engramdown.gate.pending_file import FileQueue as FileQueue
    from engramdown.gate.pending_file import question as question
    from engramdown.gate.scopes import Scopes as Scopes
    from engramdown.gate.why import Said as Said
    from engramdown.gate.why import Taught as Taught
    from engramdown.gate.why import Why as Why

__getattr__, __dir__ = door(
    __name__,
    {
        "arrivals": ["Arrival"],
        "compaction": ["Compaction", "CompactionReceipt", "Prepared"],
        "contradictions": ["contradictions_among"],
        "erase": ["Erased", "Shared"],
        "gate": ["REASONS", "kind_of", "reworded", "without_secrets"],
        "intake": ["Receipt"],
        "keyed_values": ["keyed_values", "KEY", "Namespace", "Place", "home_of", "written"],
        "model_runs": ["ledger_of"],
        "pending": ["Answer", "Operation", "Pending", "Proposal"],
        "pending_file": ["FileQueue", "question"],
        "scopes": ["Scopes"],
        "why": ["Said", "Taught", "Why"],
    },
)
