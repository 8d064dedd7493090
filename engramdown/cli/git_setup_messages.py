"""The words of ``engramdown init --git``.

Promises: only what is true of this clone; each has its next step.
"""

from __future__ import annotations

from typing import Final

from engramdown.git.driver import DRIVER

KNOWN: Final = "git knows how to merge memory in this clone."
SET_UP: Final = "git merges memory entry by entry, by:"
SETTINGS: Final = "the configuration of this clone"
EVERY_CLONE: Final = "Commit .gitattributes; in every other clone run `engramdown init --git` once."
HOOK_STAYS: Final = "This hook is not ours and stays as it is; to look at memory, let it call:"
UNDO: Final = "To take it back, delete the line of .gitattributes and run:"
UNDO_COMMAND: Final = f"git config --local --remove-section merge.{DRIVER}"
