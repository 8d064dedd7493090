"""What a cortex offers for models that call tools.

Promises: a tool is called by its name and answers whatever it was given; what only tools ask for,
the lessons of a topic, the end of a memory, and what was given back without a session, has one
place for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from engramdown.forks import cached_property
from engramdown.storage.locks import one_call

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.intake import Intake
    from engramdown.cortex.overheard import Overheard
    from engramdown.cortex.receipts import Receipt
    from engramdown.cortex.tools import Answer
    from engramdown.cortex.turns import Session
    from engramdown.hippocampus.entry import Entry
    from engramdown.hippocampus.protocol import HippocampusProtocol

__all__ = ["Toolbox"]


class Toolbox:
    """The tools of a cortex."""

    if TYPE_CHECKING:
        global_hc: HippocampusProtocol
        project_hc: HippocampusProtocol

        def _heard(self, receipts: list[Receipt]) -> list[Receipt]: ...

        @property
        def _intake(self) -> Intake: ...

    def tool_definitions(
        self, style: str = "openai", names: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the definitions of tools as a provider wants them, as plain JSON.

        Args:
            style: ``openai`` (chat completions), ``openai-responses``, ``anthropic``, ``mcp``, or
                ``plain``: a name, a description and the parameters.
            names: Which tools, in this order; by default ``memorize``, ``recall``,
                ``recall_topic``, ``recall_skill``, ``forget`` and ``review``.

        Raises:
            ValueError: If there is no such style or tool.

        >>> from engramdown import Cortex, Hippocampus
        >>> cortex = Cortex(Hippocampus("home", "global"), Hippocampus("project"))
        >>> [each["name"] for each in cortex.tool_definitions("anthropic", ["recall"])]
        ['recall']
        """
        from engramdown.cortex.tools import definitions

        return definitions(style, names)

    @one_call()
    def use_tool(
        self, name: str, arguments: object, session: Session | None = None, call: str = ""
    ) -> Answer:
        """Return what a tool answers to a model; nothing that a model passes raises.

        Args:
            name: Of the tool.
            arguments: What the model passed: an object, or a string with one in JSON.
            session: The running conversation, which records the call and the result.
            call: The id that the call has, or ``""`` for a new one.
        """
        from engramdown.cortex.tools import use

        return use(self._whole(), name, arguments, session, call)

    @cached_property
    def overheard(self) -> Overheard:
        """What tools gave back that were called without a session."""
        from engramdown.cortex.overheard import Overheard

        return Overheard()

    def recall_topic(self, topic: str) -> list[Entry]:
        """Return the lessons of a topic that a model may see, global ones first, in file order.

        Args:
            topic: Any words: those with the same slug are the same topic.

        Raises:
            InvalidEngramError: If it is a path or otherwise no topic.
            StoreError: If memory cannot be read.
        """
        found: list[Entry] = []
        for store in (self.global_hc, self.project_hc):
            shown = {entry.id for entry in self._whole().usable(store)}
            found += [entry for entry in store.recall_topic(topic) if entry.id in shown]
        return found

    def topics(self) -> Mapping[str, int]:
        """Return the slug of each topic, and how many lessons it has.

        Raises:
            StoreError: If memory cannot be read.
        """
        both = (self.global_hc, self.project_hc)
        entries = [entry for store in both for entry in self._whole().usable(store)]
        return Counter(entry.topic for entry in entries if entry.topic)

    def retire(self, entry: Entry, why: str = "") -> Receipt:
        """Forget a memory for a model that asks for it, or let a person be asked.

        What a person wrote, confirmed or pinned waits for them, and in mode copilot everything.

        Args:
            entry: The memory.
            why: The words for the journal.

        Returns:
            ``forgotten``, ``queued``, or ``discarded`` in mode off.

        Raises:
            EntryNotFoundError: If it is gone.
            StoreError: If it could not be written.
        """
        from engramdown.cortex.gate import REASONS
        from engramdown.cortex.receipts import Receipt
        from engramdown.hippocampus.store import Hippocampus
        from engramdown.secrets.redaction import redact

        mode = self._whole().mode
        if mode == "off":
            return Receipt(entry.engram(), "discarded", REASONS["off"], entry.id)
        store = self.global_hc if entry.scope == "global" else self.project_hc
        if isinstance(store, Hippocampus):
            # A line that a person changed by hand is theirs, also if nobody has looked since.
            store.notice()
            entry = store.find(entry.id)
        if mode == "copilot" or entry.by_person:
            return self._heard([self._intake.waiting.ask_to_forget(entry.scope, entry)])[0]
        if isinstance(store, Hippocampus):
            gone = store.forget(entry.id, redact(why), by="llm", seen=entry)
        else:
            gone = store.forget(entry.id)
        self._intake.waiting.forgot(entry.scope, gone)
        return self._heard([Receipt(gone.engram(), "forgotten", "asked for", gone.id)])[0]

    def _whole(self) -> Cortex:
        return cast("Cortex", self)
