"""What a model is shown of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.context.notebooks import known as known
    from engramdown.context.search import Asked as Asked
    from engramdown.context.search import Found as Found
    from engramdown.context.search import flat as flat
    from engramdown.context.search import past_experience as past_experience
    from engramdown.context.search import search_all as search_all
    from engramdown.context.search import sought as sought
    from engramdown.context.sections import BUDGETS as BUDGETS
    from engramdown.context.sections import Memory as Memory
    from engramdown.context.sections import build as build
    from engramdown.context.sections import degraded as degraded
    from engramdown.context.sections import left_out as left_out
    from engramdown.context.sources import Page as Page


__getattr__, __dir__ = door(
    __name__,
    {
        "notebooks": ["known"],
        "search": ["Asked", "Found", "flat", "past_experience", "search_all", "sought"],
        "sections": ["BUDGETS", "Memory", "build", "degraded", "left_out"],
        "sources": ["Page"],
    },
)
