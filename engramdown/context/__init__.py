"""What a model is shown of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.context.notebooks import known
    from engramdown.context.search import Asked, Found, flat, past_experience, search_all, sought
    from engramdown.context.sections import BUDGETS, Memory, build, degraded, left_out
    from engramdown.context.sources import Page

__all__ = ["BUDGETS", "Asked", "Found", "Memory", "Page", "build", "degraded"]
__all__ += ["flat", "known", "left_out", "past_experience", "search_all", "sought"]

__getattr__, __dir__ = door(
    __name__,
    {
        "notebooks": ["known"],
        "search": ["Asked", "Found", "flat", "past_experience", "search_all", "sought"],
        "sections": ["BUDGETS", "Memory", "build", "degraded", "left_out"],
        "sources": ["Page"],
    },
)
