"""The table of the kinds of memory and of the files that hold them.

A new kind is a row of :data:`KIND_TABLE` (and its name in :data:`engramdown.engram.Kind`), a new
memory file a row of :data:`FILES`, a new section of what a model is shown a row of
:data:`SECTIONS`. File names are relative to the memory folder of a scope.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.engram import RULE_KINDS, Kind, Scope, slug
from engramdown.errors import InvalidEngramError

RULES: Final = "rules.md"
LESSONS: Final = "lessons.md"
PROFILE: Final = "profile.md"
PENDING: Final = "pending.md"
ARCHIVE: Final = "archive.md"
SOUL: Final = "soul.md"

_TOPICS: Final = "topics/"
_STARTERS: Final = Path(__file__).parent / "starters"
_EVERYWHERE: Final[tuple[Scope, ...]] = ("global", "project")


class MemoryKind(NamedTuple):
    """The properties of one kind of memory.

    Attributes:
        name: The kind.
        file: The file that holds it.
        help: A sentence about it, for options and tools.
        label: A few words for it: ``a rule: always``.
        scopes: The scopes that hold it.
        is_whole: Whether a model always sees all of its memories, whatever the message is.
        order: Its place among the kinds of its file when a model sees them; a memory under a
            heading of a person's own has order 2.
    """

    name: Kind
    file: str
    help: str
    label: str
    scopes: tuple[Scope, ...] = _EVERYWHERE
    is_whole: bool = False
    order: int = 0

    @property
    def heading(self) -> str:
        """Its heading in its file, or ``""``."""
        return self.name.capitalize() if self.name in RULE_KINDS else ""


_KINDS: Final = (
    MemoryKind("always", RULES, "A rule: do this always.", "a rule: always", is_whole=True),
    MemoryKind("never", RULES, "A rule: never do this.", "a rule: never", is_whole=True, order=1),
    MemoryKind("when", RULES, "A rule for a certain case.", "a rule: when", order=3),
    MemoryKind("lesson", LESSONS, "Something that was learned.", "a lesson"),
    MemoryKind("profile", PROFILE, "A fact about you.", "a fact about you", scopes=("global",)),
)
# Every kind by its name, in the order in which they are listed.
KIND_TABLE: Final[dict[Kind, MemoryKind]] = {each.name: each for each in _KINDS}


class MemoryFile(NamedTuple):
    """One of the files below ``memory/`` that have a fixed name.

    Attributes:
        name: Its name.
        scopes: The scopes that begin with it, with the text in the folder ``starters``.
        holds_memory: Whether its entries are memories; otherwise they are proposals, or retired.
        aliases: Other names under which it is read, in lower case.
        beside: Its name in ``.agents``, beside the scope, for other tools, or ``""``.
    """

    name: str
    scopes: tuple[Scope, ...] = ()
    holds_memory: bool = True
    aliases: tuple[str, ...] = ()
    beside: str = ""


# The archive first: a hand edit of another file may have to write into it.
_FILES: Final = (
    MemoryFile(ARCHIVE, holds_memory=False),
    MemoryFile(RULES, _EVERYWHERE),
    MemoryFile(LESSONS, _EVERYWHERE),
    MemoryFile(PROFILE, ("global",), aliases=("user.md",), beside="USER.md"),
    MemoryFile(PENDING, holds_memory=False),
)
# The files of entries by name, in the order in which they are read.
FILES: Final[dict[str, MemoryFile]] = {each.name: each for each in _FILES}

# The page that says who the assistant is: a person's own prose, never written by us.
SOUL_FILE: Final = MemoryFile(SOUL, holds_memory=False, beside="SOUL.md")

# The files whose entries are not memories but proposals, or retired.
ASIDE: Final = frozenset(each.name for each in _FILES if not each.holds_memory)


class Section(NamedTuple):
    """A section of the memory that a model sees.

    Attributes:
        name: Its name in the settings.
        file: The file that it shows.
        scope: The scope of that file.
        heading: The heading above it.
        budget: What it may cost in tokens, unless the settings say otherwise.
    """

    name: str
    file: str
    scope: Scope
    heading: str
    budget: int


_HEADING: Final = "## Your Memory — "
# The sections that show memory files, in their order.
SECTIONS: Final = (
    Section("identity", PROFILE, "global", f"{_HEADING}Identity", 300),
    Section("global_rules", RULES, "global", f"{_HEADING}Global Rules", 1500),
    Section("project_rules", RULES, "project", f"{_HEADING}Project Rules", 1500),
    Section("global_lessons", LESSONS, "global", f"{_HEADING}Global Lessons", 1000),
    Section("project_lessons", LESSONS, "project", f"{_HEADING}Project Lessons", 1000),
)


def file_of(kind: Kind) -> str:
    """Return the file that holds memories of a kind; a lesson may also be filed under a topic."""
    return KIND_TABLE[kind].file


def kind_in(file: str, section: str = "", said: str = "") -> Kind:
    """Return the kind of an entry of a file.

    Args:
        file: The file.
        section: The rule kind of its heading, or ``""``.
        said: The kind in its metadata, which counts for proposals and retired memories.

    >>> kind_in("rules.md", "never"), kind_in("topics/ci.md"), kind_in("archive.md", said="profile")
    ('never', 'lesson', 'profile')
    """
    if file in ASIDE:
        return next((kind for kind in KIND_TABLE if kind == said), "lesson")
    if file == RULES:
        return next((kind for kind in RULE_KINDS if kind == section), "always")
    return "profile" if file == PROFILE else "lesson"


def kind_in_scope(kind: Kind, scope: Scope) -> Kind:
    """Return the kind that a memory has in a scope: a lesson, if the scope does not hold the kind.

    >>> kind_in_scope("profile", "project"), kind_in_scope("profile", "global")
    ('lesson', 'profile')
    """
    return kind if scope in KIND_TABLE[kind].scopes else "lesson"


def scope_for(kind: Kind, scope: Scope) -> Scope:
    """Return the scope that holds a kind: ``scope``, if it can.

    >>> scope_for("profile", "project"), scope_for("never", "project")
    ('global', 'project')
    """
    scopes = KIND_TABLE[kind].scopes
    return scope if scope in scopes else scopes[0]


def topic_file(topic: str) -> str:
    """Return the file of a topic: ``topics/<slug>.md``.

    Raises:
        InvalidEngramError: If the topic cannot be the name of a file.
    """
    return f"{_TOPICS}{slug(topic)}.md"


def topic_of(file: str) -> str:
    """Return the slug of the topic that a file is about, or ``""``."""
    return file[len(_TOPICS) : -len(".md")] if file.startswith(_TOPICS) else ""


def is_of_lessons(file: str) -> bool:
    """Whether a file holds lessons: all of them, or those of a topic."""
    return file == LESSONS or file.startswith(_TOPICS)


def is_name(file: str) -> bool:
    """Whether ``file`` is the name of a memory file: nothing else is ever opened or written."""
    if file in FILES:
        return True
    try:
        return file == topic_file(file.removeprefix(_TOPICS).removesuffix(".md"))
    except InvalidEngramError:
        return False


def in_reading_order(names: Iterable[str]) -> list[str]:
    """Return the names of memory files in the order in which they are best read."""
    ranks = {PROFILE: 0, SOUL: 1, RULES: 2, LESSONS: 3, PENDING: 5, ARCHIVE: 6}
    return sorted(names, key=lambda name: (ranks.get(name, 4), name))


def title_of(file: str) -> str:
    """Return the title that a new file gets."""
    return topic_of(file) or file.removesuffix(".md").capitalize()


def starter_files(scope: Scope) -> dict[str, str]:
    """Return the text of each file that a new scope begins with, by its name."""
    names = [each.name for each in _FILES if scope in each.scopes]
    return {name: starter(name) for name in names}


@cache
def starter(name: str) -> str:
    """Return the text of a file in the folder ``starters``."""
    return (_STARTERS / name).read_text(encoding="utf-8")
