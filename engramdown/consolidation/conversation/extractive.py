"""A summary of a conversation without a model, by rules.

Promises: pure, deterministic, linear time, any text; never more than the target. What a tool gave
back is data: of it only the line of an error is told, and nothing of what memory brought in. What
is told are words of the conversation, each once, on one line, without secrets. A summary that it is
given is taken in by its lines, so that it can be made shorter again and again; one that fits comes
back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.cells import arguments_of
from engramdown.consolidation.conversation.cues import (
    agrees,
    decides,
    files_in,
    is_file,
    leaves_open,
    names,
    orders,
    tells,
)
from engramdown.consolidation.conversation.parts import SUMMARY, Part
from engramdown.consolidation.extraction import extract as stated
from engramdown.consolidation.statements.utterances import masked, sentences
from engramdown.engram import fold
from engramdown.redaction import redact
from engramdown.tokens import estimate_tokens
from engramdown.wording.inert import inert

__all__ = ["HEADINGS", "NO_FILES", "extract"]

HEADINGS: Final = ("Asked", "Decisions", "Files", "Errors", "Questions", "Facts")
"""What lines stand under, in this order."""
NO_FILES: Final = "Files: none"
"""What stands there if no file is named."""


class _Note(NamedTuple):
    """A line of a summary.

    Attributes:
        heading: What it stands under.
        text: The line.
        weight: Whether it goes before others: 3 before all, 1 where room is left.
    """

    heading: str
    text: str
    weight: int


def extract(parts: Sequence[Part], target: int) -> str:
    """Return what was asked, decided, named, left open and told, the newest of it first to stay.

    Args:
        parts: What was said, in order; summaries among it.
        target: How many tokens that may cost, by :func:`engramdown.tokens.estimate_tokens`.

    >>> said = [Part("user", "Move it to src/app.py, please."), Part("assistant", "We use uv 0.5.")]
    >>> print(extract(said, 40))
    Asked:
    - Move it to src/app.py, please.
    Files:
    - src/app.py
    Facts:
    - We use uv 0.5.
    """
    notes = _once(_notes(parts))
    if not notes:
        return ""
    return _written(notes, target)


# ---- what is chosen ----

# So many lines of a heading are taken before another heading has its turn.
_TURN: Final = {"Asked": 1, "Decisions": 3, "Files": 2, "Errors": 1, "Questions": 2, "Facts": 3}
# A text of so many copies costs so many times as much, whatever is rounded.
_FINE: Final = 12


# Words that stand under several headings stay under the first of these.
_TELLING: Final = ("Files", "Decisions", "Questions", "Errors", "Asked", "Facts")


def _once(notes: Iterable[_Note]) -> list[_Note]:
    """Return notes whose words stand only once, where they are newest, with all their weight."""
    found: dict[str, _Note] = {}
    for note in notes:
        if _PASSED.match(note.text):
            continue
        key = note.text if note.heading == "Files" else fold(note.text)
        older = found.pop(key, note)
        heading = min(older.heading, note.heading, key=_TELLING.index)
        found[key] = _Note(heading, note.text, max(older.weight, note.weight))
    return list(found.values())


def _written(notes: Sequence[_Note], target: int) -> str:
    room = target * _FINE + estimate_tokens("\n" * _FINE)
    chosen: dict[str, list[int]] = {}
    tail = "" if any(note.heading == "Files" for note in notes) else f"{NO_FILES}\n"
    room -= estimate_tokens(tail * _FINE)
    for at in _ranked(notes):
        heading, text, _ = notes[at]
        head = "" if heading in chosen else f"{heading}:\n"
        cost = estimate_tokens(f"{head}- {text}\n" * _FINE)
        if cost <= room:
            room -= cost
            chosen.setdefault(heading, []).append(at)
    lines = []
    for heading in HEADINGS:
        if heading == "Files" and tail and chosen:
            lines.append(NO_FILES)
        if heading in chosen:
            lines.append(f"{heading}:")
            lines += [f"- {notes[at].text}" for at in sorted(chosen[heading])]
    return "\n".join(lines)


def _ranked(notes: Sequence[_Note]) -> Iterator[int]:
    """Yield which notes are taken first: by weight, some of each heading in turn, newest first."""
    for weight in sorted({note.weight for note in notes}, reverse=True):
        waiting = {
            heading: [
                at
                for at, note in enumerate(notes)
                if (note.heading, note.weight) == (heading, weight)
            ]
            for heading in HEADINGS
        }
        while any(waiting.values()):
            for heading, count in _TURN.items():
                for _ in range(min(count, len(waiting[heading]))):
                    yield waiting[heading].pop()


# ---- what is told ----

_LONGEST: Final = 240
# An answer that is shorter says nothing without what was asked.
_SHORT: Final = 60
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_FULL_STOP: Final = re.compile(r"([\u3002\uff01\uff1f])(?!\n)")
_OURS: Final = "recall"
_FEWEST_WORDS: Final = 4
_RULES: Final = frozenset({"always", "never", "when"})


class _Sentence(NamedTuple):
    """A sentence as it was written, and without what is only shown in it."""

    text: str
    said: str
    asks: bool


def _notes(parts: Sequence[Part]) -> Iterator[_Note]:
    """Yield all that may be told, in order."""
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
                if part.speaker == "user" and said and not _is_answer(said[0], asked):
                    yield _Note("Asked", said[0].text, 3 if is_first else 2)
                    is_first = False
                yield from _spoken(part, said, asked, is_open=is_open)
                asked = said[-1].text if said and said[-1].asks else ""
            case "tool_call" | "scratchpad" | "tool_result":
                yield from _done(part)
            case speaker if speaker == SUMMARY:
                yield from _taken_in(part.text, is_open=at > answered["assistant"])
                is_first = False


def _sentences(text: str) -> list[_Sentence]:
    """Return the sentences of a message; what stands in a fence is none."""
    text = _FULL_STOP.sub(r"\1\n", redact(text))
    plain = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    mask = masked(text)
    found = []
    for start, end, mark in sentences(plain):
        written = _line(plain[start:end] + mark)
        if any(char.isalnum() for char in written):
            found.append(
                _Sentence(written, mask[start:end], mark == "?" or written[-1] == "\uff1f")
            )
    return found


def _spoken(part: Part, said: Sequence[_Sentence], asked: str, *, is_open: bool) -> Iterator[_Note]:
    is_user = part.speaker == "user"
    for nth, sentence in enumerate(said):
        text = sentence.text
        yield from (_Note("Files", path, 2) for path in files_in(text))
        if nth == 0 and asked and _is_answer(sentence, asked) and (is_user or not agrees(text)):
            yield _Note("Decisions" if is_user else "Facts", _line(f"{asked} {text}"), 2)
            continue
        note = _told(sentence, is_user=is_user, is_open=is_open)
        if note is not None:
            yield note


def _is_answer(sentence: _Sentence, asked: str) -> bool:
    """Whether a sentence says nothing without the question before it, or nothing at all."""
    return agrees(sentence.text) or bool(asked and len(sentence.text) <= _SHORT)


def _told(sentence: _Sentence, *, is_user: bool, is_open: bool) -> _Note | None:
    """Return what a sentence tells, if anything."""
    text, said, asks = sentence
    if asks or agrees(text):
        return _Note("Questions", text, 2) if asks and is_open else None
    learned = [engram.kind for engram in stated(text)] if is_user and said.strip() else []
    weight = 3 if learned else 2
    if decides(said) or (is_user and orders(said)) or not _RULES.isdisjoint(learned):
        return _Note("Decisions", text, weight)
    if leaves_open(said):
        return _Note("Questions", text, 2)
    if learned or tells(text):
        return _Note("Errors" if _EXCEPTION.search(text) else "Facts", text, weight)
    if len(text.split()) >= _FEWEST_WORDS and (is_user or names(text)):
        return _Note("Errors" if _EXCEPTION.search(text) else "Facts", text, 1)
    return None


def _line(text: str) -> str:
    """Return a text as one line that is not too long."""
    words = " ".join(inert(text[: 4 * _LONGEST]).split())
    if len(words) <= _LONGEST:
        return words
    start = words[: _LONGEST - 1]
    return (start.rpartition(" ")[0] or start) + "\u2026"


# ---- what was done ----

_PATHS: Final = ("file", "filename", "files", "source", "destination", "target")
_COMMANDS: Final = ("cmd", "command", "script", "args")
_FAILING: Final = ("error", "stderr", "exception", "traceback", "message", "output", "stdout")
_EXCEPTION: Final = re.compile(r"\b[A-Za-z_.]*[a-z](?:Error|Exception)\b")
_RAISED: Final = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)\b(?::|$)")
# What says that something failed, and not what.
_GENERIC: Final = re.compile(
    r"\W*+(?:the )?(?:command|process|program)?\W*+(?:failed|error|exit|exited|returned|non-?zero)"
    r"[\w :()-]{0,40}\W*|\W*",
    re.IGNORECASE,
)
_LAST_LINES: Final = 40


def _done(part: Part) -> Iterator[_Note]:
    if part.name.rpartition("__")[2] == _OURS:
        return
    if part.speaker == "tool_call":
        yield from (_Note("Files", path, 2) for path in _given(part.text))
    elif part.error or part.speaker == "tool_result":
        line = _failure(part)
        if line:
            who = f"{part.name}: " if part.name else ""
            yield _Note("Errors", _line(redact(f"{who}{line}")), 2)


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
_PASSED: Final = re.compile(r"\[cut here\b|expand for details\b|none\W*\Z|\(none\)", re.IGNORECASE)


def _taken_in(text: str, *, is_open: bool) -> Iterator[_Note]:
    """Yield the lines of a summary under the headings that they stand under, or come closest."""
    heading = "Facts"
    is_goal = True
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
            yield _Note(heading, said, 3 if heading == "Asked" and is_goal else 2)
            is_goal = is_goal and heading != "Asked"
