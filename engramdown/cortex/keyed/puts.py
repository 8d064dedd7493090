"""Putting values under keys, and taking them away.

Promises: every put goes through the gate; what it holds back is not written, and told; no secret
is written, in words, keys or whatever stands beside them; a value that a person wrote or changed is
only asked about; what is taken away stands in ``archive.md`` first; a batch is one step for each
scope, and what somebody changed meanwhile is left as it is, and told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from engramdown.clock import today
from engramdown.cortex.evidence import harmless
from engramdown.cortex.gate import REASONS
from engramdown.cortex.keyed.items import Item, Items
from engramdown.cortex.keyed.values import LONGEST, Parts, same, split
from engramdown.cortex.keyed_values import (
    FIELD,
    HIDDEN,
    KEY,
    NAMESPACE,
    REST,
    Home,
    Namespace,
    Place,
    digest_of,
    proposed,
    put_line,
    standing,
    written,
)
from engramdown.cortex.pending import Operation, Pending
from engramdown.cortex.review import FileQueue
from engramdown.engram import RULE_KINDS, Confidence, Engram, Kind, Scope
from engramdown.errors import InvalidEngramError
from engramdown.hippocampus.draft import Act, Draft
from engramdown.hippocampus.entry import Entry
from engramdown.hippocampus.files import new_id
from engramdown.hippocampus.filing import (
    ARCHIVE,
    PROFILE,
    RULES,
    entry_id,
)
from engramdown.hippocampus.retired import tombstones
from engramdown.hippocampus.revising import Desk, Revision, revise
from engramdown.language.untrusted import one_line
from engramdown.secrets.redaction import find_secrets, redact
from engramdown.storage.locks import one_call

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

    @property
    def place(self) -> Place:
        """Where it belongs."""
        return Place(self.put.namespace, self.put.key, self.home)


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
        self._gone: list[tuple[Scope, tuple[str, str]]] = []
        self._refusals: list[str] = []

    @one_call()
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
            if gone := {key for each, key in self._gone if each == scope}:
                FileQueue(store).withdraw(gone)
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
        if self._cortex.mode != "off":
            self._gone.append((home.scope, (written(put.namespace), put.key)))
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
            marks = {NAMESPACE: written(put.namespace), KEY: put.key}
            marks |= _marks(put, planned.parts)
            seen = digest_of(pending.engram.text)
            self._ask(put, home, replace(pending, put=proposed(marks), seen=seen), reason)
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
        place = written(put.namespace)
        for name, text in (("key", key), ("namespace", place)):
            if len(text) > LONGEST:
                raise InvalidEngramError.too_long(name, text, f"{LONGEST:,} characters")
            try:
                text.encode()
            except UnicodeEncodeError:
                raise InvalidEngramError(name, "holds half of a surrogate pair") from None
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
    return f"{one_line('/'.join(put.namespace))} {put.key!r:.80}"


def _write(draft: Draft, planned: Sequence[_Planned], names: Sequence[str]) -> list[str]:
    """Write values, the last one wins; return what a person has changed meanwhile."""
    late: list[str] = []
    gone: list[tuple[_Planned, Entry]] = []
    for each in planned:
        stands = standing(draft, each.place, each.item)
        if stands is not None and stands.entry.by_person:
            late.append(f"{_name(each.put)} {_CHANGED}")
        elif stands is None and each.engram is not None and _was_deleted(draft, each.item):
            late.append(f"{_name(each.put)} {_DELETED}")
        elif each.engram is not None:
            put_line(draft, each.place, each.engram, _marks(each.put, each.parts), stands)
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


def _marks(put: Put, parts: Parts) -> dict[str, str]:
    """Return what metadata says of the rest of a value."""
    return {FIELD: parts.field, REST: parts.rest, HIDDEN: "" if put.searched else "yes"}


def _was_deleted(draft: Draft, item: Item | None) -> bool:
    """Whether a person took away what stood there, since it was looked for."""
    gone = tombstones(draft.get(ARCHIVE)) if item is not None else ()
    return any(item is not None and entry_id(placed) == item.entry.id for placed in gone)
