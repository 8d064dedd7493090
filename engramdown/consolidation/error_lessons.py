"""Lessons from errors: how an assistant goes wrong in a turn, and how a failed call was fixed.

Pure, deterministic, in linear time, without a model. A detector looks at one turn and teaches fixed
words, so that no text of a tool or a page gets into memory this way, and the same lesson is learned
once. A fixed call teaches which of two calls of one tool worked, and points at both. A call that
works when it is repeated teaches nothing, nor does a failure that passes by itself or was stopped.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

from engramdown.consolidation.actions import Cell, arguments_of, code_span, last_line
from engramdown.engram import Engram, pointers

# Returns those cells of a turn that show that something goes wrong.
Detector = Callable[[Sequence[Cell]], list[Cell]]

_OFTEN: Final = 3
_WAITING: Final = 5
# How many characters at the end of an output are searched.
_TAIL: Final = 400
_UNREADY: Final = re.compile(
    r"\b(?:pending|queued|waiting|processing|in.progress|not (?:yet )?ready|still|running)\b",
    re.IGNORECASE,
)
_NAMES: Final = (
    "name", "scratchpad", "pad", "notebook", "session", "session_id", "label", "id", "key",
    "module", "package", "function", "table", "column", "model", "file", "filename", "path",
)  # fmt: skip
# A tool that changes things: after it a failed call may well be tried again.
_CHANGER: Final = re.compile(
    r"edit|writ|patch|replac|insert|creat|delet|remov|mov|renam|install|\bset", re.IGNORECASE
)
# A command that changes things.
_CHANGING: Final = re.compile(
    r"\bsed -\w*i|\bperl -\w*i|\btee\b|>\s*(?!/dev/null)[\w./~$\"']"
    r"|^[^\S\n]*+(?:sudo )?(?:cp|mv|rm|mkdir|touch|chmod|chown|ln|patch|export|kill|pkill|source)\b"
    r"|\bgit (?:apply|checkout|switch|restore|stash|pull|merge|rebase|revert|reset|am)\b"
    r"|\b(?:install|add|sync|update|upgrade|restart|start|stop|up|down|migrate|login|build|clean)\b",
    re.MULTILINE,
)
# A longer command is not examined word by word.
_LONGEST: Final = 200
_MISSING: Final = re.compile(
    r"not found|no such|no module|unknown|unrecognized|does(?: not|n't) exist|can(?:not|'t) find"
    r"|undefined|not defined|not a git command",
    re.IGNORECASE,
)
# Commands that look whether something exists, which is not guessing.
_LOOKING: Final = frozenset(
    ("[", "command", "find", "grep", "ls", "man", "rg", "stat", "test", "type", "where", "which")
)
_PADS: Final = ("name", "scratchpad", "pad", "notebook", "session")
_OLD: Final = ("old_string", "old_str", "old_text", "old", "search", "find")
_NEW: Final = ("new_string", "new_str", "new_text", "new", "replace", "replacement")
_WHOLE: Final = ("content", "file_text", "contents")
_FILE: Final = ("file_path", "path", "file", "filename")
# Addresses, times, ids and the names of temporary files.
_VARYING: Final = re.compile(
    r"0x[0-9a-fA-F]+|\b(?=[a-f-]{0,40}\d)[0-9a-f]{6,}(?:-[0-9a-f]{4,})*\b|\btmp\w+"
    # The number of failing tests is news.
    r"|(?<!\d)\d++"
    r"(?! (?:tests? )?(?:failed|passed|failures?|errors?|warnings?|problems?|issues?)\b)"
)
_SHOWS: Final = re.compile(
    r"\b(?:print|printf|println|eprintln|puts|pp|console|logger|logging|log|debug|debugger|dbg|dump"
    r"|var_dump|echo|breakpoint|pdb|TODO|XXX)\b",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"^[^\S\n]*+(?:#|//|--|;|%)", re.MULTILINE)
_GIT: Final = re.compile(r"\bgit (?:-C \S+ )?(checkout|restore|reset|revert)\b([^;&|\n]*)")
_STAGED: Final = frozenset({"--staged", "-S"})


_observed = partial(Engram, source="consolidation", basis="observed")


def lessons_of_turn(cells: Sequence[Cell]) -> list[Engram]:
    """Return a lesson for each thing that goes wrong in a turn.

    Args:
        cells: The actions of that turn, in order.
    """
    signs = ((text, detector(cells)) for detector, text in DETECTORS.items())
    return [
        _observed(
            text, "when", "global", "medium", origin=pointers(*(cell.pointer for cell in those))
        )
        for text, those in signs
        if those
    ]


def same_failure(cells: Sequence[Cell]) -> list[Cell]:
    """Return three failures of one call with one error, between which nothing was edited.

    A call that works in the end, as it was, was rightly tried again.
    """
    failures: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    repeated: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        call = _call(cell)
        if cell.status == "ok":
            failures.pop(call, None)
            repeated.pop(call, None)
            if _CHANGER.search(cell.name) or _edit(cell) or _CHANGING.search(cell.code):
                # After a change, a failed call is rightly tried again.
                failures.clear()
        elif call[1]:  # Otherwise it is unknown what was called.
            same = failures[call]
            if same and _error(same[0]) != _error(cell):
                # Another error means that something has changed.
                same.clear()
            same.append(cell)
            if len(same) == _OFTEN:
                repeated.setdefault(call, list(same))
    return next(iter(repeated.values()), [])


def changing_name(cells: Sequence[Cell]) -> list[Cell]:
    """Return calls that differ only in a name.

    For scratchpads three names are enough, as one does not see the contents of another. For other
    tools all but the last call must have failed: looking up three cities is not wrong.
    """
    pads: dict[str, Cell] = {}
    for cell in cells:
        given = arguments_of(cell.given)
        name = _text(given, _PADS) if cell.given else cell.name
        if cell.kind == "scratchpad" and name:
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
    """Return three calls of a tool with empty arguments.

    Some tools need no arguments: a call without any counts only if it failed.
    """
    empty: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if _is_empty(cell):
            empty[cell.name].append(cell)
    return next((same[:_OFTEN] for same in empty.values() if len(same) >= _OFTEN), [])


def undone_fix(cells: Sequence[Cell]) -> list[Cell]:
    """Return an edit, and what took it back: the edit turned round, an older text, or git.

    What was only put in to look into something, such as a ``print``, is not a fix.
    """
    edits: dict[_Edit, Cell] = {}
    latest: dict[str, Cell] = {}
    for cell in cells:
        if cell.status != "ok":
            continue
        edit = _edit(cell)
        if edit is not None:
            before = edits.get(edit.undone())
            if before is not None and latest[edit.file] is not edits.get(edit):
                return [latest[edit.file] if edit.old is None else before, cell]
            if not edit.is_trial():
                edits[edit] = cell
            latest[edit.file] = cell
            continue
        taken_back = [latest[file] for file in latest if _puts_back(cell.code, file)]
        if taken_back:
            return [taken_back[-1], cell]
    return []


def retry_without_change(cells: Sequence[Cell]) -> list[Cell]:
    """Return repetitions of a call with the same result, one right after the other.

    Three are enough if it fails and does not work in the end; five if it says that something is not
    ready. Repeating a call that works can make sense, such as scrolling down a page.
    """
    worked = {_call(cell): at for at, cell in enumerate(cells) if cell.status == "ok"}
    start = 0
    for (call, status, outcome), group in groupby(cells, _done):
        same = list(group)
        start += len(same)
        known = bool(same[0].code.strip()) and not _is_empty(same[0])
        if status != "ok" and len(same) >= _OFTEN and known and worked.get(call, -1) < start:
            return same[:_OFTEN]
        if status == "ok" and len(same) >= _WAITING and _UNREADY.search(outcome[-_TAIL:]):
            return same[:_WAITING]
    return []


# The lesson of each detector, in fixed words.
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


# ---- when calls are the same ----


def _call(cell: Cell) -> tuple[str, str]:
    """Return a key that is equal for the same calls, whatever their white space and order."""
    arguments = arguments_of(cell.given)
    if not arguments:
        return cell.name, " ".join((cell.given or cell.code).split())
    plain = {
        key: " ".join(value.split()) if isinstance(value, str) else value
        for key, value in arguments.items()
    }
    return cell.name, json.dumps(plain, sort_keys=True)


def _error(cell: Cell) -> str:
    """Return the last line of an error without the parts that vary."""
    return _VARYING.sub("0", last_line(cell.error))


def _done(cell: Cell) -> tuple[tuple[str, str], str, str]:
    """Return a key that is equal for cells with the same call and the same result."""
    return _call(cell), cell.status, _error(cell) if cell.error else cell.output


def _is_empty(cell: Cell) -> bool:
    """Whether the arguments of a call are empty though it seems to need some."""
    arguments = arguments_of(cell.given)
    if arguments:
        return all(value is None or value in ("", [], {}) for value in arguments.values())
    # A line without any input may record a result only, so that its arguments are unknown.
    return cell.status != "ok" and cell.given.strip() in ("{}", "[]", "null", '""')


# ---- what was changed ----


class _Edit(NamedTuple):
    """A change to a file: one text for another, or a whole text for what was there (``None``)."""

    file: str
    old: str | None
    new: str

    def is_trial(self) -> bool:
        """Whether it only adds what shows something, or comments a text out, and is to go again."""
        if not self.old:
            return False
        added = self.new.replace(self.old, "", 1)
        shows = added != self.new and _SHOWS.search(added) is not None
        return shows or _COMMENT.sub("", self.new).split() == self.old.split()

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


def _puts_back(command: str, file: str) -> bool:
    """Whether a command of git puts a file, or a folder that it is in, back as it was."""
    for verb, rest in _GIT.findall(command):
        words = rest.split()
        if verb in ("reset", "revert"):
            if ("--hard" if verb == "reset" else "HEAD") in words:
                return True
        elif verb == "checkout" or _STAGED.isdisjoint(words):
            paths = [word.strip("'\"").removeprefix("./").rstrip("/") for word in words]
            if any(
                path in ("", ".") or f"/{path}/" in f"/{file}/" or path.endswith(f"/{file}")
                for path in paths
            ):
                return True
    return False


def _text(arguments: dict[str, Any], keys: Iterable[str], default: str = "") -> str:
    values = (arguments.get(key) for key in keys)
    return next((each for each in values if isinstance(each, str)), default)


def _guesses(cell: Cell) -> Iterable[tuple[tuple[str, str, str], str]]:
    """Yield each name among the arguments, with all the other arguments."""
    arguments = arguments_of(cell.given)
    for key, name in arguments.items():
        is_name = key in _NAMES or key.endswith(("_name", "_path"))
        # Numbers are looked up, not guessed.
        if is_name and isinstance(name, str) and any(map(str.isalpha, name)):
            rest = {other: value for other, value in arguments.items() if other != key}
            yield (cell.name, key, json.dumps(rest, sort_keys=True)), name
    is_command = len(cell.code) <= _LONGEST and "\n" not in cell.code
    words = cell.code.split() if is_command and (cell.code != cell.given or not arguments) else []
    # In a command only the error shows that a name was guessed.
    is_guess = cell.status == "ok" or _MISSING.search(cell.error)
    if is_guess and words and words[0] not in _LOOKING:
        for at in range(1, len(words)):
            yield (cell.name, str(at), " ".join([*words[:at], "", *words[at + 1 :]])), words[at]


# ---- calls that failed and were fixed ----

# How many lessons one transcript may yield.
MOST: Final = 5

# How many failures of a tool are compared with a call that works later.
_BACK: Final = 6
# A longer call, in characters or words, does not fit into a lesson.
_LONGEST_FIX: Final = 160
_WORDS: Final = 24
_REASON: Final = 120
# How similar a mistyped word is to the correct one.
_ALIKE: Final = 0.6
# The share of its words that a fixed call keeps.
_KEPT: Final = 0.5
_COMMANDS: Final = ("command", "cmd", "code", "query", "sql", "script", "path", "url", "input")
_PASSING: Final = re.compile(
    r"time[d-]?[ -]?out|connection (?:reset|refused|aborted)|temporar|rate.?limit|too many"
    r" requests"
    r"|\b(?:429|502|503|504)\b|try again|unavailable|cancel|killed|interrupt"
    r"|could not resolve host",
    re.IGNORECASE,
)
# "git push --force" works, but is not a lesson.
_FORCE: Final = re.compile(
    r"--?(?:f|force\S*|no-verify|no-check\S*|skip\S*|insecure|k|break-\S*|ignore\S*|allow\S*"
    r"|dangerous\S*|disable\S*|no-\S*(?:check|verif|protect)\S*)|sudo|su|chmod|rm|\+\S+"
)
# How many characters at the end of a result are read.
_TAIL_FIX: Final = 4000
_CONTROL: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|[^\S\n \t]|[\x00-\x08\x0e-\x1f\x7f]")


class _Try(NamedTuple):
    """A call that ended by itself, in the form in which a lesson shows it."""

    at: int
    pointer: str
    tool: str
    said: str
    reason: str
    failed: bool


def lessons_of_fixes(cells: Iterable[Cell]) -> list[Engram]:
    """Return the lessons of failures in a session that were fixed later, the surest first.

    Args:
        cells: The actions of the session, in order.
    """
    mends = {_lesson(broken, whole): (broken, whole, once) for broken, whole, once in _mends(cells)}
    ranked = sorted(mends.items(), key=lambda item: (item[1][2], item[1][0].at))
    return [
        # It holds words of a tool's result, which the gate treats as such.
        _observed(
            text,
            "lesson",
            "project",
            "low" if once else "medium",
            origin=pointers(broken.pointer, whole.pointer),
            via="tool",
        )
        for text, (broken, whole, once) in ranked[:MOST]
    ]


def _lesson(broken: _Try, whole: _Try) -> str:
    reason = f" with {code_span(broken.reason)}" if broken.reason else ""
    said = f"{code_span(broken.said)} failed{reason}; {code_span(whole.said)} worked"
    return f"{broken.tool}: {said}" if broken.tool else said


def _mends(cells: Iterable[Cell]) -> Iterator[tuple[_Try, _Try, bool]]:
    """Yield each failure, the first call that fixes it, and whether it failed only once."""
    failures: defaultdict[str, deque[_Try]] = defaultdict(lambda: deque(maxlen=_BACK))
    often: Counter[tuple[str, str]] = Counter()
    for each in _tries(cells):
        failed = failures[each.tool]
        if each.failed:
            often[each.tool, each.said] += 1
            failed.append(each)
            continue
        # A call that works when it is repeated teaches nothing.
        waiting = [other for other in failed if other.said != each.said]
        broken = next((other for other in reversed(waiting) if _mends_it(other, each)), None)
        if broken is not None:
            yield broken, each, often[broken.tool, broken.said] == 1
            waiting = [other for other in waiting if other.said != broken.said]
        failures[each.tool] = deque(waiting, maxlen=_BACK)


def _mends_it(broken: _Try, whole: _Try) -> bool:
    """Whether two calls differ only in a detail: another program, option or spelling."""
    old, new = broken.said.split(), whole.said.split()
    same = 0
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for what, start, end, first, last in codes:
        if what == "equal":
            same += end - start
            continue
        # Forcing a call is not a lesson.
        forces = any(map(_FORCE.fullmatch, new[first:last]))
        if forces or (what == "replace" and not _is_detail(old[start:end], new[first:last], start)):
            return False
    return same >= _KEPT * min(len(old), len(new)) and same > 0


def _is_detail(old: list[str], new: list[str], start: int) -> bool:
    """Whether words were corrected, rather than the call changed into another one."""
    if start == 0 or old[0].startswith("-") or new[0].startswith("-"):
        return True
    return len(old) == len(new) and all(
        word.rpartition("/")[2] == other.rpartition("/")[2]
        or SequenceMatcher(None, word, other, autojunk=False).ratio() >= _ALIKE
        for word, other in zip(old, new, strict=True)
    )


def _tries(cells: Iterable[Cell]) -> Iterator[_Try]:
    """Yield the calls that ended by themselves and can be shown, in order."""
    for at, cell in enumerate(cells):
        failed = cell.status == "error"
        if not failed and cell.status != "ok":
            continue  # It was stopped, so nobody knows whether it would have worked.
        called = _text(arguments_of(cell.given), _COMMANDS, cell.given or cell.code)
        command = _plain(called).strip()
        said = " ".join(command.split())
        short = 0 < len(said) <= _LONGEST_FIX and said.count(" ") < _WORDS and "\n" not in command
        passes = failed and _PASSING.search(f"{cell.error} {cell.output}"[-_TAIL_FIX:])
        if short and not passes:
            why = " ".join(last_line(_plain(cell.error[-_TAIL_FIX:])).split()) if failed else ""
            why = why if len(why) <= _REASON else f"{why[:_REASON].rstrip()}…"
            yield _Try(at, cell.pointer, " ".join(_plain(cell.name).split()), said, why, failed)


def _plain(text: str) -> str:
    """Return ``text`` without colours, control characters and lone surrogates."""
    return _CONTROL.sub("", text.encode(errors="ignore").decode())
