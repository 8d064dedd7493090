"""What the tour says.

Promises: pure; plain words; an error names the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    pass


TOUR: Final = {
    "init": (
        "Memory is a folder beside your work",
        "Each file explains itself in a private note, which no model ever sees.",
    ),
    "remember": (
        "You say something once",
        "The words tell that it is a rule. One memory is one line, with a comment of metadata.",
    ),
    "again": (
        "Saying it again adds nothing",
        "Case, spaces and the final full stop make no difference.",
    ),
    "edit": (
        "The file is yours",
        "You open rules.md in your editor and change the line.",
    ),
    "listed": (
        "What you wrote counts most",
        "Your edit is noticed. The line is verified now: nothing automatic will touch it.",
    ),
    "propose": (
        "An assistant proposes, and waits",
        "In the mode copilot, what is not certain goes to pending.md. Nobody is interrupted.",
    ),
    "tick": (
        "You decide, in any editor",
        "A cross in the box accepts, a dash declines. `engramdown review` asks with one key.",
    ),
    "review": (
        "What you ticked is done",
        "The line moves from pending.md to rules.md in one step.",
    ),
    "context": (
        "This is all that a model sees",
        "No ids, no notes, nothing that waits; always within a budget.",
    ),
    "undo": (
        "Every change can be taken back",
        "`engramdown history` lists them. What you wrote by hand is never overwritten.",
    ),
}
TOUR_KEY: Final = "Any key goes on, q stops. "
TOUR_END: Final = "That was all; the folder is gone. Begin with `engramdown init`."
