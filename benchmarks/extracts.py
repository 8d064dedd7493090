"""How many facts of conversations outlive a summary without a model, and a summary of that one.

Each conversation holds five facts that somebody who goes on with it should know: what was decided,
corrected, measured, named, or failed. "Held out" was written when the rules stood and changed
nothing in them; "tuned on" was written first, and the rules were mended by it. The first summary
may cost a third of what was said, the second, made from the first alone, half of that. A fact is
kept if its words stand in one line. "One by one" each conversation of about 300 tokens is
summarised alone, and 50 tokens at the end hold little; "as one" all of them are one conversation of
about 4,000, which is nearer to what is summarised in earnest. The yardstick costs as much: the end
of what was said, word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.measure import finish, table
from engramdown.consolidation.extractive import SUMMARY, Part, extract
from engramdown.tokens import estimate_tokens
from tests.corpora.extracts import Talk, held_by, talks

__all__ = ["main"]

Way = Callable[[Sequence[Part], int], str]
SETS: Final = {"held out": "held_out", "tuned on": "tuning"}


def main() -> None:
    """Count and print."""
    head = ("", "one by one", "after two", "as one", "after two", "facts")
    rows: list[tuple[str, ...]] = [head]
    for name, file in SETS.items():
        known = talks(file)
        rows += [_row(f"{name}, `extract`", extract, known), _row(f"{name}, the end", _end, known)]
    note = (
        "Facts kept after one summary at a third of the tokens, and after a second one at a sixth."
    )
    finish("extracts", f"{table(rows)}\n\n{note}")


def _row(name: str, way: Way, known: Sequence[Talk]) -> tuple[str, ...]:
    alone = [_kept(way, talk) for talk in known]
    whole = Talk(
        name,
        tuple(part for talk in known for part in talk.parts),
        tuple(fact for talk in known for fact in talk.facts),
    )
    counts = (*map(sum, zip(*alone, strict=True)), *_kept(way, whole), len(whole.facts))
    return (name, *map(str, counts))


def _kept(way: Way, talk: Talk) -> tuple[int, int]:
    """Return how many facts are left after one summary, and after one of that."""
    cost = sum(estimate_tokens(part.text) for part in talk.parts)
    first = way(talk.parts, cost // 3)
    second = way([Part(SUMMARY, first)], cost // 6)
    return held_by(first, talk), held_by(second, talk)


def _end(parts: Sequence[Part], target: int) -> str:
    text = "\n".join(part.text for part in parts)
    while estimate_tokens(text) > target:
        text = text[max(1, len(text) // 100) :]
    return text


if __name__ == "__main__":
    main()
