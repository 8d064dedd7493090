"""The laws of the pure core, each as a function of one example: it returns, or an assert fails.

Promises: no law draws its own input, so the property tests give it anything, and the mutation
tests the one example that a deliberate bug cannot survive. The module imports the core by its
full names and nothing else of the package, so that it can be loaded again over a changed core.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from engramdown.engram import fold, slug
from engramdown.errors import InvalidEngramError
from engramdown.markdown.blocks import Block, entry_block, leaves_open, scan
from engramdown.markdown.document import Document, Placed, parse
from engramdown.markdown.merge import compare, merge
from engramdown.markdown.metadata import Metadata, escape, unescape
from engramdown.tokens import estimate_tokens

__all__ = [
    "META",
    "Edit",
    "adding_touches_nothing_else",
    "blocks_are_the_text",
    "edits_in_a_row_read_back",
    "escaped_text_comes_back",
    "escaped_text_is_tame",
    "every_entry_is_found_where_it_stands",
    "folding_is_blind_to_form",
    "joining_costs_no_more",
    "merging_keeps_both_sides",
    "metadata_comes_back",
    "metadata_keeps_what_it_does_not_know",
    "noting_changes_no_text",
    "one_sided_merges_take_that_side",
    "page_comes_back",
    "page_says",
    "removing_many_touches_nothing_else",
    "removing_touches_nothing_else",
    "replacing_touches_nothing_else",
    "same_finds_every_twin",
    "slug_is_a_safe_name",
    "slug_is_refused",
    "swapping_touches_nothing_else",
]

META: Final = Metadata((("id", "zzzzzzzz"), ("ts", "2026-01-01")))
"""What the laws write; no example has this id."""


class Edit(NamedTuple):
    """One edit of a document: add, remove, note, hand or replace.

    Attributes:
        name: What is done.
        number: To which entry, counted round and round.
        text: The new text.
        kind: The section of a new entry.
    """

    name: str
    number: int
    text: str
    kind: str


_SEPARATOR: Final = re.compile(r"(?:(?:<!-- -->)?\r?\n)*")
_ADDED: Final = re.compile(r"(?:(?:<!-- -->|# Title|## (?:Always|Never|When))?\r?\n)*")
_LINE_BREAKS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PATH: Final = re.compile(r'[/\\:*?"<>|\s.\x00-\x1f]')


def escaped_text_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text


def escaped_text_is_tame(text: str) -> None:
    escaped = escape(text)
    assert "-->" not in escaped
    assert all(len(run[1]) % 2 for run in re.finditer(r"(?<!\\)(\\*)<!--", escaped))
    assert not _LINE_BREAKS.search(escaped)
    assert all(line == line.rstrip() for line in escaped.split("\n"))
    assert escaped == escaped.strip()


def metadata_comes_back(values: dict[str, str]) -> None:
    meta = Metadata().update(values)
    comment = str(meta)
    assert comment.startswith("<!-- ")
    assert comment.index("-->") == len(comment) - 3
    assert "\n" not in comment
    assert "--" not in comment[4:-3]
    again = Metadata.parse(comment[4:-3])
    kept = {key: value for key, value in values.items() if value}
    assert (again.values() if again else {}) == kept
    assert all(meta.get(key) == value for key, value in values.items())


def metadata_keeps_what_it_does_not_know(inside: str, values: dict[str, str]) -> None:
    meta = Metadata.parse(inside)
    assert meta is not None
    after = meta.update(values)
    assert [field for field in after.fields if field[0] not in values] == [
        field for field in meta.fields if field[0] not in values
    ]
    written = Counter(key for key, _ in after.fields)
    assert all(written[key] == bool(value) for key, value in values.items())
    assert meta.update({}) == meta
    known = {key: value for key, value in meta.values().items() if value}
    assert meta.update(known).values() == meta.values()
    assert after.values() == {
        key: value for key, value in (meta.values() | values).items() if value or key not in values
    }


def folding_is_blind_to_form(text: str) -> None:
    key = fold(text)
    assert fold(key) == key
    assert fold(unicodedata.normalize("NFC", text).casefold()) == key
    assert fold(unicodedata.normalize("NFD", text)) == key
    assert fold(f" {text}\t\n") == key
    assert fold(f"{text} .") == key or not re.search(r"\w", key)
    assert bool(key) == bool(text.strip())


def slug_is_a_safe_name(name: str) -> None:
    assert slug(name) == name
    assert 0 < len(name.encode()) <= 120
    assert not _PATH.search(name)
    assert not name.startswith("-")
    assert unicodedata.normalize("NFC", name) == name


def slug_is_refused(topic: str) -> None:
    try:
        name = slug(topic)
    except InvalidEngramError as error:
        refused = error.field == "topic"
    else:
        refused = False
        topic = f"{topic} became {name}"
    assert refused, topic


def joining_costs_no_more(first: str, second: str) -> None:
    whole = estimate_tokens(first + second)
    assert 0 <= whole <= estimate_tokens(first) + estimate_tokens(second)
    assert whole >= max(estimate_tokens(first), estimate_tokens(second))


def blocks_are_the_text(text: str) -> None:
    blocks = scan(text)
    assert "".join(block.raw for block in blocks) == text
    assert all(block.raw for block in blocks)
    assert all(
        not (one.shape == other.shape == "prose")
        for one, other in pairwise(blocks)
        if one.raw != "\ufeff"
    )


def page_comes_back(text: str) -> None:
    assert parse(text).render() == text


def page_says(text: str, *said: str) -> None:
    assert tuple(_texts(parse(text))) == said


def every_entry_is_found_where_it_stands(text: str) -> None:
    document = parse(text)
    lines = text.split("\n")
    lines[0] = lines[0].removeprefix("\ufeff")
    _assert_places(document)
    for placed in document.placed():
        assert document.blocks[placed.at] is placed.block
        assert placed.block.raw.startswith(lines[placed.line - 1])
        assert placed.block.text.strip()


def same_finds_every_twin(text: str, wanted: str) -> None:
    document = parse(text)
    twins = [p.block for p in document.placed() if fold(p.block.text) == fold(wanted)]
    for _ in range(3):
        assert [block for block in document.same(wanted) if block.text.strip()] == twins


def adding_touches_nothing_else(page: str, text: str, kind: str) -> None:
    before = parse(page)
    after = before.add(text, META, kind, "Title")
    again = _reread(after)
    found = [each for each in again.placed() if each.block.meta == META]
    assert [each.block.text for each in found] == [text]
    new = found[0]
    assert kind in ("", new.kind)
    assert _readings(again, new.block) == _readings(before)
    start = _offset(again, new.at)
    out = again.render()
    assert _is_insertion(page, out[:start], out[start + len(new.block.raw) :], _ADDED)


def removing_touches_nothing_else(page: str, number: int) -> None:
    before = parse(page)
    placed = _pick(before, number)
    after = before.remove(placed.block)
    assert _readings(_reread(after)) == _readings(before, placed.block)
    _assert_only(before, placed, after, "")


def removing_many_touches_nothing_else(page: str, numbers: Sequence[int]) -> None:
    """To remove several at once leaves all others as they read, and every line of theirs."""
    document = parse(page)
    entries = document.placed()
    gone = {id(each.block): each.block for each in (entries[at % len(entries)] for at in numbers)}
    after = _reread(document.without([*gone.values()]))
    left = [(each.block.raw, each.heading) for each in entries if id(each.block) not in gone]
    assert [(each.block.raw, each.heading) for each in after.placed()] == left


def replacing_touches_nothing_else(page: str, number: int, text: str, *, by_hand: bool) -> None:
    before = parse(page)
    placed = _pick(before, number)
    after = before.replace(placed.block, text, None if by_hand else META)
    again = _reread(after)
    assert _readings(again) == [
        (text if each is placed else each.block.text, each.heading, each.kind)
        for each in before.placed()
    ]
    new = again.placed()[before.placed().index(placed)].block
    assert new.meta == (None if by_hand else META)
    _assert_only(before, placed, after, new.raw)


def noting_changes_no_text(page: str, number: int) -> None:
    before = parse(page)
    placed = _pick(before, number)
    after = before.note(placed.block, META)
    again = _reread(after)
    assert _readings(again) == _readings(before)
    new = again.placed()[before.placed().index(placed)].block
    assert new.meta == META
    assert new.shape == placed.block.shape
    _assert_only(before, placed, after, new.raw)


def swapping_touches_nothing_else(page: str, number: int, raw: str) -> None:
    before = parse(page)
    placed = _pick(before, number)
    after = before.swap(placed.block, raw)
    again = _reread(after)
    place = before.placed().index(placed)
    new = again.placed()[place].block
    given = entry_block(raw)
    assert (new.text, new.meta) == (given.text, given.meta)
    assert new.raw.rstrip("\r\n") == raw.rstrip("\r\n") or leaves_open(raw)
    assert _readings(again, new) == _readings(before, placed.block)
    _assert_only(before, placed, after, new.raw)


def edits_in_a_row_read_back(page: str, edits: Sequence[Edit]) -> None:
    document = parse(page)
    document.same("warm the index")
    document.same("warm the index")
    _assert_places(document)
    for number, edit in enumerate(edits):
        meta = Metadata().update({"id": f"new{number:05}"})
        wanted = Counter(_texts(document))
        document, gone, said = _edited(document, edit, meta)
        assert Counter(_texts(_reread(document))) == wanted - Counter(gone) + Counter(said)
        twins = [p.block for p in document.placed() if fold(p.block.text) == fold(edit.text)]
        assert Counter(map(id, document.same(edit.text))) == Counter(map(id, twins))
        _assert_places(document)


def one_sided_merges_take_that_side(base: str, other: str) -> None:
    left, right = parse(base), parse(other)
    assert merge(left, left, right).document.render() == other
    assert merge(left, right, left).document.render() == other
    assert merge(left, left, right).lost == merge(left, right, left).lost == ()
    assert merge(right, right, right).document.render() == other


def merging_keeps_both_sides(base: str, ours: str, theirs: str) -> None:
    first, mine, saved = parse(base), parse(ours), parse(theirs)
    merged = merge(first, mine, saved)
    result = _reread(merged.document)
    texts = Counter(_texts(result))
    lost = {placed.block.text for placed in merged.lost}
    done, hand = compare(first, mine), compare(first, saved)
    same_base = {
        id(old)
        for old, new in hand.kept
        if (old.block.text, old.block.meta) == (new.block.text, new.block.meta)
    }
    # 2: what assistants added stands; 4: what they changed stands, or gave way and is told.
    assert all(texts[new.block.text] for new in done.added)
    for old, new in done.reworded:
        assert texts[new.block.text] or new.block.text in lost
        assert id(old) not in same_base or texts[new.block.text]
    # 3: what the person wrote or changed stands; what they deleted does not.
    written = [*(new for _, new in hand.reworded), *hand.added]
    assert all(texts[new.block.text] for new in written)
    theirs_too = {*_texts(saved), *(new.block.text for new in done.added)}
    mine_too = {new.block.text for _, new in done.reworded}
    gone = {old.block.text for old in hand.removed} - theirs_too - mine_too
    assert not gone & texts.keys()
    if theirs != base:
        _assert_kept_lines(saved, result, done.kept, done.removed)


def _assert_kept_lines(
    saved: Document,
    result: Document,
    kept: Sequence[tuple[Placed, Placed]],
    removed: Sequence[Placed],
) -> None:
    """Every block of the person stands in the result, in order, but for those we changed."""
    changed = [(old.block, new.block) for old, new in kept if old.block.raw != new.block.raw]
    ours = {old.text for old, _ in changed} | {old.block.text for old in removed}
    # What they worded otherwise may have got what we noted of it.
    noted = {f"{old.meta}" for old, new in changed if old.meta != new.meta and new.meta}
    left = iter(result.blocks)
    for block in saved.blocks:
        if block.shape == "heading" or (block.shape != "prose" and block.text not in ours):
            body = block.raw.rstrip("\r\n")
            same = block.text if f"{block.meta}" in noted else None
            assert any(same == it.text or it.raw.rstrip("\r\n") == body for it in left), block


def _edited(
    document: Document, edit: Edit, meta: Metadata
) -> tuple[Document, list[str], list[str]]:
    """Return the document after an edit, and the texts that went and came."""
    entries = document.placed()
    if edit.name == "add" or not entries:
        return document.add(edit.text, meta, edit.kind, "Title"), [], [edit.text]
    block = entries[edit.number % len(entries)].block
    if edit.name == "remove":
        return document.remove(block), [block.text], []
    if edit.name == "note":
        return document.note(block, meta), [], []
    by_hand = edit.name == "hand"
    return document.replace(block, edit.text, None if by_hand else meta), [block.text], [edit.text]


def _reread(document: Document) -> Document:
    """Return the document as the next process reads it, which must be the same blocks."""
    again = parse(document.render())
    assert _shapes(again) == _shapes(document)
    return again


def _assert_places(document: Document) -> None:
    assert [document.at(placed.block) for placed in document.placed()] == document.placed()


def _shapes(document: Document) -> list[tuple[str, str]]:
    return [(block.shape, block.raw) for block in document.blocks]


def _readings(document: Document, without: Block | None = None) -> list[tuple[str, str, str]]:
    return [
        (placed.block.text, placed.heading, placed.kind)
        for placed in document.placed()
        if placed.block is not without
    ]


def _texts(document: Document) -> Iterable[str]:
    return (placed.block.text for placed in document.placed())


def _pick(document: Document, number: int) -> Placed:
    entries = document.placed()
    return entries[number % len(entries)]


def _offset(document: Document, index: int) -> int:
    return sum(len(block.raw) for block in document.blocks[:index])


def _assert_only(before: Document, placed: Placed, after: Document, new: str) -> None:
    """Outside the entry stand the same bytes, but for what keeps neighbours apart."""
    start = _offset(before, placed.at)
    text, out = before.render(), after.render()
    head, tail = text[:start], text[start + len(placed.block.raw) :]
    assert out.startswith(head)
    assert out.endswith(tail)
    middle = out[len(head) : len(out) - len(tail)]
    cut = middle.find(new)
    assert cut >= 0
    assert _SEPARATOR.fullmatch(middle[:cut])
    assert _SEPARATOR.fullmatch(middle[cut + len(new) :])


def _is_insertion(page: str, above: str, below: str, allowed: re.Pattern[str]) -> bool:
    """Whether ``above`` and ``below`` are the two halves of ``page`` and allowed lines."""
    return any(
        above.startswith(page[:cut])
        and below.endswith(page[cut:])
        and allowed.fullmatch(above[cut:])
        and allowed.fullmatch(below[: len(below) - len(page) + cut])
        for cut in range(min(len(page), len(above)), -1, -1)
    )
