"""Learns the weights of ``engramdown.language.judge`` from pairs of statements.

They stand in ``tests/corpora``, in ``pairs.txt`` and as changes over sessions in ``changes.txt``.
``python -m benchmarks.judge`` writes the weights, the same ones each time. What a search finds
beside the answer to a question is taken for something that goes together with it. With ``--check``
it learns from all writers but one, for each of the first two, and says how many pairs it knows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from benchmarks.lessons import ASKED, remembered
from benchmarks.linear import Array, Example, learned, save
from engramdown.language.judge import RELATIONS, ROWS, STEP, WEIGHTS, rows_of
from engramdown.language.terms import words
from tests.corpora.dialogs import changes

__all__ = ["main"]

CORPUS: Final = Path(__file__).parent.parent / "tests" / "corpora" / "pairs.txt"
ROUNDS: Final = 4
RATE: Final = 0.05
DECAY: Final = 1e-3
# So many things that were found beside an answer are learned with it, among so many.
BESIDE: Final = 6
FOUND: Final = 60
BESIDE_WORTH: Final = 0.15
_SIGNS: Final = dict(zip(">!+=", RELATIONS, strict=True))


class Pair(NamedTuple):
    """Two statements, the number of their relation, a question, and what they are worth."""

    older: str
    newer: str
    relation: int
    question: str = ""
    worth: float = 1.0


def main() -> None:
    """Learn and write the weights, or check them."""
    writers = _read_pairs()
    if "--check" in sys.argv:
        for left_out in list(writers)[:2]:
            others = [pairs for name, pairs in writers.items() if name != left_out]
            weights = _learned(_examples(_rows(others)))
            print(f"{left_out}: {_report(weights, _examples(writers[left_out]))}")
        return
    examples = _examples(_rows(writers.values()))
    weights = _learned(examples)
    save(WEIGHTS, weights, STEP)
    print(f"{len(examples)} pairs, {WEIGHTS.stat().st_size:,} bytes")
    print(_report(weights, examples))


def _read_pairs() -> dict[str, list[Pair]]:
    """Return the pairs of each writer."""
    writers: dict[str, list[Pair]] = {}
    pairs: list[Pair] = []
    older = ""
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        if line[0] == "[":
            pairs = writers.setdefault(line.strip("[]"), [])
        elif line[:2] in {f"{sign} " for sign in _SIGNS}:
            newer, _, question = line[2:].partition(" // ")
            pairs.append(Pair(older, newer, RELATIONS.index(_SIGNS[line[0]]), question))
        elif line[0] != "#":
            older = line
    return writers


def _changes() -> list[Pair]:
    """Return what is said in one session, and what takes its place in the next."""
    pairs = []
    for said, _, new in changes():
        if new and len(said) > 1:
            older, newer = said[0][0], said[1][0]
            # What both speak of stands for a question.
            asked = " ".join(word for word in words(older) if word in words(newer))
            pairs.append(Pair(older, newer, RELATIONS.index("replaces"), f"what is {asked}?"))
    return pairs


def _rows(writers: Iterable[Sequence[Pair]]) -> list[Pair]:
    rows: list[Pair] = []
    for pairs in (*writers, _changes()):
        rows += [pair._replace(question="") for pair in pairs]
        # What replaces something is contradicted by it.
        turned = ((pair, pair.relation or 1) for pair in pairs)
        rows += [Pair(it.newer, it.older, relation, "", 0.5) for it, relation in turned]
        rows += _found([pair for pair in pairs if pair.question])
    return rows


def _found(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with their questions, and what a search finds beside their answers."""
    rows: list[Pair] = []
    index = remembered((pair.older, pair.newer) for pair in pairs)
    together = RELATIONS.index("together")
    for pair in pairs:
        if RELATIONS[pair.relation] != "same":
            rows.append(pair)
        ranked = [*index.weighed(pair.question, ASKED)][:FOUND]
        beside = [place for place in ranked if place % 2 and pairs[place // 2].older != pair.older]
        texts = (pairs[place // 2].newer for place in beside[:BESIDE])
        rows += [Pair(pair.older, text, together, pair.question, BESIDE_WORTH) for text in texts]
    return rows


def _examples(pairs: Iterable[Pair]) -> list[Example]:
    return [
        Example(np.array(sorted(rows_of(it.older, it.newer, it.question))), it.relation, it.worth)
        for it in pairs
    ]


def _learned(examples: list[Example]) -> Array:
    decay = np.full((ROWS, 1), DECAY)
    return learned(examples, decay, len(RELATIONS), rounds=ROUNDS, rate=RATE)


def _report(weights: Array, examples: list[Example]) -> str:
    hits = 0
    for it in examples:
        found = weights[it.rows].sum(0).argmax()
        hits += (found < 2) == (it.kind < 2)  # noqa: PLR2004 - replaces, contradicts
    return f"of {hits / len(examples):.3f} of {len(examples)} pairs it is known whether they differ"


if __name__ == "__main__":
    main()
