"""Language models and embedders: what one must do, what asking one costs, and who is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.models.ledger import OUTCOMES, Ledger, Sum, sums
    from engramdown.models.port import LanguageModel
    from engramdown.models.provider import InstructorModel

__all__ = ["OUTCOMES", "InstructorModel", "LanguageModel", "Ledger", "Sum", "sums"]

__getattr__, __dir__ = door(
    __name__,
    {
        "ledger": ["Ledger", "OUTCOMES", "Sum", "sums"],
        "port": ["LanguageModel"],
        "provider": ["InstructorModel"],
    },
)
