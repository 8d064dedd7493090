"""Procedures: the same steps in several sessions, or steps that a user asks to keep.

Nothing is written here. Steps are compared by what they do, not by what they do it to. A model that
words a procedure sees the steps as data, without secrets, and says first whether they are worth
keeping; its words keep to the lengths of a skill and lose their secrets, too.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.consolidation.actions import Cell, Line, arguments_of, code_span
from engramdown.consolidation.prompts import OURS, render
from engramdown.consolidation.utterances import entries
from engramdown.language.untrusted import inert, one_line
from engramdown.secrets.redaction import redact

if TYPE_CHECKING:
    from engramdown.models.port import LanguageModel

# In how many sessions the same steps must occur to count as a procedure.
TIMES: Final = 3

_SHORTEST: Final = 3
_LONGEST: Final = 8
_MOST_STEPS: Final = 400
_MOST_SHOWN: Final = 12
_LONGEST_COMMAND: Final = 300
_LONGEST_NAME: Final = 60
_DIGITS: Final = 4
_ALIKE: Final = 0.6
_ASKED_STEPS: Final = 2
_POINTERS: Final = 4

_UNCOMMON: Final = 2
_COMMANDS: Final = ("command", "cmd", "script")
# One command of a line: the text between unquoted "&&", ";" and line ends.
_PART: Final = re.compile(r"(?:'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|(?<!&)&(?!&)|[^;\n&'\"])+")
_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9:_-]{0,40}")
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=\S*")
_SAFE_WORD: Final = re.compile(r"[\w@%+./:-]{1,60}")


class Step(NamedTuple):
    """A step that worked.

    Attributes:
        key: What it does, whatever it does it to: ``git tag``.
        said: The command as it was typed, or the tool.
        pointer: Where it is recorded, ``<session>#<seq>``.
    """

    key: str
    said: str
    pointer: str


class Procedure(NamedTuple):
    """Steps that may be worth a skill.

    Attributes:
        digest: Its identity: a few digits for each step, which reveal no words.
        keys: What the steps do.
        steps: How each step was done, the newest time last.
        name: Its name, in words.
        asked: The message of a user who asked for it, or ``""``.
        pointers: Where it was learned.
        sessions: In how many sessions it was done.
    """

    digest: str
    keys: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    name: str
    asked: str = ""
    pointers: tuple[str, ...] = ()
    sessions: int = 1

    @property
    def description(self) -> str:
        """A description for want of a better one."""
        done = ", ".join(dict.fromkeys(self.keys))
        if self.asked:
            return f"{_sentence(self.name)} Steps: {done}."
        return f"Steps done in {self.sessions} sessions: {done}. Use when … (say when it is due)."

    @property
    def body(self) -> str:
        """The steps as a numbered list."""
        lines = [f"# {_sentence(self.name).rstrip('.')}", ""]
        for at, (now, before) in enumerate(self.told(), 1):
            earlier = f" (before: {code_span(before)})" if before else ""
            lines.append(f"{at}. {code_span(now)}{earlier}")
        return "\n".join(lines) + "\n"

    def told(self) -> list[tuple[str, str]]:
        """Return how each step was done last, and how before if that differs."""
        pairs = []
        for *before, now in self.steps:
            others = [said for said in before if said != now]
            pairs.append((now, others[-1] if others else ""))
        return pairs


def steps_of(cells: Iterable[Cell]) -> list[Step]:
    """Return the steps among some actions, in order; a step repeated at once counts once."""
    steps: list[Step] = []
    for cell in cells:
        for key, said in _steps(cell) if cell.status == "ok" else ():
            if key not in _words("LOOKING") and not (steps and steps[-1].key == key):
                steps.append(Step(key, said, cell.pointer))
    return steps[:_MOST_STEPS]


def _steps(cell: Cell) -> Iterator[tuple[str, str]]:
    """Yield the steps of a cell: each command that it ran in a shell, or the tool."""
    arguments = arguments_of(cell.given)
    values = (arguments.get(key) for key in _COMMANDS)
    said = next((each for each in values if isinstance(each, str)), "")
    is_shell = cell.name.casefold() in _words("SHELLS")
    said = said or (cell.given if is_shell and not arguments else "")
    name = " ".join(cell.name.split())[:_LONGEST_NAME]
    if not said and name and cell.kind == "tool" and not is_shell:
        yield name, name
    for part in map(str.strip, _PART.findall(said[: 10 * _LONGEST_COMMAND])):
        key = _key(part)
        if key and len(part) <= _LONGEST_COMMAND and part.isprintable():
            yield key, part


def repeated(sessions: Mapping[str, Sequence[Step]]) -> list[Procedure]:
    """Return the procedures of several sessions, the longest first.

    Args:
        sessions: The steps of each session, the oldest first.
    """
    runs: defaultdict[tuple[str, ...], dict[str, Sequence[Step]]] = defaultdict(dict)
    for session, steps in sessions.items():
        for start in range(len(steps)):
            for end in range(start + _SHORTEST, min(start + _LONGEST, len(steps)) + 1):
                keys = tuple(step.key for step in steps[start:end])
                is_more = len({*keys} - _words("COMMON")) >= _UNCOMMON and len({*keys}) == len(keys)
                if is_more:
                    runs[keys].setdefault(session, steps[start:end])
    often = [(keys, found) for keys, found in runs.items() if len(found) >= TIMES]
    often.sort(key=lambda each: (-len(each[0]), -len(each[1]), each[0]))
    chosen: list[Procedure] = []
    for keys, found in often:
        if not any(alike(keys, other.keys) for other in chosen):
            chosen.append(_procedure(keys, [*found.values()]))
    return chosen


def asked_for(session: str, lines: Sequence[Line], cells: Sequence[Cell]) -> list[Procedure]:
    """Return the procedures that a user asked to keep, made of the steps before the request.

    Args:
        session: The id of the session.
        lines: Its lines, in order, without those of other people.
        cells: Its actions.
    """
    wanted: list[Procedure] = []
    after = -1
    for line in lines:
        asked = _asked(line.text) if line.role == "user" else None
        if asked is None:
            continue
        places = [cell.pointer.rpartition("#")[2] for cell in cells]
        done = [
            cell
            for cell, at in zip(cells, places, strict=True)
            if at.isdecimal() and after < int(at) < line.seq
        ]
        steps = steps_of(done)[-_MOST_SHOWN:]
        if len(steps) >= _ASKED_STEPS:
            made = _procedure([step.key for step in steps], [steps])
            name = " ".join(asked.split())[:_LONGEST_NAME] or made.name
            pointers = (f"{session}#{line.seq}", *made.pointers)[:_POINTERS]
            said = " ".join(line.text.split())[:_LONGEST_COMMAND]
            wanted.append(made._replace(name=name, asked=said, pointers=pointers))
        after = line.seq
    return wanted


def alike(keys: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two procedures consist mostly of the same steps."""
    fewer = min(len({*keys}), len({*others}))
    return fewer > 0 and len({*keys} & {*others}) / fewer >= _ALIKE


def _procedure(keys: Sequence[str], times: Sequence[Sequence[Step]]) -> Procedure:
    digests = (hashlib.sha256(key.encode("utf-8", "replace")).hexdigest() for key in keys)
    digest = "-".join(each[:_DIGITS] for each in digests)
    steps = tuple(tuple(run[at].said for run in times) for at in range(len(keys)))
    pointers = tuple(run[0].pointer for run in times)[-_POINTERS:]
    return Procedure(digest, tuple(keys), steps, f"{keys[-1]} steps", "", pointers, len(times))


def _key(command: str) -> str:
    """Return what a command does, without its objects; ``""`` if that is unclear."""
    words = command.split()
    while words and _ASSIGNED.fullmatch(words[0]):
        words = words[1:]
    while words[:1] and (words[0] in _words("RUNNERS") or " ".join(words[:2]) in _words("RUNNERS")):
        words = words[1 if words[0] in _words("RUNNERS") else 2 :]
    if not words or not _SAFE_WORD.fullmatch(words[0]):
        return ""
    program = words[0].rpartition("/")[2]
    if program in _words("LOOKING") or len(words) == 1:
        return program
    return f"{program} {words[1]}" if _SUBCOMMAND.fullmatch(words[1]) else program


@cache
def _words(name: str) -> frozenset[str]:
    """Return an entry of ``languages/steps.txt``."""
    return frozenset(re.split(", ?", dict(entries("steps"))[name]))


@cache
def _requests() -> list[re.Pattern[str]]:
    """Return the forms of a request to keep how something is done; parts begin with ``_``."""
    forms = (text for name, text in entries("skills") if not name.startswith("_"))
    return [re.compile(form, re.IGNORECASE) for form in forms]


def _asked(text: str) -> str | None:
    """Return what a user asks to keep, in their words; ``None`` if they do not ask."""
    for pattern in _requests():
        match = pattern.search(text)
        if match is not None:
            said = (match["what"] or "").strip(" \t\"'`,:")
            return "" if said.casefold() in _words("THIS") else said
    return None


def _sentence(name: str) -> str:
    return f"{name[:1].upper()}{name[1:].rstrip('.')}."


# ---- a procedure in a model's words ----

# The name of the job in the ledger and in the state of sleep, and of its prompt.
JOB: Final = "skill"

_LONGEST_DESCRIPTION: Final = 400
_LONGEST_BODY: Final = 8_000


class Wording(NamedTuple):
    """A procedure in words.

    Attributes:
        label: Its label.
        description: What it does, and when to use it.
        body: The steps.
    """

    label: str
    description: str
    body: str


def write_down(
    procedure: Procedure, model: LanguageModel, templates: Mapping[str, str] = OURS
) -> Wording | None:
    """Ask ``model`` to word a procedure; ``None`` if it says that this is not worth keeping.

    No lock may be held meanwhile.

    Args:
        procedure: The procedure.
        model: The language model.
        templates: A scope's own prompts.

    Raises:
        ModelError: If the model's answer has another form.
        StoreError: If a scope's own prompt is broken.
    """
    from engramdown.consolidation.forms import WrittenSkill

    steps = [
        {"number": at, "now": redact(now), "before": redact(before)}
        for at, (now, before) in enumerate(procedure.told(), 1)
    ]
    asked, count = redact(procedure.asked), procedure.sessions
    prompt = render(JOB, templates, steps=steps, asked=asked, sessions=count)
    said = model.ask(WrittenSkill, prompt.system, prompt.user)
    description = one_line(redact(said.description))[:_LONGEST_DESCRIPTION]
    body = inert(redact(said.body)).strip()[:_LONGEST_BODY]
    if not (said.worth_keeping and description and body):
        return None
    return Wording(one_line(said.label), description, f"{body}\n")
