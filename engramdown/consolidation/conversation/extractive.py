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
from engramdown.engram import fold
from engramdown.redaction import redact
from engramdown.tokens import estimate_tokens
from engramdown.wording.inert import inert
from engramdown.words import UNSPACED

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
        worth: What it adds to what its heading and its words are worth.
    """

    heading: str
    text: str
    worth: float = 0.0


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

# What a line is worth, by its heading and its words.
_WORTH: Final = {
    "Asked": 2.0, "Decisions": 3.0, "Files": 1.5, "Errors": 2.5, "Questions": 2.5, "Facts": 1.0,
}  # fmt: skip
_NUMBER, _NAME, _LATE = 1.5, 0.7, 1.0
# What was asked first goes before all.
_GOAL: Final = 100.0
# What somebody told of himself, and what a user says at all.
_STATED, _OF_A_USER = 2.0, 1.0
_PROPOSED: Final = -1.5
# Short lines are worth their room, but not to the last token.
_EASE: Final = 12
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
        found[key] = _Note(heading, note.text, max(older.worth, note.worth))
    return list(found.values())


def _written(notes: Sequence[_Note], target: int) -> str:
    room = target * _FINE + estimate_tokens("\n" * _FINE)
    chosen: dict[str, list[int]] = {}
    tail = "" if any(note.heading == "Files" for note in notes) else f"{NO_FILES}\n"
    room -= estimate_tokens(tail * _FINE)
    for at in _ranked(notes):
        heading, text = notes[at].heading, notes[at].text
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


def _ranked(notes: Sequence[_Note]) -> list[int]:
    """Return which notes are taken first: the best of each heading, then what is worth its room."""
    worth = [_worth(note, at / len(notes)) for at, note in enumerate(notes)]
    ranked = sorted(range(len(notes)), key=lambda at: (-worth[at], -at))
    best = {notes[at].heading: at for at in reversed(ranked)}
    firsts = sorted(best.values(), key=ranked.index)
    return firsts + [at for at in ranked if at not in set(firsts)]


def _worth(note: _Note, late: float) -> float:
    """Return what a note is worth for each token that it costs."""
    worth = _WORTH[note.heading] + note.worth + _LATE * late
    if note.heading != "Files":
        worth += _NUMBER * tells(note.text) + _NAME * names(note.text)
    return worth / (_EASE + estimate_tokens(note.text * _FINE) / _FINE)


# ---- what is told ----

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


def _asked(first: _Sentence, asked: str, *, is_first: bool) -> Iterator[_Note]:
    """Yield what a user says first of all, and what a later message asks first."""
    text, _, asks = first
    if is_first or (asks and _is_full(text) and not _is_answer(text, asked)):
        yield _Note("Asked", text, _GOAL if is_first else 0.0)


def _spoken(part: Part, said: Sequence[_Sentence], asked: str, *, is_open: bool) -> Iterator[_Note]:
    is_user = part.speaker == "user"
    for nth, sentence in enumerate(said):
        text = sentence.text
        yield from (_Note("Files", path) for path in files_in(text))
        if nth == 0 and asked and _is_answer(text, asked) and (is_user or not agrees(text)):
            yield _Note("Decisions" if is_user else "Facts", _line(f"{asked} {text}"))
        elif not agrees(text):
            yield from _told_by_user(sentence, is_open) if is_user else _told(sentence, is_open)


def _is_answer(text: str, asked: str) -> bool:
    """Whether a sentence says nothing without the question before it, or nothing at all."""
    return agrees(text) or bool(asked and len(text) <= _SHORT)


def _is_full(text: str, least: int = _FEWEST_WORDS) -> bool:
    """Whether a sentence says enough to stand alone; Chinese has no spaces to count."""
    return len(text.split()) >= least or _UNSPACED.search(text) is not None


def _told_by_user(sentence: _Sentence, is_open: bool) -> Iterator[_Note]:  # noqa: FBT001 - as below
    """Yield what a sentence of a user tells."""
    text, said, asks = sentence
    learned = {engram.kind for engram in stated(text)} if said.strip() and not asks else set()
    worth = _OF_A_USER + _STATED * bool(learned)
    if asks and (is_open or not asks_for(said)):
        yield from [_Note("Questions", text, _OF_A_USER)] if is_open else []
    elif decides(said) or orders(said) or not _RULES.isdisjoint(learned):
        yield _Note("Decisions", text, worth)
    elif leaves_open(said):
        yield _Note("Questions", text, worth)
    elif asks_for(said):
        yield _Note("Asked", text, worth)
    elif tells(text) or names(text) or _is_full(text, _CHAT):
        yield _Note("Errors" if _EXCEPTION.search(text) else "Facts", text, worth)


def _told(sentence: _Sentence, is_open: bool) -> Iterator[_Note]:  # noqa: FBT001 - of a sentence
    """Yield what a sentence of an assistant tells."""
    text, said, asks = sentence
    worth = _PROPOSED if proposes(said) else 0.0
    if asks:
        yield from [_Note("Questions", text)] if is_open else []
    elif leaves_open(said):
        yield _Note("Questions", text)
    elif decides(said):
        yield _Note("Decisions", text, worth)
    elif tells(text) or (_is_full(text) and names(text)):
        yield _Note("Errors" if _EXCEPTION.search(text) else "Facts", text, worth)


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
        yield from (_Note("Files", path, _DONE) for path in _given(part.text))
    elif part.error or part.speaker == "tool_result":
        line = _failure(part)
        if line:
            who = f"{part.name}: " if part.name else ""
            yield _Note("Errors", _line(redact(f"{who}{line}")))


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


def _taken_in(text: str, *, is_open: bool, is_first: bool) -> Iterator[_Note]:
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
            yield _Note(heading, said, _GOAL if heading == "Asked" and is_goal else 0.0)
            is_goal = is_goal and heading != "Asked"
