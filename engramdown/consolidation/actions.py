"""Actions: what an assistant did in a session: tool calls with their results, scratchpad cells.

Pure, for any lines, in linear time. The fields of a line and of its result say whether an action
failed, was cancelled or was killed; words of its output never do. A result belongs to the call of
its id, or to the oldest open call of that tool. A call without a result was cancelled if the
conversation went on without it; otherwise it may still run, and is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from engramdown.language.untrusted import json_object
from engramdown.lazy import compiled
from engramdown.transcripts.episode import Episode

Status = Literal["ok", "error", "cancelled", "killed"]
Line = Episode

# A longer text is not read as JSON.
_LONGEST_JSON: Final = 100_000
_LONGEST_MESSAGE: Final = 400
_SAYING: Final = (
    "description", "one_line_description", "explanation", "intent", "purpose", "goal", "reason",
)  # fmt: skip
_CODE: Final = ("code", "command", "cmd", "query", "sql", "script")
_FAILING: Final = ("error", "stderr", "exception", "traceback")
_OUTPUT: Final = ("output", "stdout", "result", "content")
_EXITS: Final = ("exit_code", "exitCode", "returncode", "exit_status")
# Only a result with one of these fields reports a program or an error: in another one, such as the
# result of a search for orders, ``status`` may be that of an order.
_SHAPES: Final = frozenset(("error", "is_error", "isError", "stdout", "stderr", *_EXITS))
_STOPPED: Final[Mapping[str, Status]] = {
    **dict.fromkeys(("cancelled", "canceled", "interrupted", "aborted"), "cancelled"),
    **dict.fromkeys(("killed", "terminated", "timed_out", "timeout"), "killed"),
}
_STATUSES: Final[Mapping[str, Status]] = {
    **_STOPPED,
    **dict.fromkeys(("error", "failed", "failure"), "error"),
}
# How a shell reports that a signal ended a program: 128 plus its number, or minus its number.
_SIGNALS: Final[Mapping[int, Status]] = {
    130: "cancelled", -2: "cancelled", 137: "killed", -9: "killed", 143: "killed", -15: "killed",
}  # fmt: skip


class Cell(NamedTuple):
    """One action of an assistant.

    Attributes:
        pointer: Where it is recorded, ``<session>#<seq>``.
        kind: Whether a tool or a scratchpad did it.
        name: The tool, or the scratchpad.
        said: What the assistant said about it before.
        code: The code; all arguments where none of them is code.
        output: The output.
        error: Why it failed, or ``""``.
        status: How it ended.
        given: All arguments, as they were recorded.
        turn: The number of the user's message that it follows; 0 before the first.
        corrected: The user's objection in the next message, or ``""``.
        corrected_at: The pointer to the objection.
    """

    pointer: str
    kind: Literal["tool", "scratchpad"]
    name: str = ""
    said: str = ""
    code: str = ""
    output: str = ""
    error: str = ""
    status: Status = "ok"
    given: str = ""
    turn: int = 0
    corrected: str = ""
    corrected_at: str = ""


# Our own tools, but for those whose names other programs have, too.
_OURS: Final = frozenset(
    (
        *("memorize", "recall", "recall_topic", "recall_skill", "forget", "review", "memory"),
        *("write_journal", "search_journals", "write_notes"),
    )
)
_OUR_COMMAND: Final = r"\s*(?:\S*/)?(?:engramdown|egd)\s"
# "Killed", "the command was killed by …": the reason of an error begins with it.
_STOPPING: Final = (
    r"\W*(?:[^\W_]+ ){0,3}?(cancelled|canceled|interrupted|aborted|killed|terminated|timed out"
    r"|timeout)\b"
)
# A reason of this form says that it failed, but not why.
_GENERIC: Final = r"(?:command )?(?:failed|error|exit|non-?zero)[\w :]{0,40}"
# A message that begins with something against what was done before.
_CORRECTION: Final = (
    r"\W*(?:no|nope|nah|stop|wrong|incorrect|undo|revert)\b(?!,? (?:problem|worries|need|rush|hurry"
    r"|thanks|thank|idea|one|more|further|other|doubt)\b)|(?s:.*?)\b(?:not (?:that|this|what i"
    r"|like that)\b|that(?:'s| is) (?:wrong|incorrect|not (?!bad|a problem))|(?:use|do|try|run|take"
    r"|put|want|call|write) [^.?!]{1,80} instead\b|instead,? (?:use|do|try|run|take)\b|i (?:said"
    r"|meant|asked for|wanted) |you should have\b)"
)


def cells_of(session: str, lines: Iterable[Line]) -> list[Cell]:
    """Return the actions in a session, in the order in which they began.

    Args:
        session: Its id, for the pointers.
        lines: Its lines, in order.
    """
    every = list(lines)
    cells: list[Cell] = []
    for line, result, turn, said in _done(every):
        cell = _cell(f"{session}#{line.seq}", line, result, said)._replace(turn=turn)
        ours = cell.name in _OURS or "engramdown" in cell.name.casefold()
        if cell.status != "ok" and (ours or compiled(_OUR_COMMAND, re.IGNORECASE).match(cell.code)):
            continue  # A failure of memory itself teaches nothing about the work.
        # A scratchpad line may only repeat the output of the scratchpad tool's call.
        shown = [each.output for each in cells[-1:] if each.kind == "scratchpad" and each.given]
        if line.role != "scratchpad" or not {"", cell.output}.intersection(shown):
            cells.append(cell)
    users = (line for line in every if line.role == "user")
    corrections = {
        turn: line
        for turn, line in enumerate(users)
        if compiled(_CORRECTION, re.IGNORECASE).match(
            line.text[:_LONGEST_MESSAGE].replace("\u2019", "'")
        )
    }
    last = {cell.turn: at for at, cell in enumerate(cells)}
    for turn, line in corrections.items():
        if turn in last:
            cell = cells[last[turn]]
            cells[last[turn]] = cell._replace(
                corrected=line.text, corrected_at=f"{session}#{line.seq}"
            )
    return cells


def _done(lines: Iterable[Line]) -> list[tuple[Line, Line | None, int, str]]:
    """Return each call or scratchpad line, its result, its turn and the words before it.

    A call that may still run is left out.
    """
    waiting: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    done: list[tuple[Line, Line | None, int, str]] = []
    turn, announced = 0, ""
    for line in lines:
        key = (line.call, "" if line.call else line.name)
        if line.role == "user":
            turn, announced = turn + 1, ""
        elif line.role == "assistant":
            announced = line.text
        elif line.role == "tool_result" and waiting[key]:
            at = waiting[key].popleft()
            done[at] = (done[at][0], line, *done[at][2:])
            announced = ""
        elif line.role in ("tool_call", "tool_result", "scratchpad"):
            if line.role == "tool_call":
                waiting[key].append(len(done))
            done.append((line, None, turn, announced))
    return [
        (line, result, begun, said)
        for line, result, begun, said in done
        if result is not None or line.role != "tool_call" or begun < turn
    ]


def by_turn(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return cells turn by turn, without the turns that have none."""
    turns: defaultdict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        turns[cell.turn].append(cell)
    return [turns[turn] for turn in sorted(turns)]


def arguments_of(given: str) -> dict[str, Any]:
    """Return the arguments of a call; none if they are not a JSON object.

    >>> arguments_of('{"code": "1/0"}'), arguments_of("ls")
    ({'code': '1/0'}, {})
    """
    if len(given) > _LONGEST_JSON or not given.lstrip().startswith("{"):
        return {}
    return json_object(given) or {}


def last_line(text: str) -> str:
    r"""Return the last line of a text that is not blank.

    >>> last_line("Traceback:\n  ...\nValueError: no\n\n")
    'ValueError: no'
    """
    return text.rstrip().rpartition("\n")[2].strip()


def code_span(text: str) -> str:
    """Return a text as code in markdown.

    >>> code_span("ls"), code_span("echo `ls`")
    ('`ls`', '`` echo `ls` ``')
    """
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _cell(pointer: str, line: Line, result: Line | None, announced: str) -> Cell:
    is_call = line.role == "tool_call"
    given = line.text if is_call else ""
    arguments = {**arguments_of(given), **line.meta}
    back = result if is_call else line
    output, error = "", ""
    status: Status = "cancelled"
    if back is not None:
        own = arguments_of(back.text)
        fields = {**(own if _SHAPES.intersection(own) else {}), **back.meta}
        output = first_text(fields, _OUTPUT) or back.text
        status = _status(back, fields)
        reason = back.error if isinstance(back.error, str) else ""
        if status != "ok" and (not reason or compiled(_GENERIC, re.IGNORECASE).fullmatch(reason)):
            reason = first_text(fields, _FAILING) or (output if output.strip() else reason)
        error = reason if status != "ok" else ""
    is_pad = line.role == "scratchpad" or "scratchpad" in line.name.casefold()
    return Cell(
        pointer,
        "scratchpad" if is_pad else "tool",
        line.name,
        first_text(arguments, _SAYING) or announced,
        first_text(arguments, _CODE) or given,
        output,
        error,
        status,
        given,
    )


def first_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first text among fields that is not blank."""
    values = (fields.get(name) for name in names)
    return next((each for each in values if isinstance(each, str) and each.strip()), "")


def _status(line: Line, fields: Mapping[str, Any]) -> Status:
    """Return how an action ended, by its fields only."""
    told = fields.get("status")
    exits = (fields.get(name) for name in _EXITS)
    code = next((each for each in exits if type(each) is int), 0)
    flags = (status for name, status in _STOPPED.items() if fields.get(name) is True)
    named = _STATUSES.get(told.casefold()) if isinstance(told, str) else None
    stopped = next(flags, None) or named or _SIGNALS.get(code)
    if stopped is not None and stopped != "error":
        return stopped
    if line.error:
        reason = line.error if isinstance(line.error, str) else ""
        match = compiled(_STOPPING, re.IGNORECASE).match(reason[:_LONGEST_MESSAGE])
        return "error" if match is None else _STOPPED[match[1].casefold().replace(" ", "_")]
    flagged = True in (fields.get("is_error"), fields.get("isError"), fields.get("error"))
    failed = flagged or stopped or code or first_text(fields, ("error", "exception"))
    return "error" if failed else "ok"
