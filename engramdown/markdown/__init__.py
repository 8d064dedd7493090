"""Lossless markdown: documents, entries and their metadata, merges, front matter. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.markdown.blocks import Block
    from engramdown.markdown.document import Document, Placed, parse, written
    from engramdown.markdown.front_matter import FrontMatter, parse_front_matter
    from engramdown.markdown.marked_block import BlockError, put_in, taken_out
    from engramdown.markdown.metadata import Metadata, current_id, is_address

__all__ = [
    "Block",
    "BlockError",
    "Document",
    "FrontMatter",
    "Metadata",
    "Placed",
    "current_id",
    "is_address",
    "parse",
    "parse_front_matter",
    "put_in",
    "taken_out",
    "written",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "blocks": ["Block"],
        "document": ["Document", "Placed", "parse", "written"],
        "front_matter": ["FrontMatter", "parse_front_matter"],
        "marked_block": ["BlockError", "put_in", "taken_out"],
        "metadata": ["Metadata", "current_id", "is_address"],
    },
)
