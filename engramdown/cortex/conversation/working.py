"""What a model is shown for the next step of a conversation, in its parts.

Promises: pure; a context knows what it is made of, what it costs, and what is not in it and why.
The same parts give the same bytes, whatever they are rendered as; what changes from turn to turn
stands behind the newest message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from engramdown.context.sections import Section

if TYPE_CHECKING:
    from engramdown.cortex.conversation.shown import Shown

__all__ = ["Dropped", "WorkingContext"]


class Dropped(NamedTuple):
    """Something that a model is not shown, or not whole.

    Attributes:
        what: ``message``, ``tool result``, ``summary``, or the part: ``journal``, ``relevant``.
        where: The pointer of a message, the id of a summary, the name of a section, or ``""``.
        tokens: What it would have cost, about.
        reason: Why.
    """

    what: str
    where: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingContext:
    """What a model is shown for the next step of a conversation; printed, it is its text.

    Attributes:
        session: The id of the session.
        budget: What it was to cost at most, in tokens.
        tokens: What it costs, by the estimate of :mod:`engramdown.tokens`.
        soul: Who the assistant is.
        sections: What is remembered, as in :class:`engramdown.MemoryContext`.
        skills: The skills that there are, a line each.
        history: Earlier sessions.
        journal: The last days of the journal.
        messages: The conversation in order: messages, placeholders, and summaries where what they
            stand for was said.
        tail: Where among them the fresh tail begins, which is always shown.
        notes: The working notes on this conversation.
        relevant: Memories that the sections leave out, and what was said in other conversations,
            as far as it fits the newest message of the user.
        remembered: The ids of the memories in it.
        recalled: The pointers to what it quotes of other conversations.
        degraded: Why memory does not work, or ``""``.
        dropped: What is not shown, or not whole, and why.
        system: The parts up to the journal, as they come before the conversation.
        aside: The notes, what is relevant, and why memory does not work, as they stand behind it.
    """

    session: str
    budget: int
    tokens: int
    soul: str = ""
    sections: tuple[Section, ...] = ()
    skills: str = ""
    history: str = ""
    journal: str = ""
    messages: tuple[Shown, ...] = ()
    tail: int = 0
    notes: str = ""
    relevant: str = ""
    remembered: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    degraded: str = ""
    dropped: tuple[Dropped, ...] = ()
    system: str = ""
    aside: str = ""

    @property
    def working_summary(self) -> str:
        """The summaries among the messages, in order."""
        return "\n\n".join(line.text for line in self.messages if isinstance(line.source, str))

    @property
    def recent(self) -> tuple[Shown, ...]:
        """The fresh tail."""
        return self.messages[self.tail :]

    def text(self) -> str:
        """Return it as one text."""
        from engramdown.cortex.conversation.rendering.text import prompt_text

        return prompt_text(self.system, self.messages, self.aside)

    def openai(self) -> list[dict[str, Any]]:
        """Return it as the messages of OpenAI's chat completions, which many others take too."""
        from engramdown.cortex.conversation.rendering.openai import openai_messages

        return openai_messages(self.system, self.messages, self.aside)

    def anthropic(self) -> dict[str, Any]:
        """Return it as the ``system`` and the ``messages`` of a request to Anthropic."""
        from engramdown.cortex.conversation.rendering.anthropic import anthropic_request

        return anthropic_request(self.system, self.messages, self.aside)

    def __str__(self) -> str:
        """Return it as one text."""
        return self.text()
