"""Notices, without a model, how an assistant goes wrong in a turn, whatever the tool.

Promises: pure, deterministic, linear time; each detector answers for one turn, gives the cells that
it is about or none, and speaks once; what it teaches are fixed words, so that no text of a tool or
a page gets into memory this way, and the same lesson is known the second time.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from engramdown.consolidation.cells import Cell, arguments_of, last_line
from engramdown.engram import Engram, pointers

__all__ = [
    "DETECTORS",
    "Detector",
    "changing_name",
    "empty_arguments",
    "lessons_of_turn",
    "retry_without_change",
    "same_failure",
    "undone_fix",
]

Detector = Callable[[Sequence[Cell]], list[Cell]]
"""Takes the cells of a turn, in order; returns those that show that something goes wrong."""

_OFTEN: Final = 3
_NAMES: Final = (
    "name", "scratchpad", "pad", "notebook", "session", "session_id", "label", "id", "key",
    "module", "package", "function", "table", "column", "model", "file", "filename", "path",
)  # fmt: skip
_PADS: Final = ("name", "scratchpad", "pad", "notebook", "session")
_OLD: Final = ("old_string", "old_str", "old_text", "old", "search", "find")
_NEW: Final = ("new_string", "new_str", "new_text", "new", "replace", "replacement")
_WHOLE: Final = ("content", "file_text", "contents")
_FILE: Final = ("file_path", "path", "file", "filename")
# Programs that put a file back as it was.
_PUTS_BACK: Final = re.compile(
    r"\bgit (?:checkout (?:HEAD |-- |\.(?:\s|\Z))|restore (?!--staged)|revert\b|reset --hard\b)"
)


def lessons_of_turn(cells: Sequence[Cell]) -> list[Engram]:
    """Return what goes wrong in a turn as lessons, each once.

    Args:
        cells: What was done in that turn, in order.
    """
    found = ((text, detector(cells)) for detector, text in DETECTORS.items())
    return [
        Engram(
            text,
            "when",
            "global",
            "medium",
            source="consolidation",
            basis="observed",
            origin=pointers(*(cell.pointer for cell in seen)),
        )
        for text, seen in found
        if seen
    ]


def same_failure(cells: Sequence[Cell]) -> list[Cell]:
    """Return three failures of one call with one error, and no success of it between them."""
    failures: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        call = _call(cell)
        if not call[1]:
            continue  # What was called is not known.
        same = failures[call]
        if cell.status == "ok":
            same.clear()
        elif same and _error(same[0]) != _error(cell):
            # Another error is news: something has changed since.
            same[:] = [cell]
        else:
            same.append(cell)
        if len(same) == _OFTEN:
            return same
    return []


def changing_name(cells: Sequence[Cell]) -> list[Cell]:
    """Return calls that are one but for a name which is another each time.

    Of scratchpads three names are enough, as what one holds is not in the next; of other tools all
    but the last call must have failed: who looks up three cities does nothing wrong.
    """
    pads: dict[str, Cell] = {}
    for cell in cells:
        if cell.kind == "scratchpad" and (name := _pad(cell)):
            pads.setdefault(name, cell)
    if len(pads) >= _OFTEN:
        return list(pads.values())[:_OFTEN]
    guesses: defaultdict[tuple[str, str, str], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        for guess, name in _guesses(cell):
            tried = guesses[guess]
            tried.setdefault(name, cell)
            if len(tried) == _OFTEN:
                return list(tried.values())
            if cell.status == "ok":
                tried.clear()
    return []


def empty_arguments(cells: Sequence[Cell]) -> list[Cell]:
    """Return three calls of a tool with nothing in their arguments.

    A tool that wants none is called well without: such a call counts only if it failed.
    """
    empty: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if _is_empty(cell):
            empty[cell.name].append(cell)
    return next((same[:_OFTEN] for same in empty.values() if len(same) >= _OFTEN), [])


def undone_fix(cells: Sequence[Cell]) -> list[Cell]:
    """Return an edit, and what took it back: the edit turned round, an older text, or git."""
    edits: dict[_Edit, Cell] = {}
    latest: dict[str, Cell] = {}
    last: Cell | None = None
    for cell in cells:
        edit = _edit(cell) if cell.status == "ok" else None
        if edit is not None:
            before = edits.get(edit.undone())
            if before is not None and latest[edit.file] is not edits.get(edit):
                return [latest[edit.file] if edit.is_whole() else before, cell]
            edits[edit] = latest[edit.file] = last = cell
        elif last is not None and cell.status == "ok" and _PUTS_BACK.search(cell.code):
            return [last, cell]
    return []


def retry_without_change(cells: Sequence[Cell]) -> list[Cell]:
    """Return three times the same call with the same result, one right after the other."""
    for _, group in groupby(cells, lambda cell: (_call(cell), cell.status, _outcome(cell))):
        same = list(group)
        if len(same) >= _OFTEN and same[0].code.strip() and not _is_empty(same[0]):
            return same[:_OFTEN]
    return []


DETECTORS: Final[dict[Detector, str]] = {
    same_failure: (
        "When a call has failed twice with the same error, find out why before you make it a third"
        " time"
    ),
    changing_name: (
        "When a name is not found, look up which names there are, and stay with one scratchpad,"
        " as what one holds is not in the next"
    ),
    empty_arguments: (
        "When a tool complains about arguments, read what it needs and give all of it, rather than"
        " calling it with nothing"
    ),
    undone_fix: (
        "When a fix has to be taken back, say what it has shown before you try another one"
    ),
    retry_without_change: (
        "When a call gave nothing new, change something or wait before you repeat it"
    ),
}
"""What each detector teaches, in fixed words."""


# ---- what is the same ----


def _call(cell: Cell) -> tuple[str, str]:
    """Return what makes two calls the same; white space and the order of arguments do not."""
    arguments = arguments_of(cell.given)
    if not arguments:
        return cell.name, " ".join((cell.given or cell.code).split())
    plain = {
        key: " ".join(value.split()) if isinstance(value, str) else value
        for key, value in arguments.items()
    }
    return cell.name, json.dumps(plain, sort_keys=True)


_VARYING: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


def _error(cell: Cell) -> str:
    """Return the last line of an error without numbers, such as addresses and times."""
    return _VARYING.sub("0", last_line(cell.error))


def _outcome(cell: Cell) -> str:
    return _error(cell) if cell.error else cell.output


# ---- what was given ----


class _Edit(NamedTuple):
    """A change to a file: one text for another, or a whole text for what was there (``None``)."""

    file: str
    old: str | None
    new: str

    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self.old is None

    def undone(self) -> _Edit:
        """Return what this one takes back: the other way round, or the same text, earlier."""
        return self if self.old is None else _Edit(self.file, self.new, self.old)


def _edit(cell: Cell) -> _Edit | None:
    arguments = arguments_of(cell.given)
    file, old, new = (_text(arguments, keys) for keys in (_FILE, _OLD, _NEW))
    if file and (old or new):
        return None if old == new else _Edit(file, old, new)
    whole = any(key in arguments for key in _WHOLE)
    return _Edit(file, None, _text(arguments, _WHOLE)) if file and whole else None


def _text(arguments: dict[str, Any], keys: Iterable[str]) -> str:
    found = (arguments.get(key) for key in keys)
    return next((each for each in found if isinstance(each, str)), "")


def _pad(cell: Cell) -> str:
    return _text(arguments_of(cell.given), _PADS) if cell.given else cell.name


def _guesses(cell: Cell) -> Iterable[tuple[tuple[str, str, str], str]]:
    """Yield each name among the arguments, with all that is given besides."""
    arguments = arguments_of(cell.given)
    for key in _NAMES:
        name = arguments.get(key)
        if isinstance(name, str):
            rest = {other: value for other, value in arguments.items() if other != key}
            yield (cell.name, key, json.dumps(rest, sort_keys=True)), name


def _is_empty(cell: Cell) -> bool:
    """Whether a call was given nothing where it should have been given something."""
    arguments = arguments_of(cell.given)
    if arguments:
        return all(value is None or value in ("", [], {}) for value in arguments.values())
    # Of a line without any input it is not known what was given: it may tell of a result only.
    return cell.status != "ok" and cell.given.strip() in ("{}", "[]", "null", '""')
