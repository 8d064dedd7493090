"""Learns the weights of ``engramdown.consolidation.classifier`` from what people say.

That stands in ``tests/corpora`` and, as dialogs, in ``benchmarks/data/tuned_on``. ``python -m
benchmarks.classifier`` writes the weights, the same ones each time. With ``--check`` it says for
each author how well what is learned from all others knows theirs: the share of what is worth
knowing that is found where so many in a hundred of what is found are right, and of how much of it
the kind is right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks.linear import Array, Example, learned, save, softmax
from benchmarks.measure import records, table
from engramdown.consolidation.classifier import CLASSES, ROWS, STEP, WEIGHTS, rows_of
from engramdown.consolidation.sentences import kind_of, weighed
from tests.corpora.dialogs import changes, chatter, dialogs, labelled
from tests.corpora.statements import CORPORA, corpus

__all__ = ["main"]

ROUNDS: Final = 12
RATE: Final = 0.1
# How much less each weight is worth, all rounds together: rare words shall not decide alone.
DECAY: Final = 4.0
SAID: Final = ("chatter", "said_first", "said_second", "said_third")
DATA: Final = Path(__file__).parent / "data" / "tuned_on"
PRECISIONS: Final = (0.95, 0.9, 0.8)
# What whoever wrote the rules made up for them counts for less.
WEIGHTS_OF: Final = {"rules": 0.8}
_GROUPS: Final = {"always": 1, "never": 1, "when": 1, "rule": 1, "lesson": 2, "profile": 3}
# In these an earlier word is taken back or corrected by a later one.
_CHANGING: Final = frozenset(
    {"assistant_wrong", "change", "correction", "retraction", "update_sessions"}
)


class Row(NamedTuple):
    """The words and the signs of a clause, and the number of its class."""

    words: str
    signs: tuple[str, ...]
    kind: int


def main() -> None:
    """Learn and write the weights, or check them."""
    authors = {name: _examples(name, dict.fromkeys(rows)) for name, rows in _authors()}
    if "--check" in sys.argv:
        head = ("author", "sentences", *(f"at {each:.2f}" for each in PRECISIONS), "kind")
        print(table([head, *(_checked(name, authors) for name in authors)]))
        return
    examples = [example for each in authors.values() for example in each]
    save(WEIGHTS, _learned(examples), STEP)
    print(f"{len(examples)} sentences, {WEIGHTS.stat().st_size:,} bytes")


def _examples(name: str, rows: Iterable[Row]) -> list[Example]:
    weight = WEIGHTS_OF.get(name, 1.0)
    return [
        Example(np.array(sorted(rows_of(row.words, row.signs))), row.kind, weight) for row in rows
    ]


# ---- what is learned from ----


def _authors() -> Iterator[tuple[str, list[Row]]]:
    """Yield what each author wrote."""
    yield "rules", [*_of_rules()]
    for name in SAID:
        said = ((text, _always([kind]), of) for kind, text, of in chatter(name))
        yield name, [row for each in said for row in _rows(*each)]
    for file in sorted(DATA.glob("*dialogs*.jsonl")):
        yield file.stem, [row for dialog in records(file) for row in _of_dialog(dialog)]


def _of_rules() -> Iterator[Row]:
    """Yield what was written by whoever wrote the rules."""
    for name in CORPORA:
        for message in corpus(name):
            said = [
                (each.kinds, [word for word in each.words if word != "@global"])
                for each in message.expected
            ]
            yield from _of_message(message.text, said)
    for kinds, text in labelled():
        yield from _rows(text, _always(kinds))
    for dialog in dialogs():
        known = [(kinds, [words]) for kinds, words in dialog.expected]
        texts = [text for session in dialog.sessions for text in session]
        if dialog.group in _CHANGING:
            # What is corrected or taken back later was a statement all the same.
            kinds = known[0][0] if known else frozenset({"lesson"})
            known = [(kinds, [word]) for word in dialog.absent]
            yield from (row for text in texts[:1] for row in _of_message(text, known) if row.kind)
            continue
        for text in texts:
            yield from _of_message(text, known)
    for sessions, gone, new in changes():
        # What is said in another session stands for itself; a correction does not.
        for held, text in ((gone, sessions[0][0]), *((new, it[0]) for it in sessions[1:] if new)):
            known = [(frozenset({kind_of(text)}), [held.strip(".")])]
            yield from (row for row in _of_message(text, known) if row.kind)


def _of_message(text: str, said: list[tuple[frozenset[str], list[str]]]) -> Iterator[Row]:
    """Yield the clauses of a message; one that holds a statement is of its kind."""
    return _rows(
        text,
        lambda words: next((kinds for kinds, held in said if all(it in words for it in held)), ()),
    )


def _of_dialog(dialog: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the clauses of a dialog; what is only half of a statement is left out."""
    turn = -1
    texts: list[list[tuple[int, str]]] = [[]]
    for role, text in dialog["turns"]:
        turn += role == "user"
        if role == "session":
            texts.append([])
        elif role == "user":
            texts[-1].append((turn, text))
    is_plain = dialog["category"] not in _CHANGING

    def kinds_of(turn: int, words: str) -> Iterable[str] | None:
        sure = [each for each in dialog["expect"] if each.get("turn", turn) == turn]
        maybe = [each for each in dialog.get("also", ()) if each.get("turn", turn) == turn]
        held = [(each, _held(words, each["must"])) for each in (*sure, *maybe)]
        whole = next((each for each, share in held if share == 1), None)
        if whole is not None:
            return whole["kinds"][:1] if whole in sure else None
        return () if is_plain and all(share < 1 / 2 for _, share in held) else None

    for session in texts:
        for turn, text in session:
            yield from _rows(text, partial(kinds_of, turn), len(session))


def _always(kinds: Iterable[str]) -> Callable[[str], Iterable[str]]:
    return lambda _: kinds


def _held(words: str, must: list[str]) -> float:
    held = [any(it.lower() in words for it in each.split("|")) for each in must]
    return sum(held) / max(1, len(held))


def _rows(
    text: str, kinds_of: Callable[[str], Iterable[str] | None], messages: int = 1
) -> Iterator[Row]:
    """Yield the clauses of a message, each with the class of its kinds; ``None`` leaves one out."""
    for words, signs in weighed(text, messages):
        kinds = kinds_of(words)
        if kinds is not None:
            kind = next((_GROUPS[each] for each in sorted(kinds) if each in _GROUPS), 0)
            yield Row(words, tuple(signs), kind)


def _learned(examples: list[Example]) -> Array:
    often = np.bincount(np.concatenate([each.rows for each in examples]), minlength=ROWS)
    decay = DECAY / np.maximum(1, often)[:, None]
    return learned(examples, decay, len(CLASSES), rounds=ROUNDS, rate=RATE)


# ---- checking ----


def _checked(name: str, authors: Mapping[str, list[Example]]) -> tuple[str, ...]:
    """Return how well what is learned from all others knows what one author wrote."""
    mine = authors[name]
    weights = _learned([row for other in authors if other != name for row in authors[other]])
    chances = np.array([softmax(weights[row.rows].sum(0)) for row in mine])
    kinds = np.array([row.kind for row in mine])
    hits = (kinds > 0)[np.argsort(chances[:, 0])].cumsum()
    right = hits / np.arange(1, len(hits) + 1)
    found = [hits[right >= each].max(initial=0) / hits[-1] for each in PRECISIONS]
    is_kind = (chances[:, 1:].argmax(1) + 1 == kinds)[kinds > 0].mean()
    return (name, str(len(mine)), *(f"{each:.3f}" for each in (*found, is_kind)))


if __name__ == "__main__":
    main()
