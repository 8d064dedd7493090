"""What of a conversation a summary without a model may tell, line by line.

Promises: pure, deterministic, linear time, any text. What a tool gave back is data: of it only the
line of an error is told, and nothing of what memory brought in. What is told are words of the
conversation, on one line, without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.cells import arguments_of
from engramdown.consolidation.conversation.cues import (
    agrees,
    asks_for,
    decides,
    files_in,
    is_file,
    leaves_open,
    names,
    orders,
    proposes,
    tells,
    to_the_point,
)
from engramdown.consolidation.conversation.parts import SUMMARY, Part
from engramdown.consolidation.extraction import extract as stated
from engramdown.consolidation.statements.utterances import masked, sentences
from engramdown.language.untrusted import inert
from engramdown.language.words import UNSPACED
from engramdown.secrets.redaction import redact

__all__ = ["GOAL", "OF_A_USER", "Note", "noted"]

GOAL: Final = 100.0
"""What it adds to a line that it is what was asked first."""
OF_A_USER: Final = 1.0
"""What it adds that a user said it."""


class Note(NamedTuple):
    """A line of a summary.

    Attributes:
        heading: What it stands under.
        text: The line.
        worth: What it adds to what its heading and its words are worth.
    """

    heading: str
    text: str
    worth: float = 0.0


# ---- what is told ----

# What somebody told of himself; what may be done and was not.
_STATED: Final = 2.0
_PROPOSED: Final = -1.5
_LONGEST: Final = 240
# An answer that is shorter says nothing without what was asked.
_SHORT: Final = 40
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_FULL_STOP: Final = re.compile(r"([\u3002\uff01\uff1f])(?!\n)")
_OURS: Final = "recall"
_FEWEST_WORDS: Final = 3
# "That makes sense to me." tells nothing.
_CHAT: Final = 6
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
# "am 5. April" is no end of a sentence.
_DAY: Final = re.compile(
    r"(?<=[0-9])\.(?= (?:Jan|Feb|M[aä]r|Apr|Ma[ij]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz]))"
)
_RULES: Final = frozenset({"always", "never", "when"})


class _Sentence(NamedTuple):
    """A sentence as it was written, and without what is only shown in it."""

    text: str
    said: str
    asks: bool


def noted(parts: Sequence[Part]) -> Iterator[Note]:
    """Yield all that may be told of parts, in order; some of it twice."""
    answered = {
        speaker: max((at for at, part in enumerate(parts) if part.speaker == speaker), default=-1)
        for speaker in ("user", "assistant")
    }
    asked = ""
    is_first = True
    for at, part in enumerate(parts):
        match part.speaker:
            case "user" | "assistant":
                said = list(_sentences(part.text))
                is_open = at > answered["assistant" if part.speaker == "user" else "user"]
                first = [one for one in said[:1] if not agrees(one.text)]
                if part.speaker == "user" and first:
                    yield from _asked(first[0], asked, is_first=is_first)
                    is_first = False
                yield from _spoken(part, said, asked, is_open=is_open)
                asked = said[-1].text if said and said[-1].asks else ""
            case "tool_call" | "scratchpad" | "tool_result":
                yield from _done(part)
            case speaker if speaker == SUMMARY:
                is_open = at > answered["assistant"]
                yield from _taken_in(part.text, is_open=is_open, is_first=is_first)
                is_first = False


def _sentences(text: str) -> list[_Sentence]:
    """Return the sentences of a message; what stands in a fence is none."""
    text = _FULL_STOP.sub(r"\1\n", redact(text))
    plain = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    mask = masked(text)
    found = []
    for start, end, mark in sentences(_DAY.sub("\u2024", plain)):
        written = _line(to_the_point(plain[start:end] + mark))
        if any(char.isalnum() for char in written):
            found.append(
                _Sentence(written, mask[start:end], mark == "?" or written[-1] == "\uff1f")
            )
    return found


def _asked(first: _Sentence, asked: str, *, is_first: bool) -> Iterator[Note]:
    """Yield what a user says first of all, and what a later message asks first."""
    text, _, asks = first
    if is_first or (asks and _is_full(text) and not _is_answer(text, asked)):
        yield Note("Asked", text, GOAL if is_first else 0.0)


def _spoken(part: Part, said: Sequence[_Sentence], asked: str, *, is_open: bool) -> Iterator[Note]:
    is_user = part.speaker == "user"
    for nth, sentence in enumerate(said):
        text = sentence.text
        yield from (Note("Files", path) for path in files_in(text))
        if nth == 0 and asked and _is_answer(text, asked) and (is_user or not agrees(text)):
            yield Note("Decisions" if is_user else "Facts", _line(f"{asked} {text}"))
        elif not agrees(text):
            yield from _told_by_user(sentence, is_open) if is_user else _told(sentence, is_open)


def _is_answer(text: str, asked: str) -> bool:
    """Whether a sentence says nothing without the question before it, or nothing at all."""
    return agrees(text) or bool(asked and len(text) <= _SHORT)


def _is_full(text: str, least: int = _FEWEST_WORDS) -> bool:
    """Whether a sentence says enough to stand alone; Chinese has no spaces to count."""
    return len(text.split()) >= least or _UNSPACED.search(text) is not None


def _told_by_user(sentence: _Sentence, is_open: bool) -> Iterator[Note]:  # noqa: FBT001 - as below
    """Yield what a sentence of a user tells."""
    text, said, asks = sentence
    learned = {engram.kind for engram in stated(text)} if said.strip() and not asks else set()
    worth = OF_A_USER + _STATED * bool(learned)
    if asks and (is_open or not asks_for(said)):
        yield from [Note("Questions", text, OF_A_USER)] if is_open else []
    elif decides(said) or orders(said) or not _RULES.isdisjoint(learned):
        yield Note("Decisions", text, worth)
    elif leaves_open(said):
        yield Note("Questions", text, worth)
    elif asks_for(said):
        yield Note("Asked", text, worth)
    elif tells(text) or names(text) or _is_full(text, _CHAT):
        yield Note("Errors" if _EXCEPTION.search(text) else "Facts", text, worth)


def _told(sentence: _Sentence, is_open: bool) -> Iterator[Note]:  # noqa: FBT001 - of a sentence
    """Yield what a sentence of an assistant tells."""
    text, said, asks = sentence
    worth = _PROPOSED if proposes(said) else 0.0
    if asks:
        yield from [Note("Questions", text)] if is_open else []
    elif leaves_open(said):
        yield Note("Questions", text)
    elif decides(said):
        yield Note("Decisions", text, worth)
    elif tells(text) or (_is_full(text) and names(text)):
        yield Note("Errors" if _EXCEPTION.search(text) else "Facts", text, worth)


def _line(text: str) -> str:
    """Return a text as one line that is not too long."""
    words = " ".join(inert(text[: 4 * _LONGEST]).split())
    if len(words) <= _LONGEST:
        return words
    start = words[: _LONGEST - 1]
    return (start.rpartition(" ")[0] or start) + "\u2026"


# ---- what was done ----

# A file that was worked on is more than one that was mentioned.
_DONE: Final = 1.0
_PATHS: Final = ("file", "filename", "files", "source", "destination", "target")
_COMMANDS: Final = ("cmd", "command", "script", "args")
_FAILING: Final = ("error", "stderr", "exception", "traceback", "message", "output", "stdout")
_EXCEPTION: Final = re.compile(r"\b[A-Za-z_.]{0,80}[a-z](?:Error|Exception)\b")
_RAISED: Final = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)\b(?::|$)")
# What says that something failed, and not what.
_GENERIC: Final = re.compile(
    r"\W*+(?:the )?(?:command|process|program)?\W*+(?:failed|error|exit|exited|returned|non-?zero)"
    r"[\w :()-]{0,40}\W*|\W*",
    re.IGNORECASE,
)
_LAST_LINES: Final = 40


def _done(part: Part) -> Iterator[Note]:
    if part.name.rpartition("__")[2] == _OURS:
        return
    if part.speaker == "tool_call":
        yield from (Note("Files", path, _DONE) for path in _given(part.text))
    elif part.error or part.speaker == "tool_result":
        line = _failure(part)
        if line:
            who = f"{part.name}: " if part.name else ""
            yield Note("Errors", _line(redact(f"{who}{line}")))


def _given(text: str) -> Iterator[str]:
    """Yield the files that a call is about."""
    fields = arguments_of(text)
    if not fields:
        yield from map(_line, files_in(redact(text)))
    for key, value in fields.items():
        values = value if isinstance(value, list) else [value]
        for each in (each for each in values if isinstance(each, str)):
            if key.endswith(("path", "paths")) or key in _PATHS:
                path = _line(redact(each))
                yield from [path] if path and (is_file(path) or "/" in path) else []
            elif key in _COMMANDS:
                yield from map(_line, files_in(redact(each)))


def _failure(part: Part) -> str:
    """Return the line that says why something failed, or ``""``; of the rest, an exception."""
    fields = arguments_of(part.text)
    told = (fields.get(key) for key in _FAILING)
    text = next((each for each in told if isinstance(each, str) and each.strip()), part.text)
    lines = [
        line.removeprefix("E  ").strip()
        for line in text.rstrip().rsplit("\n", _LAST_LINES)[-_LAST_LINES:]
    ]
    lines = [line[: 4 * _LONGEST] for line in reversed(lines) if line]
    raised = next((line for line in lines if _RAISED.match(line)), "")
    if not part.error:
        return raised if "Traceback" in text else ""
    return raised or next(
        (line for line in lines if not _GENERIC.fullmatch(line)), "".join(lines[:1])
    )


# ---- what earlier summaries tell ----

_UNDER: Final = {
    "asked": "Asked",
    "goal": "Asked",
    "goals": "Asked",
    "decisions": "Decisions",
    "key decisions": "Decisions",
    "files": "Files",
    "files changed": "Files",
    "errors": "Errors",
    "blockers": "Errors",
    "blockers and gotchas": "Errors",
    "questions": "Questions",
    "open questions": "Questions",
    "next steps": "Questions",
    "facts": "Facts",
    "progress": "Facts",
    "current state": "Facts",
}
_TITLE: Final = re.compile(r"[\s#*_]*([A-Za-z][A-Za-z ]{2,24}?)[\s*_]*(?::[\s*_]*|\Z)")
_BULLET: Final = re.compile(r"\s*(?:[-*+\u2022]|[0-9]{1,3}[.)])\s+")


def _taken_in(text: str, *, is_open: bool, is_first: bool) -> Iterator[Note]:
    """Yield the lines of a summary under the headings that they stand under, or come closest."""
    heading = "Facts"
    is_goal = is_first
    for line in redact(text).split("\n"):
        bullet = _BULLET.match(line)
        title = None if bullet else _TITLE.match(line)
        is_heading = title is not None and title[1].lower() in _UNDER
        if title is not None and is_heading:
            heading = _UNDER[title[1].lower()]
        start = bullet.end() if bullet else title.end() if title and is_heading else 0
        told = [line[start:]] if bullet else [one.text for one in _sentences(line[start:])]
        for said in filter(None, map(_line, told)):
            if heading == "Questions" and said.endswith("?") and not is_open:
                continue
            yield Note(heading, said, GOAL if heading == "Asked" and is_goal else 0.0)
            is_goal = is_goal and heading != "Asked"
