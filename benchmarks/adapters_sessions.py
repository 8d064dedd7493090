"""What it costs to keep the conversation of an agent, beside what its library offers itself.

- *add a turn*: a question, a call, its result and an answer, in the three steps in which the runner
  of the OpenAI Agents SDK keeps them, with ``EngramdownSession`` and with the SDK's own
  ``SQLiteSession`` in a file. Ours also begins and ends the turn: memory is read and ranked, ticked
  lines are carried out, what went wrong is learned from.
- *add two items*: a call and its result, in the middle of a turn.
- *get*: all items, as the runner asks for them when a run begins; *open, and get*: the same by a
  process that begins with it.
- *run*: a run of pydantic-ai whose model answers at once, with ``EngramdownMemory`` and with a
  history processor that gives back what it is given, behind as many messages.

Each pair is timed in turn. ``SQLiteSession`` syncs what it writes, and has no choice; transcripts
do so with ``durability = "full"``, which is what the rows *synced* have.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from agents import Session, SQLiteSession
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.measure import finish, ms, paired, table
from engramdown import Cortex, Engram
from engramdown.integrations.openai_agents import EngramdownSession
from engramdown.integrations.pydantic_ai import EngramdownMemory

__all__ = ["main"]

RUNS: Final = 30
SIZES: Final = (100, 1_000, 10_000)
MESSAGES: Final = (0, 100, 1_000)
MEMORIES: Final = 100
TEXT: Final = "The build failed because the clock in the test is not frozen. " * 3

Work = Callable[[], Coroutine[Any, Any, object]]


def main() -> None:
    """Time all pairs and print the table."""
    rows = [("what", "theirs ms", "ours ms", "ours / theirs")]
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        for name, theirs, ours in _pairs(Path(folder), runner):
            base, subject, ratio = paired(
                partial(_run, runner, theirs), partial(_run, runner, ours), RUNS
            )
            rows.append((name, ms(base), ms(subject), f"{ratio:.2g}"))
    note = f"Medians of {RUNS} pairs; memory holds {MEMORIES} entries."
    finish("adapters_sessions", f"{table(rows)}\n\n{note}")


def _pairs(folder: Path, runner: asyncio.Runner) -> Iterator[tuple[str, Work, Work]]:
    """Yield what is compared: a name, what theirs does, what ours does."""
    cortex = _cortex(folder / "fast", "fast")
    database, numbers = folder / "theirs.db", itertools.count()
    for kind, memory in (("", cortex), (", synced", _cortex(folder / "full", "full"))):
        both = SQLiteSession(f"a{kind}", database), EngramdownSession("a", memory)
        for name, work in (("add a turn", _turn), ("add two items", _two)):
            theirs, ours = (partial(work, each, numbers) for each in both)
            yield f"{name}{kind}", theirs, ours
    for size in SIZES:
        name = f"size-{size}"
        begin = partial(SQLiteSession, name, database), partial(EngramdownSession, name, cortex)
        known: list[Session] = [each() for each in begin]
        items = [item for _ in range(size // 4) for item in _items(numbers)]
        for each in known:
            runner.run(each.add_items(items))
        yield f"get {size:,} items", known[0].get_items, known[1].get_items
        opened = [partial(_opened, each) for each in begin]
        yield f"open, and get {size:,} items", opened[0], opened[1]
    for count in MESSAGES:
        memory_of_one = EngramdownMemory(cortex, session="runs", tools=[])
        yield f"run, behind {count:,} messages", *_runs(memory_of_one, count)
    yield "run, in a conversation of its own", *_runs(EngramdownMemory(cortex, tools=[]), 0)


def _runs(memory: EngramdownMemory, count: int) -> tuple[Work, Work]:
    plain, own = _agent(ProcessHistory(_same)), _agent(memory)
    history = _messages(count)
    return (
        partial(plain.run, "Why?", message_history=history),
        partial(own.run, "Why?", message_history=history),
    )


def _run(runner: asyncio.Runner, work: Work) -> None:
    runner.run(work())


def _cortex(folder: Path, durability: str) -> Cortex:
    """Return a memory with some entries."""
    home = folder / "home"
    home.mkdir(parents=True)
    config = f'durability = "{durability}"\n[episodes]\ndurability = "{durability}"\n'
    (home / "config.toml").write_text(config, encoding="utf-8")
    cortex = Cortex.open(project=folder / "project", home=home)
    cortex.encode([Engram(f"{at}: {TEXT}", "lesson", "project") for at in range(MEMORIES)])
    return cortex


def _items(numbers: Iterator[int]) -> list[Any]:
    """Return the items of a turn, with an id that no other call has."""
    call = f"call_{next(numbers)}"
    said = {"type": "output_text", "text": TEXT, "annotations": []}
    return [
        {"role": "user", "content": "Why is the build red?"},
        {"type": "function_call", "call_id": call, "name": "shell", "arguments": '{"cmd": "make"}'},
        {"type": "function_call_output", "call_id": call, "output": TEXT},
        {"type": "message", "role": "assistant", "status": "completed", "content": [said]},
    ]


async def _turn(session: Session, numbers: Iterator[int]) -> None:
    question, call, result, answer = _items(numbers)
    await session.add_items([question])
    await session.add_items([call, result])
    await session.add_items([answer])


async def _two(session: Session, numbers: Iterator[int]) -> None:
    await session.add_items(_items(numbers)[1:3])


async def _opened(begin: Callable[[], Session]) -> list[Any]:
    found: list[Any] = await begin().get_items()
    return found


def _agent(capability: AbstractCapability[Any]) -> Agent[None, str]:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages, info
        return ModelResponse([TextPart("The clock is not frozen.")])

    return Agent(FunctionModel(answer), capabilities=[capability])


def _same(messages: list[ModelMessage]) -> list[ModelMessage]:
    return messages


def _messages(count: int) -> list[ModelMessage]:
    pair = (ModelRequest([UserPromptPart(TEXT)]), ModelResponse([TextPart(TEXT)]))
    return cast("list[ModelMessage]", list(pair * (count // 2)))


if __name__ == "__main__":
    main()
