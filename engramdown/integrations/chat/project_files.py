"""Two tools with which a model looks at a project: it reads a file, and lists a folder.

Nothing is written, and nothing outside the project is read, whatever path a model gives: links are
not followed, and pipes not opened. Hidden files stay hidden (``.env``, ``.git``, memory's own
files), secrets are redacted, and the length of an answer is limited. A wrong path gets an answer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from engramdown.cortex import Answer, Arguments, read_arguments, schema_of
from engramdown.errors import StoreError
from engramdown.language import inert
from engramdown.secrets import redact
from engramdown.storage import open_regular

_MOST_BYTES: Final = 1_000_000
_MOST_SHOWN: Final = 20_000
_MOST_NAMES: Final = 200


class _ListArguments(Arguments):
    """The arguments of ``list_folder``."""

    path: Annotated[str, Field(description="From the project's folder; left out: all of it.")] = ""


class _ReadArguments(_ListArguments):
    """The arguments of ``read_file``."""

    path: Annotated[str, Field(description="From the project's folder: src/main.py")]
    first_line: Annotated[int, Field(ge=1)] = 1


_TOOLS: Final[dict[str, tuple[str, type[_ListArguments]]]] = {
    "read_file": ("Read a text file of the user's project.", _ReadArguments),
    "list_folder": ("List a folder of the user's project.", _ListArguments),
}


class ProjectFiles:
    """The files of a project that a model may see."""

    def __init__(self, root: Path) -> None:
        """Show the folder ``root``."""
        self._root = root.resolve()

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions of the tools, as chat completions take them."""
        functions = [
            {"name": name, "description": about, "parameters": schema_of(wanted)}
            for name, (about, wanted) in _TOOLS.items()
        ]
        return [{"type": "function", "function": each} for each in functions]

    def use(self, name: str, arguments: object) -> Answer:
        """Return the answer of a tool, whatever the ``arguments`` are."""
        values, wrong = read_arguments(arguments, _TOOLS[name][1])
        if values is None:
            problem = inert("; ".join(wrong))
            return Answer(f"{name} was called with wrong arguments: {problem}.", is_error=True)
        try:
            if isinstance(values, _ReadArguments):
                return Answer(self._read(values.path, values.first_line))
            return Answer(self._list(values.path))
        except (StoreError, OSError, ValueError) as error:
            # Only our own messages: an error of the system names a path of this machine.
            reason = str(error) if isinstance(error, _RefusedError) else "it cannot be read"
            return Answer(f"{name}: {inert(reason)}", is_error=True)

    def _read(self, said: str, first: int) -> str:
        path = self._place(said)
        if stat.S_ISDIR(self._mode(path, said)):
            raise _RefusedError(f"{said or 'this'} is a folder; list_folder shows what is in it")
        descriptor = open_regular(path, os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise _RefusedError(f"{said} has more than {_MOST_BYTES:,} bytes")
        if b"\0" in data:
            raise _RefusedError(f"{said} is not a text file")
        text = inert(redact(data.decode("utf-8", "replace")))
        return "\n".join(_shown(text.split("\n"), first))

    def _list(self, said: str) -> str:
        path = self._place(said)
        if not stat.S_ISDIR(self._mode(path, said)):
            raise _RefusedError(f"{said} is not a folder; read_file shows its content")
        with os.scandir(path) as items:
            names = sorted(filter(None, map(_name, items)))
        rows = [inert(" ".join(name.split("\n"))) for name in names[:_MOST_NAMES]]
        rows += [f"({len(names) - _MOST_NAMES} more)"] if names[_MOST_NAMES:] else []
        return "\n".join(rows) or "(nothing to show)"

    def _place(self, said: str) -> Path:
        """Return the path that a model means.

        Raises:
            _RefusedError: If it is outside the project, hidden, or behind a link.
        """
        parts = [part for part in said.replace("\\", "/").split("/") if part not in ("", ".")]
        is_elsewhere = ".." in parts or Path(said).is_absolute() or "\0" in said
        if is_elsewhere or any(":" in part for part in parts):
            raise _RefusedError(f"{said} is not below the project's folder")
        if any(part.startswith(".") for part in parts):
            raise _RefusedError(f"{said} is hidden and cannot be shown")
        path = self._root.joinpath(*parts)
        if Path(os.path.realpath(path)) != path:  # resolve() raises over a link to itself
            raise _RefusedError(f"{said} leads through a link and cannot be shown")
        return path

    def _mode(self, path: Path, said: str) -> int:
        try:
            return os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            where = said.rpartition("/")[0] or "the project's folder"
            raise _RefusedError(f"{said} does not exist; list_folder shows {where}") from None


class _RefusedError(ValueError):
    """A refusal that a model can act on."""


def _shown(lines: list[str], first: int) -> Iterator[str]:
    """Yield lines until the answer is long enough, and how to continue."""
    if first > len(lines):
        raise _RefusedError(f"it has {len(lines)} lines")
    room = _MOST_SHOWN
    for number, text in enumerate(lines[first - 1 :], first):
        room -= len(text) + 1
        if room < 0 and number > first:
            yield f"({len(lines) - number + 1} more lines; continue with first_line {number})"
            return
        yield text if room >= 0 else f"{text[:_MOST_SHOWN]}… (the line is longer)"


def _name(found: os.DirEntry[str]) -> str:
    """Return the name of a file or folder, or ``""`` if it is not shown."""
    if found.name.startswith(".") or found.is_symlink():
        return ""
    return f"{found.name}/" if found.is_dir(follow_symlinks=False) else found.name
