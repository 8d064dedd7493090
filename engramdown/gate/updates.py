"""Takes in what a user said some time ago: new, instead of something else, or no longer.

A sure word of the user's passes the gate whatever stands against it. One that is read in a
transcript later must not bring back what a person deleted since, nor replace what they wrote since:
that becomes a question. What was only learned from an earlier session gives way: it is archived,
and names the memory that stands for it now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.clock import today
from engramdown.consolidation.corrections import TakenBack, about, supersedes
from engramdown.engram import Engram
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
    """Propose what a user said, and retire what they said before and say otherwise now.

    Args:
        scopes: The memory.
        engrams: What they said.
        taken_back: What they took back of what they had said before.

    Returns:
        A receipt for each engram, in order, and for each memory that was taken back.

    Raises:
        StoreError: If a memory could not be read or retired.
    """
    standing = [entry for store in scopes.stores for entry in scopes.usable(store)]
    gone = [_forget(scopes, entry) for back in taken_back for entry in about(back, standing)]
    news = [_news(engram, standing) for engram in engrams]
    care = _Care(scopes, [entry for each in news for entry in each.older])
    # What replaces nothing is written together, as one step.
    plain = [at for at, each in enumerate(news) if not each.older]
    proposed = scopes.propose([care.taken(news[at].engram) for at in plain]) if plain else []
    receipts = dict(zip(plain, proposed, strict=True))
    for at, each in enumerate(news):
        if each.older:
            receipts[at] = _take_in(scopes, each, care)
    return [*(receipts[at] for at in range(len(news))), *gone]


def _news(engram: Engram, standing: Iterable[Entry]) -> _News:
    if engram.source != "user" or holds_secret(engram):
        return _News(engram, ())
    older = tuple(entry for entry in standing if supersedes(engram, entry))
    # Another value of what is known is not a request for one occasion.
    return _News(replace(engram, unsure=engram.unsure and not older), older)


class _Care:
    """What stands against a word of the user's that is read later, besides what it replaces."""

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

    def taken(self, engram: Engram) -> Engram:
        """Return what may be proposed of it."""
        if engram.source != "user":
            return engram
        later = replace(engram, source="consolidation")
        code = decide(self._scopes.mode, later, self._evidence.findings(later)).code
        return later if code in _SURE else engram


def _take_in(scopes: Scopes, news: _News, care: _Care) -> Receipt:
    theirs = [entry for entry in news.older if not is_learned(entry)]
    if theirs and scopes.mode != "off":
        return _ask(scopes, news.engram, theirs[0])
    engram = care.taken(news.engram)
    (receipt,) = scopes.propose([engram], by_person=bool(news.older))
    if receipt.action in _WRITTEN:
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
    """Archive what a newer word stands for, with the id of that."""
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
    """Archive what the user took back, or ask them, if they wrote it themselves."""
    if not is_learned(entry) or scopes.mode != "autopilot":
        return scopes.retire(entry, "you took it back")
    store = scopes.store(entry.scope)
    if isinstance(store, Hippocampus):
        why = "you took it back"
        gone = store.forget(entry.id, why, "retracted", by="consolidation", seen=entry)
    else:
        gone = store.forget(entry.id)
    return scopes.heard([Receipt(gone.engram(), "forgotten", "you took it back", gone.id)])[0]
