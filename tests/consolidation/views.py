"""Views of conversations as they come about, and as they never should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from engramdown.consolidation.summaries import Item

__all__ = ["any_view", "gists", "talk", "tool_calls"]

_KINDS: Final = (
    *(("user", "", ""),) * 2,
    *(("assistant", "", ""),) * 2,
    *(("tool_call", name, call) for name in ("sh", "py") for call in ("", "c1", "c2")),
    *(("tool_result", name, call) for name in ("sh", "py") for call in ("", "c1", "c2")),
)


@st.composite
def any_view(draw: st.DrawFn) -> list[Item]:
    """Return a view with calls of every kind: with ids used again, without, without an end."""
    found: list[Item] = []
    sizes = draw(st.sampled_from([st.integers(0, 9), st.sampled_from([0, 5, 40, 90, 120])]))
    for at in range(draw(st.integers(0, 30))):
        tokens = draw(sizes)
        if draw(st.integers(0, 5)) == 0:
            found.append(Item(f"g{at}", tokens, depth=draw(st.integers(0, 2))))
        else:
            role, name, call = draw(st.sampled_from(_KINDS))
            found.append(Item(at, tokens, role, name, call))
    return found


def talk(count: int, tokens: int = 9, start: int = 0) -> list[Item]:
    """Return messages of a user and an assistant in turn."""
    roles = ("user", "assistant")
    return [Item(start + at, tokens, roles[at % 2]) for at in range(count)]


def tool_calls(*calls: str, tokens: int = 9, start: int = 0) -> list[Item]:
    """Return calls and results: ``"+a"`` calls and ``"-a"`` answers; anything else is said so."""
    roles = {"+": "tool_call", "-": "tool_result"}
    return [
        Item(start + at, tokens, roles[each[0]], "sh", each[1:])
        if each[0] in roles
        else Item(start + at, tokens, each)
        for at, each in enumerate(calls)
    ]


def gists(depths: Sequence[int], tokens: int = 9) -> list[Item]:
    """Return gists of such depths."""
    return [Item(f"g{at}", tokens, depth=depth) for at, depth in enumerate(depths)]
