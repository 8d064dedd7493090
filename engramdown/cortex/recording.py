"""What a conversation leaves in its transcript.

Promises: nothing here raises because of a disk, or keeps a turn waiting; what cannot be written is
told to the model that reads memory. A tool's result is paired with its call.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final, Unpack

from engramdown.context.sections import MemoryContext, degraded
from engramdown.cortex.doing import Doing
from engramdown.episodes.memory import EpisodicMemory
from engramdown.episodes.recorder import Said
from engramdown.gate.receipts import Receipt
from engramdown.transcripts.episode import Pointer

_WRITTEN: Final = frozenset({"encoded", "queued", "forgotten"})


class Recording:
    """The transcript of one conversation, if there is a place for it.

    Attributes:
        id: The id of the session, or ``""`` where neither scope has files.
        doing: What is done in the running turn.
    """

    def __init__(
        self,
        episodes: EpisodicMemory | None,
        session: str | None = None,
        parent: str | None = None,
        parent_call: str | None = None,
        title: str = "",
    ) -> None:
        """Begin a session, or go on with one; see :meth:`EpisodicMemory.start_session`."""
        self._episodes = episodes
        self._open: list[tuple[str, str, float]] = []
        self._seen: MemoryContext | None = None
        self._missed = ""
        self._offered: tuple[str, ...] = ()
        self._begins_step = True
        self.doing = Doing()
        self.id = ""
        if episodes is not None:
            episodes.tidy()
            self.id = episodes.start_session(session, parent, parent_call, title=title)

    def offer(self, tools: Iterable[str]) -> None:
        """Say which tools the model is offered from now on: each step is recorded with them."""
        self._offered = tuple(tools)

    @property
    def trouble(self) -> str:
        """Why recording does not work, or ``""``."""
        found = self._episodes.trouble if self._episodes is not None else None
        return "" if found is None else str(found)

    def say(self, role: str, text: object, turn: int, name: str = "") -> Pointer | None:
        """Record what was said in a turn, and return where it stands, if it is written."""
        return self._log(role, text, turn=turn, name=name)

    def record(self, role: str, text: object, said: Said) -> Pointer | None:
        """Record a line as it is told, and return where it stands, if it is written."""
        return self._log(role, text, **said)

    def call(self, name: str, given: object, call: str, turn: int) -> str:
        """Record a tool call and return its id."""
        if self._episodes is not None:
            call = call or self._episodes.new_call()
            self._log("tool_call", given, name=name, call=call, turn=turn)
        self._open.append((name, call, time.monotonic()))
        return call

    def result(self, output: object, said: Said) -> None:
        """Record what a tool gave back; without a call's id it is that of the oldest open call."""
        name, call = said.get("name", ""), said.get("call", "")
        mine = (each for each in self._open if each[0] == name and call in ("", each[1]))
        found = next(mine, None)
        if found is not None:
            self._open.remove(found)
            passed = round((time.monotonic() - found[2]) * 1000, 3)
            ms = said.get("ms")
            said = {**said, "call": found[1], "ms": passed if ms is None else ms}
        self._log("tool_result", output, **said)

    def read(self, context: MemoryContext, turn: int) -> MemoryContext:
        """Record which memories a model is shown, if they changed, and tell it of trouble."""
        if self._episodes is not None and context != self._seen:
            self._seen = context
            shown = [entry.id for part in context.sections for entry in part.shown if entry.id]
            meta = {
                "shown": shown,
                "left_out": sum(len(part.left_out) for part in context.sections),
            }
            if shown:
                self._log("memory_read", "", turn=turn, meta=meta)
        reason = self.trouble or self._missed
        self._missed = ""
        return context.degrade(degraded(reason)) if reason else context

    def quoted(self, memories: Iterable[str], recalled: Iterable[str], turn: int) -> None:
        """Record what was looked up for a turn: what is made of it later is no new experience."""
        shown, pointers = list(memories), tuple(recalled)
        if self._episodes is not None and (shown or pointers):
            self._log("memory_read", "", turn=turn, meta={"shown": shown}, recalled=pointers)

    def wrote(self, receipts: Iterable[Receipt], turn: int) -> None:
        """Record what became memory, or waits to."""
        for receipt in receipts if self._episodes is not None else ():
            if receipt.action in _WRITTEN:
                meta = {"action": receipt.action, "id": receipt.id, "scope": receipt.engram.scope}
                self._log("memory_write", receipt.engram.text, turn=turn, meta=meta)

    def end(self, reason: str) -> None:
        """End the session."""
        if self._episodes is not None:
            self._episodes.end(self.id, reason)

    def _log(self, role: str, text: object, **said: Unpack[Said]) -> Pointer | None:
        """Record an episode; what is lost for good is kept in mind until a model was told of it."""
        if self._episodes is None:
            return None
        if self._starts_step(role) and self._offered:
            meta = {"tools_offered": list(self._offered), **said.get("meta", {})}
            said = {**said, "meta": meta}
        pointer = self._episodes.log(self.id, role, text, **said)
        if pointer is not None:
            self.doing.add(pointer, role, text, said)
        found = self._episodes.trouble
        if found is not None and (found.lost or not found.waiting):
            self._missed = str(found)
        return pointer

    def _starts_step(self, role: str) -> bool:
        """Whether a line begins a step: an assistant's words, or a call right behind the user's."""
        begins = role == "assistant" or (role == "tool_call" and self._begins_step)
        if role in ("user", "assistant", "tool_call"):
            self._begins_step = role == "user"
        return begins
