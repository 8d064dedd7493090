"""The exit codes of the program, and the refusal that ends a command with one.

docs/cli.md lists the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

DONE: Final = 0
REFUSED: Final = 1
"""Nothing was found, or what was asked for was refused."""
USAGE: Final = 2
STORE_FAILED: Final = 3
"""A store could not be read or written."""
STOPPED: Final = 130
"""Ctrl-C, as shells count it: 128 and the number of the signal."""
PIPE_CLOSED: Final = 141
"""Whoever read the output went away, as shells count it."""


class RefusalError(click.ClickException):
    """What was asked for is refused; the message says the next step.

    Attributes:
        more: Lines below the message: what could have been meant.
        exit_code: The exit code of the command.
    """

    exit_code = REFUSED

    def __init__(self, message: str, more: Sequence[str] = ()) -> None:
        """Say why, and what could have been meant (``more``)."""
        super().__init__(message)
        self.more = tuple(more)
