"""Language models and embedders: what one must do, what asking one costs, and who is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.models.ledger import OUTCOMES as OUTCOMES
    from engramdown.models.ledger import Sum as Sum
    from engramdown.models.ledger import sums as sums
    from engramdown.models.provider import InstructorModel as InstructorModel

__getattr__, __dir__ = door(
    __name__,
    {
        "ledger": ["OUTCOMES", "Sum", "sums"],
        "provider": ["InstructorModel"],
    },
)
