"""Learns the weights of ``engramdown.consolidation.classifier`` from the sentences of the corpora.

``python -m benchmarks.classifier`` writes them, the same ones each time; with ``--check`` it learns
from nine tenths of the sentences and says how many of the others it knows.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import Final

import numpy as np

from engramdown.consolidation.classifier import CLASSES, ROWS, STEP, WEIGHTS, rows_of
from engramdown.consolidation.sentences import kind_of
from engramdown.consolidation.utterances import mask_shown, sentences, small_letters
from tests.corpora.dialogs import changes, chatter, dialogs, labelled
from tests.corpora.statements import CORPORA, corpus

__all__ = ["main"]

ROUNDS: Final = 8
RATE: Final = 0.1
DECAY: Final = 1e-3
_GROUPS: Final = {"always": 1, "never": 1, "when": 1, "rule": 1, "lesson": 2, "profile": 3}
_CHANGING: Final = frozenset({"correction", "retraction", "change"})

Row = tuple[str, int]
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def main() -> None:
    """Learn and write the weights, or check them."""
    rows = _rows()
    random.Random(1).shuffle(rows)
    if "--check" in sys.argv:
        tenth = len(rows) // 10
        print(_report(_learned(rows[tenth:]), rows[:tenth]))
        return
    weights = _learned(rows)
    WEIGHTS.write_bytes(np.clip(np.round(weights / STEP), -127, 127).astype(np.int8).tobytes())
    print(f"{len(rows)} sentences, {WEIGHTS.stat().st_size:,} bytes")
    print(_report(weights, rows))


def _rows() -> list[Row]:
    """Return sentences in small letters, each with the number of its class."""
    rows: list[Row] = []
    for name in CORPORA:
        for message in corpus(name):
            said = [
                (each.kinds, [word for word in each.words if word != "@global"])
                for each in message.expected
            ]
            rows += _of_message(message.text, said)
    for kinds, text in labelled():
        rows += [(words, _class(kinds)) for words in _sentences(text)]
    rows += [(small_letters(text), _class([kind])) for kind, text in chatter()]
    for dialog in dialogs():
        known = [(kinds, [words]) for kinds, words in dialog.expected]
        texts = [text for session in dialog.sessions for text in session]
        if dialog.group in _CHANGING:
            # What is corrected or taken back later was a statement all the same.
            kinds = known[0][0] if known else frozenset({"lesson"})
            known = [(kinds, [word]) for word in dialog.absent]
            rows += [row for text in texts[:1] for row in _of_message(text, known) if row[1]]
            continue
        for text in texts:
            rows += _of_message(text, known)
    for sessions, gone, new in changes():
        # What is said in another session stands for itself; a correction does not.
        for held, text in ((gone, sessions[0][0]), *((new, it[0]) for it in sessions[1:] if new)):
            known = [(frozenset({kind_of(text)}), [held.strip(".")])]
            rows += [row for row in _of_message(text, known) if row[1]]
    return list(dict.fromkeys(rows))


def _of_message(text: str, said: list[tuple[frozenset[str], list[str]]]) -> list[Row]:
    """Return the sentences of a message; one that holds a statement is of its kind."""
    rows = []
    for words in _sentences(text):
        kinds = next((kinds for kinds, held in said if all(it in words for it in held)), ())
        rows.append((words, _class(kinds)))
    return rows


def _sentences(text: str) -> list[str]:
    mask = mask_shown(text)
    found = (each for each in sentences(mask))
    return [
        small_letters(" ".join(mask[it.start : it.end].split()) + it.mark.strip(".!"))
        for it in found
    ]


def _class(kinds: Iterable[str]) -> int:
    return next((_GROUPS[kind] for kind in sorted(kinds) if kind in _GROUPS), 0)


def _learned(rows: list[Row]) -> Array:
    """Return the weights that tell the classes apart: logistic regression, by adaptive steps."""
    dice = random.Random(1)
    features = [np.array(sorted(rows_of(words))) for words, _ in rows]
    weights = np.zeros((ROWS, len(CLASSES)))
    squares = np.full((ROWS, len(CLASSES)), 1e-2)
    order = list(range(len(rows)))
    for _ in range(ROUNDS):
        dice.shuffle(order)
        for at in order:
            own = features[at]
            slope = _softmax(weights[own].sum(0))
            slope[rows[at][1]] -= 1
            step = slope + DECAY * weights[own]
            squares[own] += step * step
            weights[own] -= RATE * step / np.sqrt(squares[own])
    return weights


def _softmax(sums: Array) -> Array:
    powers: Array = np.exp(sums - sums.max())
    powers /= powers.sum()
    return powers


def _report(weights: Array, rows: list[Row]) -> str:
    hits = 0
    for words, kind in rows:
        hits += int(weights[sorted(rows_of(words))].sum(0).argmax() == kind)
    return f"{hits / len(rows):.3f} of {len(rows)} sentences have the right class"


if __name__ == "__main__":
    main()
