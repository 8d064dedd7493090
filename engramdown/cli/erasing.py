"""``engramdown forget --forever``: a person erases memories for good.

Promises: what goes is shown before anybody is asked; without a yes nothing is changed; the words
themselves are shown to a person alone, as what a program prints is recorded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engramdown import Cortex
from engramdown.cli import messages, output, user_input
from engramdown.cli import views as said
from engramdown.cli.access import open_cortex
from engramdown.cli.commands import given
from engramdown.cli.layout import Line, line
from engramdown.cli.process import Place
from engramdown.cli.user_input import read_stdin
from engramdown.cli.views import beside
from engramdown.cortex.erasing import Erased, Shared
from engramdown.language.characters import on_screen, visible
from engramdown.transcripts.episode import read_line

_STDIN = "-"


def erase(place: Place, names: Sequence[str]) -> None:
    """Erase memories, or what standard input says if one of ``names`` is ``-``."""
    options = given()
    cortex = open_cortex(place)
    words = [read_stdin().rstrip("\n")] if _STDIN in names else []
    ids = [name for name in names if name != _STDIN]
    told = cortex.erase(ids, words=words, pieces=options["pieces"], dry_run=True)
    user_input.check(said.NEEDS_YES)
    if not options["dry_run"]:
        if not options["yes"]:
            output.screen().show([*_texts(cortex, told), *_lines(told)])
        user_input.ask(said.ASK_ERASE)
        told = cortex.erase(ids, words=words, pieces=options["pieces"])
    if options["as_json"]:
        output.print_json(_data(told, dry_run=options["dry_run"]))
        return
    screen = output.screen()
    if options["dry_run"]:
        screen.show([line((messages.DRY_RUN, "warn"))])
    screen.show(_lines(told))


def _texts(cortex: Cortex, told: Erased) -> Iterator[Line]:
    """Yield what the memories say, for the person who is asked."""
    ids = {gone.id for gone in told.memories}
    for entry in cortex.entries():
        if entry.id in ids:
            yield line((visible(entry.text), "strong"), *beside(entry.comments), hang=2)
    for each in told.shared:
        for number, text in _left(each):
            yield line((said.erased_left(number, on_screen(text)), "warn"), hang=2)


def _left(shared: Shared) -> Iterator[tuple[int, str]]:
    """Yield the lines that share some words and stay, each with its number."""
    rows = shared.path.read_text(encoding="utf-8", errors="replace").split("\n")
    if not shared.session:
        yield from ((number, rows[number - 1]) for number in shared.lines)
        return
    for episode in filter(None, map(read_line, (row.encode() for row in rows))):
        if episode.seq in shared.lines:
            yield episode.seq, episode.text


def _lines(told: Erased) -> Iterator[Line]:
    yield line((said.erased(told), "good" if told.changed else ""), hang=2)
    if told.steps:
        yield line((said.erased_steps(told.steps), "dim"), indent=2)
    for scope, held in told.lines:
        yield line((said.erased_lines(scope, held), "dim"), indent=2)
    for path in told.files:
        yield line((str(path), "dim"), indent=2)
    if told.stays:
        yield line((said.erased_stays(told.stays), "warn"), indent=2)
    if told.shared:
        yield line((said.erased_shares(told.shared), "warn"), indent=2)
    for each in told.shared:
        yield line((said.erased_shared(each), "dim"), indent=4)
    for what in told.unreached:
        yield line((said.not_reached(what), "warn"), indent=2)
    for reason in told.left:
        yield line((said.erased_later(reason), "bad"), indent=2)


def _data(told: Erased, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "erased": told.changed,
        "memories": [gone._asdict() for gone in told.memories],
        "versions": told.versions,
        "steps": told.steps,
        "lines": [{"scope": scope, **held._asdict()} for scope, held in told.lines],
        "files": [str(Path(path)) for path in told.files],
        "stays": list(told.stays),
        "shared": [{**each._asdict(), "path": str(each.path)} for each in told.shared],
        "unreached": list(told.unreached),
        "left": list(told.left),
    }
