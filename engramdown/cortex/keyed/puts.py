"""Putting values under keys, and taking them away.

Promises: every put goes through the gate; what it holds back is not written, and told; no secret
is written, in words, keys or whatever stands beside them; a value that a person wrote or changed is
only asked about; what is taken away stands in ``archive.md`` first; a batch is one step for each
scope, and what somebody changed meanwhile is left as it is, and told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from engramdown.clock import moment, today
from engramdown.cortex.evidence import harmless
from engramdown.cortex.gate import REASONS
from engramdown.cortex.keyed.items import (
    DUPLICATE,
    FIELD,
    HIDDEN,
    KEY,
    MADE,
    NAMESPACE,
    REST,
    WHEN,
    Item,
    Items,
)
from engramdown.cortex.keyed.namespaces import Home, Namespace, written
from engramdown.cortex.keyed.values import Parts, same, split
from engramdown.cortex.pending import Operation, Pending
from engramdown.cortex.review import FileQueue
from engramdown.engram import RULE_KINDS, Confidence, Engram, Kind, Scope
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus.document import Placed
from engramdown.hippocampus.draft import Act, Draft
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.files import new_id
from engramdown.hippocampus.filing import (
    ARCHIVE,
    PROFILE,
    RULES,
    as_entry,
    entry_id,
    fields,
    make_way,
    raw_entries,
    title_of,
)
from engramdown.hippocampus.metadata import Metadata
from engramdown.hippocampus.retired import tombstones
from engramdown.hippocampus.revising import Desk, Revision, revise
from engramdown.redaction import find_secrets, redact

__all__ = ["Put", "Putting"]

_ASKS: Final = "a program asks for it"
_THEIRS: Final = "contradiction"
_WAITS: Final = "waits for the user's yes in pending.md"
_CHANGED: Final = "was changed by the user meanwhile; read it again"
_DELETED: Final = "was deleted by the user meanwhile"
_NO_KEY: Final = "is a memory that was not put under a key; choose another key"


class Put(NamedTuple):
    """A value to put under a key.

    Attributes:
        namespace: The namespace.
        key: The key.
        value: The value, or ``None`` to take away what stands there.
        searched: Whether a search may find it.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    searched: bool = True


class _Planned(NamedTuple):
    """A put that may be written.

    Attributes:
        put: The put.
        home: Where it goes.
        item: What stands there, or ``None``.
        engram: The memory, or ``None`` if something is taken away.
        parts: Its value in parts.
    """

    put: Put
    home: Home
    item: Item | None
    engram: Engram | None
    parts: Parts


class Putting:
    """Some puts on their way."""

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
        self._refusals: list[str] = []

    def carry_out(self, puts: Sequence[Put]) -> list[str]:
        """Write what may be written, and return a sentence about each put that is not.

        Raises:
            InvalidEngramError: If a value is no JSON object; nothing is written then.
            StoreError: If a store could not be read or written.
        """
        for store in self._items.stores.values() if puts else ():
            store.notice()
        for put in puts:
            self._plan(put)
        for scope, store in self._items.stores.items():
            mine = [each for each in self._planned if each.home.scope == scope]
            if mine:
                op = "update" if any(each.item for each in mine) else "encode"
                verb = "put" if any(each.engram for each in mine) else "delete"
                one = len(mine) == 1
                why = f"{verb} {_name(mine[0].put) if one else f'{len(mine)} values'}"
                edit = partial(_write, planned=mine, names=store.files.names())
                self._refusals += store.files.change(Act(op, "llm", why), edit)
            waiting = [item for each, item in self._waiting if each == scope]
            if waiting:
                FileQueue(store).add(waiting)
        return self._refusals

    def _plan(self, put: Put) -> None:
        home = self._items.home(put.namespace)
        item = self._items.get(put.namespace, put.key)
        if put.value is None:
            self._plan_removal(put, home, item)
            return
        parts = split(put.value)
        engram = self._engram(put, home, parts)
        if item is not None and not item.was_put:
            self._refuse(put, _NO_KEY)
        elif item is None or not same(item.value, put.value) or item.searched != put.searched:
            self._gate(_Planned(put, home, item, engram, parts), engram)

    def _plan_removal(self, put: Put, home: Home, item: Item | None) -> None:
        if item is None:
            return
        if self._cortex.mode == "off":
            self._refuse(put, REASONS["off"])
        elif item.entry.by_person or self._cortex.mode == "copilot":
            engram = Engram(f"Delete: {item.entry.text}", item.entry.kind, home.scope)
            reason = REASONS[_THEIRS if item.entry.by_person else "confidence"]
            self._ask(put, home, self._pending(engram, "forget", item, _ASKS), reason)
        else:
            self._planned.append(_Planned(put, home, item, None, Parts("", "")))

    def _gate(self, planned: _Planned, engram: Engram) -> None:
        put, home, item = planned.put, planned.home, planned.item
        beside = find_secrets("\n".join([*put.namespace, put.key, planned.parts.rest]))
        decision = self._cortex.encoding_gate(engram)
        theirs = item is not None and item.entry.by_person
        if self._cortex.mode != "off" and beside:
            kinds = ", ".join(sorted({each.kind for each in beside}))
            self._refuse(put, f"{REASONS['secret']} ({kinds})")
        elif decision.action == "discard":
            self._refuse(put, decision.reason)
        elif decision.action == "confirm" or theirs:
            code = _THEIRS if theirs else decision.code
            reason = REASONS[_THEIRS] if theirs else decision.reason
            pending = self._pending(engram, "replace" if item else "encode", item, code)
            self._ask(put, home, pending, reason)
        else:
            self._planned.append(planned)

    def _engram(self, put: Put, home: Home, parts: Parts) -> Engram:
        """Return the memory that a value is.

        Raises:
            InvalidEngramError: If it cannot be one.
        """
        key: object = put.key
        if not isinstance(key, str) or not key:
            raise InvalidEngramError("key", f"{key!r:.80} is no key; give a string")
        try:
            key.encode()
        except UnicodeEncodeError:
            raise InvalidEngramError("key", "holds half of a surrogate pair") from None
        kind: Kind = "profile" if home.file == PROFILE else "lesson"
        if home.file == RULES:
            said = (put.value or {}).get("kind")
            kind = next((each for each in RULE_KINDS if each == said), "always")
        return Engram(parts.text, kind, home.scope, self._confidence, home.topic, "llm")

    def _pending(self, engram: Engram, op: Operation, item: Item | None, code: str) -> Pending:
        return Pending(
            new_id(),
            harmless(engram),
            hold=code if self._cortex.mode == "autopilot" else "",
            reason=code,
            op=op,
            of=item.entry.id if item else "",
            ts=today().isoformat(),
        )

    def _ask(self, put: Put, home: Home, pending: Pending, reason: str) -> None:
        self._waiting.append((home.scope, pending))
        self._refuse(put, f"{_WAITS}: {reason}")

    def _refuse(self, put: Put, reason: str) -> None:
        self._refusals.append(redact(f"{_name(put)} {reason}"))


def _name(put: Put) -> str:
    return f"{'/'.join(put.namespace)} {put.key!r:.80}"


def _write(draft: Draft, planned: Sequence[_Planned], names: Sequence[str]) -> list[str]:
    """Write values, the last one wins; return what a person has changed meanwhile."""
    late: list[str] = []
    gone: list[tuple[_Planned, Entry]] = []
    for each in planned:
        stands = _standing(draft, each)
        if stands is not None and stands.entry.by_person:
            late.append(f"{_name(each.put)} {_CHANGED}")
        elif stands is None and each.engram is not None and _was_deleted(draft, each.item):
            late.append(f"{_name(each.put)} {_DELETED}")
        elif each.engram is not None:
            _put(draft, each, each.engram, stands)
        elif stands is not None and stands.entry.file == ARCHIVE:
            draft.put(ARCHIVE, draft.get(ARCHIVE).remove(stands.placed.block))
        elif stands is not None:
            gone.append((each, stands.entry))
    revisions = [Revision((entry,), "removed") for _, entry in gone]
    desk = Desk(names, new_id, today().isoformat(), "llm")
    done = revise(draft, revisions, desk) if revisions else []
    for (each, _), result in zip(gone, done, strict=True):
        if result.problem:
            late.append(f"{_name(each.put)} is left as it was: {result.problem}")
    return late


class _Stands(NamedTuple):
    """A value as it stands now.

    Attributes:
        placed: Its line.
        entry: The memory.
    """

    placed: Placed
    entry: Entry


def _standing(draft: Draft, planned: _Planned) -> _Stands | None:
    """Return what stands under a key now, wherever it stood when it was looked for."""
    put, home, item = planned.put, planned.home, planned.item
    namespace = "" if home.native else written(put.namespace)
    # A look at the line is a tenth of the work of reading what it says.
    sign = item.entry.id if item else _inside(Metadata().update({KEY: put.key}))
    for file in dict.fromkeys((item.entry.file if item else home.file, home.file)):
        for placed in raw_entries(file, draft.get(file)):
            if sign not in placed.block.raw and not sign.startswith("~"):
                continue
            meta = placed.block.meta or Metadata()
            has_key = (meta.get(KEY), meta.get(NAMESPACE)) == (put.key, namespace)
            is_it = item is not None and not item.was_put and entry_id(placed) == item.key
            went = (meta.get("reason"), meta.get("was")) != (DUPLICATE, home.file)
            if (has_key or is_it) and not (file == ARCHIVE and went):
                return _Stands(placed, as_entry(file, home.scope, placed))
    return None


def _was_deleted(draft: Draft, item: Item | None) -> bool:
    """Whether a person took away what stood there, since it was looked for."""
    gone = tombstones(draft.get(ARCHIVE)) if item is not None else ()
    return any(item is not None and entry_id(placed) == item.entry.id for placed in gone)


def _inside(meta: Metadata) -> str:
    """Return metadata as it is written, without the comment around it."""
    return str(meta).removeprefix("<!-- ").removesuffix(" -->")


def _put(draft: Draft, planned: _Planned, engram: Engram, stands: _Stands | None) -> None:
    """Write a value in the place of the line that has its key, or as a new line."""
    put, home, parts = planned.put, planned.home, planned.parts
    now = moment()
    said = {FIELD: parts.field, REST: parts.rest, HIDDEN: "" if put.searched else "yes"}
    if stands is not None and stands.entry.file != ARCHIVE:
        file, block = stands.entry.file, stands.placed.block
        meta = (block.meta or Metadata()).update({**said, WHEN: now})
        draft.put(file, draft.get(file).replace(block, engram.text, meta))
        return
    if stands is not None:
        # It was taken for another value of the same words, and is none any more.
        draft.put(ARCHIVE, draft.get(ARCHIVE).remove(stands.placed.block))
    namespace = "" if home.native else written(put.namespace)
    said |= {NAMESPACE: namespace, KEY: put.key, MADE: now}
    meta = Metadata().update(fields(engram, new_id(), today().isoformat()) | said)
    if home.file == PROFILE:
        make_way(draft, engram.text, "llm", new_id(), today().isoformat())
    section = engram.kind if home.file == RULES else ""
    document = draft.get(home.file).add(engram.text, meta, section, title_of(home.file))
    draft.put(home.file, document)
