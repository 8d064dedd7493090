"""LangGraph's store over Engramdown: values under keys are memories that a person can read.

A value that was put is a line of memory that a person can read and change. It is on the disk when
``put`` returns, and comes back as it was put, or as they changed it: whoever changes the words by
hand changes that part of the value and no other. A search is our recall. A batch reads what stood
before it, and writes as one step for each scope.

Every put goes through the gate. What it holds back is not written, and raises an error that says
so, or is told to whoever asked to be told; no secret is written, in words, keys or whatever stands
beside them. A value that a person wrote or changed is only asked about, what somebody changed
meanwhile is left as it is, and what is taken away stands in ``archive.md`` first.
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
from engramdown.engram import SCOPES, Confidence, Engram, Scope
from engramdown.errors import InvalidEngramError, PutRefusedError
from engramdown.gate import KEY, FileQueue, Namespace, Pending, Place, home_of, written
from engramdown.hippocampus import Draft, Entry, Revision
from engramdown.integrations.external_session import ask_user, in_thread, lock_of, store_with_files
from engramdown.kinds import ARCHIVE, ASIDE, LESSONS, kind_in
from engramdown.language import one_line
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

LONGEST: Final = 100_000
"""Characters of a value as JSON at most."""

_ASKS: Final = "a program asks for it"
_THEIRS: Final = "contradiction"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CONFIDENCES: Final = ("high", "medium", "low")


class MemoryStore(base.BaseStore):
    """A store for ``StateGraph.compile(store=...)``.

    Values in namespaces of your own stand in ``topics/``; ``("project", "rules")``,
    ``("project", "lessons")``, ``("project", "topics", slug)`` and ``("global", "profile")`` are
    the memories that are there anyway.
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
            scope: Where namespaces stand whose first label is neither ``project`` nor ``global``.
            confidence: How sure what is put is: what is not high is asked about in copilot.
            refused: Is given a sentence about each put that is not written; without it they are
                raised as a :class:`engramdown.errors.PutRefusedError`.

        Raises:
            InvalidEngramError: If the scope or the confidence is none.
            StoreError: If a store has no files.
        """
        super().__init__()
        if confidence not in _CONFIDENCES:
            raise InvalidEngramError.not_one_of("confidence", confidence, _CONFIDENCES)
        self.cortex = cortex
        self._items = Items(cortex, scope)
        self._confidence: Confidence = confidence
        self._refused = refused

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations: first all that read, then all that write.

        Raises:
            PutRefusedError: If something was not written; the rest of the batch was.
            InvalidEngramError: If a value is no JSON object, or is to expire; nothing was written.
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

        Who is cancelled meanwhile is so once they are carried out.
        """
        asked = list(ops)
        return await in_thread(self.cortex, lambda: self.batch(asked))

    def _read(self, op: base.Op) -> base.Result:
        """Return what an operation reads; refuse one that is none, also if it writes."""
        if isinstance(op, base.PutOp):
            _check(op.namespace)
            if op.ttl is not None and op.value is not None:
                what = f"is {op.ttl!r:.20} minutes, and nothing goes by itself"
                raise InvalidEngramError("ttl", f"{what}; leave it out, and delete")
            return None
        if isinstance(op, base.GetOp):
            _check(op.namespace)
            found = self._items.get(op.namespace, op.key)
            return found and base.Item(**found.copied())
        if isinstance(op, base.SearchOp):
            _check(op.namespace_prefix)
            every = self._items.all(op.namespace_prefix)
            items = [each for each in every if matches_filter(each.value, op.filter)]
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
            matching = {
                each[: op.max_depth] for each in known if gate.keyed_values.matches(each, wanted)
            }
            return sorted(matching)[op.offset : op.offset + op.limit]
        raise ValueError(f"Unknown operation type: {type(op)}")


def _check(labels: Iterable[object]) -> None:
    """Refuse labels with a dot, which would be another namespace as it is written."""
    for label in labels:
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise base.InvalidNamespaceError(
                f"{label!r:.80} is no label of a namespace; give a string without dots"
            )


# ---- values as they stand ----


class KeyedValue(NamedTuple):
    """A value under a key.

    Attributes:
        namespace: The namespace.
        key: The key; of a memory that was not put under one, its id.
        value: The value.
        entry: The memory that it is.
        made: When it was put first.
        changed: When it was put last.
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
        """Whether a program put it, so that it has a key of its own."""
        return self.key != self.entry.id

    def copied(self) -> dict[str, Any]:
        """Return it for an item of LangGraph, which whoever gets it may change."""
        item = {"namespace": self.namespace, "key": self.key, "value": deepcopy(self.value)}
        return item | {"created_at": self.made, "updated_at": self.changed}


class Items:
    """The values of a cortex."""

    def __init__(self, cortex: Cortex, scope: Scope = "project") -> None:
        """Read and write what ``cortex`` keeps.

        Args:
            cortex: Gates and keeps it.
            scope: Where namespaces stand that name no scope.

        Raises:
            InvalidEngramError: If the scope is none.
            StoreError: If a store has no files.
        """
        if scope not in ("project", "global"):
            raise InvalidEngramError.not_one_of("scope", scope, ("project", "global"))
        self.cortex = cortex
        self.scope: Scope = scope
        # What a project keeps comes first.
        self.stores = {
            each: store_with_files(cortex, each, "to keep values in") for each in reversed(SCOPES)
        }
        # By scope and file: the document and the marks that values were read from.
        self._read: dict[
            tuple[Scope, str], tuple[Document, tuple[str, ...], dict[Block, KeyedValue]]
        ] = {}
        self._index: tuple[list[Entry], MemoryIndex] | None = None

    def get(self, namespace: Namespace, key: str) -> KeyedValue | None:
        """Return what stands under a key, or ``None``."""
        home = home_of(namespace, self.scope)
        found = [*self._of(home.scope, home.file), *self._of(home.scope, ARCHIVE)]
        for each in self._usable(home.scope, found):
            if (each.namespace, each.key) == (namespace, key):
                return each
        return None

    def all(self, prefix: Namespace = ()) -> list[KeyedValue]:
        """Return what stands in the namespaces that begin so; each memory once."""
        found: dict[tuple[Scope, str, str], KeyedValue] = {}
        for scope, store in self.stores.items():
            names = [name for name in store.files.names() if name not in ASIDE]
            # As of a topic first, then among all lessons; what tidying took for the same, last.
            names.sort(key=lambda name: (name == LESSONS, not name.startswith("topics/")))
            for name in (*names, ARCHIVE):
                for item in self._usable(scope, self._of(scope, name)):
                    if item.namespace[: len(prefix)] == prefix:
                        place = written(item.namespace) if item.was_put else ""
                        found.setdefault((scope, place, item.key), item)
        return list(found.values())

    def search(self, query: str, items: Sequence[KeyedValue]) -> list[tuple[KeyedValue, float]]:
        """Return which of ``items`` answer a question, the best first, and how well."""
        searched = [item for item in items if item.searched]
        entries = [item.entry for item in searched]
        if self._index is None or self._index[0] != entries:
            self._index = (entries, MemoryIndex(entries))
        hits = self._index[1].search(query, today())
        return [(searched[hit.position], hit.score) for hit in hits]

    def _of(self, scope: Scope, name: str) -> list[KeyedValue]:
        """Return the values of a file; of the archive those that were taken for others.

        A line that did not change is not read again. What the marks of a file name is a person's,
        although it does not say so yet.
        """
        files = self.stores[scope].files
        document, marks = files.document(name), files.marks(name)
        old_document, old_marks, known = self._read.get((scope, name), (None, (), {}))
        if old_document is document and old_marks == marks:
            return list(known.values())
        found: dict[Block, KeyedValue] = {}
        for placed in hippocampus.raw_entries(name, document):
            item = known.get(placed.block) if old_marks == marks else None
            where = (placed.line, placed.heading)
            if item is None or (item.entry.line, item.entry.heading) != where:
                meta = placed.block.meta or Metadata()
                is_copy = meta.get("reason") == gate.keyed_values.DUPLICATE and meta.get(KEY)
                if name == ARCHIVE and not is_copy:
                    continue
                entry = hippocampus.as_entry(name, scope, placed)
                if hippocampus.verified_by(marks, entry.id, entry.text):
                    entry = entry._replace(basis="verified")
                item = _keyed_value(entry, meta)
            found[placed.block] = item
        self._read[scope, name] = (document, marks, found)
        return list(found.values())

    def _usable(self, scope: Scope, items: Iterable[KeyedValue]) -> Iterator[KeyedValue]:
        """Yield those that may reach a program: not what git brought, if that waits for a yes."""
        if self.cortex.scopes.settings.pulled != "review":
            yield from items
            return
        lines = {(each.file, each.line) for each in self.cortex.scopes.usable(self.stores[scope])}
        yield from (each for each in items if (each.entry.file, each.entry.line) in lines)


def _keyed_value(entry: Entry, meta: Metadata) -> KeyedValue:
    made = _time(meta.get(gate.keyed_values.MADE) or entry.ts)
    changed = _time(meta.get(gate.keyed_values.WHEN)) if meta.get(gate.keyed_values.WHEN) else made
    if not meta.get(KEY):
        names = ("text", "kind", "topic", "confidence", "source", "basis")
        value = {name: getattr(entry, name) for name in names if getattr(entry, name)}
        return KeyedValue(gate.keyed_values.native(entry), entry.id, value, entry, made, changed)
    value = joined(
        Parts(entry.text, meta.get(gate.keyed_values.FIELD), meta.get(gate.keyed_values.REST))
    )
    stood = entry._replace(file=meta.get("was") or entry.file)
    namespace = gate.keyed_values.named(
        meta.get(gate.keyed_values.NAMESPACE)
    ) or gate.keyed_values.native(stood)
    is_searched = not meta.get(gate.keyed_values.HIDDEN)
    return KeyedValue(namespace, meta.get(KEY), value, entry, made, changed, is_searched)


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _EPOCH
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# ---- values that are put, or taken away ----


class _Planned(NamedTuple):
    """A put that may be written.

    Attributes:
        place: Where it belongs.
        item: What stands there, or ``None``.
        engram: The memory, or ``None`` if something is taken away.
        marks: What metadata says of the rest of the value.
    """

    place: Place
    item: KeyedValue | None
    engram: Engram | None = None
    marks: Mapping[str, str] = MappingProxyType({})


class Puts:
    """One batch of values to put under keys, or to take away."""

    def __init__(self, items: Items, confidence: Confidence = "medium") -> None:
        """Write what ``items`` reads.

        Args:
            items: The values.
            confidence: How sure what is put is: what is not high is asked about in copilot.
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
        """Write what may be written, and return a sentence about each put that is not.

        Raises:
            InvalidEngramError: If a value is no JSON object; nothing is written then.
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
            self._refuse(place, "is a memory that was not put under a key; choose another key")
            return
        if item is not None and same(item.value, value) and item.searched == is_searched:
            return
        hidden = "" if is_searched else "yes"
        marks = {
            gate.keyed_values.FIELD: parts.field,
            gate.keyed_values.REST: parts.rest,
            gate.keyed_values.HIDDEN: hidden,
        }
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
            own = {gate.keyed_values.NAMESPACE: written(place.namespace), KEY: place.key, **marks}
            seen = gate.keyed_values.digest_of(pending.engram.text)
            self._ask(
                place, replace(pending, put=gate.keyed_values.proposed(own), seen=seen), reason
            )
        else:
            self._planned.append(_Planned(place, item, engram, marks))

    def _engram(self, place: Place, text: str, value: Mapping[str, Any]) -> Engram:
        """Return the memory that a value is.

        Raises:
            InvalidEngramError: If it cannot be one.
        """
        key: object = place.key
        if not isinstance(key, str) or not key:
            raise InvalidEngramError("key", f"{key!r:.80} is no key; give a string")
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
    """Write values, the last one wins; return what a person has changed meanwhile."""
    late: list[str] = []
    gone: list[tuple[Place, Entry]] = []
    for place, item, engram, marks in planned:
        stands = gate.keyed_values.find_line(draft, place, item and item.entry)
        if stands is None and engram is not None and item:
            archived = map(hippocampus.entry_id, hippocampus.tombstones(draft.get(ARCHIVE)))
            if item.entry.id in archived:
                late.append(f"{_name(place)} was deleted by the user meanwhile")
                continue
        if stands is not None and stands.entry.by_person:
            late.append(f"{_name(place)} was changed by the user meanwhile; read it again")
        elif engram is not None:
            gate.keyed_values.put_line(draft, place, engram, marks, stands)
        elif stands is not None and stands.entry.file == ARCHIVE:
            draft.put(ARCHIVE, draft.get(ARCHIVE).remove(stands.placed.block))
        elif stands is not None:
            gone.append((place, stands.entry))
    revisions = [Revision((entry,), "removed") for _, entry in gone]
    context = hippocampus.PlanContext(names, hippocampus.new_id, today().isoformat(), "llm")
    done = hippocampus.revise(draft, revisions, context) if revisions else []
    for (place, _), result in zip(gone, done, strict=True):
        if result.problem:
            late.append(f"{_name(place)} is left as it was: {result.problem}")
    return late


# ---- a value as the words of a memory, and the rest beside them ----

_WHOLE: Final = "$"
# Where frameworks keep the words: LangGraph's examples, LangMem, and whoever follows them.
_FIELDS: Final = ("text", "content", "memory", "data", "fact", "page_content", "summary")
_DEEPEST: Final = 3
_MOST_LEVELS: Final = 100
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
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
        field: Where in the value they stand: ``content.content``; ``$`` if they are all of it.
        rest: The value without them, as JSON, or ``""``.
    """

    text: str
    field: str
    rest: str = ""


def split(value: object) -> Parts:
    """Return a value in parts.

    Raises:
        InvalidEngramError: If it is no JSON object, or too long.

    >>> split({"kind": "Memory", "content": {"content": "Likes tea"}})
    Parts(text='Likes tea', field='content.content', rest='{"kind":"Memory","content":{}}')
    >>> split({"theme": "dark"})
    Parts(text='{"theme": "dark"}', field='$', rest='')
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidEngramError("value", f"{value!r:.80} is no object; give a dict with names")
    try:
        given = _compact(value)
        given.encode()
        whole: Value = json.loads(given)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidEngramError("value", f"cannot be kept as JSON: {error}") from None
    if len(given) > LONGEST:
        raise InvalidEngramError.too_long("value", given, f"{LONGEST:,} characters")
    if _is_deep(whole):
        reason = f"has more than {_MOST_LEVELS} levels; give a flatter one"
        raise InvalidEngramError("value", reason)
    path = _words_in(whole)
    if path is None:
        return Parts(json.dumps(whole, ensure_ascii=False), _WHOLE)
    inner = whole
    for name in path[:-1]:
        inner = inner[name]
    text = inner.pop(path[-1])
    rest = _compact(whole) if whole else ""
    return Parts(text, ".".join(path), rest)


def joined(parts: Parts) -> Value:
    """Return the value of some parts, whatever a person made of them.

    >>> joined(Parts("Likes coffee", "content.content", '{"kind":"Memory","content":{}}'))
    {'kind': 'Memory', 'content': {'content': 'Likes coffee'}}
    """
    if parts.field == _WHOLE:
        found = _object(parts.text)
        return {"text": parts.text} if found is None else found
    whole = _object(parts.rest) or {}
    inner = whole
    *outer, last = (parts.field or _FIELDS[0]).split(".", _MOST_LEVELS)
    for name in outer:
        if not isinstance(inner.get(name), dict):
            inner[name] = {}
        inner = inner[name]
    inner[last] = parts.text
    return whole


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two values are the same JSON: ``True`` is not ``1`` there.

    >>> same({"a": (1, 2), "b": 3}, {"b": 3, "a": [1, 2]}), same({"a": 1}, {"a": True})
    (True, False)
    """
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value is as a filter says: equal, or by ``$eq $ne $gt $gte $lt $lte``.

    Raises:
        ValueError: If there is no such operator.
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
    if sign in ("$eq", "$ne"):
        return bool(value == other) is (sign == "$eq")
    if sign not in _COMPARISONS:
        known = ", ".join(sorted(["$eq", "$ne", *_COMPARISONS]))
        raise ValueError(f"Unsupported operator: {sign}; there are {known}")
    try:
        return _COMPARISONS[sign](float(value), float(other))
    except (TypeError, ValueError):
        return False  # What is no number is neither more nor less.


def _is_deep(value: Any, levels: int = _MOST_LEVELS) -> bool:  # noqa: ANN401 - JSON
    """Whether a value has more levels than everybody who gets it can go down."""
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return not levels or any(_is_deep(each, levels - 1) for each in inner)


def _words_in(value: Value, depth: int = 1) -> tuple[str, ...] | None:
    """Return where the words of a value stand, the shallowest first."""
    for name in _FIELDS:
        if isinstance(value.get(name), str) and value[name].strip():
            return (name,)
    for name in _FIELDS if depth < _DEEPEST else ():
        inner = value.get(name)
        found = _words_in(inner, depth + 1) if isinstance(inner, dict) else None
        if found is not None:
            return (name, *found)
    return None


def _object(text: str) -> Value | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not _is_deep(found) else None


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
