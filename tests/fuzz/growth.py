"""Time that grows with the length of a text, and no faster, for every reader of texts.

Only a clock can tell how far a regular expression went back, and a clock on a shared machine is no
judge in a test. So two things are told apart. What can be counted is counted in
tests/hippocampus/test_growth.py. What needs a clock is here, in the campaign and behind ``soak``:
a text of four times the length may take twelve times as long (a square would take sixteen), the
best of several tries counts, and what is over in a moment is not judged.

Promises: every reader meets the hostile repetitions below and every pump of every pattern.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from math import isqrt
from pathlib import Path
from typing import Final, NamedTuple, get_args

from engramdown.consolidation.actions import arguments_of, last_line
from engramdown.consolidation.corrections import extract
from engramdown.consolidation.information_loss import changed, differs, is_duplicate, left_out
from engramdown.context.search import sought
from engramdown.doctor.checks import check
from engramdown.engram import fact_key, fold
from engramdown.episodes.card import cut_at_word
from engramdown.gate.gate import kind_of
from engramdown.gate.injection import find_instruction
from engramdown.importers import inputs
from engramdown.importers.migration import File, links, read, topics
from engramdown.journal import page as days
from engramdown.journal import page_search
from engramdown.journal.page_search import excerpt
from engramdown.journal.working_notes import with_text
from engramdown.language.characters import hidden_characters, visible
from engramdown.language.dates import read_anchor, read_dates
from engramdown.language.meaning import Statements, contradict
from engramdown.language.similarity import is_rewording, similarity_of
from engramdown.language.snippets import find, snippet, where
from engramdown.language.terms import tokens
from engramdown.language.untrusted import bullet, inert, one_line, paragraphs, quoted
from engramdown.markdown import front_matter as skills
from engramdown.markdown.document import parse
from engramdown.markdown.merge import merge
from engramdown.markdown.metadata import Metadata, escape, unescape
from engramdown.recall import query
from engramdown.recall.episodes import inner_words, probe
from engramdown.recall.lines import read_lines
from engramdown.recall.query import nameless, read_query
from engramdown.secrets.redaction import redact
from engramdown.tokens import estimate_tokens
from tests import strategies
from tests.crash.campaign import Trial
from tests.fuzz.pumps import WAYS, Pump, pumps

__all__ = ["READERS", "Hostile", "complaint", "of_patterns", "repetitions", "trials"]

LENGTHS: Final = (4_000, 16_000, 250_000)
"""The lengths of the shorter texts, in characters."""
TIMES: Final = 4
"""How much longer the other one is."""
MOST: Final = 12.0
"""How much longer that may take."""
FLOOR: Final = 0.02
"""What is over sooner, in seconds, is not judged."""

_NOW: Final = datetime(2026, 2, 27, 10, 15, tzinfo=UTC)
_META: Final = Metadata((("id", "zzzzzzzz"),))


def _document(text: str) -> None:
    document = parse(text)
    for placed in document.placed():
        _ = placed.block.meta
    document.same("no such memory")
    document.add("new", _META, "always")


def _as_item(text: str) -> None:
    (block, *_) = parse(f"- a\n  {text}\n").blocks
    _ = block.text, block.meta


def _merged(text: str) -> None:
    base = parse(text)
    merge(base, base.add("ours", _META), base.add("theirs", Metadata()))


def _of_cues(text: str) -> None:
    query.wants(text)
    query.asks(text)
    query.statement_share(text)
    for sign in get_args(query.Sign):
        query.says(sign, text)
    query.says_name(text, {"ada"})


def _shown(text: str) -> None:
    stems = frozenset(("boat", "a"))
    snippet(text, *where(text, stems))
    find(text, "boat")


def _alike(text: str) -> None:
    other = f"{text} too"
    is_rewording(text, other)
    contradict(text, other)
    similarity_of(text, other)
    list(Statements([other]).said_again(text))


def _of_substance(text: str) -> None:
    other = f"{text} too"
    is_duplicate(text, other)
    differs(text, other)
    left_out(text, other)
    changed(text, [other])


def _layout(text: str) -> None:
    read(File("notes.md", text, "notes"), "project")
    read(File("a.mdc", text, "cursor"), "project")


def _inert(text: str) -> None:
    for say in (inert, bullet, quoted, one_line, paragraphs):
        say(text)


def _skill(head: str, text: str) -> object:
    page = skills.parse_front_matter(f"---\ndescription: {head}{text}\n---\n{text}")
    # What looks for secrets and hidden characters is a reader of its own.
    return page.keys, page.strangers


def _day(text: str) -> object:
    """Read a page of the journal, and add a section to it."""
    page = days.parse(f"---\nthemes: [{text}]\nwords: 1\n---\n{text}")
    return page.with_section(days.Section("10:15", text, themes=("ci",))).themes


def _searched(text: str) -> object:
    """Rank a text, and show why it was found."""
    stems = page_search.query_stems(text)
    return (
        page_search.may_match(text, stems),
        page_search.ranked(stems, [text]),
        excerpt(text, text[:9], stems),
    )


READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "document": _document,
    "item": _as_item,
    "merge": _merged,
    "fold": fold,
    "fact_key": fact_key.__wrapped__,
    "escape": lambda text: unescape(escape(text)),
    "unescape": unescape,
    "metadata": Metadata.parse,
    **{
        f"skill-{name}": partial(_skill, head)
        for name, head in (("bare", ""), ("single", "'"), ("double", '"'), ("block", ">\n  "))
    },
    "day": _day,
    "notes": lambda text: with_text(f"---\nupdated: {text}\n---\n{text}", text, "2026"),
    "ranked": _searched,
    "quote": lambda text: str(Metadata().update({"x": text})),
    "check": lambda text: check({"rules.md": text}, _NOW.date()),
    "redact": redact,
    "suspicion": find_instruction,
    "visible": visible,
    "hidden": hidden_characters,
    "extract": extract,
    "kind": kind_of,
    "layout": _layout,
    "links": links,
    "topics": topics,
    "alike": _alike,
    "substance": _of_substance,
    "query": lambda text: read_query(text, ("Ada", "日本"), _NOW),
    "nameless": lambda text: nameless(text, ("Ada", "日本")),
    "dates": lambda text: read_dates(text, _NOW),
    "anchor": read_anchor,
    "cues": _of_cues,
    "tokens": tokens,
    "shown": _shown,
    "sought": lambda text: sought(text, ""),
    "exact": lambda text: (probe(text), inner_words(text)),
    "lines": lambda text: list(read_lines(text.encode("utf-8", "replace") + b"\n")),
    "line": lambda text: inputs.parse(text.encode("utf-8", "replace"), 1, 0),
    "elements": lambda text: list(inputs.elements([text.encode("utf-8", "replace")])),
    "arguments": arguments_of,
    "last_line": last_line,
    "cut": lambda text: cut_at_word(text, 80),
    "inert": _inert,
    "estimate": estimate_tokens,
}
"""What reads texts that somebody else wrote."""

_PIECES: Final = (
    *strategies.TROUBLE,
    *strategies.LINES,
    *("[", "]", "(", "{", "[(", "a", "A", "0", "\u00e9", "\u65e5", "ab ", "a.b ", "a, ", "a's "),
    *("key:", "key:v ", "'", '"', "``", "\n", "a\n\n", "- [ ] ", "> > ", "\\\\", "/", "a/", "../"),
    *("never ", "always use ", "my name is a. ", "from now on ", "2026-02-27 ", "last week "),
    *("password = ", "token: ", "sk-", "eyJa.", "://a:", "a@b.", "AKIA", "Bearer ", "-----BEGIN "),
    *('{"a":', '["', '\\"', "\\u0000", "\U0001f469\u200d", "e\u0301", "\U000e0041", "\u1100\u1160"),
)


class Hostile(NamedTuple):
    """A text that is as long as one likes.

    Attributes:
        what: What it repeats.
        made: Makes it, given about how many characters it shall have.
    """

    what: str
    made: Callable[[int], str]


@cache
def repetitions() -> tuple[Hostile, ...]:
    """Return what is repeated because it means something to some reader."""
    return (
        *(Hostile(ascii(piece), partial(_repeated, piece)) for piece in _PIECES),
        Hostile("brackets that close", lambda length: "[" * (length // 2) + "]" * (length // 2)),
        Hostile("deeper lists", partial(_deeper, "- a")),
        Hostile("deeper quotations", partial(_deeper, "> a")),
        Hostile("longer fences", _fences),
        Hostile("an item of lines", lambda length: "- a\n" + _repeated("  b\n", length)),
        Hostile("an item of comments", lambda length: "- a" + _repeated(" <!-- b -->", length)),
    )


@cache
def of_patterns() -> tuple[Hostile, ...]:
    """Return what a pattern of the package repeats."""
    return tuple(
        Hostile(f"{pump!r} {way}", partial(_pumped, pump, way))
        for pump in pumps()
        for way in range(WAYS)
    )


def _repeated(piece: str, length: int) -> str:
    return piece * (length // len(piece) + 1)


def _pumped(pump: Pump, way: int, length: int) -> str:
    return pump.texts(length)[way]


def _deeper(row: str, length: int) -> str:
    """Return rows that are indented ever deeper, as many as there are levels."""
    return "\n".join("  " * depth + row for depth in range(isqrt(length)))


def _fences(length: int) -> str:
    return "".join("`" * (size + 3) + "\n" for size in range(isqrt(2 * length)))


def complaint(reader: Callable[[str], object], text: Hostile, length: int) -> str:
    """Return what is wrong with the time that a text of four times the length takes, or ``""``."""
    short, long = text.made(length), text.made(TIMES * length)
    # Once, if that says enough; a machine that does something else makes no reader faster.
    for tries in (1, 4):
        little, much = _best(reader, short, tries), _best(reader, long, tries)
        if much < FLOOR or much <= MOST * little:
            return ""
    return f"{len(short):,} characters take {little:.3f} s, {len(long):,} take {much:.3f} s"


def _best(reader: Callable[[str], object], text: str, tries: int) -> float:
    return min(_seconds(reader, text) for _ in range(tries))


def _seconds(reader: Callable[[str], object], text: str) -> float:
    begun = time.thread_time()
    reader(text)
    return time.thread_time() - begun


def trials(folder: Path, dice: random.Random) -> Iterator[Trial]:
    """Yield every reader with every hostile text, shorter ones first, in any order."""
    del folder
    # To find all patterns takes seconds, in which these can be tried.
    few = [(name, text) for name in READERS for text in repetitions()]
    yield from (_tried(*pair, LENGTHS[0]) for pair in dice.sample(few, 20))
    every = few + [(name, text) for name in READERS for text in of_patterns()]
    for length in LENGTHS:
        yield from (_tried(*pair, length) for pair in dice.sample(every, len(every)))


def _tried(name: str, text: Hostile, length: int) -> Trial:
    what = f"{name} of {text.what} x {length:,}"
    return Trial(what, complaint(READERS[name], text, length))
