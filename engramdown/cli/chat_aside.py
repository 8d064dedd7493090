"""What is said to a person beside a conversation: what went wrong, what they should know.

Promises: it stands on stderr; on a terminal no word is cut in two, elsewhere it is one line.
"""

from __future__ import annotations

import sys

import click

from engramdown.cli import output, process
from engramdown.cli.layout import line
from engramdown.language.characters import on_screen
from engramdown.secrets.redaction import redact


def complain(message: str) -> None:
    """Say what went wrong; a secret in it is hidden."""
    if process.is_terminal(sys.stderr):
        _show(f"engramdown: {redact(message)}")
    else:
        process.complain(message)


def note(message: str) -> None:
    """Say something that is no answer."""
    if process.is_terminal(sys.stderr):
        _show(f"note: {message}")
    else:
        output.note(message)


def _show(text: str) -> None:
    item = line((on_screen(" ".join(text.split("\n"))), ""), hang=2)
    click.echo("\n".join(output.PlainScreen().rows([item])), err=True)
