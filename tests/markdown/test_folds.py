"""The index of what the blocks of a document say, handed on from one document to the next."""

from __future__ import annotations

from engramdown.markdown.document import parse
from engramdown.markdown.metadata import Metadata


def test_a_document_finds_what_a_thousand_edits_added_and_took_out() -> None:
    document = parse("- first\n")
    for _ in range(2):
        document.same("first")
    for number in range(1_000):
        document = document.add(f"line {number}", Metadata((("id", f"{number:08}"),)))
    for number in range(0, 1_000, 2):
        (block,) = document.same(f"line {number}")
        document = document.remove(block)
    fresh = parse(document.render())
    for number in range(1_000):
        text = f"Line {number}."
        assert [block.raw for block in document.same(text)] == [
            block.raw for block in fresh.same(text)
        ]
        assert len(document.same(text)) == number % 2
