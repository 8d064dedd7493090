"""Pastes the help of every command into docs/cli.md, where a console block asks for it.

``python -m tests.cli.paste_help`` rewrites the page. What is pasted is what stands between a line
``$ engramdown COMMAND --help`` and the end of its block; tests/test_readme.py says when it is old.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Final

from engramdown.cli.main import main

__all__ = ["PAGE", "help_of", "pasted"]

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
_BLOCK: Final = re.compile(r"(?m)^\$ engramdown ((?:[a-z_-]+ )*)--help\n(?s:.*?)^```$")


def help_of(name: str) -> str:
    """Return the help of a command, or of the program for ``""``, as 80 columns show it.

    Args:
        name: The words behind ``engramdown``: ``log user``.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main([*name.split(), "--help"])
    return printed.getvalue()


def pasted(page: str) -> str:
    """Return ``page`` with the help of every command as it is now."""
    return _BLOCK.sub(
        lambda found: f"$ engramdown {found[1]}--help\n{help_of(found[1].strip())}```", page
    )


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    PAGE.write_text(pasted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
