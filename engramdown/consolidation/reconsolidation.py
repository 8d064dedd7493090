"""Memories from older layouts: what other assistants and people keep in markdown files.

Promises: pure, without a model; total: any text of any file gives memories and what was passed
over, each with its line and the reason, and never an error; what a file says twice is told once.

Whose word a file is depends on its layout: what a person writes for an assistant is told by the
user; what an assistant wrote for itself is inferred.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename
from typing import Final, Literal, NamedTuple, get_args

from engramdown.consolidation.layouts.pieces import date_in
from engramdown.consolidation.layouts.titles import kind_below, said_below
from engramdown.consolidation.layouts.walk import Passed, Statement, walk
from engramdown.engram import (
    CONFIDENCES,
    SOURCES,
    Basis,
    Confidence,
    Engram,
    Kind,
    Scope,
    Source,
    fold,
    slug,
)
from engramdown.errors import InvalidEngramError

__all__ = [
    "LAYOUTS",
    "Brought",
    "File",
    "Found",
    "Layout",
    "identity",
    "layout_of",
    "links",
    "read",
    "topics",
]

Layout = Literal[
    "notes", "cursor", "index", "topic", "daily", "anton-memory", "anton-context", "anton-learnings"
]
LAYOUTS: Final[tuple[Layout, ...]] = get_args(Layout)

_KINDS: Final[dict[str, Kind]] = {"profile.md": "profile", "lessons.md": "lesson"}
_RULING: Final = frozenset({"notes", "cursor", "index", "topic"})
_BY_PERSON: Final = frozenset({"notes", "cursor"})
_DAILY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[^/]*\.md")
_LINK: Final = re.compile(r"\[[^\]\n]{0,200}\]\(<?([^)>\s]{1,500}?\.md)(?:#[^)\s]{0,200})?>?\)")
_BARE_LINK: Final = re.compile(rf"(?:\*\*|__)?{_LINK.pattern}")
_ABOUT_ITSELF: Final = re.compile(r"This file (?:provides|contains|gives|is) ", re.IGNORECASE)
_SOURCES: Final[dict[str, Source]] = {each: each for each in SOURCES}
_CONFIDENCES: Final[dict[str, Confidence]] = {each: each for each in CONFIDENCES}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST: Final = 2_000
_SHORTEST: Final = 3
_TOPIC_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class File:
    """A file that may hold memories.

    Attributes:
        path: What a person calls it, with ``/``.
        text: What it says.
        layout: What it is.
        topic: What its memories are about, where something else than the file says so.
        folder: The folder of the project that it is about, or ``""`` if it is about all of it.
    """

    path: str
    text: str
    layout: Layout
    topic: str = ""
    folder: str = ""


class Brought(NamedTuple):
    """A memory from a file.

    Attributes:
        engram: The memory.
        line: Where it begins in the file, from 1.
    """

    engram: Engram
    line: int


class Found(NamedTuple):
    """What a file holds.

    Attributes:
        memories: In file order.
        passed: What was not taken, in file order.
    """

    memories: tuple[Brought, ...]
    passed: tuple[Passed, ...]


class _Word(NamedTuple):
    """Whose word a memory is."""

    source: Source
    confidence: Confidence
    basis: Basis


_TOLD: Final = _Word("user", "high", "told")
_INFERRED: Final = _Word("llm", "medium", "inferred")


def layout_of(path: str) -> Layout | None:
    """Return what a file is by its path, or ``None`` if it is none that is known.

    >>> layout_of("CLAUDE.md"), layout_of(".anton/memory/rules.md"), layout_of("src/main.py")
    ('notes', 'anton-memory', None)
    """
    name = basename(path)
    parts = path.split("/")[:-1]
    if ".anton" in parts:
        inside = parts[len(parts) - parts[::-1].index(".anton") :]
        return _anton(inside[0] if inside else "", name)
    if name == ".cursorrules" or (name.endswith(".mdc") and ".cursor" in parts):
        return "cursor" if name.endswith(".mdc") else "notes"
    if name.endswith(".mdc"):
        return "cursor"
    if _DAILY.fullmatch(name):
        return "daily"
    if name == "MEMORY.md":
        return "index"
    return "notes" if name.lower().endswith((".md", ".markdown")) else None


def read(file: File, scope: Scope, kind_of: Callable[[str], Kind]) -> Found:
    """Return what a file holds.

    Args:
        file: The file.
        scope: Where its memories are to be kept.
        kind_of: Finds the kind of a memory in its words.
    """
    page = walk(file.text)
    reader = _Reader(file, scope, kind_of, page.fields)
    memories: list[Brought] = []
    passed = list(page.passed)
    known: set[str] = set()
    for statement in page.statements:
        reason = reader.refusal(statement)
        brought = None if reason else reader.engram(statement)
        if brought is None or identity(brought) in known:
            passed.append(Passed(statement.line, reason or "stands in the file twice"))
        else:
            known.add(identity(brought))
            memories.append(Brought(brought, statement.line))
    return Found(tuple(memories), tuple(sorted(passed)))


def identity(engram: Engram) -> str:
    """Return by what a memory is known: its words, and whether they are forbidden."""
    return f"{'never' if engram.kind == 'never' else ''} {fold(engram.text)}"


def links(text: str) -> list[str]:
    """Return the markdown files that a file links to, as they are written there, each once.

    >>> links("- [Builds](builds.md) and [CI](topics/ci.md#slow)")
    ['builds.md', 'topics/ci.md']
    """
    found = (each[1] for each in _LINK.finditer(text))
    return list(dict.fromkeys(each for each in found if "://" not in each))


def topics(text: str) -> Mapping[str, str]:
    """Return the topics of files by their names, as an ``index.json`` tells them.

    Whatever else the file is, it tells nothing.
    """
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(told, dict):
        told = next((each for each in told.values() if isinstance(each, list)), told)
    pairs = told.items() if isinstance(told, dict) else _pairs(told)
    named = ((basename(str(name)), _topic_in(value)) for name, value in pairs)
    return {name: topic for name, topic in named if name and topic}


def _pairs(told: object) -> Iterator[tuple[object, object]]:
    for each in told if isinstance(told, list) else ():
        if isinstance(each, dict):
            yield each.get("file") or each.get("path") or each.get("filename") or "", each


def _topic_in(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("topic") or value.get("title") or value.get("name")
    return value if isinstance(value, str) else ""


def _anton(folder: str, name: str) -> Layout | None:
    if folder == "memory":
        return "anton-memory" if name in ("rules.md", "lessons.md", "profile.md") else None
    if not name.endswith(".md") or folder not in ("context", "learnings"):
        return None
    return "anton-context" if folder == "context" else "anton-learnings"


class _Reader:
    """Makes memories of the statements of one file."""

    def __init__(
        self,
        file: File,
        scope: Scope,
        kind_of: Callable[[str], Kind],
        fields: Mapping[str, str],
    ) -> None:
        self.file = file
        self.name = basename(file.path)
        self.stem = self.name.rpartition(".")[0].lstrip(".")
        self.scope = scope
        self.kind_of = kind_of
        self.fields = fields

    def refusal(self, statement: Statement) -> str:
        """Return why a statement is no memory, or ``""``."""
        text = statement.text
        if not _is_text(statement.whole):
            return "holds bytes that are not UTF-8"
        if self.file.layout == "index" and _BARE_LINK.match(text):
            return "leads to another file"
        if self.file.layout == "notes" and _ABOUT_ITSELF.match(text):
            return "speaks of the file itself"
        if sum(map(str.isalnum, text)) < _SHORTEST:
            return "says too little"
        if len(statement.whole) > _LONGEST:
            return f"is longer than {_LONGEST:,} characters"
        return ""

    def engram(self, statement: Statement) -> Engram:
        """Return the memory that a statement is."""
        kind = self._kind(statement)
        word = self._word(statement, kind)
        return Engram(
            self._text(statement),
            kind,
            self.scope,
            word.confidence,
            self._topic(statement) if kind == "lesson" else "",
            word.source,
            basis=word.basis,
            origin=f"{self.file.path}:{statement.line}" if _is_text(self.file.path) else "",
            # It was not said in a conversation here, and the file may be a stranger's.
            via="tool",
            ts=self._day(statement),
        )

    def _text(self, statement: Statement) -> str:
        place = self._place()
        text = said_below(statement, in_words=bool(place))
        return f"When working {place}: {text}" if place else text

    def _kind(self, statement: Statement) -> Kind:
        own = _KINDS.get(self.name) if self.file.layout == "anton-memory" else None
        if own is not None:
            return own
        if self._place():
            return "when"
        titled = kind_below(statement)
        if titled is not None:
            return titled
        if self.file.layout == "anton-memory":
            return "always"
        # A diary tells what happened: "When I tried it, it failed" is no rule.
        return self._said(statement) if self.file.layout in _RULING else "lesson"

    def _said(self, statement: Statement) -> Kind:
        """Return the kind that the words of a statement say."""
        kind = self.kind_of(statement.text)
        if kind == "lesson":
            kind = self.kind_of(statement.whole)
        # A file of one project says nothing about the user that would hold in all of them.
        return "lesson" if kind == "profile" and self.scope == "project" else kind

    def _word(self, statement: Statement, kind: Kind) -> _Word:
        if self.file.layout in _BY_PERSON:
            return _TOLD
        if self.file.layout != "anton-memory":
            return _INFERRED
        meta = statement.meta
        if not meta:
            # Only a person leaves it out; facts about the user never have any.
            return _INFERRED if kind == "profile" else _TOLD
        source = _SOURCES.get(meta.get("source", ""), "llm")
        # Its tool writes "user" whoever said so.
        return _Word(source, _CONFIDENCES.get(meta.get("confidence", ""), "medium"), "inferred")

    def _topic(self, statement: Statement) -> str:
        said = [statement.meta.get("topic", ""), self.file.topic]
        said += [
            each.title
            for each in reversed(statement.headings)
            if each.level > 1 and not date_in(each.title)
        ]
        if self.file.layout not in ("notes", "index", "daily", "anton-memory"):
            said.append(self.stem)
        return next(filter(None, map(_as_topic, said)), "")

    def _day(self, statement: Statement) -> str:
        """Return the day that the file tells, the nearest first."""
        told = [statement.meta.get("ts", "")]
        told += [each.title for each in reversed(statement.headings)]
        if self.file.layout == "daily":
            told.append(self.name)
        return next(filter(None, map(date_in, told)), "")

    def _place(self) -> str:
        """Return which part of the project is meant, if it is a part: "in api/", "on *.py"."""
        globs = self._globs()
        if globs:
            return f"on {globs}"
        folder = self.file.folder if self.scope == "project" else ""
        return f"in {folder}/" if folder and _is_text(folder) else ""

    def _globs(self) -> str:
        """Return the files that a rule of Cursor is about, if it is about some only."""
        if self.file.layout != "cursor" or self.fields.get("alwaysApply", "").lower() == "true":
            return ""
        globs = self.fields.get("globs", "")
        return globs if _is_text(globs) and len(globs) <= _LONGEST else ""


@lru_cache(maxsize=256)
def _as_topic(words: str) -> str:
    """Return words as a topic, or ``""`` if they cannot be one."""
    plain = "".join(char if char.isalnum() else " " for char in words[:_TOPIC_LENGTH])
    try:
        return slug(" ".join(plain.split()))
    except InvalidEngramError:
        return ""


def _is_text(text: str) -> bool:
    """Whether it can be written: no half of a surrogate pair, no byte that is no character."""
    return not _SURROGATE.search(text)
