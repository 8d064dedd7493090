"""``engramdown why``: where a memory comes from.

Promises: changes nothing; what was said is shown in the words in which it was said, what was taken
back is not; what is not there any more is said to be gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from engramdown import Cortex, Entry, Proposal
from engramdown.cli import history, log_messages, output
from engramdown.cli import why_messages as said
from engramdown.cli.access import find_anywhere, folders, open_cortex
from engramdown.cli.commands import id_argument, json_option, pass_place
from engramdown.cli.history import step_lines
from engramdown.cli.layout import Line, line
from engramdown.cli.process import Place
from engramdown.cli.views import (
    archived_data,
    archived_lines,
    beside,
    entry_data,
    one_line,
    proposal_data,
    step_data,
)
from engramdown.cli.views import place as place_of
from engramdown.clock import local
from engramdown.cortex.why import Known, Said, Taught, Why
from engramdown.hippocampus.entry import Archived
from engramdown.markdown.metadata import is_address
from engramdown.transcripts.episode import Pointer

_SHOWN: Final = 300


@click.command()
@id_argument
@json_option
@pass_place
def why(place: Place, /, *, entry_id: str, as_json: bool) -> None:
    """Say where a memory comes from: who said it, what taught it, each step since.

    ID is an id or the beginning of one: of a memory, of a proposal or of a retired memory. It
    shows the lines of transcripts that taught it, with two lines on each side, and the commit of
    git that brought it, if there is one.
    """
    cortex = open_cortex(place)
    found = find_anywhere(cortex, entry_id)
    known = cortex.why(found.entry.id if isinstance(found, Archived) else found.id)
    if as_json:
        output.print_json(_data(cortex, known))
    else:
        output.screen().show(_lines(known))


# ---- telling ----


def _lines(known: Why) -> Iterator[Line]:
    found = known.found
    entry = found.entry if isinstance(found, Archived) else found
    engram = entry.engram if isinstance(entry, Proposal) else entry
    yield line((engram.text, "strong"), *beside(entry.comments))
    yield line()
    if known.is_ours:
        yield line(history.whence(engram.source, engram.basis, engram.origin))
    else:
        yield line(history.SOMEBODY_ELSES)
    yield line(_state(found))
    yield from map(line, _facts(known))
    yield from (row for taught in known.taught for row in _taught_lines(taught))
    if known.made_of:
        yield line()
        yield line((said.MADE_OF, "strong"))
        yield from archived_lines(known.made_of)
    for step, scope in known.steps:
        yield line()
        yield from step_lines(step, scope)


def _state(found: Known) -> str:
    if isinstance(found, Entry):
        return history.stands_in(place_of(found), found.scope)
    if isinstance(found, Proposal):
        return history.waits_in(found)
    return history.retired(found)


def _facts(known: Why) -> Iterator[str]:
    """Yield what else is known, a sentence each."""
    if isinstance(known.found, Entry) and is_address(known.found.id) and known.is_ours:
        yield history.BY_HAND
    elif not known.steps:
        yield history.NO_STEPS
    if known.waited and not isinstance(known.found, Proposal):
        yield said.waited(known.waited)
    yield said.brought(known.brought, by_git=_came_by_git(known))


def _came_by_git(known: Why) -> bool:
    first = known.first
    return first.step.op == "checkout" if first else not known.steps


def _taught_lines(taught: Taught) -> Iterator[Line]:
    yield line()
    yield line((said.said_in(taught), "strong"))
    if taught.said is None:
        yield line((said.PROBLEMS[taught.problem], "warn"), indent=2)
        return
    for each in taught.before:
        yield from _said_lines(taught.pointer.session, each)
    yield from _said_lines(taught.pointer.session, taught.said, marked=True)
    for each in taught.after:
        yield from _said_lines(taught.pointer.session, each)


def _said_lines(session: str, each: Said, *, marked: bool = False) -> Iterator[Line]:
    episode = each.episode
    yield line(
        ("> " if marked else "  ", "warn"),
        (f"#{episode.seq}", "id"),
        "  ",
        (log_messages.speaker(episode), "strong" if marked else "dim"),
        (f"  {local(episode.at):%Y-%m-%d %H:%M}", "dim"),
        hang=4,
    )
    if each.hidden:
        yield line((said.HIDDEN[each.hidden], "warn"), indent=4)
    elif marked:
        yield line(episode.text.rstrip("\n"), indent=4)
        left = (episode.cut or 0) - len(episode.text)
        if left > 0:
            pointer = str(Pointer(session, episode.seq)) if episode.payload else ""
            yield line((log_messages.cut_off(left, pointer), "dim"), indent=4)
    else:
        text = one_line(episode.text)
        more = "…" if len(text) > _SHOWN else ""
        yield line((f"{text[:_SHOWN]}{more}", "dim"), indent=4)


# ---- for programs ----


def _data(cortex: Cortex, known: Why) -> dict[str, Any]:
    where = folders(cortex)
    found = known.found
    if isinstance(found, Proposal):
        data = {"state": "pending", **proposal_data(found, where)}
    elif isinstance(found, Entry):
        by_hand = is_address(found.id)
        data = {"state": "kept", "by_hand": by_hand, **entry_data(found, where)}
    else:
        data = {"state": "archived", **archived_data(found, where)}
    first = known.first
    brought = known.brought
    return {
        **data,
        "receipt": {
            "step": first.step.id if first else "",
            "op": first.step.op if first else "",
            "by": first.step.by if first else "",
            "why": first.step.why if first else "",
            "at": first.step.at if first else "",
            "waited": known.waited,
        },
        "taught": [_taught_data(taught) for taught in known.taught],
        "made_of": [archived_data(item, where) for item in known.made_of],
        "commit": brought.commit._asdict() if brought.commit else None,
        "no_commit": brought.problem,
        "shallow": brought.shallow,
        "steps": [step_data(step, scope) for step, scope in known.steps],
    }


def _taught_data(taught: Taught) -> dict[str, Any]:
    return {
        "pointer": str(taught.pointer),
        "problem": taught.problem,
        "source": taught.source,
        "line": _said_data(taught.said) if taught.said else None,
        "before": _all_data(taught.before),
        "after": _all_data(taught.after),
    }


def _all_data(lines: Iterable[Said]) -> list[dict[str, Any]]:
    return [_said_data(each) for each in lines]


def _said_data(each: Said) -> dict[str, Any]:
    episode = each.episode
    return {
        "seq": episode.seq,
        "time": episode.ts,
        "role": episode.role,
        "name": episode.name,
        "text": episode.text,
        "cut": episode.cut,
        "hidden": each.hidden,
    }
