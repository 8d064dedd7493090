"""What a model says about memory files and is shown of them: commands, paths, pages, their texts.

No I/O. Anything may come in: what is wrong is told in one sentence that the model can act on, in
the words that models know from this tool. A path is a name in a closed list, never a piece of a
file name: what climbs, is encoded, hidden, absolute elsewhere or spelled otherwise is refused, with
the path to use instead. A command changes the characters that it is about and no others; only
a line feed ends a line.

A page holds memories in file order, with the headings that they stand below and those of rules, and
no metadata, private note or other prose. A page that was rendered, read back, has these memories
and no others; what is said twice is matched in order, so that an unchanged text says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple

from engramdown.engram import RULE_KINDS, Scope, slug
from engramdown.errors import InvalidEngramError, MemoryCommandError
from engramdown.hippocampus import meant
from engramdown.kinds import ARCHIVE, LESSONS, PENDING, PROFILE, RULES, SOUL, is_name
from engramdown.language import heading, inert, similarity_of
from engramdown.markdown import Document, Placed, parse, written
from engramdown.transcripts import is_session_id

_NEEDED: Final[Mapping[str, Mapping[str, type]]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
COMMANDS: Final = tuple(_NEEDED)
"""The names of the commands."""
LONGEST: Final = 100_000
"""Characters of a text at most."""

_FIELDS: Final[Mapping[str, str]] = {
    "path": "path",
    "old_path": "path",
    "new_path": "new_path",
    "old_str": "old",
    "new_str": "new",
    "file_text": "new",
    "insert_text": "new",
    "insert_line": "line",
}
_NAMES: Final = {str: "a string", int: "a whole number"}
_RANGE: Final = 2
_MOST_LINES: Final = 1_000_000_000


class Command(NamedTuple):
    """A command; what it does not need is empty.

    Attributes:
        command: Its name.
        path: What it is about; of ``rename`` the old path.
        new_path: Of ``rename``.
        old: The text to replace.
        new: The text to put there: of ``create`` the whole, of ``insert`` what is inserted.
        line: Behind which line to insert, from 0.
        view_range: The first and the last line to see, the last -1 for all; or ``None``.
    """

    command: str
    path: str = ""
    new_path: str = ""
    old: str = ""
    new: str = ""
    line: int = 0
    view_range: tuple[int, int] | None = None


def command_from(arguments: object) -> Command:
    """Read what a model passed: an object, or a string with one in JSON.

    Raises:
        MemoryCommandError: If it is no command.

    >>> command_from({"command": "view", "path": "/memories"}).path
    '/memories'
    """
    given = _object(arguments)
    name = given.get("command")
    if not isinstance(name, str) or name not in _NEEDED:
        raise MemoryCommandError(
            f"Unknown command: {_shown(name)}. There are {', '.join(COMMANDS)}."
        )
    values: dict[str, Any] = {}
    for key, wanted in _NEEDED[name].items():
        # Some models leave the text out that puts nothing in the place of another one.
        value = given.get(key, "" if key == "new_str" else None)
        if not isinstance(value, wanted) or isinstance(value, bool):
            told = "is missing" if value is None else f"is {_shown(value)}"
            raise MemoryCommandError(f"`{key}` of {name} {told}; it must be {_NAMES[wanted]}.")
        values[_FIELDS[key]] = _checked(key, value)
    if name == "view":
        values["view_range"] = _range(given.get("view_range"))
    return Command(name, **values)


def _object(arguments: object) -> Mapping[str, object]:
    found = arguments
    if isinstance(arguments, str):
        try:
            found = json.loads(arguments)
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, Mapping):
        raise MemoryCommandError(
            f"The arguments are {_shown(arguments)}; give an object with `command` and `path`."
        )
    return found


def _checked(key: str, value: Any) -> Any:  # noqa: ANN401 - a string or a number
    """Return a value that can be kept.

    Raises:
        MemoryCommandError: If it is too long, no text that a file can hold, or no line of one.
    """
    if isinstance(value, int) and abs(value) > _MOST_LINES:
        # Python refuses to write a number of thousands of digits.
        raise MemoryCommandError(f"Invalid `{key}` parameter: no file has so many lines.")
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise MemoryCommandError(
                f"`{key}` has {len(value):,} characters, {LONGEST:,} are allowed. Write less."
            )
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise MemoryCommandError(
                f"`{key}` holds half of a surrogate pair at character {error.start}; give whole "
                f"characters."
            ) from None
    return value


def _range(value: object) -> tuple[int, int] | None:
    if value is None or value == []:
        return None
    if (
        not isinstance(value, (list, tuple))
        or len(value) != _RANGE
        or any(not isinstance(each, int) or isinstance(each, bool) for each in value)
        or max(map(abs, value)) > _MOST_LINES
    ):
        raise MemoryCommandError(
            f"Invalid `view_range`: {_shown(value)}. It must be two line numbers, such as [1, 20]; "
            f"-1 as the second one is the last line."
        )
    return value[0], value[1]


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, default=repr)
    except (TypeError, ValueError, RecursionError):
        # It runs in a circle, is too deep, or a number of too many digits.
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - enough to know it by


# ---- paths ----

ROOT: Final = "/memories"
"""The folder that a model sees."""
TOPICS: Final = "topics"
"""The folder of lessons by topic."""
NOTES: Final = "notes"
"""The folder of free notes."""

Sort = Literal["root", "folder", "memory", "page", "queue", "note"]

_SORTS: Final[dict[str, Sort]] = {
    RULES: "memory",
    LESSONS: "memory",
    PROFILE: "memory",
    SOUL: "page",
    PENDING: "queue",
}
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SUFFIX: Final = re.compile(r"(?<=[^.])\.[A-Za-z]{1,5}\Z")
_LONGEST: Final = 300
_SHOWN: Final = 80


class Place(NamedTuple):
    """What a path names.

    Attributes:
        path: The path in the one way to write it.
        sort: ``root``; ``folder``, of topics or notes; ``memory``, a file of memories; ``page``,
            one that only a person writes; ``queue``, what waits for a person; ``note``, free text.
        scope: The scope it belongs to; for the root of both the project's.
        name: The name of the memory file, of the folder, or of the note; ``""`` for a root.
    """

    path: str
    sort: Sort
    scope: Scope
    name: str = ""


def place_of(path: str, scopes: tuple[Scope, ...]) -> Place:
    """Return what ``path`` names.

    Args:
        path: What the model passed.
        scopes: The scopes that can be reached; where it is one, its folder is the root, else each
            has a folder of its name.

    Raises:
        MemoryCommandError: If it names nothing, with a sentence for the model.

    >>> place_of("/memories/topics/ci.md", ("project",)).name
    'topics/ci.md'
    """
    parts = _parts(path)
    if not parts:
        return Place(ROOT, "root", scopes[-1])
    scope, base = scopes[0], ROOT
    if len(scopes) > 1:
        first = parts.pop(0)
        found = next((each for each in scopes if each == first), None)
        if found is None:
            raise MemoryCommandError(
                f"The path {_printable(path)} does not exist. There are "
                f"{' and '.join(f'{ROOT}/{each}' for each in scopes)}: put one of them first."
            )
        scope, base = found, f"{ROOT}/{found}"
        if not parts:
            return Place(base, "root", scope)
    return _named(parts, scope, base)


def _parts(path: str) -> list[str]:
    """Return the names behind the root.

    Raises:
        MemoryCommandError: If there is anything in the path that no name has.
    """
    if not path.isprintable() or len(path) > _LONGEST:
        raise MemoryCommandError(
            f"The path {_printable(path)} holds control characters or is longer than {_LONGEST} "
            f"characters. Use plain names."
        )
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise MemoryCommandError(f"Path must start with {ROOT}, got: {_printable(path)}")
    parts = path[len(ROOT) :].removeprefix("/").removesuffix("/").split("/")
    if parts == [""]:
        return []
    climbs = any(part in ("", ".", "..") for part in parts)
    if climbs or "\\" in path or _ENCODED.search(path):
        raise MemoryCommandError(
            f"Path {_printable(path)} would escape {ROOT} directory. Write the path "
            f"plainly, without `..`, `\\`, `//` or `%` codes."
        )
    if any(part.startswith(".") for part in parts):
        raise MemoryCommandError(
            f"The path {_printable(path)} does not exist: no name begins with a dot."
        )
    return parts


def _named(parts: list[str], scope: Scope, base: str) -> Place:
    name = "/".join(parts)
    path = f"{base}/{name}"
    if name in (TOPICS, NOTES):
        return Place(path, "folder", scope, name)
    if name == ARCHIVE:
        raise MemoryCommandError(
            f"{path} holds what was forgotten; it is not shown and not changed."
        )
    if name == PROFILE and scope == "project":
        raise MemoryCommandError(
            f"{path} does not exist: facts about the user hold for all projects, and stand in the "
            f"global memory."
        )
    if name in _SORTS:
        return Place(path, _SORTS[name], scope, name)
    if parts[0] == TOPICS and is_name(name):
        return Place(path, "memory", scope, name)
    folder, _, note = name.removesuffix(".md").partition("/")
    if folder == NOTES and name.endswith(".md") and is_session_id(note):
        return Place(path, "note", scope, note)
    raise MemoryCommandError(f"The path {path} does not exist, and cannot. {_instead(parts, base)}")


def _instead(parts: list[str], base: str) -> str:
    """Say which path to use for what somebody tried to call ``parts``."""
    known = meant(parts[0].lower())
    if len(parts) == 1 and known in _SORTS:
        return f"It is called {base}/{known}."
    stem = _SUFFIX.sub("", parts[-1])
    try:
        name = slug(stem)
    except InvalidEngramError:
        name = "name"
    note = name if is_session_id(name) else "name"
    return hint(base, name, note)


def hint(base: str, name: str = "name", note: str = "name") -> str:
    """Return a sentence about what belongs where.

    Args:
        base: The folder of a scope.
        name: Of a topic.
        note: Of notes.
    """
    return (
        f"Rules go into {base}/{RULES} under `## Always`, `## Never` or `## When`, lessons into "
        f"{base}/{LESSONS} or {base}/{TOPICS}/{name}.md, free notes into {base}/{NOTES}/{note}.md."
    )


def _printable(path: str) -> str:
    """Return a path for a sentence: printable, and not endless."""
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in path)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


# ---- texts of files ----

MOST_SHOWN: Final = 16_000
"""Characters of a file that are shown at once."""

_WIDTH: Final = 6
_AROUND: Final = 2
_UNITS: Final = ("B", "K", "M", "G")
_KILO: Final = 1024
_QUOTED: Final = 200


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without an empty one behind its last line end.

    >>> lines_of("one\ntwo\n"), lines_of("")
    (['one', 'two'], [])
    """
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def replaced(path: str, text: str, old: str, new: str) -> str:
    """Return ``text`` with ``new`` in the place of ``old``.

    Raises:
        MemoryCommandError: If ``old`` does not stand there exactly once.
    """
    count = text.count(old) if old else 0
    quoted = old if len(old) <= _QUOTED else f"{old[:_QUOTED]}…"
    if count == 0:
        raise MemoryCommandError(
            f"No replacement was performed, old_str `{quoted}` did not appear verbatim in {path}."
        )
    if count > 1:
        places, at = [], text.find(old)
        while at >= 0:
            places.append(str(text.count("\n", 0, at) + 1))
            at = text.find(old, at + 1)
        raise MemoryCommandError(
            f"No replacement was performed. Multiple occurrences of old_str `{quoted}` in "
            f"lines: {', '.join(places)}. Please ensure it is unique"
        )
    return text.replace(old, new)


def inserted(text: str, line: int, new: str) -> str:
    r"""Return ``text`` with ``new`` behind a line, from 0.

    Raises:
        MemoryCommandError: If there is no such line.

    >>> inserted("one\ntwo\n", 1, "half")
    'one\nhalf\ntwo\n'
    """
    lines = lines_of(text)
    if not 0 <= line <= len(lines):
        raise MemoryCommandError(
            f"Invalid `insert_line` parameter: {line}. "
            f"It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, new.removesuffix("\n"))
    return "\n".join(lines) + "\n"


def shown(path: str, text: str, view_range: tuple[int, int] | None = None) -> str:
    """Return what a model sees of a file: its lines with their numbers, all that fit or some.

    Raises:
        MemoryCommandError: If the range is none of the file.
    """
    lines = lines_of(text)
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else last
    # A last line behind the end is asked for by whoever does not know how long the file is.
    if view_range is not None and not 1 <= first <= min(last, max(len(lines), 1)):
        raise MemoryCommandError(
            f"Invalid `view_range`: [{view_range[0]}, {view_range[1]}]. {path} has "
            f"{len(lines)} lines; -1 as the second number is the last one."
        )
    rows = _numbered(lines[first - 1 : last], first)
    sizes = accumulate(len(row) + 1 for row in rows)
    some = rows[: max(sum(size <= MOST_SHOWN for size in sizes), 1)]
    if len(some) < len(rows):
        left = len(rows) - len(some)
        again = f"{left} more lines; view_range [{first + len(some)}, {first + len(rows) - 1}]"
        some.append(f"({again} shows them)")
    return "\n".join([f"Here's the content of {path} with line numbers:", *some])


def _numbered(lines: Sequence[str], first: int) -> list[str]:
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first)]


def excerpt(before: str, after: str) -> list[str]:
    """Return the lines around what differs in ``after``, numbered."""
    old, new = lines_of(before), lines_of(after)
    least = min(len(old), len(new))
    start = next((at for at in range(least) if old[at] != new[at]), least)
    same = next((at for at in range(least - start) if old[-1 - at] != new[-1 - at]), least - start)
    first = max(start - _AROUND, 0)
    return _numbered(new[first : len(new) - same + _AROUND], first + 1)


def listing(path: str, files: Sequence[tuple[str, int]]) -> str:
    """Return what a model sees of a folder.

    Args:
        path: Its path.
        files: Each file or folder below it and its size in bytes; a folder ends with a slash.
    """
    total = sum(size for name, size in files if not name.endswith("/"))
    rows = [f"{_size(size)}\t{path}/{name}" for name, size in files]
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    return "\n".join([head, f"{_size(total)}\t{path}", *rows])


def _size(count: int) -> str:
    """Return a number of bytes as ``ls -h`` would.

    >>> _size(0), _size(1536), _size(1024)
    ('0B', '1.5K', '1K')
    """
    power = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / _KILO**power
    return f"{int(size)}{_UNITS[power]}" if size == int(size) else f"{size:.1f}{_UNITS[power]}"


# ---- pages ----

_MAIN: Final = 2
_LIKE: Final = 0.5
# Looking for the likest pair of more than these would take long; they are taken in order.
_MOST_PAIRS: Final = 2_500


class Said(NamedTuple):
    """A memory as a text says it.

    Attributes:
        text: Its words.
        section: The rule kind of the section it stands in, or the title of another one, or ``""``.
    """

    text: str
    section: str


class Edits(NamedTuple):
    """What a changed text says about the memories of a file.

    Attributes:
        added: What is new, in order.
        reworded: The numbers of memories, from 0, with what stands in their place.
        removed: The numbers of memories that are gone.
        headings: The titles of sections that are new, and of no kind.
        others: How lines begin that are no memory: of code, tables, quotations, comments.
    """

    added: tuple[Said, ...] = ()
    reworded: tuple[tuple[int, Said], ...] = ()
    removed: tuple[int, ...] = ()
    headings: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def rendered(document: Document, entries: Iterable[Placed]) -> str:
    r"""Return a file as a model sees it: ``entries`` as list items, below their headings.

    >>> file = parse("# Rules\n## Always\n<!-- mine -->\n- Use uv <!-- id:k3v9q2ht -->\n")
    >>> rendered(file, file.placed())
    '## Always\n\n- Use uv\n'
    """
    chosen = {id(placed.block) for placed in entries}
    sections = [_Section("", shown=False, items=[])]
    main = sections[0]
    for block in document.blocks:
        if block.shape == "heading":
            line = f"{'#' * block.level} {heading(block.text)}\n"
            sections.append(_Section(line, shown=_is_kind(block.text), items=[]))
            main = sections[-1] if block.level <= _MAIN else main
        elif id(block) in chosen:
            sections[-1].items.append(_item(block.text))
            # Below which heading of a rule it stands must be plain.
            sections[-1].shown = main.shown = True
    return "\n".join(each.render() for each in sections if each.shown)


@dataclass(slots=True)
class _Section:
    """A heading and the items right below it; ``""`` is no heading."""

    heading: str
    shown: bool
    items: list[str]

    def render(self) -> str:
        gap = "\n" if self.heading and self.items else ""
        return f"{self.heading}{gap}{''.join(self.items)}"


@lru_cache(maxsize=10_000)  # A file is rendered again and again, and few of its lines change.
def _item(text: str) -> str:
    return written(inert(text).strip() or " ", None)


def _is_kind(title: str) -> bool:
    return title.strip().rstrip(":").rstrip().casefold() in RULE_KINDS


def edits(file: str, before: str, after: str) -> Edits:
    """Return what ``after`` says about the memories of ``before``.

    Args:
        file: The name of the file; in ``rules.md`` only what stands in a section is a rule.
        before: The page, as it was rendered.
        after: What a model made of it.
    """
    old, new = parse(before), parse(after)
    were, are = _said(file, old), _said(file, new)
    kept_old, kept_new = _kept(were, are)
    gone = [at for at in range(len(were)) if at not in kept_old]
    come = [at for at in range(len(are)) if at not in kept_new]
    pairs = dict(_pairs(were, are, gone, come))
    replaced = set(pairs.values())
    return Edits(
        added=tuple(are[at] for at in come if at not in replaced),
        reworded=tuple((at, are[pairs[at]]) for at in gone if at in pairs),
        removed=tuple(at for at in gone if at not in pairs),
        headings=tuple(_new_headings(old, new)),
        others=tuple(_others(file, new)),
    )


def _said(file: str, document: Document) -> list[Said]:
    """Return what a document says; a paragraph is a memory as well as a list item."""
    return [
        Said(placed.block.text, placed.kind or placed.heading)
        for placed in document.placed()
        if _counts(file, placed)
    ]


def _counts(file: str, placed: Placed) -> bool:
    return file != RULES or placed.block.shape == "item" or bool(placed.kind or placed.heading)


def _kept(were: Sequence[Said], are: Sequence[Said]) -> tuple[set[int], set[int]]:
    """Return which memories stand as they stood, by number before and after."""
    waiting: dict[Said, list[int]] = {}
    for at in reversed(range(len(were))):
        waiting.setdefault(were[at], []).append(at)
    old: set[int] = set()
    new: set[int] = set()
    for at, said in enumerate(are):
        if waiting.get(said):
            old.add(waiting[said].pop())
            new.add(at)
    return old, new


def _pairs(
    were: Sequence[Said], are: Sequence[Said], gone: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield which of what has come stands for which of what is gone, in the same section."""
    for section in dict.fromkeys(were[at].section for at in gone):
        olds = [at for at in gone if were[at].section == section]
        news = [at for at in come if are[at].section == section]
        if len(olds) == len(news) or len(olds) * len(news) > _MOST_PAIRS:
            yield from zip(olds, news, strict=False)
        else:
            yield from _likest(were, are, olds, news)


def _likest(
    were: Sequence[Said], are: Sequence[Said], olds: Sequence[int], news: Sequence[int]
) -> Iterator[tuple[int, int]]:
    likeness = (
        (similarity_of(were[old].text, are[new].text), old, new) for old in olds for new in news
    )
    taken: set[int] = set()
    given: set[int] = set()
    for score, old, new in sorted(likeness, key=lambda each: (-each[0], each[1], each[2])):
        if score >= _LIKE and old not in taken and new not in given:
            taken.add(old)
            given.add(new)
            yield old, new


def _new_headings(old: Document, new: Document) -> Iterator[str]:
    """Yield the titles of new sections that are of no kind; the title of a page is no section."""
    known = {block.text for block in old.blocks if block.shape == "heading"}
    for block in new.blocks:
        is_new = block.shape == "heading" and block.level > 1 and block.text not in known
        if is_new and block.text.strip() and not _is_kind(block.text):
            yield heading(block.text)


def _others(file: str, new: Document) -> Iterator[str]:
    """Yield how that begins which is no memory; a page that was rendered has nothing like it."""
    found = {id(placed.block) for placed in new.placed() if _counts(file, placed)}
    for block in new.blocks:
        if block.shape != "heading" and id(block) not in found and block.raw.strip(" \t\r\n\ufeff"):
            yield block.raw.strip(" \t\r\n\ufeff").partition("\n")[0]
