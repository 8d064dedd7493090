"""What the program says of one memory, and of what was looked for.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown import Entry
    from engramdown.cortex.erasing import Erased, Shared
    from engramdown.episodes.eraser import Held


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


def why_pointer(entry_id: str) -> str:
    """Point at the command that says where a memory comes from."""
    return f"`engramdown why {entry_id}` says where it comes from."


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
