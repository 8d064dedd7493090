"""Past experience: before a turn, what was said earlier about its subjects.

Promises: what is returned is inert, labelled as data, and at most as many bytes of UTF-8 as are
asked for; of what is cut off it says how much that was; no character that a person sees as one is
cut in two; where something was found it is never empty; transcripts that cannot be read have
nothing, and are no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.cortex.recalling import LABEL, flat, head
from engramdown.errors import StoreError

if TYPE_CHECKING:
    from engramdown.recall.finder import Finder
    from engramdown.recall.hits import Context, Hit, Message

__all__ = ["LEAST", "past_experience", "sought"]

LEAST: Final = 500
"""The least number of bytes that may be asked for."""

_LONGEST: Final = 100
_BREAK: Final = re.compile("[\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_SIDE: Final = 2
_SHOWN: Final = 300
_SNIPPET: Final = 4_000
_FIRST: Final = 50
_MORE: Final = 4
_ELLIPSIS: Final = "…"

# Whom a turn is with is in everything that they ever said, and finds all of it.
_KIND: Final = re.compile(r"([A-Za-z][\w-]+):(?!//)\s*")
_PERSONAL: Final = frozenset({"contact", "email", "mailto", "phone", "tel", "uuid"})
_IDENTITY: Final = re.compile(
    r"[^@\s]+@[\w.-]+\.[^\W\d_]{2,}"
    r"|(?:urn:uuid:)?[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}"
    r"|(?:\+|00)[ ]?\d(?:[ ()./-]{0,2}\d){5,14}"
    r"|\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}",
    re.IGNORECASE,
)


class _Excerpt(NamedTuple):
    """A hit and what was said around it, a row each."""

    before: list[str]
    hit: str
    after: list[str]

    def rows(self) -> list[str]:
        return [*self.before, self.hit, *self.after]


def past_experience(
    episodes: Finder | None,
    query: str,
    limit: int = 3,
    max_bytes: int = 4_000,
    *,
    running: str = "",
) -> str:
    """Return excerpts of what was said earlier about ``query``, or ``""``.

    Args:
        episodes: The transcripts, if there are any.
        query: What is :func:`sought`; ``""`` finds nothing.
        limit: How many excerpts at most.
        max_bytes: How long all may be, as UTF-8.
        running: The id of the session that runs; what was said in it is left out.

    Raises:
        ValueError: If ``max_bytes`` is less than :data:`LEAST`.
    """
    if max_bytes < LEAST:
        raise ValueError(f"max_bytes is {max_bytes!r}; give {LEAST} or more")
    if episodes is None or not query or limit <= 0:
        return ""
    try:
        hits = _hits(episodes, query, limit, running)
        contexts = episodes.around(hits) if hits else []
    except (StoreError, OSError):
        return ""
    return _fitted(list(_excerpts(hits, contexts, running)), max_bytes)


def sought(message: str, subjects: str | Iterable[str]) -> str:
    """Return what to search for: the subjects without their kinds, or else a short message.

    >>> sought("", ["entity:light.office", "light.office", "contact:+49 170 1234567"])
    'light.office'
    >>> sought("Is it on?", []), sought("Is it on?", ["contact:ada"])
    ('Is it on?', '')
    """
    given = [subjects] if isinstance(subjects, str) else subjects
    named = [each.strip() for each in given if each.strip()]
    if named:
        return " ".join(dict.fromkeys(filter(None, map(_name, named))))
    line = message.strip()
    return "" if len(line) > _LONGEST or _BREAK.search(line) else line


def _name(subject: str) -> str:
    """Return what a subject is called; ``""`` if it only says whom a turn is with."""
    kind = _KIND.match(subject)
    name = subject[kind.end() :] if kind else subject
    personal = kind is not None and kind[1].casefold() in _PERSONAL
    return "" if personal or _IDENTITY.fullmatch(name) else name


def _hits(episodes: Finder, query: str, limit: int, running: str) -> list[Hit]:
    """Return the best hits outside the running session, however much was said in that."""
    asked = limit if not running else limit + _FIRST
    while True:
        found = episodes.recall(query, asked)
        hits = [hit for hit in found if hit.session != running][:limit]
        if len(hits) == limit or len(found) < asked:
            return hits
        asked *= _MORE


def _excerpts(hits: Sequence[Hit], contexts: Iterable[Context], running: str) -> Iterator[_Excerpt]:
    """Yield an excerpt for each hit; no line comes twice."""
    shown = {(hit.session, hit.seq) for hit in hits}

    def rows(messages: Iterable[Message]) -> Iterator[str]:
        for each in messages:
            if each.session != running and (each.session, each.seq) not in shown:
                shown.add((each.session, each.seq))
                yield f"- {_row(each, each.text, _SHOWN)}"

    for hit, context in zip(hits, contexts, strict=True):
        before, after = rows(context.before[-_SIDE:]), rows(context.after[:_SIDE])
        yield _Excerpt(list(before), f"> {_row(hit, hit.snippet, _SNIPPET)}", [*after])


def _row(said: Hit | Message, text: str, size: int) -> str:
    return f"{head(said)}: {_cut(flat(text, size), size)}"


# ---- the budget ----


def _fitted(excerpts: list[_Excerpt], most: int) -> str:
    """Return what ``most`` bytes hold of the excerpts, the best first."""
    if not excerpts:
        return ""
    whole = _page([each.rows() for each in excerpts])
    size = _size(whole)
    if size <= most:
        return whole
    room = most - _size(_note(size, most))
    kept: list[list[str]] = []
    for each in excerpts:
        fits = (rows for rows in (each.rows(), [each.hit]) if _size(_page([*kept, rows])) <= room)
        rows = next(fits, None)
        if rows is None:
            break
        kept.append(rows)
    page = _page(kept) if kept else _cut(_page([[excerpts[0].hit]]), room)
    return page + _note(size - _size(page), most)


def _page(excerpts: Iterable[Iterable[str]]) -> str:
    return "\n\n".join([f"{LABEL} Said earlier:", *("\n".join(rows) for rows in excerpts)])


def _note(left: int, most: int) -> str:
    return f"\n\n({left} bytes left out, to stay within {most})"


def _cut(text: str, size: int) -> str:
    """Return at most ``size`` bytes of ``text``, with an ellipsis where it is cut."""
    # Imported here, as all of recall is: only what found something needs them.
    from engramdown.language.snippets import shortened, whole

    if _size(text) <= size:
        return text
    kept, _ = shortened(text, size - _size(_ELLIPSIS))
    return f"{text[: whole(text, len(kept))]}{_ELLIPSIS}"


def _size(text: str) -> int:
    return len(text.encode())
