"""A memory file as a model sees it, and what a changed text says about the memories in it.

Promises: pure; a page holds the memories that were given, in file order, with the headings that
they stand below and those of rules, and no metadata, private note or other prose; a page that was
rendered, read back, has these memories and no others. What is said twice is matched in order, so
that an unchanged text says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from engramdown.engram import RULE_KINDS
from engramdown.hippocampus.filing import RULES
from engramdown.language.similarity import similarity
from engramdown.language.untrusted import heading, inert
from engramdown.markdown.document import Document, Placed, parse, written

__all__ = ["Edits", "Said", "edits", "rendered"]

_MAIN: Final = 2
_LIKE: Final = 0.5
# Looking for the likest pair of more than these would take long; they are taken in order.
_MOST_PAIRS: Final = 2_500


class Said(NamedTuple):
    """A memory as a text says it.

    Attributes:
        text: Its words.
        section: The rule kind of the section it stands in, or the title of another one, or ``""``.
    """

    text: str
    section: str


class Edits(NamedTuple):
    """What a changed text says about the memories of a file.

    Attributes:
        added: What is new, in order.
        reworded: The numbers of memories, from 0, with what stands in their place.
        removed: The numbers of memories that are gone.
        headings: The titles of sections that are new, and of no kind.
        others: How lines begin that are no memory: of code, tables, quotations, comments.
    """

    added: tuple[Said, ...] = ()
    reworded: tuple[tuple[int, Said], ...] = ()
    removed: tuple[int, ...] = ()
    headings: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def rendered(document: Document, entries: Iterable[Placed]) -> str:
    r"""Return a file as a model sees it: ``entries`` as list items, below their headings.

    >>> file = parse("# Rules\n## Always\n<!-- mine -->\n- Use uv <!-- id:k3v9q2ht -->\n")
    >>> rendered(file, file.placed())
    '## Always\n\n- Use uv\n'
    """
    chosen = {id(placed.block) for placed in entries}
    sections = [_Section("", shown=False, items=[])]
    main = sections[0]
    for block in document.blocks:
        if block.shape == "heading":
            line = f"{'#' * block.level} {heading(block.text)}\n"
            sections.append(_Section(line, shown=_is_kind(block.text), items=[]))
            main = sections[-1] if block.level <= _MAIN else main
        elif id(block) in chosen:
            sections[-1].items.append(_shown(block.text))
            # Below which heading of a rule it stands must be plain.
            sections[-1].shown = main.shown = True
    return "\n".join(each.render() for each in sections if each.shown)


@dataclass(slots=True)
class _Section:
    """A heading and the items right below it; ``""`` is no heading."""

    heading: str
    shown: bool
    items: list[str]

    def render(self) -> str:
        gap = "\n" if self.heading and self.items else ""
        return f"{self.heading}{gap}{''.join(self.items)}"


@lru_cache(maxsize=10_000)  # A file is rendered again and again, and few of its lines change.
def _shown(text: str) -> str:
    return written(inert(text).strip() or " ", None)


def _is_kind(title: str) -> bool:
    return title.strip().rstrip(":").rstrip().casefold() in RULE_KINDS


def edits(file: str, before: str, after: str) -> Edits:
    """Return what ``after`` says about the memories of ``before``.

    Args:
        file: The name of the file; in ``rules.md`` only what stands in a section is a rule.
        before: The page, as it was rendered.
        after: What a model made of it.
    """
    old, new = parse(before), parse(after)
    were, are = _said(file, old), _said(file, new)
    kept_old, kept_new = _kept(were, are)
    gone = [at for at in range(len(were)) if at not in kept_old]
    come = [at for at in range(len(are)) if at not in kept_new]
    pairs = dict(_pairs(were, are, gone, come))
    replaced = set(pairs.values())
    return Edits(
        added=tuple(are[at] for at in come if at not in replaced),
        reworded=tuple((at, are[pairs[at]]) for at in gone if at in pairs),
        removed=tuple(at for at in gone if at not in pairs),
        headings=tuple(_new_headings(old, new)),
        others=tuple(_others(file, new)),
    )


def _said(file: str, document: Document) -> list[Said]:
    """Return what a document says; a paragraph is a memory as well as a list item."""
    return [
        Said(placed.block.text, placed.kind or placed.heading)
        for placed in document.placed()
        if _counts(file, placed)
    ]


def _counts(file: str, placed: Placed) -> bool:
    return file != RULES or placed.block.shape == "item" or bool(placed.kind or placed.heading)


def _kept(were: Sequence[Said], are: Sequence[Said]) -> tuple[set[int], set[int]]:
    """Return which memories stand as they stood, by number before and after."""
    waiting: dict[Said, list[int]] = {}
    for at in reversed(range(len(were))):
        waiting.setdefault(were[at], []).append(at)
    old: set[int] = set()
    new: set[int] = set()
    for at, said in enumerate(are):
        if waiting.get(said):
            old.add(waiting[said].pop())
            new.add(at)
    return old, new


def _pairs(
    were: Sequence[Said], are: Sequence[Said], gone: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield which of what has come stands for which of what is gone, in the same section."""
    for section in dict.fromkeys(were[at].section for at in gone):
        olds = [at for at in gone if were[at].section == section]
        news = [at for at in come if are[at].section == section]
        if len(olds) == len(news) or len(olds) * len(news) > _MOST_PAIRS:
            yield from zip(olds, news, strict=False)
        else:
            yield from _likest(were, are, olds, news)


def _likest(
    were: Sequence[Said], are: Sequence[Said], olds: Sequence[int], news: Sequence[int]
) -> Iterator[tuple[int, int]]:
    likeness = (
        (similarity(were[old].text, are[new].text), old, new) for old in olds for new in news
    )
    taken: set[int] = set()
    given: set[int] = set()
    for score, old, new in sorted(likeness, key=lambda each: (-each[0], each[1], each[2])):
        if score >= _LIKE and old not in taken and new not in given:
            taken.add(old)
            given.add(new)
            yield old, new


def _new_headings(old: Document, new: Document) -> Iterator[str]:
    """Yield the titles of new sections that are of no kind; the title of a page is no section."""
    known = {block.text for block in old.blocks if block.shape == "heading"}
    for block in new.blocks:
        is_new = block.shape == "heading" and block.level > 1 and block.text not in known
        if is_new and block.text.strip() and not _is_kind(block.text):
            yield heading(block.text)


def _others(file: str, new: Document) -> Iterator[str]:
    """Yield how that begins which is no memory; a page that was rendered has nothing like it."""
    found = {id(placed.block) for placed in new.placed() if _counts(file, placed)}
    for block in new.blocks:
        if block.shape != "heading" and id(block) not in found and block.raw.strip(" \t\r\n\ufeff"):
            yield block.raw.strip(" \t\r\n\ufeff").partition("\n")[0]
