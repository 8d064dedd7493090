"""``engramdown merge-driver``: what git runs for each memory file that two branches changed.

Promises: the exit code is 0 where nothing is left to decide, else 1; opens no store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from click.exceptions import Exit

from engramdown.cli import process
from engramdown.cli.output import DONE, REFUSED
from engramdown.git.driver import drive
from engramdown.git.textual import Markers

_SIZE: Final = 7
_LABELS: Final = ("base", "ours", "theirs")


# The name of a branch or a folder may look like an option.
@click.command("merge-driver", context_settings={"ignore_unknown_options": True})
@click.argument("files", metavar="%O %A %B", nargs=3, type=click.Path(path_type=Path))
@click.argument("path", metavar="%P")
@click.argument("more", metavar="[%L %S %X %Y]", nargs=-1)
def merge_driver(files: tuple[Path, Path, Path], path: str, more: tuple[str, ...]) -> None:
    """Merge a memory file entry by entry; git calls this, `engramdown init --git` says how.

    %O is the file before the branches parted, %A ours and the place of the result, %B theirs, %P
    its name; %L is the length of conflict markers, %S, %X and %Y are the names they show.
    """
    size, *labels = (*more, *("",) * (len(_LABELS) + 1 - len(more)))
    base, ours, theirs = (
        # A git that does not know a placeholder passes it on as it is.
        name if name and not name.startswith("%") else default
        for name, default in zip(labels[: len(_LABELS)], _LABELS, strict=True)
    )
    markers = Markers(int(size) if size.isdecimal() else _SIZE, ours, base, theirs)
    done = drive(*files, path, markers)
    if done.word:
        process.complain(done.word)
    raise Exit(REFUSED if done.conflict else DONE)
