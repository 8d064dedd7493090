"""A person's yes, before something is written that cannot simply be looked at afterwards.

Promises: without a yes nothing goes on: a program is told which option says it, a person who says
no leaves with the exit code of a refusal, and is told that nothing was done.
"""

from __future__ import annotations

import click
from click.exceptions import Exit

from engramdown.cli import messages, output
from engramdown.cli.output import REFUSED, RefusalError


def check(needed: str) -> None:
    """Make sure that a yes was said, is not needed, or can be asked for.

    The command has the options ``--yes``, ``--dry-run`` and ``--json``.

    Args:
        needed: What to say if nobody is there to ask.

    Raises:
        RefusalError: If nobody is there.
    """
    options = click.get_current_context().params
    said = options["yes"] or options["dry_run"]
    if not said and (options["as_json"] or not output.is_person()):
        raise RefusalError(needed)


def ask(question: str) -> None:
    """Ask a person, unless ``--yes`` was said.

    Raises:
        Exit: If the person says no.
    """
    if not click.get_current_context().params["yes"] and not click.confirm(question):
        output.note(messages.NOT_DONE)
        raise Exit(REFUSED)
