"""What a cortex offers for running conversations.

Promises: a conversation that was followed goes on being followed, so that to look again costs only
what is new; of many, those that were asked for last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, cast

from engramdown.errors import StoreError

if TYPE_CHECKING:
    from engramdown.cortex.conversation.conversation import Conversation
    from engramdown.cortex.conversation.working import WorkingContext
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.recollection import Recollection
    from engramdown.cortex.turns import Session

__all__ = ["Conversations"]

_FOLLOWED: Final = 32


class Conversations:
    """The conversations of a cortex."""

    if TYPE_CHECKING:

        @property
        def _recollection(self) -> Recollection: ...

    def build_context(
        self,
        session: Session | str,
        budget: int,
        fresh_tail: int | None = None,
        *,
        message: str = "",
        subjects: str | Iterable[str] = (),
    ) -> WorkingContext:
        """Return what a model is shown for the next step of a conversation, in its parts.

        Who the assistant is, what is remembered, skills, earlier sessions and the journal come
        first, and stay the same while memory does. The conversation follows: the newest messages
        whole, and of what is older as much as fits, summaries where what they stand for was said.
        Behind it stands what fits this turn: notes, memories that were left out, other
        conversations. Nothing is written, and no model is asked.

        Args:
            session: The session, or its id.
            budget: What it may cost, in tokens; the newest messages are shown even if they cost
                more.
            fresh_tail: How many of the newest messages are shown whatever they cost, and all from
                the user's newest one on; by default 20, or as it is set.
            message: What the turn is about; by default what the user said last.
            subjects: The same, if the program knows better: see :meth:`past_experience`.

        Raises:
            ValueError: If ``budget`` or ``fresh_tail`` is negative.
            SessionNotFoundError: If there is no such session.
            InvalidSessionError: If the id is no safe file name.
            StoreError: If memory cannot be read, a template is broken, or no scope has files.
        """
        from engramdown.cortex.assembly import Wanted, assemble

        tail = cast("Cortex", self).settings.conversation.fresh_tail
        tail = tail if fresh_tail is None else fresh_tail
        for name, value in (("budget", budget), ("fresh_tail", tail)):
            if value < 0:
                raise ValueError(f"{name} is {value}; give 0 or more")
        about = (subjects,) if isinstance(subjects, str) else tuple(subjects)
        wanted = Wanted(budget, tail, message, about)
        return assemble(cast("Cortex", self), self._recollection, session, wanted)

    def conversation(self, session: Session | str) -> Conversation:
        """Return a running conversation, which can be summarised, searched and shown to a model.

        Args:
            session: The session, or its id.

        Raises:
            InvalidSessionError: If the id is no safe file name.
            StoreError: If neither scope has files.
        """
        # Imported here: most programs only remember and recall.
        from engramdown.cortex.conversation.conversation import Conversation

        cortex = cast("Cortex", self)
        chosen = session if isinstance(session, str) else session.id
        known: dict[str, Conversation] = cortex.__dict__.setdefault("_conversations", {})
        found = known.pop(chosen, None)
        if found is None:
            if cortex.episodes is None:
                raise StoreError("no scope has files, so no conversation is recorded")
            found = Conversation(cortex, cortex.episodes, chosen)
        known[chosen] = found
        while len(known) > _FOLLOWED:
            known.pop(next(iter(known)))
        return found
