"""How memories and other results look: to a person, and as the JSON of ``--json``.

In a list what is usual is left out, so that what is unusual is seen. Keys of JSON stay, new ones
may come, and texts are exact; docs/cli.md lists the shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engramdown.cli import messages
from engramdown.cli.layout import Line, line, pick, table, whole

if TYPE_CHECKING:
    # Only named here: what records a transcript loads nothing of memory.
    from engramdown import Entry, Proposal, Receipt
    from engramdown.engram import Engram
    from engramdown.episodes import Held
    from engramdown.gate import Arrival, Erased, Shared
    from engramdown.hippocampus import Archived, Step
    from engramdown.recall import Hit
    from engramdown.sleep import News


def hit_lines(entries: Iterable[Entry], *, folded: bool = False) -> list[Line]:
    """Return one line per memory with its place, id and text; ``folded`` keeps it to one row."""
    lines = []
    for entry in entries:
        text = one_line(entry.text) if folded else entry.text
        kind = (f"  ({entry.kind}, {entry.scope})", "dim")
        where = (place(entry), "where"), "  ", (entry.id, "id"), "  "
        lines.append(line(*where, text, *beside(entry.comments), kind, hang=4))
    return lines


def grouped_lines(entries: Iterable[Entry], *, folded: bool = False) -> Iterator[Line]:
    """Return the memories file by file, and section by section where a file has sections.

    ``folded`` keeps each to one row.
    """
    files = groupby(entries, key=lambda entry: (entry.scope, entry.disk_file))
    for number, ((scope, file), group) in enumerate(files):
        if number:
            yield line()
        yield line((file, "strong"), (f"  {messages.SCOPE_NAMES[scope]}", "dim"))
        for heading, members in groupby(group, key=lambda entry: entry.heading):
            if heading:
                yield line((heading, "where"), indent=2)
            for entry in members:
                yield _listed(entry, _details(entry), folded=folded)


def archived_lines(items: Iterable[Archived], *, folded: bool = False) -> Iterator[Line]:
    """Return retired memories, each with who retired it, when and why."""
    for item in items:
        by = messages.BY_NAMES.get(item.by, item.by)
        notes = [note for note in (item.reason, by and f"by {by}", item.date) if note]
        yield _listed(item.entry, notes, indent=0, folded=folded)


def full_lines(
    found: Entry | Proposal | Archived, folders: Mapping[str, Path], raw: str
) -> Iterator[Line]:
    """Return everything that is known about a memory, and its line in the file (``raw``)."""
    from engramdown import Entry
    from engramdown.hippocampus import Archived

    if isinstance(found, Entry):
        shown: Engram | Entry = found
        comments, folder = found.comments, folders.get(found.scope)
        path = str(folder / found.disk_file) if folder else found.disk_file
        facts = _entry_facts(found, path)
    elif isinstance(found, Archived):
        shown, comments = found.entry, found.entry.comments
        by = messages.BY_NAMES.get(found.by, found.by)
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


def _details(entry: Entry) -> list[str]:
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
        *_kind_facts(entry),
        ("written", entry.ts),
        ("learned in", entry.origin),
        ("holds until", entry.expires),
        ("pinned", "yes" if entry.pin else ""),
    ]


def _kind_facts(item: Engram | Entry) -> list[tuple[str, str]]:
    names = ("kind", "scope", "topic", "confidence")
    source = messages.SOURCE_NAMES[item.source]
    return [*pick(item, " ".join(names)).items(), ("source", source), ("basis", item.basis)]


def _listed(entry: Entry, notes: list[str], indent: int = 2, *, folded: bool) -> Line:
    text = one_line(entry.text) if folded else entry.text
    tail = [(f"  ({', '.join(notes)})", "dim")] if notes else []
    shown: list[tuple[str, str] | str] = [(entry.id, "id"), "  ", text]
    return line(*shown, *beside(entry.comments), *tail, indent=indent, hang=indent + 10)


# So many numbers of lines are named.
_MOST: Final = 20

# ---- finding ----


NO_WORDS: Final = "nothing to look for; give WORDS, or --since, --until or --days for all of a time"


def nothing_found(query: str) -> str:
    """Say that no memory fits."""
    if not query.strip():
        return "nothing was learned or said in that time"
    return f"nothing found for {query!r}; `engramdown list` shows everything"


def nothing_listed(*, filtered: bool, archived: bool) -> str:
    """Say that there is nothing to list."""
    if filtered:
        return "no memory passes these filters; `engramdown list` shows everything"
    if archived:
        return "nothing was retired so far; `engramdown forget ID` retires a memory"
    return 'nothing is remembered yet; begin with `engramdown remember "..."`'


def ambiguous(prefix: str) -> str:
    """Say that a prefix begins several ids, which are listed below."""
    return f"{prefix!r} could be any of these; give more characters"


def is_retired(entry_id: str) -> str:
    """Say that a memory is retired, and how to bring it back."""
    return f"{entry_id} is retired; `engramdown restore {entry_id}` brings it back"


EXPLAIN_HEAD: Final = ("tokens", "budget", "shown", "left out", "section")


def explain_total(tokens: int) -> str:
    """Say what the context costs."""
    return f"{tokens} tokens in all, with the words around the sections"


def left_out(section: str) -> str:
    """Name the section whose budget was too small for the memories below."""
    return f"Left out of {section}"


# ---- changing ----

UNCHANGED: Final = "Nothing changed."
EDIT_INSTEAD: Final = "give the new text behind the id"
REVIEW_EDIT_INSTEAD: Final = "use `engramdown review --edit ID TEXT`"
NOTHING_TO_UNDO: Final = "nothing is left to undo; `engramdown history` shows what was done"


def no_editor(instead: str) -> str:
    """Say that no editor can be opened."""
    return f"no $EDITOR is set and there is no terminal; {instead}"


def broken_editor(editor: str, reason: str) -> str:
    """Say that what is set as an editor is no command."""
    return f"$VISUAL or $EDITOR is {editor!r}, which is no command: {reason}; set it anew"


def empty_edit(entry_id: str) -> str:
    """Say that a memory cannot be empty."""
    return f"the text is empty; to retire the memory, run `engramdown forget {entry_id}`"


def changed(entry: Entry) -> str:
    """Say that a memory has another text."""
    return f"Changed {entry.disk_file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"


def moved_address(before: str, now: str) -> str:
    """Say that a line without an id is found under another name."""
    return f"It was written by hand, so its address changes with its text: {before} is {now} now."


def forgotten(entry: Entry) -> str:
    """Say that a memory was retired, and how to get it back."""
    return (
        f"Forgot {entry.id}, which was in {entry.disk_file}; "
        f"`engramdown undo` or `engramdown restore {entry.id}` brings it back"
    )


ONLY_FOREVER: Final = "--pieces and --yes go with --forever"
NEEDS_YES: Final = (
    "what is erased cannot be brought back; look with --dry-run, then say --yes, or run it in a "
    "terminal to be asked"
)


def erased(what: Erased) -> str:
    """Say which memories are erased, or would be."""
    done = "Erased" if what.changed else "Would erase"
    places = dict.fromkeys(f"{each.id} ({each.scope} {each.file})" for each in what.memories)
    if not places:
        return f"{done} the words, which are no memory here"
    earlier = what.versions - 1
    also = f", with {earlier} more text{'' if earlier == 1 else 's'} that it had" if earlier else ""
    return f"{done} {', '.join(places)}{also}"


def erased_steps(count: int) -> str:
    """Say how many steps of the journal of changes lose words."""
    steps = "1 step, which stays" if count == 1 else f"{count} steps, which stay"
    return f"history.jsonl: {steps} without the words and cannot be undone"


def erased_lines(scope: str, held: Held) -> str:
    """Say which lines of a transcript are emptied."""
    count = len(held.seqs)
    numbers = _numbers(held.seqs)
    lines = f"{count} line{'' if count == 1 else 's'}"
    part = count - held.whole
    some = f", {part} of which hold{'s' if part == 1 else ''} only a part" if part else ""
    return f"{scope} transcript {held.session}: {lines} emptied{some}: {numbers}"


def _numbers(lines: Sequence[int]) -> str:
    return " ".join(f"#{number}" for number in lines[:_MOST]) + (" …" if len(lines) > _MOST else "")


def erased_left(number: int, text: str) -> str:
    """Show a line that shares some words, and stays."""
    return f"stays: #{number} {text}"


def erased_stays(ids: Iterable[str]) -> str:
    """Name memories that share some words, and stay."""
    return f"share some words, and stay: {', '.join(ids)}; name them, too, if they are to go"


def erased_shares(shared: Sequence[Shared]) -> str:
    """Say how many lines share a shorter run, and stay."""
    count = sum(len(each.lines) for each in shared)
    lines = "1 line shares" if count == 1 else f"{count} lines share"
    stay = "stays" if count == 1 else "stay"
    return f"{lines} a few words, and {stay}; --pieces takes those of transcripts and notes, too"


def erased_shared(each: Shared) -> str:
    """Name the lines of a file, or a transcript, that share a shorter run."""
    numbers = _numbers(each.lines)
    if each.session:
        return f"{each.scope} transcript {each.session}: {numbers}"
    return f"{each.path}: {numbers}"


def not_reached(what: str) -> str:
    """Name what keeps the words all the same."""
    return f"not reached: {what}"


def erased_later(reason: str) -> str:
    """Say what could not be erased yet."""
    return f"not yet: {reason}; the next command tries again"


ASK_ERASE: Final = "Erase this for ever? Nothing brings it back"


def restored(entry: Entry) -> str:
    """Say that a memory is back."""
    return f"Restored in {entry.disk_file}:{entry.line} ({entry.kind}, {entry.scope}) id {entry.id}"


Folders = Mapping[str, Path]
"""The memory folder of each scope."""


def entry_data(entry: Entry, folders: Folders) -> dict[str, Any]:
    """Return a memory and where it stands."""
    folder = folders.get(entry.scope)
    return {
        **pick(
            entry,
            "id text kind scope confidence source basis topic ts origin expires pin heading "
            "comments",
        ),
        "file": entry.disk_file,
        "line": entry.line,
        "path": str(folder / entry.disk_file) if folder and entry.file else "",
    }


def receipt_data(receipt: Receipt) -> dict[str, Any]:
    """Return what happened to one memory."""
    happened = pick(receipt, "action reason id file line")
    return {**happened, **pick(receipt.engram, "text kind scope")}


def proposal_data(proposal: Proposal, folders: Folders) -> dict[str, Any]:
    """Return what waits for a person, with what it would replace and what it is like."""
    return {
        **pick(proposal, "id op"),
        **pick(proposal.engram, "text kind scope confidence source basis topic origin"),
        **pick(proposal, "ts comments hold reason"),
        "came_with_git": proposal.op == "load" or not proposal.is_ours,
        **pick(proposal, "file line"),
        "replaces": entry_data(proposal.replaces, folders) if proposal.replaces else None,
        "takes": [entry_data(entry, folders) for entry in proposal.takes],
        "similar": [entry_data(entry, folders) for entry in proposal.similar],
    }


def arrival_data(arrival: Arrival) -> dict[str, Any]:
    """Return what git brought."""
    return {**arrival._asdict(), "path": str(arrival.path)}


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return a line of a transcript that was found."""
    found = pick(hit, "session seq time role name text snippet score")
    return {"pointer": str(hit.pointer), **found}


def step_data(step: Step, scope: str) -> dict[str, Any]:
    """Return one change to memory."""
    changes = []
    for change in step.changes:
        erased = {"erased": True} if change.erased else {}
        changes.append({**pick(change, "id file before after"), **erased})
    found = {**pick(step, "id at by op why of"), "scope": scope}
    return {**found, "files": list(step.files), "changes": changes}


def archived_data(item: Archived, folders: Folders) -> dict[str, Any]:
    """Return a retired memory, with the reason."""
    return {**entry_data(item.entry, folders), **pick(item, "reason by date replaced")}


def news_data(item: News, folders: Folders) -> dict[str, Any]:
    """Return what happened to memory while it was watched."""
    folder = folders.get(item.scope)
    path = str(folder / item.file) if folder and item.file else ""
    return {**item._asdict(), "path": path}
