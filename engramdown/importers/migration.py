"""Brings the notes of people and other assistants through the gate as memories.

The files are not changed, and no link is followed out of a named folder. A file that cannot be read
is reported with the reason, and the rest is read. The folders of a project are searched only for
files about them, without hidden folders, packages, build output and other repositories. A memory
that came once does not come again, whatever happened to it here: a ledger in the folder of the
scope has a line for each, with a digest and without the text, written after the step itself. If a
run is killed, the next one brings exactly the rest.

Any text gives memories and skipped parts, each with its line and the reason, and never an error.
Code fences, tables, quotations, comments and blocks that this program wrote are not memories; what
a file says twice is read once. A statement keeps its meaning without its section. The cost grows
with the length of the text. The layout of a file says whose word it is: text that a person writes
for an assistant is told by the user; text that an assistant wrote for itself is inferred.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args
from urllib.parse import unquote

from engramdown.clock import moment
from engramdown.engram import (
    CONFIDENCES,
    SOURCES,
    Basis,
    Confidence,
    Engram,
    Kind,
    Scope,
    Source,
    fingerprint,
    identity,
    slug,
)
from engramdown.errors import InvalidEngramError, StoreError
from engramdown.gate import Receipt, kind_of
from engramdown.hippocampus import Act, new_id, step_group
from engramdown.kinds import LESSONS, PROFILE, RULES, kind_in, kind_in_scope
from engramdown.markdown import FrontMatter, parse_front_matter
from engramdown.storage import Disk, ScopeLock

if TYPE_CHECKING:
    from engramdown.gate import Scopes

_OPEN: Final = "<!--"
_CLOSE: Final = "-->"
_DATE: Final = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_LONGEST_CONTEXT: Final = 100


def after_comments(text: str) -> tuple[str, str]:
    """Return ``text`` without its comments, and the content of a comment at its end, or ``""``."""
    parts, last, at = [], "", 0
    while (start := text.find(_OPEN, at)) >= 0:
        end = text.find(_CLOSE, start + len(_OPEN))
        if end < 0:
            break
        parts.append(text[at:start].strip())
        at = end + len(_CLOSE)
        last = text[start + len(_OPEN) : end]
    rest = text[at:]
    return " ".join(filter(None, [*parts, rest.strip()])), "" if rest.strip() else last


def metadata(comment: str) -> Mapping[str, str]:
    """Return the pairs ``key:value`` of a comment, or nothing if it is a note.

    >>> metadata(" confidence:high ts:2026-02-27 "), metadata(" see below ")
    ({'confidence': 'high', 'ts': '2026-02-27'}, {})
    """
    pairs = [word.partition(":") for word in comment.split()]
    if not all(key and colon for key, colon, _ in pairs):
        return {}
    return {key: value for key, _, value in pairs if value != "None"}


def date_in(text: str) -> str:
    """Return the first date in ``text`` as ``YYYY-MM-DD``, or ``""``.

    >>> date_in("Notes of 2026-02-27"), date_in("2026-02-31")
    ('2026-02-27', '')
    """
    match = _DATE.search(text)
    try:
        return date.fromisoformat(match[0]).isoformat() if match else ""
    except ValueError:
        return ""


def in_context(text: str, context: str) -> str:
    """Return ``text`` after the words above it, if these are short.

    >>> in_context("run the linter", "Before pushing:")
    'Before pushing: run the linter'
    """
    words = context.rstrip(" :\uff1a.")
    if not words or len(words) > _LONGEST_CONTEXT:
        return text
    joint = "\n" if "\n" in text else " "
    return f"{words}:{joint}{text}"


def listed(front: FrontMatter, name: str) -> str:
    """Return the items of a list in front matter with commas between, even if it is not YAML."""
    return ", ".join(front.items(name)) or front.raw(name).strip("[]\"' ")


# ---- statements ----

_FENCE: Final = re.compile(r"(?:[-*+][ \t]+)*(`{3,}+(?!.*`)|~{3,}+)")
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE: Final = re.compile(r"(?:=+|-+)$")
_BREAK: Final = re.compile(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$")
_ITEM: Final = re.compile(r"(?:[-*+](?:[ \t]+|$)|([0-9]{1,9})[.)][ \t]+)(.*)$")
_APART: Final = (
    (re.compile(">"), "a quotation"),
    (re.compile(r"\|"), "a table"),
    (re.compile(r"</?[A-Za-z!?]"), "HTML"),
    (re.compile(r"\[[^\]]{1,200}\]:\s"), "the target of a link"),
)
_IMPORT: Final = re.compile(r"@([\w~./\\][^\s]*)$")
_TASK: Final = re.compile(r"\[[ xX-]\](?:\s|$)")
_OURS: Final = re.compile(r"<!--\s*engramdown:(begin|end)\b")
_ENDS: Final = (":", "\uff1a")
_CODE_INDENT: Final = 4


class Heading(NamedTuple):
    """A heading above a statement.

    Attributes:
        level: 1 to 6.
        title: Its words.
    """

    level: int
    title: str


class Statement(NamedTuple):
    """A list item or a paragraph.

    Attributes:
        text: Its own words.
        context: The item above it, or the paragraph that leads to the list; or ``""``.
        line: Where it begins, from 1.
        headings: The headings above it, the outermost first.
        meta: The metadata in its comment.
    """

    text: str
    context: str
    line: int
    headings: tuple[Heading, ...]
    meta: Mapping[str, str]

    @property
    def whole(self) -> str:
        """Its words in their context."""
        return in_context(self.text, self.context)


class Omission(NamedTuple):
    """A part of a file that is not a memory.

    Attributes:
        line: Where it begins, from 1.
        reason: Why, in words.
    """

    line: int
    reason: str


class Page(NamedTuple):
    """The content of a file.

    Attributes:
        statements: In file order.
        passed: The skipped parts, in file order.
        front: Its front matter.
    """

    statements: tuple[Statement, ...]
    passed: tuple[Omission, ...]
    front: FrontMatter


def walk(text: str) -> Page:
    r"""Return the statements of a file.

    >>> [each.whole for each in walk("Before pushing:\n- lint\n- test\n").statements]
    ['Before pushing: lint', 'Before pushing: test']
    """
    front = parse_front_matter(text)
    lines = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
    walker = _Walker(lines, front.body_line - 1)
    walker.run()
    return Page(tuple(walker.statements), tuple(walker.passed), front)


class _Open(NamedTuple):
    """A statement that may go on."""

    line: int
    indent: int
    words: list[str]
    is_item: bool


class _Walker:
    """One pass over the lines of a file."""

    def __init__(self, lines: list[str], at: int) -> None:
        self.at = at
        self.lines = lines
        self.statements: list[Statement] = []
        self.passed: list[Omission] = []
        self.headings: list[Heading] = []
        # The items above, outermost first, each with its indentation; -1 is a leading paragraph.
        self.above: list[tuple[int, str]] = []
        self.open: _Open | None = None
        self.after_blank = False
        self.last_passed = -1
        ends = [at for at, line in enumerate(lines) if _CLOSE in line]
        own_ends = [at for at, line in enumerate(lines) if _own(line) == "end"]
        self.last_comment_end = ends[-1] if ends else -1
        self.last_own_end = own_ends[-1] if own_ends else -1

    def run(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at].expandtabs(4)
            self.at += 1
            said = line.strip()
            if not said:
                self.after_blank = True
            elif not (self._hides(said, line) or self._is_apart(said, line)):
                self._say(said, len(line) - len(line.lstrip()))
                self.after_blank = False
        self._close()

    # ---- skipped parts ----

    def _hides(self, said: str, line: str) -> bool:
        """Skip a block that begins here: code, a comment, our own block."""
        if match := _FENCE.match(said):
            fence, indent = match[1], len(line) - len(line.lstrip())

            def closes(each: str) -> bool:
                whole = each.expandtabs(4)
                bare = whole.strip()
                is_near = len(whole) - len(whole.lstrip()) < indent + _CODE_INDENT
                return is_near and len(bare) >= len(fence) and bare == fence[0] * len(bare)

            self._pass("code")
            self._skip_to(closes)
        elif _own(said) == "begin" and self.last_own_end >= self.at:
            self._pass("written by engramdown")
            self._skip_to(lambda each: _own(each) == "end")
        elif said.startswith(_OPEN):
            self._pass("a comment")
            if _CLOSE not in said and self.last_comment_end >= self.at:
                self._skip_to(lambda each: _CLOSE in each)
        else:
            return False
        return True

    def _skip_to(self, is_end: Callable[[str], bool]) -> None:
        while self.at < len(self.lines):
            self.at += 1
            if is_end(self.lines[self.at - 1]):
                return

    def _is_apart(self, said: str, line: str) -> bool:
        """Skip a single line that is not a statement."""
        is_deep = line.startswith(" " * _CODE_INDENT)
        if is_deep and not self._goes_on():
            reason = "code"
        elif not is_deep and self._is_heading(said):
            return True
        elif match := _IMPORT.match(said.lstrip("-*+ ")):
            reason = f"names another file; `engramdown migrate {match[1]}` brings what it says"
        else:
            reason = next((reason for pattern, reason in _APART if pattern.match(said)), "")
        if reason:
            self._pass(reason)
        return bool(reason)

    def _goes_on(self) -> bool:
        """Whether an indented line can belong to the text above it."""
        in_list = any(indent >= 0 for indent, _ in self.above)
        return in_list or (self.open is not None and (self.open.is_item or not self.after_blank))

    def _is_heading(self, said: str) -> bool:
        match = _HEADING.match(said)
        if match:
            self._close()
            self._head(len(match[1]), (match[2] or "").rstrip("# \t"))
        elif _UNDERLINE.match(said) and self._is_paragraph():
            words, self.open = self.open.words if self.open else [], None
            self._head(1 if said[0] == "=" else 2, " ".join(words))
        elif _BREAK.match(said):
            self._close()
            self.above.clear()
        else:
            return False
        return True

    def _is_paragraph(self) -> bool:
        return self.open is not None and not self.open.is_item and not self.after_blank

    def _head(self, level: int, title: str) -> None:
        self.headings = [each for each in self.headings if each.level < level]
        self.headings.append(Heading(level, after_comments(title)[0]))
        self.above.clear()

    def _pass(self, reason: str) -> None:
        self._close()
        goes_on = self.last_passed == self.at - 1 and self.passed[-1].reason == reason
        if not goes_on:
            self.passed.append(Omission(self.at, reason))
        self.last_passed = self.at

    # ---- statements ----

    def _say(self, said: str, indent: int) -> None:
        item = _ITEM.match(said)
        # A line of a paragraph may begin with a number; as in CommonMark, only 1 begins a list.
        if item and (item[1] in (None, "1") or not self._is_paragraph()):
            self._close()
            while self.above and self.above[-1][0] >= indent:
                self.above.pop()
            self.open = _Open(self.at, indent, [item[2]], is_item=True)
            return
        if self.open is not None and (indent > self.open.indent or not self.after_blank):
            self.open.words.append(said)
            return
        self._close()
        if not indent:
            self.above = []
        self.open = _Open(self.at, indent, [said], is_item=False)

    def _close(self) -> None:
        """Add the open statement."""
        if self.open is None:
            return
        line, indent, words, is_item = self.open
        self.open = None
        text, comment = after_comments(" ".join(words))
        context = self.above[-1][1] if self.above else ""
        if is_item or text.endswith(_ENDS):
            self.above.append((indent if is_item else -1, in_context(text, context)))
        if text.endswith(_ENDS):
            self.passed.append(Omission(line, "only introduces what follows"))
        elif _TASK.match(text):
            self.passed.append(Omission(line, "a task"))
        elif text:
            headings = tuple(self.headings)
            self.statements.append(Statement(text, context, line, headings, metadata(comment)))


def _own(line: str) -> str:
    """Return ``begin`` or ``end`` if a line marks a block of this program, or ``""``."""
    match = _OURS.match(line.strip())
    return match[1] if match else ""


# ---- headings ----

_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("always", re.compile(r"(?:always|must|do's|dos)(?: do)?\Z")),
    ("never", re.compile(r"(?:never|don'?ts?|do not|must not|avoid)(?: do)?\Z")),
    ("when", re.compile(r"(?:when|whenever|if)\b")),
)
_FORBIDDING: Final = re.compile(r"(?:never|no|not|don['\u2019]?t|do not|avoid)\b", re.IGNORECASE)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST: Final = 2_000


def kind_below(statement: Statement) -> Kind | None:
    """Return the kind of rules in the nearest heading that names one."""
    kinds = map(_kind, reversed(statement.headings))
    return next((kind for kind in kinds if kind is not None), None)


def said_below(statement: Statement, *, in_words: bool) -> str:
    """Return the words of a statement after the case in its heading: "When deploying".

    Args:
        statement: The statement.
        in_words: Whether to add a word for what a heading forbids.
    """
    text = statement.whole
    if in_words and kind_below(statement) == "never" and not _FORBIDDING.match(text):
        return f"never {_in_a_sentence(text)}"
    titles = (each.title.strip(" :*_") for each in reversed(statement.headings) if _kind(each))
    case = next(titles, "")
    is_case = " " in case and _kind(Heading(1, case)) == "when" and not _SURROGATE.search(case)
    if not is_case or len(case) > _LONGEST:
        return text
    return f"{_in_a_sentence(case) if in_words else case}: {text}"


def _kind(heading: Heading) -> Kind | None:
    words = heading.title.replace("\u2019", "'").casefold().strip(" :*_!.")
    return next((kind for kind, pattern in _KINDS if pattern.match(words)), None)


def _in_a_sentence(text: str) -> str:
    """Return words without the capital that only begins a sentence.

    >>> _in_a_sentence("Push to main"), _in_a_sentence("CI on Fridays"), _in_a_sentence("A tag")
    ('push to main', 'CI on Fridays', 'a tag')
    """
    is_word = text[1:2].islower() or text[1:2].isspace()
    return text[:1].lower() + text[1:] if is_word else text


# ---- memories ----

Layout = Literal[
    "notes", "cursor", "index", "topic", "daily", "anton-memory", "anton-context", "anton-learnings"
]
LAYOUTS: Final[tuple[Layout, ...]] = get_args(Layout)

_ANTON: Final[Mapping[str, Layout]] = {
    "memory": "anton-memory",
    "context": "anton-context",
    "learnings": "anton-learnings",
}
_RULING: Final = frozenset({"notes", "cursor", "index", "topic"})
_BY_PERSON: Final = frozenset({"notes", "cursor"})
_DAILY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[^/]*\.md")
_LINK: Final = re.compile(r"\[[^\]\n]{0,200}\]\(<?([^)>\s]{1,500}?\.md)(?:#[^)\s]{0,200})?>?\)")
_BARE_LINK: Final = re.compile(rf"(?:\*\*|__)?{_LINK.pattern}")
_ABOUT_ITSELF: Final = re.compile(r"This file (?:provides|contains|gives|is) ", re.IGNORECASE)
_SOURCES: Final[dict[str, Source]] = {each: each for each in SOURCES}
_CONFIDENCES: Final[dict[str, Confidence]] = {each: each for each in CONFIDENCES}
_SHORTEST: Final = 3
_TOPIC_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class File:
    """A file that may hold memories.

    Attributes:
        path: Its name for a person, with ``/``.
        text: Its content.
        layout: Its layout.
        topic: The topic of its memories, if another file says so.
        folder: The folder of the project that it is about, or ``""`` for the whole project.
    """

    path: str
    text: str
    layout: Layout
    topic: str = ""
    folder: str = ""


class Candidate(NamedTuple):
    """A memory from a file.

    Attributes:
        engram: The memory.
        line: Where it begins in the file, from 1.
    """

    engram: Engram
    line: int


class FileMemories(NamedTuple):
    """The memories of a file.

    Attributes:
        memories: In file order.
        passed: The skipped parts, in file order.
    """

    memories: tuple[Candidate, ...]
    passed: tuple[Omission, ...]


# Whose word a memory is: its source, its confidence, and its basis.
_Word = tuple[Source, Confidence, Basis]
_BY_USER: Final[_Word] = ("user", "high", "told")
_INFERRED: Final[_Word] = ("llm", "medium", "inferred")


def layout_of(path: str) -> Layout | None:
    """Return the layout of a file by its path, or ``None`` if it is unknown.

    >>> layout_of("CLAUDE.md"), layout_of(".anton/memory/rules.md"), layout_of("src/main.py")
    ('notes', 'anton-memory', None)
    """
    name = basename(path)
    parts = path.split("/")[:-1]
    if ".anton" in parts:
        folder = "".join(parts[len(parts) - parts[::-1].index(".anton") :][:1])
        is_one = name in (RULES, LESSONS, PROFILE) if folder == "memory" else name.endswith(".md")
        return _ANTON.get(folder) if is_one else None
    if name.endswith(".mdc"):
        return "cursor"
    if name == ".cursorrules":
        return "notes"
    if _DAILY.fullmatch(name):
        return "daily"
    if name == "MEMORY.md":
        return "index"
    return "notes" if name.lower().endswith((".md", ".markdown")) else None


def read(file: File, scope: Scope, kind_of: Callable[[str], Kind]) -> FileMemories:
    """Return the memories of a file.

    Args:
        file: The file.
        scope: The scope of its memories.
        kind_of: Returns the kind of a memory, from its words.
    """
    page = walk(file.text)
    reader = _Reader(file, scope, kind_of, page.front)
    memories: list[Candidate] = []
    passed = list(page.passed)
    known: set[str] = set()
    for statement in page.statements:
        reason = reader.refusal(statement)
        brought = None if reason else reader.engram(statement)
        if brought is None or identity(brought) in known:
            passed.append(Omission(statement.line, reason or "is in the file twice"))
        else:
            known.add(identity(brought))
            memories.append(Candidate(brought, statement.line))
    return FileMemories(tuple(memories), tuple(sorted(passed)))


def links(text: str) -> list[str]:
    """Return the markdown files that a file links to, as written there, each once.

    >>> links("- [Builds](builds.md) and [CI](topics/ci.md#slow)")
    ['builds.md', 'topics/ci.md']
    """
    targets = (each[1] for each in _LINK.finditer(text))
    return list(dict.fromkeys(each for each in targets if "://" not in each))


def topics(text: str) -> Mapping[str, str]:
    """Return the topics in an ``index.json``, by the names of files.

    Any other content gives nothing.
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(entries, dict):
        entries = next((each for each in entries.values() if isinstance(each, list)), entries)
    topics: dict[str, str] = {}
    if not isinstance(entries, list):
        entries = list(entries.items()) if isinstance(entries, dict) else []
    for each in entries:
        file, topic = each if isinstance(each, tuple) else ("", each)
        if isinstance(topic, dict):
            if not file:
                file = topic.get("file") or topic.get("path") or topic.get("filename") or ""
            topic = topic.get("topic") or topic.get("title") or topic.get("name")
        name = basename(str(file))
        if name and topic and isinstance(topic, str):
            topics[name] = topic
    return topics


class _Reader:
    """Makes memories of the statements of one file."""

    def __init__(
        self, file: File, scope: Scope, kind_of: Callable[[str], Kind], front: FrontMatter
    ) -> None:
        self.file = file
        self.layout = file.layout
        self.name = basename(file.path)
        self.scope = scope
        self.kind_of = kind_of
        # The part of the project that it is about: "in api/", "on *.py".
        self.place = ""
        folder, globs = file.folder if scope == "project" else "", ""
        if self.layout == "cursor" and front.text("alwaysApply").lower() != "true":
            globs = listed(front, "globs")
        if globs and _is_text(globs) and len(globs) <= _LONGEST:
            self.place = f"on {globs}"
        elif folder and _is_text(folder):
            self.place = f"in {folder}/"

    def refusal(self, statement: Statement) -> str:
        """Return why a statement is not a memory, or ``""``."""
        text = statement.text
        if not _is_text(statement.whole):
            return "holds bytes that are not UTF-8"
        if self.layout == "index" and _BARE_LINK.match(text):
            return "links to another file"
        if self.layout == "notes" and _ABOUT_ITSELF.match(text):
            return "is about the file itself"
        if sum(map(str.isalnum, text)) < _SHORTEST:
            return "says too little"
        if len(statement.whole) > _LONGEST:
            return f"is longer than {_LONGEST:,} characters"
        return ""

    def engram(self, statement: Statement) -> Engram:
        """Return the memory of a statement."""
        kind = self._kind(statement)
        source, confidence, basis = self._word(statement, kind)
        text = said_below(statement, in_words=bool(self.place))
        titles = [each.title for each in reversed(statement.headings)]
        # The places of a date, the nearest first.
        days = [statement.meta.get("ts", ""), *titles, self.name if self.layout == "daily" else ""]
        return Engram(
            f"When working {self.place}: {text}" if self.place else text,
            kind,
            self.scope,
            confidence,
            self._topic(statement) if kind == "lesson" else "",
            source,
            basis=basis,
            origin=f"{self.file.path}:{statement.line}" if _is_text(self.file.path) else "",
            # It was not said in a conversation here, and the file may be a stranger's.
            via="tool",
            ts=next(filter(None, map(date_in, days)), ""),
        )

    def _kind(self, statement: Statement) -> Kind:
        if self.layout == "anton-memory" and self.name in (PROFILE, LESSONS):
            return kind_in(self.name)
        if self.place:
            return "when"
        titled = kind_below(statement)
        if titled is not None:
            return titled
        if self.layout not in _RULING:
            # A diary reports events: "When I tried it, it failed" is not a rule.
            return "always" if self.layout == "anton-memory" else "lesson"
        kind = self.kind_of(statement.text)
        if kind == "lesson":
            kind = self.kind_of(statement.whole)
        # Facts about the user in a project's file need not be true in all projects.
        return kind_in_scope(kind, self.scope)

    def _word(self, statement: Statement, kind: Kind) -> _Word:
        if self.layout in _BY_PERSON:
            return _BY_USER
        if self.layout != "anton-memory":
            return _INFERRED
        meta = statement.meta
        if not meta:
            # Only a person leaves it out; facts about the user never have it.
            return _INFERRED if kind == "profile" else _BY_USER
        source = _SOURCES.get(meta.get("source", ""), "llm")
        # Its tool always writes "user".
        return source, _CONFIDENCES.get(meta.get("confidence", ""), "medium"), "inferred"

    def _topic(self, statement: Statement) -> str:
        titles = [each.title for each in reversed(statement.headings) if each.level > 1]
        words = [statement.meta.get("topic", ""), self.file.topic]
        words += [title for title in titles if not date_in(title)]
        if self.layout not in ("notes", "index", "daily", "anton-memory"):
            words.append(self.name.rpartition(".")[0].lstrip("."))
        return next(filter(None, map(_as_topic, words)), "")


@lru_cache(maxsize=256)
def _as_topic(words: str) -> str:
    """Return words as a topic, or ``""`` if they cannot be one."""
    plain = "".join(char if char.isalnum() else " " for char in words[:_TOPIC_LENGTH])
    try:
        return slug(" ".join(plain.split()))
    except InvalidEngramError:
        return ""


def _is_text(text: str) -> bool:
    """Whether a text can be written: it has no half surrogate pairs and no undecodable bytes."""
    return not _SURROGATE.search(text)


# ---- files ----

_PLACES: Final = (
    ".anton/memory/*.md",
    ".anton/context/*.md",
    ".anton/learnings/*.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "AGENTS.md",
    ".cursorrules",
    ".cursor/rules/**/*.mdc",
    "MEMORY.md",
    "memory/MEMORY.md",
    "memory/*.md",
)
_OF_FOLDERS: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
# Build output, and the work of others.
_NOT_OWN: Final = frozenset(
    {"build", "dist", "target", "node_modules", "site-packages", "third_party", "vendor"}
)
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Unread(NamedTuple):
    """A file that could not be read.

    Attributes:
        path: Its name for a person.
        reason: Why, in words.
    """

    path: str
    reason: str


class _Place(NamedTuple):
    """A path that may be a file to read.

    Attributes:
        path: The path.
        folder: The folder that it must not leave, or ``None`` for a file that was named.
        layout: Its layout.
        topic: Its topic, if another file says so.
        part: The folder of the project that it is about, or ``""``.
    """

    path: Path
    folder: Path | None
    layout: Layout | None
    topic: str = ""
    part: str = ""


def files_at(
    paths: Iterable[Path], base: Path, disk: Disk, *, folders: bool = False
) -> Iterator[File | Unread]:
    """Yield the files at ``paths``, which are files or folders to search.

    Args:
        paths: The paths that a person named.
        base: The folder to which names are relative; a file elsewhere has only its own name.
        disk: The system calls.
        folders: Whether ``base`` is a project, whose folders may have files of their own.
    """
    visited: set[str] = set()
    project = base if folders else None
    named = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - as it was named, links and all
    waiting = [place for path in named for place in _places(path, project)]
    while waiting:
        place = waiting.pop(0)
        path, real = place.path, os.path.realpath(place.path)
        if real in visited:
            continue
        visited.add(real)
        name = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name
        try:
            file: File | Unread = _read(place, Path(real), name, disk)
        except StoreError as error:
            file = Unread(name, str(error).removeprefix(f"{real}: "))
        except OSError as error:
            file = Unread(name, f"cannot be read: {error.strerror}")
        yield file
        if isinstance(file, File) and file.layout == "index":
            waiting = [*_linked(file.text, place), *waiting]


def _places(path: Path, project: Path | None) -> list[_Place]:
    if not path.is_dir():
        return [_Place(path, None, layout_of(path.as_posix()), part=_part(path, project))]
    paths = [each for pattern in _PLACES for each in _glob(path, pattern)]
    if project is not None and path.is_relative_to(project):
        paths += _below(path)
    if not paths:
        paths = [each for pattern in ("*.md", "*.mdc") for each in sorted(path.glob(pattern))]
    topics_in = cache(_topics_in)
    places: list[_Place] = []
    for each in paths:
        layout = layout_of(each.as_posix())
        if layout is not None:
            topics = topics_in(each.parent) if layout == "anton-learnings" else {}
            topic, part = topics.get(each.name, ""), _part(each, project)
            places.append(_Place(each, path, layout, topic, part))
    return places


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match a pattern, even if ``folder`` is its first part."""
    first, _, rest = pattern.partition("/")
    paths = sorted(folder.glob(rest if rest and folder.name == first else pattern))
    if first != "memory":
        return paths
    # A folder of this name may hold other files.
    return [each for each in paths if layout_of(each.as_posix()) in ("daily", "index")]


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files about the folders below ``folder`` that hold its own work."""
    for root, folders, files in os.walk(folder):
        at = Path(root)
        folders[:] = [name for name in sorted(folders) if _is_own(at / name)]
        if at != folder:
            yield from (at / name for name in _OF_FOLDERS if name in files)


def _is_own(folder: Path) -> bool:
    """Whether a folder of a project holds its own work."""
    if folder.name.startswith(".") or folder.name in _NOT_OWN or folder.is_symlink():
        return False
    return not any((folder / mark).exists() for mark in (".git", ".engramdown", "pyvenv.cfg"))


def _part(path: Path, project: Path | None) -> str:
    """Return the folder of the project that a file is about, or ``""`` for the whole project."""
    if project is None or path.name not in _OF_FOLDERS or not path.is_relative_to(project):
        return ""
    parts = path.parent.relative_to(project).parts
    return "/".join(takewhile(lambda part: not part.startswith("."), parts))


def _topics_in(folder: Path) -> Mapping[str, str]:
    """Return the topics in the index of a folder, by the names of files."""
    with contextlib.suppress(OSError, StoreError):
        data = Disk(durable=False).read(folder / "index.json") or b""
        return topics(data.decode("utf-8", "replace"))
    return {}


def _linked(text: str, index: _Place) -> Iterator[_Place]:
    """Yield the files that an index links to, if they exist or are outside its folder."""
    folder = index.path.parent
    for link in links(text):
        path = folder / unquote(link)
        with contextlib.suppress(OSError, ValueError):
            if not _is_inside(path, folder) or path.exists():
                yield _Place(path, folder, "topic", path.stem)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _read(place: _Place, real: Path, name: str, disk: Disk) -> File | Unread:
    if place.layout is None:
        return Unread(name, "is not a markdown file")
    if place.folder is not None and not _is_inside(place.path, place.folder):
        return Unread(name, "is a link that leads out of the folder; name the file itself")
    data = disk.read(real)
    if data is None:
        return Unread(name, "does not exist")
    # Bytes that are not UTF-8 become surrogates, which a reader recognises.
    encoding, errors = ("utf-16", "strict") if data[:2] in _UTF16 else ("utf-8", "surrogateescape")
    try:
        text = data.decode(encoding, errors)
    except UnicodeDecodeError:
        return Unread(name, "is not text")
    if encoding == "utf-8" and "\0" in text:
        return Unread(name, "is not text")
    return File(name, text, place.layout, place.topic, place.part)


# ---- the ledger of earlier runs ----

# Its file, in the folder of the scope.
MIGRATED: Final = "migrated.jsonl"
# The operation of the steps of a migration in the journal.
OP: Final = "migrate"


class Migrated:
    """The ledger of one scope."""

    def __init__(self, root: Path, disk: Disk, lock_timeout: float) -> None:
        """Read the ledger of the scope in ``root``, without creating anything.

        Raises:
            StoreError: If it is not a file.
            OSError: If it cannot be read.
        """
        self.path = root / MIGRATED
        self._disk = disk
        self._lock = ScopeLock(root / "memory" / ".lock", lock_timeout)
        lines = (disk.read(self.path) or b"").split(b"\n")
        self._known = {found for found in map(_digest_of, lines) if found}

    def knows(self, engram: Engram) -> bool:
        """Whether a memory came before."""
        return fingerprint(engram) in self._known

    def add(self, came: Iterable[tuple[str, Engram]]) -> None:
        """Add memories, each with the name of its file.

        Raises:
            StoreError: If it cannot be written.
            OSError: The same.
        """
        now = moment()
        digests = {fingerprint(engram): path for path, engram in came if not self.knows(engram)}
        if not digests:
            return
        lines = [{"ts": now, "path": path, "digest": each} for each, path in digests.items()]
        self._disk.make_folder(self._lock.path.parent)
        with self._lock.hold():
            data = "".join(json.dumps(line) + "\n" for line in lines)
            self._disk.append(self.path, data.encode())
        self._known |= digests.keys()


def _digest_of(line: bytes) -> str:
    try:
        digest = json.loads(line)["digest"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return digest if isinstance(digest, str) else ""


# ---- through the gate ----

# The most memories of one run, which takes some seconds. The next one brings the rest.
MOST: Final = 5_000


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The survey of a file.

    Attributes:
        path: Its name for a person.
        layout: Its layout, or ``None`` if it could not be read.
        new: The new memories.
        known: The number of memories that came before.
        waiting: The number of memories left for the next run.
        passed: The skipped parts.
        problem: Why it could not be read, or ``""``.
    """

    path: str
    layout: Layout | None = None
    new: tuple[Candidate, ...] = ()
    known: int = 0
    waiting: int = 0
    passed: tuple[Omission, ...] = ()
    problem: str = ""


class Came(NamedTuple):
    """The result for a memory.

    Attributes:
        path: Its file.
        brought: The memory.
        receipt: What happened to it.
    """

    path: str
    brought: Candidate
    receipt: Receipt


class Migration:
    """A migration into one scope."""

    def __init__(
        self, scopes: Scopes, scope: Scope, *, again: bool = False, disk: Disk | None = None
    ) -> None:
        """Bring memories into one of ``scopes``.

        Args:
            scopes: The scopes with their gate.
            scope: The scope of the memories.
            again: Whether to bring memories again that came before and are gone.
            disk: The system calls; by default as the settings say.

        Raises:
            StoreError: If the scope has no files, or the ledger cannot be read.
        """
        store = next((each for each in scopes.stores if each.scope == scope), None)
        if store is None:
            raise StoreError(f"{scope}: has no files, which a migration needs")
        self._scopes = scopes
        self._scope: Scope = scope
        self._again = again
        settings = scopes.settings.of(scope)
        is_durable = settings.durability == "full"
        self._disk = disk or Disk(durable=is_durable, limit=settings.max_file_bytes)
        try:
            self._ledger = Migrated(store.root, self._disk, settings.lock_timeout)
        except OSError as error:
            path = error.filename or store.root
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error

    def survey(self, paths: Iterable[Path], base: Path) -> list[Surveyed]:
        """Return what is at ``paths``; nothing is written.

        Args:
            paths: Files, and folders to search.
            base: The folder to which names are relative.
        """
        files: dict[str, str] = {}
        is_project = self._scope == "project"
        places = files_at(paths, base, self._disk, folders=is_project)
        surveyed = [self._surveyed(found, files) for found in places]
        # Small files come first when there are too many new memories.
        room = MOST
        for at in sorted(range(len(surveyed)), key=lambda at: len(surveyed[at].new)):
            new = surveyed[at].new
            surveyed[at] = replace(surveyed[at], new=new[:room], waiting=len(new[room:]))
            room -= len(new[:room])
        return surveyed

    def bring(self, surveyed: Sequence[Surveyed], *, dry_run: bool = False) -> list[Came]:
        """Propose the new memories, and return the result for each.

        Args:
            surveyed: The result of :meth:`survey`.
            dry_run: Whether the scopes write nothing; then the ledger is not written either.

        Raises:
            StoreError: If the ledger cannot be written; the next run proposes them again.
        """
        new = [(each.path, brought) for each in surveyed for brought in each.new]
        with step_group(Act(OP, "user", f"migration {new_id()}")):
            # One batch, so that memories of one file do not contradict each other.
            receipts = self._scopes.propose(brought.engram for _, brought in new)
        came = [Came(*each, receipt) for each, receipt in zip(new, receipts, strict=True)]
        if dry_run:
            return came
        written = [each for each in came if each.receipt.action != "failed"]
        try:
            self._ledger.add((each.path, each.brought.engram) for each in written)
        except OSError as error:
            path = error.filename or self._ledger.path
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
        return came

    def _surveyed(self, found: File | Unread, seen: dict[str, str]) -> Surveyed:
        if isinstance(found, Unread):
            return Surveyed(found.path, problem=found.reason)
        file = read(found, self._scope, kind_of)
        new, passed, known = [], list(file.passed), 0
        for brought in file.memories:
            elsewhere = seen.setdefault(identity(brought.engram), found.path)
            if elsewhere != found.path:
                passed.append(Omission(brought.line, f"is also in {elsewhere}"))
            elif not self._again and self._ledger.knows(brought.engram):
                known += 1
            else:
                new.append(brought)
        return Surveyed(found.path, found.layout, tuple(new), known, passed=tuple(sorted(passed)))
