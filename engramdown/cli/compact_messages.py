"""What the program says when it compacts memory.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engramdown.cortex.compacting import CompactionReceipt


APPLY: Final = "Apply"
WAITS: Final = "Waits for you in pending.md"
LEFT_OUT: Final = "Left as it is"
ASKED: Final = "yours to decide"
NOT_DONE: Final = "not done"
ASK: Final = "Apply this?"
ASK_LATER: Final = "Put these questions into pending.md?"
NEEDS_YES: Final = (
    "compacting needs a person's yes; --dry-run shows what would change, --yes applies"
)
_UNDO: Final = (
    "",
    "; `engramdown undo` takes it back",
    "; each scope is a step of its own: `engramdown undo`, twice, takes them back",
)
_DONE: Final = {
    "applied": "applied",
    "queued": "waiting in pending.md",
    "refused": "left as it is",
    "passed over": "passed over, as you or somebody else changed it meanwhile",
    "failed": "failed",
}


def thinks(name: str) -> str:
    """Say that a model is asked."""
    return f"asking {name}; this can take a while"


def no_model(threshold: int) -> str:
    """Say what a model could do that is not set."""
    return (
        f"a file holds more than {threshold} memories; a model could say the same in fewer: name "
        "one as `model` under [consolidation] in the global config.toml"
    )


def nothing_done(scope: str, problem: str) -> str:
    """Say why nothing is done in a scope."""
    return f"{scope}: {problem}"


def receipt(each: CompactionReceipt) -> str:
    """Say what became of an operation that was not simply applied."""
    names = ", ".join(each.operation.ids) if each.operation else each.scope
    said = "failed" if each.action == "failed" else "passed over"
    return f"{names}: {said}: {each.reason}"


def summary(receipts: Iterable[CompactionReceipt]) -> str:
    """Say how many operations came to what end."""
    told = list(receipts)
    counts = Counter[str](each.action for each in told)
    said = ", ".join(f"{counts[key]} {words}" for key, words in _DONE.items() if counts[key])
    if not said:
        return "Nothing to compact."
    scopes = {each.scope for each in told if each.action == "applied"}
    undo = _UNDO[len(scopes)]
    return f"{said}{undo}."
