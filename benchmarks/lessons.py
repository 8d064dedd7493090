"""How well recall finds memories, most of all where the question names no word of them.

    python -m benchmarks.lessons DATA_FOLDER

The folder holds ``lessons.jsonl`` (``id``, ``kind``, ``text``) and ``lesson_questions.jsonl``
(``question``, the ``ids`` that answer it, and what it shares with them: ``words``, ``family``, that
is, words of one family or of one meaning, or ``none``). It may also hold ``updates.jsonl``
(``older``, ``newer``, ``question``, ``replaces``): then all of these are remembered together, the
newer ones a month later, and each question is asked. The yardstick is plain FTS5 (porter, no stop
words) over the same texts. The lane of embeddings is run with a scripted embedder, whose vectors
say which letters a text has: a measure of the lane's work and not of a model.
"""

from __future__ import annotations

import itertools
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from benchmarks.measure import finish, ms, paired, records, table
from engramdown.clock import today
from engramdown.hippocampus.entry import Entry
from engramdown.language.terms import words
from engramdown.language.words import STOP_WORDS
from engramdown.recall.memories import MemoryIndex
from engramdown.recall.vectors import MemoryLane, fused
from engramdown.settings import EpisodeSettings

__all__ = ["ASKED", "SHARES", "main", "remembered"]

# A search returns places among the lessons, the best first.
Search = Callable[[str], Sequence[int]]
SHARES: Final = ("words", "family", "none", "all")
RUNS: Final = 5
# The day on which questions about older and newer statements are asked.
ASKED: Final = date(2026, 3, 1)


class Asked(NamedTuple):
    """A question, the places of the lessons that answer it, and what they share."""

    text: str
    answers: frozenset[int]
    share: str


class Letters:
    """An embedder that knows which pairs of letters a text has, and nothing of what they mean."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.01] * 256
        for first, second in itertools.pairwise(text):
            vector[(ord(first) * 31 + ord(second)) % 256] += 1.0
        return vector


def main() -> None:
    """Print how often the answer is first and among five, by what the question shares with it."""
    if len(sys.argv) < 2:  # noqa: PLR2004 - a folder
        sys.exit("usage: python -m benchmarks.lessons DATA_FOLDER")
    folder = Path(sys.argv[1])
    lessons = records(folder / "lessons.jsonl")
    places = {each["id"]: at for at, each in enumerate(lessons)}
    asked = [
        Asked(each["question"], frozenset(places[one] for one in each["ids"]), each["share"])
        for each in records(folder / "lesson_questions.jsonl")
    ]
    entries = [_entry(each["text"], each["kind"], each["id"]) for each in lessons]
    parts = []
    with _full_text(entries) as yardstick, _lane(entries) as lane:
        recall = _recall(entries)
        searches = {
            "plain FTS5": yardstick,
            "recall": _recall(entries),
            "with a scripted lane": lane,
        }
        rows: list[tuple[str, ...]] = [("R@1 / R@5 / MRR", *SHARES)]
        rows += [(name, *_judged(search, asked)) for name, search in searches.items()]
        parts.append(table(rows))
        base, subject, ratio = paired(
            lambda: [yardstick(each.text) for each in asked],
            lambda: [recall(each.text) for each in asked],
            RUNS,
        )
        each = (ms(base / len(asked)), ms(subject / len(asked)), f"{ratio:.1f}")
        parts.append(table([("a question", "plain FTS5, ms", "recall, ms", "ratio"), ("", *each)]))
    if (folder / "updates.jsonl").exists():
        parts.append(_updates(records(folder / "updates.jsonl")))
    finish("lessons", "\n\n".join(parts))


def _updates(pairs: Sequence[Any]) -> str:
    """Return how often the newer of two is first, and how often an older one is marked."""
    index = remembered((pair["older"], pair["newer"]) for pair in pairs)
    counts: Counter[tuple[bool, str]] = Counter()
    for at, pair in enumerate(pairs):
        hits = index.search(pair["question"], ASKED)
        ids = [hit.entry.id for hit in hits]
        older, newer = (
            ids.index(one) if one in ids else len(ids) + late
            for late, one in enumerate((f"{at}-older", f"{at}-newer"))
        )
        marks = {hit.entry.id: hit.newer for hit in hits}
        mark = marks.get(f"{at}-older", "")
        replaces = pair["replaces"]
        counts[replaces, "all"] += 1
        counts[replaces, "first"] += newer < older
        counts[replaces, "marked"] += mark == f"{at}-newer"
        counts[replaces, "by another"] += mark not in ("", f"{at}-newer")
    heads = ("all", "first", "marked", "by another")
    rows: list[tuple[str, ...]]
    rows = [("the newer one", "pairs", "is first", "marks the older", "another marks it")]
    for replaces, name in ((True, "replaces the older"), (False, "does not")):
        rows.append((name, *(str(counts[replaces, head]) for head in heads)))
    return table(rows)


def remembered(pairs: Iterable[tuple[str, str]]) -> MemoryIndex:
    """Return an index of older and newer statements, the newer ones a month later."""
    days = (("older", "2026-01-01"), ("newer", "2026-02-01"))
    return MemoryIndex(
        [
            Entry(id=f"{at}-{which}", text=text, kind="lesson", scope="project", ts=day)
            for at, pair in enumerate(pairs)
            for (which, day), text in zip(days, pair, strict=True)
        ]
    )


def _entry(text: str, kind: Any = "lesson", name: str = "") -> Entry:  # noqa: ANN401 - JSON
    return Entry(id=name, text=text, kind=kind, scope="project")


def _judged(search: Search, asked: Sequence[Asked]) -> list[str]:
    ranks: dict[str, list[float]] = {share: [] for share in SHARES}
    for each in asked:
        found = (rank for rank, at in enumerate(search(each.text), 1) if at in each.answers)
        rank = next(found, float("inf"))
        ranks[each.share].append(rank)
        ranks["all"].append(rank)
    return [
        " / ".join(
            f"{fmean(values):.3f}".removeprefix("0")
            for values in ([r <= 1 for r in some], [r <= 5 for r in some], [1 / r for r in some])  # noqa: PLR2004 - as the head says
        )
        if some
        else "-"
        for some in ranks.values()
    ]


def _recall(entries: Sequence[Entry]) -> Search:
    index = MemoryIndex(entries)
    return lambda question: [hit.position for hit in index.search(question, today())]


@contextmanager
def _lane(entries: Sequence[Entry]) -> Iterator[Search]:
    by_words, texts = _recall(entries), [entry.text for entry in entries]
    with tempfile.TemporaryDirectory() as folder:
        lane = MemoryLane(Path(folder), EpisodeSettings(embedder_timeout=600), Letters())

        def search(question: str) -> list[int]:
            near = lane.near(question, texts)
            nearest = sorted(range(len(near)), key=lambda at: -near[at])
            scores = fused(by_words(question), nearest[:100])
            return sorted(scores, key=lambda at: (-scores[at], at))

        yield search


@contextmanager
def _full_text(entries: Sequence[Entry]) -> Iterator[Search]:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    rows = ((at, entry.text) for at, entry in enumerate(entries))
    base.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)", rows)

    def search(question: str) -> list[int]:
        asked = words(question)
        telling = [word for word in asked if word not in STOP_WORDS] or asked
        match = " OR ".join(f'"{word}"' for word in telling)
        sql = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank"
        return [at for (at,) in base.execute(sql, (match,))] if match else []

    try:
        yield search
    finally:
        base.close()


if __name__ == "__main__":
    main()
