"""The entry point of the installed program.

A hook that an agent calls, with the event on standard input, loads nothing of the command line;
everything else is :func:`engramdown.cli.main.main`.
"""

from __future__ import annotations

import gc
import sys
from typing import Final

from engramdown.cli.process import Place, is_terminal, set_up_streams

_HOOK: Final = "hook"
_MANY_OBJECTS: Final = 50_000


def main() -> int:
    """Run the program on the arguments of the process and return its exit code."""
    # Most commands end before there is any garbage to look for, and do not stop to look.
    gc.set_threshold(_MANY_OBJECTS)
    words = sys.argv[1:]
    if _is_hook(words) and not is_terminal(sys.stdin):
        code = _run_hook(words[-1] if words[1:] else "")
    else:
        # Imported here: a hook needs none of it.
        from engramdown.cli.main import main as program

        code = program()
    # Nor at the end, when all of it is thrown away: that was a fifth of what a hook took.
    gc.freeze()
    return code


def _is_hook(words: list[str]) -> bool:
    """Whether it is a hook without options: at most the event is named."""
    has_event = len(words) <= 2  # noqa: PLR2004 - the command, and the event
    return words[:1] == [_HOOK] and has_event and not any(word.startswith("-") for word in words)


def _run_hook(said: str) -> int:
    from engramdown.cli.hook_process import happen, told_by_json

    set_up_streams()
    happen(Place(), said, lambda: told_by_json(said))
    return 0
