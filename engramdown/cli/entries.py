"""How a memory looks to a person: as a hit, in a list, and in full.

Promises: pure; in a list what is usual is left unsaid, so that what is unusual is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from engramdown import Entry
from engramdown.cli import messages
from engramdown.cli.layout import Line, line, table, whole
from engramdown.hippocampus.entry import Archived

if TYPE_CHECKING:
    # Only named here: searching memory needs nothing of the review.
    from engramdown import Proposal


def hit_lines(entries: Iterable[Entry], *, folded: bool = False) -> list[Line]:
    """Return one line per memory with its place, id and text; ``folded`` keeps it to one row."""
    return [
        line(
            (place(entry), "where"),
            "  ",
            (entry.id, "id"),
            "  ",
            one_line(entry.text) if folded else entry.text,
            *beside(entry.comments),
            (f"  ({entry.kind}, {entry.scope})", "dim"),
            hang=4,
        )
        for entry in entries
    ]


def grouped_lines(entries: Iterable[Entry], *, folded: bool = False) -> Iterator[Line]:
    """Return the memories file by file, and section by section where a file has sections.

    ``folded`` keeps each to one row.
    """
    first = True
    for (scope, file), group in groupby(entries, key=lambda entry: (entry.scope, entry.disk_file)):
        if not first:
            yield line()
        first = False
        yield line((file, "strong"), (f"  {messages.SCOPE_NAMES[scope]}", "dim"))
        for heading, members in groupby(group, key=lambda entry: entry.heading):
            if heading:
                yield line((heading, "where"), indent=2)
            for entry in members:
                text = one_line(entry.text) if folded else entry.text
                yield _listed(entry, text, details(entry))


def archived_lines(items: Iterable[Archived], *, folded: bool = False) -> Iterator[Line]:
    """Return retired memories, each with who retired it, when and why."""
    for item in items:
        by = messages.BY_NAMES.get(item.by, item.by)
        notes = [note for note in (item.reason, by and f"by {by}", item.date) if note]
        text = one_line(item.entry.text) if folded else item.entry.text
        yield _listed(item.entry, text, notes, indent=0)


def full_lines(
    found: Entry | Proposal | Archived, folders: Mapping[str, Path], raw: str
) -> Iterator[Line]:
    """Return everything that is known about a memory, and its line in the file (``raw``)."""
    if isinstance(found, Entry):
        yield line((found.text, "strong"), *beside(found.comments))
        folder = folders.get(found.scope)
        facts = _entry_facts(found, str(folder / found.disk_file) if folder else found.disk_file)
    elif isinstance(found, Archived):
        yield line((found.entry.text, "strong"), *beside(found.entry.comments))
        by = messages.BY_NAMES.get(found.by, found.by)
        facts = [("retired", found.date), ("by", by), ("reason", found.reason)]
        facts += _entry_facts(found.entry, "")
    else:
        yield line((found.engram.text, "strong"), *beside(found.comments))
        facts = proposal_facts(found)
    yield line()
    # Whole, so that the path can be copied.
    known = [fact for fact in facts if fact[1]]
    yield from (row._replace(whole=True) for row in table(known, ("dim",)))
    if raw:
        yield line()
        yield whole((raw.rstrip("\r\n"), "dim"))


def proposal_facts(proposal: Proposal) -> list[tuple[str, str]]:
    """Return what is known about a proposal besides its text, name and value."""
    engram = proposal.engram
    return [
        ("id", proposal.id),
        ("waits in", f"{proposal.file}:{proposal.line}"),
        ("because", proposal.hold or proposal.reason),
        ("kind", engram.kind),
        ("scope", engram.scope),
        ("topic", engram.topic),
        ("confidence", engram.confidence),
        ("source", messages.SOURCE_NAMES[engram.source]),
        ("basis", engram.basis),
        ("learned in", engram.origin),
        ("proposed", proposal.ts),
        ("holds until", engram.expires),
    ]


def place(entry: Entry) -> str:
    """Return where a memory stands: ``rules.md:12``."""
    return f"{entry.disk_file}:{entry.line}"


def one_line(text: str) -> str:
    r"""Return a text without line ends.

    >>> one_line("first\n  second")
    'first second'
    """
    return " ".join(part.strip() for part in text.split("\n")) if "\n" in text else text


def beside(comments: str) -> list[tuple[str, str]]:
    """Return what stands in the lines of a memory and is no part of it, for behind its text."""
    return [(f"  {one_line(comments)}", "warn")] if comments else []


def details(entry: Entry) -> list[str]:
    """Return what is unusual about a memory, in few words, and its date."""
    found = [
        (entry.topic, f"topic {entry.topic}"),
        (entry.confidence != "high", f"{entry.confidence} confidence"),
        (entry.source != "user", f"from {messages.SOURCE_NAMES[entry.source]}"),
        (entry.basis == "verified", "verified"),
        (entry.pin, "pinned"),
        (entry.expires, f"until {entry.expires}"),
        (entry.ts, entry.ts),
    ]
    return [words for said, words in found if said]


def _entry_facts(entry: Entry, path: str) -> list[tuple[str, str]]:
    return [
        ("id", entry.id),
        ("file", f"{path}:{entry.line}" if path else ""),
        ("under", entry.heading),
        ("kind", entry.kind),
        ("scope", entry.scope),
        ("topic", entry.topic),
        ("confidence", entry.confidence),
        ("source", messages.SOURCE_NAMES[entry.source]),
        ("basis", entry.basis),
        ("written", entry.ts),
        ("learned in", entry.origin),
        ("holds until", entry.expires),
        ("pinned", "yes" if entry.pin else ""),
    ]


def _listed(entry: Entry, text: str, notes: list[str], indent: int = 2) -> Line:
    tail = [(f"  ({', '.join(notes)})", "dim")] if notes else []
    return line(
        (entry.id, "id"),
        "  ",
        text,
        *beside(entry.comments),
        *tail,
        indent=indent,
        hang=indent + 10,
    )
