"""A summary of a conversation without a model, by rules.

Pure, deterministic, linear time, any text; never more than the target. A summary holds words of the
conversation, each once, on one line, without secrets, and says who spoke. Results of tools are
data: only the line of an error is told, and nothing of what memory brought in. A summary that it is
given is taken in line by line, so it can be shortened again and again; one that fits comes back as
it is. The cues are English and German, with the commonest words of French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from engramdown.consolidation.actions import arguments_of, first_text
from engramdown.consolidation.corrections import extract as stated
from engramdown.consolidation.sentences import is_order
from engramdown.consolidation.utterances import any_case, mask_shown, pattern_of, sentences
from engramdown.engram import fold
from engramdown.language.untrusted import inert
from engramdown.language.words import UNSPACED, word_set
from engramdown.secrets.redaction import redact
from engramdown.tokens import estimate_tokens

# What lines stand under, in this order.
HEADINGS: Final = ("Asked", "Decisions", "Files", "Errors", "Questions", "Facts")
# The same for somebody who goes on with the work and has not read any of it.
HANDOFF: Final = (
    "Goal", "Progress", "Key Decisions", "Files Changed", "Current State", "Blockers and Gotchas",
    "Next Steps",
)  # fmt: skip
# What stands there if no file is named.
NO_FILES: Final = "Files: none"


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
    return _written(_once(notes_of(parts)), parts, target)


def hand_over(parts: Sequence[Part], target: int) -> str:
    """Return the same under the headings of :data:`HANDOFF`: all seven, also what is empty.

    Where the target has no room for them, it is as :func:`extract` tells it.

    Args:
        parts: What was said, in order; summaries among it.
        target: How many tokens that may cost, by :func:`engramdown.tokens.estimate_tokens`.
    """
    notes = _once(notes_of(parts))
    room = target * _FINE - estimate_tokens(_skeleton({}) * _FINE)
    if not notes or room < target * _FINE // 2:
        return _written(notes, parts, target)
    now = [at for at, note in enumerate(notes) if note.heading == "Facts"][-_NOW:]
    told: dict[str, list[int]] = {}
    for at in _ranked(notes, target):
        cost = estimate_tokens(f"- {notes[at].text}\n" * _FINE)
        if cost <= room:
            room -= cost
            section = _SECTIONS.get(notes[at].heading, "Progress")
            section = "Current State" if at in now else section
            told.setdefault("Goal" if notes[at].worth >= GOAL else section, []).append(at)
    lines = {name: [notes[at].text for at in sorted(found)] for name, found in told.items()}
    return _skeleton(lines).rstrip("\n")


def _skeleton(told: Mapping[str, Sequence[str]]) -> str:
    """Return the seven sections with what is told under each."""
    return "".join(
        f"## {name}\n" + "".join(f"- {text}\n" for text in told.get(name) or ["(none)"])
        for name in HANDOFF
    )


# ---- what is chosen ----

# Where in a handoff a line stands; what was asked later, and what was true before, is progress.
_SECTIONS: Final = {
    "Decisions": "Key Decisions", "Files": "Files Changed", "Errors": "Blockers and Gotchas",
    "Questions": "Next Steps",
}  # fmt: skip
# So many of the newest facts tell how things stand.
_NOW: Final = 3

# What a line is worth, by its heading and its words.
_WORTH: Final = {
    "Asked": 2.0, "Decisions": 3.0, "Files": 1.5, "Errors": 2.5, "Questions": 2.5, "Facts": 1.0,
}  # fmt: skip
_NUMBER, _NAME, _LATE = 1.5, 0.7, 1.0
# A goal that costs more than one part in so many of the summary goes before no other line.
_LEAST_ROOM: Final = 4
# Short lines are worth their room, but not to the last token.
_EASE: Final = 12
# A text of so many copies costs so many times as much, whatever is rounded.
_FINE: Final = 12
# What does not belong in a summary, and what says that there is nothing.
_PASSED: Final = re.compile(r"\[cut here\b|expand for details\b|none\W*\Z|\(none\)", re.IGNORECASE)
_SAYS_NO_FILES: Final = re.compile(
    r"^(?:#+ )?Files(?: Changed)?:?(?: |\n- )\(?none\b", re.IGNORECASE | re.MULTILINE
)
# Words that stand under several headings stay under the first of these.
_TELLING: Final = ("Files", "Decisions", "Questions", "Errors", "Asked", "Facts")


def _once(notes: Iterable[Note]) -> list[Note]:
    """Return notes whose words stand only once, where they are newest, with all their weight."""
    found: dict[str, Note] = {}
    for note in notes:
        if _PASSED.match(note.text):
            continue
        key = note.text if note.heading == "Files" else fold(note.text)
        older = found.pop(key, note)
        heading = min(older.heading, note.heading, key=_TELLING.index)
        found[key] = Note(heading, note.text, max(older.worth, note.worth))
    return list(found.values())


def _written(notes: Sequence[Note], parts: Sequence[Part], target: int) -> str:
    room = target * _FINE + estimate_tokens("\n" * _FINE)
    chosen: dict[str, list[int]] = {}
    # A summary that had no room for its files does not say that there were none.
    has_files = any(note.heading == "Files" for note in notes) or any(
        part.speaker == SUMMARY and not _SAYS_NO_FILES.search(part.text) for part in parts
    )
    tail = "" if has_files else f"{NO_FILES}\n"
    room -= estimate_tokens(tail * _FINE)
    for at in _ranked(notes, target):
        heading, text = notes[at].heading, notes[at].text
        head = "" if heading in chosen else f"{heading}:\n"
        cost = estimate_tokens(f"{head}- {text}\n" * _FINE)
        if cost <= room:
            room -= cost
            chosen.setdefault(heading, []).append(at)
    lines = []
    for heading in HEADINGS:
        if heading in chosen:
            lines += [f"{heading}:", *(f"- {notes[at].text}" for at in sorted(chosen[heading]))]
        elif heading == "Files" and tail and chosen:
            lines.append(NO_FILES)
    return "\n".join(lines)


def _ranked(notes: Sequence[Note], target: int) -> list[int]:
    """Return which notes are taken first: the best of each heading, then what is worth its room."""
    worth = []
    for at, note in enumerate(notes):
        cost = estimate_tokens(note.text * _FINE) / _FINE
        more = note.worth if cost * _LEAST_ROOM <= target else min(note.worth, OF_A_USER)
        more += _WORTH[note.heading] + _LATE * at / len(notes)
        if note.heading != "Files":
            more += _NUMBER * tells(note.text) + _NAME * names(note.text)
        worth.append(more / (_EASE + cost))
    ranked = sorted(range(len(notes)), key=lambda at: (-worth[at], -at))
    best = {notes[at].heading: at for at in reversed(ranked)}
    firsts = set(best.values())
    return sorted(ranked, key=lambda at: at not in firsts)


# ---- what a summary is made from ----

# The speaker of a part that is a summary itself.
SUMMARY: Final = "summary"


class Part(NamedTuple):
    """A message or a summary.

    Attributes:
        speaker: ``user``, ``assistant``, ``tool_call``, ``tool_result``, ``scratchpad``,
            ``system`` or :data:`SUMMARY`.
        text: What was said, called, or came back.
        name: The tool, or who speaks where several people do.
        at: When, UTC; of a summary, when the first of its messages was said.
        error: Whether it failed.
    """

    speaker: str
    text: str
    name: str = ""
    at: str = ""
    error: bool = False


# ---- cues of a sentence ----


def decides(said: str) -> bool:
    """Whether a sentence says what was decided.

    >>> decides("We decided to keep SQLite."), decides("Nehmen wir lieber Postgres."), decides("Hm")
    (True, True, False)
    """
    return _has("DECIDES", said)


def orders(said: str) -> bool:
    """Whether a sentence of a user says how it shall be, or that it is wrong as it is.

    >>> orders("No, the port should be 8081."), orders("Please never push."), orders("It is late.")
    (True, True, False)
    """
    return _has("ORDERS", said)


def asks_for(said: str) -> bool:
    """Whether a sentence of a user asks that something be done.

    >>> asks_for("Please add a test"), asks_for("Add it first"), asks_for("It rolls back")
    (True, True, False)
    """
    words = said.replace("\u2019", "'").lower()
    return _has("ASKS_FOR", words) or is_order(words)


def leaves_open(said: str) -> bool:
    """Whether a sentence says that something is still to be done.

    >>> leaves_open("TODO: rotate the key"), leaves_open("Das fehlt noch."), leaves_open("Done.")
    (True, True, False)
    """
    return _has("OPEN", said)


def agrees(said: str) -> bool:
    """Whether a sentence says yes and hardly more.

    >>> agrees("Sounds good!"), agrees("Ja, bitte"), agrees("Yes, but only on Mondays after lunch")
    (True, True, False)
    """
    return any_case("AGREES").fullmatch(said.strip()) is not None


def tells(said: str) -> bool:
    """Whether a sentence has a number: a version, an amount, a date, an id.

    >>> tells("Python 3.12 it is"), tells("It is late.")
    (True, False)
    """
    return any(map(str.isdecimal, said))


def names(said: str) -> bool:
    """Whether a sentence names something: a person, an identifier, an address.

    >>> names("ask Maria"), names("see `main`"), names("the user_id"), names("It is late.")
    (True, True, True, False)
    """
    return pattern_of("NAMES").search(said) is not None


def files_in(text: str) -> list[str]:
    """Return the files that a text names, in order.

    >>> files_in("see src/app.py:12 and ./Makefile, not https://x.org/a.py or e.g. and/or v1.2")
    ['src/app.py', './Makefile']
    """
    found = []
    for match in re.finditer(r"[\w.@+~/\\:-]+", text):
        word = re.sub(r"(?:::.*|(?::[0-9]+)*+[.:]*)\Z", "", match[0][:_LONGEST_PATH])
        if is_file(word):
            found.append(word)
    return found


def is_file(word: str) -> bool:
    """Whether a word is the path or the name of a file.

    >>> is_file("a/b.py"), is_file("Node.js"), is_file("example.com")
    (True, False, False)
    """
    if "://" in word or word.lower() in _NO_FILES:
        return False
    return any_case("FILE").fullmatch(word) is not None


_LONGEST_PATH: Final = 200
_NO_FILES: Final = word_set(
    "console.log d3.js express.js next.js node.js nuxt.js process.env react.js three.js vue.js"
)


def _has(name: str, said: str) -> bool:
    return any_case(name).search(said.replace("\u2019", "'")) is not None


# ---- notes ----

# What it adds to a line that it is what was asked first.
GOAL: Final = 100.0
# What it adds that a user said it.
OF_A_USER: Final = 1.0


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
_LONGEST: Final = 240
# An answer that is shorter says nothing without what was asked.
_SHORT: Final = 40
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_FULL_STOP: Final = re.compile(r"([\u3002\uff01\uff1f])(?!\n)")
_FEWEST_WORDS: Final = 3
# "That makes sense to me." tells nothing.
_CHAT: Final = 6
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
# "am 5. April" does not end a sentence.
_DAY: Final = re.compile(
    r"(?<=[0-9])\.(?= (?:Jan|Feb|M[aä]r|Apr|Ma[ij]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz]))"
)
_RULES: Final = frozenset({"always", "never", "when"})


class _Sentence(NamedTuple):
    """A sentence as it was written, without what is only shown in it, and whether it asks."""

    text: str
    said: str
    asks: bool


def notes_of(parts: Sequence[Part]) -> Iterator[Note]:
    """Yield all that may be told of parts, in order; some of it twice."""
    last = {part.speaker: at for at, part in enumerate(parts)}
    asked = ""
    is_first = True
    for at, part in enumerate(parts):
        if part.speaker in ("user", "assistant"):
            is_user = part.speaker == "user"
            said = _sentences(part.text)
            if is_user and said and not agrees(said[0].text):
                # What a user says first of all, and what a later message asks first.
                text, _, asks = said[0]
                if is_first or (asks and _is_full(text) and not _is_answer(text, asked)):
                    yield Note("Asked", text, GOAL if is_first else 0.0)
                is_first = False
            is_open = at > last.get("assistant" if is_user else "user", -1)
            yield from _spoken(said, asked, is_user=is_user, is_open=is_open)
            asked = said[-1].text if said and said[-1].asks else ""
        elif part.speaker in ("tool_call", "scratchpad", "tool_result"):
            yield from _done(part)
        elif part.speaker == SUMMARY:
            is_open = at > last.get("assistant", -1)
            yield from _taken_in(part.text, is_open=is_open, is_first=is_first)
            is_first = False


def _sentences(text: str) -> list[_Sentence]:
    """Return the sentences of a message, without those in a fence."""
    text = _FULL_STOP.sub(r"\1\n", redact(text))
    plain = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    mask = mask_shown(text)
    found = []
    for start, end, mark in sentences(_DAY.sub("\u2024", plain)):
        written = _line(plain[start:end] + mark)
        if any(map(str.isalnum, written)):
            asks = mark == "?" or written[-1] == "\uff1f"
            found.append(_Sentence(written, mask[start:end], asks))
    return found


def _spoken(
    said: Sequence[_Sentence], asked: str, *, is_user: bool, is_open: bool
) -> Iterator[Note]:
    """Yield what the sentences of a message tell."""
    for nth, sentence in enumerate(said):
        text = sentence.text
        yield from (Note("Files", path) for path in files_in(text))
        if nth == 0 and asked and _is_answer(text, asked) and (is_user or not agrees(text)):
            yield Note("Decisions" if is_user else "Facts", _line(f"{asked} {text}"))
        elif not agrees(text):
            tells_more = is_user and sentence.said.strip() and not sentence.asks
            told = stated(text) if tells_more else []
            learned = {engram.kind for engram in told if not engram.unsure}
            heading = _heading(sentence, learned, is_user=is_user, is_open=is_open)
            worth = OF_A_USER * is_user
            if heading:
                # A question is worth less than what somebody told.
                yield Note(heading, text, worth + _STATED * bool(learned))


def _is_answer(text: str, asked: str) -> bool:
    """Whether a sentence says nothing without the question before it, or nothing at all."""
    return agrees(text) or bool(asked and len(text) <= _SHORT)


def _is_full(text: str, least: int = _FEWEST_WORDS) -> bool:
    """Whether a sentence says enough to stand alone; Chinese has no spaces to count."""
    return len(text.split()) >= least or _UNSPACED.search(text) is not None


def _heading(sentence: _Sentence, learned: Collection[str], *, is_user: bool, is_open: bool) -> str:
    """Return what a sentence stands under, or ``""``; what an assistant orders does not count."""
    text, said, asks = sentence
    if asks and (not is_user or is_open or not asks_for(said)):
        return "Questions" if is_open else ""
    is_left = leaves_open(said)
    decided = decides(said) or (is_user and (orders(said) or not _RULES.isdisjoint(learned)))
    if decided and (is_user or not is_left):
        return "Decisions"
    if is_left:
        return "Questions"
    if is_user and asks_for(said):
        return "Asked"
    enough = names(text) and (is_user or _is_full(text))
    if enough or tells(text) or (is_user and _is_full(text, _CHAT)):
        return "Errors" if _EXCEPTION.search(text) else "Facts"
    return ""


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
    if part.name.rpartition("__")[2] == "recall":
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
    text = first_text(arguments_of(part.text), _FAILING) or part.text
    last = text.rstrip().rsplit("\n", _LAST_LINES)[-_LAST_LINES:]
    stripped = [line.removeprefix("E  ").strip() for line in last]
    lines = [line[: 4 * _LONGEST] for line in reversed(stripped) if line]
    raised = next((line for line in lines if _RAISED.match(line)), "")
    if not part.error:
        return raised if "Traceback" in text else ""
    telling = (line for line in lines if not _GENERIC.fullmatch(line))
    return raised or next(telling, "".join(lines[:1]))


# ---- what earlier summaries tell ----

_UNDER: Final = {
    name: heading
    for heading, names_of in (
        ("Asked", ("asked", "goal", "goals")),
        ("Decisions", ("decisions", "key decisions")),
        ("Files", ("files", "files changed")),
        ("Errors", ("errors", "blockers", "blockers and gotchas")),
        ("Questions", ("questions", "open questions", "next steps")),
        ("Facts", ("facts", "progress", "current state")),
    )
    for name in names_of
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
