"""A graph of LangGraph that remembers what it is told, and recalls it in the next run.

::

    pip install "engramdown[langgraph]"
    python examples/langgraph_store.py "I like my tea green"
    python examples/langgraph_store.py "Which tea shall I make?"

No model is asked: one node recalls what fits the message, the next one keeps it. What is kept are
lines in ``.engramdown/memory/topics``; change or delete one there, and the graph knows.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from engramdown import Cortex
from engramdown.errors import EngramdownError
from engramdown.integrations.langgraph import MemoryStore

__all__ = ["main"]

USER = ("users", "ada")


class State(TypedDict):
    """What goes through the graph."""

    message: str
    known: list[str]


def recall(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    """Look for what was said before; ``()`` finds rules and lessons, too."""
    if runtime.store is None:
        return {}
    found = runtime.store.search((), query=state["message"], limit=5)
    return {"known": [str(item.value.get("text", item.value)) for item in found]}


def remember(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    """Keep the message, unless it is a question."""
    if runtime.store is not None and not state["message"].endswith("?"):
        key = hashlib.sha256(state["message"].encode()).hexdigest()[:8]
        runtime.store.put(USER, key, {"text": state["message"]})
    return {}


def main() -> int:
    """Send the message of the command line through the graph."""
    if len(sys.argv) != len(("program", "message")):
        print('usage: python langgraph_store.py "I like my tea green"', file=sys.stderr)
        return 2
    graph = StateGraph(State)
    graph.add_node("recall", recall)
    graph.add_node("remember", remember)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "remember")
    graph.add_edge("remember", END)
    try:
        store = MemoryStore(Cortex.open())
        state = graph.compile(store=store).invoke({"message": sys.argv[1], "known": []})
    except EngramdownError as error:
        print(error, file=sys.stderr)
        return 1
    for text in state["known"] or ["I know nothing about that yet."]:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
