"""``engramdown context``: what a model sees of memory, and why, as text, prompt or page.

Into a pipe or a file the bytes are exactly those of
:meth:`engramdown.Cortex.build_memory_context`; a terminal shows characters that could fool it as
what they are. ``--write`` keeps a copy in a page such as AGENTS.md, ``--prompt`` adds a running
conversation.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from engramdown import Cortex, MemoryContext, WorkingContext
from engramdown.cli import commands, output, process, review, views
from engramdown.cli.access import Transcripts, folders, open_cortex
from engramdown.cli.layout import Line, line, pick, table
from engramdown.cli.messages import DRY_RUN
from engramdown.cli.output import RefusalError, file_diff
from engramdown.cli.process import Place
from engramdown.cli.user_input import read_stdin
from engramdown.cli.views import Folders, entry_data, hit_lines
from engramdown.context import Section
from engramdown.engram import Scope, fold
from engramdown.errors import StoreError, UnfitFileError
from engramdown.integrations import BLOCK_BUDGET, Change, page, read, write
from engramdown.language import on_screen
from engramdown.markdown import BlockError, Placed, parse, put_in, taken_out
from engramdown.tokens import estimate_tokens

_OF_A_SESSION: Final = ("budget", "tail", "shape")
_OF_A_FILE: Final = ("check", "remove", "replace", "force", "scope", "dry_run")
_OTHERS: Final = ("message", "explain", "scratchpad", "session", "tail", "shape")


@click.command(cls=commands.WordsCommand)
@click.argument("message", metavar="[MESSAGE]...", nargs=-1)
@click.option(
    "--explain", is_flag=True, help="Show each section's tokens, budget, what is left out."
)
@click.option("--scratchpad", is_flag=True, help="Show what a scratchpad tool's description says.")
@click.option(
    "--session",
    metavar="SESSION",
    shell_complete=commands.complete_sessions,
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
@commands.scope_options("With --write: what holds for all projects.", "With --write: this project.")
@click.option("--dry-run", is_flag=True, help="With --write: show the diff, and write nothing.")
@commands.json_option
@commands.pass_place
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
    chosen = commands.given()
    if _writes(chosen):
        write_page(place, chosen["page"])
        return
    if chosen["session"] is None and any(chosen[name] is not None for name in _OF_A_SESSION):
        raise click.UsageError(NEEDS_SESSION)
    cortex = open_cortex(place)
    _say_news(cortex)
    if chosen["session"] is not None:
        # Imported here: hooks ask for memory alone, on every prompt.
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

    if chosen["page"] is None:
        raise click.UsageError(NEEDS_WRITE)
    if any(chosen[name] for name in _OTHERS):
        raise click.UsageError(ALONE)
    return True


def _say_news(cortex: Cortex) -> None:
    """Tell a person who looks what came with git; what is printed stays what a model sees."""
    if process.is_terminal(sys.stderr):
        count = len(cortex.review.arrivals())
        if count:
            output.note(review.came_briefly(count))


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
                **pick(section, "name heading budget tokens"),
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


def write_page(place: Place, path: Path) -> None:
    """Do what the options of ``context --write`` say.

    Args:
        place: Where memory is.
        path: The file.

    Raises:
        UsageError: If options do not go together.
        RefusalError: If ``--check`` finds that the file does not say what memory says.
        UnfitFileError: If the block cannot be found for sure.
    """
    options = commands.given()
    if sum(map(bool, (options["check"], options["remove"], options["replace"]))) > 1:
        raise click.UsageError(ONE_OF_TWO)
    text = "" if options["remove"] else _page(place, options)
    force = options["force"] or options["check"]
    change = _planned(path, text, force=force, replace=options["replace"])
    is_dry = options["dry_run"] or options["check"]
    if not is_dry:
        write(change)
    if options["as_json"]:
        output.print_json(_page_data(change, text, written=change.is_new and not is_dry))
    else:
        output.screen().show(_lines(change, text, dry=is_dry))
    if options["check"] and change.is_new:
        raise RefusalError(stale(path))


def _page(place: Place, options: dict[str, Any]) -> str:
    scope: Scope = options["scope"] or "project"
    cortex = open_cortex(place, "project" if scope == "project" else "any")
    return page(cortex, scope, BLOCK_BUDGET if options["budget"] is None else options["budget"])


def _planned(path: Path, text: str, *, force: bool, replace: bool) -> Change:
    # A link such as CLAUDE.md to AGENTS.md stays in its folder; one that leaves it is refused.
    found = read(path, path.absolute().parent)
    try:
        if not (replace and text):
            return found._replace(after=put_in(found.before or b"", text, force=force))
        outside = taken_out(found.before or b"", force=force)
        if not _twice(outside, text):
            # The block stays where it is, so that doing it again changes nothing.
            return found._replace(after=put_in(found.before or b"", text, force=force))
        before, after = _without_twice(outside, text)
        return found._replace(after=put_in(before, text) + after)
    except BlockError as error:
        raise UnfitFileError(str(path), str(error)) from error


def _twice(data: bytes, text: str) -> list[Placed]:
    """Return the list items and paragraphs of a file without its block that the block says, too."""
    said = {fold(placed.block.text) for placed in parse(text).placed()}
    placed = parse(data.decode("utf-8", "surrogateescape")).placed()
    return [each for each in placed if fold(each.block.text) in said]


def _without_twice(data: bytes, text: str) -> tuple[bytes, bytes]:
    """Return what stands in front of the first item that the block says, and behind, without it."""
    document = parse(data.decode("utf-8", "surrogateescape"))
    gone = {each.at for each in _twice(data, text)}
    first = min(gone, default=len(document.blocks))
    before, after = (
        "".join(block.raw for at, block in blocks if at not in gone)
        for blocks in (
            [*enumerate(document.blocks)][:first],
            [*enumerate(document.blocks)][first:],
        )
    )
    return before.encode("utf-8", "surrogateescape"), after.encode("utf-8", "surrogateescape")


def _said_twice(change: Change, text: str) -> list[int]:
    """Return the lines of a file, as it would be, that say what its block says."""
    if not text:
        return []
    try:
        outside = taken_out(change.after, force=True)
    except BlockError:
        return []
    return [each.line for each in _twice(outside, text)]


def _lines(change: Change, text: str, *, dry: bool) -> Iterator[Line]:
    options = commands.given()
    if not (text or options["remove"]):
        yield line((NOTHING, "warn"), hang=2)
    twice = _said_twice(change, text)
    if twice:
        yield line((said_twice(change.path, twice), "warn"), hang=2)
    if not change.is_new:
        known = fresh if text else nothing_to_take_out
        yield line((known(change.path), "good"), hang=2)
        return
    if dry or options["replace"]:
        before, after = (
            (data or b"").decode("utf-8", "surrogateescape")
            for data in (change.before, change.after)
        )
        yield from file_diff(change.path, before, after, str(change.path))
    if options["check"]:
        return
    done = written(change.path, remove=not text, dry=dry)
    yield line((done, "good"), hang=2)
    if dry:
        yield line((DRY_RUN, "dim"))


def _page_data(change: Change, text: str, *, written: bool) -> dict[str, Any]:
    return {
        "file": str(change.path),
        "changed": change.is_new,
        "twice": _said_twice(change, text),
        "written": written,
        "tokens": estimate_tokens(text),
        "text": text,
    }


NEEDS_WRITE: Final = (
    "--check, --remove, --replace, --force, --dry-run, --global and --project belong to "
    "--write FILE"
)
NOTHING: Final = "There is nothing in memory to write; `engramdown remember` begins it."
ONE_OF_TWO: Final = "--check, --remove and --replace are three things; give one"
ALONE: Final = "--write takes no message, no session and no other view of memory"


def written(path: Path, *, remove: bool, dry: bool) -> str:
    """Say what became of a file."""
    if remove:
        return f"The block {'would be' if dry else 'is'} gone from {path}."
    return f"Memory {'would stand' if dry else 'stands'} in {path}."


def fresh(path: Path) -> str:
    """Say that nothing is left to do."""
    return f"{path} says what memory says."


def said_twice(path: Path, lines: Sequence[int]) -> str:
    """Say that lines of a file say what the block says, and what to do about it."""
    count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
    first = f"{path}:{lines[0]}"
    return (
        f"{count} from {first} on say what the block says, so whoever reads the file gets them "
        f"twice; `engramdown context --write {path} --replace` puts the block in their place"
    )


def stale(path: Path) -> str:
    """Say that a file does not say what memory says."""
    return f"{path}: is not what memory says; run `engramdown context --write {path}`"


def nothing_to_take_out(path: Path) -> str:
    """Say that there is no block."""
    return f"{path} has no block of Engramdown."


PROMPT_BUDGET: Final = 80_000
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
    budget = PROMPT_BUDGET if chosen["budget"] is None else chosen["budget"]
    made = cortex.conversations.build_context(session, budget, chosen["tail"], message=message)
    shape = chosen["shape"] or "text"
    if chosen["as_json"]:
        output.print_json(_prompt_data(made, shape))
    elif chosen["explain"]:
        output.fast_screen().show(explained(made))
    else:
        rendered = _rendered(made, shape)
        _print_exact(rendered if isinstance(rendered, str) else json.dumps(rendered, indent=2))


def _rendered(made: WorkingContext, shape: str) -> Any:  # noqa: ANN401 - a text, or what JSON holds
    return {"text": made.text, "openai": made.openai, "anthropic": made.anthropic}[shape]()


def _print_exact(text: str) -> None:
    if process.is_terminal(sys.stdout):
        click.echo(on_screen(text))
    else:
        # As bytes, so that no encoding and no line end of the system gets in between.
        click.echo(text.encode("utf-8", "surrogateescape"), nl=not text.endswith("\n"))


def _parts(made: WorkingContext) -> dict[str, str]:
    return {name: getattr(made, name) for name in PARTS}


def _prompt_data(made: WorkingContext, shape: str) -> dict[str, Any]:
    return {
        "session": made.session,
        "budget": made.budget,
        "tokens": made.tokens,
        "prompt": _rendered(made, shape),
        **_parts(made),
        "sections": [pick(each, "name heading tokens text") for each in made.sections],
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
    rows = [PARTS_HEAD]
    rows += [
        (str(estimate_tokens(text)), PARTS[name]) for name, text in _parts(made).items() if text
    ]
    rows += [
        (str(each.tokens), each.heading.removeprefix("## ")) for each in made.sections if each.text
    ]
    yield from table(rows) if len(rows) > 1 else ()
    yield line((total(made.tokens, made.budget, len(made.messages), len(made.recent)), "strong"))
    if made.dropped:
        yield line()
        lost = [(str(each.tokens), each.what, each.where, each.reason) for each in made.dropped]
        yield from table([DROPPED_HEAD, *lost])


NEEDS_SESSION: Final = "--budget, --tail and --format are about a conversation; give --session, too"
PARTS: Final = {
    "soul": "Who you are",
    "skills": "Skills",
    "history": "Earlier sessions",
    "journal": "Journal",
    "notes": "Working notes",
    "relevant": "Relevant now",
}
"""What the parts of a prompt are called."""
PARTS_HEAD: Final = ("tokens", "part")
DROPPED_HEAD: Final = ("tokens", "not shown, or not whole", "where", "why")


def total(tokens: int, budget: int, messages: int, fresh: int) -> str:
    """Say what a prompt costs, and how much of the conversation is in it."""
    said = "1 message or summary" if messages == 1 else f"{messages:,} messages and summaries"
    return (
        f"{tokens:,} tokens of {budget:,} in all, with the words around the parts; "
        f"{said}, {fresh} of them always"
    )
