"""What a cortex offers for running conversations.

Promises: a conversation that was followed goes on being followed, so that to look again costs only
what is new; of many, those that were asked for last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from engramdown.errors import StoreError

if TYPE_CHECKING:
    from engramdown.cortex.conversation.conversation import Conversation
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.turns import Session

__all__ = ["Conversations"]

_FOLLOWED: Final = 32


class Conversations:
    """The conversations of a cortex."""

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
