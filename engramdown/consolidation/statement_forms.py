"""The forms of words in which people give orders, tell facts, prefer and ask to remember.

They stand in tables, one for each language: what is read, in which order, and the words around it
that change what it means. A form is a pattern at the beginning of a clause, in small letters;
``statement_reader`` decides by it what a sentence says. What holds for a moment, is about something
else or only between things at hand is none; neither is a task ("remember to buy milk"). Patterns
are bounded: linear time.

A table is ``languages/<name>.txt``: entries, each a line that ends with a colon and its text in
indented lines, which are put together as they stand. ``{NAME}`` stands for the text of an entry,
``{word~}`` for a word and its slips of the pen. A form says what it is before its colon: its group,
its kind, and what else differs from the usual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

from engramdown.engram import Confidence, Kind
from engramdown.language.characters import BLANK


class Form(NamedTuple):
    """A form of words, and what a clause says that begins with it.

    What is kept begins with the group ``kept``, or where the clause does. A group ``no`` forbids.

    Attributes:
        pattern: What the clause begins with.
        kind: The kind of memory.
        confidence: What the form deserves.
        label: What is put before it: ``Always``; behind ``Name:`` only the group is kept.
        order: Whether an order must follow, is sure to, or stands behind the case.
        passing: What it may not hold: what is said for a while, the same but for what belongs to
            an *always* ("until"), or nothing.
    """

    pattern: str
    kind: Kind
    confidence: Confidence = "high"
    label: str = ""
    order: Literal["", "follows", "surely", "behind"] = ""
    passing: Literal["soon", "firm", "lasting"] = "soon"


CAPITAL: Final = "Name: "
"""The label of a name that is one only if each word of it has a capital letter."""

_ENTRY: Final = re.compile(r"^(\S.*):\n((?:    .*\n)+)", re.MULTILINE)


def slips(word: str) -> str:
    """Return a pattern for a word and its slips of the pen behind the first letter.

    A letter is left out, or two that differ have changed places.

    >>> slips("keep")
    '(?:keep|kep|kee|kepe)'
    """
    places = range(1, len(word))
    shorter = [word[:at] + word[at + 1 :] for at in places]
    swapped = [word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in places]
    return f"(?:{'|'.join(dict.fromkeys([word, *shorter, *swapped]))})"


def read_table(name: str, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the entries of a table, in order: what stands before the colon, and the text.

    Args:
        name: The name of the table.
        known: The entries of other tables.
    """
    data = (Path(__file__).parent / "languages" / f"{name}.txt").read_text(encoding="utf-8")
    texts = {"BLANK": BLANK, **known}
    for head, lines in _ENTRY.findall(data):
        text = "".join(line[4:] for line in lines.split("\n"))
        text = re.sub(r"\{([a-z]+)~\}", lambda found: slips(found[1]), text)
        texts[head] = re.sub(r"\{(_?[A-Z][A-Z_]*)\}", lambda found: texts[found[1]], text)
        yield head, texts[head]


def _forms(entries: Iterable[tuple[str, str]], group: str) -> Iterator[Form]:
    """Yield the forms of a group among entries."""
    for head, text in entries:
        name, *said = head.split()
        if name == group:
            fields: dict[str, Any] = dict(each.split("=") for each in said[1:])
            label = fields.pop("label", "").replace("_", " ")
            yield Form(text, cast("Kind", said[0]), label=label, **fields)


_ENGLISH: Final = [*read_table("english", {})]
NAMED: Final = {head: text for head, text in _ENGLISH if " " not in head}
"""The words and patterns of English that are no forms, by name."""
FORMS: Final = {
    group: tuple(_forms(_ENGLISH, group))
    for group in ("when", "order", "standing", "preference", "fact", "reminder")
}
"""The forms of English, in the order in which they are tried."""
FOREIGN: Final = tuple(
    form
    for name in ("german", "french", "spanish")
    for form in _forms(read_table(name, NAMED), "foreign")
)
"""The commonest forms of other languages."""
