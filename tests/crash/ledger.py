"""What must be true of memory after an hour of work: a ledger beside it, of a few lines.

Promises: each memory is known by its code word, in whatever words it stands; of what was cut short
both ends are allowed, until it is seen which one it was; nothing is taken from memory but what
nobody told the ledger of, and that only where something may have been learned unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

_TIDIED: Final = frozenset({"duplicate", "merged", "expired"})
"""Why a job may retire a memory unasked."""


class State(NamedTuple):
    """Where a memory is.

    Attributes:
        where: ``live``, ``waits`` for a person, or ``gone``.
        text: Its words; ``""`` for any, or if it is gone.
    """

    where: str
    text: str = ""

    def fits(self, other: State) -> bool:
        """Whether what is seen is what was meant."""
        return self.where == other.where and self.text in ("", other.text)


GONE: Final = State("gone")


def live(text: str) -> State:
    """Return the state of what stands in memory."""
    return State("live", text)


def waits(text: str) -> State:
    """Return the state of what waits for a person."""
    return State("waits", text)


class Ledger:
    """What may be the state of each memory.

    Attributes:
        may: The states that each may be in, by code word; nothing else may be there.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.may: dict[str, set[State]] = {}
        self.codes: set[str] = set()
        # What a person deleted by hand: an old buffer may look so, and then they are asked.
        self._by_hand: set[str] = set()

    def copy(self) -> Ledger:
        """Return another one, for another branch or another desk."""
        return deepcopy(self)

    def know(self, codes: Iterable[str]) -> None:
        """Know code words when they are seen."""
        self.codes |= set(codes)

    def talk(self, code: str) -> None:
        """Take note of what was only said: it may be learned, in whatever words, or not."""
        self.may.setdefault(code, {GONE, live(""), waits("")})

    def put(self, code: str, state: State, *, by_hand: bool = False) -> None:
        """Take note of what was done, and acknowledged."""
        self.may[code] = {state}
        self._by_hand.discard(code)
        if by_hand and state == GONE:
            self._by_hand.add(code)

    def either(self, code: str, state: State) -> None:
        """Take note of what was begun, and perhaps done."""
        self.may[code] = self.may.get(code, {GONE}) | {state}

    def text(self, code: str) -> str:
        """Return the words of a memory that stands in memory for certain, or ``""``."""
        (state, *more) = self.may.get(code, {GONE})
        return state.text if state.where == "live" and not more else ""

    def all_live(self) -> dict[str, str]:
        """Return what stands in memory for certain, by code word."""
        return {code: text for code in sorted(self.may) if (text := self.text(code))}

    def all_waiting(self) -> dict[str, str]:
        """Return what waits for certain, by code word."""
        found = {code: next(iter(may)) for code, may in self.may.items() if len(may) == 1}
        return {code: state.text for code, state in sorted(found.items()) if state.where == "waits"}

    def code_of(self, text: str) -> str:
        """Return the code word of a text, or ``""``; a twin has one of its own."""
        if found := re.match(r"Tool of \w+", text):
            return found[0]
        words = re.findall(r"\w+", text)
        code = next((word for word in words if word in self.codes), "")
        return f"{code}'" if code and "please" in words else code

    def settle(self, seen: Mapping[str, Any], *, unseen: bool = False) -> list[str]:
        """Compare with what is seen, take over what was open, and return what is violated.

        Args:
            seen: What :func:`tests.crash.workday.look` returned.
            unseen: Whether something may have been learned that nobody told of.
        """
        wrong = []
        stand: dict[str, list[str]] = {}
        for entry_id, text, *_ in seen["entries"]:
            code = self.code_of(text) or text
            if code == text and text not in self.may:
                if not unseen:
                    wrong.append(f"nobody wrote {text!r} ({entry_id})")
                self.may[text] = {live(text)}
            stand.setdefault(code, []).append(text)
        wait = {
            self.code_of(text): text
            for _, op, text in seen["pending"]
            if op in ("encode", "replace")
        }
        for code in sorted(self.may.keys() | stand.keys()):
            wrong += self._settle(code, stand.get(code, []), wait, seen)
        return wrong

    def _settle(
        self, code: str, stand: list[str], wait: Mapping[str, str], seen: Mapping[str, Any]
    ) -> Iterable[str]:
        may = self.may.get(code, {GONE})
        if len(stand) > 1:
            yield f"{code} stands {len(stand)} times: {stand}"
        is_asked = any(code in text for _, op, text in seen["pending"] if op == "forget")
        now = live(stand[0]) if stand else waits(wait[code]) if code in wait else GONE
        # What was only said may be learned in any later night.
        self.may[code] = may if now == GONE and live("") in may else {now}
        if any(each.fits(now) for each in may):
            return
        if now == GONE and self._is_tidied(code, may, seen):
            return
        if now.where == "live" and may == {GONE} and code in self._by_hand and is_asked:
            return
        yield f"{code} is {now}, and may be {sorted(may)}"

    def _is_tidied(self, code: str, may: set[State], seen: Mapping[str, Any]) -> bool:
        """Whether a job retired a memory and told why; what said the same has to stand."""
        texts = {state.text for state in may if state.where == "live"}
        reasons = {reason for text, reason in seen["archived"] if text in texts}
        twin = code.removesuffix("'") if code.endswith("'") else f"{code}'"
        entries = (self.code_of(text) for _, text, *_ in seen["entries"])
        return bool(reasons & _TIDIED) and ("expired" in reasons or twin in entries)


def merged(base: Ledger, ours: Ledger, theirs: Ledger) -> Ledger:
    """Return what must be true after a merge: what either side did since ``base``."""
    both = ours.copy()
    both.codes |= theirs.codes
    for code in theirs.may.keys() | ours.may.keys():
        before, here, there = (each.may.get(code, {GONE}) for each in (base, ours, theirs))
        both.may[code] = (
            there if here == before else here if there in (before, here) else here | there
        )
        if both.may[code] is there and code in theirs._by_hand:
            both._by_hand.add(code)
    return both
