"""LangGraph's store over Engramdown: values under keys are memories that a person can read.

A value is a line of memory that a person can read and change. It is on the disk when ``put``
returns, and comes back as it was put, or as a person changed it: editing the words by hand changes
that part of the value and nothing else. A search is our recall. A batch reads the state before it,
and writes one step for each scope.

Every put goes through the gate. A put that is held back is not written and raises an error, or is
reported to a callback; secrets are never written, in words, keys or anything beside them. A program
can only ask about values that a person wrote or changed, what somebody changed meanwhile stays, and
a deleted value is first copied to ``archive.md``.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown import gate, hippocampus
from engramdown.clock import today
from engramdown.engram import CONFIDENCES, SCOPES, Confidence, Engram, Scope
from engramdown.errors import InvalidEngramError, PutRefusedError
from engramdown.gate import KEY, FileQueue, Namespace, Pending, Place, home_of, written
from engramdown.hippocampus import Draft, Entry, Revision
from engramdown.integrations.external_session import ask_user, in_thread, lock_of, store_with_files
from engramdown.kinds import ARCHIVE, ASIDE, LESSONS, kind_in
from engramdown.language import json_object, one_line
from engramdown.markdown import Block, Document, Metadata
from engramdown.recall import MemoryIndex
from engramdown.secrets import find_secrets, redact
from engramdown.storage import one_call

if TYPE_CHECKING:
    from engramdown import Cortex

try:
    from langgraph.store import base
except ImportError as error:
    raise ImportError("the store needs LangGraph: pip install 'engramdown[langgraph]'") from error

keyed = gate.keyed_values

# The most characters of a value as JSON.
LONGEST: Final = 100_000

_ASKS: Final = "a program asks for it"
_THEIRS: Final = "contradiction"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class MemoryStore(base.BaseStore):
    """A store for ``StateGraph.compile(store=...)``.

    Values in namespaces of your own are kept in ``topics/``; ``("project", "rules")``,
    ``("project", "lessons")``, ``("project", "topics", slug)`` and ``("global", "profile")`` are
    the memories that exist anyway.
    """

    def __init__(
        self,
        cortex: Cortex,
        scope: Scope = "project",
        *,
        confidence: Confidence = "medium",
        refused: Callable[[Sequence[str]], object] | None = None,
    ) -> None:
        """Keep values in the memory of ``cortex``.

        Args:
            cortex: Gates and keeps it.
            scope: The scope of namespaces whose first label is neither ``project`` nor ``global``.
            confidence: The confidence of values; unless it is high, copilot asks about them.
            refused: Called with a sentence about each put that is not written; without it they are
                raised as a :class:`engramdown.errors.PutRefusedError`.

        Raises:
            InvalidEngramError: If the scope or the confidence is unknown.
            StoreError: If a store has no files.
        """
        super().__init__()
        if confidence not in CONFIDENCES:
            raise InvalidEngramError.not_one_of("confidence", confidence, CONFIDENCES)
        self.cortex = cortex
        self._items = Items(cortex, scope)
        self._confidence: Confidence = confidence
        self._refused = refused

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations: first all reads, then all writes.

        Raises:
            PutRefusedError: If something was not written; the rest of the batch was.
            InvalidEngramError: If a value is not a JSON object, or would expire; nothing was
                written.
            StoreError: If memory could not be read or written.
        """
        puts: dict[tuple[tuple[str, ...], str], base.PutOp] = {}
        results: list[base.Result] = []
        with lock_of(self.cortex):  # A graph runs its nodes in threads.
            for op in ops:
                if isinstance(op, base.PutOp):
                    puts[op.namespace, op.key] = op
                results.append(self._read(op))
            refusals = Puts(self._items, self._confidence).write([*puts.values()])
        if refusals and self._refused is None:
            raise PutRefusedError(refusals)
        if refusals and self._refused is not None:
            self._refused(refusals)
        return results

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations in a thread; see :meth:`batch`.

        A cancellation takes effect once they are carried out.
        """
        operations = list(ops)
        return await in_thread(self.cortex, lambda: self.batch(operations))

    def _read(self, op: base.Op) -> base.Result:
        """Return what an operation reads; refuse one that is invalid, even if it writes."""
        if isinstance(op, base.PutOp):
            _check(op.namespace)
            if op.ttl is not None and op.value is not None:
                what = f"is {op.ttl!r:.20} minutes, but values do not expire; delete them instead"
                raise InvalidEngramError("ttl", what)
            return None
        if isinstance(op, base.GetOp):
            _check(op.namespace)
            item = self._items.get(op.namespace, op.key)
            return item and base.Item(**item.copied())
        if isinstance(op, base.SearchOp):
            _check(op.namespace_prefix)
            below = self._items.all(op.namespace_prefix)
            items = [each for each in below if matches_filter(each.value, op.filter)]
            hits: list[tuple[KeyedValue, float | None]] = [(each, None) for each in items]
            if op.query:
                hits = [*self._items.search(op.query, items)]
            some = hits[op.offset : op.offset + op.limit]
            return [base.SearchItem(**each.copied(), score=score) for each, score in some]
        if isinstance(op, base.ListNamespacesOp):
            wanted = [(each.match_type, each.path) for each in op.match_conditions or ()]
            for _, path in wanted:
                _check(path)
            known = {each.namespace for each in self._items.all()}
            matching = {each[: op.max_depth] for each in known if keyed.matches(each, wanted)}
            return sorted(matching)[op.offset : op.offset + op.limit]
        raise ValueError(f"Unknown operation type: {type(op)}")


def _check(labels: Iterable[object]) -> None:
    """Refuse labels with a dot, which separates labels in a file."""
    for label in labels:
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise base.InvalidNamespaceError(f"{label!r:.80}: a label is a string without dots")


# ---- the values in memory ----


class KeyedValue(NamedTuple):
    """A value under a key.

    Attributes:
        namespace: The namespace.
        key: The key, or the id of a memory that no program put.
        value: The value.
        entry: The memory that holds it.
        made: When it was first put.
        changed: When it was last put.
        searched: Whether a search may find it.
    """

    namespace: Namespace
    key: str
    value: dict[str, Any]
    entry: Entry
    made: datetime
    changed: datetime
    searched: bool = True

    @property
    def was_put(self) -> bool:
        """Whether a program put it under a key."""
        return self.key != self.entry.id

    def copied(self) -> dict[str, Any]:
        """Return the fields of an item of LangGraph, which its owner may change."""
        item = {"namespace": self.namespace, "key": self.key, "value": deepcopy(self.value)}
        return item | {"created_at": self.made, "updated_at": self.changed}


class Items:
    """The values of a cortex."""

    def __init__(self, cortex: Cortex, scope: Scope = "project") -> None:
        """Read and write what ``cortex`` keeps.

        Args:
            cortex: Gates and keeps it.
            scope: The scope of namespaces that name none.

        Raises:
            InvalidEngramError: If the scope is unknown.
            StoreError: If a store has no files.
        """
        if scope not in SCOPES:
            raise InvalidEngramError.not_one_of("scope", scope, [*reversed(SCOPES)])
        self.cortex = cortex
        self.scope: Scope = scope
        # Values of the project come first.
        self.stores = {
            each: store_with_files(cortex, each, "to keep values in") for each in reversed(SCOPES)
        }
        # By scope and file: the document and the marks that the values were read from.
        self._read: dict[
            tuple[Scope, str], tuple[Document, tuple[str, ...], dict[Block, KeyedValue]]
        ] = {}
        self._index: tuple[list[Entry], MemoryIndex] | None = None

    def get(self, namespace: Namespace, key: str) -> KeyedValue | None:
        """Return the value under a key, or ``None``."""
        home = home_of(namespace, self.scope)
        items = [*self._of(home.scope, home.file), *self._of(home.scope, ARCHIVE)]
        usable = self._usable(home.scope, items)
        return next(
            (each for each in usable if (each.namespace, each.key) == (namespace, key)), None
        )

    def all(self, prefix: Namespace = ()) -> list[KeyedValue]:
        """Return the values of the namespaces that begin with ``prefix``; each memory once."""
        items: dict[tuple[Scope, str, str], KeyedValue] = {}
        for scope, store in self.stores.items():
            names = [name for name in store.files.names() if name not in ASIDE]
            # Files of topics, then the file of all lessons, then duplicates in the archive.
            names.sort(key=lambda name: (name == LESSONS, not name.startswith("topics/")))
            for name in (*names, ARCHIVE):
                for item in self._usable(scope, self._of(scope, name)):
                    if item.namespace[: len(prefix)] == prefix:
                        place = written(item.namespace) if item.was_put else ""
                        items.setdefault((scope, place, item.key), item)
        return list(items.values())

    def search(self, query: str, items: Sequence[KeyedValue]) -> list[tuple[KeyedValue, float]]:
        """Return the ``items`` that match a question with their scores, the best first."""
        searched = [item for item in items if item.searched]
        entries = [item.entry for item in searched]
        if self._index is None or self._index[0] != entries:
            self._index = (entries, MemoryIndex(entries))
        hits = self._index[1].search(query, today())
        return [(searched[hit.position], hit.score) for hit in hits]

    def _of(self, scope: Scope, name: str) -> list[KeyedValue]:
        """Return the values of a file; of the archive only those that were archived as duplicates.

        Unchanged lines are not read again. What the marks of a file name is a person's, although
        the line does not say so yet.
        """
        files = self.stores[scope].files
        document, marks = files.document(name), files.marks(name)
        old_document, old_marks, known = self._read.get((scope, name), (None, (), {}))
        if old_document is document and old_marks == marks:
            return list(known.values())
        items: dict[Block, KeyedValue] = {}
        for placed in hippocampus.raw_entries(name, document):
            item = known.get(placed.block) if old_marks == marks else None
            where = (placed.line, placed.heading)
            if item is None or (item.entry.line, item.entry.heading) != where:
                meta = placed.block.meta or Metadata()
                is_copy = meta.get("reason") == keyed.DUPLICATE and meta.get(KEY)
                if name == ARCHIVE and not is_copy:
                    continue
                entry = hippocampus.as_entry(name, scope, placed)
                if hippocampus.verified_by(marks, entry.id, entry.text):
                    entry = entry._replace(basis="verified")
                item = _keyed_value(entry, meta)
            items[placed.block] = item
        self._read[scope, name] = (document, marks, items)
        return list(items.values())

    def _usable(self, scope: Scope, items: Iterable[KeyedValue]) -> Iterator[KeyedValue]:
        """Yield the values that a program may see: not what git brought, if that needs approval."""
        if self.cortex.scopes.settings.pulled != "review":
            yield from items
            return
        lines = {(each.file, each.line) for each in self.cortex.scopes.usable(self.stores[scope])}
        yield from (each for each in items if (each.entry.file, each.entry.line) in lines)


def _keyed_value(entry: Entry, meta: Metadata) -> KeyedValue:
    made = _time(meta.get(keyed.MADE) or entry.ts)
    changed = _time(meta.get(keyed.WHEN)) if meta.get(keyed.WHEN) else made
    if not meta.get(KEY):
        names = ("text", "kind", "topic", "confidence", "source", "basis")
        value = {name: getattr(entry, name) for name in names if getattr(entry, name)}
        return KeyedValue(keyed.native(entry), entry.id, value, entry, made, changed)
    value = joined(Parts(entry.text, meta.get(keyed.FIELD), meta.get(keyed.REST)))
    original = entry._replace(file=meta.get("was") or entry.file)
    namespace = keyed.named(meta.get(keyed.NAMESPACE)) or keyed.native(original)
    is_searched = not meta.get(keyed.HIDDEN)
    return KeyedValue(namespace, meta.get(KEY), value, entry, made, changed, is_searched)


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _EPOCH
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# ---- putting and deleting values ----


class _Planned(NamedTuple):
    """A put that may be written.

    Attributes:
        place: The key.
        item: The value under that key, or ``None``.
        engram: The new memory, or ``None`` to delete the value.
        marks: The metadata that holds the rest of the value.
    """

    place: Place
    item: KeyedValue | None
    engram: Engram | None = None
    marks: Mapping[str, str] = MappingProxyType({})


class Puts:
    """One batch of values to put or to delete."""

    def __init__(self, items: Items, confidence: Confidence = "medium") -> None:
        """Write what ``items`` reads.

        Args:
            items: The values.
            confidence: The confidence of values; unless it is high, copilot asks about them.
        """
        self._items = items
        self._cortex = items.cortex
        self._confidence: Confidence = confidence
        self._planned: list[_Planned] = []
        self._waiting: list[tuple[Scope, Pending]] = []
        self._gone: list[tuple[Scope, tuple[str, str]]] = []
        self._refusals: list[str] = []

    @one_call()
    def write(self, puts: Sequence[base.PutOp]) -> list[str]:
        """Write the allowed puts, and return a sentence about each of the others.

        Raises:
            InvalidEngramError: If a value is not a JSON object; then nothing is written.
            StoreError: If a store could not be read or written.
        """
        for store in self._items.stores.values() if puts else ():
            store.notice()
        for put in puts:
            place = Place(put.namespace, put.key, home_of(put.namespace, self._items.scope))
            item = self._items.get(put.namespace, put.key)
            if put.value is None:
                self._plan_removal(place, item)
            else:
                self._plan(place, item, put.value, is_searched=put.index is not False)
        for scope, store in self._items.stores.items():
            mine = [each for each in self._planned if each.place.home.scope == scope]
            if mine:
                op = "update" if any(each.item for each in mine) else "encode"
                verb = "put" if any(each.engram for each in mine) else "delete"
                what = _name(mine[0].place) if len(mine) == 1 else f"{len(mine)} values"
                act = hippocampus.Act(op, "llm", f"{verb} {what}")
                edit = partial(_write, planned=mine, names=store.files.names())
                self._refusals += store.files.change(act, edit)
            if waiting := [item for each, item in self._waiting if each == scope]:
                FileQueue(store).add(waiting)
            if gone := {key for each, key in self._gone if each == scope}:
                FileQueue(store).withdraw(gone)
        return self._refusals

    def _plan_removal(self, place: Place, item: KeyedValue | None) -> None:
        scope, mode = place.home.scope, self._cortex.mode
        if mode != "off":
            self._gone.append((scope, (written(place.namespace), place.key)))
        if item is None:
            return
        if mode == "off":
            self._refuse(place, gate.REASONS["off"])
        elif item.entry.by_person or mode == "copilot":
            engram = Engram(f"Delete: {item.entry.text}", item.entry.kind, scope)
            pending = ask_user(self._cortex, engram, "forget", item.entry.id, _ASKS)
            code = _THEIRS if item.entry.by_person else "confidence"
            self._ask(place, pending, gate.REASONS[code])
        else:
            self._planned.append(_Planned(place, item))

    def _plan(
        self, place: Place, item: KeyedValue | None, value: Mapping[str, Any], *, is_searched: bool
    ) -> None:
        parts = split(value)
        engram = self._engram(place, parts.text, value)
        if item is not None and not item.was_put:
            self._refuse(place, "is a memory that no program put; choose another key")
            return
        if item is not None and same(item.value, value) and item.searched == is_searched:
            return
        hidden = "" if is_searched else "yes"
        marks = {keyed.FIELD: parts.field, keyed.REST: parts.rest, keyed.HIDDEN: hidden}
        secrets = find_secrets("\n".join([*place.namespace, place.key, parts.rest]))
        decision = self._cortex.encoding_gate(engram)
        is_theirs = item is not None and item.entry.by_person
        if self._cortex.mode != "off" and secrets:
            kinds = ", ".join(sorted({each.kind for each in secrets}))
            self._refuse(place, f"{gate.REASONS['secret']} ({kinds})")
        elif decision.action == "discard":
            self._refuse(place, decision.reason)
        elif decision.action == "confirm" or is_theirs:
            code, reason = decision.code, decision.reason
            if is_theirs:
                code, reason = _THEIRS, gate.REASONS[_THEIRS]
            op: gate.Operation = "replace" if item else "encode"
            pending = ask_user(self._cortex, engram, op, item.entry.id if item else "", code)
            own = {keyed.NAMESPACE: written(place.namespace), KEY: place.key, **marks}
            seen = keyed.digest_of(pending.engram.text)
            self._ask(place, replace(pending, put=keyed.proposed(own), seen=seen), reason)
        else:
            self._planned.append(_Planned(place, item, engram, marks))

    def _engram(self, place: Place, text: str, value: Mapping[str, Any]) -> Engram:
        """Return the memory of a value.

        Raises:
            InvalidEngramError: If it cannot be one.
        """
        key: object = place.key
        if not isinstance(key, str) or not key:
            raise InvalidEngramError("key", f"{key!r:.80} cannot be a key; give a string")
        for name, given in (("key", key), ("namespace", written(place.namespace))):
            if len(given) > LONGEST:
                raise InvalidEngramError.too_long(name, given, f"{LONGEST:,} characters")
            try:
                given.encode()
            except UnicodeEncodeError:
                raise InvalidEngramError(name, "holds half of a surrogate pair") from None
        home = place.home
        kind = kind_in(home.file, value.get("kind", ""))
        return Engram(text, kind, home.scope, self._confidence, home.topic, "llm")

    def _ask(self, place: Place, pending: Pending, reason: str) -> None:
        self._waiting.append((place.home.scope, pending))
        self._refuse(place, f"waits for the user's yes in pending.md: {reason}")

    def _refuse(self, place: Place, reason: str) -> None:
        self._refusals.append(redact(f"{_name(place)} {reason}"))


def _name(place: Place) -> str:
    return f"{one_line('/'.join(place.namespace))} {place.key!r:.80}"


def _write(draft: Draft, planned: Sequence[_Planned], names: Sequence[str]) -> list[str]:
    """Write values; return a sentence about each that a person changed meanwhile."""
    late: list[str] = []
    gone: list[tuple[Place, Entry]] = []
    for place, item, engram, marks in planned:
        current = keyed.find_line(draft, place, item and item.entry)
        if current is None and engram is not None and item:
            archived = map(hippocampus.entry_id, hippocampus.tombstones(draft.get(ARCHIVE)))
            if item.entry.id in archived:
                late.append(f"{_name(place)} was deleted by the user meanwhile")
                continue
        if current is not None and current.entry.by_person:
            late.append(f"{_name(place)} was changed by the user meanwhile; read it again")
        elif engram is not None:
            keyed.put_line(draft, place, engram, marks, current)
        elif current is not None and current.entry.file == ARCHIVE:
            draft.put(ARCHIVE, draft.get(ARCHIVE).remove(current.placed.block))
        elif current is not None:
            gone.append((place, current.entry))
    revisions = [Revision((entry,), "removed") for _, entry in gone]
    done = hippocampus.revise(draft, revisions, names, "llm") if revisions else []
    for (place, _), result in zip(gone, done, strict=True):
        if result.problem:
            late.append(f"{_name(place)} is left as it was: {result.problem}")
    return late


# ---- a value as the words of a memory and the rest ----

_WHOLE: Final = "$"
# Where LangGraph's examples, LangMem and similar frameworks keep the words.
_FIELDS: Final = ("text", "content", "memory", "data", "fact", "page_content", "summary")
_DEEPEST: Final = 3
_MOST_LEVELS: Final = 100
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}

Value = dict[str, Any]


class Parts(NamedTuple):
    """A value in parts.

    Attributes:
        text: The words of the memory.
        field: Their place in the value: ``content.content``; ``$`` if they are the whole value.
        rest: The rest of the value as JSON, or ``""``.
    """

    text: str
    field: str
    rest: str = ""


def split(value: object) -> Parts:
    """Return a value in parts.

    Raises:
        InvalidEngramError: If it is not a JSON object, or too long.

    >>> split({"kind": "Memory", "content": {"content": "Likes tea"}})
    Parts(text='Likes tea', field='content.content', rest='{"kind":"Memory","content":{}}')
    >>> split({"theme": "dark"})
    Parts(text='{"theme": "dark"}', field='$', rest='')
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidEngramError("value", f"{value!r:.80} is not an object; give a dict with names")
    try:
        compact = _compact(value)
        compact.encode()
        whole: Value = json.loads(compact)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidEngramError("value", f"cannot be kept as JSON: {error}") from None
    if len(compact) > LONGEST:
        raise InvalidEngramError.too_long("value", compact, f"{LONGEST:,} characters")
    if _is_deep(whole):
        raise InvalidEngramError("value", f"has more than {_MOST_LEVELS} levels; make it flatter")
    path = _words_in(whole)
    if path is None:
        return Parts(json.dumps(whole, ensure_ascii=False), _WHOLE)
    inner = whole
    for name in path[:-1]:
        inner = inner[name]
    text = inner.pop(path[-1])
    return Parts(text, ".".join(path), _compact(whole) if whole else "")


def joined(parts: Parts) -> Value:
    """Return the value of some parts, even if a person edited them.

    >>> joined(Parts("Likes coffee", "content.content", '{"kind":"Memory","content":{}}'))
    {'kind': 'Memory', 'content': {'content': 'Likes coffee'}}
    """
    if parts.field == _WHOLE:
        whole = _object(parts.text)
        return {"text": parts.text} if whole is None else whole
    whole = inner = _object(parts.rest) or {}
    *outer, last = (parts.field or _FIELDS[0]).split(".", _MOST_LEVELS)
    for name in outer:
        if not isinstance(inner.get(name), dict):
            inner[name] = {}
        inner = inner[name]
    inner[last] = parts.text
    return whole


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two values are the same JSON, where ``True`` differs from ``1``.

    >>> same({"a": (1, 2), "b": 3}, {"b": 3, "a": [1, 2]}), same({"a": 1}, {"a": True})
    (True, False)
    """
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value matches a filter: by equality, or ``$eq $ne $gt $gte $lt $lte``.

    Raises:
        ValueError: If the filter has another operator.
    """
    return all(_agrees(value.get(key), each) for key, each in (wanted or {}).items())


def _agrees(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - JSON
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_holds(value, sign, other) for sign, other in wanted.items())
        return isinstance(value, Mapping) and matches_filter(value, wanted)
    if isinstance(wanted, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same and all(map(_agrees, value, wanted))
    return bool(value == wanted)


def _holds(value: Any, sign: str, other: Any) -> bool:  # noqa: ANN401 - JSON
    if sign not in _COMPARISONS:
        raise ValueError(f"Unsupported operator: {sign}; use one of {', '.join(_COMPARISONS)}")
    if sign not in ("$eq", "$ne"):
        try:
            value, other = float(value), float(other)
        except (TypeError, ValueError):
            return False  # Only numbers can be greater or less.
    return bool(_COMPARISONS[sign](value, other))


def _is_deep(value: Any, levels: int = _MOST_LEVELS) -> bool:  # noqa: ANN401 - JSON
    """Whether a value has more levels than all readers can handle."""
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return not levels or any(_is_deep(each, levels - 1) for each in inner)


def _words_in(value: Value, depth: int = 1) -> tuple[str, ...] | None:
    """Return the place of the words in a value, the shallowest one first."""
    for name in _FIELDS:
        if isinstance(value.get(name), str) and value[name].strip():
            return (name,)
    for name in _FIELDS if depth < _DEEPEST else ():
        inner = value.get(name)
        path = _words_in(inner, depth + 1) if isinstance(inner, dict) else None
        if path is not None:
            return (name, *path)
    return None


def _object(text: str) -> Value | None:
    value = json_object(text)
    return None if value is None or _is_deep(value) else value


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
