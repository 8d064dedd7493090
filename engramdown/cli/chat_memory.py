"""``/memory`` and ``/compact``: what a model sees of memory, and less of a long conversation.

Promises: looking changes nothing; what was said stays where it is when it is summarised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engramdown import Cortex, Session
from engramdown.cli import chat_aside, log_summaries, output
from engramdown.cli import chat_screen as said
from engramdown.cli.context import explained
from engramdown.cli.layout import Line, line
from engramdown.cli.output import RefusalError
from engramdown.cli.views import hit_lines
from engramdown.integrations.chat.endpoint import OPENAI_KEY

if TYPE_CHECKING:
    from engramdown.consolidation.asking.instructor_model import InstructorModel
    from engramdown.integrations.chat.endpoint import Address
    from engramdown.integrations.chat.turns import Chat


_BY_RULES: Final = "--without-model"
# Who asks for it wants to see something gone: fewer of the newest are left alone than by itself.
_TAIL: Final = 4


def memory_lines(cortex: Cortex, session: Session, chat: Chat) -> Iterator[Line]:
    """Yield what the model sees of memory, where it stands, and what it costs.

    Raises:
        StoreError: If memory cannot be read.
    """
    made = session.build_context(max(chat.budget - chat.overhead, 0))
    for section in made.sections:
        if section.shown:
            yield line((section.heading.removeprefix("## "), "where"))
            yield from hit_lines(section.shown)
            yield line()
    if not any(section.shown for section in made.sections):
        yield line(said.NO_MEMORY)
        yield line()
    yield from explained(made)
    yield line((said.overhead(chat.overhead, chat.budget), "dim"))
    for store in cortex.stores:
        if store.memory.is_dir():
            yield line((said.files(str(store.memory)), "dim"))._replace(whole=True)


def compact(cortex: Cortex, session: Session, address: Address, rest: str) -> None:
    """Summarise the older part of a conversation, by the model that is set, or that talks.

    Raises:
        RefusalError: If there is nothing to summarise, or it could not be.
    """
    if rest not in ("", _BY_RULES):
        raise RefusalError(said.no_such_way(rest))
    before = cortex.model
    try:
        if not rest:
            name = cortex.settings.consolidation.model
            if not name:
                name, cortex.model = address.model, _asked(address)
            chat_aside.note(log_summaries.thinks(name))
        conversation = cortex.conversation(session)
        done = conversation.compact("incremental", without_model=bool(rest), tail=_TAIL)
    finally:
        cortex.model = before
    if not done.gists:
        raise RefusalError(done.reason)
    output.screen().show([line(log_summaries.summarised(done))])


def _asked(address: Address) -> InstructorModel:
    """Return the model that talks as one that can be asked for a form."""
    # Imported here: it is rarely asked.
    from engramdown.consolidation.asking.instructor_model import InstructorModel

    kind = "ollama" if address.name.startswith("ollama/") else "openai"
    own = "" if address.wanted == OPENAI_KEY else address.url
    return InstructorModel(f"{kind}/{address.model}", own)
