"""A turn of a conversation: the prompt from memory, the model, the tools it calls, the answer.

Whatever a model, its server or Ctrl-C does, a turn ends and the conversation goes on; everything
said until then is recorded, with a note on how it ended. The first Ctrl-C ends the wait for a
model, but interrupts no writing; a second one takes effect at once. A person is never asked
anything in the middle of a turn. A conversation that cannot be recorded goes on in memory.
"""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

from engramdown.errors import EngramdownError, ModelError
from engramdown.integrations.chat.endpoint import Heard, Reply, ToolCall
from engramdown.language import json_object
from engramdown.tokens import estimate_tokens

if TYPE_CHECKING:
    from engramdown import Cortex, Session
    from engramdown.cortex import Answer

# The default limit for a prompt, in tokens.
BUDGET: Final = 80_000

# The beginning of every prompt.
INSTRUCTIONS: Final = """\
You talk with the user in a terminal. Answer in short paragraphs of markdown.
When the user tells you something that will matter in later conversations (a rule, a preference, \
a lesson), keep it with memorize. What you already know is below; recall finds more."""

_MOST_ROUNDS: Final = 25
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_NAME: Final = 64
# Tools that look up older parts of this conversation.
_LOOKING_BACK: Final = ("grep", "expand")
_STOPPED: Final = "(The user stopped the answer here.)"
_BROKE_OFF: Final = "(There is no answer, or no more of it: {})"


class Listener:
    """Follows a turn; this one shows nothing of it."""

    def waits(self) -> None:
        """The model is asked."""

    def said(self, text: str) -> None:
        """The model said another piece."""

    def calls(self, name: str, given: object) -> None:
        """The model calls a tool."""

    def answered(self, name: str, answer: Answer) -> None:
        """The tool answered."""

    def finish(self) -> None:
        """The turn is over."""


class Model(Protocol):
    """A model: :class:`engramdown.integrations.chat.endpoint.Endpoint`, or another one."""

    def ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], heard: Heard
    ) -> Reply:
        """Return an answer."""


class Turn(NamedTuple):
    """The result of a turn.

    Attributes:
        text: The answer to the user.
        tools: The names of the called tools, in order.
        tokens_in: Tokens of all prompts of the turn.
        tokens_out: Tokens of the answers.
        is_counted: Whether the server counted them all; otherwise they are estimated.
        failed: Why the answer is missing or incomplete, or ``""``.
        outcome: How it failed: one of ``engramdown.models.OUTCOMES``, ``not_found``, ``stopped``,
            or ``""``.
    """

    text: str = ""
    tools: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    is_counted: bool = True
    failed: str = ""
    outcome: str = ""


@dataclass(eq=False)
class Chat:
    """A conversation of a session with a model.

    Attributes:
        cortex: The memory.
        session: The session in which the conversation is recorded.
        model: Who answers.
        listener: What follows each turn.
        budget: The limit for a prompt, in tokens.
        overhead: The tokens of our instructions and the definitions of the tools in each prompt.
    """

    cortex: Cortex
    session: Session
    model: Model
    listener: Listener
    budget: int = field(default=BUDGET, kw_only=True)

    def __post_init__(self) -> None:
        """Offer the tools of memory."""
        self._interrupts = Interrupts()
        usual = [each["function"]["name"] for each in self.cortex.tool_definitions()]
        self._tools = self.cortex.tool_definitions("openai", [*usual, *_LOOKING_BACK])
        self.session.offer_tools(each["function"]["name"] for each in self._tools)
        self._definitions = json.dumps(self._tools, ensure_ascii=False)
        self.overhead = estimate_tokens(INSTRUCTIONS) + estimate_tokens(self._definitions)
        # The messages of this process, for a conversation that is not recorded.
        self._unrecorded: list[dict[str, Any]] = []
        self._turn = Turn()
        self._said: list[str] = []
        self._awaited: list[str] = []

    def turn(self, message: str) -> Turn:
        """Let the model answer a message, and return the result."""
        self._turn, self._said = Turn(), []
        with self._interrupts:
            try:
                self.session.begin_turn(message)
            except EngramdownError as error:
                return Turn(failed=str(error), outcome="failed")
            self._keep("user", message)
            failed = outcome = ""
            try:
                self._answer()
            except KeyboardInterrupt:
                failed, outcome = _STOPPED, "stopped"
            except EngramdownError as error:
                failed = str(error)
                outcome = error.outcome if isinstance(error, ModelError) else "failed"
            # Servers require an answer to each call.
            for call in self._awaited:
                self._keep("tool", "(This was not done: the turn ended before.)", tool_call_id=call)
            self._awaited = []
            text = "".join(self._said).strip()
            # Without the reason, which quotes a server: this is recorded as the assistant's words.
            note = _STOPPED if outcome == "stopped" else _BROKE_OFF.format(outcome)
            recorded = "\n\n".join(filter(None, (text, note if outcome else "")))
            self._keep("assistant", recorded)
            try:
                self.session.end_turn(recorded)
            except EngramdownError as error:
                # The turn is over; the work after it is done after the next one.
                failed, outcome = failed or str(error), outcome or "failed"
        return self._turn._replace(text=text, failed=failed, outcome=outcome)

    def _answer(self) -> None:
        """Ask the model, and call the tools that it wants, until the answer is complete.

        Raises:
            ModelError: If there is no answer.
            KeyboardInterrupt: If the user pressed Ctrl-C.
        """
        for _ in range(_MOST_ROUNDS):
            reply = self._asked()
            if not reply.calls:
                if not reply.finish or reply.finish == "length":
                    raise ModelError("the answer was cut off", "truncated")
                return
            self._between(reply)
            for call in reply.calls:
                self._use(call)
        reason = f"it called tools {_MOST_ROUNDS} times over without an answer"
        raise ModelError(f"{reason}; ask for less at once", "failed")

    def _asked(self) -> Reply:
        messages = self._messages()
        self.listener.waits()
        self._said = []

        def heard(text: str) -> None:
            self._said.append(text)
            self.listener.said(text)

        reply = Reply()
        try:
            with self._interrupts.waiting():
                reply = self.model.ask(messages, self._tools, heard)
        finally:
            self._count(messages, reply)
        return reply

    def _count(self, messages: Sequence[dict[str, Any]], reply: Reply) -> None:
        """Count the tokens of a prompt and its answer; estimate them if the server does not."""
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        if not (tokens_in and tokens_out):
            sent = f"{json.dumps(messages, ensure_ascii=False)}{self._definitions}"
            tokens_in = tokens_in or estimate_tokens(sent)
            said = f"{''.join(self._said)}{''.join(call.arguments for call in reply.calls)}"
            tokens_out = tokens_out or estimate_tokens(said)
        turn, is_counted = self._turn, (tokens_in, tokens_out) == reply[-2:]
        self._turn = turn._replace(
            tokens_in=turn.tokens_in + tokens_in,
            tokens_out=turn.tokens_out + tokens_out,
            is_counted=turn.is_counted and is_counted,
        )

    def _messages(self) -> list[dict[str, Any]]:
        """Return the prompt."""
        room = max(self.budget - self.overhead, 0)
        made = self.session.build_context(room)
        if self.session.turn_began is None:
            # Nothing was recorded that could be read back.
            said = _fitting(self._unrecorded, room - estimate_tokens(made.system))
            system = f"{INSTRUCTIONS}\n\n{made.system}".strip()
            return [{"role": "system", "content": system}, *said]
        first, *others = made.openai()
        if first["role"] != "system":
            return [{"role": "system", "content": INSTRUCTIONS}, first, *others]
        return [{**first, "content": f"{INSTRUCTIONS}\n\n{first['content']}"}, *others]

    def _between(self, reply: Reply) -> None:
        """Keep the text of the model before its calls of tools."""
        text = "".join(self._said).strip()
        self._said = []
        if text:
            self.session.record("assistant", text)
        self._awaited = [f"call_{len(self._unrecorded)}_{at}" for at in range(len(reply.calls))]
        calls = []
        for name, call in zip(self._awaited, reply.calls, strict=True):
            # In a form that servers accept, whatever the model wrote.
            value = _given(call.arguments)
            whole = value if isinstance(value, dict) else {"input": value}
            arguments = json.dumps(whole, ensure_ascii=False)
            name_sent = _UNSAFE.sub("_", call.name)[:_NAME] or "tool"
            function = {"name": name_sent, "arguments": arguments}
            calls.append({"id": name, "type": "function", "function": function})
        self._keep("assistant", text or None, tool_calls=calls)

    def _use(self, call: ToolCall) -> None:
        """Carry out a call of a tool, and record it."""
        given = _given(call.arguments)
        self.listener.calls(call.name, given)
        self._turn = self._turn._replace(tools=(*self._turn.tools, call.name))
        answer = self.cortex.use_tool(call.name, given, session=self.session, call=call.id)
        self._keep("tool", answer.text, tool_call_id=self._awaited.pop(0))
        self.listener.answered(call.name, answer)

    def _keep(self, role: str, content: str | None, **more: object) -> None:
        """Remember a message, for a conversation that is not recorded."""
        self._unrecorded.append({"role": role, "content": content, **more})


def _given(arguments: str) -> object:
    """Return arguments as an object, or unchanged if they are not one."""
    value = json_object(arguments) if arguments.strip() else {}
    return arguments if value is None else value


def _fitting(said: Sequence[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Return the newest messages that fit, beginning with a user's; at least the last turn."""
    starts = [at for at, each in enumerate(said) if each["role"] == "user"]
    costs = [estimate_tokens(str(each)) for each in said]
    fitting = [at for at in starts if sum(costs[at:]) <= room]
    start, *_ = [*fitting, *starts[-1:], 0]
    return list(said[start:])


class Interrupts:
    """A reusable context manager that holds back Ctrl-C."""

    def __init__(self) -> None:
        """Hold nothing back yet."""
        self._asked = self._waits = False
        self._before: Callable[[int, FrameType | None], Any] | int | None = None

    def __enter__(self) -> Self:
        """Begin to hold back Ctrl-C."""
        self._asked = self._waits = False
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the previous handler; a pending Ctrl-C is dropped."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let a Ctrl-C interrupt the block, even one that came shortly before.

        Raises:
            KeyboardInterrupt: If there is one.
        """
        self._waits = True
        try:
            if self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._waits = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._waits or self._asked:
            raise KeyboardInterrupt
        self._asked = True
