"""``engramdown context``: what a model sees of memory, byte for byte, and why.

Promises: into a pipe or a file the bytes are exactly those of
:meth:`engramdown.Cortex.build_memory_context`; on a terminal what could fool it is made visible.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from engramdown import Cortex, MemoryContext
from engramdown.cli import output, process, prompt_messages, review_messages, views
from engramdown.cli.access import folders, open_cortex
from engramdown.cli.commands import (
    WordsCommand,
    complete_sessions,
    given,
    json_option,
    pass_place,
    scope_options,
)
from engramdown.cli.layout import Line, line, table
from engramdown.cli.process import Place
from engramdown.cli.user_input import read_stdin
from engramdown.cli.views import Folders, entry_data, hit_lines
from engramdown.cortex.context import Section
from engramdown.language.characters import on_screen
from engramdown.tokens import estimate_tokens

_OF_A_SESSION: Final = ("budget", "tail", "shape")
_OF_A_FILE: Final = ("check", "remove", "replace", "force", "scope", "dry_run")
_OTHERS: Final = ("message", "explain", "scratchpad", "session", "tail", "shape")


@click.command(cls=WordsCommand)
@click.argument("message", metavar="[MESSAGE]...", nargs=-1)
@click.option(
    "--explain", is_flag=True, help="Show each section's tokens, budget, what is left out."
)
@click.option("--scratchpad", is_flag=True, help="Show what a scratchpad tool's description says.")
@click.option(
    "--session",
    metavar="SESSION",
    shell_complete=complete_sessions,
    help="Print all that a model sees next of this conversation.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="TOKENS",
    help="What it may cost; 80000 unless given.",
)
@click.option(
    "--tail",
    type=click.IntRange(min=0),
    metavar="N",
    help="How many of the newest messages are shown whatever they cost.",
)
@click.option(
    "--format",
    "shape",
    type=click.Choice(("text", "openai", "anthropic")),
    help="Print it as a text, or as messages for a provider.",
)
@click.option(
    "--write",
    "page",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Put rules and lessons into FILE, such as AGENTS.md, as a marked block.",
)
@click.option("--check", is_flag=True, help="With --write: only see whether FILE is up to date.")
@click.option("--remove", is_flag=True, help="With --write: take the block out of FILE.")
@click.option(
    "--replace", is_flag=True, help="With --write: take lines out of FILE that the block says, too."
)
@click.option("--force", is_flag=True, help="With --write: also if somebody edited the block.")
@scope_options("With --write: what holds for all projects.", "With --write: this project.")
@click.option("--dry-run", is_flag=True, help="With --write: show the diff, and write nothing.")
@json_option
@pass_place
def context(
    place: Place,
    /,
    *,
    message: tuple[str, ...],
    explain: bool,
    scratchpad: bool,
    as_json: bool,
    **_: object,
) -> None:
    """Print what a model sees of memory, ranked for MESSAGE; "-" reads it from stdin.

    SESSION is the id of a conversation, or the beginning of one. --write keeps memory in a file
    that agents read by themselves; no byte outside its block changes.
    """
    chosen = given()
    if _writes(chosen):
        from engramdown.cli.page_writing import write_page

        write_page(place, chosen["page"])
        return
    if chosen["session"] is None and any(chosen[name] is not None for name in _OF_A_SESSION):
        raise click.UsageError(prompt_messages.NEEDS_SESSION)
    cortex = open_cortex(place)
    _say_news(cortex)
    if chosen["session"] is not None:
        # Imported here: hooks ask for memory alone, on every prompt.
        from engramdown.cli.prompting import show_prompt

        show_prompt(cortex, _message(message), chosen)
        return
    if scratchpad:
        text = str(cortex.get_scratchpad_context())
        _print({"text": text, "tokens": estimate_tokens(text)}, text, as_json=as_json)
        return
    made = cortex.build_memory_context(_message(message), scratchpad=True)
    if as_json:
        output.print_json(_data(made, folders(cortex)))
    elif explain:
        output.screen().show(_explained(made))
    else:
        _print({}, str(made), as_json=False)


def _writes(chosen: dict[str, Any]) -> bool:
    """Whether a file is to be written; options that do not go together are refused."""
    more = any(chosen[name] for name in _OF_A_FILE)
    if chosen["page"] is None and not more:
        return False
    from engramdown.cli import page_messages

    if chosen["page"] is None:
        raise click.UsageError(page_messages.NEEDS_WRITE)
    if any(chosen[name] for name in _OTHERS):
        raise click.UsageError(page_messages.ALONE)
    return True


def _say_news(cortex: Cortex) -> None:
    """Tell a person who looks what came with git; what is printed stays what a model sees."""
    if process.is_terminal(sys.stderr):
        count = len(cortex.arrivals())
        if count:
            output.note(review_messages.came_briefly(count))


def _message(words: tuple[str, ...]) -> str:
    if words == ("-",):
        return read_stdin()
    return " ".join(words)


def _print(data: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        output.print_json(data)
    elif process.is_terminal(sys.stdout):
        click.echo(on_screen(text))
    else:
        # As bytes, so that no encoding and no line end of the system gets in between.
        click.echo(text.encode("utf-8", "surrogateescape"), nl=not text.endswith("\n"))


def _data(made: MemoryContext, where: Folders) -> dict[str, Any]:
    return {
        "text": str(made),
        "tokens": estimate_tokens(made),
        "sections": [
            {
                "name": section.name,
                "heading": section.heading,
                "budget": section.budget,
                "tokens": section.tokens,
                "shown": [entry.id for entry in section.shown],
                "left_out": [entry_data(entry, where) for entry in section.left_out],
                "text": section.text,
            }
            for section in made.sections
        ],
    }


def _explained(made: MemoryContext) -> Iterator[Line]:
    rows = [views.EXPLAIN_HEAD]
    rows += [
        (
            str(section.tokens),
            str(section.budget),
            str(len(section.shown)),
            str(len(section.left_out)),
            _title(section),
        )
        for section in made.sections
    ]
    yield from table(rows)
    yield line((views.explain_total(estimate_tokens(made)), "strong"))
    for section in made.sections:
        if section.left_out:
            yield line()
            yield line((views.left_out(_title(section)), "where"))
            yield from hit_lines(section.left_out)


def _title(section: Section) -> str:
    """Return the heading of a section without what all headings begin with."""
    return section.heading.rpartition("— ")[2] or section.name
