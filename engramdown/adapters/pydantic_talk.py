"""One conversation of pydantic-ai, as a session of a memory.

Promises: everything here is called alone with the cortex; no trouble with memory is raised. Of
several runs of one conversation at once, the turn begins anew with each, and ends with the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from engramdown.adapters.kept import Kept
from engramdown.adapters.lines import Line
from engramdown.adapters.pydantic_messages import message_lines, plain_part
from engramdown.adapters.summaries import Summaries
from engramdown.adapters.summarised import Summary
from engramdown.cortex.cortex import Cortex
from engramdown.cortex.recording import degraded
from engramdown.cortex.tools import TOOLS, Answer
from engramdown.episodes.episode import Pointer
from engramdown.episodes.memory import Said
from engramdown.errors import EngramdownError

__all__ = ["Talk"]

_KEY: Final = "pydantic_ai"
_MOST_ANSWERS: Final = 100


class Talk:
    """A conversation.

    Attributes:
        id: The id of its transcript.
        cortex: The memory.
        session: Its session.
        kept: Its messages, a value for each part.
        context: What a model is told of memory in the running turn.
        runs: How many runs of it run.
    """

    def __init__(
        self, cortex: Cortex, session: str, parent: str | None = None, budget: int | None = None
    ) -> None:
        """Begin a conversation, or go on with it."""
        self.id = session
        self.cortex = cortex
        self.session = cortex.session(session, parent=parent)
        self.kept = Kept(cortex.episodes, session, _KEY, plain_part)
        self.context = ""
        self.runs = 0
        self._summaries = None if budget is None else Summaries(cortex, session, budget)
        self._answers: dict[str, Answer] = {}

    def keep(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Keep messages; the user's words begin a turn."""
        for message in messages:
            lines = message_lines(message)
            begins = next((at for at, line in enumerate(lines) if line.role == "user"), None)
            if begins is not None:
                self.end_turn()
            for at, line in enumerate(lines):
                if at == begins:
                    self.kept.add(line, partial(self._begin_turn, line))
                else:
                    self._record(line, str(message.get("model_name") or ""))

    def use(self, name: str, arguments: object, call: str) -> Answer:
        """Answer a call of one of our tools; its lines come with the messages of the run."""
        self.session.attend()
        answer = TOOLS[name](self.cortex, arguments, self.session)
        self._answers[call] = answer
        while len(self._answers) > _MOST_ANSWERS:  # Those of runs that ended before they were kept.
            self._answers.pop(next(iter(self._answers)))
        return answer

    def summaries(self) -> list[Summary]:
        """Return the summaries that stand for its older part."""
        return [] if self._summaries is None else self._summaries.in_view()

    def begin_run(self) -> None:
        """Note that a run begins."""
        self.runs += 1

    def end_run(self) -> None:
        """Note that a run ends, and with the last one the turn."""
        self.runs -= 1
        if not self.runs:
            self.end_turn()

    def end_turn(self) -> None:
        """End the turn, if one is running."""
        if not self.session.in_turn:
            return
        try:
            self.session.end_turn()
        except (EngramdownError, OSError):
            return  # What was ticked or learned waits for the next turn.
        if self._summaries is not None:
            self._summaries.look()

    def end(self, reason: str) -> None:
        """End the transcript."""
        self.end_turn()
        self.session.end(reason)

    def _begin_turn(self, line: Line, meta: dict[str, Any]) -> Pointer | None:
        try:
            self.context = str(self.session.begin_turn(line.text, meta))
        except (EngramdownError, OSError) as error:
            self.context = degraded(str(error))
        return self.session.turn_began

    def _record(self, line: Line, model: str) -> None:
        answer = self._answers.pop(line.call, None) if line.role == "tool_result" else None
        said: Said = {"name": line.name, "call": line.call, "error": line.error, "model": model}
        said["recalled"] = () if answer is None else answer.recalled
        write = partial(self.session.record, line.role, line.text, **said)
        self.kept.add(line, lambda meta: write(meta=meta))
