"""Lossless markdown: documents, entries and their metadata, merges, front matter. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.markdown.blocks import Block as Block
    from engramdown.markdown.document import Document as Document
    from engramdown.markdown.document import Placed as Placed
    from engramdown.markdown.document import parse as parse
    from engramdown.markdown.document import written as written
    from engramdown.markdown.front_matter import FrontMatter as FrontMatter
    from engramdown.markdown.front_matter import parse_front_matter as parse_front_matter
    from engramdown.markdown.marked_block import BlockError as BlockError
    from engramdown.markdown.marked_block import put_in as put_in
    from engramdown.markdown.marked_block import taken_out as taken_out
    from engramdown.markdown.metadata import Metadata as Metadata
    from engramdown.markdown.metadata import current_id as current_id
    from engramdown.markdown.metadata import is_address as is_address

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
