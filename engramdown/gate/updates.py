"""Proposes what a transcript shows that a user said, and retires what it replaces or takes back.

What a user says now passes the gate whatever memory holds. What is read in a transcript later must
not bring back what a person has deleted since, nor replace what they have written: that becomes a
question. What was only learned from an earlier session gives way: it is archived with a pointer to
the memory that replaces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import today
from engramdown.consolidation.corrections import TakenBack, revised, supersedes
from engramdown.consolidation.revisions import over
from engramdown.consolidation.utterances import small_letters
from engramdown.engram import Engram, fold
from engramdown.gate.gate import Evidence, decide, holds_secret, scope_of, without_secrets
from engramdown.gate.intake import Receipt, waiting_receipt
from engramdown.gate.pending import Pending
from engramdown.hippocampus import Entry, Hippocampus
from engramdown.hippocampus.changeset import Revision, new_id

if TYPE_CHECKING:
    from engramdown.gate.scopes import Scopes

_SURE: Final = frozenset({"turned-down", "contradiction"})
_WRITTEN: Final = frozenset({"encoded", "merged"})


class _News(NamedTuple):
    """An engram, and the memories whose place it takes."""

    engram: Engram
    older: tuple[Entry, ...]


def is_learned(entry: Entry) -> bool:
    """Whether a memory was learned from a session, and no person wrote, confirmed or pinned it."""
    heard = entry.source == "user" and entry.origin and entry.basis == "told" and not entry.pin
    return bool(heard) or not entry.by_person


def take_in(
    scopes: Scopes, engrams: Sequence[Engram], taken_back: Iterable[TakenBack] = ()
) -> list[Receipt]:
    """Propose what a user said, and retire what it replaces or takes back.

    Args:
        scopes: The memory.
        engrams: What they said.
        taken_back: What they took back from earlier sessions.

    Returns:
        A receipt for each engram, in order, one for each memory of which something has changed,
        then one for each that was taken back.

    Raises:
        StoreError: If a memory could not be read or retired.
    """
    standing = [entry for store in scopes.stores for entry in scopes.usable(store)]
    settled: dict[str, str] = {}
    gone: list[Receipt] = []
    changes: list[_News] = []
    again: list[str] = []  # What says that, and means nothing else.
    backs = [it for it in taken_back if not (it.instead and holds_secret(it.instead))]
    for back in backs:
        for entry, instead in revised(back, standing):
            # A statement of its own says it better.
            if instead and any(
                _is_part(it, back.words) and supersedes(it, entry) for it in engrams
            ):
                continue
            if settled.setdefault(entry.id, back.words) != back.words:
                continue
            if instead is None:
                gone.append(_forget(scopes, entry))
                again += over(small_letters(back.words))
            else:
                changes.append(_News(replace(instead, scope=entry.scope), (entry,)))
                again.append(back.words)
    news = [_news(engram, standing) for engram in engrams]
    objections = _Objections(scopes, [entry for each in (*news, *changes) for entry in each.older])
    # What replaces nothing is written together, as one step.
    said = {at for at, it in enumerate(news) if any(_is_part(it.engram, part) for part in again)}
    plain = [at for at, each in enumerate(news) if not each.older and at not in said]
    engrams_alone = [objections.respected(news[at].engram) for at in plain]
    proposed = scopes.propose(engrams_alone) if plain else []
    receipts = dict(zip(plain, proposed, strict=True))
    for at, each in enumerate(news):
        if each.older and at not in said:
            receipts[at] = _take_in(scopes, each, objections)
    changed = [_take_in(scopes, each, objections) for each in changes] + gone
    receipts |= dict.fromkeys(said, changed[0]) if said else {}
    return [*(receipts[at] for at in range(len(news))), *changed]


def _is_part(engram: Engram, words: str) -> bool:
    return fold(engram.text).removeprefix("never ") in fold(words)


def _news(engram: Engram, standing: Iterable[Entry]) -> _News:
    if engram.source != "user" or holds_secret(engram):
        return _News(engram, ())
    older = tuple(entry for entry in standing if supersedes(engram, entry))
    # Another value of what is known is not a request for one occasion.
    return _News(replace(engram, unsure=engram.unsure and not older), older)


class _Objections:
    """What memory holds against a late word of the user's, apart from what that replaces."""

    def __init__(self, scopes: Scopes, older: Sequence[Entry]) -> None:
        self._scopes = scopes
        gone = {(entry.scope, entry.id) for entry in older if is_learned(entry)}
        self._evidence = Evidence(
            {
                store.scope: [it for it in scopes.usable(store) if (it.scope, it.id) not in gone]
                for store in scopes.stores
            },
            scopes.intake.waiting.turned_down(),
            scopes.was_erased,
        )

    def respected(self, engram: Engram) -> Engram:
        """Return the engram, as a guess of ours if memory objects to it."""
        if engram.source != "user":
            return engram
        later = replace(engram, source="consolidation")
        code = decide(self._scopes.mode, later, self._evidence.findings(later)).code
        return later if code in _SURE else engram


def _take_in(scopes: Scopes, news: _News, objections: _Objections) -> Receipt:
    theirs = [entry for entry in news.older if not is_learned(entry)]
    if theirs and scopes.mode != "off":
        return _ask(scopes, news.engram, theirs[0])
    engram = objections.respected(news.engram)
    (receipt,) = scopes.propose([engram], by_person=True)
    # What only waits for a person is shown beside what it is about, but that counts no more.
    if receipt.action in _WRITTEN or (engram.unsure and receipt.action == "queued"):
        for entry in news.older:
            _retire(scopes, entry, receipt)
    return receipt


def _ask(scopes: Scopes, engram: Engram, entry: Entry) -> Receipt:
    """Let a person decide between their own line and what they were heard to say later."""
    scope = scope_of(engram)
    held = scopes.mode == "autopilot"
    item = Pending(
        new_id(),
        replace(without_secrets(engram), scope=scope, source="consolidation", basis="", ts=""),
        hold="contradiction" if held else "",
        reason="contradiction",
        op="replace" if entry.scope == scope else "encode",
        of=entry.id if entry.scope == scope else "",
        ts=today().isoformat(),
    )
    queue = scopes.intake.waiting.queue(scope)
    (waiting,) = queue.add([item])
    return waiting_receipt(queue, waiting, f"says otherwise than you wrote: {entry.text!r:.200}")


def _retire(scopes: Scopes, entry: Entry, receipt: Receipt) -> None:
    """Archive a memory that a newer one replaces, with a pointer to that."""
    store = scopes.store(entry.scope)
    standing = {each.id: each for each in store.entries()}
    if entry.id not in standing or entry.id == receipt.id or not isinstance(store, Hippocampus):
        return
    why = "you said otherwise later"
    stays = standing.get(receipt.id)
    if stays is not None:
        store.apply([Revision((standing[entry.id],), "replaced", stays)], why=why)
    else:
        store.forget(entry.id, why, "replaced", by="consolidation", seen=entry)


def _forget(scopes: Scopes, entry: Entry) -> Receipt:
    """Archive what the user took back; ask them if they wrote it themselves."""
    if not is_learned(entry) or scopes.mode != "autopilot":
        return scopes.retire(entry, "you took it back")
    store = scopes.store(entry.scope)
    if isinstance(store, Hippocampus):
        why = "you took it back"
        gone = store.forget(entry.id, why, "retracted", by="consolidation", seen=entry)
    else:
        gone = store.forget(entry.id)
    return scopes.heard([Receipt(gone.engram(), "forgotten", "you took it back", gone.id)])[0]
