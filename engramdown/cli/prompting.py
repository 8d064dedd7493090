"""``engramdown context --session``: what a model sees next of a conversation.

Promises: into a pipe or a file the bytes are those of :class:`engramdown.WorkingContext`; on a
terminal what could fool it is made visible. Nothing is recorded.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from engramdown import Cortex, WorkingContext
from engramdown.cli import output, process
from engramdown.cli import prompt_messages as said
from engramdown.cli.access import Transcripts
from engramdown.cli.layout import Line, line, table
from engramdown.errors import StoreError
from engramdown.language.characters import on_screen
from engramdown.tokens import estimate_tokens

BUDGET: Final = 80_000
"""What a prompt may cost unless it is said."""


def show_prompt(cortex: Cortex, message: str, chosen: Mapping[str, Any]) -> None:
    """Print what a model sees next of a conversation.

    Raises:
        RefusalError: There is no such session, or the id is not unique.
        StoreError: If memory cannot be read, or a template is broken.
    """
    if cortex.episodes is None:
        raise StoreError("no scope has files, so no conversation is recorded")
    session = Transcripts(cortex.episodes).find(chosen["session"])
    budget = BUDGET if chosen["budget"] is None else chosen["budget"]
    made = cortex.build_context(session, budget, chosen["tail"], message=message)
    shape = chosen["shape"] or "text"
    if chosen["as_json"]:
        output.print_json(_data(made, shape))
    elif chosen["explain"]:
        output.fast_screen().show(explained(made))
    else:
        rendered = _rendered(made, shape)
        _print(rendered if isinstance(rendered, str) else json.dumps(rendered, indent=2))


def _rendered(made: WorkingContext, shape: str) -> Any:  # noqa: ANN401 - a text, or what JSON holds
    return {"text": made.text, "openai": made.openai, "anthropic": made.anthropic}[shape]()


def _print(text: str) -> None:
    if process.is_terminal(sys.stdout):
        click.echo(on_screen(text))
    else:
        # As bytes, so that no encoding and no line end of the system gets in between.
        click.echo(text.encode("utf-8", "surrogateescape"), nl=not text.endswith("\n"))


def _parts(made: WorkingContext) -> dict[str, str]:
    return {name: getattr(made, name) for name in said.PARTS}


def _data(made: WorkingContext, shape: str) -> dict[str, Any]:
    return {
        "session": made.session,
        "budget": made.budget,
        "tokens": made.tokens,
        "prompt": _rendered(made, shape),
        **_parts(made),
        "sections": [
            {"name": each.name, "heading": each.heading, "tokens": each.tokens, "text": each.text}
            for each in made.sections
        ],
        "messages": [
            {
                "source": each.source,
                "role": each.role,
                "tokens": each.tokens,
                "whole": each.is_whole,
                "text": each.text,
            }
            for each in made.messages
        ],
        "tail": made.tail,
        "dropped": [each._asdict() for each in made.dropped],
        "degraded": made.degraded,
    }


def explained(made: WorkingContext) -> Iterator[Line]:
    """Yield what each part of a prompt costs, and what is not in it."""
    rows = [said.PARTS_HEAD]
    rows += [
        (str(estimate_tokens(text)), said.PARTS[name])
        for name, text in _parts(made).items()
        if text
    ]
    rows += [
        (str(each.tokens), each.heading.removeprefix("## ")) for each in made.sections if each.text
    ]
    yield from table(rows) if len(rows) > 1 else ()
    yield line(
        (said.total(made.tokens, made.budget, len(made.messages), len(made.recent)), "strong")
    )
    if made.dropped:
        yield line()
        lost = [(str(each.tokens), each.what, each.where, each.reason) for each in made.dropped]
        yield from table([said.DROPPED_HEAD, *lost])
