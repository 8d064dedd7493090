"""Values under keys in namespaces: what a line of memory says of one, and where it stands.

A key has one line, and a value is written in the place of the line that has its key, whoever wrote
that meanwhile. A proposal of a value carries the same marks as the memory that it becomes: what a
person accepted gets the key under which it was put, unless they made something else of it. Two
namespaces never share a topic, and no namespace is a path; ``project`` and ``global`` lead to the
memories that are there anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from engramdown.clock import moment, today
from engramdown.engram import RULE_KINDS, SCOPES, Engram, Scope, slug
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus.changeset import Draft, Filed, make_way, new_id
from engramdown.hippocampus.entry import Entry, address, as_entry, entry_id, fields, raw_entries
from engramdown.kinds import ARCHIVE, LESSONS, PROFILE, RULES, title_of, topic_file, topic_of
from engramdown.markdown.document import Placed
from engramdown.markdown.metadata import Metadata, is_address

NAMESPACE: Final = "ns"
KEY: Final = "key"
FIELD: Final = "field"
REST: Final = "rest"
MADE: Final = "made"
WHEN: Final = "when"
HIDDEN: Final = "hidden"
# Why tidying archived a value: another one has the same words. Under its key it stands.
DUPLICATE: Final = "duplicate"

_MOST_TOLD: Final = 400
_PROPOSED: Final = (NAMESPACE, KEY, FIELD, REST, HIDDEN)


def proposed(values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the marks of a proposal, or none if it is not of a value under a key.

    >>> proposed({"id": "k3v9q2ht", "key": "food", "ns": "users"})
    (('ns', 'users'), ('key', 'food'))
    """
    if not values.get(KEY):
        return ()
    return tuple((name, values[name]) for name in _PROPOSED if values.get(name))


def key_of(marks: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the namespace and the key that marks name."""
    told = dict(marks)
    return told.get(NAMESPACE, ""), told.get(KEY, "")


def digest_of(text: str) -> str:
    """Return by what is known whether somebody changed a text, if only in case or spaces."""
    return address(text.encode("utf-8", "surrogatepass").hex())[1:]


def describe_value(marks: Sequence[tuple[str, str]]) -> str:
    """Return what a person is told who decides on a value: its key, and what is not in its words.

    >>> describe_value((("ns", "users.42"), ("key", "food"), ("rest", "{}")))
    "a program keeps it as users/42 'food', with {}"
    """
    if not marks:
        return ""
    place, key = key_of(marks)
    told = f"a program keeps it as {place.replace('.', '/')} {key!r:.80}"
    rest = dict(marks).get(REST, "")
    if len(rest) > _MOST_TOLD:
        rest = f"{rest[:_MOST_TOLD]}… ({len(rest):,} characters)"
    return f"{told}, with {rest}" if rest else told


# Labels from the outermost to the innermost one.
Namespace = tuple[str, ...]

_TOPICS: Final = "topics"
_FILES: Final = {"rules": RULES, "lessons": LESSONS, "profile": PROFILE}
_MOST_OF_NAME: Final = 60
_MOST_BYTES: Final = 100
_ANY: Final = "*"


class Home(NamedTuple):
    """Where the values of a namespace stand.

    Attributes:
        scope: The scope.
        file: The memory file.
        topic: Its topic, or ``""``.
        native: Whether the other memories of that file belong to the namespace, too.
    """

    scope: Scope
    file: str
    topic: str = ""
    native: bool = False


def home_of(namespace: Namespace, scope: Scope) -> Home:
    """Return where the values of a namespace stand.

    Args:
        namespace: The namespace.
        scope: The scope of namespaces that name none.

    >>> home_of(("project", "rules"), "project").file
    'rules.md'
    >>> home_of(("recipes",), "project").file
    'topics/recipes.md'
    """
    first, *rest = namespace or ("",)
    known = next((each for each in SCOPES if each == first), None)
    if known and rest == ["profile"] and known == "project":
        known = None  # Facts about the user are global; this is a namespace like any other.
    if known and len(rest) == 1 and rest[0] in _FILES:
        return Home(known, _FILES[rest[0]], native=True)
    if known and len(rest) == len((_TOPICS, "slug")) and rest[0] == _TOPICS and _is_slug(rest[1]):
        return Home(known, topic_file(rest[1]), rest[1], native=True)
    topic = _topic(namespace)
    return Home(known or scope, topic_file(topic), topic)


def native(entry: Entry) -> Namespace:
    """Return the namespace of a memory that was not put into one."""
    if topic := topic_of(entry.file):
        return (entry.scope, _TOPICS, topic)
    return (entry.scope, entry.file.removesuffix(".md"))


def written(namespace: Namespace) -> str:
    """Return a namespace as it stands in metadata; no label has a dot."""
    return ".".join(namespace)


def named(text: str) -> Namespace:
    """Return what was written."""
    return tuple(text.split(".")) if text else ()


def matches(
    namespace: Namespace, conditions: Iterable[tuple[Literal["prefix", "suffix"], Sequence[str]]]
) -> bool:
    """Whether a namespace begins or ends as every condition says; ``*`` is any label.

    Raises:
        ValueError: If a condition says neither.
    """
    for how, path in conditions:
        if how not in ("prefix", "suffix"):
            raise ValueError(f"Unsupported match type: {how!r:.80}; there are prefix, suffix")
        if len(namespace) < len(path):
            return False
        begin = 0 if how == "prefix" else len(namespace) - len(path)
        labels = namespace[begin : begin + len(path)]
        if not all(wanted in (_ANY, label) for wanted, label in zip(path, labels, strict=True)):
            return False
    return True


def _is_slug(label: str) -> bool:
    try:
        return slug(label) == label
    except InvalidEngramError:
        return False


def _topic(namespace: Namespace) -> str:
    """Return the topic of a namespace: its name, and a digest where another one has that name."""
    name = "-".join(namespace)
    if len(namespace) == 1 and _is_slug(name):
        return name

    def cut(text: str) -> str:
        """Return as many whole characters as leave room for the digest."""
        return text.encode("utf-8", "surrogatepass")[:_MOST_BYTES].decode("utf-8", "ignore")

    try:
        # To fold a letter may make two of it, so the slug is cut as well.
        readable = cut(slug(cut(name[:_MOST_OF_NAME]))).rstrip("-")
    except InvalidEngramError:
        readable = "store"
    # Hexadecimal digits, because two namespaces may differ only in what a fold takes away.
    return f"{readable}-{digest_of(written(namespace))}"


class Place(NamedTuple):
    """Where a value belongs.

    Attributes:
        namespace: Its namespace.
        key: Its key.
        home: Where values of the namespace stand.
    """

    namespace: Namespace
    key: str
    home: Home

    @property
    def label(self) -> str:
        """The namespace as its lines say it."""
        return "" if self.home.native else written(self.namespace)


class Found(NamedTuple):
    """A value as it stands now.

    Attributes:
        placed: Its line.
        entry: The memory.
    """

    placed: Placed
    entry: Entry


def find_line(draft: Draft, place: Place, known: Entry | None = None) -> Found | None:
    """Return what stands under a key now, wherever it stood when it was looked for.

    Args:
        draft: The files.
        place: The key.
        known: What was found under it before.
    """
    home = place.home
    # A look at the line is a tenth of the work of reading what it says.
    written_key = str(Metadata().update({KEY: place.key}))[len("<!-- ") : -len(" -->")]
    sign = known.id if known else written_key
    for file in dict.fromkeys((known.file if known else home.file, home.file)):
        for placed in raw_entries(file, draft.get(file)):
            if sign not in placed.block.raw and not is_address(sign):
                continue
            meta = placed.block.meta or Metadata()
            has_key = (meta.get(KEY), meta.get(NAMESPACE)) == (place.key, place.label)
            # What was never put is found under its id.
            is_it = known is not None and entry_id(placed) == known.id == place.key
            went = (meta.get("reason"), meta.get("was")) != (DUPLICATE, home.file)
            if (has_key or is_it) and not (file == ARCHIVE and went):
                return Found(placed, as_entry(file, home.scope, placed))
    return None


def put_line(
    draft: Draft, place: Place, engram: Engram, marks: Mapping[str, str], stands: Found | None
) -> Filed:
    """Write a value in the place of the line that has its key, or as a new line.

    Args:
        draft: The files.
        place: The key.
        engram: The memory that the value is.
        marks: What its metadata says of the rest of the value, and when it was put first if that
            is not now.
        stands: The line that has its key.
    """
    home, now = place.home, moment()
    told = fields(engram, "", today().isoformat())
    if stands is not None and stands.entry.file != ARCHIVE:
        file, block = stands.entry.file, stands.placed.block
        basis = {"basis": told["basis"]} if told["basis"] else {}
        meta = (block.meta or Metadata()).update({**marks, **basis, WHEN: now})
        draft.put(file, draft.get(file).replace(block, engram.text, meta))
        return Filed(stands.entry.id, file, added=True, said=engram)
    if stands is not None:
        # It was taken for another value of the same words, and no longer is.
        draft.put(ARCHIVE, draft.get(ARCHIVE).remove(stands.placed.block))
    own = {NAMESPACE: place.label, KEY: place.key}
    times = {MADE: marks[MADE], WHEN: now} if marks.get(MADE) else {MADE: now}
    told["id"] = new_id()
    meta = Metadata().update({**told, **marks, **own, **times})
    if home.file == PROFILE:
        make_way(draft, engram.text, "llm")
    section = engram.kind if home.file == RULES else ""
    document = draft.get(home.file).add(engram.text, meta, section, title_of(home.file))
    draft.put(home.file, document)
    return Filed(told["id"], home.file, added=True, said=engram)


def proposed_place(put: Sequence[tuple[str, str]], engram: Engram, scope: Scope) -> Place | None:
    """Return where a proposal of a value belongs that a person accepted.

    Args:
        put: The marks of the proposal.
        engram: What they accepted.
        scope: The scope in whose queue it waits.
    """
    namespace, key = key_of(put)
    if not key:
        return None
    home = home_of(named(namespace), scope)
    if home.file == RULES:
        fits = engram.kind in RULE_KINDS
    elif home.file == PROFILE:
        fits = engram.kind == "profile"
    else:
        fits = engram.kind == "lesson" and engram.topic == home.topic
    is_here = home.scope == scope and engram.scope == scope
    return Place(named(namespace), key, home) if fits and is_here else None


def first_made(draft: Draft, place: Place) -> str:
    """Return when the value that stands under a key was put first, or ``""``."""
    stands = find_line(draft, place)
    meta = stands.placed.block.meta if stands else None
    return meta.get(MADE) if meta else ""


def accepted(
    draft: Draft, put: Sequence[tuple[str, str]], place: Place, engram: Engram, made: str
) -> Filed:
    """Write a value that a person accepted under its key; it is verified with that.

    Args:
        draft: The files, without what it is to replace.
        put: The marks of the proposal.
        place: Where it belongs.
        engram: What they accepted.
        made: When what it replaces was put first, or ``""``.
    """
    marks = {name: dict(put).get(name, "") for name in (FIELD, REST, HIDDEN)}
    marks |= {MADE: made} if made else {}
    verified = replace(engram, basis="verified")
    return put_line(draft, place, verified, marks, find_line(draft, place))
