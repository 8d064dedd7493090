"""Memory as the folder ``/memories``, which a model views and edits with six commands.

Whatever a model passes, it gets an answer that it can act on, in the words that models know from
this tool, and never an exception. A path is looked up in a closed list and never becomes part of a
file name: one that climbs, is encoded, hidden, outside the folder or misspelled is refused, with
the path to use instead. Where the settings say so, nothing is shown that git brought and nobody
approved.

A page holds memories in file order, with the headings above them and those of rules, and without
metadata, private notes or other prose. A rendered page that is read back has the same memories and
no others; equal lines are matched in order, so that an unchanged text means no change.

Every change goes through the gate, the journal and the write protocol, as one step. A model can
only ask about what a person wrote or confirmed; what somebody changed meanwhile stays; each memory
that did not become what the model wanted gets a sentence. Whatever is removed is first copied to
``archive.md``. In mode off nothing is written.

Notes are pages of text below ``working/`` that nothing else reads. Replaced text is kept, and a
model can only add to what a person wrote there, in every mode.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from engramdown.consolidation import Operation
from engramdown.context import flat, known
from engramdown.cortex import Answer
from engramdown.engram import RULE_KINDS, SCOPES, Basis, Engram, Kind, Scope, slug
from engramdown.errors import EngramdownError, InvalidEngramError, StoreError
from engramdown.errors import MemoryCommandError as Refused
from engramdown.forks import Lock
from engramdown.gate import REASONS, FileQueue, Pending, question, without_secrets
from engramdown.hippocampus import Act, Entry, Revision, entry_id, meant, raw_entries, step_group
from engramdown.integrations.external_session import ask_user, store_with_files
from engramdown.journal import normalized
from engramdown.kinds import (
    ARCHIVE,
    LESSONS,
    PENDING,
    PROFILE,
    RULES,
    SOUL,
    is_name,
    kind_in,
    topic_of,
)
from engramdown.language import (
    brief_json,
    bullet,
    heading,
    inert,
    json_object,
    paragraphs,
    similarity_of,
)
from engramdown.markdown import Document, Placed, parse, written
from engramdown.storage import Disk, one_call
from engramdown.transcripts import is_session_id

if TYPE_CHECKING:
    from engramdown import Cortex, Hippocampus, Session
    from engramdown.journal import WorkingNotes

# The definition of the tool; the provider adds the rest.
TOOL: Final[Mapping[str, str]] = MappingProxyType({"type": "memory_20250818", "name": "memory"})
# The most characters of a text.
LONGEST: Final = 100_000

# The required arguments of each command, and the field of Command that holds each.
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = {
    "view": {"path": "path"},
    "create": {"path": "path", "file_text": "new"},
    "str_replace": {"path": "path", "old_str": "old", "new_str": "new"},
    "insert": {"path": "path", "insert_line": "line", "insert_text": "new"},
    "delete": {"path": "path"},
    "rename": {"old_path": "path", "new_path": "new_path"},
}
COMMANDS: Final = tuple(_NEEDED)
# No file has so many lines, and Python refuses to print a number of thousands of digits.
_MOST_LINES: Final = 1_000_000_000


# ---- commands ----


class Command(NamedTuple):
    """A command; fields that it does not need are empty.

    Attributes:
        command: Its name.
        path: The path it applies to; the old one for ``rename``.
        new_path: The new path, for ``rename``.
        old: The text to replace.
        new: The new text: the whole file for ``create``, the added lines for ``insert``.
        line: The line after which to insert, from 0.
        view_range: The first and the last line to show, the last -1 for all; or ``None``.
    """

    command: str
    path: str = ""
    new_path: str = ""
    old: str = ""
    new: str = ""
    line: int = 0
    view_range: tuple[int, int] | None = None


def command_from(arguments: object) -> Command:
    """Read what a model passed: an object, or a string that holds one as JSON.

    Raises:
        MemoryCommandError: If it is not a command.

    >>> command_from({"command": "view", "path": "/memories"}).path
    '/memories'
    """
    data = json_object(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(data, Mapping):
        raise Refused(f"Give an object with `command` and `path`, not {brief_json(arguments)}.")
    name = data.get("command")
    if not isinstance(name, str) or name not in _NEEDED:
        raise Refused(f"Unknown command: {brief_json(name)}. Use one of {', '.join(COMMANDS)}.")
    values: dict[str, Any] = {}
    for key, attribute in _NEEDED[name].items():
        # Some models leave out an empty replacement.
        value = data.get(key, "" if key == "new_str" else None)
        is_right = _is_line(value) if attribute == "line" else isinstance(value, str)
        if not is_right:
            problem = "is missing" if value is None else f"is {brief_json(value)}"
            wanted = "the number of a line" if attribute == "line" else "a string"
            raise Refused(f"`{key}` of {name} {problem}; it must be {wanted}.")
        if isinstance(value, str):
            _check(key, value)
        values[attribute] = value
    lines = data.get("view_range") if name == "view" else None
    if lines not in (None, []):
        if not isinstance(lines, (list, tuple)) or list(map(_is_line, lines)) != [True, True]:
            how = "Give two numbers of lines, such as [1, 20]; -1 is the last line."
            raise Refused(f"Invalid `view_range`: {brief_json(lines)}. {how}")
        values["view_range"] = tuple(lines)
    return Command(name, **values)


def _is_line(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_LINES


def _check(key: str, value: str) -> None:
    """Refuse a text that is too long, or that a file cannot hold."""
    if len(value) > LONGEST:
        raise Refused(f"`{key}` has {len(value):,} characters; at most {LONGEST:,} are allowed.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        where = f"half of a surrogate pair at character {error.start}"
        raise Refused(f"`{key}` holds {where}; give whole characters.") from None


# ---- paths ----

# The folder that a model sees, and in it those of lessons by topic and of free notes.
ROOT: Final = "/memories"
TOPICS: Final = "topics"
NOTES: Final = "notes"

Sort = Literal["root", "folder", "memory", "page", "queue", "note"]

_FIXED: Final = (RULES, LESSONS, PROFILE)
_SORTS: Final[Mapping[str, Sort]] = {
    **dict.fromkeys(_FIXED, "memory"),
    SOUL: "page",
    PENDING: "queue",
}
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SUFFIX: Final = re.compile(r"(?<=[^.])\.[A-Za-z]{1,5}\Z")
_LONGEST_PATH: Final = 300
_MOST_OF_PATH: Final = 80


class Place(NamedTuple):
    """A file or folder that a path names.

    Attributes:
        path: The path in its one spelling.
        sort: ``root``; ``folder``, of topics or notes; ``memory``, a file of memories; ``page``,
            one that only a person writes; ``queue``, proposals that wait for a person; ``note``,
            free text.
        name: The name of the memory file, of the folder, or of the note; ``""`` for the root.
    """

    path: str
    sort: Sort
    name: str = ""


def place_of(path: str, scope: Scope) -> Place:
    """Return the file or folder that ``path`` names.

    Args:
        path: What the model passed.
        scope: The scope whose memory the folder shows.

    Raises:
        MemoryCommandError: If it names nothing, with a sentence for the model.

    >>> place_of("/memories/topics/ci.md", "project").name
    'topics/ci.md'
    """
    parts = _parts(path)
    if not parts:
        return Place(ROOT, "root")
    name = "/".join(parts)
    path = f"{ROOT}/{name}"
    if name in (TOPICS, NOTES):
        return Place(path, "folder", name)
    if name == ARCHIVE:
        raise Refused(f"{path} holds what was forgotten; it cannot be shown or changed.")
    if name == PROFILE and scope == "project":
        raise Refused(f"{path} does not exist: facts about the user are in the global memory.")
    if name in _SORTS:
        return Place(path, _SORTS[name], name)
    if parts[0] == TOPICS and is_name(name):
        return Place(path, "memory", name)
    folder, _, note = name.removesuffix(".md").partition("/")
    if folder == NOTES and name.endswith(".md") and is_session_id(note):
        return Place(path, "note", note)
    raise Refused(f"The path {path} does not exist, and cannot. {_instead(parts)}")


def _parts(path: str) -> list[str]:
    """Return the names after the root; refuse a path that holds anything else."""
    if not path.isprintable() or len(path) > _LONGEST_PATH:
        raise Refused(f"The path {_printable(path)} is too long or not printable; use plain names.")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise Refused(f"Path must start with {ROOT}, got: {_printable(path)}")
    parts = path[len(ROOT) :].removeprefix("/").removesuffix("/").split("/")
    if parts == [""]:
        return []
    if "\\" in path or _ENCODED.search(path) or not {"", ".", ".."}.isdisjoint(parts):
        codes = "write it without `..`, `\\`, `//` and `%` codes"
        raise Refused(f"Path {_printable(path)} would escape {ROOT} directory; {codes}.")
    if any(part.startswith(".") for part in parts):
        raise Refused(f"The path {_printable(path)} does not exist: no name begins with a dot.")
    return parts


def _instead(parts: Sequence[str]) -> str:
    """Say which path to use instead of ``parts``."""
    known = meant(parts[0].lower())
    if len(parts) == 1 and known in _SORTS:
        return f"It is called {ROOT}/{known}."
    try:
        name = slug(_SUFFIX.sub("", parts[-1]))
    except InvalidEngramError:
        name = "name"
    return _hint(name, name if is_session_id(name) else "name")


def _hint(topic: str = "name", note: str = "name") -> str:
    """Return a sentence that says what belongs where."""
    return (
        f"Rules go into {ROOT}/{RULES} under `## Always`, `## Never` or `## When`, lessons into "
        f"{ROOT}/{LESSONS} or {ROOT}/{TOPICS}/{topic}.md, free notes into {ROOT}/{NOTES}/{note}.md."
    )


def _printable(path: str) -> str:
    """Return a path for a message: printable, and shortened if it is long."""
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in path)
    return text if len(text) <= _MOST_OF_PATH else f"{text[:_MOST_OF_PATH]}…"


# ---- texts of files: a change touches no other characters, and only a line feed ends a line ----

# The most characters of a file that are shown at once.
MOST_SHOWN: Final = 16_000

_WIDTH: Final = 6
_AROUND: Final = 2
_UNITS: Final = "BKMG"
_QUOTED: Final = 200


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, without an empty one after its last line end.

    >>> lines_of("one\ntwo\n"), lines_of("")
    (['one', 'two'], [])
    """
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def replaced(path: str, text: str, old: str, new: str) -> str:
    """Return ``text`` with ``old`` replaced by ``new``.

    Raises:
        MemoryCommandError: If the text does not contain ``old`` exactly once.
    """
    count = text.count(old) if old else 0
    quoted = old if len(old) <= _QUOTED else f"{old[:_QUOTED]}…"
    if count == 0:
        raise Refused(
            f"No replacement was performed, old_str `{quoted}` did not appear verbatim in {path}."
        )
    if count > 1:
        starts = re.finditer(f"(?={re.escape(old)})", text)
        places = ", ".join(str(text.count("\n", 0, each.start()) + 1) for each in starts)
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{quoted}` in "
            f"lines: {places}. Please ensure it is unique"
        )
    return text.replace(old, new)


def inserted(text: str, line: int, new: str) -> str:
    r"""Return ``text`` with ``new`` inserted after a line, from 0.

    Raises:
        MemoryCommandError: If there is no such line.

    >>> inserted("one\ntwo\n", 1, "half")
    'one\nhalf\ntwo\n'
    """
    lines = lines_of(text)
    if not 0 <= line <= len(lines):
        raise Refused(
            f"Invalid `insert_line` parameter: {line}. "
            f"It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, new.removesuffix("\n"))
    return "\n".join(lines) + "\n"


def shown(path: str, text: str, view_range: tuple[int, int] | None = None) -> str:
    """Return the lines of a file with their numbers, as many as fit.

    Raises:
        MemoryCommandError: If the range is not within the file.
    """
    lines = lines_of(text)
    first, last = view_range or (1, -1)
    end = len(lines) if last == -1 else last
    # A model that does not know the length asks for a last line beyond the end.
    if view_range is not None and not 1 <= first <= min(end, max(len(lines), 1)):
        size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        raise Refused(f"Invalid `view_range`: [{first}, {last}]. {path} has {size}.")
    rows = _numbered(lines[first - 1 : end], first)
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
    """Return the changed lines of ``after`` and those around them, numbered."""
    old, new = lines_of(before), lines_of(after)
    least = min(len(old), len(new))
    start = next((at for at in range(least) if old[at] != new[at]), least)
    same = next((at for at in range(least - start) if old[-1 - at] != new[-1 - at]), least - start)
    first = max(start - _AROUND, 0)
    return _numbered(new[first : len(new) - same + _AROUND], first + 1)


def listing(path: str, files: Sequence[tuple[str, int]]) -> str:
    """Return the listing of a folder.

    Args:
        path: Its path.
        files: Each file or folder in it with its size in bytes; a folder ends with a slash.
    """
    rows = [f"{_readable_size(size)}\t{path}/{name}" for name, size in files]
    depth = "up to 2 levels deep"
    head = f"Here're the files and directories {depth} in {path}, excluding hidden items:"
    return "\n".join([head, f"{_readable_size(_total(files))}\t{path}", *rows])


def _readable_size(count: int) -> str:
    """Return a number of bytes as ``ls -h`` would.

    >>> _readable_size(0), _readable_size(1536), _readable_size(1024)
    ('0B', '1.5K', '1K')
    """
    power = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / 1024**power
    return f"{int(size)}{_UNITS[power]}" if size == int(size) else f"{size:.1f}{_UNITS[power]}"


def _total(files: Iterable[tuple[str, int]]) -> int:
    return sum(size for name, size in files if not name.endswith("/"))


# ---- pages ----

_MAIN: Final = 2
_LIKE: Final = 0.5
# Comparing more pairs than these would take long; they are matched in order.
_MOST_PAIRS: Final = 2_500


class Memory(NamedTuple):
    """A memory on a page.

    Attributes:
        text: Its words.
        section: The kind of rules in its section, or the title of another section, or ``""``.
    """

    text: str
    section: str


class Edits(NamedTuple):
    """The changes of the memories on a page.

    Attributes:
        added: New memories, in order.
        reworded: The numbers of memories, from 0, each with its new words.
        removed: The numbers of memories that are gone.
        headings: The titles of new sections, other than those of rules.
        others: The first lines of code, tables, quotations and comments, which are not memories.
    """

    added: tuple[Memory, ...] = ()
    reworded: tuple[tuple[int, Memory], ...] = ()
    removed: tuple[int, ...] = ()
    headings: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class _Section:
    """A heading, or ``""``, and the items right below it."""

    heading: str = ""
    shown: bool = False
    items: list[str] = field(default_factory=list)


def rendered(document: Document, entries: Iterable[Placed]) -> str:
    r"""Return a file as a model sees it: ``entries`` as list items, under their headings.

    >>> file = parse("# Rules\n## Always\n<!-- mine -->\n- Use uv <!-- id:k3v9q2ht -->\n")
    >>> rendered(file, file.placed())
    '## Always\n\n- Use uv\n'
    """
    chosen = {id(placed.block) for placed in entries}
    sections = [_Section()]
    main = sections[0]
    for block in document.blocks:
        if block.shape == "heading":
            line = f"{'#' * block.level} {heading(block.text)}\n"
            sections.append(_Section(line, shown=_is_kind(block.text)))
            main = sections[-1] if block.level <= _MAIN else main
        elif id(block) in chosen:
            sections[-1].items.append(_item(block.text))
            # It must be plain which heading of rules it is under.
            sections[-1].shown = main.shown = True
    return "\n".join(
        each.heading + ("\n" if each.heading and each.items else "") + "".join(each.items)
        for each in sections
        if each.shown
    )


@lru_cache(maxsize=10_000)  # A file is rendered again and again, and few of its lines change.
def _item(text: str) -> str:
    return written(inert(text).strip() or " ", None)


def _is_kind(title: str) -> bool:
    return title.strip().rstrip(":").rstrip().casefold() in RULE_KINDS


def edits(file: str, before: str, after: str) -> Edits:
    """Return the changes of memories between two pages.

    Args:
        file: The name of the file; in ``rules.md`` only text in a section is a rule.
        before: The page, as it was rendered.
        after: What a model made of it.
    """
    old, new = parse(before), parse(after)
    old_places, new_places = (
        [
            each
            for each in document.placed()
            if file != RULES or each.block.shape == "item" or each.kind or each.heading
        ]
        for document in (old, new)
    )
    were = [Memory(each.block.text, each.kind or each.heading) for each in old_places]
    are = [Memory(each.block.text, each.kind or each.heading) for each in new_places]
    # An unchanged line matches the first memory with its words.
    waiting: dict[Memory, list[int]] = {}
    for at in reversed(range(len(were))):
        waiting.setdefault(were[at], []).append(at)
    matched: set[int] = set()
    come: list[int] = []
    for at, said in enumerate(are):
        if waiting.get(said):
            matched.add(waiting[said].pop())
        else:
            come.append(at)
    gone = [at for at in range(len(were)) if at not in matched]
    pairs = dict(_pairs(were, are, gone, come))
    put = set(pairs.values())
    known = {block.text for block in old.blocks if block.shape == "heading"}
    memories = {id(each.block) for each in new_places}
    headings: list[str] = []
    others: list[str] = []
    for block in new.blocks:
        text, raw = block.text, block.raw.strip(" \t\r\n\ufeff")
        if block.shape != "heading":
            # A rendered page has only memories and headings.
            others += [raw.partition("\n")[0]] if raw and id(block) not in memories else []
        elif block.level > 1 and text not in known and text.strip() and not _is_kind(text):
            headings.append(heading(text))  # The title of a page does not begin a section.
    return Edits(
        added=tuple(are[at] for at in come if at not in put),
        reworded=tuple((at, are[pairs[at]]) for at in gone if at in pairs),
        removed=tuple(at for at in gone if at not in pairs),
        headings=tuple(headings),
        others=tuple(others),
    )


def _pairs(
    were: Sequence[Memory], are: Sequence[Memory], gone: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of a removed and an added memory of one section: one reworded."""
    for section in dict.fromkeys(were[at].section for at in gone):
        olds = [at for at in gone if were[at].section == section]
        news = [at for at in come if are[at].section == section]
        if len(olds) == len(news) or len(olds) * len(news) > _MOST_PAIRS:
            yield from zip(olds, news, strict=False)
            continue
        likeness = [
            (-similarity_of(were[old].text, are[new].text), old, new)
            for old in olds
            for new in news
        ]
        for unlike, old, new in sorted(likeness):
            if -unlike >= _LIKE and old in olds and new in news:
                olds.remove(old)
                news.remove(new)
                yield old, new


# ---- the folder ----

_EDITED: Final = (
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
)
_HOW: Final = "One memory is one list item; indent code, tables, quotations by two spaces below it."
_READ_ONLY: Final[Mapping[str, str]] = {
    "page": "Only the user writes {path}. Nothing was changed.",
    "queue": "{path} holds proposals that only the user decides on. Nothing was changed.",
    "root": "{path} is a directory. Name a file, such as {path}/" + LESSONS + ".",
    "folder": "{path} is a directory. Name a file in it, such as {path}/name.md.",
}
_HELD: Final = "(came from outside and reads like an order; only the user sees it)"
_ASKS: Final = "an assistant asks for it"
_THEIRS: Final = "contradiction"  # It would replace what a person wrote.
_WAITS: Final = "Waits for the user's yes in pending.md, and is not in memory yet"
_MOST_WORDS: Final = 100


class _Page(NamedTuple):
    """A memory file as a model sees it, and its memories in order."""

    text: str
    entries: tuple[Entry, ...]


class MemoryFolder:
    """Memory as a folder, for one model at a time."""

    def __init__(
        self, cortex: Cortex, scope: Scope = "project", session: Session | None = None
    ) -> None:
        """Show the memory of ``cortex``.

        Args:
            cortex: Gates and keeps it.
            scope: The scope whose memory it shows.
            session: The running conversation, which records each call and its result.

        Raises:
            InvalidEngramError: If the scope is unknown.
            StoreError: If its store has no files.
        """
        if scope not in SCOPES:
            raise InvalidEngramError.not_one_of("scope", scope, [*reversed(SCOPES)])
        self._cortex = cortex
        self._scope = scope
        self._session = session
        self._lock = Lock()
        self._store = store_with_files(cortex, scope, "that a model could edit")
        self._recalled: list[str] = []
        self._pages: dict[str, tuple[tuple[Document, Document], _Page]] = {}
        self._notes = _Notes(cortex)

    @one_call()
    def run(self, arguments: object, call: str = "") -> Answer:
        """Return the answer to a command, whatever was passed.

        Args:
            arguments: What the model passed: an object with ``command``, or one in JSON.
            call: The id of the call, for the session.
        """
        session, name = self._session, TOOL["name"]
        with self._lock:
            self._recalled = []
            if session is None:
                return self._answer(arguments)
            call = session.tool_call(name, arguments, call)
            answer = self._answer(arguments)
            session.tool_result(
                name, answer.text, call, error=answer.is_error, recalled=answer.recalled
            )
            return answer

    def _answer(self, arguments: object) -> Answer:
        try:
            command = command_from(arguments)
            text: str = getattr(self, f"_{command.command}")(command)
        except Refused as error:
            return Answer(inert(str(error)), is_error=True)
        except (EngramdownError, OSError) as error:
            return Answer(f"memory failed: {inert(str(error))}", is_error=True)
        return Answer(text, tuple(dict.fromkeys(self._recalled)))

    # ---- the commands ----

    def _view(self, command: Command) -> str:
        place = self._place(command.path)
        if place.sort not in ("root", "folder"):
            text = shown(place.path, self._text(place), command.view_range)
            # Even without a line of a transcript as its origin, what is shown is not new.
            self._recalled.append(place.path)
            return text
        files = list(self._files(place))
        text = listing(place.path, files)
        if place.sort == "root" and not _total(files):
            text = f"{text}\n\nNothing is remembered yet. {_hint()}"
        return text

    def _create(self, command: Command) -> str:
        place = self._writable(command.path)
        done = f"File created successfully at: {place.path}"
        if place.sort == "note":
            return done + self._notes.create(place.name, place.path, command.new)
        page = self._page(place)
        if page.entries:
            raise _taken(place.path)
        return self._rewrite(place, page, command.new, command).answer(done)

    def _str_replace(self, command: Command) -> str:
        place = self._existing(command.path)
        change = partial(replaced, place.path, old=command.old, new=command.new)
        return self._changed(place, change, command)

    def _insert(self, command: Command) -> str:
        change = partial(inserted, line=command.line, new=command.new)
        return self._changed(self._existing(command.path), change, command)

    def _delete(self, command: Command) -> str:
        place = self._existing(command.path)
        done = f"Successfully deleted {place.path}"
        if place.sort == "note":
            self._notes.own(place.name, "deletes them").delete()
            return done
        entries = self._page(place).entries
        edit = self._edit(place, command)
        edit.apply(entries, Edits(removed=tuple(range(len(entries)))))
        return edit.answer(done)

    def _rename(self, command: Command) -> str:
        old, new = self._existing(command.path), self._writable(command.new_path)
        if self._exists(new):
            raise Refused(f"The destination {new.path} already exists")
        done = f"Successfully renamed {old.path} to {new.path}"
        if old.sort == new.sort == "note":
            # The new file is written before the old one is removed.
            self._notes.own(old.name, "renames them").move(self._notes.open(new.name))
            return done
        if not all(each.name.startswith(f"{TOPICS}/") for each in (old, new)):
            raise Refused(
                f"Cannot rename {old.path} to {new.path}: only a topic to another topic, or notes "
                f"to notes. Create the new file, then delete the old one."
            )
        edit = self._edit(old, command)
        edit.move(self._page(old).entries, topic_of(new.name))
        return edit.answer(done)

    # ---- files ----

    def _place(self, path: str, *, wait: bool = False) -> Place:
        place = place_of(path, self._scope)
        # Hand edits are taken in, as the person's, before anything else happens.
        with contextlib.suppress(StoreError):
            self._store.notice(wait=wait)
        return place

    def _writable(self, path: str) -> Place:
        """Return the file that ``path`` names, if a model may write it."""
        place = self._place(path, wait=True)
        if place.sort in _READ_ONLY:
            raise Refused(_READ_ONLY[place.sort].format(path=place.path))
        if self._cortex.mode == "off":
            raise Refused(f"Nothing was written: {REASONS['off']}. Reading still works.")
        return place

    def _existing(self, path: str) -> Place:
        place = self._writable(path)
        if not self._exists(place):
            raise _missing(place)
        return place

    def _exists(self, place: Place) -> bool:
        if place.sort == "note":
            return bool(self._notes.text(place.name))
        is_there = place.name in _FIXED and place.name in self._store.files.names()
        return is_there or bool(self._page(place).entries)

    def _text(self, place: Place) -> str:
        """Return a file as a model sees it."""
        text = ""
        if place.sort == "note":
            text = inert(self._notes.text(place.name))
        elif place.sort == "page":
            soul = self._store.soul()
            page = self._cortex.scopes.usable_page(self._store, f"memory/{SOUL}", soul)
            text = "".join(f"{each}\n\n" for _, each in paragraphs(page)).rstrip("\n")
        elif place.sort == "queue":
            # An order from outside is not shown.
            for each in self._cortex.pending(for_model=True):
                if each.engram.scope == self._scope:
                    words = _HELD if each.hold == REASONS["instruction"] else each.engram.text
                    text += bullet(f"[ ] {words}") + "\n"
        elif self._exists(place):
            content = self._page(place)
            for entry in content.entries:
                self._recalled += filter(None, entry.origin.split(","))
            return content.text
        if not text:
            raise _missing(place)
        return text

    def _files(self, place: Place) -> Iterator[tuple[str, int]]:
        """Yield the files and folders below a folder, with their sizes."""
        for name, text in self._texts():
            if place.sort == "root":
                yield name, len(text.encode("utf-8", "surrogateescape"))
            elif name.startswith(f"{place.name}/") and not name.endswith("/"):
                yield name.removeprefix(f"{place.name}/"), len(text.encode())

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield each file as a model sees it, in a fixed order."""
        names = dict.fromkeys([*_FIXED, SOUL, PENDING, *self._store.files.names()])
        topics = [each for each in names if each.startswith(f"{TOPICS}/")]
        notes = [f"{NOTES}/{each}.md" for each in self._notes.names()]
        fixed = [each for each in names if each not in topics]
        for folder, group in (("", fixed), (TOPICS, topics), (NOTES, notes)):
            files = list(self._readable(group))
            if folder and files:
                yield f"{folder}/", "".join(text for _, text in files)
            yield from files

    def _readable(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        for name in names:
            with contextlib.suppress(Refused):
                try:
                    yield name, self._text(place_of(f"{ROOT}/{name}", self._scope))
                except StoreError:
                    if not name.startswith(f"{NOTES}/"):
                        raise
                    # Anybody may put files there; ``view`` says what is wrong with one.
                    yield name, ""

    def _page(self, place: Place) -> _Page:
        """Return what a model may see of a memory file now."""
        store, name = self._store, place.name
        # A page depends on these two alone, unless each memory needs a review.
        documents = (store.files.document(name), store.files.document(LESSONS))
        before = self._pages.get(name)
        is_reviewed = self._cortex.scopes.settings.pulled == "review"
        if before is not None and before[0] == documents and not is_reviewed:
            return before[1]
        usable: dict[str, list[Entry]] = {}
        for each in self._cortex.scopes.usable(store):
            if each.file in (name, LESSONS):
                usable.setdefault(each.id, []).append(each._replace(spelled=""))
        entries = {
            placed: entry
            for placed in raw_entries(name, documents[0])
            if (entry := _memory_of(usable.get(entry_id(placed), ()), name, placed))
        }
        page = _Page(rendered(documents[0], entries), tuple(entries.values()))
        self._pages[name] = (documents, page)
        return page

    # ---- changes ----

    def _changed(self, place: Place, change: Callable[[str], str], command: Command) -> str:
        """Change the text of a file, and return the answer."""
        edit, hidden = None, ""
        if place.sort == "note":
            before, after, hidden = self._notes.change(place.name, change)
            before, after = inert(before), inert(after)
        else:
            page = self._page(place)
            edit = self._rewrite(place, page, change(page.text), command)
            before, after = page.text, self._page(place).text
        done = f"The file {place.path} has been edited."
        if command.command == "str_replace":
            done = "\n".join([_EDITED, *excerpt(before, after)])
        return edit.answer(done) if edit else done + hidden

    def _rewrite(self, place: Place, page: _Page, text: str, command: Command) -> _Edit:
        changes = edits(place.name, page.text, text)
        if changes.others:
            words = flat(changes.others[0], _MOST_WORDS)
            raise Refused(f"No change was made in {place.path}: {words!r} is not a memory. {_HOW}")
        edit = self._edit(place, command)
        edit.apply(page.entries, changes)
        return edit

    def _edit(self, place: Place, command: Command) -> _Edit:
        return _Edit(self._cortex, self._store, place, command.command, self._session)


def _missing(place: Place) -> Refused:
    return Refused(f"The path {place.path} does not exist. Please provide a valid path.")


def _taken(path: str) -> Refused:
    return Refused(f"File {path} already exists. Use str_replace or insert to change it.")


def _memory_of(entries: Iterable[Entry], file: str, placed: Placed) -> Entry | None:
    """Return the memory that an entry is; for a topic the one among all lessons."""
    for entry in entries:
        is_here = entry.file == file and entry.line == placed.line
        is_copy = entry.file == LESSONS and entry.text == placed.block.text
        if is_here or (is_copy and file.startswith(f"{TOPICS}/")):
            return entry
    return None


@dataclass(slots=True)
class _Edit:
    """One change of one memory file by a model; new memories were learned in the session."""

    cortex: Cortex
    store: Hippocampus
    place: Place
    verb: str
    session: Session | None
    changed: int = 0
    queued: int = 0
    revisions: list[tuple[Revision, str]] = field(default_factory=list)
    asked: list[tuple[Pending, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def answer(self, done: str) -> str:
        """Return ``done``, and a sentence about each change that was not made.

        Raises:
            MemoryCommandError: If nothing was changed.
        """
        if self.changed:
            return "\n".join([done, *self.notes])
        if self.queued:
            return "\n".join([f"Nothing is changed in {self.place.path} yet.", *self.notes])
        notes = self.notes or ["It already holds this."]
        raise Refused("\n".join([f"No change was made in {self.place.path}.", *notes]))

    def apply(self, entries: Sequence[Entry], found: Edits) -> None:
        """Carry out the changes of a page.

        Raises:
            StoreError: If a store could not be read or written.
        """
        for title in found.headings:
            words = flat(title, _MOST_WORDS)
            self.notes.append(f"Left out: the heading {words!r}; the user adds those.")
        for at, said in found.reworded:
            self._reword(entries[at], said.text)
        for at in found.removed:
            self._remove(entries[at])
        self._settle()
        file, engrams = self.place.name, list[Engram]()
        for said in found.added:
            kind = kind_in(file, said.section)
            if engram := self._learned(said.text, kind, topic_of(file)):
                engrams.append(engram)
        for receipt in self.cortex.propose(engrams) if engrams else ():
            words = repr(flat(receipt.engram.text, _MOST_WORDS))
            self.changed += receipt.action in ("encoded", "merged")
            self.queued += receipt.action == "queued"
            if receipt.action == "merged":
                self.notes.append(f"Known already: {words}")
            elif receipt.action != "encoded":
                verb = _WAITS if receipt.action == "queued" else "Not written"
                self.notes.append(f"{verb}: {words} ({receipt.reason})")

    def move(self, entries: Iterable[Entry], topic: str) -> None:
        """Move memories to another topic.

        Raises:
            StoreError: If a store could not be read or written.
        """
        hold = _ASKS if self.cortex.mode == "autopilot" else ""
        for entry in entries:
            words = flat(entry.text, _MOST_WORDS)
            if self._may_touch(entry):
                self.revisions.append((Revision(stays=entry, topic=topic), words))
            else:
                move = Operation("move", (entry.id,), topic=topic)
                proposal = question(move, {entry.id: entry}, _ASKS, hold)
                self.asked.append((proposal, f"{words!r} under {topic} ({_why_not(entry)})"))
        self._settle()

    def _reword(self, entry: Entry, text: str) -> None:
        engram = self._learned(text, entry.kind, entry.topic)
        if engram is None:
            return
        words, decision = flat(text, _MOST_WORDS), self.cortex.encoding_gate(engram)
        if decision.action == "discard":
            self.notes.append(f"Not written: {words!r} ({decision.reason})")
        elif decision.action == "encode" and self._may_touch(entry):
            basis, origin = engram.basis or "inferred", engram.origin or entry.origin
            comes = entry._replace(
                id="", text=text, source="llm", basis=basis, ts="", origin=origin
            )
            self.revisions.append((Revision((entry,), "replaced", comes=comes), words))
        else:
            code = _THEIRS if entry.by_person else decision.code
            why = _why_not(entry) if decision.action == "encode" else decision.reason
            proposal = ask_user(self.cortex, engram, "replace", entry.id, code)
            safe = flat(without_secrets(engram).text, _MOST_WORDS)
            self.asked.append((proposal, f"{safe!r} ({why})"))

    def _remove(self, entry: Entry) -> None:
        words = flat(entry.text, _MOST_WORDS)
        if self._may_touch(entry):
            self.revisions.append((Revision((entry,), "removed"), words))
            return
        engram = Engram(f"Delete: {entry.text}", entry.kind, entry.scope, source="llm")
        proposal = ask_user(self.cortex, engram, "forget", entry.id, _ASKS)
        self.asked.append((proposal, f"to delete {words!r} ({_why_not(entry)})"))

    def _may_touch(self, entry: Entry) -> bool:
        """Whether a memory is a model's own to change."""
        return not entry.by_person and self.cortex.mode == "autopilot"

    def _learned(self, text: str, kind: Kind, topic: str) -> Engram | None:
        """Return the memory that a model wrote, with its origin; ``None`` if it cannot be one."""
        session, scope = self.session, self.store.scope
        from_tool = session is not None and session.heard_from_tool(text)
        via: Literal["tool", ""] = "tool" if from_tool else ""
        basis: Basis = "observed" if from_tool else "inferred"
        origin = str((session and session.turn_began) or "")
        try:
            return Engram(
                text, kind, scope, topic=topic, source="llm", basis=basis, origin=origin, via=via
            )
        except InvalidEngramError as error:
            self.notes.append(f"Not written: {flat(text, _MOST_WORDS)!r} ({error})")
            return None

    def _settle(self) -> None:
        """Write the allowed changes as one step, and queue the rest."""
        if self.revisions:
            with step_group(Act("update", "llm", f"{self.verb} {self.place.path}")):
                done = self.store.apply([each for each, _ in self.revisions], by="llm")
            for result, (_, words) in zip(done, self.revisions, strict=True):
                self.changed += not result.problem
                if result.problem:
                    self.notes.append(f"Left as it was: {words!r} ({result.problem})")
        if self.asked:
            FileQueue(self.store).add([item for item, _ in self.asked])
            self.queued = len(self.asked)
            self.notes += [f"{_WAITS}: {what}" for _, what in self.asked]


def _why_not(entry: Entry) -> str:
    return "the user wrote or confirmed it" if entry.by_person else "the user wants to be asked"


# ---- notes ----


class _Notes:
    """The free notes of a cortex, stored with the notes on conversations."""

    def __init__(self, cortex: Cortex) -> None:
        self._cortex = cortex

    def names(self) -> list[str]:
        """Return the names of the notes, sorted."""
        files = Disk().names(self._cortex.conversations.notes("any").path.parent)
        stems = [each.removesuffix(".md") for each in files if each.endswith(".md")]
        return [each for each in stems if is_session_id(each) and not self._why_not(each)]

    def text(self, name: str) -> str:
        """Return the notes, with a line end, or ``""``."""
        text = self.open(name).read().text
        return f"{text}\n" if text else ""

    def create(self, name: str, path: str, text: str) -> str:
        """Create notes; return a sentence about hidden secrets, or ``""``."""
        notes = self.open(name)
        note = notes.read()
        if note.text:
            raise _taken(path)
        if not text.strip():
            raise Refused("`file_text` is empty; give the text to keep.")
        return _hidden(notes.write(text, expected=note.digest, own=True).hidden)

    def change(self, name: str, change: Callable[[str], str]) -> tuple[str, str, str]:
        """Change notes; return the text before and after, and a sentence as :meth:`create`."""
        notes = self.open(name)
        note = notes.read()
        before = f"{note.text}\n"
        after = change(before)
        if not note.own:
            # Every line must stay, in its order.
            left = iter(normalized(after).split("\n"))
            if not all(line in left for line in note.text.split("\n")):
                raise _theirs(name, "changes or deletes lines of theirs")
        written = notes.write(after, expected=note.digest, own=note.own)
        return before, f"{written.text}\n", _hidden(written.hidden)

    def own(self, name: str, does: str) -> WorkingNotes:
        """Return notes, if a model wrote them."""
        notes = self.open(name)
        if not notes.read().own:
            raise _theirs(name, does)
        return notes

    def open(self, name: str) -> WorkingNotes:
        """Return notes, if a model may read them."""
        if why_not := self._why_not(name):
            raise Refused(f"The notes {name!r} {why_not}; choose another name.")
        return self._cortex.conversations.notes(name)

    def _why_not(self, name: str) -> str:
        """Return why a model may not read some notes, or ``""``."""
        notes = self._cortex.conversations.notes(name)
        if Disk().exists(notes.root / "episodes" / f"{notes.session}.jsonl"):
            return "are on a conversation that is recorded"
        if self._cortex.scopes.settings.pulled == "review" and known([notes.path]):
            return "came with git, and only the user reads them"
        return ""


def _theirs(name: str, does: str) -> Refused:
    return Refused(
        f"Nothing was changed: the user wrote or changed the notes {name!r}, and nobody else "
        f"{does}. Add to them with insert, or keep notes of your own under another name."
    )


def _hidden(kinds: tuple[str, ...]) -> str:
    return f"\nA secret was removed and is kept nowhere: {', '.join(kinds)}." if kinds else ""
