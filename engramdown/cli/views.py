"""How memories and other results look to a person, and the words that commands share.

A list leaves out what is usual, so that the unusual is seen. This module is loaded at
every start, so it imports nothing of memory itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engramdown import serializers
from engramdown.cli.layout import Line, line, table, whole

if TYPE_CHECKING:
    from engramdown import Entry, Proposal, Receipt
    from engramdown.engram import Engram
    from engramdown.hippocampus import Archived


# ---- words ----

OFF: Final = 'memory is switched off; set mode = "autopilot" or "copilot" in config.toml, or --mode'
DRY_RUN: Final = "Dry run: nothing is written."
UNCHANGED: Final = "Nothing changed."


def system_error(error: OSError) -> str:
    """Return what the system refused, and for which file."""
    what = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else what


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "line"), counted(2_000, "line"), counted(2, "summary", "summaries")
    ('1 line', '2,000 lines', '2 summaries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def no_project(start: Path) -> str:
    """Return the message for a folder without a project."""
    return f"no project memory in {start} or above; run `engramdown init`, or use --global"


def no_memory(start: Path, home: Path) -> str:
    """Return the message for a folder without a project, and no global scope."""
    return f"no memory in {start} or above, nor in {home}; run `engramdown init`"


def ambiguous(prefix: str) -> str:
    """Return the message for a prefix of several ids, which are listed below it."""
    return f"{prefix!r} could be any of these; give more characters"


# ---- for a person ----


def hit_lines(
    entries: Iterable[Entry], newer: Mapping[str, str] | None = None, *, folded: bool = False
) -> list[Line]:
    """Return one line per memory with its place, id and text, and which one replaces it.

    ``newer`` has, by id, the id of what replaces it; ``folded`` keeps it to one row.
    """
    newer = newer or {}
    lines = []
    for entry in entries:
        text = one_line(entry.text) if folded else entry.text
        outdated = f", outdated: see {newer[entry.id]}" if entry.id in newer else ""
        kind = (f"  ({entry.kind}, {entry.scope}{outdated})", "dim")
        where = (place(entry), "where"), "  ", (entry.id, "id"), "  "
        lines.append(line(*where, text, *beside(entry.comments), kind, hang=4))
    return lines


def grouped_lines(entries: Iterable[Entry], *, folded: bool = False) -> Iterator[Line]:
    """Return the memories by file, and by section where a file has sections.

    ``folded`` keeps each to one row.
    """
    files = groupby(entries, key=lambda entry: (entry.scope, entry.disk_file))
    for number, ((scope, file), group) in enumerate(files):
        if number:
            yield line()
        yield line((file, "strong"), (f"  {serializers.SCOPE_NAMES[scope]}", "dim"))
        for heading, members in groupby(group, key=lambda entry: entry.heading):
            if heading:
                yield line((heading, "where"), indent=2)
            for entry in members:
                yield _listed(entry, _details(entry), folded=folded)


def archived_lines(items: Iterable[Archived], *, folded: bool = False) -> Iterator[Line]:
    """Return retired memories, each with who retired it, when and why."""
    for item in items:
        by = serializers.BY_NAMES.get(item.by, item.by)
        notes = [note for note in (item.reason, by and f"by {by}", item.date) if note]
        yield _listed(item.entry, notes, indent=0, folded=folded)


def full_lines(
    found: Entry | Proposal | Archived, folders: Mapping[str, Path], raw: str
) -> Iterator[Line]:
    """Return all facts about a memory, and its line in the file (``raw``)."""
    from engramdown import Entry
    from engramdown.hippocampus import Archived

    if isinstance(found, Entry):
        shown: Engram | Entry = found
        comments, folder = found.comments, folders.get(found.scope)
        path = str(folder / found.disk_file) if folder else found.disk_file
        facts = _entry_facts(found, path)
    elif isinstance(found, Archived):
        shown, comments = found.entry, found.entry.comments
        by = serializers.BY_NAMES.get(found.by, found.by)
        retired = [("retired", found.date), ("by", by), ("reason", found.reason)]
        facts = [*retired, *_entry_facts(found.entry, "")]
    else:
        shown, comments = found.engram, found.comments
        facts = [
            ("id", found.id),
            ("waits in", f"{found.file}:{found.line}"),
            ("because", found.hold or found.reason),
            *_kind_facts(shown),
            ("learned in", shown.origin),
            ("cites", shown.cites.replace(",", ", ")),
            ("proposed", found.ts),
            ("holds until", shown.expires),
        ]
    yield line((shown.text, "strong"), *beside(comments))
    yield line()
    # Whole, so that the path can be copied.
    known = [fact for fact in facts if fact[1]]
    yield from (row._replace(whole=True) for row in table(known, ("dim",)))
    if raw:
        yield line()
        yield whole((raw.rstrip("\r\n"), "dim"))


def place(entry: Entry) -> str:
    """Return the place of a memory: ``rules.md:12``."""
    return f"{entry.disk_file}:{entry.line}"


def one_line(text: str) -> str:
    r"""Return a text without line ends.

    >>> one_line("first\n  second")
    'first second'
    """
    return " ".join(part.strip() for part in text.split("\n")) if "\n" in text else text


def beside(comments: str) -> list[tuple[str, str]]:
    """Return the private comments inside the lines of a memory, to show after its text."""
    return [(f"  {one_line(comments)}", "warn")] if comments else []


def _details(entry: Entry) -> list[str]:
    """Return what is unusual about a memory, in few words, and its date."""
    details = [
        (entry.topic, f"topic {entry.topic}"),
        (entry.confidence != "high", f"{entry.confidence} confidence"),
        (entry.source != "user", f"from {serializers.BY_NAMES[entry.source]}"),
        (entry.basis == "verified", "verified"),
        (entry.pin, "pinned"),
        (entry.expires, f"until {entry.expires}"),
        (entry.ts, entry.ts),
    ]
    return [words for is_shown, words in details if is_shown]


def _entry_facts(entry: Entry, path: str) -> list[tuple[str, str]]:
    return [
        ("id", entry.id),
        ("file", f"{path}:{entry.line}" if path else ""),
        ("under", entry.heading),
        *_kind_facts(entry),
        ("written", entry.ts),
        ("learned in", entry.origin),
        ("cites", entry.cites.replace(",", ", ")),
        ("holds until", entry.expires),
        ("pinned", "yes" if entry.pin else ""),
    ]


def _kind_facts(item: Engram | Entry) -> list[tuple[str, str]]:
    known = serializers.pick(item, "kind scope topic confidence")
    return [*known.items(), ("source", serializers.BY_NAMES[item.source]), ("basis", item.basis)]


def _listed(entry: Entry, notes: list[str], indent: int = 2, *, folded: bool) -> Line:
    text = one_line(entry.text) if folded else entry.text
    tail = [(f"  ({', '.join(notes)})", "dim")] if notes else []
    shown: list[tuple[str, str] | str] = [(entry.id, "id"), "  ", text]
    return line(*shown, *beside(entry.comments), *tail, indent=indent, hang=indent + 10)


# ---- what became of a memory ----

_DECLINED: Final = "Declined; it is not proposed again."
_NOT_YOURS: Final = "(ticked by somebody else: it came with git)"


def receipt(item: Receipt) -> str:
    """Return what happened to a memory, where, and why, as a sentence."""
    # Imported here: a command with a receipt has loaded it.
    from engramdown.hippocampus import REFUSED

    if item.reason == "declined":
        return _DECLINED if item.is_ours else f"{_DECLINED} {_NOT_YOURS}"
    place = f"{item.file}:{item.line}" if item.line else item.file
    kind = f"({item.engram.kind}, {item.engram.scope})"
    reason = f": {item.reason}" if item.reason else ""
    aside = f", in this project: {REFUSED}" if REFUSED in item.reason else ""
    sentences = {
        "encoded": f"Remembered in {place} {kind} id {item.id}{aside}",
        "merged": f"Known already: {place} {kind} id {item.id}{aside}",
        "queued": (
            f"Waiting for you in {place} {kind} id {item.id}, because: {item.reason}. "
            "Decide with `engramdown review`."
        ),
        "discarded": f"Not written{reason}",
        "forgotten": f"Forgot {item.id}",
        "failed": f"Could not write it{reason}",
    }
    is_plain = item.is_ours or item.action in ("discarded", "failed")
    return sentences[item.action] if is_plain else f"{sentences[item.action]} {_NOT_YOURS}"
