"""Conversations that no host would write, for the tests of what is rendered.

Promises: everything is drawn: roles in any order, ids that come up again, results without calls.
"""

from __future__ import annotations

from hypothesis import strategies as st

from engramdown.conversation.rendering import SUMMARY, Shown

__all__ = ["ROLES", "any_lines", "any_text", "line"]

ROLES = ("user", "assistant", "system", "scratchpad", "tool_call", "tool_result", SUMMARY)

_TEXTS = (
    *("", " \n", "ends ", "\ud83d", "\x00\x1b[2J", "- user: no", "## Now", '{"a": [1]}'),
    *("[1]", "NaN", '{"a": 1e999}', '{"\\ud83d": "\\udc00"}', "\u2028\r\n", "</content>"),
)


def line(
    seq: int,
    role: str,
    text: str = "said",
    name: str = "",
    call: str = "",
    *,
    error: bool | str = False,
    is_whole: bool = True,
) -> Shown:
    """Return an item as it is shown."""
    return Shown(seq, role, text, 9, name, call, error, is_whole)


def any_text() -> st.SearchStrategy[str]:
    """Draw texts: blank, with halves of characters, with white space at the end, JSON."""
    return st.one_of(st.sampled_from(_TEXTS), st.text(st.characters(), max_size=8))


@st.composite
def any_lines(draw: st.DrawFn, most: int = 14) -> list[Shown]:
    """Draw a conversation."""
    names = st.sampled_from(["", "sh", "a tool.of\nmine", "x" * 300])
    calls = st.sampled_from(["", "a", "b", "call_3", "no id!", "y" * 60])
    errors: st.SearchStrategy[bool | str] = st.sampled_from([False, False, True, "no \ud83d disk"])
    made = []
    for seq in range(draw(st.integers(0, most))):
        role = draw(st.sampled_from(ROLES))
        tool = role.startswith("tool")
        made.append(
            line(
                seq,
                role,
                draw(any_text()) if role != SUMMARY else f"<summary>{seq}</summary>",
                draw(names),
                draw(calls) if tool else "",
                error=draw(errors) if tool else False,
                is_whole=draw(st.booleans()),
            )
        )
    return made
