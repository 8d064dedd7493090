"""The streams, signals and place of the process, for every command; loads no click.

Neither a character that the terminal's encoding lacks nor a reader that goes away stops a command.
An error is one line on stderr without secrets and without anything that a terminal would obey.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple, TextIO

# In fewer columns the terminal cuts words as it likes.
_NARROWEST: Final = 12


def complain(message: str, command: str = "engramdown") -> None:
    """Say on stderr, in one line, what went wrong; a secret in it is hidden."""
    from engramdown.secrets import redact

    if sys.stderr is not None:
        sys.stderr.write(f"{wrapped(f'{command}: {one_line(redact(message))}')}\n")
        sys.stderr.flush()


def one_line(message: str) -> str:
    """Return a message without what a terminal would obey, in one line."""
    from engramdown.language import on_screen

    return on_screen(" ".join(message.split("\n")))


def wrapped(text: str) -> str:
    """Return a line for stderr in rows of whole words, if a terminal shows it."""
    if not is_terminal(sys.stderr):
        return text
    # Imported here: a command that another program calls has no terminal.
    from engramdown.cli.layout import line, wrap

    columns = terminal_columns(sys.stderr)
    rows = wrap(line(text, hang=2), columns) if columns > _NARROWEST else []
    return "\n".join("".join(part.text for part in row) for row in rows) or text


def flush() -> None:
    """Flush stdout, so that a reader that went away is noticed in time."""
    stream: TextIO | None = sys.stdout
    if stream is not None:
        stream.flush()


def give_up_stdout() -> None:
    """Discard what stdout cannot take, or Python would complain at exit."""
    try:
        flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_terminal(stream: io.TextIOBase | object) -> bool:
    """Return whether a stream is a terminal."""
    isatty: Callable[[], bool] | None = getattr(stream, "isatty", None)
    return bool(isatty and not getattr(stream, "closed", False) and isatty())


def set_up_streams() -> None:
    """Escape the characters that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def handling(handler: Callable[[int, FrameType | None], object], *names: str) -> Iterator[None]:
    """Let ``handler`` handle signals in a ``with`` block, as far as the system has them."""
    import signal  # which most commands never need

    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def terminal_columns(stream: TextIO | None = None) -> int:
    """Return the columns of a stream's terminal, by default stdout's, or 0."""
    stream = stream or sys.__stdout__
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream else 0
    except (OSError, ValueError):
        return 0


class Place(NamedTuple):
    """Where memory is, by the options of the program.

    Attributes:
        project: The folder to look for a project in, or ``None`` for the working directory.
        home: The folder of the global scope, or ``None`` for the one of the environment.
        mode: The mode of the gate, or ``None`` for the one of the settings.
    """

    project: Path | None = None
    home: Path | None = None
    mode: str | None = None
