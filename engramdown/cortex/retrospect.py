"""Earlier sessions as a section of what a model is shown.

Promises: the section never costs more tokens than its budget, silences that are named included;
the newest session is always told of, in less words where there is little room; the others are
told whole or not at all, the newer before the older. No text can pass for a line of ours. No
clock, no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.cortex.sections import Section
from engramdown.cortex.templates import renderer
from engramdown.episodes.earlier_sessions import EarlierSession, shortened
from engramdown.language.untrusted import inert
from engramdown.tokens import estimate_tokens

__all__ = ["HISTORY", "retrospect"]

HISTORY: Final = 4000
"""What the section may cost in tokens, unless it is set."""

_HEADING: Final = "## Your Memory — Earlier Sessions"


class _Told(NamedTuple):
    """A session as a template sees it."""

    gap: str
    started: str
    title: str
    text: str
    lines: tuple[str, ...]


def retrospect(
    sessions: Sequence[EarlierSession], budget: int, overrides: Mapping[str, str] | None = None
) -> Section:
    """Return the section that tells of as many sessions as its budget allows.

    Args:
        sessions: What there is, newest first.
        budget: What it may cost, in tokens.
        overrides: Templates of the person's own, by name.

    Raises:
        StoreError: A template of ``overrides`` is broken.
    """
    render = renderer(overrides or {})

    def words(shown: Sequence[EarlierSession]) -> str:
        return render("history.j2", _values(shown, len(sessions) - len(shown)))

    text = _fit(sessions, budget, words)
    return Section(
        name="history",
        heading=_HEADING,
        budget=budget,
        tokens=estimate_tokens(text),
        shown=(),
        left_out=(),
        text=text,
    )


def _fit(
    sessions: Sequence[EarlierSession],
    budget: int,
    words: Callable[[Sequence[EarlierSession]], str],
) -> str:
    text = words(sessions)
    if estimate_tokens(text) <= budget:
        return text
    newest: EarlierSession | None = sessions[0]
    while newest is not None:
        text = words([newest])
        if estimate_tokens(text) <= budget:
            return text if newest != sessions[0] else _more(sessions, budget, words)
        newest = shortened(newest)
    return ""


def _more(
    sessions: Sequence[EarlierSession],
    budget: int,
    words: Callable[[Sequence[EarlierSession]], str],
) -> str:
    """Return the words about as many sessions as fit; the newest does."""
    count = 1
    while estimate_tokens(words(sessions[: count + 1])) <= budget:
        count += 1
    return words(sessions[:count])


def _values(shown: Sequence[EarlierSession], left_out: int) -> dict[str, object]:
    oldest_first = list(reversed(shown))
    told = [_told(past, first=past is oldest_first[0]) for past in oldest_first]
    return {"heading": _HEADING, "sessions": told, "left_out": left_out}


def _told(past: EarlierSession, *, first: bool) -> _Told:
    """Return a session as it is shown; nothing that is shown comes before the ``first``."""
    return _Told(
        gap="" if first else past.gap,
        started=past.started,
        title=_safe(past.title),
        text=_safe(past.text),
        lines=tuple(_safe(f"{speaker}: {text}") for speaker, text in past.messages),
    )


def _safe(text: str) -> str:
    return " ".join(inert(text).split())
