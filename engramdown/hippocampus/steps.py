"""What a step of the journal is, and how it is written down.

Promises: pure; a step says what every file held before and after, so that it can be carried out
again, undone and explained; a line that cannot be read is ``None``, never an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from engramdown.markdown.metadata import current_id

__all__ = [
    "Change",
    "Head",
    "How",
    "Part",
    "Past",
    "Step",
    "common",
    "digest",
    "make_part",
    "read_heads",
    "read_line",
    "write_line",
]

# A whole text is written again when the journal has grown by this many times the size of all texts,
# so that a state is found by reading a bounded piece of the journal, which at most grows by a
# quarter, into however many files the same memories are copied.
_WHOLE_EVERY: Final = 4
_WHOLE_AT_LEAST: Final = 256 * 1024


class Change(NamedTuple):
    """What a step did to one memory.

    Attributes:
        id: The id of the memory.
        file: The file, relative to the memory folder.
        before: Its lines before, or ``None`` if the step added it.
        after: Its lines after, or ``None`` if the step took it out.
        section: The section that it was taken out of, or ``""``: a rule kind, or the title of one
            of a person's own.
        erased: Whether a person erased what it said for good: then its lines are ``""``.
    """

    id: str
    file: str
    before: str | None
    after: str | None
    section: str = ""
    erased: bool = False


class Head(NamedTuple):
    """How the last step left a file.

    Attributes:
        target: The digest of its text; ``""`` if it was removed.
        whole: The size of the journal, in bytes, when it last got the whole text.
        size: The length of the text in characters.
        marks: What a person changed in it that is yet to be marked as verified: each the id of an
            entry and the address of its text.
    """

    target: str
    whole: int
    size: int = 0
    marks: tuple[str, ...] = ()


class Part(NamedTuple):
    """What a step did to one file.

    Attributes:
        file: The file, relative to the memory folder.
        source: The digest of the text before; ``""`` if there was no file.
        target: The digest of the text after.
        at: Where ``old`` was replaced by ``new``, in characters.
        old: The characters that were there.
        new: The characters that are there now.
        text: The whole text after, or ``None``.
        whole: The size of the journal, in bytes, when it last got the whole text.
        size: The length of the text after, in characters.
    """

    file: str
    source: str
    target: str
    at: int
    old: str
    new: str
    text: str | None = None
    whole: int = 0
    size: int = 0
    marks: tuple[str, ...] = ()

    @property
    def head(self) -> Head:
        """How this step leaves the file."""
        return Head(self.target, self.whole, self.size, self.marks)

    @property
    def begins(self) -> str | None:
        """The text after, if it can be known without any step before."""
        return self.text if self.source else self.new

    def forward(self, text: str) -> str:
        """Return the text after, given the one before."""
        return text[: self.at] + self.new + text[self.at + len(self.old) :]

    def backward(self, text: str) -> str:
        """Return the text before, given the one after."""
        return text[: self.at] + self.old + text[self.at + len(self.new) :]

    def reversed(self) -> Part:
        """Return the part of a step that takes this one back."""
        return Part(self.file, self.target, self.source, self.at, self.new, self.old)


class Step(NamedTuple):
    """One change to memory.

    Attributes:
        id: Eight characters that name the step.
        at: When, in UTC, ISO 8601 with microseconds.
        by: Who: ``user``, ``llm``, ``consolidation``, ``person`` for a hand edit, or
            ``engramdown`` for what follows from one.
        op: What: ``encode``, ``forget``, ``update``, ``edit`` (by hand), ``undo``, …
        why: The reason, in words; may be empty.
        parts: What happened to each file, in the order in which they are written.
        changes: What happened to each memory.
        of: The step that this one undoes, or ``""``.
    """

    id: str
    at: str
    by: str
    op: str
    why: str
    parts: tuple[Part, ...]
    changes: tuple[Change, ...]
    of: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that it changed."""
        return tuple(part.file for part in self.parts)


How = Literal["saved", "followed", "displaced", "brought", ""]


class Past(NamedTuple):
    """How a state of a file came about.

    Attributes:
        part: The splice that made it of the state before.
        how: ``saved`` if it is what a person saved, ``followed`` if it follows from such a save,
            ``brought`` if it came with git; ``displaced`` if a person had saved it before the
            state in front of it displaced it.
    """

    part: Part
    how: How = ""


_DIGITS: Final = 16


@lru_cache(maxsize=4)
def digest(text: str | None) -> str:
    """Return the digest of a text, 16 hexadecimal digits; ``""`` for a file that is not there."""
    if text is None:
        return ""
    data = text.encode("utf-8", "surrogateescape")
    # Many processors compute this one themselves, so it costs half of any other.
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def make_part(
    file: str,
    before: str | None,
    after: str | None,
    *,
    journal: int = 0,
    whole: int = 0,
    others: int = 0,
) -> Part:
    """Return the part of a step that turns ``before`` into ``after``; ``None`` is no file.

    Args:
        file: The name of the file, relative to the memory folder.
        before: The whole text before.
        after: The whole text after.
        journal: The size of the journal in bytes.
        whole: Its size when it last got the whole text of the file.
        others: The length of the texts of all other files.
    """
    old, new = before or "", after or ""
    start = common(old, new)
    end = _common_end(old, new, min(len(old), len(new)) - start)
    cut, put = old[start : len(old) - end], new[start : len(new) - end]
    period = max(_WHOLE_AT_LEAST, _WHOLE_EVERY * (len(new) + others))
    # A journal that was cut is shorter than it was then.
    due = before is None or not whole <= journal < whole + period
    text = new if due and before is not None else None
    since = journal if due else whole
    return Part(file, digest(before), digest(after), start, cut, put, text, since, len(new))


def write_line(step: Step, heads: Mapping[str, Head] | None = None, at: int = 0) -> bytes:
    """Return a step as one line of JSON, its line end included.

    Args:
        step: The step.
        heads: How the steps before this one left every file, or ``None``.
        at: Where the line will stand, in bytes of the journal.
    """
    record: dict[str, Any] = {
        "step": step.id,
        "at": step.at,
        "by": step.by,
        "op": step.op,
        "why": step.why,
        "of": step.of,
        "files": [
            {
                "file": part.file,
                "from": part.source,
                "to": part.target,
                "at": part.at,
                "old": part.old,
                "new": part.new,
                **({} if part.text is None else {"text": part.text}),
                "whole": part.whole,
                "size": part.size,
                **({"marks": part.marks} if part.marks else {}),
            }
            for part in step.parts
        ],
        "entries": [
            {
                "id": change.id,
                "in": change.file,
                "before": change.before,
                "after": change.after,
                **({"section": change.section} if change.section else {}),
                **({"erased": True} if change.erased else {}),
            }
            for change in step.changes
        ],
    }
    if heads is not None:
        files = {
            file: [head.target, head.whole, head.size, *([head.marks] if head.marks else [])]
            for file, head in heads.items()
        }
        record["known"] = {"at": at, "files": files}
    line = json.dumps(record, ensure_ascii=False)
    # A lone surrogate of the file is one of its bytes again; any other cannot come from a file.
    return line.encode("utf-8", "surrogateescape") + b"\n"


def read_line(line: bytes) -> Step | None:
    """Return the step that a line holds, or ``None``."""
    if not line:
        return None
    try:
        record = json.loads(line.decode("utf-8", "surrogateescape"))
        step = Step(
            id=record["step"],
            at=record["at"],
            by=record["by"],
            op=record["op"],
            why=record["why"],
            of=record["of"],
            parts=tuple(map(_read_part, record["files"])),
            changes=tuple(
                Change(
                    current_id(item["id"]),
                    item["in"],
                    item["before"],
                    item["after"],
                    item.get("section", ""),
                    item.get("erased") is True,
                )
                for item in record["entries"]
            ),
        )
        return step if _is_whole(step) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_whole(step: Step) -> bool:
    """Whether every value is of its kind: JSON says anything, and the line may be a stranger's.

    Raises:
        UnicodeEncodeError: If a text holds what no file can hold.
    """
    texts = [step.id, step.at, step.by, step.op, step.why, step.of]
    numbers: list[int] = []
    for part in step.parts:
        texts += [part.file, part.source, part.target, part.old, part.new, *part.marks]
        texts += [text for text in (part.text,) if text is not None]
        numbers += [part.at, part.whole, part.size]
    for change in step.changes:
        texts += [change.id, change.file, change.section]
        texts += [text for text in (change.before, change.after) if text is not None]
    # To join them fails where one is no text.
    "".join(texts).encode("utf-8", "surrogateescape")
    return all(type(number) is int and number >= 0 for number in numbers)


def read_heads(line: bytes, at: int) -> dict[str, Head] | None:
    """Return how every file was left before the step of a line that stands at ``at``.

    ``None`` if it does not say so, or was written for another place: then lines came between that
    its writer did not know, or are gone.
    """
    if b'"known": {' not in line:
        return None
    try:
        known = json.loads(line.decode("utf-8", "surrogateescape"))["known"]
        heads = {
            file: Head(str(to), int(whole), int(size), *map(tuple, marks))
            for file, (to, whole, size, *marks) in known["files"].items()
        }
        return heads if known["at"] == at else None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _read_part(item: dict[str, Any]) -> Part:
    return Part(
        file=item["file"],
        source=item["from"],
        target=item["to"],
        at=item["at"],
        old=item["old"],
        new=item["new"],
        text=item.get("text"),
        whole=item.get("whole", 0),
        size=item.get("size", 0),
        marks=tuple(item.get("marks", ())),
    )


def common(a: Sequence[object], b: Sequence[object]) -> int:
    """Return the length of the common prefix of two texts, by halving: slices compare fast."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _common_end(a: str, b: str, limit: int) -> int:
    """Return the length of the common suffix of two texts, ``limit`` at most."""
    low, high = 0, limit
    if a[len(a) - high :] == b[len(b) - high :]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle
    return low
