"""The fuzz targets: what each of them takes, and where its inputs are.

Promises: a target is a plain function of bytes, which returns or fails; the same bytes always do
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.fuzz import kept, pages, texts, transcripts
from tests.hippocampus.gallery_damaged import DAMAGED_PAGES
from tests.hippocampus.gallery_notes import NOTES_PAGES
from tests.hippocampus.gallery_rules import RULES_PAGES

__all__ = ["TARGETS", "Target", "inputs"]

Target = Callable[[bytes], None]

TARGETS: Final[Mapping[str, Target]] = {
    law.__name__: law
    for law in (
        pages.document,
        pages.edits,
        pages.merge,
        pages.metadata,
        pages.escaping,
        pages.pending,
        pages.skill,
        pages.day,
        transcripts.lines,
        transcripts.indexed,
        transcripts.query,
        transcripts.importers,
        transcripts.importing,
        kept.journal,
        kept.derived,
        kept.states,
        kept.git_merge,
        texts.secrets,
        texts.orders,
        texts.statements,
        texts.layouts,
        texts.likeness,
        texts.settings,
        texts.arguments,
    )
}
"""The targets by name."""

_HERE: Final = Path(__file__).parent
_GALLERY: Final = (*RULES_PAGES, *NOTES_PAGES, *DAMAGED_PAGES)


def inputs(name: str) -> dict[str, bytes]:
    """Return what a target is tried with every time: its seeds, and what once broke it."""
    paths = [path for kept in ("corpus", "found") for path in (_HERE / kept / name).glob("*")]
    found = {f"{path.parent.parent.name}/{path.name}": path.read_bytes() for path in sorted(paths)}
    if name == pages.document.__name__:
        found |= {page.name: page.text.encode("utf-8", "surrogateescape") for page in _GALLERY}
    return found
