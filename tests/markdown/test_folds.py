"""The index of what the blocks of a document say, handed on from one document to the next."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator, Sequence

from engramdown.markdown.blocks import Block
from engramdown.markdown.document import Folds, parse
from engramdown.markdown.metadata import Metadata


class Counted(UserDict[str, Sequence[Block]]):
    """A mapping that counts how often all of it is gone through.

    Attributes:
        times: How often that was.
    """

    times = 0

    def __iter__(self) -> Iterator[str]:
        """Count, then give the keys."""
        self.times += 1
        return super().__iter__()


def test_it_tells_what_is_gone_and_what_is_new_in_order() -> None:
    one, two, three = (Block(f"- a{end}\n", "item") for end in ("", ".", "!"))
    first = Folds({"a": [one, two]})
    second = first.changed({"a": [one]}, {"a": [three]})
    assert [*second.get("a")] == [two, three]
    assert [*first.get("a")] == [one, two]
    third = second.changed({"a": [two, three]}, {})
    assert [*third.get("a")] == [*third.get("b")] == []


def test_a_thousand_changes_copy_everything_a_few_times() -> None:
    everything = Counted({f"{number}": [Block("- x\n", "item")] for number in range(10)})
    folds = Folds(everything)
    for number in range(256):
        folds = folds.changed({}, {f"new {number}": [Block("- y\n", "item")]})
    assert everything.times == 0
    folds = folds.changed({}, {"last": [Block("- z\n", "item")]})
    assert everything.times == 1
    assert all(folds.get(key) for key in ("0", "9", "new 0", "new 255", "last"))


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
