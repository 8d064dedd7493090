"""The line of ``.gitattributes`` that names the merge driver, and the setting that says what it is.

Promises: pure; bytes that somebody else wrote stay as they are; a line that is there is not added
again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

__all__ = ["DRIVER", "HOOK", "hook_text", "merge_command", "names_driver", "rule", "with_rule"]

DRIVER: Final = "engramdown"
"""The name of the merge driver."""

HOOK: Final = "pre-commit"
"""The hook that looks at staged memory."""

_REMARK: Final = b"# Memory is merged entry by entry; in each clone, once: engramdown init --git"
_FILES: Final = "memory/**/*.md"
_NAMES: Final = re.compile(rb"^[^#\n]*\smerge=engramdown(?:\s|$)", re.MULTILINE)


def rule(folder: str) -> bytes:
    """Return the line for the memory in ``folder``, which is beside the file; ``""`` is around it.

    >>> rule(".engramdown")
    b'/.engramdown/memory/**/*.md merge=engramdown'
    """
    place = f"/{folder}/" if folder else "/"
    return f"{place}{_FILES} merge={DRIVER}".encode()


def with_rule(data: bytes, line: bytes) -> bytes:
    r"""Return ``.gitattributes`` with ``line`` at its end, if it is not there.

    >>> with_rule(b"*.png binary", b"x merge=engramdown").split(b"\n")[-2:]
    [b'x merge=engramdown', b'']
    """
    if line in (each.strip() for each in data.split(b"\n")):
        return data
    eol = b"\r\n" if b"\r\n" in data else b"\n"
    begun = data + eol if data and not data.endswith(b"\n") else data
    return begun + _REMARK + eol + line + eol


def names_driver(data: bytes) -> bool:
    r"""Whether ``.gitattributes`` gives some files to our merge driver.

    >>> names_driver(b"*.md  merge=engramdown\n"), names_driver(b"# merge=engramdown")
    (True, False)
    """
    return _NAMES.search(data) is not None


def merge_command(program: Sequence[str]) -> str:
    """Return the shell command of the driver; where the program is gone, git merges as text.

    Args:
        program: The path of the program, and what it needs before its arguments.
    """
    path, call = shlex.quote(program[0]), shlex.join(program)
    ours = f"{call} merge-driver".replace("%", "%%")
    gits = "git merge-file --marker-size=%L %A %O %B"
    there = f"test -x {path}".replace("%", "%%")
    return f"if {there}; then {ours} %O %A %B %P %L %S %X %Y; else {gits}; fi"


def hook_text(program: Sequence[str]) -> str:
    """Return the hook that stops a commit of memory that is not fit for it."""
    return (
        "#!/bin/sh\n"
        "# Engramdown: no secrets, conflict markers or broken metadata in staged memory.\n"
        f"exec {shlex.join(program)} doctor --staged\n"
    )
