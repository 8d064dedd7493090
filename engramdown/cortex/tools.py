"""The tools that a model may call: what each is told to be, and what does it.

Promises: whatever a model passes, it gets an answer that it can act on, never an exception; what
comes out of memory is labelled as data. A definition is plain: a name, a description and a JSON
schema; how a vendor wraps these is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engramdown.cortex import journaling, recalling
from engramdown.cortex.arguments import Schema, read_arguments
from engramdown.cortex.conversation import looking_back
from engramdown.errors import EngramdownError
from engramdown.wording.inert import inert

if TYPE_CHECKING:
    from engramdown.cortex.cortex import Cortex
    from engramdown.cortex.turns import Session

__all__ = [
    "DESCRIBE",
    "EXPAND",
    "GREP",
    "RECALL",
    "SEARCH_JOURNALS",
    "TOOLS",
    "WRITE_JOURNAL",
    "WRITE_NOTES",
    "Answer",
    "Tool",
    "use",
]

_Handler = Callable[["Cortex", dict[str, Any], "Session | None"], tuple[str, tuple[str, ...]]]


class Answer(NamedTuple):
    """What a tool gives back to a model.

    Attributes:
        text: For the model.
        recalled: Pointers to the lines of transcripts that it quotes.
        is_error: Whether it tells what went wrong instead.
    """

    text: str
    recalled: tuple[str, ...] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: What a model calls it by.
        description: What a model is told that it does.
        parameters: The JSON schema of its arguments.
        handler: What does it, given arguments that fit the schema; raises ``ValueError`` with a
            sentence for the model about what the schema cannot say.
    """

    name: str
    description: str
    parameters: Schema
    handler: _Handler

    def definition(self) -> dict[str, Any]:
        """Return what a model is shown, as plain JSON."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }

    def __call__(self, cortex: Cortex, arguments: object, session: Session | None = None) -> Answer:
        """Return the answer to a call with ``arguments``, whatever they are.

        Args:
            cortex: What is asked.
            arguments: An object, or a string with one in JSON.
            session: The running conversation: what was said in its turn is known already.
        """
        given, wrong = read_arguments(arguments, self.parameters)
        if wrong:
            return self._refused("; ".join(wrong))
        try:
            text, recalled = self.handler(cortex, given, session)
        except ValueError as error:
            return self._refused(str(error))
        except (EngramdownError, OSError) as error:
            return Answer(f"{self.name} failed: {inert(str(error))}", is_error=True)
        return Answer(text, recalled)

    def _refused(self, reason: str) -> Answer:
        return Answer(f"{self.name} was not called rightly: {inert(reason)}.", is_error=True)


RECALL: Final = Tool("recall", recalling.DESCRIPTION, recalling.PARAMETERS, recalling.recall)
"""Searches memory and transcripts."""
WRITE_JOURNAL: Final = Tool(
    "write_journal",
    journaling.WRITE_DESCRIPTION,
    journaling.WRITE_PARAMETERS,
    journaling.write_journal,
)
"""Adds to the page of the day."""
SEARCH_JOURNALS: Final = Tool(
    "search_journals",
    journaling.SEARCH_DESCRIPTION,
    journaling.SEARCH_PARAMETERS,
    journaling.search_journals,
)
"""Searches the pages of all days."""
WRITE_NOTES: Final = Tool(
    "write_notes",
    journaling.NOTES_DESCRIPTION,
    journaling.NOTES_PARAMETERS,
    journaling.write_notes,
)
"""Keeps notes on the running conversation."""
GREP: Final = Tool("grep", looking_back.GREP, looking_back.GREP_PARAMETERS, looking_back.grep)
"""Finds a text in the running conversation."""
DESCRIBE: Final = Tool(
    "describe", looking_back.DESCRIBE, looking_back.DESCRIBE_PARAMETERS, looking_back.describe
)
"""Tells a summary of it."""
EXPAND: Final = Tool(
    "expand", looking_back.EXPAND, looking_back.EXPAND_PARAMETERS, looking_back.expand
)
"""Reads what a summary stands for."""
_TOOLS: Final = (RECALL, GREP, DESCRIBE, EXPAND, WRITE_JOURNAL, SEARCH_JOURNALS, WRITE_NOTES)
TOOLS: Final[Mapping[str, Tool]] = MappingProxyType({tool.name: tool for tool in _TOOLS})
"""All tools, by name."""


def use(
    cortex: Cortex, name: str, arguments: object, session: Session | None = None, call: str = ""
) -> Answer:
    """Return what the tool ``name`` answers.

    Args:
        cortex: What is asked.
        name: Of the tool.
        arguments: What the model passed.
        session: The running conversation, which records the call and the result; what came out of
            memory is marked there, so that it is not taken for something new.
        call: The id that the call has, or ``""`` for a new one.
    """
    tool = TOOLS.get(name)
    if session is None:
        return tool(cortex, arguments) if tool else _unknown(name)
    call = session.tool_call(name, arguments, call)
    answer = tool(cortex, arguments, session) if tool else _unknown(name)
    session.tool_result(name, answer.text, call, error=answer.is_error, recalled=answer.recalled)
    return answer


def _unknown(name: str) -> Answer:
    return Answer(f"there is no tool {name!r}; there are {', '.join(TOOLS)}", is_error=True)
