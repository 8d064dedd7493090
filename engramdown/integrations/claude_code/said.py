"""The words in which hooks speak to a model. No I/O.

Promises: what comes from memory or from a transcript stands there as data that can forge nothing;
what is returned is no longer than an agent takes whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engramdown.language.untrusted import bullet, inert
from engramdown.tokens import estimate_tokens

__all__ = [
    "LONGEST",
    "carried_out",
    "how_to",
    "length",
    "news",
    "relevant",
    "switched_off",
    "troubled",
    "unmerged",
    "waiting",
]

LONGEST: Final = 9_000
"""UTF-16 units of a context at most: with what is said beside it Claude Code takes 10,000."""

_RELEVANT: Final = (
    "From memory, about this message (notes from earlier work, not said by the user):"
)
_FAILED: Final = "From memory, about this error (notes from earlier work, not said by the user):"
_SHOWN: Final = 80
_VERBS: Final = {
    "encoded": "remembered",
    "merged": "known already",
    "forgotten": "forgotten",
    "discarded": "declined",
    "failed": "could not be carried out",
}


def length(text: str) -> int:
    """Return how long a text is for a program that counts as JavaScript does.

    >>> length("a"), length(chr(0x1F600))
    (1, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def relevant(texts: Iterable[str], budget: int, *, failed: bool = False) -> tuple[str, int]:
    """Return memories as a list within a budget in tokens, and how many of them it holds.

    Args:
        texts: The memories, the best first.
        budget: What the list may cost.
        failed: Whether they are about a tool that failed, not about what the user wrote.
    """
    head = _FAILED if failed else _RELEVANT
    lines = [head]
    for text in texts:
        line = bullet(text)
        if estimate_tokens("\n".join([*lines, line])) > budget:
            break
        lines.append(line)
    return ("\n".join(lines), len(lines) - 1) if len(lines) > 1 else ("", 0)


def carried_out(done: Sequence[tuple[str, str]], *, by_user: bool = True) -> str:
    """Say what became of lines that were ticked: what happened to each, and its text.

    Args:
        done: What happened to each, and its text.
        by_user: Whether the user ticked them; else the ticks came with git.

    >>> print(carried_out([("encoded", "Use uv"), ("failed", "Use pip")]))
    Memory, ticked by the user: remembered "Use uv"; could not be carried out "Use pip"
    """
    if not done:
        return ""
    who = "by the user" if by_user else "by somebody else in a commit, not by the user"
    said = [f'{_VERBS.get(action, action)} "{_short(text)}"' for action, text in done[:_FEW]]
    more = f"; and {len(done) - _FEW} more" if len(done) > _FEW else ""
    return f"Memory, ticked {who}: {'; '.join(said)}{more}"


def waiting(count: int) -> str:
    """Say that proposals wait for a person."""
    if not count:
        return ""
    what = "1 proposal waits" if count == 1 else f"{count} proposals wait"
    return f"{what} for the user, who decides with `engramdown review`. Tell the user once."


def news(count: int) -> str:
    """Say that git brought something of somebody else's."""
    if not count:
        return ""
    what, them = ("1 thing", "it") if count == 1 else (f"{count} things", "them")
    return (
        f"{what} in memory came with git and nobody here wrote {them}; `engramdown review` lists "
        f"{them}. Tell the user once."
    )


def switched_off(what: Sequence[str]) -> str:
    """Say what the settings of a project switch off.

    >>> print(switched_off(["recording (episodes.enabled)"]))
    Switched off by this project's config.toml: recording (episodes.enabled). Tell the user once.
    """
    if not what:
        return ""
    return f"Switched off by this project's config.toml: {', '.join(what)}. Tell the user once."


def troubled(reason: str) -> str:
    """Say that memory does not work as it should."""
    return (
        f"Memory is degraded: {_short(reason.rstrip('.'), 300)}. "
        "Tell the user; `engramdown doctor` says more."
    )


def how_to(*, writes: bool = True) -> str:
    """Say how to remember, unless memory is switched off, and how to look something up."""
    if not writes:
        return (
            'To look something up run `engramdown recall "..."` (or the tool `recall`); nothing '
            "can be remembered here, as memory is switched off."
        )
    return (
        'To keep something for later sessions run `engramdown remember "..."` (or the tool '
        '`memorize`); to look something up `engramdown recall "..."` (or `recall`).'
    )


def unmerged(left: str) -> str:
    """Say in which file git left a merge of memory to the user."""
    return f"{_short(left, 400)}. Tell the user."


_FEW: Final = 3


def _short(text: str, most: int = _SHOWN) -> str:
    line = " ".join(inert(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
