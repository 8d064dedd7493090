"""Learns from a tool call that failed and a like one that worked, without a model.

Promises: pure and deterministic; a lesson names two calls of one tool that differ in a detail, and
points at both; how a call ended is what its cell says; the same call that works the second time
teaches nothing, and neither does what passes by itself or was stopped by somebody; at most five
lessons, whatever the length of the transcript; linear time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from engramdown.consolidation.cells import Cell, arguments_of, last_line
from engramdown.engram import Engram, pointers

__all__ = ["MOST", "mended"]

MOST: Final = 5
"""So many lessons one transcript may bring."""

# So many failures of a tool are remembered, and compared with what works later.
_BACK: Final = 6
# What is longer, in characters or words, is no call that a lesson can show.
_LONGEST: Final = 160
_WORDS: Final = 24
_REASON: Final = 120
# A word that was mistyped, and the one that was meant.
_ALIKE: Final = 0.6
# The share of its words that a call keeps when it is mended.
_KEPT: Final = 0.5
_COMMANDS: Final = ("command", "cmd", "code", "query", "sql", "script", "path", "url", "input")
_PASSING: Final = re.compile(
    r"time[d-]?[ -]?out|connection (?:reset|refused|aborted)|temporar|rate.?limit|too many"
    r" requests"
    r"|\b(?:429|502|503|504)\b|try again|unavailable|cancel|killed|interrupt"
    r"|could not resolve host",
    re.IGNORECASE,
)
# "git push --force" works, and is no lesson.
_FORCE: Final = re.compile(
    r"--?(?:f|force\S*|no-verify|no-check\S*|skip\S*|insecure|k|break-\S*|ignore\S*|allow\S*"
    r"|dangerous\S*|disable\S*|no-\S*(?:check|verif|protect)\S*)|sudo|su|chmod|rm|\+\S+"
)


class _Try(NamedTuple):
    """A call with its result, as a lesson would show it."""

    at: int
    pointer: str
    tool: str
    said: str
    reason: str
    failed: bool


class _Mend(NamedTuple):
    """A call that failed, how often, and the one that worked."""

    broken: _Try
    whole: _Try
    times: int


def mended(cells: Iterable[Cell]) -> list[Engram]:
    """Return what the failures of a session teach that were mended later, the surest first.

    Args:
        cells: What was done in it, in order.
    """
    mends = {_lesson(mend): mend for mend in _mends(_tries(cells))}
    ranked = sorted(mends.items(), key=lambda item: (item[1].times == 1, item[1].broken.at))
    return [_engram(text, mend) for text, mend in ranked[:MOST]]


def _engram(text: str, mend: _Mend) -> Engram:
    return Engram(
        text,
        "lesson",
        "project",
        "low" if mend.times == 1 else "medium",
        source="consolidation",
        basis="observed",
        origin=pointers(mend.broken.pointer, mend.whole.pointer),
        # Words of a tool's result stand in it: the gate looks at them as such.
        via="tool",
    )


def _lesson(mend: _Mend) -> str:
    reason = f" with {_quoted(mend.broken.reason)}" if mend.broken.reason else ""
    said = f"{_quoted(mend.broken.said)} failed{reason}; {_quoted(mend.whole.said)} worked"
    return f"{mend.broken.tool}: {said}" if mend.broken.tool else said


def _quoted(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


# ---- which call mends which ----


def _mends(tries: Iterable[_Try]) -> Iterator[_Mend]:
    """Yield each failure with the first call that mends it."""
    failures: defaultdict[str, deque[_Try]] = defaultdict(lambda: deque(maxlen=_BACK))
    often: Counter[tuple[str, str]] = Counter()
    for each in tries:
        failed = failures[each.tool]
        if each.failed:
            often[each.tool, each.said] += 1
            failed.append(each)
            continue
        # What works now as it was written has taught nothing.
        waiting = [other for other in failed if other.said != each.said]
        broken = next((other for other in reversed(waiting) if _mends_it(other, each)), None)
        if broken is not None:
            yield _Mend(broken, each, often[broken.tool, broken.said])
            waiting = [other for other in waiting if other.said != broken.said]
        failures[each.tool] = deque(waiting, maxlen=_BACK)


def _mends_it(broken: _Try, whole: _Try) -> bool:
    """Whether two calls are one but for a detail: another program, option or spelling."""
    old, new = broken.said.split(), whole.said.split()
    kept = 0
    for what, start, end, first, last in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if what == "equal":
            kept += end - start
            continue
        replaced = what == "replace"
        detail = not replaced or _is_detail(old[start:end], new[first:last], start)
        if not detail or any(map(_forces, new[first:last])):
            return False
    return kept >= _KEPT * min(len(old), len(new)) and kept > 0


def _forces(word: str) -> bool:
    """Whether a word gets a call through rather than right: nobody should learn that."""
    return _FORCE.fullmatch(word) is not None


def _is_detail(old: list[str], new: list[str], start: int) -> bool:
    """Whether words were corrected, rather than something else asked for."""
    if start == 0 or old[0].startswith("-") or new[0].startswith("-"):
        return True
    if len(old) != len(new):
        return False
    return all(map(_is_correction, old, new))


def _is_correction(old: str, new: str) -> bool:
    same_file = old.rpartition("/")[2] == new.rpartition("/")[2]
    return same_file or SequenceMatcher(None, old, new, autojunk=False).ratio() >= _ALIKE


# ---- what was tried ----


def _tries(cells: Iterable[Cell]) -> Iterator[_Try]:
    """Yield the calls that ended by themselves and can be shown, in order."""
    for at, cell in enumerate(cells):
        failed = cell.status == "error"
        if not failed and cell.status != "ok":
            continue  # Somebody or something stopped it: whether it would have worked is open.
        command = _plain(_command(cell)).strip()
        said = " ".join(command.split())
        passes = failed and _PASSING.search(f"{cell.error} {cell.output}"[-_TAIL:])
        short = said and len(said) <= _LONGEST and said.count(" ") < _WORDS and "\n" not in command
        if short and not passes:
            tool = " ".join(_plain(cell.name).split())
            yield _Try(at, cell.pointer, tool, said, _reason(cell) if failed else "", failed)


# So much of the end of a result is read.
_TAIL: Final = 4000
_CONTROL: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|[^\S\n \t]|[\x00-\x08\x0e-\x1f\x7f]")


def _command(cell: Cell) -> str:
    """Return what was called: of arguments, the command among them."""
    arguments = arguments_of(cell.given)
    found = (arguments.get(key) for key in _COMMANDS)
    return next((value for value in found if isinstance(value, str)), cell.given or cell.code)


def _plain(text: str) -> str:
    """Return ``text`` without colours, control characters and halves of characters."""
    return _CONTROL.sub("", text.encode(errors="ignore").decode())


def _reason(cell: Cell) -> str:
    """Return the last line of an error, without what cannot be shown in a line."""
    short = " ".join(last_line(_plain(cell.error[-_TAIL:])).split())
    return short if len(short) <= _REASON else f"{short[:_REASON].rstrip()}…"
